//! Which locks the current thread says it holds, by name, for `Breakpoint::lock_held`.

use std::cell::RefCell;

thread_local! {
    static HELD: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// While it lives, the thread counts as holding a lock of this name. Made by [`holding!`](crate::holding).
#[must_use = "the lock counts as held while this lives"]
#[derive(Debug)]
pub struct Holding {
    name: &'static str,
    /// It speaks for one thread and must stay there.
    _stays: std::marker::PhantomData<*const ()>,
}

impl Holding {
    #[doc(hidden)]
    pub fn begin(name: &'static str) -> Self {
        // A thread that is being taken down holds what it likes.
        let _ = HELD.try_with(|held| held.borrow_mut().push(name));
        Self { name, _stays: std::marker::PhantomData }
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        let _ = HELD.try_with(|held| {
            let mut held = held.borrow_mut();
            if let Some(at) = held.iter().rposition(|name| *name == self.name) {
                held.remove(at);
            }
        });
    }
}

pub fn is_held(name: &str) -> bool {
    HELD.try_with(|held| held.borrow().contains(&name)).unwrap_or(false)
}
