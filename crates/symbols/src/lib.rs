//! From the numbers of a recording to names: places in the code, variables, fields, heap blocks.
//!
//! Takes   the module map of a process, and the program's files and sources as they are on disk now.
//! Gives   names as the programmer wrote them, or less, but nothing wrong that could be known to be wrong:
//!         every file is checked against the recorded build id, every source against the age of the program,
//!         every expression and type against the length of the access or block.
//! Misses  what the table says. Nothing here fails: what cannot be used is told by [`Symbols::problems`].
//! Cost    a module is read when first asked about. Release build, program with 8 MB of `.debug_info`, two busy
//!         cores: 0.2 s to load, 0.6 s for 10,000 sites all over it, 0.3 s once for the index of variables and types.
//!         Everything asked before is remembered.
//!
//! | asked                    | named how                                  | example                         | not named                                       |
//! |--------------------------|--------------------------------------------|---------------------------------|-------------------------------------------------|
//! | place                    | DWARF lines and inlined functions          | `deposit at /src/bank.c:31:9`   | without `-g`: function and offset, by symbol    |
//! |                          | DWARF in the file, `.gnu_debuglink`,       |                                 | debuginfod, dwz's common file                   |
//! |                          | `/usr/lib/debug`, `.dwo`, `.dwp`, zlib/zstd |                                |                                                 |
//! | user's call of a library | direct calls in the machine code           | `put at /src/bank.rs:55:17`     | several lines; functions whose address is taken |
//! | global, static           | DWARF variable and member path             | `config.limits[3].max`          | thread-locals: their address is the thread's    |
//! |                          | variable of a library, copied to the program | `shared_pair.second`          | virtual base classes                            |
//! |                          | Rust: wrappers without a written name fall away | `LOCKED.data.1`, `HITS`    |                                                 |
//! |                          | without `-g`: symbol and offset            | `table+12`                      |                                                 |
//! | union, bit field, enum   | the member the source names at the access  | `config.value.fraction`         | else all that fit: `value.{number, fraction}`   |
//! | bytes of several members | what holds them all                        | `config`                        |                                                 |
//! | field of an access       | source text at the column                  | `cache->items[i].count`         | inside macros; range loops; `?:` and plain variables with gcc; |
//! |   (heap, stack)          |                                            |                                 | implicit constructors; atomics and other library calls; |
//! |                          |                                            |                                 | 8-byte reads of Rust where a box or reference on the way |
//! |                          |                                            |                                 | is read at the same column; changed sources     |
//! | heap block               | type parameters of `Box`, `Arc`, `Vec`, allocators | `Account[2].balance (heap, …)` | pools, own allocators, `void *`, `make_shared`, |
//! |                          | `new T`, `sizeof`, the pointer assigned    | `Message.text[6] (heap, …)`     | arrays with a count in front: size and offset only |
//!
//! What each compiler means by a column is in `source_text/columns.rs`.
#![forbid(unsafe_code)]

mod access_text;
mod call_table;
mod control_flow;
mod debug_info;
mod delivered;
mod demangle;
mod dwarf_units;
mod elf_file;
mod globals;
mod heap;
mod library_code;
mod locals;
mod machinery;
mod member_path;
mod members;
mod module;
mod module_info;
mod place;
mod rust_locks;
mod sites;
mod source_text;
mod symbol_table;
mod typed_expression;
mod types;
mod unit_sources;
mod users_call;
mod variable;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use unpick_problem::Problem;

pub use demangle::demangled;
pub use heap::HeapName;
pub use machinery::{Whose, whose};
pub use members::{Belonging, NamedMember};
pub use module_info::ModuleInfo;
pub use place::{Frame, Place};
pub use rust_locks::{LockStep, RustLock, rust_lock};
pub use sites::SiteCandidates;
pub use source_text::{Access, Memory, Touch};
pub use users_call::UsersCall;
pub use variable::Variable;

use access_text::Knowledge;
use heap::{AllocationStack, InBlock};
use module::Module;
use source_text::{Source, Sources};
use typed_expression::Scope;

/// How likely an address is one that events come from: the later, the likelier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    None,
    Plain,
    Instrumented,
}

/// The names of one process. Can be sent to another thread, not shared between threads.
pub struct Symbols {
    modules: Vec<Module>,
    places: RefCell<HashMap<u64, Arc<Place>>>,
    sites: RefCell<HashMap<u32, Arc<SiteCandidates>>>,
    fields: RefCell<HashMap<(u64, Touch), Option<String>>>,
    sources: Sources,
}

/// Names that Rust, gcc and clang give to functions without a name.
fn is_closure(function: &str) -> bool {
    ["{{closure}}", "{closure", "{lambda", "operator()"].iter().any(|part| function.contains(part))
}

impl Symbols {
    /// Takes the module map of a process. Opens nothing yet: files are read when a name is asked for.
    /// Where two modules were at one address one after the other, the later in the list is believed.
    pub fn load(modules: &[ModuleInfo]) -> Symbols {
        Symbols {
            modules: modules.iter().cloned().map(Module::new).collect(),
            places: RefCell::default(),
            sites: RefCell::default(),
            fields: RefCell::default(),
            sources: Sources::default(),
        }
    }

    /// Adds a module to the map; it must lie where no other one is.
    pub fn add(&mut self, module: ModuleInfo) {
        self.modules.push(Module::new(module));
    }

    /// What a return address follows, as far as it can be an event's.
    pub fn code_before(&self, return_address: u64) -> Code {
        let before = return_address.wrapping_sub(1);
        match self.module_at(before).filter(|module| module.has_code_at(before)) {
            Some(module) if module.symbols().instrumented => Code::Instrumented,
            Some(_) => Code::Plain,
            None => Code::None,
        }
    }

    /// Files that were needed and could not be used: missing, damaged, or changed since the recording.
    pub fn problems(&self) -> Vec<Problem> {
        self.modules.iter().filter_map(|module| module.problem().cloned()).collect()
    }

    /// Where names are poorer than they could be, and what would help; for modules that were asked for.
    pub fn notes(&self) -> Vec<String> {
        self.modules.iter().filter_map(Module::note).collect()
    }

    /// The source files, as they are now, that the user wrote and the instrumented module at an address was made of.
    pub fn own_sources(&self, address: u64) -> BTreeSet<PathBuf> {
        let module = self.module_at(address).filter(|module| module.symbols().instrumented);
        let names = module.and_then(Module::names);
        names.map(|names| unit_sources::own_sources(&names.units)).unwrap_or_default()
    }

    /// Sources that were compiled without hooks although their module has some: what they do is not seen. As far as compilers tell.
    pub fn without_hooks(&self) -> Vec<String> {
        self.modules.iter().flat_map(Module::without_hooks).collect()
    }

    /// Whether what was recorded at a return address was done by code of Rust that is delivered compiled, without hooks.
    pub fn is_by_delivered_code(&self, return_address: u64) -> bool {
        let module = self.module_at(return_address.wrapping_sub(1));
        module.is_some_and(|module| module.is_by_delivered_code(return_address))
    }

    /// Whether a return address is inside such code.
    pub fn is_in_delivered_code(&self, return_address: u64) -> bool {
        let module = self.module_at(return_address.wrapping_sub(1));
        module.is_some_and(|module| module.is_in_delivered_code(return_address))
    }

    /// Whether the call that returns to `second` can come after the one that returns to `first`, in one iteration of the outermost
    /// loop that both are in. None: they are not in one function, or nobody knows.
    pub fn follows(&self, first: u64, second: u64) -> Option<bool> {
        let module = self.module_at(first.wrapping_sub(1))?;
        let follows = module.follows(module.in_file(first), module.in_file(second))?;
        // Compilers move the test of a loop to its end, and there it comes before the next iteration of what it tests.
        Some(follows || self.place(first).is_before_in_source(&self.place(second)))
    }

    /// The place of the call that returns to `address`. Always an answer: at worst the bare address.
    pub fn place(&self, address: u64) -> Arc<Place> {
        if let Some(place) = self.places.borrow().get(&address) {
            return place.clone();
        }
        let place = Arc::new(self.find_place(address));
        self.places.borrow_mut().insert(address, place.clone());
        place
    }

    fn find_place(&self, address: u64) -> Place {
        match self.module_at(address.wrapping_sub(1)) {
            Some(module) => module.place(address),
            None => Place { address, offset: address, ..Place::default() },
        }
    }

    fn module_at(&self, address: u64) -> Option<&Module> {
        self.modules.iter().rev().find(|module| module.info.addresses().contains(&address))
    }

    /// The user's call behind code of a library that was not inlined, if the program has only one line that leads there. Nothing about
    /// code that is delivered compiled: what it does for itself is not the user's.
    pub fn users_call(&self, return_address: u64) -> Option<UsersCall> {
        let module = self.module_at(return_address.wrapping_sub(1))?;
        let inside = module.in_file(return_address).wrapping_sub(1);
        let function = module.symbols().function(inside)?.address;
        if let Some(known) = module.users_calls.borrow().get(&function) {
            return *known;
        }
        let is_looked_for = !module.is_in_delivered_code(return_address);
        let found = is_looked_for.then(|| users_call::find(self, module, function)).flatten();
        module.users_calls.borrow_mut().insert(function, found);
        found
    }

    /// The full return address of a site, of which a recording keeps the low 32 bits.
    pub fn resolve_site(&self, low32: u32) -> Option<u64> {
        self.site_candidates(low32).best()
    }

    /// All addresses a site could mean, the most likely first.
    pub fn site_candidates(&self, low32: u32) -> Arc<SiteCandidates> {
        if let Some(candidates) = self.sites.borrow().get(&low32) {
            return candidates.clone();
        }
        let candidates = Arc::new(SiteCandidates::find(&self.modules, low32));
        self.sites.borrow_mut().insert(low32, candidates.clone());
        candidates
    }

    /// The place of a site; `None` if no module has code there.
    pub fn place_of_site(&self, low32: u32) -> Option<Arc<Place>> {
        self.resolve_site(low32).map(|address| self.place(address))
    }

    /// The global or static variable at an address, with the member that was touched.
    /// `site` is the place of an access to it: its source text tells union members apart.
    pub fn variable(
        &self,
        address: u64,
        access_len: u64,
        site: Option<&Place>,
    ) -> Option<Variable> {
        let module = self.module_at(address)?;
        let found = variable::find(&self.modules, module, address, access_len, None)?;
        if !found.path.ends_with('}') {
            return Some(found);
        }
        let hint = site.and_then(|site| self.member_named_at(site));
        variable::find(&self.modules, module, address, access_len, hint.as_deref())
    }

    /// The last name of the expression at a place, whatever kind of access it is.
    fn member_named_at(&self, site: &Place) -> Option<String> {
        let any_length = 0;
        [Access::Write, Access::Read].into_iter().find_map(|access| {
            let text = self.find_field(site, Touch::new(access, any_length))?;
            Some(member_path::last_name(&text).to_owned())
        })
    }

    /// What the source calls the bytes accessed at a site (`cache->empty`), read from the source text.
    /// Nothing where the text leaves room for doubt.
    pub fn field_of_access(&self, site: &Place, touch: Touch) -> Option<String> {
        let key = (site.address, touch);
        if let Some(known) = self.fields.borrow().get(&key) {
            return known.clone();
        }
        let field = self.find_field(site, touch);
        self.fields.borrow_mut().insert(key, field.clone());
        field
    }

    fn find_field(&self, site: &Place, touch: Touch) -> Option<String> {
        let module = self.module_at(site.address.checked_sub(1)?)?;
        let source = self.sources.get(site.file()?, module.file()?.modified)?;
        let token = source.token_at(site.line()?, site.column()?)?;
        let dialect = module.dialect(site.address)?;
        let candidates = source_text::candidates(&source, token, dialect, touch.access);
        let knowledge = Knowledge {
            touch,
            global: touch.address.and_then(|address| self.variable(address, touch.length, None)),
            scope: module.names().map(|names| Scope {
                names,
                locals: module.locals(site.address, 0),
                is_rust: source.is_rust,
            }),
            in_closure: site.function().is_some_and(is_closure),
        };
        access_text::only_fitting(candidates, &knowledge)
    }

    /// The line of source that a frame of a place is at, unless the file is gone or was changed after the program was built.
    pub fn line_text(&self, place: &Place, frame: usize) -> Option<String> {
        let (source, line) = self.source_at(place, frame)?;
        source.line(line).map(str::to_owned)
    }

    /// The same line and as many before and after it, with their numbers.
    pub fn lines_around(&self, place: &Place, frame: usize, around: u32) -> Vec<(u32, String)> {
        let Some((source, line)) = self.source_at(place, frame) else { return Vec::new() };
        let numbers = line.saturating_sub(around).max(1)..=line.saturating_add(around);
        numbers.filter_map(|number| Some((number, source.line(number)?.to_owned()))).collect()
    }

    fn source_at(&self, place: &Place, frame: usize) -> Option<(Arc<Source>, u32)> {
        let frame = place.frames.get(frame)?;
        let module = self.module_at(place.address.checked_sub(1)?)?;
        let source = self.sources.get(frame.file.as_deref()?, module.file()?.modified)?;
        Some((source, frame.line?))
    }

    /// The name of one byte of a heap block, from the call stack of its allocation (innermost first).
    pub fn heap_name(&self, stack: &[Arc<Place>], offset: u64, size: u64) -> HeapName {
        self.heap_name_of_access(stack, offset, 1, size)
    }

    /// The same for an access of `length` bytes: one that covers several members names what holds them all.
    pub fn heap_name_of_access(
        &self,
        stack: &[Arc<Place>],
        offset: u64,
        length: u64,
        size: u64,
    ) -> HeapName {
        let module_of = |place: &Place| self.module_at(place.address.checked_sub(1)?);
        let stack = AllocationStack::new(stack, module_of);
        heap::name(&stack, &self.sources, InBlock { offset, length, size })
    }

    /// The variable and the fields that bytes of the program's static memory are.
    pub fn belonging_of_static(&self, address: u64, length: u64) -> Option<Belonging> {
        variable::belonging(self.module_at(address)?, address, length)
    }

    /// The fields that bytes of a heap block are, from the call stack of its allocation (innermost first).
    pub fn belonging_in_block(
        &self,
        stack: &[Arc<Place>],
        offset: u64,
        length: u64,
        size: u64,
    ) -> Belonging {
        let module_of = |place: &Place| self.module_at(place.address.checked_sub(1)?);
        let stack = AllocationStack::new(stack, module_of);
        let members = heap::members(&stack, &self.sources, InBlock { offset, length, size });
        Belonging { global: None, members }
    }
}
