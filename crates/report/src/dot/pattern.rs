//! The order of a finding as a graph.

use std::fmt::Write;

use unpick_findings::Finding;

use super::{COLUMNS, box_head, head, label};
use crate::words;

/// A box per thread, accesses numbered as they were executed, from top to bottom; in red what passed from one thread to the other.
pub fn pattern(finding: &Finding) -> String {
    let mut text = head(&finding.pattern, &finding.sentence, false);
    for role in [1, 2] {
        text += &box_head(role.into(), [format!("thread {role}")]);
        for (access, at) in finding.accesses.iter().zip(1..) {
            if access.role == role {
                let variable = words::variable(access.variable.as_ref(), COLUMNS);
                let does = format!("{at}. {} {variable}", words::does(access));
                let label = label(&does, access.text.as_deref(), &access.frame);
                let _ = writeln!(text, "    n{at} [label=\"{label}\"];");
            }
        }
        text.push_str("  }\n");
    }
    for (two, at) in finding.accesses.windows(2).zip(1..) {
        let crossing = if two[0].role == two[1].role { "" } else { " [color=red, penwidth=2]" };
        let _ = writeln!(text, "  n{at} -> n{}{crossing};", at + 1);
    }
    text + "}\n"
}
