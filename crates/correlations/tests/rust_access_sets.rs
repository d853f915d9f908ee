//! What syn's trees become.

use std::fs;

use unpick_correlations::access_sets::FileSets;
use unpick_correlations::access_sets::rust::read_all;

fn read(text: &str) -> (Vec<FileSets>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rs");
    fs::write(&file, text).unwrap();
    let mut missing = Vec::new();
    (read_all(&[file], &mut missing), missing)
}

fn accesses(text: &str, function: &str) -> Vec<String> {
    let (sets, missing) = read(text);
    assert_eq!(missing, Vec::<String>::new());
    let function = sets[0].functions.iter().find(|f| f.name == function).unwrap();
    let letters = |bits: u8| -> String {
        [(1, 'r'), (2, 'w'), (4, 'a')]
            .iter()
            .filter(|(bit, _)| bits & bit != 0)
            .map(|(_, letter)| *letter)
            .collect()
    };
    function
        .accesses
        .iter()
        .map(|access| {
            let under: Vec<&str> = access
                .under
                .iter()
                .map(|&n| sets[0].conditions[n as usize].text.as_str())
                .collect();
            let condition = if under.is_empty() {
                String::new()
            } else {
                format!(" if {}", under.join(" and "))
            };
            let name = &sets[0].variables[access.variable as usize];
            format!("{} {name}{condition}", letters(access.kind))
        })
        .collect()
}

const TYPES: &str = "
    struct Queue { items: Vec<u32>, length: usize, open: bool, stats: Stats }
    struct Stats { pushed: usize, length: u64 }
    struct Shared { queue: std::sync::Arc<Queue>, hits: AtomicUsize }
    static TOTAL: AtomicUsize = AtomicUsize::new(0);
";

#[test]
fn fields_of_self_of_parameters_and_of_fields() {
    let text = TYPES.to_owned()
        + "impl Queue {
            fn push(&mut self, item: u32, stats: &mut Stats) {
                self.items.push(item);
                self.length += 1;
                self.stats.pushed = stats.length as usize;
                TOTAL.fetch_add(1, Relaxed);
            }
        }";
    let expected =
        ["w Queue::items", "rw Queue::length", "r Stats::length", "w Stats::pushed", "rw TOTAL"];
    assert_eq!(accesses(&text, "Queue::push"), expected);
}

#[test]
fn a_name_that_several_types_have_is_left_out_where_the_type_is_not_told() {
    let text = TYPES.to_owned() + "fn f() { let q = somebody(); q.length = 1; q.pushed = 2; }";
    assert_eq!(accesses(&text, "f"), ["w Stats::pushed"]);
}

#[test]
fn conditions_on_flags_are_kept() {
    let text = TYPES.to_owned()
        + "fn f(q: &mut Queue) { if !q.open { q.length = 0; } else { q.items.clear(); } }";
    let expected =
        ["r Queue::open", "w Queue::length if !Queue::open", "w Queue::items if Queue::open"];
    assert_eq!(accesses(&text, "f"), expected);
}

#[test]
fn macros_with_expressions_and_generics_are_looked_into() {
    let text = TYPES.to_owned()
        + "struct Pair<T> { one: T, two: T }
           impl<T: Copy> Pair<T> { fn f(&mut self) { self.one = self.two; assert!(self.one == self.two); } }";
    let expected = ["r Pair::two", "w Pair::one", "r Pair::one", "r Pair::two"];
    assert_eq!(accesses(&text, "Pair::f"), expected);
}

#[test]
fn what_does_not_parse_is_told() {
    let (sets, missing) = read("fn f( {");
    assert!(sets.is_empty());
    assert_eq!(missing.len(), 1);
    assert!(missing[0].contains("a.rs: not read: line 1"), "{missing:?}");
}
