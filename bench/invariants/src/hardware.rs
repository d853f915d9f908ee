//! AVIO in hardware: caches simulated over full recordings, trained and watched like the software.

use std::path::{Path, PathBuf};

use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_analyses::invariants::{CacheShape, Collector, Rules, RunInvariants, Training, Variant};
use unpick_analyses::ranking::CodeBook;
use unpick_events::Label;
use unpick_findings::{Frame, Names};
use unpick_names::{CodeNames, KnownRecording};
use unpick_problem::Problem;
use unpick_recording::{Run, RunInfo};

use crate::command::{Delays, Program, fresh_folder, output, text};

/// A trained set, by addresses: all runs are of one build.
pub struct Hardware<'a> {
    unpick: &'a Path,
    program: &'a Program,
    folder: PathBuf,
    shape: CacheShape,
    names: CodeNames,
    training: Training<u64>,
}

/// A run after training.
pub struct Simulated {
    pub failed: bool,
    /// Of invariants: the lines of I-access and remote access.
    pub violations: Vec<[Frame; 2]>,
}

impl<'a> Hardware<'a> {
    pub fn trained(
        unpick: &'a Path,
        program: &'a Program,
        folder: PathBuf,
        shape: CacheShape,
        runs: u32,
    ) -> Result<Hardware<'a>, Problem> {
        let rules = Rules { settled_after: runs, ..Rules::default() };
        let training = Training::new(rules);
        let names = CodeNames::new();
        let mut hardware = Hardware { unpick, program, folder, shape, names, training };
        for _ in 0..runs {
            let (run, failed) = hardware.run(&program.training, Delays::None)?;
            let label = if failed { Label::Fail } else { Label::Pass };
            let checks = run.checks.iter().map(|(site, checks)| (address(&run, *site), *checks));
            hardware.training.add(label, checks);
        }
        Ok(hardware)
    }

    pub fn invariants(&self) -> usize {
        self.training.invariants().count()
    }

    /// One run with the other input.
    pub fn watch(&self, delays: Delays) -> Result<Simulated, Problem> {
        let (run, failed) = self.run(&self.program.detection, delays)?;
        let mut code = CodeBook::default();
        let translation = code.enter(&run.code);
        let frame = |site: u32| {
            let site: CodeSite = code.sites[translation.sites[site as usize] as usize];
            self.names.place(site, &code).frame
        };
        let broken = run
            .violations
            .iter()
            .filter(|violation| self.training.is_invariant(&address(&run, run.site_of(violation))));
        let violations = broken.map(|violation| {
            let sites: Vec<u32> = run.example(violation).map(|access| access.site).collect();
            [sites[sites.len() - 1], sites[violation.deciding]].map(frame)
        });
        let violations = violations.collect();
        Ok(Simulated { failed, violations })
    }

    /// Records a run in full and looks at it through caches; says whether it failed.
    fn run(&self, arguments: &[String], delays: Delays) -> Result<(RunInvariants, bool), Problem> {
        let store = fresh_folder(self.folder.clone())?;
        let (unpick, store) = (self.unpick.to_string_lossy(), store.to_string_lossy());
        let record = [&*unpick, "record", "--full", "--quiet", "--store", &store];
        let command = [&record[..], delays.options(), &["--"]].concat();
        let output = output(&command, &self.program.path, arguments)?;
        let folder = self.folder.join("runs/0001");
        let info = RunInfo::read(&folder).map_err(|error| {
            Problem::own_fault("a run was not recorded")
                .at("program", self.program.path.display())
                .why(format!("{error}; {}", text(&output.stderr)))
        })?;
        let mut collector = Collector::new(Variant::Hardware(self.shape));
        for recording in Run::open(&folder)?.recordings() {
            let recording = recording?;
            collector.add(&recording, &KnownRecording::new(&recording, &self.names));
        }
        Ok((collector.finish(), info.outcome.exit_status() != 0))
    }
}

/// A site of the program itself, or of a library: module and address in one number that all runs share.
fn address(run: &RunInvariants, site: u32) -> u64 {
    let CodeSite { module, offset } = run.code.sites[site as usize];
    let build = module.map(|module| run.code.modules[module as usize].build_id.as_str());
    let name = build.unwrap_or_default().bytes();
    name.fold(offset, |sum, byte| sum.rotate_left(7) ^ u64::from(byte).wrapping_mul(0x9e37_79b9))
}
