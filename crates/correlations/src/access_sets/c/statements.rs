//! Statements: their order, and which conditions hold in them.

use clang::{Entity, EntityKind};

use super::walk::Walker;

impl<'tu> Walker<'tu> {
    pub(super) fn statement(&mut self, statement: Entity<'tu>) {
        match statement.get_kind() {
            EntityKind::CompoundStmt => self.block(statement),
            EntityKind::IfStmt => self.branches(statement),
            EntityKind::SwitchStmt => self.switch(statement),
            EntityKind::WhileStmt
            | EntityKind::ForStmt
            | EntityKind::ForRangeStmt
            | EntityKind::DoStmt => self.repetition(statement),
            EntityKind::CaseStmt
            | EntityKind::DefaultStmt
            | EntityKind::LabelStmt
            | EntityKind::TryStmt
            | EntityKind::CatchStmt
            | EntityKind::UnexposedStmt => self.parts(statement),
            EntityKind::DeclStmt => {
                self.sets.next_statement();
                self.local_declarations(statement);
            }
            EntityKind::NullStmt => {}
            _ => {
                self.sets.next_statement();
                self.whole_expression(statement);
            }
        }
    }

    fn parts(&mut self, statement: Entity<'tu>) {
        for part in statement.get_children() {
            self.part(part);
        }
    }

    fn part(&mut self, part: Entity<'tu>) {
        if part.is_declaration() {
            self.local_declarations(part);
        } else {
            self.statement(part);
        }
    }

    fn local_declarations(&mut self, statement: Entity<'tu>) {
        for declaration in statement.get_children() {
            if declaration.is_expression() {
                self.value(declaration);
            } else if declaration.get_kind() == EntityKind::VarDecl {
                self.local_declarations(declaration);
            } else if declaration.get_kind() == EntityKind::UnexposedDecl {
                self.bind(declaration);
                self.local_declarations(declaration);
            } else {
                self.local_declaration(declaration);
            }
        }
    }

    /// What `if (!x) return;` and `case 2:` say holds for the rest of the block.
    fn block(&mut self, block: Entity<'tu>) {
        let held = self.sets.conditions_held();
        for statement in block.get_children() {
            match statement.get_kind() {
                EntityKind::CaseStmt | EntityKind::DefaultStmt => {
                    self.sets.leave_conditions(held);
                    self.case(statement);
                }
                EntityKind::IfStmt => {
                    self.statement(statement);
                    self.enter_what_is_left(statement);
                }
                _ => self.statement(statement),
            }
        }
        self.sets.leave_conditions(held);
    }

    fn enter_what_is_left(&mut self, branches: Entity<'tu>) {
        let parts = branches.get_children();
        if let [condition, then] = parts[..]
            && leaves(then)
        {
            self.enter(condition, false);
        }
    }

    fn enter(&mut self, condition: Entity<'tu>, holds: bool) {
        for (variable, text) in self.conditions_of(condition, holds) {
            self.sets.enter_condition(variable, text);
        }
    }

    fn branches(&mut self, statement: Entity<'tu>) {
        self.sets.next_statement();
        let mut parts = statement.get_children();
        // `if (auto x = f())`
        while parts
            .first()
            .is_some_and(|part| part.is_declaration() || part.get_kind() == EntityKind::DeclStmt)
        {
            let declaration = parts.remove(0);
            self.local_declarations(declaration);
        }
        let Some((&condition, bodies)) = parts.split_first() else { return };
        self.value(condition);
        let held = self.sets.conditions_held();
        for (body, holds) in bodies.iter().zip([true, false]) {
            self.enter(condition, holds);
            self.statement(*body);
            self.sets.leave_conditions(held);
        }
    }

    fn switch(&mut self, statement: Entity<'tu>) {
        self.sets.next_statement();
        let parts = statement.get_children();
        let Some((&body, before)) = parts.split_last() else { return };
        for part in before {
            if part.is_expression() { self.value(*part) } else { self.part(*part) }
        }
        let on = before.last().copied();
        self.switches.extend(on);
        self.statement(body);
        if on.is_some() {
            self.switches.pop();
        }
    }

    fn case(&mut self, statement: Entity<'tu>) {
        let parts = statement.get_children();
        let Some((&inner, labels)) = parts.split_last() else { return };
        if let (Some(&on), Some(&label)) = (self.switches.last(), labels.first())
            && let Some((variable, text)) = self.condition_of_case(on, label)
            // `case 1: case 2:` is neither.
            && inner.get_kind() != EntityKind::CaseStmt
        {
            self.sets.enter_condition(variable, text);
        }
        self.statement(inner);
    }

    fn repetition(&mut self, statement: Entity<'tu>) {
        self.sets.next_statement();
        let held = self.sets.conditions_held();
        let parts = statement.get_children();
        let is_while = statement.get_kind() == EntityKind::WhileStmt;
        for (at, &part) in parts.iter().enumerate() {
            let is_body = at + 1 == parts.len() && statement.get_kind() != EntityKind::DoStmt;
            if is_body && is_while && at == 1 {
                self.enter(parts[0], true);
            }
            if part.is_expression() && !is_body {
                self.whole_expression(part)
            } else {
                self.part(part)
            }
        }
        self.sets.leave_conditions(held);
    }
}

/// Whether control never comes to what stands behind it.
fn leaves(statement: Entity<'_>) -> bool {
    match statement.get_kind() {
        EntityKind::ReturnStmt
        | EntityKind::GotoStmt
        | EntityKind::BreakStmt
        | EntityKind::ContinueStmt => true,
        EntityKind::CompoundStmt => statement.get_children().last().copied().is_some_and(leaves),
        _ => false,
    }
}
