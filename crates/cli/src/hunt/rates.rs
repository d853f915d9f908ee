//! How often runs of a hunt failed without delays and with them.
//!
//! Takes   the runs of the hunt.      Gives  two rates that together count every run that has a verdict, and the delays under which most failed.

use unpick_events::Label;
use unpick_recording::RunOptions;
use unpick_run_store::StoredRun;
use unpick_runner::Rate;

use crate::hunt::course::Course;
use crate::repeat::delays;

#[derive(Debug, Default)]
pub struct DelayRates {
    pub plain: Rate,
    pub delayed: Rate,
    /// The options of the delays under which most runs failed, and how many.
    best: Option<(String, Rate)>,
}

impl DelayRates {
    pub fn of(course: &Course<'_>) -> DelayRates {
        // Without a run there is no rate.
        let Some(number) = course.number() else { return DelayRates::default() };
        let runs = course.store().runs_of_hunt(Some(number)).unwrap_or_default();
        let mut best = RunOptions::default();
        let best = course.rates().best.map(|(delays, _)| {
            delays.put_into(&mut best);
            best
        });
        DelayRates::of_runs(&runs, best.as_ref())
    }

    fn of_runs(runs: &[StoredRun], best: Option<&RunOptions>) -> DelayRates {
        let rate = |is_meant: &dyn Fn(&str) -> bool| {
            let runs = runs.iter().filter(|run| run.label() != Label::Unusable);
            let runs = runs.filter(|run| is_meant(&delays(&run.info.options)));
            runs.fold(Rate::default(), |rate, run| Rate {
                failed: rate.failed + u32::from(run.label() == Label::Fail),
                runs: rate.runs + 1,
            })
        };
        let best = best.map(|options| {
            let options = delays(options);
            let of_best = rate(&|delays| delays == options);
            (options, of_best)
        });
        DelayRates {
            plain: rate(&str::is_empty),
            delayed: rate(&|delays| !delays.is_empty()),
            best: best.filter(|(_, rate)| rate.failed > 0),
        }
    }

    /// `failed without delays: 3 of 11, with: 23 of 40`; none where no run was delayed.
    pub fn text(&self) -> Option<String> {
        let text = |rate: &Rate| format!("{} of {}", rate.failed, rate.runs);
        if self.delayed.runs == 0 {
            return None;
        }
        let (plain, delayed) = (text(&self.plain), text(&self.delayed));
        let mut line = format!("failed without delays: {plain}, with: {delayed}");
        if let Some((delays, rate)) = &self.best {
            line += &format!(", most with{delays}: {}", text(rate));
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use unpick_recording::{Outcome, RunInfo};

    use super::*;

    fn run(number: u64, label: Label, delay_sync_ppm: u32) -> StoredRun {
        let info = RunInfo {
            command: vec!["./bank".to_owned()],
            working_folder: PathBuf::new(),
            started_ms: 0,
            duration_ms: 0,
            outcome: Outcome::Exit { code: 0 },
            options: RunOptions { delay_sync_ppm, ..RunOptions::default() },
            seed: 1,
            unpick_version: String::new(),
            format_version: 2,
            label: Some(label),
            why: None,
            hunt: Some(1),
            written_as: None,
            judged_by: None,
            stdin: None,
        };
        StoredRun { number, folder: PathBuf::new(), info }
    }

    #[test]
    fn every_run_with_a_verdict_is_counted_once() {
        use Label::{Fail, Pass, Unusable};
        let labels =
            [(Fail, 0), (Pass, 0), (Fail, 5), (Fail, 5), (Pass, 5), (Fail, 9), (Unusable, 9)];
        let runs: Vec<_> =
            (1..).zip(labels).map(|(number, (label, ppm))| run(number, label, ppm)).collect();
        let best = RunOptions { delay_sync_ppm: 5, ..RunOptions::default() };
        let rates = DelayRates::of_runs(&runs, Some(&best));
        assert_eq!(rates.plain, Rate { failed: 1, runs: 2 });
        assert_eq!(rates.delayed, Rate { failed: 3, runs: 4 });
        let text = rates.text().unwrap();
        assert!(
            text.starts_with("failed without delays: 1 of 2, with: 3 of 4, most with"),
            "{text}"
        );
        assert!(text.ends_with(": 2 of 3"), "{text}");
        assert_eq!(DelayRates::of_runs(&runs[..2], None).text(), None);
    }
}
