//! What methods of the standard library do to their object.

use crate::access_sets::kind;

const WRITING: [&str; 33] = [
    "store",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "insert",
    "remove",
    "clear",
    "extend",
    "truncate",
    "append",
    "drain",
    "retain",
    "resize",
    "reserve",
    "sort",
    "sort_by",
    "sort_by_key",
    "sort_unstable",
    "reverse",
    "swap_remove",
    "set",
    "fill",
    "dedup",
    "write_all",
    "write_str",
    "iter_mut",
    "get_mut",
    "as_mut",
    "entry",
    "get_or_insert_with",
    "copy_from_slice",
    "rotate_left",
];

const UPDATING: [&str; 18] = [
    "pop",
    "pop_back",
    "pop_front",
    "take",
    "replace",
    "swap",
    "fetch_add",
    "fetch_sub",
    "fetch_or",
    "fetch_and",
    "fetch_xor",
    "fetch_max",
    "fetch_min",
    "fetch_update",
    "compare_exchange",
    "compare_exchange_weak",
    "compare_and_swap",
    "update",
];

/// Names after which it is the object behind that counts.
const PASSING: [&str; 14] = [
    "lock",
    "borrow",
    "borrow_mut",
    "read",
    "write",
    "unwrap",
    "expect",
    "as_ref",
    "as_deref",
    "iter",
    "deref",
    "get",
    "clone",
    "load",
];

/// The accesses that a method makes to the field it is called on.
pub fn kind_of(method: &str) -> u8 {
    if UPDATING.contains(&method) {
        kind::READ | kind::WRITE
    } else if WRITING.contains(&method) {
        kind::WRITE
    } else {
        kind::READ
    }
}

/// Whether what is done to the result is done to the object: `self.state.lock().unwrap().count = 1`.
pub fn passes_on(method: &str) -> bool {
    PASSING.contains(&method)
}
