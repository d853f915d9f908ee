//! Tells a recording in the words of its program: a line of the source that ends in `// name` is called by that name.
#![allow(dead_code)]

use std::collections::HashMap;
use std::fs;
use std::process::Command;

use unpick_recording::events::access::PastKind;
use unpick_recording::events::{Past, Site};
use unpick_recording::{AccessKind, Action, Recording};

use crate::support::source_path;

pub struct Story {
    recording: Recording,
    lines: Vec<String>,
    names: HashMap<Site, Option<String>>,
}

impl Story {
    pub fn of(recording: Recording, source: &str) -> Self {
        let text = fs::read_to_string(source_path(source)).expect("the source");
        let lines = text.lines().map(str::to_owned).collect();
        let mut story = Self { recording, lines, names: HashMap::new() };
        story.look_names_up();
        story
    }

    fn look_names_up(&mut self) {
        let mut sites: Vec<Site> = Vec::new();
        for event in self.recording.events() {
            sites.push(event.site);
            if let Action::Access { pasts, .. } = event.action {
                sites.extend(pasts.iter().map(|past| past.site));
            }
        }
        sites.sort();
        sites.dedup();
        for site in sites {
            let name = self.line_of(site).and_then(|line| self.name_of_line(line));
            self.names.insert(site, name);
        }
    }

    /// The line in the program's own source where `site` is, also if library code was inlined there.
    fn line_of(&self, site: Site) -> Option<usize> {
        let (module, address) = self.recording.place_of(site)?;
        // The call is before the address it returns to.
        let in_file = address.checked_sub(module.bias + 1)?;
        let output = Command::new("addr2line")
            .args(["-i", "-e", &module.path, &format!("{in_file:#x}")])
            .output()
            .expect("addr2line");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let own = text.lines().find(|line| line.contains("tests/programs/"))?;
        own.rsplit(':').next()?.split(' ').next()?.parse().ok()
    }

    fn name_of_line(&self, line: usize) -> Option<String> {
        let (_, name) = self.lines.get(line - 1)?.rsplit_once("// ")?;
        Some(name.to_owned())
    }

    fn name(&self, site: Site) -> &str {
        self.names.get(&site).and_then(|name| name.as_deref()).unwrap_or("?")
    }

    /// The accesses at named lines: thread, kind, name, and the past of each.
    pub fn accesses(&self) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        for event in self.recording.events() {
            let Action::Access { kind, flags, pasts, .. } = event.action else { continue };
            if self.name(event.site) == "?" {
                continue;
            }
            let what = match kind {
                AccessKind::Write if flags.is_free() => "frees",
                AccessKind::Write => "writes",
                AccessKind::Read => "reads",
                AccessKind::ReadWrite => "reads and writes",
            };
            let mut line = format!("{} {what} in {}", event.thread.0, self.name(event.site));
            line.extend(pasts.iter().map(|past| format!(", {}", self.past(&past))));
            if told.last() != Some(&line) {
                told.push(line);
            }
        }
        told
    }

    fn past(&self, past: &Past) -> String {
        let what = match past.kind {
            PastKind::Read => "read",
            PastKind::Write => "written",
            PastKind::Free => "freed",
        };
        format!("{what} by {} in {}", past.thread.0, self.name(past.site))
    }

    /// The heap blocks allocated at named lines, as name and size, in the order they became shared.
    pub fn blocks(&self) -> Vec<(&str, u64)> {
        let all = self.recording.events().filter_map(|event| match event.action {
            Action::Block { size, .. } => Some((self.name(event.site), size)),
            _ => None,
        });
        all.filter(|(name, _)| *name != "?").collect()
    }
}
