//! What was learned about a program: a sum over runs, so that trainings can be put together in any order.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use unpick_analyses::invariants::{Checks, Rules, RunInvariants, Trained, Training, Variant};
use unpick_events::file::fnv1a;
use unpick_problem::Problem;

use crate::hardware::{Hardware, other_hardware};
use crate::site::{SiteKey, SiteWords, Sites};

/// What counted as failing in training. By other rules another run would have passed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Labels {
    /// `--fail-if`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<String>,
    /// `--oracle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle: Option<String>,
}

/// Trained invariants of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invariants {
    /// Name of the program's file.
    pub program: String,
    /// What a command line of unpick ends with to run it: `-- ./bank 100`. For people to paste.
    pub command: Option<String>,
    pub labels: Labels,
    /// Trained through simulated caches.
    pub hardware: Option<Hardware>,
    /// A site leaves the set after so many violating runs.
    pub leaves_after: u32,
    /// Passing runs.
    pub runs: u32,
    /// So many of the last runs did not change the set; 0 after merging.
    pub unchanged: u32,
    /// Build ids of the modules that have sites.
    pub builds: BTreeSet<String>,
    pub sites: BTreeMap<SiteKey, (SiteWords, Trained)>,
}

/// A violation of a run that breaks a trained invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Place among the violations of the run.
    pub violation: usize,
    /// The same in every run and build that has this code.
    pub id: String,
    /// Of the I-access.
    pub site: SiteKey,
    pub words: SiteWords,
    pub trained: Trained,
}

impl Invariants {
    pub fn new(program: &str, labels: Labels, leaves_after: u32) -> Invariants {
        Invariants {
            program: program.to_owned(),
            command: None,
            labels,
            hardware: None,
            leaves_after: leaves_after.max(1),
            runs: 0,
            unchanged: 0,
            builds: BTreeSet::new(),
            sites: BTreeMap::new(),
        }
    }

    /// What later runs have to be looked at with.
    pub fn variant(&self) -> Variant {
        self.hardware.and_then(Hardware::shape).map_or(Variant::Software, Variant::Hardware)
    }

    pub fn rules(&self) -> Rules {
        Rules { leaves_after: self.leaves_after, ..Rules::default() }
    }

    /// A training that goes on from here.
    pub fn training(&self, rules: Rules) -> Training<SiteKey> {
        let sites = self.sites.iter().map(|(key, (_, trained))| (key.clone(), *trained));
        Training::resumed(rules, sites.collect(), self.runs)
    }

    /// Takes in a passing run, and gives its checks in the words of the source.
    pub fn learn(&mut self, run: &RunInvariants, sites: &Sites) -> Vec<(SiteKey, Checks)> {
        let words =
            run.checks.iter().map(|(site, checks)| (sites.words(&run.code, *site), *checks));
        let mut of_run: BTreeMap<SiteKey, (SiteWords, Checks)> = BTreeMap::new();
        for (words, checks) in words {
            let known = of_run.entry(words.key()).or_insert((words, Checks::default()));
            known.1.add(checks);
        }
        for (key, (words, checks)) in &of_run {
            let trained =
                Trained { runs: 1, violated_runs: u32::from(checks.violated > 0), checks: *checks };
            self.add_site(key, words, trained);
        }
        self.runs = self.runs.saturating_add(1);
        self.builds.extend(builds_of(run));
        of_run.into_iter().map(|(key, (_, checks))| (key, checks)).collect()
    }

    fn add_site(&mut self, key: &SiteKey, words: &SiteWords, trained: Trained) {
        let entry = || (words.clone(), Trained::default());
        self.sites.entry(key.clone()).or_insert_with(entry).1.add(trained);
    }

    /// Adds what another training has learned about the same program.
    pub fn absorb(&mut self, other: &Invariants) -> Result<(), Problem> {
        if self.program != other.program {
            return Err(other_program(&self.program, &other.program));
        }
        if self.labels != other.labels {
            return Err(other_labels(&self.labels, &other.labels));
        }
        if self.hardware != other.hardware {
            return Err(other_hardware(self.hardware, other.hardware));
        }
        for (key, (words, trained)) in &other.sites {
            self.add_site(key, words, *trained);
        }
        self.runs = self.runs.saturating_add(other.runs);
        self.unchanged = 0;
        self.leaves_after = self.leaves_after.max(other.leaves_after);
        self.builds.extend(other.builds.iter().cloned());
        // Whichever, but the same in any order.
        self.command = [self.command.take(), other.command.clone()].into_iter().flatten().min();
        Ok(())
    }

    /// Whether it was trained for a program of this name.
    pub fn check_program(&self, program: &str) -> Result<(), Problem> {
        if self.program == program { Ok(()) } else { Err(other_program(&self.program, program)) }
    }

    /// Whether it is about variables: a hunt looks at those.
    pub fn check_software(&self) -> Result<(), Problem> {
        self.hardware.map_or(Ok(()), |hardware| Err(hardware.is_simulated()))
    }

    /// How many sites hold an invariant.
    pub fn count(&self) -> usize {
        self.sites.values().filter(|(_, trained)| trained.is_invariant(self.rules())).count()
    }

    pub fn is_invariant(&self, key: &SiteKey) -> bool {
        self.sites.get(key).is_some_and(|(_, trained)| trained.is_invariant(self.rules()))
    }

    /// Whether it holds an invariant that no thread has ever put to the test.
    pub fn is_unchallenged(&self, key: &SiteKey) -> bool {
        let trained = self.sites.get(key).map(|(_, trained)| trained);
        trained.is_some_and(|one| one.is_invariant(self.rules()) && one.was_never_challenged())
    }

    /// How many of the sites a run has checked are known, and how many there are.
    pub fn known_sites(&self, run: &RunInvariants, sites: &Sites) -> (usize, usize) {
        let keys = run.checks.iter().map(|(site, _)| sites.words(&run.code, *site).key());
        let keys: BTreeSet<SiteKey> = keys.collect();
        (keys.iter().filter(|key| self.sites.contains_key(key)).count(), keys.len())
    }

    /// Whether all code that was checked in a run is of builds that were trained with.
    pub fn knows_builds(&self, run: &RunInvariants) -> bool {
        builds_of(run).all(|build| self.builds.contains(&build))
    }

    /// What a run violates of it.
    pub fn broken_by(&self, run: &RunInvariants, sites: &Sites) -> Vec<Broken> {
        let broken = run.violations.iter().enumerate().filter_map(|(at, violation)| {
            let words = sites.words(&run.code, run.site_of(violation));
            let key = words.key();
            let (_, trained) = self.sites.get(&key)?;
            let of_example = run.example(violation).map(|access| access.site);
            let accesses: Vec<u32> = of_example.collect();
            let told = [accesses[0], accesses[violation.deciding]];
            let told = told.map(|site| sites.words(&run.code, site).key());
            trained.is_invariant(self.rules()).then(|| Broken {
                violation: at,
                id: id_of(violation.case.number(), [&told[0], &told[1], &key]),
                site: key,
                words,
                trained: *trained,
            })
        });
        broken.collect()
    }
}

/// The build ids of the modules in which something was checked, as often as it was.
fn builds_of(run: &RunInvariants) -> impl Iterator<Item = String> {
    let sites = run.checks.iter().map(|(site, _)| run.code.sites[*site as usize]);
    let modules = sites.filter_map(|site| run.code.modules.get(site.module? as usize));
    modules.map(|module| module.build_id.clone()).filter(|build| !build.is_empty())
}

/// Eight letters of hex.
fn id_of(case: u8, keys: [&SiteKey; 3]) -> String {
    let parts = keys.into_iter().flat_map(SiteKey::bytes);
    let bytes: Vec<u8> = [case].into_iter().chain(parts).collect();
    let hash = fnv1a(&bytes);
    format!("{:08x}", (hash >> 32) as u32 ^ hash as u32)
}

fn other_program(trained: &str, other: &str) -> Problem {
    Problem::usage(format!("the invariants are of another program: {trained}"))
        .at("program", other)
        .why("places of one program mean nothing in another")
        .next("keep them apart: --file OTHER.toml; if it only has a new name, change `program` in the file")
}

fn other_labels(trained: &Labels, other: &Labels) -> Problem {
    Problem::usage("the invariants were trained with other rules for what counts as failing")
        .why(format!(
            "they say `{}`, now it is `{}`: a run that passes by the one may fail by the other",
            in_words(trained),
            in_words(other)
        ))
        .next("use the same --fail-if and --oracle, or train another file: --file OTHER.toml")
}

fn in_words(labels: &Labels) -> String {
    let conditions = labels.fail_if.iter().map(|text| format!("--fail-if '{text}'"));
    let oracle = labels.oracle.iter().map(|text| format!("--oracle '{text}'"));
    let all: Vec<String> = conditions.chain(oracle).collect();
    if all.is_empty() { "exit code and signals".to_owned() } else { all.join(" ") }
}
