//! What the environment of the process asks for.

use unpick_events::file::mode;

use crate::perturb::Policy;
use crate::recorder::{DEFAULT_LIMIT, Settings};

unsafe extern "C" {
    static environ: *const *const u8;
}

/// Options of a recording, from `UNPICK_OPTIONS`: words like `full` and `seed=7`, apart by blanks.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub settings: Settings,
    pub policy: Policy,
}

impl Options {
    pub fn parse(text: &[u8]) -> Self {
        let mut options = Self {
            settings: Settings { limit: DEFAULT_LIMIT, seed: 0, mode: 0 },
            policy: Policy::default(),
        };
        for word in text.split(|byte| *byte == b' ') {
            options.take(word);
        }
        let policy = &options.policy;
        if policy.access | policy.synchronisation | policy.thread_start | policy.targets != 0 {
            options.settings.mode |= mode::PERTURBED;
        }
        options
    }

    fn take(&mut self, word: &[u8]) {
        if word == b"full" {
            self.settings.mode |= mode::FULL;
            return;
        }
        let Some(equals) = word.iter().position(|byte| *byte == b'=') else { return };
        let (name, value) = word.split_at(equals);
        if let Some(value) = number(&value[1..]) {
            self.set(name, value);
        }
    }

    fn set(&mut self, name: &[u8], value: u64) {
        match name {
            b"limit" => self.settings.limit = value,
            b"seed" => {
                self.settings.seed = value;
                self.policy.seed = value;
            }
            b"access" => self.policy.access = value as u32,
            b"sync" => self.policy.synchronisation = value as u32,
            b"start" => self.policy.thread_start = value as u32,
            b"shortest" => self.policy.shortest = value,
            b"longest" => self.policy.longest = value,
            b"targets" => self.policy.targets = value as u32,
            b"budget" => self.policy.budget = value,
            _ => {}
        }
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for digit in digits {
        value = value
            .checked_mul(10)?
            .checked_add(digit.checked_sub(b'0').filter(|d| *d < 10)? as u64)?;
    }
    (!digits.is_empty()).then_some(value)
}

/// The value of an environment variable; `name` ends in `=`.
pub fn variable(name: &[u8]) -> Option<&'static [u8]> {
    // SAFETY: `environ` is null or a null-terminated list of zero-terminated strings, and at the start of the
    // process nobody changes it.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            if let Some(value) = text_at(*entry).strip_prefix(name) {
                return Some(value);
            }
            entry = entry.add(1);
        }
    }
    None
}

/// Where the list of environment variables is: at the start of the process, above the frames of `main`.
pub fn variables_address() -> u64 {
    // SAFETY: at the start of the process nobody changes it.
    unsafe { environ as u64 }
}

/// A zero-terminated text, without the zero.
///
/// # Safety
/// `text` is such a text and stays as it is.
pub unsafe fn text_at(text: *const u8) -> &'static [u8] {
    let mut length = 0;
    // SAFETY: up to the terminating zero the bytes are the text's. Volatile, so that this does not become a
    // call of `strlen`, which may be an intercept of ours.
    unsafe {
        while text.add(length).read_volatile() != 0 {
            length += 1;
        }
        core::slice::from_raw_parts(text, length)
    }
}
