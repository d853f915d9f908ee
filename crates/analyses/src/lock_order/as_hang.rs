//! A cycle as the hang it would be: the threads of the cycle, each waiting for the next.

use unpick_recording::Recording;

use super::{Cycle, Link};
use crate::hang::{HungProcess, HungRun, HungThread, Terms, Wait};
use crate::knowledge::Knowledge;

/// What would be seen if the threads of a cycle had met in it.
pub fn as_hang(
    cycle: &Cycle,
    process: u32,
    recording: &Recording,
    knowledge: &dyn Knowledge,
) -> HungRun {
    let mut run = HungRun::default();
    let mut terms = Terms::new(&mut run.code, recording, knowledge);
    let next = cycle.links.iter().cycle().skip(1);
    let threads = cycle.links.iter().zip(next);
    let threads = threads.map(|(link, next)| thread(link, next, &mut terms)).collect();
    let circle = cycle.links.iter().map(|link| link.thread.0).collect();
    run.processes.push(HungProcess { process, threads, circles: vec![circle], lost: None });
    run
}

fn thread(link: &Link, next: &Link, terms: &mut Terms<'_>) -> HungThread {
    HungThread {
        thread: link.thread.0,
        running: None,
        wait: Some(Wait::Lock {
            lock: terms.lock(&link.wanted),
            limited: false,
            held_by: vec![next.thread.0],
        }),
        place: terms.place(link.wanted.site, link.wanted.context, true),
        locks: link.held.iter().map(|held| terms.lock(held)).collect(),
    }
}
