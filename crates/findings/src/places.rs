//! Places, calls and locks in words.
//!
//! Takes   the code book of runs, and somebody who knows names.      Gives  frames with files as a reader would type them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_analyses::ranking::{CodeBook, ExampleLock};

use crate::describe::Choices;
use crate::finding::{CodePlace, HeldLock, MOST_CALLS};
use crate::names::{Author, Frame, Names, Place, UsersCall};
use crate::packages::{Packages, is_of};
use crate::paths::seen_from;

/// Names what a code book numbers, each site once.
pub struct Places<'c> {
    pub code: &'c CodeBook,
    pub names: &'c dyn Names,
    working_folder: &'c Path,
    packages: &'c Packages,
    known: RefCell<HashMap<CodeSite, Rc<Place>>>,
}

/// What a reader is shown of an access.
pub struct Shown<'s> {
    /// Of the access, or of the user's call of the library that makes it.
    pub site: CodeSite,
    pub place: Place,
    /// The calls that led there, outermost first.
    pub calls: &'s [u32],
    /// None also where it is a call that was not recorded.
    pub shown_call: Option<usize>,
}

impl<'c> Places<'c> {
    pub fn new(code: &'c CodeBook, names: &'c dyn Names, working_folder: &'c Path) -> Places<'c> {
        let packages = Packages::NONE;
        Places { code, names, working_folder, packages, known: RefCell::default() }
    }

    /// Which also knows the packages that the user names.
    pub fn chosen(code: &'c CodeBook, names: &'c dyn Names, choices: &'c Choices) -> Places<'c> {
        let places = Places::new(code, names, &choices.working_folder);
        Places { packages: &choices.packages, ..places }
    }

    pub fn site(&self, site: u32) -> CodeSite {
        self.code.sites[site as usize]
    }

    pub fn place(&self, site: u32) -> Place {
        Place::clone(&self.place_at(self.site(site)))
    }

    fn place_at(&self, site: CodeSite) -> Rc<Place> {
        if let Some(place) = self.known.borrow().get(&site) {
            return place.clone();
        }
        let Place { frame, inlined_into } = self.names.place(site, self.code);
        let inlined_into = inlined_into.into_iter().map(|frame| self.seen(frame)).collect();
        let place = Rc::new(Place { frame: self.seen(frame), inlined_into });
        self.known.borrow_mut().insert(site, place.clone());
        place
    }

    fn seen(&self, frame: Frame) -> Frame {
        let file = frame.file.map(|file| seen_from(&file, self.working_folder));
        Frame { file, ..frame }
    }

    pub fn author(&self, site: CodeSite) -> Author {
        if self.is_of(&self.packages.own, site) {
            return Author::User;
        }
        self.names.author(site, self.code)
    }

    /// Whether the user wants to hear nothing about the code at a site.
    pub fn is_ignored(&self, site: CodeSite) -> bool {
        self.is_of(&self.packages.ignored, site)
    }

    fn is_of(&self, packages: &[String], site: CodeSite) -> bool {
        // Naming is slow.
        if packages.is_empty() {
            return false;
        }
        let module = site.module.map(|module| &self.code.modules[module as usize]);
        let place = self.place_at(site);
        is_of(packages, place.frame.file.as_deref(), module.map(|module| module.path.as_str()))
    }

    /// Where a reader should look, and the calls that led there (outermost first): the site or, inside a library, that of
    /// the user's call of it.
    pub fn own_site<'s>(&self, site: u32, stack: &'s [u32]) -> (u32, &'s [u32]) {
        if self.is_own(site) {
            return (site, stack);
        }
        match stack.iter().rposition(|&call| self.is_own(call) && self.is_as_known(call, site)) {
            Some(at) => (stack[at], &stack[..at]),
            None => (site, stack),
        }
    }

    fn is_own(&self, site: u32) -> bool {
        self.author(self.site(site)) != Author::Language
    }

    /// Where code of the library has a file, that of the user has one too: a call without was made by what the compiler adds.
    fn is_as_known(&self, call: u32, site: u32) -> bool {
        let has_file = |site| self.place_at(self.site(site)).frame.file.is_some();
        has_file(call) || !has_file(site)
    }

    /// The same for an access. Of one without an event the innermost calls may be lost: then the program's code may say who calls the
    /// library.
    pub fn shown<'s>(&self, site: u32, stack: &'s [u32]) -> Shown<'s> {
        if let Some(shown) = self.unrecorded_call(site, stack) {
            return shown;
        }
        let (own, calls) = self.own_site(site, stack);
        let shown_call = self.shown_call(site, stack);
        Shown { site: self.site(own), place: self.place(own), calls, shown_call }
    }

    /// The user's call of a library, if it is known although it is none of those that were recorded.
    fn unrecorded_call<'s>(&self, site: u32, stack: &'s [u32]) -> Option<Shown<'s>> {
        let is_inside_library = !self.is_own(site);
        let call = is_inside_library.then(|| self.users_call(site, stack)).flatten()?;
        let is_it = |recorded: &u32| {
            let Place { frame, inlined_into } = &*self.place_at(self.site(*recorded));
            [frame].into_iter().chain(inlined_into).any(|one| is_same_line(one, &call.place.frame))
        };
        (!stack.iter().any(is_it)).then_some(call)
    }

    fn users_call<'s>(&self, site: u32, stack: &'s [u32]) -> Option<Shown<'s>> {
        let UsersCall { site, is_exact } = self.names.users_call(self.site(site), self.code)?;
        let mut place = Place::clone(&self.place_at(site));
        if !is_exact {
            (place.frame.column, place.inlined_into) = (None, Vec::new());
        }
        Some(Shown { site, place, calls: stack, shown_call: None })
    }

    /// Innermost first, inlined functions included.
    pub fn stack(&self, call_sites: &[u32]) -> Vec<Frame> {
        let places = call_sites.iter().rev().map(|&site| self.place(site));
        places.flat_map(|place| [place.frame].into_iter().chain(place.inlined_into)).collect()
    }

    /// The innermost call sites, innermost first.
    pub fn calls(&self, call_sites: &[u32]) -> Vec<CodePlace> {
        call_sites.iter().rev().take(MOST_CALLS).map(|&site| self.code_place(site)).collect()
    }

    /// Which of `calls` is shown in the place of a site inside a library of the language.
    pub fn shown_call(&self, site: u32, stack: &[u32]) -> Option<usize> {
        let (_, outer) = self.own_site(site, stack);
        let at = stack.len().checked_sub(outer.len() + 1)?;
        (at < MOST_CALLS).then_some(at)
    }

    pub fn lock(&self, lock: &ExampleLock) -> HeldLock {
        HeldLock {
            name: self.names.lock(lock, self.code),
            kind: lock.kind.clone(),
            shared: lock.shared,
            taken_at: self.place(self.own_site(lock.site, &lock.stack).0).frame,
            code: Some(self.code_place(lock.site)),
            calls: self.calls(&lock.stack),
            shown_call: self.shown_call(lock.site, &lock.stack),
            acquisition: lock.acquisition,
            distance: None,
        }
    }

    pub fn code_place(&self, site: u32) -> CodePlace {
        let site = self.site(site);
        let module = site.module.map(|module| &self.code.modules[module as usize]);
        let known = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        CodePlace {
            module: module.map(|module| seen_from(&module.path, self.working_folder)),
            build_id: module.and_then(|module| known(&module.build_id)),
            offset: format!("{:#x}", site.offset),
        }
    }
}

fn is_same_line(one: &Frame, other: &Frame) -> bool {
    (&one.file, one.line) == (&other.file, other.line)
}
