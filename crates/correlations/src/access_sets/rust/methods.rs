//! What methods of the standard library do to their object, where nothing better is known.

use crate::access_sets::kind;

const WRITING: [&str; 42] = [
    "store",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "insert",
    "insert_str",
    "remove",
    "clear",
    "extend",
    "extend_from_slice",
    "truncate",
    "append",
    "drain",
    "retain",
    "retain_mut",
    "resize",
    "resize_with",
    "reserve",
    "sort",
    "sort_by",
    "sort_by_key",
    "sort_unstable",
    "sort_unstable_by",
    "sort_unstable_by_key",
    "reverse",
    "swap_remove",
    "set",
    "fill",
    "dedup",
    "write_all",
    "write_str",
    "iter_mut",
    "values_mut",
    "get_mut",
    "last_mut",
    "first_mut",
    "as_mut",
    "entry",
    "get_or_insert_with",
    "copy_from_slice",
    "rotate_left",
];

const UPDATING: [&str; 22] = [
    "pop",
    "pop_back",
    "pop_front",
    "pop_first",
    "pop_last",
    "take",
    "replace",
    "swap",
    "split_off",
    "fetch_add",
    "fetch_sub",
    "fetch_or",
    "fetch_and",
    "fetch_xor",
    "fetch_nand",
    "fetch_max",
    "fetch_min",
    "fetch_update",
    "compare_exchange",
    "compare_exchange_weak",
    "compare_and_swap",
    "update",
];

/// Names after which it is the object behind that counts: what they give refers to it.
const REFERRING: [&str; 20] = [
    "lock",
    "try_lock",
    "borrow",
    "borrow_mut",
    "read",
    "write",
    "unwrap",
    "expect",
    "unwrap_or_else",
    "as_ref",
    "as_mut",
    "as_deref",
    "as_deref_mut",
    "iter",
    "iter_mut",
    "get_mut",
    "values_mut",
    "last_mut",
    "deref",
    "deref_mut",
];

/// The same, but what they give is a value of its own.
const COPYING: [&str; 7] = ["get", "clone", "load", "first", "last", "values", "into_inner"];

/// Names of what looks into a collection.
const LOOKING_IN: [&str; 29] = [
    "iter",
    "iter_mut",
    "into_iter",
    "values",
    "values_mut",
    "into_values",
    "get",
    "get_mut",
    "first",
    "first_mut",
    "last",
    "last_mut",
    "pop",
    "pop_back",
    "pop_front",
    "pop_first",
    "pop_last",
    "remove",
    "swap_remove",
    "drain",
    "entry",
    "front",
    "front_mut",
    "back",
    "back_mut",
    "peek",
    "peek_mut",
    "chunks",
    "next",
];

/// Names of what gives a value of the same kind, or the same one.
const KEEPING: [&str; 22] = [
    "or_default",
    "or_insert",
    "or_insert_with",
    "or_insert_with_key",
    "unwrap_or",
    "unwrap_or_default",
    "take",
    "replace",
    "upgrade",
    "get_or_init",
    "get_or_insert_with",
    "filter",
    "rev",
    "skip",
    "take_while",
    "skip_while",
    "find",
    "max_by_key",
    "min_by_key",
    "cloned",
    "copied",
    "ok",
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
    refers(method) || COPYING.contains(&method)
}

/// Whether the result can be kept to change the object later: `let mut count = self.count.lock().unwrap();`.
pub fn refers(method: &str) -> bool {
    REFERRING.contains(&method)
}

/// What the result of a method is, by type.
pub enum Gives {
    /// What its object holds.
    Inside,
    /// What its object is.
    Same,
    Unknown,
}

pub fn gives(method: &str) -> Gives {
    if LOOKING_IN.contains(&method) {
        Gives::Inside
    } else if passes_on(method) || KEEPING.contains(&method) {
        Gives::Same
    } else {
        Gives::Unknown
    }
}
