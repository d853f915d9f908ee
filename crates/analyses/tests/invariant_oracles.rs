//! Slow second opinions on invariants: worked out from the complete list of accesses, by the words of the paper.

mod traces;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use traces::{Deed, Step, address_of, record};
use unpick_analyses::invariants::{Collector, RunInvariants};
use unpick_events::access::PastKind;
use unpick_events::{Kind, Past, Site, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    thread: u16,
    is_write: bool,
    site: u32,
    step: usize,
}

/// The case, and the sites of P-access, deciding remote access and I-access.
type Kind3 = (u8, [u32; 3]);

#[derive(Debug, Default, PartialEq, Eq)]
struct Summary {
    /// Checked, challenged, violated.
    checks: BTreeMap<u32, [u64; 3]>,
    violations: BTreeMap<Kind3, u64>,
}

fn lives(steps: &[Step]) -> Vec<Vec<Seen>> {
    let mut lives = Vec::new();
    for variable in 'x'..='z' {
        let mut life = Vec::new();
        for (at, step) in
            steps.iter().enumerate().filter(|(_, step)| step.variables.contains(variable))
        {
            let seen = |is_write| Seen { thread: step.thread, is_write, site: step.site, step: at };
            match step.deed {
                Deed::Read => life.push(seen(false)),
                Deed::Write => life.push(seen(true)),
                Deed::Update => life.extend([seen(false), seen(true)]),
                Deed::Gone => lives.push(std::mem::take(&mut life)),
            }
        }
        lives.push(life);
    }
    lives
}

/// The four lines of Section 3.2, read aloud.
fn case_of(previous: &Seen, remote: &[Seen], this: &Seen) -> Option<(u8, Seen)> {
    let write = remote.iter().find(|access| access.is_write);
    let first = remote.first()?;
    match (previous.is_write, this.is_write) {
        (false, false) => write.map(|by| (2, *by)),
        (true, false) => write.map(|by| (3, *by)),
        (true, true) => (!first.is_write).then_some((5, *first)),
        (false, true) => write.map(|by| (6, *by)),
    }
}

fn naive(steps: &[Step]) -> Summary {
    let mut summary = Summary::default();
    for life in lives(steps) {
        let threads: BTreeSet<u16> = life.iter().map(|access| access.thread).collect();
        if threads.len() < 2 {
            continue;
        }
        for (at, this) in life.iter().enumerate() {
            let Some(before) = (0..at).rev().find(|&one| life[one].thread == this.thread) else {
                continue;
            };
            let previous = &life[before];
            if previous.step == this.step {
                continue;
            }
            let remote: Vec<Seen> = life[before + 1..at].to_vec();
            let case = case_of(previous, &remote, this);
            let checks = summary.checks.entry(this.site).or_default();
            checks[0] += 1;
            checks[1] += u64::from(!remote.is_empty());
            checks[2] += u64::from(case.is_some());
            if let Some((case, by)) = case {
                let sites = [previous.site, by.site, this.site];
                *summary.violations.entry((case, sites)).or_default() += 1;
            }
        }
    }
    summary
}

fn collected(recording: &Recording) -> RunInvariants {
    let mut collector = Collector::default();
    collector.add(recording, recording);
    collector.finish()
}

fn summary_of(run: &RunInvariants) -> Summary {
    let offset = |site: u32| run.code.sites[site as usize].offset as u32;
    let checks = run.checks.iter().map(|(site, checks)| {
        (offset(*site), [checks.checked, checks.challenged, checks.violated])
    });
    let violations = run.violations.iter().map(|violation| {
        let accesses: Vec<_> = run.example(violation).collect();
        let [first, last] = [accesses[0].site, accesses[accesses.len() - 1].site].map(offset);
        let by = offset(accesses[violation.deciding].site);
        ((violation.case.number(), [first, by, last]), violation.count)
    });
    Summary { checks: checks.collect(), violations: violations.collect() }
}

/// What the runtime knows of a variable, by the table of docs/design/0001.
#[derive(Default)]
struct Shadow {
    is_written: bool,
    /// The last writer, as long as nobody else has read.
    alone: Option<u16>,
    /// Who knows the value, with what they did last.
    knows: BTreeMap<u16, Vec<Past>>,
}

impl Shadow {
    fn is_silent(&self, thread: u16, is_write: bool) -> bool {
        let is_first = !self.is_written && self.knows.keys().all(|knows| *knows == thread);
        match is_write {
            true => is_first || self.alone == Some(thread),
            false => !self.is_written || self.knows.contains_key(&thread),
        }
    }

    /// What an event lists: a write the last accesses of all others, a read those of the last writer.
    fn pasts(&self, thread: u16, is_write: bool) -> impl Iterator<Item = Past> {
        let is_listed =
            move |knows: u16| knows != thread && (is_write || self.alone == Some(knows));
        let listed = self.knows.iter().filter(move |(knows, _)| is_listed(**knows));
        listed.flat_map(|(_, pasts)| pasts.iter().copied())
    }

    fn take_in(&mut self, past: Past) {
        let Past { thread: ThreadId(thread), kind, .. } = past;
        if kind == PastKind::Write {
            self.is_written = true;
            self.alone = Some(thread);
            self.knows = BTreeMap::from([(thread, vec![past])]);
            return;
        }
        if let Some(writer) = self.alone.take_if(|writer| *writer != thread) {
            self.knows.remove(&writer);
        }
        let own = self.knows.entry(thread).or_default();
        own.retain(|past| past.kind != PastKind::Read);
        own.push(past);
    }
}

/// Only meetings are events. One variable per step, which is read or written.
fn record_lightly(steps: &[Step]) -> Recording {
    let mut writer = Writer::new();
    let mut shadows: BTreeMap<&str, Shadow> = BTreeMap::new();
    let mut events: BTreeMap<u16, u32> = BTreeMap::new();
    for step in steps {
        let shadow = shadows.entry(&step.variables).or_default();
        let is_write = step.deed == Deed::Write;
        let told = events.entry(step.thread).or_default();
        if !shadow.is_silent(step.thread, is_write) {
            let address = address_of(step.variables.chars().next().unwrap());
            let kind = if is_write { Kind::Write } else { Kind::Read };
            let draft = Draft::access(kind, address, 8).site(step.site);
            let draft = shadow.pasts(step.thread, is_write).fold(draft, Draft::past);
            writer.write(ThreadId(step.thread), draft);
            *told += 1;
        }
        shadow.take_in(Past {
            thread: ThreadId(step.thread),
            site: Site(step.site),
            kind: if is_write { PastKind::Write } else { PastKind::Read },
            ordinal: *told,
        });
    }
    Recording::from_bytes(&writer.to_bytes(), "light").unwrap()
}

fn step(variables: &'static [&'static str], deeds: &'static [Deed]) -> impl Strategy<Value = Step> {
    let variable = prop::sample::select(variables);
    let deed = prop::sample::select(deeds);
    (1..5u16, deed, variable, 0..4u32).prop_map(|(thread, deed, variables, place)| Step {
        thread: if deed == Deed::Gone { 1 } else { thread },
        deed,
        variables: variables.to_owned(),
        site: if deed == Deed::Gone { 0 } else { 100 * u32::from(thread) + place },
    })
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() }
}

const ALL_DEEDS: &[Deed] =
    &[Deed::Read, Deed::Read, Deed::Write, Deed::Write, Deed::Update, Deed::Gone];
const PLAIN_DEEDS: &[Deed] = &[Deed::Read, Deed::Read, Deed::Write];

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn all_is_as_the_paper_says(
        trace in prop::collection::vec(step(&["x", "y", "z"], ALL_DEEDS), 0..60)
    ) {
        prop_assert_eq!(summary_of(&collected(&record(&trace))), naive(&trace));
    }

    #[test]
    fn a_light_recording_shows_the_same_violations(
        trace in prop::collection::vec(step(&["x", "y"], PLAIN_DEEDS), 0..40)
    ) {
        let light = summary_of(&collected(&record_lightly(&trace)));
        prop_assert_eq!(light.violations, naive(&trace).violations);
    }
}
