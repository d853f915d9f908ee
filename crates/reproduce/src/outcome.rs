//! What came of a schedule, as the runtime wrote it down.
//!
//! Takes   outcome files, trusted in nothing: one per process of a run; those of many runs.      Gives  their sum.
//! Misses  a process that was killed before it wrote.

mod advice;

use std::time::Duration;

use unpick_events::Kind;
use unpick_events::schedule::{
    self, Arming, LetGo, MOST_OUTCOME_WORDS, OUTCOME_MAGIC, OUTCOME_PLACE_WORDS,
    OUTCOME_SEEN_WORDS, OUTCOME_STEP_WORDS, OUTCOME_WORDS, outcome, outcome_place, outcome_seen,
    outcome_step,
};
use unpick_problem::Problem;

pub use advice::{Prevention, why_never_hit};

/// What happened, over one or more processes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// How often all steps were made in their order.
    pub hits: u64,
    /// How often threads came by in the inverse order, where that was asked for.
    pub inverse_hits: u64,
    /// How long threads were held, all together.
    pub held: Duration,
    pub timed_out: u64,
    pub blocked: u64,
    pub over: Option<Over>,
    /// How often a thread was let go because there was no other.
    pub alone: u64,
    /// How others waited when a thread was let go for that.
    pub waited_in: Option<Kind>,
    /// From the start to the first hit.
    pub until_hit: Option<Duration>,
    pub steps: Vec<StepOutcome>,
    /// As `Plan::numbered_places` has them.
    pub places: Vec<PlaceOutcome>,
    /// Of one process: when a thread was let go because of others.
    pub impasse: Option<Impasse>,
}

/// All threads at the moment when one was let go because of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impasse {
    pub why: LetGo,
    /// The step at which it was held, from 0.
    pub step: usize,
    /// The thread that was held first; all others waited.
    pub threads: Vec<SeenThread>,
}

/// A thread, by its events up to a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenThread {
    pub thread: u16,
    /// The number of its next event.
    pub next_ordinal: u64,
}

/// Why nothing is held any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Over {
    /// It was hit as often as was asked for.
    Bound,
    Budget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepOutcome {
    pub arrived: u64,
    pub held: u64,
    pub made: u64,
    pub timed_out: u64,
    pub blocked: u64,
    pub alone: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceOutcome {
    pub arming: Arming,
    pub arrived: u64,
}

impl Outcome {
    /// Whether the process got as far as to write anything: its mark comes last. One that was killed before leaves an empty file, or zeros.
    pub fn has_begun(bytes: &[u8]) -> bool {
        bytes.iter().take(8).any(|&byte| byte != 0)
    }

    /// Reads what one process wrote; `name` says in problems where it came from.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Outcome, Problem> {
        let words = words_of(bytes).ok_or_else(|| damaged(name, "its length is odd"))?;
        if words.len() < OUTCOME_WORDS || words[outcome::MAGIC] != OUTCOME_MAGIC {
            return Err(damaged(name, "it does not begin as one"));
        }
        let (header, rest) = words.split_at(OUTCOME_WORDS);
        let steps = count(header[outcome::STEPS], schedule::MOST_STEPS);
        let places = count(header[outcome::PLACES], schedule::MOST_PLACES);
        let (Some(steps), Some(places)) = (steps, places) else {
            return Err(damaged(name, "it tells of more steps or places than there can be"));
        };
        // The file may be longer: the runtime maps whole pages.
        if rest.len() < steps * OUTCOME_STEP_WORDS + places * OUTCOME_PLACE_WORDS {
            return Err(damaged(name, "its end is missing"));
        }
        let (of_steps, of_places) = rest.split_at(steps * OUTCOME_STEP_WORDS);
        let mut read = of_header(header);
        read.steps = of_steps.chunks_exact(OUTCOME_STEP_WORDS).map(of_step).collect();
        let (of_places, of_threads) = of_places.split_at(places * OUTCOME_PLACE_WORDS);
        read.impasse = impasse(header, of_threads);
        let of_places = of_places.chunks_exact(OUTCOME_PLACE_WORDS);
        read.places = of_places
            .map(of_place)
            .collect::<Option<_>>()
            .ok_or_else(|| damaged(name, "a place is in no known state"))?;
        Ok(read)
    }

    /// Takes in what another process, or another run, made of the same schedule. Threads are of one process only: they are left out.
    pub fn add(&mut self, other: &Outcome) -> Result<(), Problem> {
        if self.steps.is_empty() && self.places.is_empty() {
            self.steps = vec![StepOutcome::default(); other.steps.len()];
            let nowhere = PlaceOutcome { arming: Arming::NoModule, arrived: 0 };
            self.places = vec![nowhere; other.places.len()];
        }
        if (self.steps.len(), self.places.len()) != (other.steps.len(), other.places.len()) {
            return Err(Problem::own_fault("outcomes of different schedules are in one run"));
        }
        self.hits = self.hits.saturating_add(other.hits);
        self.inverse_hits = self.inverse_hits.saturating_add(other.inverse_hits);
        self.held = self.held.saturating_add(other.held);
        self.timed_out = self.timed_out.saturating_add(other.timed_out);
        self.blocked = self.blocked.saturating_add(other.blocked);
        self.alone = self.alone.saturating_add(other.alone);
        self.impasse = None;
        self.over = self.over.max(other.over);
        self.waited_in = self.waited_in.or(other.waited_in);
        let times = [self.until_hit, other.until_hit];
        self.until_hit = times.into_iter().flatten().min();
        self.steps.iter_mut().zip(&other.steps).for_each(|(sum, step)| sum.add(step));
        self.places.iter_mut().zip(&other.places).for_each(|(sum, place)| sum.add(place));
        Ok(())
    }

    /// The sum over processes or runs of one schedule.
    pub fn sum<'o>(outcomes: impl IntoIterator<Item = &'o Outcome>) -> Result<Outcome, Problem> {
        let mut sum = Outcome::default();
        for outcome in outcomes {
            sum.add(outcome)?;
        }
        Ok(sum)
    }
}

impl StepOutcome {
    fn add(&mut self, other: &StepOutcome) {
        self.arrived = self.arrived.saturating_add(other.arrived);
        self.held = self.held.saturating_add(other.held);
        self.made = self.made.saturating_add(other.made);
        self.timed_out = self.timed_out.saturating_add(other.timed_out);
        self.blocked = self.blocked.saturating_add(other.blocked);
        self.alone = self.alone.saturating_add(other.alone);
    }
}

impl PlaceOutcome {
    /// A helper process need not have the module: who got furthest says what is the matter.
    fn add(&mut self, other: &PlaceOutcome) {
        if how_far(other.arming) > how_far(self.arming) {
            self.arming = other.arming;
        }
        self.arrived = self.arrived.saturating_add(other.arrived);
    }
}

fn how_far(arming: Arming) -> u8 {
    match arming {
        Arming::NoModule => 0,
        Arming::NoCall => 1,
        Arming::Refused => 2,
        Arming::Armed => 3,
    }
}

fn words_of(bytes: &[u8]) -> Option<Vec<u64>> {
    let words = bytes.chunks_exact(8);
    if !words.remainder().is_empty() {
        return None;
    }
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    Some(words.take(MOST_OUTCOME_WORDS).map(word).collect())
}

fn count(word: u64, most: usize) -> Option<usize> {
    usize::try_from(word).ok().filter(|count| *count <= most)
}

fn of_header(header: &[u64]) -> Outcome {
    let hit_at = Some(header[outcome::HIT_AT]).filter(|at| *at != 0);
    let until_hit = hit_at.and_then(|at| at.checked_sub(header[outcome::STARTED_AT]));
    Outcome {
        hits: header[outcome::HITS],
        inverse_hits: header[outcome::INVERSE_HITS],
        held: Duration::from_nanos(header[outcome::HELD]),
        timed_out: header[outcome::TIMED_OUT],
        blocked: header[outcome::BLOCKED],
        over: match header[outcome::OVER] {
            0 => None,
            1 => Some(Over::Bound),
            _ => Some(Over::Budget),
        },
        alone: header[outcome::ALONE],
        waited_in: kind_of(header[outcome::WAITED_IN]),
        until_hit: until_hit.map(Duration::from_nanos),
        ..Outcome::default()
    }
}

/// What this version does not know, or is cut off, is left out.
fn impasse(header: &[u64], of_threads: &[u64]) -> Option<Impasse> {
    let count = count(header[outcome::SEEN], schedule::MOST_SEEN)?;
    let words = of_threads.get(..count * OUTCOME_SEEN_WORDS).filter(|words| !words.is_empty())?;
    let thread = |words: &[u64]| {
        let thread = u16::try_from(words[outcome_seen::THREAD]).ok()?;
        Some(SeenThread { thread, next_ordinal: words[outcome_seen::NEXT_ORDINAL] })
    };
    Some(Impasse {
        why: LetGo::from_word(header[outcome::LET_GO])?,
        step: usize::try_from(header[outcome::LET_GO_AT]).ok()?,
        threads: words.chunks_exact(OUTCOME_SEEN_WORDS).map(thread).collect::<Option<_>>()?,
    })
}

/// One more than its number; what this version does not know is left out.
fn kind_of(word: u64) -> Option<Kind> {
    Kind::from_number(u8::try_from(word.checked_sub(1)?).ok()?)
}

fn of_step(words: &[u64]) -> StepOutcome {
    StepOutcome {
        arrived: words[outcome_step::ARRIVED],
        held: words[outcome_step::HELD],
        made: words[outcome_step::MADE],
        timed_out: words[outcome_step::TIMED_OUT],
        blocked: words[outcome_step::BLOCKED],
        alone: words[outcome_step::ALONE],
    }
}

fn of_place(words: &[u64]) -> Option<PlaceOutcome> {
    let arming = Arming::from_word(words[outcome_place::ARMING])?;
    Some(PlaceOutcome { arming, arrived: words[outcome_place::ARRIVED] })
}

fn damaged(name: &str, why: &str) -> Problem {
    Problem::own_fault("what came of a schedule cannot be read")
        .at("file", name)
        .why(why)
        .next("run it again")
}
