//! Schedules and outcomes for tests, in the words of `unpick_events::schedule`.
#![allow(dead_code)]

use unpick_events::schedule::{
    self, HEADER_WORDS, MODULE_TEXT_BYTES, MODULE_WORDS, Mode, Operand, PLACE_WORDS, Purpose,
    delay_place, header, place,
};

#[derive(Debug, Clone)]
pub struct Place {
    pub module: u64,
    pub offset: u64,
    pub step: u64,
    pub purpose: Purpose,
    pub role: u64,
    pub variable: Option<u64>,
    pub operand: Operand,
    pub bytes: u64,
    /// Offsets in the same module, innermost first.
    pub calls: Vec<u64>,
    pub distance: u64,
    /// It counts only with a lock that was taken at a `holding` place of the step.
    pub holds: bool,
    pub reads: bool,
}

impl Place {
    /// A step on the only variable, of which the first argument is the address.
    pub fn step(step: u64, role: u64, offset: u64) -> Place {
        Place {
            module: 0,
            offset,
            step,
            purpose: Purpose::Step,
            role,
            variable: Some(0),
            operand: Operand::First,
            bytes: 4,
            calls: Vec::new(),
            distance: 0,
            holds: false,
            reads: false,
        }
    }

    /// A gate that does not know its variable.
    pub fn gate(step: u64, role: u64, offset: u64) -> Place {
        let operand = Operand::Unknown;
        Place { purpose: Purpose::Gate, variable: None, operand, ..Place::step(step, role, offset) }
    }

    pub fn exit(step: u64, role: u64, offset: u64) -> Place {
        let operand = Operand::Unknown;
        Place { purpose: Purpose::Exit, variable: None, operand, ..Place::step(step, role, offset) }
    }

    pub fn meeting(step: u64, role: u64, offset: u64) -> Place {
        let operand = Operand::Unknown;
        let variable = None;
        Place { purpose: Purpose::Meeting, variable, operand, ..Place::step(step, role, offset) }
    }

    /// Where the lock for a step is taken.
    pub fn holding(step: u64, role: u64, offset: u64) -> Place {
        Place { purpose: Purpose::Holding, ..Place::gate(step, role, offset) }
    }

    #[must_use]
    pub fn on(self, variable: Option<u64>) -> Place {
        Place { variable, ..self }
    }

    #[must_use]
    pub fn in_module(self, module: u64) -> Place {
        Place { module, ..self }
    }

    fn words(&self) -> [u64; PLACE_WORDS] {
        let mut words = [0; PLACE_WORDS];
        words[place::MODULE] = self.module;
        words[place::OFFSET] = self.offset;
        words[place::STEP] = self.step;
        words[place::PURPOSE] = self.purpose as u64;
        words[place::ROLE] = self.role;
        words[place::VARIABLE] = self.variable.unwrap_or(place::NONE);
        words[place::OPERAND] = self.operand as u64;
        words[place::BYTES] = self.bytes;
        words[place::CALLS] = self.calls.len() as u64;
        words[place::DISTANCE] = self.distance;
        words[place::HOLDS] = u64::from(self.holds);
        words[place::READS] = u64::from(self.reads);
        for (at, offset) in self.calls.iter().enumerate() {
            words[place::FIRST_CALL + 2 * at] = self.module;
            words[place::FIRST_CALL + 2 * at + 1] = *offset;
        }
        words
    }
}

#[derive(Debug, Clone)]
pub struct Schedule {
    pub mode: Mode,
    pub pause: u64,
    pub budget: u64,
    pub bound: u64,
    pub ignored: u64,
    pub rounds: u64,
    pub linger: u64,
    pub meet: bool,
    pub eager: bool,
    pub undisturbed: bool,
    pub window: bool,
    pub within_calls: bool,
    /// Paths.
    pub modules: Vec<String>,
    pub places: Vec<Place>,
}

pub const SECOND: u64 = 1_000_000_000;

impl Schedule {
    pub fn new(mode: Mode, places: Vec<Place>) -> Schedule {
        let modules = vec!["program".to_owned()];
        Schedule {
            mode,
            pause: SECOND,
            budget: 10 * SECOND,
            bound: 0,
            ignored: 0,
            rounds: 0,
            linger: 0,
            meet: false,
            eager: false,
            undisturbed: false,
            window: false,
            within_calls: false,
            modules,
            places,
        }
    }

    pub fn force(places: Vec<Place>) -> Schedule {
        Schedule::new(Mode::Force, places)
    }

    pub fn steps(&self) -> u64 {
        self.places.iter().map(|place| place.step + 1).max().unwrap_or(0)
    }

    pub fn words(&self) -> Vec<u64> {
        let mut words = vec![0; HEADER_WORDS];
        words[header::MAGIC] = schedule::MAGIC;
        words[header::MODE] = self.mode as u64;
        words[header::PAUSE] = self.pause;
        words[header::BUDGET] = self.budget;
        words[header::BOUND] = self.bound;
        words[header::IGNORED] = self.ignored;
        words[header::ROUNDS] = self.rounds;
        words[header::LINGER] = self.linger;
        words[header::MEET] = u64::from(self.meet);
        words[header::EAGER] = u64::from(self.eager);
        words[header::UNDISTURBED] = u64::from(self.undisturbed);
        words[header::WINDOW] = u64::from(self.window);
        words[header::WITHIN_CALLS] = u64::from(self.within_calls);
        words[header::STEPS] = self.steps();
        words[header::PLACES] = self.places.len() as u64;
        words[header::MODULES] = self.modules.len() as u64;
        self.modules.iter().for_each(|path| words.extend(module_words(path)));
        self.places.iter().for_each(|place| words.extend(place.words()));
        words
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.words().into_iter().flat_map(u64::to_le_bytes).collect()
    }
}

/// A delay plan for one module: offset, arrival, nanoseconds of each place.
pub fn delay_plan(module: &str, places: &[(u64, u64, u64)]) -> Vec<u8> {
    let place = |&(offset, ..): &(u64, u64, u64)| Place {
        operand: Operand::Unknown,
        ..Place::step(0, 0, offset).on(None)
    };
    let modules = vec![module.to_owned()];
    let plan = Schedule { modules, ..Schedule::force(places.iter().map(place).collect()) };
    let mut words = plan.words();
    words[header::MAGIC] = schedule::DELAY_MAGIC;
    for (at, (_, arrival, nanoseconds)) in places.iter().enumerate() {
        let first = HEADER_WORDS + MODULE_WORDS + at * PLACE_WORDS;
        words[first + delay_place::ARRIVAL] = *arrival;
        words[first + delay_place::NANOSECONDS] = *nanoseconds;
    }
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

fn module_words(path: &str) -> Vec<u64> {
    let mut text = path.as_bytes().to_vec();
    assert!(text.len() <= MODULE_TEXT_BYTES, "{path} is too long for a schedule");
    text.resize(MODULE_TEXT_BYTES, 0);
    let mut words = vec![path.len() as u64, 0];
    words.extend(text.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())));
    assert_eq!(words.len(), MODULE_WORDS);
    words
}

pub const TEXT_WORDS: usize = MODULE_TEXT_BYTES / 8;

/// What the runtime says came of a schedule.
#[derive(Debug, Clone)]
pub struct Outcome {
    words: Vec<u64>,
}

impl Outcome {
    pub fn read(path: &std::path::Path) -> Outcome {
        let bytes = std::fs::read(path).expect("an outcome");
        let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        let outcome = Outcome { words: words.collect() };
        assert_eq!(outcome.word(schedule::outcome::MAGIC), schedule::OUTCOME_MAGIC);
        outcome
    }

    pub fn word(&self, at: usize) -> u64 {
        self.words[at]
    }

    pub fn hits(&self) -> u64 {
        self.word(schedule::outcome::HITS)
    }

    pub fn of_step(&self, step: usize, at: usize) -> u64 {
        self.words[schedule::OUTCOME_WORDS + step * schedule::OUTCOME_STEP_WORDS + at]
    }

    /// Why a thread was let go of which `seen` tells.
    pub fn let_go(&self) -> Option<schedule::LetGo> {
        schedule::LetGo::from_word(self.word(schedule::outcome::LET_GO))
    }

    /// The threads that were seen then, each with the number of its next event: the held one first.
    pub fn seen(&self) -> Vec<(u16, u64)> {
        let steps = self.word(schedule::outcome::STEPS) as usize;
        let places = self.word(schedule::outcome::PLACES) as usize;
        let start = schedule::OUTCOME_WORDS
            + steps * schedule::OUTCOME_STEP_WORDS
            + places * schedule::OUTCOME_PLACE_WORDS;
        let threads = self.words[start..].chunks_exact(schedule::OUTCOME_SEEN_WORDS);
        let threads = threads.take(self.word(schedule::outcome::SEEN) as usize);
        threads.map(|words| (words[0] as u16, words[1])).collect()
    }

    pub fn arming(&self, place: usize) -> Option<schedule::Arming> {
        schedule::Arming::from_word(self.of_place(place, schedule::outcome_place::ARMING))
    }

    /// A word of `schedule::outcome_place`.
    pub fn of_place(&self, place: usize, word: usize) -> u64 {
        let steps = self.word(schedule::outcome::STEPS) as usize;
        let places = schedule::OUTCOME_WORDS + steps * schedule::OUTCOME_STEP_WORDS;
        self.words[places + place * schedule::OUTCOME_PLACE_WORDS + word]
    }
}
