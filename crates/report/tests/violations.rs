//! Violated invariants as the terminal shows them.

use unicode_width::UnicodeWidthStr;
use unpick_findings::{
    AccessKind, CodePlace, FindingAccess, Frame, TrainedSite, ViolatedInvariant,
};
use unpick_report::{Style, violated};

fn access(role: u8, thread: u16, kind: AccessKind, line: u32, text: &str) -> FindingAccess {
    FindingAccess {
        role,
        kind,
        variable: Some("account.balance".to_owned()),
        text: Some(text.to_owned()),
        frame: Frame {
            function: Some("deposit".to_owned()),
            file: Some("bank.c".to_owned()),
            line: Some(line),
            column: None,
        },
        inlined_into: Vec::new(),
        thread,
        process: 0,
        atomic: false,
        order: 0,
        stack: Vec::new(),
        locks: Vec::new(),
        code: CodePlace { module: None, build_id: None, offset: "0x1234".to_owned() },
        bytes: 4,
        library: false,
        calls: Vec::new(),
        shown_call: None,
    }
}

fn lost_update() -> ViolatedInvariant {
    ViolatedInvariant {
        id: "3f2a9c41".to_owned(),
        case: 6,
        order: "r [w] w".to_owned(),
        sentence: "Thread 1 (`deposit`) read `account.balance` and then wrote it, but \x1b[31min between thread 2 (`deposit`) wrote it."
            .to_owned(),
        count: 3,
        accesses: vec![
            access(1, 2, AccessKind::Read, 12, "    int old = account.balance;"),
            access(2, 13, AccessKind::Write, 13, "    account.balance = old + amount;"),
            access(1, 2, AccessKind::Write, 13, "    account.balance = old + amount;"),
        ],
        deciding: 1,
        further: 4,
        trained: TrainedSite { runs: 37, violated_runs: 0, checked: 370, challenged: 12 },
    }
}

fn shown(width: usize, violations: &[ViolatedInvariant]) -> String {
    let (folder, kept_lines, command_options) = Default::default();
    violated(violations, &Style { width, colour: false, folder, kept_lines, command_options })
}

#[test]
fn accesses_stand_in_order_with_those_of_others_marked() {
    let expected = "\
Violation 1: case 6 (r [w] w), 3 times, id 3f2a9c41
   Thread 1 (`deposit`) read `account.balance` and then wrote it, but �[31min
   between thread 2 (`deposit`) wrote it.
     thread 2 read    bank.c:12  int old = account.balance;
   > thread 13 write  bank.c:13  account.balance = old + amount;
   > and 4 more of other threads
     thread 2 write   bank.c:13  account.balance = old + amount;
   trained: none of 37 passing runs did that; of 370 times, other threads came
   between 12 times, and did no harm
";
    assert_eq!(shown(80, &[lost_update()]), expected);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let text = shown(60, &[lost_update(), lost_update()]);
    assert!(text.contains("Violation 2"));
    assert!(text.lines().all(|line| line.width() <= 60), "{text}");
}
