//! A schedule as the runtime keeps it: read once, from words nobody vouches for.

use unpick_events::schedule::{
    self, HEADER_WORDS, MODULE_TEXT_BYTES, MODULE_WORDS, MOST_CALLS, MOST_MODULES, MOST_PLACES,
    MOST_STEPS, MOST_VARIABLES, Mode, Operand, PLACE_WORDS, Purpose, delay_place, header, place,
};

/// Roles are threads: no more than steps.
pub const MOST_ROLES: usize = MOST_STEPS;

/// What a thread does, or waits for, at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub module: u8,
    pub offset: u64,
    pub step: u8,
    pub purpose: Purpose,
    pub role: u8,
    pub variable: Option<u8>,
    pub operand: Operand,
    pub bytes: u64,
    /// From the operand to the bytes.
    pub distance: u64,
    pub calls: [Call; MOST_CALLS],
    pub call_count: u8,
    /// It counts only for a thread that holds a lock taken at a `Holding` place of the step.
    pub holds: bool,
    /// The step only reads.
    pub reads: bool,
    /// Of a delay plan: which arrival is delayed, from 1, and for how many nanoseconds; 0: none.
    pub arrival: u64,
    pub nanoseconds: u64,
}

/// A call that leads to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    pub module: u8,
    pub offset: u64,
}

const NO_CALL: Call = Call { module: 0, offset: 0 };

impl Entry {
    pub const NONE: Entry = Entry {
        module: 0,
        offset: 0,
        step: 0,
        purpose: Purpose::Step,
        role: 0,
        variable: None,
        operand: Operand::Unknown,
        bytes: 0,
        distance: 0,
        calls: [NO_CALL; MOST_CALLS],
        call_count: 0,
        holds: false,
        reads: false,
        arrival: 0,
        nanoseconds: 0,
    };

    pub fn calls(&self) -> &[Call] {
        &self.calls[..self.call_count as usize]
    }

    /// Whether a thread can be at both at once.
    pub fn may_be_with(&self, other: &Entry) -> bool {
        let lead_alike = self.calls().iter().zip(other.calls()).all(|(one, other)| one == other);
        (self.module, self.offset) == (other.module, other.offset) && lead_alike
    }
}

/// What the program's modules are known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleName {
    pub is_build_id: bool,
    bytes: [u8; MODULE_TEXT_BYTES],
    length: u8,
}

impl ModuleName {
    const NONE: ModuleName =
        ModuleName { is_build_id: false, bytes: [0; MODULE_TEXT_BYTES], length: 0 };

    pub fn text(&self) -> &[u8] {
        &self.bytes[..self.length as usize]
    }
}

/// Which steps a role has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Role {
    pub first: u8,
    pub last: u8,
    /// There is a gate in front of its first step.
    pub has_gate: bool,
    /// It is done at an exit, not at its last step.
    pub has_exit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// It delays arrivals and has no order.
    pub is_of_delays: bool,
    pub mode: Mode,
    /// Nanoseconds.
    pub pause: u64,
    pub budget: u64,
    /// 0: no bound.
    pub bound: u64,
    pub ignored: u64,
    /// 0: who waits at a meeting waits as long as it may.
    pub rounds: u64,
    pub stop: bool,
    /// Nanoseconds.
    pub linger: u64,
    /// The threads of the first two steps wait for each other.
    pub meet: bool,
    /// No step waits for the thread of the step before.
    pub eager: bool,
    /// Who has no role keeps away from the lock that a role waits to take.
    pub undisturbed: bool,
    /// No turns: steps that another thread's should come before wait for the pause.
    pub window: bool,
    /// A later step of a role does not count in the call of its first step made again.
    pub within_calls: bool,
    pub steps: u8,
    entries: [Entry; MOST_PLACES],
    entry_count: u8,
    modules: [ModuleName; MOST_MODULES],
    module_count: u8,
    roles: [Option<Role>; MOST_ROLES],
}

impl Plan {
    pub const NONE: Plan = Plan {
        is_of_delays: false,
        mode: Mode::Force,
        pause: 0,
        budget: 0,
        bound: 0,
        ignored: 0,
        rounds: 0,
        stop: false,
        linger: 0,
        meet: false,
        eager: false,
        undisturbed: false,
        window: false,
        within_calls: false,
        steps: 0,
        entries: [Entry::NONE; MOST_PLACES],
        entry_count: 0,
        modules: [ModuleName::NONE; MOST_MODULES],
        module_count: 0,
        roles: [None; MOST_ROLES],
    };

    pub fn entries(&self) -> &[Entry] {
        &self.entries[..self.entry_count as usize]
    }

    pub fn modules(&self) -> &[ModuleName] {
        &self.modules[..self.module_count as usize]
    }

    pub fn role(&self, role: u8) -> Option<Role> {
        self.roles.get(role as usize).copied().flatten()
    }

    /// Where the first step is made.
    pub fn first_step(&self) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.step == 0 && entry.purpose.is_step())
    }

    /// Whether the first step is all that its role does.
    pub fn is_first_alone(&self) -> bool {
        self.first_step().and_then(|first| self.role(first.role)).is_some_and(|role| role.last == 0)
    }

    pub fn has_gate_before_first(&self) -> bool {
        let role = self.first_step().and_then(|first| self.role(first.role));
        role.is_some_and(|role| role.has_gate)
    }

    /// Whether there is a gate in front of a step.
    pub fn has_gate(&self, step: u8) -> bool {
        self.entries().iter().any(|entry| entry.step == step && entry.purpose == Purpose::Gate)
    }

    /// The next step of the role that has this step.
    pub fn next_of_role(&self, step: u8) -> Option<u8> {
        let role = self.role_of_step(step)?;
        let later = self.entries().iter().filter(|entry| entry.role == role && entry.step > step);
        later.map(|entry| entry.step).min()
    }

    pub fn role_of_step(&self, step: u8) -> Option<u8> {
        Some(self.entries().iter().find(|entry| entry.step == step)?.role)
    }

    pub fn is_first_of_role(&self, entry: &Entry) -> bool {
        self.role(entry.role).is_some_and(|role| role.first == entry.step)
    }

    /// Whether a step counts only in the call of the first step of its role, or on the way out of that.
    pub fn is_later_in_call(&self, entry: &Entry) -> bool {
        self.within_calls && !self.is_first_of_role(entry)
    }

    /// Whether a role waits here before all it does.
    pub fn is_entrance(&self, entry: &Entry) -> bool {
        let Some(role) = self.role(entry.role) else { return false };
        role.first == entry.step && (entry.purpose == Purpose::Gate) == role.has_gate
    }

    /// Whether a step that another thread's should come before is made here, or a thread waits here to make it.
    pub fn is_in_window(&self, entry: &Entry) -> bool {
        let is_last = self.steps == 2 && entry.step == 1;
        let is_before = matches!(entry.purpose, Purpose::Step | Purpose::Gate)
            && (entry.purpose == Purpose::Gate) == self.has_gate(entry.step);
        is_before && (is_last || !self.is_first_of_role(entry))
    }

    /// Whether a thread may have to wait here. Where a lock is taken for a meeting it does if the meeting goes by rounds: none begins
    /// before the others are there.
    pub fn may_hold_at(&self, entry: &Entry) -> bool {
        entry.purpose != Purpose::Holding || self.mode == Mode::Force && self.rounds > 0
    }

    /// Reads words into `self`. False if they are no schedule: then nothing of it may be used.
    pub fn read(&mut self, words: &[u64]) -> bool {
        self.read_or_nothing(words).is_some()
    }

    fn read_or_nothing(&mut self, words: &[u64]) -> Option<()> {
        let head = words.get(..HEADER_WORDS)?;
        self.is_of_delays = head[header::MAGIC] == schedule::DELAY_MAGIC;
        if !self.is_of_delays && head[header::MAGIC] != schedule::MAGIC {
            return None;
        }
        let most = |word: usize, most: usize| (head[word] <= most as u64).then_some(head[word]);
        self.mode = Mode::from_word(head[header::MODE])?;
        self.pause = head[header::PAUSE];
        self.budget = head[header::BUDGET];
        self.bound = head[header::BOUND];
        self.ignored = head[header::IGNORED];
        self.rounds = head[header::ROUNDS];
        self.stop = head[header::STOP] != 0;
        self.linger = head[header::LINGER];
        self.eager = head[header::EAGER] != 0;
        self.undisturbed = head[header::UNDISTURBED] != 0;
        self.window = head[header::WINDOW] != 0;
        self.within_calls = head[header::WITHIN_CALLS] != 0 && self.mode == Mode::Force;
        self.steps = most(header::STEPS, MOST_STEPS)? as u8;
        self.module_count = most(header::MODULES, MOST_MODULES)? as u8;
        self.entry_count = most(header::PLACES, MOST_PLACES)? as u8;
        let modules = words.get(HEADER_WORDS..)?;
        let modules = modules.get(..self.module_count as usize * MODULE_WORDS)?;
        for (name, words) in self.modules.iter_mut().zip(modules.chunks_exact(MODULE_WORDS)) {
            read_module(name, words)?;
        }
        let places = words.get(HEADER_WORDS + modules.len()..)?;
        let places = places.get(..self.entry_count as usize * PLACE_WORDS)?;
        for (at, words) in places.chunks_exact(PLACE_WORDS).enumerate() {
            let entry = self.entries.get_mut(at)?;
            read_place(entry, words, self.module_count, self.steps)?;
            if self.is_of_delays {
                entry.arrival = words[delay_place::ARRIVAL];
                entry.nanoseconds = words[delay_place::NANOSECONDS];
            }
        }
        self.find_roles()?;
        self.meet = head[header::MEET] != 0 && self.can_meet();
        Some(())
    }

    /// Whether its steps are waits, and no accesses.
    pub fn is_of_waits(&self) -> bool {
        self.entries().iter().all(|entry| entry.variable.is_none())
    }

    /// Whether the last step of a role is a wait, and no access: whether it comes there, what it did before decides.
    pub fn ends_in_wait(&self, role: u8) -> bool {
        let last = self.role(role).map(|role| role.last);
        let mut of_last = self.entries().iter().filter(|entry| Some(entry.step) == last);
        of_last.all(|entry| entry.variable.is_none())
    }

    /// The last step of a role, if its thread is to come there with a lock that is followed until it is given back.
    pub fn step_with_lock(&self, role: u8) -> Option<u8> {
        let last = self.role(role)?.last;
        let is_last = |entry: &&Entry| entry.role == role && entry.step == last;
        let mut steps = self.entries().iter().filter(is_last);
        steps.any(|entry| entry.purpose.is_step() && entry.holds).then_some(last)
    }

    /// Whether a role tests a variable before it waits.
    pub fn tests_before_wait(&self, role: u8) -> bool {
        let has_variable = |entry: &Entry| entry.role == role && entry.variable.is_some();
        self.ends_in_wait(role) && self.entries().iter().any(has_variable)
    }

    /// The first two steps are of two threads, each at places of its own: who is at a place must know what for.
    fn can_meet(&self) -> bool {
        let of = |step: u8| self.entries().iter().filter(move |entry| entry.step == step);
        let is_shared = |one: &Entry| of(1).any(|other| one.may_be_with(other));
        let is_meeting = |entry: &Entry| entry.purpose == Purpose::Meeting;
        self.role_of_step(0) != self.role_of_step(1)
            && !of(0).any(is_shared)
            && !self.entries().iter().any(is_meeting)
    }

    fn find_roles(&mut self) -> Option<()> {
        for at in 0..self.entry_count as usize {
            let Entry { step, purpose, role, .. } = self.entries[at];
            let role = self.roles.get_mut(role as usize)?;
            let known = role.get_or_insert(Role {
                first: step,
                last: step,
                has_gate: false,
                has_exit: false,
            });
            if step < known.first {
                *known = Role { first: step, has_gate: false, ..*known };
            }
            known.last = known.last.max(step);
            known.has_gate |= purpose == Purpose::Gate && step == known.first;
            known.has_exit |= purpose == Purpose::Exit;
        }
        Some(())
    }
}

fn read_module(name: &mut ModuleName, words: &[u64]) -> Option<()> {
    let length = words[0];
    if length > MODULE_TEXT_BYTES as u64 {
        return None;
    }
    name.is_build_id = words[1] != 0;
    name.length = length as u8;
    for (at, byte) in name.bytes.iter_mut().enumerate() {
        *byte = (words[2 + at / 8] >> (at % 8 * 8)) as u8;
    }
    Some(())
}

/// Field by field: a copy of the whole would be a call of `memcpy`.
fn read_place(entry: &mut Entry, words: &[u64], modules: u8, steps: u8) -> Option<()> {
    let below = |word: usize, limit: u64| (words[word] < limit).then_some(words[word] as u8);
    let variable = match words[place::VARIABLE] {
        place::NONE => None,
        _ => Some(below(place::VARIABLE, MOST_VARIABLES as u64)?),
    };
    entry.module = below(place::MODULE, modules as u64)?;
    entry.offset = words[place::OFFSET];
    entry.step = below(place::STEP, steps as u64)?;
    entry.purpose = Purpose::from_word(words[place::PURPOSE])?;
    entry.role = below(place::ROLE, MOST_ROLES as u64)?;
    entry.variable = variable;
    entry.operand = Operand::from_word(words[place::OPERAND])?;
    entry.bytes = words[place::BYTES].max(1);
    entry.distance = words[place::DISTANCE];
    entry.call_count = below(place::CALLS, MOST_CALLS as u64 + 1)?;
    entry.holds = words[place::HOLDS] != 0;
    entry.reads = words[place::READS] != 0;
    let calls = words[place::FIRST_CALL..place::READS].chunks_exact(2);
    for (call, words) in entry.calls.iter_mut().zip(calls).take(entry.call_count as usize) {
        if words[0] >= modules as u64 {
            return None;
        }
        *call = Call { module: words[0] as u8, offset: words[1] };
    }
    Some(())
}
