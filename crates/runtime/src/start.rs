//! The life of the recorder in a process: begin with the program, know its threads and modules, end with it.
//!
//! If a recording cannot begin, the program runs on without, and a file in the run folder says why. Only where it cannot
//! run at all does it end, with a message: with another sanitizer's runtime in it, or without shadow memory.

pub mod facts;
pub mod modules;
pub mod options;
pub mod path;
pub mod process;
pub mod threads;
pub mod words;

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering::*};

use crate::breakpoints;
use crate::intercept::failures;
use crate::perturb;
use crate::recorder::Recorder;
use crate::shadow::region;
use crate::sys;
use crate::thread::{self, Thread};
use options::Options;

static RECORDER: Recorder = Recorder::new();

const NOT_BEGUN: u32 = 0;
const BEGINNING: u32 = 1;
const BEGUN: u32 = 2;
static STAGE: AtomicU32 = AtomicU32::new(NOT_BEGUN);

/// What the recording was asked for; for the child of a fork.
struct InForce(UnsafeCell<Option<Options>>);

// SAFETY: written once by `begin`, while `STAGE` is `BEGINNING`, and read only when it is `BEGUN`.
unsafe impl Sync for InForce {}

static IN_FORCE: InForce = InForce(UnsafeCell::new(None));

/// Exit status of a program that cannot be watched: `EX_SOFTWARE`.
const CANNOT_WATCH: i32 = 70;

/// The recorder of this process.
pub fn recorder() -> &'static Recorder {
    &RECORDER
}

/// Begins before the constructors of the program. Those of shared objects come earlier still: an instrumented one
/// calls `__tsan_init` first.
#[used]
#[unsafe(link_section = ".init_array.00000")]
static BEGIN_EARLY: extern "C" fn() = begin_early;

extern "C" fn begin_early() {
    begin();
}

/// Starts recording, if the environment asks for it. Later calls do nothing.
pub fn begin() {
    if STAGE.compare_exchange(NOT_BEGUN, BEGINNING, AcqRel, Acquire).is_ok() {
        #[cfg(not(feature = "static-target"))]
        dynamic_linking::prepare();
        let folder = options::variable(b"UNPICK_RUN_DIR=");
        let is_usable = folder.is_some_and(path::remember_folder);
        prepare_shadow();
        if is_usable && let Err(errno) = start_recording() {
            leave_failure(b"the recording cannot be created", errno);
        }
        STAGE.store(BEGUN, Release);
    }
}

/// A module has been loaded and runs its constructors.
pub fn module_begins() {
    begin();
    if let Some(thread) = crate::local::thread_that_may_ignore().filter(|_| RECORDER.is_on()) {
        modules::look(thread);
    }
}

/// Makes a thread known that nobody told us of, if that can be: see `threads::attach_unknown`.
#[cold]
pub fn attach_unknown_thread() -> Option<&'static Thread> {
    threads::attach_unknown()
}

/// The hooks look at the shadow whether or not anything is recorded, so without it the program cannot run at all.
fn prepare_shadow() {
    if let Err(errno) = region::reserve() {
        leave_failure(b"the shadow memory cannot be reserved", errno);
        sys::complain(&[
            b"error: this program was built with Unpick and cannot run here: its shadow memory cannot be reserved\n  \
              why:  the address space of the process is limited (ulimit -v) or overcommit is off\n  \
              next: lift the limit, or run a build without Unpick\n",
        ]);
        sys::exit(CANNOT_WATCH);
    }
}

fn start_recording() -> Result<(), i32> {
    let options = Options::parse(options::variable(b"UNPICK_OPTIONS=").unwrap_or(b""));
    // SAFETY: `STAGE` is `BEGINNING`, and this thread set it.
    unsafe { *IN_FORCE.0.get() = Some(options) };
    open_file(&options)?;
    perturb::set(options.policy);
    breakpoints::begin();
    process::begin();
    threads::prepare();
    process::watch();
    failures::begin();
    begin_main_thread();
    Ok(())
}

/// Not part of `begin`, whose frame has to be small.
#[inline(never)]
fn begin_main_thread() {
    let stack_range = threads::main_stack(options::variables_address());
    let Some(number) = thread::new_number(&RECORDER) else { return };
    if let Some(thread) = threads::begins(number, 0, stack_range) {
        tell_facts(thread);
        modules::look(thread);
    }
}

fn tell_facts(thread: &Thread) {
    if let Some(options) = options_in_force() {
        facts::tell_all(thread, &options);
    }
}

fn options_in_force() -> Option<Options> {
    // SAFETY: not written any more once a recording has begun, and only asked then.
    unsafe { *IN_FORCE.0.get() }
}

/// Creates `<folder>/<process>-<n>.events` with the first n that is free.
fn open_file(options: &Options) -> Result<(), i32> {
    path::create_first_free(b".events\0", |path| RECORDER.start(path, options.settings))
}

/// Leaves `<folder>/<process>.failed`, which says why nothing is recorded. The program's own output is not touched.
fn leave_failure(what: &[u8], errno: i32) {
    path::TEXT.try_with(|text| {
        text.begin_path();
        text.push(b".failed\0");
        let path_length = text.length();
        text.push(what);
        text.push(b" (error ");
        text.push_number(errno as u64);
        text.push(b")\n");
        let (path, message) = text.as_bytes().split_at(path_length);
        let _ = sys::write_new_file(path, message);
    });
}

#[cfg(not(feature = "static-target"))]
mod dynamic_linking {
    //! What has to be asked of the dynamic linker.

    use core::ffi::{CStr, c_char, c_void};

    use super::CANNOT_WATCH;
    use crate::real;
    use crate::sys;

    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
        fn dlerror() -> *mut c_char;
    }

    pub fn prepare() {
        real::look_up_all();
        refuse_other_runtimes();
        // A search that found nothing leaves an error behind, which is none of the program's.
        // SAFETY: no arguments.
        unsafe { dlerror() };
    }

    /// Two runtimes that watch the same hooks or replace the same functions cannot live in one process.
    fn refuse_other_runtimes() {
        for (symbol, name) in
            [(c"__asan_init", &b"AddressSanitizer"[..]), (c"__msan_init", b"MemorySanitizer")]
        {
            if is_there(ANYWHERE, symbol) {
                refuse(name);
            }
        }
        if is_there(AFTER_US, c"__tsan_init") {
            refuse(b"ThreadSanitizer");
        }
    }

    const ANYWHERE: *mut c_void = core::ptr::null_mut();
    /// In a module after ours, which has that symbol too.
    const AFTER_US: *mut c_void = -1_isize as *mut c_void;

    fn is_there(whence: *mut c_void, symbol: &CStr) -> bool {
        // SAFETY: the name is zero-terminated.
        unsafe { !dlsym(whence, symbol.as_ptr()).is_null() }
    }

    fn refuse(name: &[u8]) -> ! {
        sys::complain(&[
            b"error: this process cannot be recorded: it has the runtime of ",
            name,
            b" besides Unpick's\n  why:  two runtimes that watch memory cannot live in one process\n  \
              next: build all its parts without -fsanitize=..., by unpick cc, unpick c++ or cargo unpick\n",
        ]);
        sys::exit(CANNOT_WATCH)
    }
}
