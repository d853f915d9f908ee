//! Names for code and memory that are known as module and address in its file.
//!
//! Takes   modules as runs keep them, wherever they were loaded.      Gives  places, variables, locks in words.
//!
//! Every build has a place of its own in a made-up address space, so that one `Symbols` serves all runs: a file is read once.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use unpick_analyses::interleaving_patterns::{self, CodeModule, CodeSite};
use unpick_analyses::ranking::{CodeBook, ExampleAccess, ExampleBlock, ExampleLock, ExampleMemory};
use unpick_findings::{Author, Frame, Names, Place, UsersCall};
use unpick_recording::LockKind;
use unpick_symbols::{
    Access, Belonging, Code, LockStep, Memory, ModuleInfo, Place as SymbolPlace, Symbols, Touch,
    Variable, Whose, rust_lock, whose,
};

use crate::lock_names::{bytes_of_object, kind_called, without_inner_members, without_lock_word};

/// Room for one module in the made-up address space; no file reaches that far.
const ROOM: u64 = 1 << 44;

/// The names of all builds that runs were made with. Can be shared between threads.
pub struct CodeNames {
    loaded: Mutex<Loaded>,
}

/// What has been asked about so far.
struct Loaded {
    symbols: Symbols,
    /// What is added to addresses of a file, by the name that tells builds apart.
    biases: HashMap<String, Option<u64>>,
}

impl Default for CodeNames {
    fn default() -> Self {
        CodeNames::new()
    }
}

impl CodeNames {
    /// Opens nothing yet.
    pub fn new() -> CodeNames {
        let loaded = Loaded { symbols: Symbols::load(&[]), biases: HashMap::new() };
        CodeNames { loaded: Mutex::new(loaded) }
    }

    /// What a return address of a module follows.
    pub fn code_before(&self, module: &CodeModule, offset: u64) -> Code {
        let mut loaded = self.loaded();
        let address = loaded.address(module, offset);
        address.map_or(Code::None, |address| loaded.symbols.code_before(address))
    }

    /// The step of a Rust lock that the function around a return address is there for.
    pub fn lock_step(&self, module: &CodeModule, offset: u64) -> Option<LockStep> {
        let mut loaded = self.loaded();
        let address = loaded.address(module, offset)?;
        rust_lock(&loaded.symbols.place(address)).map(|lock| lock.step)
    }

    /// Whose state an access before a return address is to.
    pub fn whose(&self, module: &CodeModule, offset: u64) -> Whose {
        let mut loaded = self.loaded();
        let address = loaded.address(module, offset);
        address.map_or(Whose::Unknown, |address| whose(&loaded.symbols.place(address)))
    }

    /// Whether what was recorded at a return address was done by code of Rust that is delivered compiled, without hooks.
    pub fn is_by_delivered_code(&self, module: &CodeModule, offset: u64) -> bool {
        let mut loaded = self.loaded();
        let address = loaded.address(module, offset);
        address.is_some_and(|address| loaded.symbols.is_by_delivered_code(address))
    }

    /// Whether a return address is inside such code.
    pub fn is_in_delivered_code(&self, module: &CodeModule, offset: u64) -> bool {
        let mut loaded = self.loaded();
        let address = loaded.address(module, offset);
        address.is_some_and(|address| loaded.symbols.is_in_delivered_code(address))
    }

    /// Whether one return address can be reached after another in one iteration of the outermost loop that both are in. None: they are
    /// not in one function, or nobody knows.
    pub fn follows(&self, module: &CodeModule, first: u64, second: u64) -> Option<bool> {
        let mut loaded = self.loaded();
        let first = loaded.address(module, first)?;
        let second = loaded.address(module, second)?;
        loaded.symbols.follows(first, second)
    }

    /// The source files that the user wrote and a module was made of.
    pub fn own_sources(&self, module: &CodeModule) -> BTreeSet<PathBuf> {
        let mut loaded = self.loaded();
        let address = loaded.address(module, module.lowest);
        address.map(|address| loaded.symbols.own_sources(address)).unwrap_or_default()
    }

    /// The lines of source around the one that `place` gives for a site, as they were when the program was built.
    pub fn lines_around(&self, site: CodeSite, code: &CodeBook, around: u32) -> Vec<(u32, String)> {
        let mut loaded = self.loaded();
        let Some(place) = loaded.place(site, code) else { return Vec::new() };
        loaded.symbols.lines_around(&place, place.own_frame().unwrap_or(0), around)
    }

    /// The variable and the fields that the bytes of an access are; `None` where no debug info says so.
    pub fn belonging(&self, access: &ExampleAccess, code: &CodeBook) -> Option<Belonging> {
        let mut loaded = self.loaded();
        match &access.memory {
            ExampleMemory::Static { module, offset } => {
                let address = loaded.address(&code.modules[*module as usize], *offset)?;
                loaded.symbols.belonging_of_static(address, access.length)
            }
            ExampleMemory::Heap { block, offset } => {
                let stack = loaded.allocation(block, code);
                let symbols = &loaded.symbols;
                Some(symbols.belonging_in_block(&stack, *offset, access.length, block.size))
            }
            ExampleMemory::Other { .. } => None,
        }
    }

    /// Why names are poorer than they could be, and what would help; for what was asked so far.
    pub fn remarks(&self) -> Vec<String> {
        let loaded = self.loaded();
        let problems = loaded.symbols.problems().into_iter().map(|problem| {
            let text = problem.to_string();
            text.strip_prefix("error: ").unwrap_or(&text).to_owned()
        });
        problems.chain(loaded.symbols.notes()).collect()
    }

    /// Sources that were compiled without hooks although their module has some; of these modules, and those asked for so far.
    pub fn without_hooks(&self, modules: &[CodeModule]) -> Vec<String> {
        let mut loaded = self.loaded();
        for module in modules {
            loaded.address(module, 0);
        }
        loaded.symbols.without_hooks()
    }

    /// Somebody who panicked while asking has left nothing half done: answers are only ever added.
    fn loaded(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Names for CodeNames {
    fn place(&self, site: CodeSite, code: &CodeBook) -> Place {
        let place = self.loaded().place(site, code);
        place.map_or_else(Place::default, |place| in_words(&place))
    }

    fn author(&self, site: CodeSite, code: &CodeBook) -> Author {
        let place = self.loaded().place(site, code).filter(|place| !place.frames.is_empty());
        let Some(place) = place else { return Author::User };
        match place.is_of_dependency() {
            None => Author::Language,
            Some(true) => Author::Dependency,
            Some(false) => Author::User,
        }
    }

    fn users_call(&self, site: CodeSite, code: &CodeBook) -> Option<UsersCall> {
        let mut loaded = self.loaded();
        let address = loaded.address(&code.modules[site.module? as usize], site.offset)?;
        let call = loaded.symbols.users_call(address)?;
        let offset = loaded.symbols.place(call.return_address).offset;
        Some(UsersCall { site: CodeSite { offset, ..site }, is_exact: call.is_exact })
    }

    fn line_text(&self, site: CodeSite, code: &CodeBook) -> Option<String> {
        let mut loaded = self.loaded();
        let place = loaded.place(site, code)?;
        loaded.symbols.line_text(&place, place.own_frame().unwrap_or(0))
    }

    fn variable(&self, access: &ExampleAccess, code: &CodeBook) -> Option<String> {
        let mut loaded = self.loaded();
        let place = loaded.place(code.sites[access.site as usize], code);
        match &access.memory {
            ExampleMemory::Static { module, offset } => {
                let address = loaded.address(&code.modules[*module as usize], *offset)?;
                let variable = loaded.symbols.variable(address, access.length, place.as_deref());
                variable.map(Variable::in_users_words)
            }
            ExampleMemory::Heap { block, offset } => {
                let stack = loaded.allocation(block, code);
                let name =
                    loaded.symbols.heap_name_of_access(&stack, *offset, access.length, block.size);
                let name = name.in_users_words();
                let field = || loaded.text_of(access, place.as_deref()?, Memory::Heap);
                match (&name.path, &name.allocated_at) {
                    (None, Some(at)) => Some(match field() {
                        Some(text) => format!("{text} (heap, allocated at {at})"),
                        None => name.to_string(),
                    }),
                    _ => Some(name.to_string()),
                }
            }
            ExampleMemory::Other { .. } => {
                loaded.text_of(access, place.as_deref()?, Memory::Unknown)
            }
        }
    }

    fn lock(&self, lock: &ExampleLock, code: &CodeBook) -> Option<String> {
        let mut loaded = self.loaded();
        let kind = kind_called(&lock.kind);
        let length = bytes_of_object(&lock.kind);
        let name = match &lock.memory {
            ExampleMemory::Static { module, offset } => {
                let address = loaded.address(&code.modules[*module as usize], *offset)?;
                let whole = loaded.symbols.variable(address, length, None);
                // Rust's are smaller than those of the C library.
                let variable = whole.or_else(|| loaded.symbols.variable(address, 1, None));
                variable?.to_string()
            }
            ExampleMemory::Heap { block, offset } => {
                let stack = loaded.allocation(block, code);
                let symbols = &loaded.symbols;
                symbols.heap_name_of_access(&stack, *offset, length, block.size).to_string()
            }
            ExampleMemory::Other { .. } => return None,
        };
        let name = without_inner_members(name);
        Some(if kind == LockKind::Rust { without_lock_word(name) } else { name })
    }
}

impl Loaded {
    /// The made-up address of an address in a module's file.
    fn address(&mut self, module: &CodeModule, offset: u64) -> Option<u64> {
        let name = if module.build_id.is_empty() { &module.path } else { &module.build_id };
        let bias = match self.biases.get(name) {
            Some(known) => *known,
            None => {
                let bias = self.enter(module);
                self.biases.insert(name.clone(), bias);
                bias
            }
        };
        bias?.checked_add(offset).filter(|_| offset < ROOM)
    }

    /// Gives a module room; none to one whose addresses make no sense.
    fn enter(&mut self, module: &CodeModule) -> Option<u64> {
        let end = module.lowest.checked_add(module.length)?;
        let bias = (self.biases.len() as u64 + 1).checked_mul(ROOM).filter(|_| end <= ROOM)?;
        self.symbols.add(ModuleInfo {
            path: PathBuf::from(&module.path),
            build_id: module.build_id.clone(),
            bias,
            start: bias + module.lowest,
            length: module.length,
        });
        Some(bias)
    }

    fn place(&mut self, site: CodeSite, code: &CodeBook) -> Option<Arc<SymbolPlace>> {
        let module = &code.modules[site.module? as usize];
        let address = self.address(module, site.offset)?;
        Some(self.symbols.place(address))
    }

    /// The call stack of an allocation, innermost first.
    fn allocation(&mut self, block: &ExampleBlock, code: &CodeBook) -> Vec<Arc<SymbolPlace>> {
        let sites = std::iter::once(&block.site).chain(block.stack.iter().rev());
        sites.filter_map(|&site| self.place(code.sites[site as usize], code)).collect()
    }

    /// What the source calls the bytes where they are accessed.
    fn text_of(
        &self,
        access: &ExampleAccess,
        place: &SymbolPlace,
        memory: Memory,
    ) -> Option<String> {
        let kind = match access.touch {
            interleaving_patterns::Touch::Read => Access::Read,
            interleaving_patterns::Touch::Write => Access::Write,
            interleaving_patterns::Touch::Free => return None,
        };
        let touch = Touch { memory, ..Touch::new(kind, access.length) };
        self.symbols.field_of_access(place, touch)
    }
}

/// The user's own code first: that is what a reader should look at.
fn in_words(place: &SymbolPlace) -> Place {
    let own = place.own_frame().unwrap_or(0);
    let mut frames = place.frames.iter().skip(own).map(frame_in_words);
    Place { frame: frames.next().unwrap_or_default(), inlined_into: frames.collect() }
}

fn frame_in_words(frame: &unpick_symbols::Frame) -> Frame {
    Frame {
        function: frame.function.clone(),
        file: frame.file.clone(),
        line: frame.line,
        column: frame.column,
    }
}
