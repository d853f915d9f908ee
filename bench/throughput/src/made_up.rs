//! A made-up program, for benchmarks of analyses.

#[path = "random.rs"]
mod random;

use random::Random;
use unpick_events::{Kind, ThreadId};
use unpick_recording::writer::{Draft, Writer};

const THREADS: u16 = 4;
/// A made-up program: functions that touch a few variables each, and phases that use a few functions each.
const FUNCTIONS: u64 = 60;
const FUNCTIONS_PER_PHASE: u64 = 8;
const ACCESSES_PER_FUNCTION: u64 = 6;
const ACCESSES_PER_PHASE: u64 = 4000;
const VARIABLES: u64 = 120;

/// Where a made-up thread is.
#[derive(Clone, Copy, Default)]
struct Position {
    function: u64,
    step: u64,
}

/// Threads that run functions of the present phase and take turns at random.
pub fn recording_of(run: u64, accesses: u64) -> Vec<u8> {
    let mut random = Random(run + 1);
    let mut writer = Writer::new().with_chunks_of(256 * 1024);
    let mut positions =
        [Position { step: ACCESSES_PER_FUNCTION, ..Position::default() }; THREADS as usize];
    let mut thread = 0;
    for number in 0..accesses {
        if random.below(10) < 4 {
            thread = random.below(THREADS.into()) as u16;
        }
        let position = &mut positions[usize::from(thread)];
        if position.step == ACCESSES_PER_FUNCTION {
            let phase = number / ACCESSES_PER_PHASE;
            let function = (phase * 5 + random.below(FUNCTIONS_PER_PHASE)) % FUNCTIONS;
            *position = Position { function, step: 0 };
        }
        writer.write(ThreadId(thread + 1), access(*position));
        position.step += 1;
    }
    writer.to_bytes()
}

/// What a function does at a step is always the same.
fn access(position: Position) -> Draft {
    let site = position.function * ACCESSES_PER_FUNCTION + position.step;
    let mut fixed = Random(site.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    fixed.below(2);
    let variable = (position.function * 2 + fixed.below(6)) % VARIABLES;
    let kind = if fixed.below(10) < 4 { Kind::Write } else { Kind::Read };
    Draft::access(kind, 0x10_0000 + variable * 8, 8).site(0x1000 + site as u32)
}
