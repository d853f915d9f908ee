//! Whether a run had the order of a plan, by its recording.
//!
//! Takes   the patterns of a run of the same build.      Gives  whether one of them is made of the plan's steps.
//! Misses  what the windows of the analysis do not show; deadlocks; plans with steps that are two accesses.

use unpick_analyses::RunPatterns;
use unpick_analyses::interleaving_patterns::{AccessKind, CodeSite, Step};

use super::{CallPlace, ModuleName, Plan, PlanStep};

impl Plan {
    /// Whether threads came by in this order. The runtime knows only of orders that it has watched from the first step on, by threads
    /// that kept their roles: a task that goes on in another thread loses its own.
    pub fn is_shown_by(&self, run: &RunPatterns) -> bool {
        run.patterns.iter().any(|found| {
            let steps = found.pattern.steps();
            let sites = run.sites_of(found).map(|site| run.sites[site as usize]);
            let mut made = self.steps.iter().zip(steps.iter().zip(sites));
            steps.len() == self.steps.len()
                && made.all(|(own, (step, site))| does(own, step) && is_at(own, site, run))
        })
    }
}

fn does(own: &PlanStep, step: &Step) -> bool {
    let is_write = step.kind == AccessKind::Write;
    (own.role, own.variable, own.is_write) == (step.role, Some(step.variable as u8), is_write)
}

fn is_at(own: &PlanStep, site: CodeSite, run: &RunPatterns) -> bool {
    let Some(module) = site.module.and_then(|module| run.modules.get(module as usize)) else {
        return false;
    };
    let is_there = |place: &CallPlace| {
        let is_module = match &place.module {
            ModuleName::BuildId(build_id) => *build_id == module.build_id,
            // Findings name files as seen from a folder.
            ModuleName::Path(path) => module.path.ends_with(path),
        };
        is_module && place.offset == site.offset
    };
    own.places.iter().any(|place| is_there(&place.at))
}
