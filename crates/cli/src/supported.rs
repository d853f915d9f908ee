//! What trained invariants have to do with a hunt: which orders are tried first, and which findings failing runs' violations support.
//!
//! Takes   invariants of the hunted program, if there are some; orders that no run had; findings and the failing runs they are of.
//! Gives   orders into an invariant that was never challenged first; findings with the invariants that failing runs violated at their accesses.
//! Misses  failing runs whose recordings are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use unpick_analyses::invariants::Variant;
use unpick_events::Label;
use unpick_findings::{CodePlace, Finding, Findings, Frame, SupportingInvariant};
use unpick_invariants::{Invariants, SiteKey, Sites};
use unpick_problem::Problem;
use unpick_reproduce::name_without_hash;
use unpick_run_store::StoredRun;

use crate::trained::{check_run, file_of, read};

/// More failing runs would not tell more.
const MOST_RUNS: usize = 25;
/// Orders that are the unserializable cases of an invariant.
const INVARIANT_PATTERNS: [&str; 4] = ["P4", "P5", "P6", "P7"];

/// Invariants of the hunted program.
pub struct Guidance {
    invariants: Invariants,
    sites: Sites,
}

impl Guidance {
    /// The invariants of a file that is named, or of the store if it has some. Those of another program are none of ours: that is
    /// only a problem if they were asked for.
    pub fn of(
        store: &Path,
        named: Option<&Path>,
        program: &str,
    ) -> Result<Option<Guidance>, Problem> {
        let read = read(&file_of(store, named)).and_then(|read| match read {
            Some(invariants) => {
                invariants.check_program(program).and_then(|()| invariants.check_software())?;
                Ok(Some(invariants))
            }
            None => Ok(None),
        });
        let invariants = match (read, named) {
            (Ok(None), Some(file)) => return Err(not_there(file)),
            (Err(problem), Some(_)) => return Err(problem),
            (Err(problem), None) => {
                eprintln!("unpick: invariants are not used: {}", problem.in_one_line());
                None
            }
            (Ok(invariants), _) => invariants,
        };
        let sites = Sites::seen_from(&std::env::current_dir().unwrap_or_default());
        Ok(invariants.map(|invariants| Guidance { invariants, sites }))
    }

    /// The invariants of the store, for the program that these runs are of.
    pub fn of_runs(store: &Path, runs: &[StoredRun]) -> Result<Option<Guidance>, Problem> {
        let program = runs.last().and_then(|run| run.info.command.first());
        program.map_or(Ok(None), |program| {
            Guidance::of(store, None, &name_without_hash(Path::new(program)))
        })
    }

    /// Orders into invariants that were never challenged come first; else they stay as they are.
    pub fn sort_orders(&self, orders: &mut [Finding]) {
        orders.sort_by_cached_key(|order| !self.challenges(order));
    }

    fn challenges(&self, order: &Finding) -> bool {
        let last = order.accesses.last().map(|access| self.key_of(&access.code));
        INVARIANT_PATTERNS.contains(&order.pattern.as_str())
            && last.flatten().is_some_and(|key| self.invariants.is_unchallenged(&key))
    }

    fn key_of(&self, code: &CodePlace) -> Option<SiteKey> {
        let offset = u64::from_str_radix(code.offset.trim_start_matches("0x"), 16).ok()?;
        let module = Path::new(code.module.as_deref()?);
        let build_id = code.build_id.as_deref().unwrap_or_default();
        Some(self.sites.words_at(module, build_id, offset).key())
    }

    /// Says in findings which invariants failing runs violated there.
    pub fn support(&self, findings: &mut Findings, runs: &[StoredRun]) {
        let violated = self.violated_in(runs);
        for finding in &mut findings.findings {
            let accesses = finding.accesses.iter();
            let keys: BTreeSet<SiteKey> =
                accesses.filter_map(|access| self.key_of(&access.code)).collect();
            let mut supporting: Vec<SupportingInvariant> = violated
                .iter()
                .filter(|(site, _)| keys.contains(site))
                .map(|(_, one)| one.clone())
                .collect();
            supporting.sort_by(|one, other| {
                (other.failed_runs, &one.id).cmp(&(one.failed_runs, &other.id))
            });
            finding.invariants = supporting;
        }
    }

    /// By the site of the I-access.
    fn violated_in(&self, runs: &[StoredRun]) -> Vec<(SiteKey, SupportingInvariant)> {
        let failing = runs.iter().filter(|run| run.label() == Label::Fail);
        // What cannot be looked at supports nothing.
        let checked = failing.filter_map(|run| check_run(&run.folder, Variant::Software).ok());
        let checked = checked.filter(|checked| checked.run.code.processes > 0).take(MOST_RUNS);
        let mut violated: BTreeMap<String, (SiteKey, SupportingInvariant)> = BTreeMap::new();
        let mut looked_at = 0;
        for checked in checked {
            looked_at += 1;
            let broken = self.invariants.broken_by(&checked.run, &self.sites);
            let mut of_run = BTreeSet::new();
            for broken in broken.into_iter().filter(|broken| of_run.insert(broken.id.clone())) {
                let case = checked.run.violations[broken.violation].case;
                let entry = violated.entry(broken.id.clone()).or_insert_with(|| {
                    let words = broken.words;
                    let one = SupportingInvariant {
                        id: broken.id,
                        case: case.number(),
                        order: case.to_string(),
                        frame: Frame {
                            function: words.function,
                            file: words.file,
                            line: words.line,
                            column: None,
                        },
                        failed_runs: 0,
                        looked_at: 0,
                        trained: broken.trained.into(),
                    };
                    (broken.site, one)
                });
                entry.1.failed_runs += 1;
            }
        }
        let with_total = |(site, one)| (site, SupportingInvariant { looked_at, ..one });
        violated.into_values().map(with_total).collect()
    }
}

fn not_there(file: &Path) -> Problem {
    Problem::usage("there are no invariants in the file that was named")
        .at("file", file.display())
        .next("train them: unpick train --file FILE -- PROGRAM")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use unpick_analyses::invariants::{Checks, Trained};
    use unpick_invariants::{Labels, SiteWords};

    /// There is no such program: its places are known by address only.
    fn access(offset: &str) -> Value {
        json!({
            "role": 1, "kind": "write", "variable": null, "function": null, "file": null, "line": null,
            "column": null, "inlined_into": [], "thread": 1, "process": 0, "atomic": false, "order": 0,
            "stack": [], "locks": [],
            "code": { "module": "no-such-bank", "build_id": null, "offset": offset },
        })
    }

    fn order(pattern: &str, last: &str) -> Finding {
        let order = json!({
            "rank": 1, "score": 0.0, "class": "single-variable", "pattern": pattern, "sentence": "",
            "accesses": [access("0x10"), access("0x11"), access(last)], "failed_runs": 0,
            "passed_runs": 0, "example_run": 1, "cut_short": false, "supporters": [],
            "further_supporters": 0,
            "study": {
                "first_pair": null, "second_pair": null, "pattern_rank": 0, "patterns_at_rank_1": 0,
                "pairs": 0, "patterns": 0, "median_distance": null, "longest_distance": null,
                "access_window": null
            },
        });
        serde_json::from_value(order).unwrap()
    }

    fn guidance() -> Guidance {
        let mut invariants = Invariants::new("no-such-bank", Labels::default(), 1);
        for (offset, challenged, violated) in [(0x20, 0, 0), (0x21, 3, 0), (0x22, 1, 1)] {
            let module = "no-such-bank".to_owned();
            let words = SiteWords { module, offset: Some(offset), ..SiteWords::default() };
            let checks = Checks { checked: 5, challenged, violated };
            let trained = Trained { runs: 2, violated_runs: violated as u32, checks };
            invariants.sites.insert(words.key(), (words, trained));
        }
        Guidance { invariants, sites: Sites::seen_from(Path::new("/nowhere")) }
    }

    #[test]
    fn orders_into_invariants_that_nobody_challenged_come_first() {
        let mut orders = vec![
            order("P7", "0x22"),
            order("P7", "0x21"),
            order("P8", "0x20"),
            order("P6", "0x20"),
            order("P4", "0x99"),
            order("P7", "0x20"),
        ];
        guidance().sort_orders(&mut orders);
        let told: Vec<_> = orders
            .iter()
            .map(|order| (order.pattern.as_str(), order.accesses[2].code.offset.as_str()))
            .collect();
        let first = [("P6", "0x20"), ("P7", "0x20")];
        assert_eq!(told[..2], first, "and three writes are no violation");
        let rest = [("P7", "0x22"), ("P7", "0x21"), ("P8", "0x20"), ("P4", "0x99")];
        assert_eq!(told[2..], rest);
    }
}
