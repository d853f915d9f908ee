//! Conditions on one variable, in words that are the same wherever they are tested.

use clang::{Entity, EntityKind};

use super::walk::Walker;

/// A variable and what holds of it.
pub type Condition = (u32, String);

impl<'tu> Walker<'tu> {
    /// What is known where `expression` is true, or false.
    pub fn conditions_of(&mut self, expression: Entity<'tu>, holds: bool) -> Vec<Condition> {
        let expression = bare(expression);
        match expression.get_kind() {
            EntityKind::UnaryOperator => {
                let is_not = self.texts.unary(expression).is_some_and(|(sign, _)| sign == "!");
                match (is_not, expression.get_child(0)) {
                    (true, Some(operand)) => self.conditions_of(operand, !holds),
                    _ => Vec::new(),
                }
            }
            EntityKind::BinaryOperator => self.conditions_of_comparison(expression, holds),
            _ => self
                .variable_of(expression)
                .map(|variable| vec![(variable, self.flag(variable, holds))])
                .unwrap_or_default(),
        }
    }

    /// That `expression`, if it is a variable, has the value that `constant` writes.
    pub fn condition_of_case(
        &mut self,
        expression: Entity<'tu>,
        constant: Entity<'tu>,
    ) -> Option<Condition> {
        let variable = self.variable_of(bare(expression))?;
        let value = self.texts.constant(constant)?;
        Some((variable, format!("{} == {value}", self.sets.name_of(variable))))
    }

    fn conditions_of_comparison(&mut self, expression: Entity<'tu>, holds: bool) -> Vec<Condition> {
        let operands = expression.get_children();
        let [left, right] = operands[..] else { return Vec::new() };
        let sign = self.texts.between(left, right).unwrap_or_default();
        match (sign.as_str(), holds) {
            ("&&", true) | ("||", false) => {
                let mut both = self.conditions_of(left, holds);
                both.extend(self.conditions_of(right, holds));
                both
            }
            ("==" | "!=" | "<" | ">" | "<=" | ">=" | "&", _) => {
                self.conditions_of_value(left, &sign, right, holds)
            }
            _ => Vec::new(),
        }
    }

    fn conditions_of_value(
        &mut self,
        left: Entity<'tu>,
        sign: &str,
        right: Entity<'tu>,
        holds: bool,
    ) -> Vec<Condition> {
        let Some(value) = self.texts.constant(right) else { return Vec::new() };
        let is_zero = matches!(value.as_str(), "0" | "NULL" | "nullptr" | "false");
        match sign {
            "==" if is_zero => return self.conditions_of(left, !holds),
            "!=" if is_zero => return self.conditions_of(left, holds),
            _ => {}
        }
        let Some(variable) = self.variable_of(bare(left)) else { return Vec::new() };
        let name = self.sets.name_of(variable);
        let text = match (sign, holds) {
            ("&", true) => format!("{name} & {value}"),
            ("&", false) => format!("!({name} & {value})"),
            (sign, true) => format!("{name} {sign} {value}"),
            (sign, false) => format!("{name} {} {value}", opposite(sign)),
        };
        vec![(variable, text)]
    }

    fn flag(&self, variable: u32, holds: bool) -> String {
        let name = self.sets.name_of(variable);
        if holds { name.to_owned() } else { format!("!{name}") }
    }

    fn variable_of(&mut self, expression: Entity<'tu>) -> Option<u32> {
        let is_variable =
            matches!(expression.get_kind(), EntityKind::MemberRefExpr | EntityKind::DeclRefExpr);
        let declaration = is_variable.then(|| expression.get_reference())??;
        self.names.variable(declaration, &mut self.sets)
    }
}

fn opposite(sign: &str) -> &'static str {
    match sign {
        "==" => "!=",
        "!=" => "==",
        "<" => ">=",
        ">" => "<=",
        "<=" => ">",
        _ => "<",
    }
}

/// Without brackets and without what the compiler adds.
fn bare(mut expression: Entity<'_>) -> Entity<'_> {
    while matches!(expression.get_kind(), EntityKind::ParenExpr | EntityKind::UnexposedExpr) {
        match expression.get_child(0) {
            Some(inner) => expression = inner,
            None => break,
        }
    }
    expression
}
