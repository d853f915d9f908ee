//! The symbol tables of a module: names for code and data where there is no debug info.
//!
//! Takes   `.symtab` and `.dynsym` of the module, and of its separate debug file.
//! Gives   function and object by address; whether the module was instrumented.
//! Misses  symbols without a size (hand-written assembly), so that no name reaches further than its thing.

use object::{Object, ObjectSymbol, SymbolKind};

use crate::elf_file::ElfFile;

/// Prefix of every hook the compilers call.
const HOOK_PREFIX: &str = "__tsan_";

/// A function or object of the symbol table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub address: u64,
    pub size: u64,
    /// As the linker knows it.
    pub name: String,
}

/// Symbols by address.
#[derive(Default)]
pub struct SymbolTable {
    functions: Vec<Symbol>,
    objects: Vec<Symbol>,
    pub instrumented: bool,
}

impl SymbolTable {
    pub fn read<'a>(files: impl IntoIterator<Item = &'a ElfFile>) -> SymbolTable {
        let mut table = SymbolTable::default();
        for object in files.into_iter().filter_map(ElfFile::object) {
            for symbol in object.symbols().chain(object.dynamic_symbols()) {
                table.add(&symbol);
            }
        }
        sort_by_address(&mut table.functions);
        sort_by_address(&mut table.objects);
        table
    }

    fn add<'a>(&mut self, symbol: &impl ObjectSymbol<'a>) {
        let Ok(name) = symbol.name() else { return };
        self.instrumented |= name.starts_with(HOOK_PREFIX);
        if symbol.is_undefined() || symbol.size() == 0 {
            return;
        }
        let list = match symbol.kind() {
            SymbolKind::Text => &mut self.functions,
            SymbolKind::Data => &mut self.objects,
            _ => return, // thread-locals among them: their value is no address
        };
        let name = name.to_owned();
        list.push(Symbol { address: symbol.address(), size: symbol.size(), name });
    }

    pub fn function(&self, address: u64) -> Option<&Symbol> {
        containing(&self.functions, address)
    }

    /// Where functions begin, in ascending order.
    pub fn starts(&self) -> impl Iterator<Item = u64> {
        self.functions.iter().map(|function| function.address)
    }

    pub fn begins_at(&self, address: u64) -> bool {
        self.functions.binary_search_by_key(&address, |function| function.address).is_ok()
    }

    pub fn object(&self, address: u64) -> Option<&Symbol> {
        containing(&self.objects, address)
    }
}

fn sort_by_address(symbols: &mut Vec<Symbol>) {
    // Of several names for one thing keep the largest, then the shortest without leading underscores.
    symbols.sort_by(|a, b| {
        let rank =
            |s: &Symbol| (s.address, u64::MAX - s.size, s.name.starts_with('_'), s.name.len());
        rank(a).cmp(&rank(b)).then_with(|| a.name.cmp(&b.name))
    });
    symbols.dedup_by_key(|symbol| symbol.address);
}

fn containing(symbols: &[Symbol], address: u64) -> Option<&Symbol> {
    let after = symbols.partition_point(|symbol| symbol.address <= address);
    let symbol = symbols.get(after.checked_sub(1)?)?;
    (address - symbol.address < symbol.size).then_some(symbol)
}
