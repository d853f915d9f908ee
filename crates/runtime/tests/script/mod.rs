//! Random programs whose every access can be told apart, and what each of them read and wrote.
//!
//! Several threads go through rounds, each round over memory of its own, and do straight-line operations on its slots: so
//! site and address name one operation. No two writes to a slot write the same value, so the value read names the write.
//! The program notes, without the recorder's knowledge, what each operation found and what it left.
#![allow(dead_code)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Output};

use unpick_recording::Recording;
use unpick_recording::events::Site;

/// How a slot is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Atomic,
    /// Plain accesses, under one mutex.
    Locked,
}

#[derive(Debug, Clone, Copy)]
pub struct Slot {
    pub name: &'static str,
    pub bits: u32,
    pub used: Use,
}

/// Neighbours on purpose: bytes of one word, words of one granule.
pub const SLOTS: [Slot; 12] = [
    Slot { name: "byte_a", bits: 8, used: Use::Atomic },
    Slot { name: "byte_b", bits: 8, used: Use::Atomic },
    Slot { name: "short_a", bits: 16, used: Use::Atomic },
    Slot { name: "int_a", bits: 32, used: Use::Atomic },
    Slot { name: "long_a", bits: 64, used: Use::Atomic },
    Slot { name: "int_b", bits: 32, used: Use::Atomic },
    Slot { name: "int_c", bits: 32, used: Use::Locked },
    Slot { name: "long_b", bits: 64, used: Use::Locked },
    Slot { name: "byte_c", bits: 8, used: Use::Locked },
    Slot { name: "byte_d", bits: 8, used: Use::Atomic },
    Slot { name: "short_b", bits: 16, used: Use::Locked },
    Slot { name: "int_d", bits: 32, used: Use::Locked },
];

/// One operation of the text of the program; it is done once a round.
#[derive(Debug, Clone)]
pub struct Operation {
    /// 0 is the main thread, before and after the others.
    pub thread: u32,
    pub slot: usize,
    pub text: String,
}

/// What an operation found and left in one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    pub found: Option<u64>,
    pub left: Option<u64>,
}

pub struct Script {
    pub threads: u32,
    pub rounds: usize,
    pub operations: Vec<Operation>,
}

/// A sequence of numbers that depends on the seed alone.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

const OPERATIONS_PER_THREAD: usize = 45;
/// A value is the number of the store it comes from, shifted by this, plus how often 1 was added since.
const ADD_BITS: u32 = 3;
const MOST_ADDS: u32 = (1 << ADD_BITS) - 1;
const MOST_STORES: u64 = 255 >> ADD_BITS;
/// Line of the first operation in the invented file `operations`.
const FIRST_LINE: usize = 1000;

impl Script {
    pub fn random(seed: u64, threads: u32, rounds: usize) -> Script {
        let mut numbers = Numbers(seed);
        let mut operations: Vec<Operation> = Vec::new();
        for (slot, Slot { name, .. }) in SLOTS.iter().enumerate() {
            let text = format!("__atomic_store_n(&m->{name}, 0, __ATOMIC_RELAXED); left = 0;");
            operations.push(Operation { thread: 0, slot, text });
        }
        let mut stores = [1_u64; SLOTS.len()];
        let mut adds = [0_u32; SLOTS.len()];
        for thread in 1..=threads {
            for _ in 0..OPERATIONS_PER_THREAD {
                let slot = numbers.below(SLOTS.len() as u64) as usize;
                let text = operation_text(&mut numbers, slot, &mut stores[slot], &mut adds[slot]);
                operations.push(Operation { thread, slot, text });
            }
        }
        for (slot, Slot { name, .. }) in SLOTS.iter().enumerate() {
            let text = format!("found = __atomic_load_n(&m->{name}, __ATOMIC_SEQ_CST);");
            operations.push(Operation { thread: 0, slot, text });
        }
        Script { threads, rounds, operations }
    }

    /// The source of the program.
    pub fn text(&self) -> String {
        let mut text = format!(
            "#define ROUNDS {}\n#define THREADS {}\n#define OPERATIONS {}\nstruct slots {{\n",
            self.rounds,
            self.threads,
            self.operations.len()
        );
        for slot in &SLOTS {
            let _ = writeln!(text, "    uint{}_t {};", slot.bits, slot.name);
        }
        text.push_str("} __attribute__((aligned(64)));\n");
        let frame = include_str!("../programs/script.c");
        let bodies = (0..=self.threads).map(|thread| self.body(thread)).collect::<String>();
        let places = SLOTS.map(|slot| {
            format!("printf(\"slot %zu\\n\", offsetof(struct slots, {}));\n", slot.name)
        });
        frame
            .replace("/* DEFINITIONS */", &text)
            .replace("/* BODIES */", &bodies)
            .replace("/* PLACES */", &places.concat())
    }

    fn body(&self, thread: u32) -> String {
        let of_thread = self.operations.iter().enumerate().filter(|(_, one)| one.thread == thread);
        let half = |is_wanted: &dyn Fn(usize) -> bool| -> String {
            of_thread
                .clone()
                .filter(|(number, _)| is_wanted(*number))
                .map(operation_lines)
                .collect()
        };
        if thread == 0 {
            let before = half(&|number| number < SLOTS.len());
            let after = half(&|number| number >= SLOTS.len());
            return function("prepare", &before) + &function("look", &after);
        }
        function(&format!("thread_{thread}"), &half(&|_| true))
    }
}

fn function(name: &str, lines: &str) -> String {
    format!(
        "static void {name}(int round) {{\n    struct slots *m = &memory[round];\n    uint64_t found, left, known[{}] = {{0}};\n{lines}}}\n",
        SLOTS.len()
    )
}

fn operation_lines((number, operation): (usize, &Operation)) -> String {
    let slot = operation.slot;
    let (lock, unlock) = match SLOTS[slot].used {
        Use::Locked if operation.thread != 0 => {
            ("pthread_mutex_lock(&mutex);", "pthread_mutex_unlock(&mutex);")
        }
        _ => ("", ""),
    };
    format!(
        "{lock} found = left = NOTHING;\n# {} \"operations\"\n    {}\n# 1 \"notes\"\n{unlock} known[{slot}] = left != NOTHING ? left : found; note(round, {number}, found, left);\n",
        FIRST_LINE + number,
        operation.text,
    )
}

fn operation_text(numbers: &mut Numbers, slot: usize, stores: &mut u64, adds: &mut u32) -> String {
    let Slot { name, bits, used } = SLOTS[slot];
    let load = numbers.one_of(&["RELAXED", "ACQUIRE", "SEQ_CST"]);
    let store = numbers.one_of(&["RELAXED", "RELEASE", "SEQ_CST"]);
    let both = numbers.one_of(&["RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST"]);
    let may_store = *stores < MOST_STORES;
    let may_add = *adds < MOST_ADDS;
    let value = *stores << ADD_BITS;
    let choice = numbers.below(6);
    if (1..=3).contains(&choice) && may_store {
        *stores += 1;
    }
    if choice == 4 && may_add {
        *adds += 1;
    }
    match (used, choice) {
        (Use::Atomic, 1) if may_store => {
            format!("__atomic_store_n(&m->{name}, {value}, __ATOMIC_{store}); left = {value};")
        }
        (Use::Atomic, 2) if may_store => {
            format!(
                "found = __atomic_exchange_n(&m->{name}, {value}, __ATOMIC_{both}); left = {value};"
            )
        }
        (Use::Atomic, 3) if may_store => format!(
            "{{ uint{bits}_t e = known[{slot}]; left = __atomic_compare_exchange_n(&m->{name}, &e, {value}, 0, __ATOMIC_{both}, __ATOMIC_RELAXED) ? {value} : NOTHING; found = e; }}"
        ),
        (Use::Atomic, 4) if may_add => {
            format!("found = __atomic_fetch_add(&m->{name}, 1, __ATOMIC_{both}); left = found + 1;")
        }
        (Use::Atomic, _) => format!("found = __atomic_load_n(&m->{name}, __ATOMIC_{load});"),
        (Use::Locked, 1 | 2) if may_store => format!("m->{name} = {value}; left = {value};"),
        (Use::Locked, 3) if may_store => {
            format!(
                "found = m->{name}; m->{name} = found == {value} ? 0 : {value}; left = {value};"
            )
        }
        (Use::Locked, 4) if may_add => {
            format!("found = m->{name}; m->{name} = found + 1; left = found + 1;")
        }
        (Use::Locked, _) => format!("found = m->{name};"),
    }
}

/// What the program said it did.
pub struct Log {
    pub memory: u64,
    pub bytes_per_round: u64,
    pub offsets: Vec<u64>,
    /// By round and operation.
    pub done: Vec<Vec<Done>>,
}

impl Log {
    pub fn read(script: &Script, output: &Output) -> Log {
        let text = std::str::from_utf8(&output.stdout).expect("plain text");
        assert!(output.status.success(), "{output:?}");
        let nothing = Done { found: None, left: None };
        let mut log = Log {
            memory: 0,
            bytes_per_round: 0,
            offsets: Vec::new(),
            done: vec![vec![nothing; script.operations.len()]; script.rounds],
        };
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |index: usize| words[index].parse::<u64>().expect("a number");
            let value = |index: usize| words[index].parse::<u64>().ok();
            match words[0] {
                "memory" => (log.memory, log.bytes_per_round) = (number(1), number(2)),
                "slot" => log.offsets.push(number(1)),
                _ => {
                    let done = Done { found: value(2), left: value(3) };
                    log.done[number(0) as usize][number(1) as usize] = done;
                }
            }
        }
        log
    }

    pub fn address(&self, round: usize, slot: usize) -> u64 {
        self.memory + round as u64 * self.bytes_per_round + self.offsets[slot]
    }
}

/// Which operation each site is.
pub fn operations_of_sites(recording: &Recording, sites: &[Site]) -> HashMap<Site, usize> {
    let places: Vec<(Site, &str, String)> = sites
        .iter()
        .filter_map(|site| {
            let (module, address) = recording.place_of(*site)?;
            let in_file = address.checked_sub(module.bias + 1)?;
            Some((*site, module.path.as_str(), format!("{in_file:#x}")))
        })
        .filter(|(_, path, _)| path.ends_with("/watched"))
        .collect();
    let Some((_, path, _)) = places.first() else { return HashMap::new() };
    let output = Command::new("addr2line")
        .args(["-e", path])
        .args(places.iter().map(|(.., address)| address))
        .output()
        .expect("addr2line");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    places
        .iter()
        .zip(text.lines())
        .filter_map(|((site, ..), line)| {
            let (file, line) = line.split(" (").next()?.rsplit_once(':')?;
            let line: usize = line.parse().ok()?;
            file.ends_with("operations").then(|| Some((*site, line.checked_sub(FIRST_LINE)?)))?
        })
        .collect()
}

/// Writes the source where a compiler finds it.
pub fn write_source(folder: &std::path::Path, script: &Script) -> String {
    let path = folder.join("script.c");
    fs::write(&path, script.text()).expect("a temporary folder");
    path.to_str().expect("a plain path").to_owned()
}
