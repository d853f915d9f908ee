//! Whether a run had the order of a plan, by its recording.
//!
//! Takes   the patterns of a run of the same build, or the log of its accesses.      Gives  whether one of them is made of the plan's steps.
//! Misses  what the windows of the analysis do not show; deadlocks; plans with steps that are two accesses. Of the log: orders of one variable.

use unpick_analyses::RunPatterns;
use unpick_analyses::access_log::{AccessLog, LogStep, STEPS};
use unpick_analyses::interleaving_patterns::{
    AccessKind, CodeModule, CodeSite, FoundPattern, Step,
};

use super::{CallPlace, ModuleName, Plan, PlanStep};

impl Plan {
    /// Whether threads came by in this order. The runtime knows only of orders that it has watched from the first step on, by threads
    /// that kept their roles: a task that goes on in another thread loses its own.
    pub fn is_shown_by(&self, run: &RunPatterns) -> bool {
        self.shown_in(run).is_some()
    }

    /// When the harm was done for the first time, as process and place among its accesses; none: the run did not have this order.
    pub fn shown_in(&self, run: &RunPatterns) -> Option<(u32, u32)> {
        let is_this = |found: &&FoundPattern| {
            let steps = found.pattern.steps();
            let sites = run.sites_of(found).map(|site| run.sites[site as usize]);
            let mut made = self.steps.iter().zip(steps.iter().zip(sites));
            steps.len() == self.steps.len()
                && made.all(|(own, (step, site))| does(own, step) && is_at(own, site, run))
        };
        let found = run.patterns.iter().filter(is_this);
        found.map(|found| run.harmful_at(found)).min()
    }

    /// Whether a log can show this order: that of a unit of two variables which was torn.
    pub fn is_of_units(&self) -> bool {
        self.log_steps().is_some()
    }

    /// Whether the log of a run shows it; none: a log cannot.
    pub fn is_in(&self, log: &AccessLog) -> Option<bool> {
        let steps = self.log_steps()?;
        Some(log.has(&steps, |step, site, module| {
            module.is_some_and(|module| is_in_module(&self.steps[step], site, module))
        }))
    }

    fn log_steps(&self) -> Option<[LogStep; STEPS]> {
        let step = |own: &PlanStep| Some(LogStep { role: own.role, variable: own.variable? });
        let steps: Vec<LogStep> = self.steps.iter().map(step).collect::<Option<_>>()?;
        steps.try_into().ok()
    }
}

fn does(own: &PlanStep, step: &Step) -> bool {
    let is_write = step.kind == AccessKind::Write;
    (own.role, own.variable, own.is_write) == (step.role, Some(step.variable as u8), is_write)
}

fn is_at(own: &PlanStep, site: CodeSite, run: &RunPatterns) -> bool {
    let module = site.module.and_then(|module| run.modules.get(module as usize));
    module.is_some_and(|module| is_in_module(own, site, module))
}

fn is_in_module(own: &PlanStep, site: CodeSite, module: &CodeModule) -> bool {
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
