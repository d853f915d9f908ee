//! A call that was left and made again is not the call it was; one that is still live is, whatever was called from it.

use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard};

use tempfile::TempDir;
use unpick_runtime::frames;
use unpick_runtime::recorder::{Recorder, Settings};
use unpick_runtime::thread::{self, Thread};

static RECORDER: Recorder = Recorder::new();
const ROLE: u8 = 0;
const STACK: u64 = 0x7000_0000;

/// A thread that calls functions and leaves them.
struct Calls {
    thread: &'static Thread,
    depth: u64,
    _folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Calls {
    fn new() -> Calls {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let alone = ONE_AT_A_TIME.lock().unwrap();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = [folder.path().join("1-0.events").as_os_str().as_bytes(), b"\0"].concat();
        let settings = Settings { limit: 1 << 20, seed: 0, mode: 0 };
        RECORDER.start(&path, settings).expect("a file can be made");
        let number = thread::new_number(&RECORDER).expect("a number is free");
        let thread = thread::begin(&RECORDER, number).expect("there is memory");
        Calls { thread, depth: 0, _folder: folder, _alone: alone }
    }

    fn calls(&mut self, site: u64) -> &mut Calls {
        self.depth += 1;
        frames::enter(self.thread.hot(), site, STACK - 16 * self.depth);
        self
    }

    fn leaves(&mut self, calls: u64) -> &mut Calls {
        for _ in 0..calls {
            frames::leave(self.thread.hot(), STACK - 16 * self.depth);
            self.depth -= 1;
        }
        self
    }

    fn makes_first_step(&mut self) -> &mut Calls {
        frames::begin_activation(self.thread, ROLE);
        self
    }

    fn is_made_again(&self) -> bool {
        frames::is_made_again(self.thread, ROLE)
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        RECORDER.detach();
        thread::end(self.thread);
    }
}

#[test]
fn the_same_call_again_is_another() {
    let mut calls = Calls::new();
    calls.calls(1).calls(2).makes_first_step();
    assert!(!calls.is_made_again(), "it is still there");
    assert!(calls.leaves(1).calls(2).is_made_again());
    assert!(calls.is_made_again(), "also if it is asked twice");
}

#[test]
fn what_a_live_call_calls_next_is_part_of_it() {
    let mut calls = Calls::new();
    calls.calls(1).calls(2).makes_first_step();
    assert!(!calls.leaves(1).is_made_again(), "it has returned to its caller");
    assert!(!calls.calls(3).is_made_again(), "which calls something else");
    assert!(!calls.calls(2).is_made_again(), "and that calls the same");
    assert!(calls.leaves(3).calls(1).is_made_again(), "its caller was left, and called again");
    assert!(calls.calls(4).is_made_again());
}

#[test]
fn the_outermost_call_that_was_left_decides() {
    let mut calls = Calls::new();
    calls.calls(1).calls(2).calls(3).makes_first_step();
    assert!(!calls.leaves(2).calls(7).calls(3).is_made_again());
    assert!(!calls.leaves(2).calls(8).is_made_again());
    assert!(calls.leaves(2).calls(1).calls(2).calls(3).is_made_again());
}

#[test]
fn a_new_first_step_begins_anew() {
    let mut calls = Calls::new();
    calls.calls(1).calls(2).makes_first_step();
    assert!(calls.leaves(1).calls(2).is_made_again());
    assert!(!calls.makes_first_step().is_made_again());
}

#[test]
fn without_a_first_step_nothing_is_made_again() {
    let mut calls = Calls::new();
    calls.calls(1).leaves(1).calls(1);
    assert!(!calls.is_made_again());
}
