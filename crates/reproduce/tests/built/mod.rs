//! A program of one file, built with Unpick's compiler, run once, and looked at: the code of marked lines.
#![allow(dead_code, reason = "each test file uses what it needs")]

use unpick_analyses::interleaving_patterns::PatternId;
use unpick_findings::{CodePlace, Finding};
use unpick_reproduce::{ModuleName, PlanPlace, Program};

use crate::made::finding;
use crate::toolchain::{Compiler, Event, Recorded, Workshop, line_of};

pub struct Built {
    pub workshop: Workshop,
    pub recorded: Recorded,
    pub program: Program,
    file: &'static str,
    text: &'static str,
}

impl Built {
    pub fn of(compiler: Compiler, file: &'static str, text: &'static str) -> Built {
        let workshop = Workshop::new();
        workshop.write(file, text);
        let recorded = workshop.instrumented(compiler, file, &["-O1"]);
        let program = Program::open(&workshop.path("program")).unwrap();
        Built { workshop, recorded, program, file, text }
    }

    /// A place where a line writes.
    pub fn write_at(&self, mark: &str) -> u64 {
        let (symbols, file) = (self.recorded.symbols(), self.workshop.path(self.file));
        let is_it = |module: &&unpick_symbols::ModuleInfo| module.path == self.program.path();
        let bias = self.recorded.modules.iter().find(is_it).unwrap().bias;
        let mut sites = self.recorded.events.iter().filter_map(|event| match event {
            Event::Access { access: unpick_symbols::Access::Write, site, .. } => Some(*site),
            _ => None,
        });
        let line = line_of(self.text, mark);
        let is_there = |site: &u64| {
            let place = symbols.place(*site);
            place.line() == Some(line) && place.file() == file.to_str()
        };
        sites.find(is_there).unwrap_or_else(|| panic!("no write at `{mark}`")) - bias
    }

    /// The same as a finding tells it.
    pub fn code_at(&self, mark: &str) -> CodePlace {
        let place = self.program.place(self.write_at(mark));
        let ModuleName::BuildId(build_id) = place.module else { panic!("no build id") };
        CodePlace { module: None, build_id: Some(build_id), offset: format!("{:#x}", place.offset) }
    }

    /// A finding of a pattern whose accesses are at these lines.
    pub fn finding(&self, pattern: PatternId, marks: &[&str]) -> Finding {
        let mut finding = finding(pattern);
        for (access, mark) in finding.accesses.iter_mut().zip(marks) {
            access.code = self.code_at(mark);
        }
        finding
    }

    pub fn callees(&self, places: &[PlanPlace]) -> Vec<String> {
        places.iter().map(|place| self.program.callee_at(&place.at).unwrap()).collect()
    }
}
