//! What came of some runs under one plan.

use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::json;
use unpick_events::Label;
use unpick_problem::Problem;
use unpick_reproduce::{Mode, Outcome, Over, Plan, Prevention, why_never_hit};

use crate::forcing::{ForcedRun, Forcing};

#[derive(Debug, Default)]
pub struct Tally {
    pub runs: u32,
    pub unusable: u32,
    /// Usable runs in which the order came about: forced, or its inverse throughout.
    pub hits: u32,
    pub failed: u32,
    /// Of the runs that were hit.
    pub failed_hits: u32,
    pub last_unusable: Option<String>,
    /// Why the first failing run failed.
    pub first_failure: Option<String>,
    pub outcome: Outcome,
    /// What the others waited for where a thread was let go, in the first of the runs that tell the most.
    pub prevention: Option<Prevention>,
    pub time: Duration,
    /// Of the runs that failed, from their start to the first hit.
    until_hit: Vec<Duration>,
}

impl Tally {
    /// One more run. False: the user wants no more, or none can be made.
    pub fn run_once(&mut self, forcing: &Forcing, plan: Option<&Plan>) -> Result<bool, Problem> {
        if forcing.is_stopped() {
            return Ok(false);
        }
        let Some(run) = forcing.run(plan)? else { return Ok(false) };
        self.add(&run, plan)?;
        Ok(true)
    }

    pub fn add(&mut self, run: &ForcedRun, plan: Option<&Plan>) -> Result<(), Problem> {
        self.runs += 1;
        if run.label == Label::Unusable {
            self.unusable += 1;
            self.last_unusable = Some(run.why.clone());
            return Ok(());
        }
        self.time += run.duration;
        let has_failed = run.label == Label::Fail;
        let is_hit = plan.is_some_and(|plan| is_reached(plan, run));
        self.hits += u32::from(is_hit);
        if has_failed {
            self.failed += 1;
            self.failed_hits += u32::from(is_hit);
            self.first_failure.get_or_insert_with(|| run.why.clone());
        }
        self.until_hit.extend(run.outcome.until_hit);
        let how_telling = |prevention: &Prevention| prevention.why;
        if run.prevention.as_ref().map(how_telling) > self.prevention.as_ref().map(how_telling) {
            self.prevention.clone_from(&run.prevention);
        }
        self.outcome.add(&run.outcome)
    }

    pub fn usable(&self) -> u32 {
        self.runs - self.unusable
    }

    /// In how many runs what was asked for came about, at least once.
    pub fn came_about(&self, plan: &Plan) -> u64 {
        match plan.mode {
            // A run that failed before the last step counts as well.
            Mode::Force => self.outcome.hits.max(self.hits.into()),
            _ => self.outcome.inverse_hits,
        }
    }

    /// What kept the order from coming about.
    pub fn obstacle(&self, plan: &Plan) -> Problem {
        why_never_hit(plan, &self.outcome, self.prevention.as_ref(), self.runs)
    }

    pub fn median_until_hit(&self) -> Option<Duration> {
        let mut times = self.until_hit.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }

    /// For people.
    pub fn table(&self, plan: &Plan, alone: Option<&Tally>) -> String {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING).set_header(["", "runs", "hit", "failed"]);
        table.add_row([
            "forced".into(),
            self.usable().to_string(),
            self.hits.to_string(),
            self.failures(),
        ]);
        if let Some(alone) = alone {
            table.add_row([
                "left alone".into(),
                alone.usable().to_string(),
                "-".into(),
                alone.failures(),
            ]);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let mut text = format!("{table}\n\n{}\n", self.steps(plan));
        if let Some(why) = &self.first_failure {
            text += &format!("the first that failed: {why}\n");
        }
        if self.unusable > 0 {
            let why = self.last_unusable.as_deref().unwrap_or_default();
            text += &format!("{} more could not be used; the last one: {why}\n", self.unusable);
        }
        text
    }

    fn failures(&self) -> String {
        format!("{} ({})", self.failed, percent(self.failed, self.usable()))
    }

    /// Who came where, step by step.
    fn steps(&self, plan: &Plan) -> String {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_header(["step", "thread", "what", "came", "held", "made", "in vain"]);
        for (number, (step, outcome)) in plan.steps.iter().zip(&self.outcome.steps).enumerate() {
            table.add_row([
                (number + 1).to_string(),
                step.role.to_string(),
                step.shown.clone(),
                outcome.arrived.to_string(),
                outcome.held.to_string(),
                outcome.made.to_string(),
                (outcome.timed_out + outcome.blocked).to_string(),
            ]);
        }
        table.to_string()
    }

    /// As `docs/schema/reproduce.schema.json` says.
    pub fn to_json(&self, plan: &Plan, alone: Option<&Tally>) -> String {
        let steps = plan.steps.iter().zip(&self.outcome.steps).map(|(step, outcome)| {
            json!({
                "thread": step.role,
                "what": step.shown,
                "arrived": outcome.arrived,
                "held": outcome.held,
                "made": outcome.made,
                "timed_out": outcome.timed_out,
                "blocked": outcome.blocked,
            })
        });
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let value = json!({
            "schema": "unpick-reproduce/1",
            "mode": mode_name(plan.mode),
            "runs": self.usable(),
            "hits": self.hits,
            "failed": self.failed,
            "failed_hits": self.failed_hits,
            "unusable": self.unusable,
            "duration_ms": milliseconds(self.time),
            "held_ms": milliseconds(self.outcome.held),
            "median_until_hit_ms": self.median_until_hit().map(milliseconds),
            "first_failure": self.first_failure,
            "pause_ms": milliseconds(plan.pause),
            "bound": plan.bound,
            "ignored": plan.ignored,
            "linger_ms": milliseconds(plan.linger),
            "meet": plan.meet,
            "eager": plan.eager,
            "undisturbed": plan.undisturbed,
            "window": plan.window,
            "early": plan.early,
            "held_back": plan.held_back,
            "left_alone": alone.map(|alone| json!({
                "runs": alone.usable(),
                "failed": alone.failed,
                "duration_ms": milliseconds(alone.time),
            })),
            "steps": steps.collect::<Vec<_>>(),
        });
        serde_json::to_string_pretty(&value).expect("plain values can always be written")
    }
}

/// Whether what was asked for happened in a run.
pub fn is_reached(plan: &Plan, run: &ForcedRun) -> bool {
    let has_failed = run.label == Label::Fail;
    is_hit(plan, &run.outcome) || run.is_shown || has_failed && is_cut_short(plan, &run.outcome)
}

fn is_hit(plan: &Plan, outcome: &Outcome) -> bool {
    match plan.mode {
        Mode::Force => outcome.hits > 0,
        // The order itself must not have come about beside it, nor after the last thread was held.
        _ => outcome.inverse_hits > 0 && outcome.hits == 0 && outcome.over != Some(Over::Budget),
    }
}

/// Whether a run ended while only the last step was missing, and its thread was being held for it: what made the run fail then is
/// that this step had not been made yet.
fn is_cut_short(plan: &Plan, outcome: &Outcome) -> bool {
    let Some((last, earlier)) = outcome.steps.split_last() else { return false };
    let is_still_held = last.held > last.made + last.timed_out + last.blocked;
    plan.mode == Mode::Force && is_still_held && earlier.iter().all(|step| step.made > 0)
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Force => "force",
        Mode::Serialise => "serialise",
        Mode::Reverse => "reverse",
    }
}

fn percent(part: u32, whole: u32) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    format!("{:.0} %", 100.0 * f64::from(part) / f64::from(whole))
}
