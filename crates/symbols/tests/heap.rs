//! Heap blocks are named by what was allocated and by the user's line, whatever library stands between.

mod toolchain;

use std::sync::Arc;

use toolchain::{Compiler, Event, Recorded, Workshop, line_of};
use unpick_symbols::{HeapName, Place, Symbols};

struct Allocations {
    file: &'static str,
    text: &'static str,
    recorded: Recorded,
    symbols: Symbols,
    _files: Workshop,
}

impl Allocations {
    fn of(compiler: Compiler, file: &'static str, text: &'static str, level: &str) -> Allocations {
        let workshop = Workshop::new();
        workshop.write(file, text);
        let recorded = workshop.instrumented(compiler, file, &[level]);
        let symbols = recorded.symbols();
        Allocations { file, text, recorded, symbols, _files: workshop }
    }

    /// The names of `offset` in all blocks of `size` bytes that the marked line allocated.
    fn name(&self, mark: &str, size: u64, offset: u64) -> Vec<String> {
        let names = self.recorded.events.iter().filter_map(|event| match event {
            Event::Allocation { size: of_block, stack, .. } if *of_block == size => {
                Some(self.symbols.heap_name(&self.places(stack), offset, size))
            }
            _ => None,
        });
        let wanted = Some(format!("{}:{}", self.file, line_of(self.text, mark)));
        names
            .filter(|name: &HeapName| name.allocated_at == wanted)
            .map(|name| name.to_string())
            .collect()
    }

    fn places(&self, stack: &[u64]) -> Vec<Arc<Place>> {
        stack.iter().map(|&site| self.symbols.place(site)).collect()
    }

    fn expect(&self, mark: &str, size: u64, offset: u64, path: &str) {
        let at = format!("{}:{}", self.file, line_of(self.text, mark));
        let wanted = format!("{path} (heap, allocated at {at})");
        let names = self.name(mark, size, offset);
        assert!(names.contains(&wanted), "{wanted} is named {names:?}");
    }

    fn expect_no_type(&self, mark: &str, size: u64, offset: u64) {
        let at = format!("{}:{}", self.file, line_of(self.text, mark));
        let wanted = format!("heap block of {size} bytes allocated at {at}, +{offset}");
        assert!(self.name(mark, size, offset).contains(&wanted), "{wanted}");
    }
}

#[test]
fn blocks_of_c_are_named_by_type_and_member() {
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        if !compiler.is_here() {
            continue;
        }
        for level in ["-O0", "-O1"] {
            let found = Allocations::of(compiler, "bank.c", include_str!("programs/bank.c"), level);
            found.expect("one", 16, 8, "Account.balance");
            found.expect("one", 16, 14, "Account.opened.month");
            found.expect("bank", 16, 8, "Bank.last");
            found.expect("several", 48, 40, "Account[2].balance");
            found.expect("open end", 24, 10, "Message.text[6]");
            found.expect("typedef", 16, 8, "Point.y");
            found.expect_no_type("raw", 40, 8);
            found.expect_no_type("own allocator", 48, 8);
        }
    }
}

#[test]
fn blocks_of_cpp_are_named_through_the_standard_library() {
    for compiler in [Compiler::Gxx, Compiler::Clangxx] {
        if !compiler.is_here() {
            continue;
        }
        for level in ["-O0", "-O1"] {
            let found =
                Allocations::of(compiler, "bank.cpp", include_str!("programs/bank.cpp"), level);
            found.expect("returned", 24, 16, "Account.balance");
            found.expect("one", 24, 8, "Account.id");
            found.expect("unique", 24, 20, "Account.limit");
            found.expect("vector", 72, 64, "Account[2].balance");
            found.expect("numbers", 28, 8, "int[2]");
        }
    }
}

#[test]
fn blocks_of_rust_are_named_through_the_standard_library() {
    for level in ["-Copt-level=0", "-Copt-level=1"] {
        let found =
            Allocations::of(Compiler::Rustc, "bank.rs", include_str!("programs/bank.rs"), level);
        found.expect("boxed", 32, 8, "Account.balance");
        found.expect("boxed", 32, 24, "Account.limits.1");
        found.expect("arc", 48, 24, "bank::Account.balance");
        if level == "-Copt-level=0" {
            // Optimised, `main` calls library code that is not instrumented: its line is not on the stack.
            found.expect("vec", 96, 40, "Account[1].balance");
        }
        found.expect("in a list", 32, 8, "Account.balance");
    }
}

#[test]
fn a_block_without_a_known_stack_is_still_described() {
    let name = Symbols::load(&[]).heap_name(&[], 8, 64);
    assert_eq!(name.to_string(), "heap block of 64 bytes allocated at an unknown place, +8");
}
