//! What the events say about the process itself: its threads, modules, call stacks and facts.
//!
//! Takes   the events, once, while the recording is opened.      Gives  tables to look things up in.

use std::collections::{BTreeMap, HashMap};

use unpick_events::{Address, Context, Site, ThreadId};

use crate::action::Action;
use crate::event::Event;

/// What is known about a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    pub id: ThreadId,
    /// Who created it; nobody created the first one.
    pub creator: Option<ThreadId>,
    /// Nanoseconds, as its `ThreadStart` says.
    pub started: Option<u64>,
    pub ended: Option<u64>,
    pub events: u64,
}

/// How a thread is found in the living process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelThread {
    /// The kernel's number of it.
    pub id: u32,
    /// Address of the pointer to the end of its call stack; see `unpick_events::live`.
    pub calls: Address,
}

/// A module that was loaded into the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    pub path: String,
    /// In hex; empty if it has none.
    pub build_id: String,
    /// What was added to the addresses in the file.
    pub bias: u64,
    pub lowest: u64,
    pub length: u64,
    /// Where its code begins, and how long that is.
    pub code: (u64, u64),
    /// It was unloaded later.
    pub gone: bool,
}

impl Module {
    pub fn contains(&self, address: u64) -> bool {
        address.checked_sub(self.lowest).is_some_and(|offset| offset < self.length)
    }

    /// The address in the code of this module whose low 32 bits are `site`. Its data, which may be much larger, can share
    /// them with the code of another module.
    pub fn address_of(&self, site: Site) -> Option<u64> {
        let (code, length) = self.code;
        let offset = site.0.wrapping_sub(code as u32);
        (u64::from(offset) < length).then(|| code + u64::from(offset))
    }
}

/// The call stacks of a recording, by the context that names them.
#[derive(Debug, Default)]
pub struct Stacks {
    by_context: HashMap<Context, Box<[Site]>>,
}

impl Stacks {
    /// The call sites, outermost first.
    pub fn get(&self, context: Context) -> Option<&[Site]> {
        self.by_context.get(&context).map(AsRef::as_ref)
    }

    pub fn len(&self) -> usize {
        self.by_context.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_context.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Context, &[Site])> {
        self.by_context.iter().map(|(&context, sites)| (context, sites.as_ref()))
    }
}

/// All tables, filled event by event.
#[derive(Debug, Default)]
pub struct Catalogue {
    pub facts: Vec<(String, String)>,
    pub modules: Vec<Module>,
    pub stacks: Stacks,
    pub kernel_threads: BTreeMap<ThreadId, KernelThread>,
    threads: BTreeMap<ThreadId, Thread>,
}

impl Catalogue {
    pub fn take_in(&mut self, event: &Event<'_>) {
        let thread = self.thread(event.thread);
        thread.events += 1;
        match event.action {
            Action::ThreadStart { creator, time } => {
                thread.creator = Some(creator).filter(|creator| creator.0 != 0);
                thread.started = Some(time);
            }
            Action::ThreadEnd { time } => thread.ended = Some(time),
            Action::KernelThread { id, calls } => {
                self.kernel_threads.insert(event.thread, KernelThread { id, calls });
            }
            Action::Module { .. } => self.modules.extend(module(&event.action)),
            Action::ModuleGone { bias } => self.unload(bias),
            Action::Stack { call_sites } => {
                let sites = call_sites.iter().collect();
                self.stacks.by_context.entry(event.context).or_insert(sites);
            }
            Action::Fact { name, value } => self.facts.push((name.to_text(), value.to_text())),
            _ => {}
        }
    }

    /// The threads that have events, by number.
    pub fn threads(&mut self) -> Vec<Thread> {
        std::mem::take(&mut self.threads).into_values().collect()
    }

    fn thread(&mut self, id: ThreadId) -> &mut Thread {
        let unknown = Thread { id, creator: None, started: None, ended: None, events: 0 };
        self.threads.entry(id).or_insert(unknown)
    }

    fn unload(&mut self, bias: u64) {
        let loaded = |module: &&mut Module| module.bias == bias && !module.gone;
        if let Some(module) = self.modules.iter_mut().rev().find(loaded) {
            module.gone = true;
        }
    }
}

fn module(action: &Action<'_>) -> Option<Module> {
    let &Action::Module { bias, lowest, length, build_id, path, code } = action else {
        return None;
    };
    let (path, build_id) = (path.to_text(), build_id.to_text());
    Some(Module { path, build_id, bias, lowest, length, code, gone: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_names_the_one_address_of_a_module_with_its_low_bits() {
        let module = Module {
            path: String::new(),
            build_id: String::new(),
            bias: 0x7fff_ffff_f000,
            lowest: 0x7fff_ffff_f000,
            length: 0x5000,
            code: (0x7fff_ffff_f000, 0x3000),
            gone: false,
        };
        assert_eq!(module.address_of(Site(0xffff_f010)), Some(0x7fff_ffff_f010));
        assert_eq!(module.address_of(Site(0x0000_1000)), Some(0x8000_0000_1000));
        assert_eq!(module.address_of(Site(0x0000_2000)), None);
    }
}
