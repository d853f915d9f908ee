//! What syn's trees become.

mod rust_support;

use rust_support::{accesses, read};

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

#[test]
fn a_function_that_does_not_parse_takes_nothing_else_with_it() {
    let text = "struct Queue { length: usize, open: bool }
fn whole(q: &mut Queue) {
    q.length = 1;
}
fn broken(q: &mut Queue) {
    q.length = ;
}
impl Queue {
    fn torn(&self) {
        if self.open {
    }
    fn sound(&mut self) {
        self.open = true;
    }
}
fn last(q: &Queue) -> usize { q.length }
";
    let (sets, missing) = read(text);
    let names: Vec<(&str, u32)> =
        sets[0].functions.iter().map(|one| (one.name.as_str(), one.line)).collect();
    assert_eq!(names, [("whole", 2), ("Queue::sound", 12), ("last", 16)]);
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert!(missing[0].contains("2 of 7 parts of it not read"), "{missing:?}");
}

#[test]
fn functions_by_one_name_are_all_kept_and_called_where_they_are() {
    let text = "struct Queue { length: usize, open: bool }
        mod one { fn set(q: &mut Queue) { q.length = 1; } }
        mod two { fn set(q: &mut Queue) { q.open = true; } }
        fn only() {} fn f() { only(); set(); }";
    let (sets, _) = read(text);
    let keys: Vec<u64> = sets[0].functions.iter().map(|one| one.key).collect();
    assert_ne!(keys[0], keys[1]);
    let called: Vec<u64> = sets[0].functions[3].calls.iter().map(|call| call.callee).collect();
    assert_eq!(called[0], keys[2]);
    assert!(!keys.contains(&called[1]), "nobody knows which");
}
