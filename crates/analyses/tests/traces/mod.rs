//! Traces in words: `1w x 10` is a write by thread 1 to x at site 10; `1u x 10` a read-modify-write;
//! `0g x 0` says that the memory of x was given back. Steps are separated by commas.
#![allow(dead_code, reason = "each test file uses what it needs")]

use unpick_analyses::{Collector, Options, RunPatterns};
use unpick_events::{Kind, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Read,
    Write,
    Update,
    Gone,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub thread: u16,
    pub deed: Deed,
    pub variables: String,
    pub site: u32,
}

pub fn steps(text: &str) -> Vec<Step> {
    text.split(',').map(|step| parse(step.trim())).collect()
}

fn parse(step: &str) -> Step {
    let mut words = step.split_whitespace();
    let what = words.next().unwrap();
    let (thread, deed) = what.split_at(what.len() - 1);
    let deed = match deed {
        "r" => Deed::Read,
        "w" => Deed::Write,
        "u" => Deed::Update,
        "g" => Deed::Gone,
        other => panic!("no deed {other}"),
    };
    let variables = words.next().unwrap().to_owned();
    Step {
        thread: thread.parse().unwrap(),
        deed,
        variables,
        site: words.next().unwrap().parse().unwrap(),
    }
}

/// Variables are 8 bytes each, one after the other: an access to `xy` touches both.
pub fn address_of(variable: char) -> u64 {
    0x10_0000 + (u64::from(variable) - u64::from('a')) * 8
}

pub fn record(steps: &[Step]) -> Recording {
    let mut writer = Writer::new();
    for step in steps {
        let first = step.variables.chars().next().unwrap();
        let (address, length) = (address_of(first), 8 * step.variables.len() as u64);
        let draft = match step.deed {
            Deed::Read => Draft::access(Kind::Read, address, length),
            Deed::Write => Draft::access(Kind::Write, address, length),
            Deed::Update => Draft::access(Kind::ReadWrite, address, length),
            Deed::Gone => Draft::new(Kind::StackGone).object(address).word(length),
        };
        writer.write(ThreadId(step.thread.max(1)), draft.site(step.site));
    }
    Recording::from_bytes(&writer.to_bytes(), "trace").unwrap()
}

pub fn collect(text: &str, options: Options) -> RunPatterns {
    collect_steps(&steps(text), options)
}

pub fn collect_steps(steps: &[Step], options: Options) -> RunPatterns {
    let recording = record(steps);
    let mut collector = Collector::new(options);
    collector.add(&recording, &recording);
    collector.finish()
}

/// Each pattern of a run as `P5 11 24 13`: its number and its sites.
pub fn names(run: &RunPatterns) -> Vec<String> {
    run.patterns
        .iter()
        .map(|found| {
            let sites = run.sites_of(found).map(|site| run.sites[site as usize].offset.to_string());
            let words: Vec<String> = [found.pattern.name()].into_iter().chain(sites).collect();
            words.join(" ")
        })
        .collect()
}
