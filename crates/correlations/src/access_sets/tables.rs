//! Puts together what a reader sees, in the order in which it sees it.

use std::collections::HashMap;

use super::{Access, Call, ConditionText, FileSets, FunctionSet, Statement};

/// Conditions around an access that are kept: those further out say little about it.
const CONDITIONS_KEPT: usize = 4;

/// Numbers for names, and the function that is being read.
#[derive(Default)]
pub struct SetsBuilder {
    sets: FileSets,
    variables: HashMap<String, u32>,
    files: HashMap<String, u32>,
    conditions: HashMap<ConditionText, u32>,
    under: Vec<u32>,
    statements: StatementCounter,
    function: Option<FunctionSet>,
}

/// Counts statements of a function.
#[derive(Default, Clone, Copy)]
pub struct StatementCounter(u32);

impl StatementCounter {
    fn next(&mut self) {
        self.0 += 1;
    }
}

impl SetsBuilder {
    pub fn variable(&mut self, name: &str) -> u32 {
        numbered(&mut self.variables, &mut self.sets.variables, name)
    }

    pub fn file(&mut self, path: &str) -> u32 {
        numbered(&mut self.files, &mut self.sets.files, path)
    }

    /// From here to [`Self::end_function`] everything belongs to this function; one inside another
    /// belongs to the outer one.
    pub fn begin_function(
        &mut self,
        key: u64,
        name: String,
        file: u32,
        line: u32,
        is_life: bool,
    ) -> bool {
        if self.function.is_some() {
            return false;
        }
        self.statements = StatementCounter::default();
        self.under.clear();
        let (accesses, calls, statements) = Default::default();
        let function = FunctionSet { key, name, file, line, accesses, calls, is_life, statements };
        self.function = Some(function);
        true
    }

    pub fn end_function(&mut self) {
        self.sets.functions.extend(self.function.take());
    }

    pub fn next_statement(&mut self) {
        self.statements.next();
    }

    /// The same for a statement whose place is kept.
    pub fn next_statement_at(&mut self, line: u32) {
        self.next_statement();
        let under = self.conditions_kept();
        if let Some(function) = &mut self.function {
            function.statements.push(Statement { line, under });
        }
    }

    fn conditions_kept(&self) -> Vec<u32> {
        let from = self.under.len().saturating_sub(CONDITIONS_KEPT);
        self.under[from..].to_vec()
    }

    /// An access at a line and column.
    pub fn access(&mut self, variable: u32, kind: u8, (line, column): (u32, u32), origin: u32) {
        let under = self.conditions_kept();
        let statement = self.statements.0;
        if let Some(function) = &mut self.function {
            let access = Access { variable, kind, line, column, statement, origin, under };
            function.accesses.push(access);
        }
    }

    pub fn call(&mut self, callee: u64) {
        let statement = self.statements.0;
        if let Some(function) = &mut self.function {
            function.calls.push(Call { callee, statement });
        }
    }

    /// How many conditions hold now; to be given to [`Self::leave_conditions`].
    pub fn conditions_held(&self) -> usize {
        self.under.len()
    }

    pub fn enter_condition(&mut self, variable: u32, text: String) {
        let condition = ConditionText { variable, text };
        let number = match self.conditions.get(&condition) {
            Some(&number) => number,
            None => {
                let number = self.sets.conditions.len() as u32;
                self.sets.conditions.push(condition.clone());
                self.conditions.insert(condition, number);
                number
            }
        };
        if !self.under.contains(&number) {
            self.under.push(number);
        }
    }

    pub fn leave_conditions(&mut self, held: usize) {
        self.under.truncate(held);
    }

    pub fn name_of(&self, variable: u32) -> &str {
        &self.sets.variables[variable as usize]
    }

    pub fn finish(self) -> FileSets {
        self.sets
    }
}

fn numbered(numbers: &mut HashMap<String, u32>, names: &mut Vec<String>, name: &str) -> u32 {
    if let Some(&number) = numbers.get(name) {
        return number;
    }
    let number = names.len() as u32;
    names.push(name.to_owned());
    numbers.insert(name.to_owned(), number);
    number
}
