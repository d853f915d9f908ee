//! Structured bindings of C++: names for the fields of an object, in their order.
//!
//! Misses  objects that are taken apart by `get<0>` of their own, and those with fields in base classes.

use clang::{Entity, EntityKind};

use super::expressions::Use;
use super::walk::Walker;
use crate::access_sets::WRITTEN_HERE;

impl<'tu> Walker<'tu> {
    /// Notes which fields the names of `auto &[a, b] = object` are.
    pub(super) fn bind(&mut self, declaration: Entity<'tu>) {
        let parts = declaration.get_children();
        let names: Vec<Entity<'tu>> = parts
            .iter()
            .copied()
            .filter(|part| part.get_kind() == EntityKind::UnexposedDecl)
            .collect();
        let Some(object) = parts.last().filter(|part| part.is_expression() && !names.is_empty())
        else {
            return;
        };
        let fields = fields_of(*object);
        if fields.len() == names.len() {
            self.bindings.extend(names.into_iter().zip(fields));
        }
    }

    /// An access by another name than the field's own.
    pub(super) fn record_bound(&mut self, expression: Entity<'tu>, field: Entity<'tu>, used: Use) {
        let Some(bits) = used.bits() else { return };
        let Some(variable) = self.names.variable(field, &mut self.sets) else { return };
        let at = expression.get_location().map(|location| location.get_file_location());
        let at = at.map_or((0, 0), |at| (at.line, at.column));
        self.sets.access(variable, bits, at, WRITTEN_HERE);
    }
}

/// The fields of an object, in order.
fn fields_of(object: Entity<'_>) -> Vec<Entity<'_>> {
    let of = object.get_type().map(|of| of.get_canonical_type());
    let record = of.and_then(|of| of.get_declaration());
    let parts = record.map(|record| record.get_children()).unwrap_or_default();
    parts.into_iter().filter(|part| part.get_kind() == EntityKind::FieldDecl).collect()
}
