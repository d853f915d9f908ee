//! Facts about the process, told by its main thread at the start (and again by the child of a fork).

use unpick_events::Kind;

use super::options::Options;
use super::path::{TEXT, Text};
use super::words::WORDS;
use crate::sync;
use crate::sys;
use crate::thread::Thread;

/// Format and version of this runtime. `unpick record` looks for the symbol to recognise a program built with us.
#[unsafe(no_mangle)]
#[used]
pub static unpick_runtime_version: [u8; VERSION.len()] = {
    let mut bytes = [0; VERSION.len()];
    let mut at = 0;
    while at < VERSION.len() {
        bytes[at] = VERSION.as_bytes()[at];
        at += 1;
    }
    bytes
};

const VERSION: &str = concat!("unpick runtime ", env!("CARGO_PKG_VERSION"), ", format 3\0");
const _: () = assert!(unpick_events::file::FORMAT_VERSION == 3, "say the new format in VERSION");

pub fn tell_all(thread: &Thread, options: &Options) {
    tell(thread, b"runtime", &VERSION.as_bytes()[..VERSION.len() - 1]);
    tell_command_line(thread);
    tell_about(thread, b"executable", |buffer| sys::read_link(b"/proc/self/exe\0", buffer));
    tell_about(thread, b"working folder", sys::working_folder);
    let policy = &options.policy;
    for (name, value) in [
        (&b"seed"[..], options.settings.seed),
        (b"delays at accesses (ppm)", policy.access as u64),
        (b"delays at synchronisation (ppm)", policy.synchronisation as u64),
        (b"delays at thread starts (ppm)", policy.thread_start as u64),
        (b"shortest delay (ns)", policy.shortest),
        (b"longest delay (ns)", policy.longest),
    ] {
        TEXT.try_with(|text| {
            text.cut(0);
            text.push_number(value);
            tell(thread, name, text.as_bytes());
        });
    }
}

fn tell(thread: &Thread, name: &[u8], value: &[u8]) {
    WORDS.try_with(|words| {
        words.clear();
        words.push_text(name);
        words.push_text(value);
        sync::record_for(thread, Kind::Fact, 0, 0, 0, words.as_slice());
    });
}

fn tell_about(thread: &Thread, name: &[u8], fill: impl FnOnce(&mut [u8]) -> Result<usize, i32>) {
    TEXT.try_with(|text| tell(thread, name, text.fill(fill)));
}

/// The arguments, each followed by a blank but the last.
fn tell_command_line(thread: &Thread) {
    TEXT.try_with(|text: &mut Text| {
        let arguments = text.fill(|buffer| sys::read_file(b"/proc/self/cmdline\0", buffer));
        let count = arguments.len().saturating_sub(1);
        for byte in arguments.iter_mut().take(count) {
            if *byte == 0 {
                *byte = b' ';
            }
        }
        tell(thread, b"command line", &text.as_bytes()[..count]);
    });
}
