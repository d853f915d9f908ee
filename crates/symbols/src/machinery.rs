//! Tells what a language's library does for itself from what it does with the user's data.
//!
//! Takes   the place of an access.      Gives  whether it is to state of the library: counts of an `Arc` or `shared_ptr`, poison
//!         flags, what a thread is started with, channels.
//! Misses  what other libraries keep for themselves.
//! Invents nothing about containers: the elements of a `Vec` or a `std::map` are the user's.

use crate::place::Place;

/// Code that works on whatever it is given: who called it decides.
const TRANSPARENT: [&str; 8] = [
    "core::",
    "alloc::",
    "hashbrown::",
    "__rustc::",
    "__gnu_cxx::",
    "std::atomic",
    "std::__atomic_base",
    "operator ",
];

const MACHINERY: [&str; 17] = [
    "alloc::sync::",
    "parking_lot::",
    "parking_lot_core::",
    "lock_api::",
    "std::io::stdio::",
    "std::panic::",
    "std::panicking::",
    "std::rt::",
    "std::sync::",
    "std::sys::",
    "std::thread::",
    // C++
    "std::_Sp_counted",
    "std::__shared_count",
    "std::__weak_count",
    "std::__future_base",
    "std::mutex",
    "std::condition_variable",
];

/// Whose state an access is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    Users,
    Librarys,
    /// Only a caller that was not inlined would tell.
    Unknown,
}

/// Destroys a value of any type, for whoever owned it.
const DESTRUCTION: &str = "core::ptr::drop_in_place<";

/// Decided by the innermost function that does not just work on what it is given. What a library destroys is not its own by that: the last
/// owner of an `Arc` destroys what the user put into it.
pub fn whose(place: &Place) -> Whose {
    let names = place.frames.iter().filter_map(|frame| frame.function.as_deref());
    let own = names.take_while(|name| !name.starts_with(DESTRUCTION));
    own.map(of_function).find(|whose| *whose != Whose::Unknown).unwrap_or(Whose::Unknown)
}

fn of_function(function: &str) -> Whose {
    // `<alloc::sync::Arc<T> as core::ops::drop::Drop>::drop`
    let name = function.trim_start_matches(['<', '&']);
    let is_among = |known: &[&str]| known.iter().any(|path| name.starts_with(path));
    if is_among(&MACHINERY) {
        Whose::Librarys
    } else if is_among(&TRANSPARENT) {
        Whose::Unknown
    } else {
        Whose::Users
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Frame;

    fn of(functions: &[&str]) -> Whose {
        let frames = functions
            .iter()
            .map(|function| Frame { function: Some((*function).to_owned()), ..Frame::default() });
        whose(&Place { frames: frames.collect(), ..Place::default() })
    }

    #[test]
    fn counts_of_an_arc_are_the_librarys() {
        let drop = "<alloc::sync::Arc<bank::Account> as core::ops::drop::Drop>::drop";
        assert_eq!(of(&["core::sync::atomic::AtomicUsize::fetch_sub", drop]), Whose::Librarys);
        assert_eq!(of(&["std::_Sp_counted_base<2>::_M_release", "main"]), Whose::Librarys);
    }

    #[test]
    fn atomics_and_elements_are_the_users() {
        let load = "core::sync::atomic::AtomicU64::load";
        assert_eq!(of(&[load, "bank::Bank::total"]), Whose::Users);
        assert_eq!(of(&["alloc::vec::Vec<u32>::push", "bank::Bank::log"]), Whose::Users);
        assert_eq!(of(&["std::vector<int>::push_back", "bank::log"]), Whose::Users);
    }

    #[test]
    fn what_an_arc_destroys_is_not_the_librarys_by_that() {
        let drop_slow = "<alloc::sync::Arc<bank::Queue>>::drop_slow";
        let destroyed = "core::ptr::drop_in_place<bank::Queue>";
        let deque = "<alloc::collections::VecDeque<u32> as core::ops::drop::Drop>::drop";
        assert_eq!(of(&[deque, destroyed, drop_slow]), Whose::Unknown);
        assert_eq!(of(&[drop_slow]), Whose::Librarys);
    }

    #[test]
    fn where_nothing_was_inlined_nothing_is_known() {
        assert_eq!(of(&["core::ptr::drop_in_place<std::thread::Packet>"]), Whose::Unknown);
        assert_eq!(of(&[]), Whose::Unknown);
    }
}
