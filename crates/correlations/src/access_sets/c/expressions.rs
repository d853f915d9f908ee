//! Expressions: which variables they read, write, or give away.

use clang::{Entity, EntityKind, TypeKind};

use super::walk::Walker;
use crate::access_sets::kind;

/// What becomes of an expression's value or place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Read,
    Write,
    /// Read, then written: `x += 1`, a method that may change its object.
    Update,
    /// Its address goes elsewhere.
    Address,
    /// Only the way to something else: `a` and `b` of `a->b->c`. It is no access: it would go with everything behind it.
    Reach,
}

impl Use {
    pub fn bits(self) -> Option<u8> {
        match self {
            Self::Read => Some(kind::READ),
            Self::Write => Some(kind::WRITE),
            Self::Update => Some(kind::READ | kind::WRITE),
            Self::Address => Some(kind::ADDRESS),
            Self::Reach => None,
        }
    }
}

impl<'tu> Walker<'tu> {
    pub(super) fn value(&mut self, expression: Entity<'tu>) {
        self.expression(expression, Use::Read, false);
    }

    /// An expression that is a statement: if it has two operands, it is an assignment, even where a macro hides the sign.
    pub(super) fn whole_expression(&mut self, expression: Entity<'tu>) {
        self.expression(expression, Use::Read, true);
    }

    /// `Type() : field(value)`
    pub(super) fn initialised(&mut self, field: Entity<'tu>) {
        if let Some(declaration) = field.get_reference() {
            self.record(field, declaration, Use::Write);
        }
    }

    pub(super) fn expression(&mut self, expression: Entity<'tu>, used: Use, is_whole: bool) {
        match expression.get_kind() {
            EntityKind::MemberRefExpr => self.member(expression, used),
            EntityKind::DeclRefExpr => {
                if let Some(declaration) = expression.get_reference() {
                    self.named(expression, declaration, used);
                }
            }
            EntityKind::BinaryOperator => self.operation(expression, used, is_whole),
            EntityKind::CompoundAssignOperator => {
                self.operands(expression, Use::Update, Use::Read);
            }
            EntityKind::UnaryOperator => self.unary(expression, used),
            EntityKind::ArraySubscriptExpr => self.operands(expression, used, Use::Read),
            EntityKind::CallExpr => self.call(expression, used),
            EntityKind::ConditionalOperator => {
                for (at, part) in expression.get_children().into_iter().enumerate() {
                    self.expression(part, if at == 0 { Use::Read } else { used }, false);
                }
            }
            EntityKind::UnexposedExpr
            | EntityKind::ParenExpr
            | EntityKind::CStyleCastExpr
            | EntityKind::StaticCastExpr
            | EntityKind::ConstCastExpr
            | EntityKind::ReinterpretCastExpr
            | EntityKind::DynamicCastExpr => {
                let parts = expression.get_children();
                if parts.len() > 1 && self.atomic(expression, &parts) {
                    return;
                }
                for part in parts {
                    self.expression(part, used, is_whole);
                }
            }
            EntityKind::IntegerLiteral
            | EntityKind::StringLiteral
            | EntityKind::CharacterLiteral
            | EntityKind::FloatingLiteral
            | EntityKind::ThisExpr
            // `sizeof x` reads nothing.
            | EntityKind::UnaryExpr => {}
            _ => self.others(expression),
        }
    }

    /// Lambdas, statement expressions, initialisers, `return`, `new`, …: all their values are read.
    fn others(&mut self, expression: Entity<'tu>) {
        for part in expression.get_children() {
            if part.get_kind() == EntityKind::CompoundStmt {
                self.statement(part);
            } else if part.is_expression() || part.is_statement() {
                self.value(part);
            }
        }
    }

    fn operands(&mut self, expression: Entity<'tu>, left: Use, right: Use) {
        for (part, used) in expression.get_children().into_iter().zip([left, right]) {
            self.expression(part, used, false);
        }
    }

    fn operation(&mut self, expression: Entity<'tu>, used: Use, is_whole: bool) {
        let operands = expression.get_children();
        let [left, right] = operands[..] else { return };
        match self.texts.between(left, right).as_deref() {
            Some("=") => self.operands(expression, Use::Write, Use::Read),
            Some(",") => {
                self.whole_expression(left);
                self.expression(right, used, is_whole);
            }
            None if is_whole => self.operands(expression, Use::Write, Use::Read),
            _ => self.operands(expression, Use::Read, Use::Read),
        }
    }

    fn unary(&mut self, expression: Entity<'tu>, used: Use) {
        let Some(operand) = expression.get_child(0) else { return };
        let used = match self.texts.unary(expression) {
            Some((sign, _)) if sign == "&" => Use::Address,
            // What a field points to is the field's, as with arrays.
            Some((sign, _)) if sign == "*" => return self.through_address(operand, used),
            Some((sign, _)) if sign == "++" || sign == "--" => Use::Update,
            _ => Use::Read,
        };
        // `&a->b->c` gives away c, and `&(*p)` nothing.
        self.expression(operand, used, false);
    }

    /// A variable, or a name for a part of one: `auto [a, b] = pair`.
    fn named(&mut self, expression: Entity<'tu>, declaration: Entity<'tu>, used: Use) {
        if declaration.get_kind() == EntityKind::VarDecl {
            self.record(expression, declaration, used);
        } else if let Some(field) = self.bindings.get(&declaration).copied() {
            self.record_bound(expression, field, used);
        }
    }

    fn member(&mut self, expression: Entity<'tu>, used: Use) {
        // In a template whose parameters decide what it is, a member is known by its name, if only one type has one.
        let by_name = || self.texts.last_word(expression).and_then(|name| self.names.field(&name));
        let declaration = expression.get_reference().or_else(by_name);
        let base = expression.get_child(0).filter(|base| base.is_expression());
        match declaration.map(|declaration| (declaration.get_kind(), declaration)) {
            Some((EntityKind::FieldDecl | EntityKind::VarDecl, declaration)) => {
                self.record(expression, declaration, used);
                if let Some(base) = base {
                    self.expression(base, Use::Reach, false);
                }
            }
            // Called on an object, which it may change.
            Some((EntityKind::Method | EntityKind::ConversionFunction, method)) => {
                if let Some(base) = base {
                    let used = if method.is_const_method() { Use::Read } else { Use::Update };
                    let used = if is_pointer(base) { Use::Reach } else { used };
                    self.expression(base, used, false);
                }
            }
            _ => {
                if let Some(base) = base {
                    self.expression(base, Use::Reach, false);
                }
            }
        }
    }

    fn call(&mut self, expression: Entity<'tu>, used: Use) {
        let callee = expression.get_reference();
        if let Some(callee) = callee {
            let key = self.names.function_key(callee);
            self.sets.call(key);
        }
        let parts = expression.get_children();
        let operator =
            callee.and_then(|callee| callee.get_name()).filter(|name| name.starts_with("operator"));
        match operator {
            Some(operator) => self.overloaded(&operator, callee, &parts, used),
            None if self.old_atomic(callee, &parts) => {}
            None => self.plain_call(callee, &parts),
        }
    }

    /// `__sync_fetch_and_add(&x, 1)` and its like are functions, as the compiler has them.
    fn old_atomic(&mut self, callee: Option<Entity<'tu>>, parts: &[Entity<'tu>]) -> bool {
        let name = callee.and_then(|callee| callee.get_name());
        let is_old = name.is_some_and(|name| name.starts_with("__sync_"));
        is_old && parts.first().is_some_and(|&callee| self.atomic(callee, &parts[1..]))
    }

    fn plain_call(&mut self, callee: Option<Entity<'tu>>, parts: &[Entity<'tu>]) {
        let is_constructor = callee.is_some_and(|of| of.get_kind() == EntityKind::Constructor);
        for (at, &part) in parts.iter().enumerate() {
            if at == 0 && !is_constructor {
                self.value(part);
            } else {
                self.argument(part);
            }
        }
    }

    /// Without a conversion around it an argument is a place, not a value: it is passed by reference.
    fn argument(&mut self, argument: Entity<'tu>) {
        let is_place = matches!(
            argument.get_kind(),
            EntityKind::MemberRefExpr | EntityKind::DeclRefExpr | EntityKind::ArraySubscriptExpr
        );
        let is_constant = || argument.get_type().is_some_and(|of| of.is_const_qualified());
        let used = if is_array(argument) || (is_place && !is_constant()) {
            Use::Address
        } else {
            Use::Read
        };
        self.expression(argument, used, false);
    }

    /// `a = b`, `a[i]`, `a->` of classes: the object comes first, then the operator, then what it is given.
    fn overloaded(
        &mut self,
        operator: &str,
        callee: Option<Entity<'tu>>,
        parts: &[Entity<'tu>],
        used: Use,
    ) {
        let changes =
            callee.is_some_and(|of| of.get_kind() == EntityKind::Method && !of.is_const_method());
        let object_use = match operator {
            "operator=" => Use::Write,
            "operator->" | "operator*" => Use::Reach,
            "operator[]" => used,
            _ if changes => Use::Update,
            _ => Use::Read,
        };
        for (at, &part) in parts.iter().enumerate() {
            self.expression(part, if at == 0 { object_use } else { Use::Read }, false);
        }
    }

    fn record(&mut self, expression: Entity<'tu>, declaration: Entity<'tu>, used: Use) {
        let Some(bits) = used.bits() else { return };
        let Some(variable) = self.names.variable(declaration, &mut self.sets) else { return };
        let (at, origin) = self.position_of(expression, variable);
        self.sets.access(variable, bits, at, origin);
    }
}

fn is_pointer(expression: Entity<'_>) -> bool {
    expression.get_type().is_some_and(|of| of.get_canonical_type().get_kind() == TypeKind::Pointer)
}

/// A whole array as an argument is its address, under the conversion that makes it so.
fn is_array(argument: Entity<'_>) -> bool {
    let inner = match argument.get_kind() {
        EntityKind::UnexposedExpr => argument.get_child(0),
        _ => Some(argument),
    };
    inner
        .and_then(|inner| inner.get_type())
        .is_some_and(|of| of.get_canonical_type().get_kind() == TypeKind::ConstantArray)
        && inner.is_some_and(|inner| inner.get_kind() != EntityKind::StringLiteral)
}
