//! Places, calls and locks in words.
//!
//! Takes   the code book of runs, and somebody who knows names.      Gives  frames with files as a reader would type them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_analyses::ranking::{CodeBook, ExampleLock};

use crate::describe::Choices;
use crate::finding::{CodePlace, HeldLock, MOST_CALLS};
use crate::names::{Author, Frame, Names, Place};
use crate::packages::{Packages, is_of};
use crate::paths::seen_from;

/// Names what a code book numbers, each site once.
pub struct Places<'c> {
    pub code: &'c CodeBook,
    pub names: &'c dyn Names,
    working_folder: &'c Path,
    packages: &'c Packages,
    known: RefCell<HashMap<u32, Place>>,
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
        if let Some(place) = self.known.borrow().get(&site) {
            return place.clone();
        }
        let Place { frame, inlined_into } = self.names.place(self.site(site), self.code);
        let inlined_into = inlined_into.into_iter().map(|frame| self.seen(frame)).collect();
        let place = Place { frame: self.seen(frame), inlined_into };
        self.known.borrow_mut().insert(site, place.clone());
        place
    }

    fn seen(&self, frame: Frame) -> Frame {
        let file = frame.file.map(|file| seen_from(&file, self.working_folder));
        Frame { file, ..frame }
    }

    pub fn author(&self, site: u32) -> Author {
        if self.is_of(&self.packages.own, site) {
            return Author::User;
        }
        self.names.author(self.site(site), self.code)
    }

    /// Whether the user wants to hear nothing about the code at a site.
    pub fn is_ignored(&self, site: u32) -> bool {
        self.is_of(&self.packages.ignored, site)
    }

    fn is_of(&self, packages: &[String], site: u32) -> bool {
        // Naming is slow.
        if packages.is_empty() {
            return false;
        }
        let module = self.site(site).module.map(|module| &self.code.modules[module as usize]);
        let file = self.place(site).frame.file;
        is_of(packages, file.as_deref(), module.map(|module| module.path.as_str()))
    }

    /// Where a reader should look, and the calls that led there (outermost first): the site or, inside a library, that of
    /// the user's call of it.
    pub fn own_site<'s>(&self, site: u32, stack: &'s [u32]) -> (u32, &'s [u32]) {
        let is_own = |site: u32| self.author(site) != Author::Language;
        if is_own(site) {
            return (site, stack);
        }
        match stack.iter().rposition(|&call| is_own(call)) {
            Some(at) => (stack[at], &stack[..at]),
            None => (site, stack),
        }
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
