//! Names for the numbers of one recording.
//!
//! Takes   the modules and call stacks of a recording, and its events as they go by (a heap block has a name
//!         only while it lives).      Gives  names of objects and places in the code.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use unpick_events::{Context, Site};
use unpick_recording::{Action, Event, Module, Recording};
use unpick_symbols::{ModuleInfo, Place, Symbols};

/// Names objects and places of one recording.
pub struct Names<'r> {
    recording: &'r Recording,
    symbols: Symbols,
    blocks: BTreeMap<u64, Block>,
    /// Naming a variable is slow and programs have few: by address, length and site.
    objects: RefCell<HashMap<(u64, u64, Site), Option<String>>>,
}

struct Block {
    size: u64,
    site: Site,
    context: Context,
}

impl<'r> Names<'r> {
    pub fn of(recording: &'r Recording) -> Names<'r> {
        let modules: Vec<_> = recording.modules().iter().map(module_info).collect();
        Names {
            recording,
            symbols: Symbols::load(&modules),
            blocks: BTreeMap::new(),
            objects: RefCell::default(),
        }
    }

    /// Takes note of what an event says about blocks.
    pub fn learn(&mut self, event: &Event<'_>) {
        if let Action::Block { address, size, .. } = event.action {
            let (site, context) = (event.site, event.context);
            self.blocks.insert(address.0, Block { size, site, context });
        }
    }

    /// The place in the code that a site names; `None` for no site.
    pub fn place(&self, site: Site) -> Option<Arc<Place>> {
        if site.0 == 0 {
            return None;
        }
        let unknown = || Arc::new(Place { address: u64::from(site.0), ..Place::default() });
        Some(self.symbols.place_of_site(site.0).unwrap_or_else(unknown))
    }

    /// What the program calls the bytes at `address`.
    pub fn object(&self, address: u64, length: u64, site: Site) -> Option<String> {
        if let Some(name) = self.heap_name(address) {
            return Some(name);
        }
        let key = (address, length, site);
        if let Some(name) = self.objects.borrow().get(&key) {
            return name.clone();
        }
        let place = self.place(site);
        let variable = self.symbols.variable(address, length, place.as_deref());
        let name = variable.map(|variable| variable.to_string());
        self.objects.borrow_mut().insert(key, name.clone());
        name
    }

    fn heap_name(&self, address: u64) -> Option<String> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        let offset = address - start;
        (offset < block.size).then(|| {
            self.symbols.heap_name(&self.allocation(block), offset, block.size).to_string()
        })
    }

    /// The call stack of an allocation, innermost first.
    fn allocation(&self, block: &Block) -> Vec<Arc<Place>> {
        let stack = self.recording.stacks().get(block.context).unwrap_or(&[]);
        let callers = stack.iter().rev().copied();
        std::iter::once(block.site).chain(callers).filter_map(|site| self.place(site)).collect()
    }

    /// What would make the names better; for what was asked so far.
    pub fn remarks(&self) -> Vec<String> {
        let problems = self.symbols.problems().into_iter().map(|problem| {
            let text = problem.to_string();
            format!("note: {}", text.strip_prefix("error: ").unwrap_or(&text))
        });
        let notes = self.symbols.notes().into_iter().map(|note| format!("note: {note}"));
        problems.chain(notes).collect()
    }
}

fn module_info(module: &Module) -> ModuleInfo {
    ModuleInfo {
        path: PathBuf::from(&module.path),
        build_id: module.build_id.clone(),
        bias: module.bias,
        start: module.lowest,
        length: module.length,
    }
}
