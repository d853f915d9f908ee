//! What is known about one recording beyond its own bytes.
//!
//! Takes   a recording and the names of its program.      Gives  `analyses::Knowledge` about it.
//! Cost    one look-up per site; what the program's files say is read once for all recordings.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::HashMap;

use unpick_analyses::interleaving_patterns::{CodeModule, code_module, module_at};
use unpick_analyses::locks_held::{LockChange, recorded_change};
use unpick_analyses::{Knowledge, State};
use unpick_events::Site;
use unpick_recording::{AccessKind, Action, Event, LockKind, Module, Recording};
use unpick_symbols::{LockStep, Whose};

use crate::code_names::CodeNames;
use crate::lock_steps::{change_by, is_step};

/// A recording, and who knows the program it is of.
pub struct KnownRecording<'r> {
    recording: &'r Recording,
    names: &'r CodeNames,
    addresses: RefCell<HashMap<Site, Option<u64>>>,
    lock_steps: RefCell<HashMap<Site, Option<LockStep>>>,
    states: RefCell<HashMap<Site, State>>,
    delivered: RefCell<HashMap<Site, bool>>,
    /// Where code without hooks takes locks for itself.
    own_locks: RefCell<HashMap<Site, bool>>,
    followed: RefCell<HashMap<[Site; 2], Option<bool>>>,
}

impl<'r> KnownRecording<'r> {
    pub fn new(recording: &'r Recording, names: &'r CodeNames) -> KnownRecording<'r> {
        let (addresses, lock_steps, states) = Default::default();
        let (delivered, own_locks, followed) = Default::default();
        KnownRecording {
            recording,
            names,
            addresses,
            lock_steps,
            states,
            delivered,
            own_locks,
            followed,
        }
    }

    /// Sources of the program that were compiled without hooks although others were compiled with: what they do is not seen.
    pub fn without_hooks(&self) -> Vec<String> {
        let modules: Vec<CodeModule> = self.recording.modules().iter().map(code_module).collect();
        self.names.without_hooks(&modules)
    }

    /// Of several modules that share the low bits, one with instrumented code there is the likeliest.
    fn find_address(&self, site: Site) -> Option<u64> {
        let modules = self.recording.modules().iter();
        let mut candidates: Vec<(&Module, u64)> =
            modules.filter_map(|module| Some((module, module.address_of(site)?))).collect();
        // A module that was loaded, unloaded and loaded again is listed twice.
        candidates.dedup_by_key(|(_, address)| *address);
        if let [(_, only)] = candidates[..] {
            return Some(only);
        }
        let code = |&(module, address): &(&Module, u64)| {
            self.names.code_before(&code_module(module), address.wrapping_sub(module.bias))
        };
        let likeliest = candidates.into_iter().min_by_key(|candidate| Reverse(code(candidate)));
        likeliest.map(|(_, address)| address)
    }

    /// The step of a Rust lock that the function around a site is there for.
    fn lock_step(&self, site: Site) -> Option<LockStep> {
        if let Some(&known) = self.lock_steps.borrow().get(&site) {
            return known;
        }
        let step = self.find_lock_step(site);
        self.lock_steps.borrow_mut().insert(site, step);
        step
    }

    fn find_lock_step(&self, site: Site) -> Option<LockStep> {
        let (module, offset) = self.place_of(site)?;
        self.names.lock_step(&module, offset)
    }

    fn find_followed(&self, first: Site, second: Site) -> Option<bool> {
        let (module, first) = self.place_of(first)?;
        let (other, second) = self.place_of(second)?;
        (module == other).then(|| self.names.follows(&module, first, second))?
    }

    fn find_state(&self, site: Site) -> State {
        if self.is_lock_code(site) {
            return State::OfLibrary;
        }
        let Some((module, offset)) = self.place_of(site) else { return State::Unknown };
        match self.names.whose(&module, offset) {
            Whose::Users => State::OfUser,
            Whose::Librarys => State::OfLibrary,
            Whose::Unknown => State::Unknown,
        }
    }

    /// The module of a site, and its address in the module's file.
    fn place_of(&self, site: Site) -> Option<(CodeModule, u64)> {
        let address = self.return_address(site)?;
        let before = address.checked_sub(1)?;
        let module = module_at(self.recording, before)?;
        Some((code_module(module), address.wrapping_sub(module.bias)))
    }

    /// Whether code without hooks takes a lock of Rust for itself: it gives it back by an atomic access that is not seen, so
    /// its thread would hold the lock for ever.
    fn is_lock_of_unseen_code(&self, event: &Event<'_>) -> bool {
        if !matches!(event.action, Action::Acquire { flags, .. } if flags.what() == LockKind::Rust)
        {
            return false;
        }
        let known = self.own_locks.borrow().get(&event.site).copied();
        known.unwrap_or_else(|| {
            let place = self.place_of(event.site);
            let is = place
                .is_some_and(|(module, offset)| self.names.is_in_delivered_code(&module, offset));
            self.own_locks.borrow_mut().insert(event.site, is);
            is
        })
    }

    fn rust_change(&self, event: &Event<'_>) -> Option<LockChange> {
        let Action::Access { kind, address, flags, .. } = event.action else { return None };
        // Most accesses are none of these, and need no look-up.
        let may_be_step = kind != AccessKind::Read || flags.is_failed_exchange();
        if !may_be_step || !flags.is_atomic() {
            return None;
        }
        let step = self.lock_step(event.site)?;
        if is_step(&event.action, step) {
            return change_by(step, address);
        }
        // parking_lot could not unlock at once because somebody waits: it goes on to do so, or hands the lock over, which is no access.
        let is_unlock = matches!(step, LockStep::Unlock | LockStep::UnlockShared);
        (is_unlock && flags.is_failed_exchange()).then_some(LockChange::Released { lock: address })
    }
}

impl Knowledge for KnownRecording<'_> {
    fn return_address(&self, site: Site) -> Option<u64> {
        if let Some(&known) = self.addresses.borrow().get(&site) {
            return known;
        }
        let address = self.find_address(site);
        self.addresses.borrow_mut().insert(site, address);
        address
    }

    fn is_lock_code(&self, site: Site) -> bool {
        self.lock_step(site).is_some()
    }

    fn unparks(&self, event: &Event<'_>) -> bool {
        // Most accesses are none of these, and need no look-up.
        let may_be = matches!(
            event.action,
            Action::Access { kind: AccessKind::ReadWrite, flags, .. } if flags.is_atomic()
        );
        may_be
            && self.lock_step(event.site) == Some(LockStep::Unpark)
            && is_step(&event.action, LockStep::Unpark)
    }

    fn state_of(&self, site: Site) -> State {
        if let Some(&known) = self.states.borrow().get(&site) {
            return known;
        }
        let state = self.find_state(site);
        self.states.borrow_mut().insert(site, state);
        state
    }

    fn is_unseen_code(&self, site: Site) -> bool {
        if let Some(&known) = self.delivered.borrow().get(&site) {
            return known;
        }
        let place = self.place_of(site);
        let is =
            place.is_some_and(|(module, offset)| self.names.is_by_delivered_code(&module, offset));
        self.delivered.borrow_mut().insert(site, is);
        is
    }

    fn follows(&self, first: Site, second: Site) -> Option<bool> {
        if let Some(&known) = self.followed.borrow().get(&[first, second]) {
            return known;
        }
        let follows = self.find_followed(first, second);
        self.followed.borrow_mut().insert([first, second], follows);
        follows
    }

    fn lock_change(&self, event: &Event<'_>) -> Option<LockChange> {
        if self.is_lock_of_unseen_code(event) {
            return None;
        }
        recorded_change(&event.action).or_else(|| self.rust_change(event))
    }
}
