//! What is shown while a hunt goes on: a bar on a terminal, plain lines elsewhere, JSON if asked for.
//!
//! Takes   each judged run.      Gives  lines on standard error (JSON: on standard output).

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use unpick_events::Label;
use unpick_findings::{Active, Finding, TriedOrder};
use unpick_runner::Judged;

use crate::hunt::budget::{Budget, Counts};
use crate::hunt::single::SlowReading;
use crate::quantities::bytes_in_words;
use crate::repeat::repeat_command;

/// Without a terminal there is a line at least so often, besides one for each of the first failing runs.
const LINE_EVERY: u32 = 10;
const FAILING_TOLD: u32 = 3;

pub struct Progress {
    shown: Shown,
    budget: Budget,
    /// The leading finding, in words.
    leading: Option<String>,
}

enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines,
    Json,
}

impl Progress {
    pub fn new(quiet: bool, json_lines: bool, budget: Budget) -> Progress {
        let shown = match (json_lines, quiet, std::io::stderr().is_terminal()) {
            (true, _, _) => Shown::Json,
            (false, true, _) => Shown::Nothing,
            (false, false, true) => Shown::Bar(bar()),
            (false, false, false) => Shown::Lines,
        };
        Progress { shown, budget, leading: None }
    }

    /// A run has ended.
    pub fn told(&self, judged: &Judged, counts: &Counts, elapsed: Duration) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_message(self.line(counts, elapsed));
                bar.tick();
            }
            Shown::Lines => self.print_lines(judged, counts, elapsed),
            Shown::Json => print_json(judged),
        }
    }

    /// A run has ended and takes long to be read.
    pub fn reading(&self, slow: SlowReading) {
        let line = format!("reading run {} ({})", slow.run, bytes_in_words(slow.bytes));
        match &self.shown {
            Shown::Nothing | Shown::Json => {}
            Shown::Bar(bar) => bar.set_message(line),
            Shown::Lines => eprintln!("unpick: {line}"),
        }
    }

    fn print_lines(&self, judged: &Judged, counts: &Counts, elapsed: Duration) {
        let label = judged.label();
        let tell_failing = label == Label::Fail && counts.failed <= FAILING_TOLD;
        let tell_unusable = label == Label::Unusable && counts.unusable <= FAILING_TOLD;
        if tell_failing || tell_unusable {
            eprintln!("unpick: run {}: {}: {}", judged.number, label.name(), judged.why());
        }
        if counts.total().is_multiple_of(LINE_EVERY) {
            eprintln!("unpick: {}", self.line(counts, elapsed));
        }
    }

    /// `30 runs: 12 failed, 18 passed (25 and 25 wanted); 40% fail; 3 s, at most 57 s more`.
    fn line(&self, counts: &Counts, elapsed: Duration) -> String {
        let mut line = format!(
            "{} runs: {} failed, {} passed ({} and {} wanted)",
            counts.total(),
            counts.failed,
            counts.passed,
            self.budget.failing,
            self.budget.passing
        );
        if counts.unusable > 0 {
            line += &format!(", {} unusable", counts.unusable);
        }
        if counts.usable() > 0 {
            let share = 100.0 * f64::from(counts.failed) / f64::from(counts.usable());
            line += &format!("; {share:.0}% fail");
        }
        line += &format!("; {:.0} s", elapsed.as_secs_f64());
        if let Some(time) = self.budget.time {
            line += &format!(", at most {:.0} s more", time.saturating_sub(elapsed).as_secs_f64());
        }
        line
    }

    /// Whether there is somebody to see a finding before the end.
    pub fn shows_findings(&self) -> bool {
        matches!(self.shown, Shown::Bar(_) | Shown::Lines)
    }

    /// The finding that leads so far.
    pub fn leading(&mut self, finding: &Finding) {
        let text = unpick_report::headline(finding);
        if let Shown::Bar(bar) = &self.shown {
            bar.set_prefix(text.clone());
        }
        if matches!(self.shown, Shown::Lines) && self.leading.as_ref() != Some(&text) {
            eprintln!("unpick: leading so far: {text}");
        }
        self.leading = Some(text);
    }

    /// Orders that no run had are tried from now on.
    pub fn begin_orders(&mut self) {
        if let Shown::Bar(shown) = &mut self.shown {
            *shown = bar();
        }
    }

    /// One of `all` such orders has been tried.
    pub fn tried(&self, order: &TriedOrder, active: &Active, all: u32) {
        let Active { tried, reached, failed, .. } = active;
        let line =
            format!("{tried} of {all} orders tried: {reached} came about, {failed} made it fail");
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_message(line);
                bar.tick();
            }
            Shown::Lines if tried.is_multiple_of(LINE_EVERY) || order.failed > 0 => {
                eprintln!("unpick: {line}");
            }
            Shown::Lines => {}
            Shown::Json => print_order(order),
        }
    }

    /// Whether bars of others are to be kept away.
    pub fn is_quiet(&self) -> bool {
        !matches!(self.shown, Shown::Bar(_))
    }

    /// No more runs follow.
    pub fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_style(style());
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Without colours, so that there is nothing for NO_COLOR to switch off.
fn style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {wide_msg}\n  {prefix}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn print_json(judged: &Judged) {
    let info = &judged.run.info;
    let line = json!({
        "event": "run",
        "run": judged.number,
        "hunt": judged.hunt,
        "label": judged.label().name(),
        "why": judged.why(),
        "duration_ms": info.duration_ms,
        "seed": info.seed,
        "options": info.options,
        "repeat": repeat_command(info, &judged.run.folder),
    });
    // Whoever does not listen any more has heard enough; the hunt goes on.
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn print_order(order: &TriedOrder) {
    let line = json!({ "event": "order", "order": order });
    let _ = writeln!(std::io::stdout(), "{line}");
}
