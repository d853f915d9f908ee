//! Atomic operations of C, and other ways to a variable through its address: `atomic_store(&s->ready, 1)`, `*(volatile int *) &x`.

use clang::{Entity, EntityKind};

use super::expressions::Use;
use super::walk::Walker;

/// With what the names of atomic operations begin.
const ATOMIC: [&str; 4] = ["__atomic_", "__c11_atomic_", "atomic_", "__sync_"];

/// What an atomic operation does to what it is given the address of, by its name.
pub fn atomic_use(name: &str) -> Option<Use> {
    let deed = ATOMIC.iter().find_map(|beginning| name.strip_prefix(beginning))?;
    Some(match deed {
        _ if deed.starts_with("load") => Use::Read,
        _ if ["store", "init", "clear", "flag_clear", "lock_release"]
            .iter()
            .any(|one| deed.starts_with(one)) =>
        {
            Use::Write
        }
        _ if ["thread_fence", "signal_fence", "is_lock_free", "synchronize"].contains(&deed) => {
            return None;
        }
        _ => Use::Update,
    })
}

impl<'tu> Walker<'tu> {
    /// An atomic operation, which libclang has no name for: the object's address comes first.
    pub(super) fn atomic(&mut self, expression: Entity<'tu>, parts: &[Entity<'tu>]) -> bool {
        let [pointer, values @ ..] = parts else { return false };
        let used = self.texts.first_word(expression).and_then(|name| atomic_use(&name));
        let (Some(used), false) = (used, values.is_empty()) else { return false };
        self.through_address(*pointer, used);
        values.iter().for_each(|&value| self.value(value));
        true
    }

    /// What a pointer leads to: `x` of `&x`, else what the pointer's own variable has behind it.
    pub(super) fn through_address(&mut self, pointer: Entity<'tu>, used: Use) {
        match self.addressed(pointer) {
            Some(place) => self.expression(place, used, false),
            None => self.expression(pointer, used, false),
        }
    }

    /// `x` of `&x`, under brackets and conversions.
    pub(super) fn addressed(&mut self, pointer: Entity<'tu>) -> Option<Entity<'tu>> {
        match pointer.get_kind() {
            EntityKind::UnexposedExpr
            | EntityKind::ParenExpr
            | EntityKind::CStyleCastExpr
            | EntityKind::StaticCastExpr
            | EntityKind::ConstCastExpr
            | EntityKind::ReinterpretCastExpr => {
                let mut inner = pointer.get_children().into_iter().filter(Entity::is_expression);
                let only = inner.next().filter(|_| inner.next().is_none())?;
                self.addressed(only)
            }
            EntityKind::UnaryOperator => {
                let is_address = self.texts.unary(pointer).is_some_and(|(sign, _)| sign == "&");
                is_address.then(|| pointer.get_child(0)).flatten()
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_done() {
        assert_eq!(atomic_use("__atomic_load_n"), Some(Use::Read));
        assert_eq!(atomic_use("atomic_store_explicit"), Some(Use::Write));
        assert_eq!(atomic_use("__c11_atomic_compare_exchange_strong"), Some(Use::Update));
        assert_eq!(atomic_use("__sync_fetch_and_add"), Some(Use::Update));
        assert_eq!(atomic_use("atomic_flag_clear"), Some(Use::Write));
        assert_eq!(atomic_use("atomic_thread_fence"), None);
        assert_eq!(atomic_use("load"), None);
    }
}
