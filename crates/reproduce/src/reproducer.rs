//! A reproducer file: an order of accesses in the words of the source, so that it outlives the build it was found in.
//!
//! Takes   TOML, trusted in nothing.      Gives  a `Reproducer` that makes sense in itself, or a problem that says what does not.
//! Misses  whether the program has such code: that is `Reproducer::matched`.
//!
//! ```toml
//! unpick = 1
//! program = "./bank"
//! pattern = "P7"
//! sentence = "Thread 1 (`look`) read `account.balance` and then wrote it, …"
//! pause-ms = 1000
//! budget-ms = 10000
//!
//! [[step]]
//! role = 1
//! kind = "read"
//! variable = "account.balance"
//!
//! [step.at]
//! file = "bank.c"
//! function = "look"
//! line = 13
//! column = 14
//! text = "int old = account.balance;"
//! call = "__tsan_read4"
//! ```

mod check;
mod matched;
mod pinned;
mod search;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use unpick_problem::Problem;

pub use matched::Matched;
pub use pinned::Subject;

/// The version of the form that is written, and the only one that is read.
pub const REPRODUCER_VERSION: u32 = 1;

/// The name of the pattern of threads that wait for each other.
pub const DEADLOCK: &str = "deadlock";
/// The name of the pattern of a thread that waits at a condition, and is not notified.
pub const LOST_NOTIFICATION: &str = "lost-notification";

const ABOUT: &str = "\
# A reproducer of unpick: an order of accesses that makes this program fail. Keep it with the tests:
#
#   unpick check FILE                 fails (exit code 66) while the bug is there, passes (0) once it is fixed,
#   unpick check FILE -- PROGRAM      and says so (68) if the code is not there any more
#
# `tried` says how many runs forced by this file failed when it was made. Without one that failed it cannot show that the bug is fixed (69).
#
# The program must be built by unpick (unpick cc, unpick cargo). Steps are found again in a rebuilt program by function and by the
# text of the line, so lines may move.

";

/// An order of accesses, and the program that has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reproducer {
    /// The version of the form.
    unpick: u32,
    /// As a user types it.
    pub program: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// If it is a test of a cargo project: the words after `--cargo` that name it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cargo: Vec<String>,
    /// Each run needs an empty working folder of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub own_folder: bool,
    /// What it reads as its standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<PathBuf>,
    /// `P1` to `P32`, `torn-at-first` or `torn-at-second`, `deadlock` or `lost-notification`.
    pub pattern: String,
    /// Why this order is wrong.
    #[serde(default)]
    pub sentence: String,
    /// The longest that a thread is held at once. Not zero: who never waits forces nothing.
    #[serde(default = "default_pause")]
    pub pause_ms: u32,
    /// The same in microseconds, in place of `pause-ms`, where that is too coarse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_us: Option<u32>,
    /// The longest that all threads together are held.
    #[serde(default = "default_budget")]
    pub budget_ms: u32,
    /// After so many hits nothing is held any more; 0: no bound.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bound: u32,
    /// So many arrivals at the first step pass first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignore_first: u32,
    /// Of a deadlock: who is missing takes its lock when the others wait, and they go on when it has done so as often without coming; 0:
    /// they wait as long as they may.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rounds: u32,
    /// So many microseconds the other threads go on before the last step is made.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub linger_us: u32,
    /// The threads of the first two steps each wait until the other is at its step with the same bytes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub meet: bool,
    /// No step waits until the thread of the step before is at its own next one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub eager: bool,
    /// While a thread waits to take a lock for its next step, no other takes it elsewhere.
    #[serde(default, skip_serializing_if = "is_false")]
    pub undisturbed: bool,
    /// There are no turns: every step that another thread's should come before waits for the pause.
    #[serde(default, skip_serializing_if = "is_false")]
    pub window: bool,
    /// A later step of a thread counts only within the call of its first one, not in the next.
    #[serde(default, skip_serializing_if = "is_false")]
    pub within_calls: bool,
    /// Threads wait where the function of their step begins, if there is no gate.
    #[serde(default, skip_serializing_if = "is_false")]
    pub early: bool,
    /// Threads that come in after the first step wait where the function of theirs begins.
    #[serde(default, skip_serializing_if = "is_false")]
    pub held_back: bool,
    /// What counts as failing; without it: an exit code other than 0, a signal, no end in time.
    #[serde(default, skip_serializing_if = "Oracle::is_default")]
    pub oracle: Oracle,
    /// What came of it when it was pinned; none: it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Tried>,
    #[serde(rename = "step")]
    pub steps: Vec<ReproducerStep>,
}

/// What counts as failing, as `unpick hunt` takes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Oracle {
    /// `--fail-if`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<String>,
    /// `--oracle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// `--timeout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u32>,
}

/// Runs forced by the file itself, on the build that has the bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tried {
    pub runs: u32,
    pub failed: u32,
}

/// One access of a pattern, one wait of a deadlock, or one deed on the way to a lost notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ReproducerStep {
    /// Which thread, from 1.
    pub role: u8,
    pub kind: StepKind,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// How many bytes are accessed; 0: not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u32,
    /// It is one access with the step before, which touches both variables.
    #[serde(default, skip_serializing_if = "is_false")]
    pub with_previous: bool,
    pub at: SourcePlace,
    /// Where its thread waits before it: where it takes the outermost lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<SourcePlace>,
    /// The step counts only while its thread holds the lock that it takes here. It is the gate as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holding: Option<SourcePlace>,
}

impl ReproducerStep {
    /// Where its thread takes a lock before it.
    fn gate_or_holding(&self) -> Option<&SourcePlace> {
        self.gate.as_ref().or(self.holding.as_ref())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    Read,
    Write,
    Free,
    /// Of a deadlock, for a lock; of a lost notification, at a condition.
    Wait,
    /// A lock is taken.
    Lock,
    /// Those who wait at a condition are notified.
    Notify,
}

/// A call in the code, in the words of the source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SourcePlace {
    /// File name of the library that has it; none: the program itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The function that `function` is inlined into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The line of source. Spaces do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The function that is called: a hook of the compiler, a function that takes a lock, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Of several calls that are alike in all that, the how manieth, from 1; only while there are as many as `occurrences`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrences: Option<u32>,
    /// Of a gate: how far behind the lock that is taken there the variable of the step is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<i64>,
    /// The calls that must have led there, innermost first; they have none of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<SourcePlace>,
}

fn default_pause() -> u32 {
    crate::plan::DEFAULT_PAUSE.as_millis() as u32
}

fn default_budget() -> u32 {
    crate::plan::DEFAULT_BUDGET.as_millis() as u32
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_false(is: &bool) -> bool {
    !is
}

impl Oracle {
    fn is_default(&self) -> bool {
        *self == Oracle::default()
    }
}

/// What every version has.
#[derive(Deserialize)]
struct Form {
    unpick: u32,
}

impl Reproducer {
    /// Reads a reproducer; `name` says in problems where it came from.
    pub fn from_toml(text: &str, name: &str) -> Result<Reproducer, Problem> {
        let damaged = |error: toml::de::Error| unreadable(name, error.to_string().trim_end());
        // The form is looked at first: another version may have other keys.
        let form: Form = toml::from_str(text).map_err(damaged)?;
        if form.unpick != REPRODUCER_VERSION {
            return Err(other_version(name, form.unpick));
        }
        let read: Reproducer = toml::from_str(text).map_err(damaged)?;
        read.check().map_err(|why| unreadable(name, &why))?;
        Ok(read)
    }

    /// As TOML, for people too.
    ///
    /// # Panics
    /// Never: there is nothing in it that TOML cannot say.
    pub fn to_toml(&self) -> String {
        let text = toml::to_string_pretty(self).expect("keys are texts, numbers are small");
        format!("{ABOUT}{text}")
    }

    /// Whether a run forced by this file has ever failed, as far as the file says. If none has, runs that pass under it show nothing.
    pub fn was_seen_to_fail(&self) -> bool {
        self.tried.is_some_and(|tried| tried.failed > 0)
    }

    /// The same order within calls; none if no thread makes several accesses.
    pub fn within_calls(&self) -> Option<Reproducer> {
        let roles = self.steps.iter().filter(|step| !step.with_previous).map(|step| step.role);
        let all: Vec<u8> = roles.collect();
        let different: BTreeSet<&u8> = all.iter().collect();
        let may_be = self.pattern_steps().is_some() && !self.window && different.len() < all.len();
        may_be.then(|| Reproducer { within_calls: true, ..self.clone() })
    }

    /// The longest that a thread is held at once.
    pub(crate) fn pause(&self) -> Duration {
        let milliseconds = Duration::from_millis(self.pause_ms.into());
        self.pause_us.map_or(milliseconds, |time| Duration::from_micros(time.into()))
    }

    /// File names of the libraries that have some of its places.
    pub fn libraries(&self) -> BTreeSet<&str> {
        let places = self.steps.iter().flat_map(|step| [Some(&step.at), step.gate_or_holding()]);
        let all = places.flatten().flat_map(|place| [place].into_iter().chain(&place.via));
        all.filter_map(|place| place.module.as_deref()).collect()
    }

    /// Refuses a program that has another name than the one the reproducer was made of.
    pub fn check_program(&self, program: &Path) -> Result<(), Problem> {
        if name_without_hash(Path::new(&self.program)) == name_without_hash(program) {
            return Ok(());
        }
        Err(Problem::usage(format!("the reproducer is for another program: {}", self.program))
            .at("program", program.display())
            .why("steps of one program mean nothing in another")
            .next("give the program it is for; if it only has a new name, change `program` in the file"))
    }
}

/// `bank` of `deps/bank-0123456789abcdef`: cargo gives every build of a test another name.
pub fn name_without_hash(path: &Path) -> String {
    const HASH: usize = 16;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match name.rsplit_once('-') {
        Some((stem, hash)) if hash.len() == HASH && hash.bytes().all(|c| c.is_ascii_hexdigit()) => {
            stem.to_owned()
        }
        _ => name,
    }
}

fn unreadable(name: &str, why: &str) -> Problem {
    Problem::usage("a reproducer cannot be used")
        .at("file", name)
        .why(why.replace('\n', "\n        "))
        .next("correct the file, or make it again: `unpick pin`")
}

fn other_version(name: &str, version: u32) -> Problem {
    Problem::usage(format!(
        "a reproducer has version {version}, this build reads version {REPRODUCER_VERSION}"
    ))
    .at("file", name)
    .why("it was made by another version of unpick")
    .next("make it again: `unpick pin`, or use the version of unpick that made it")
}
