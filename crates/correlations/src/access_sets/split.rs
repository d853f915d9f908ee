//! Access sets by file: several files that were read as one translation unit are taken apart again, and joined where that is wanted.
//!
//! Takes   the sets of a translation unit.      Gives  sets with only the names that their functions need.

use std::collections::{HashMap, HashSet};

use super::{ConditionText, FileSets, FunctionSet};

/// The functions of each of these files, and those of all others.
pub fn by_file(sets: FileSets, files: &[String]) -> (Vec<FileSets>, FileSets) {
    let place: HashMap<&str, usize> =
        files.iter().enumerate().map(|(at, file)| (file.as_str(), at)).collect();
    let of_file: Vec<Option<usize>> =
        sets.files.iter().map(|file| place.get(file.as_str()).copied()).collect();
    let mut parts: Vec<Part> = files.iter().map(|_| Part::default()).collect();
    let mut rest = Part::default();
    for function in &sets.functions {
        match of_file[function.file as usize] {
            Some(at) => parts[at].add(function, &sets),
            None => rest.add(function, &sets),
        }
    }
    (parts.into_iter().map(|part| part.sets).collect(), rest.sets)
}

/// Those functions of the sets that are asked for.
pub fn only(sets: &FileSets, mut is_wanted: impl FnMut(&FunctionSet, &str) -> bool) -> FileSets {
    let mut part = Part::default();
    for function in &sets.functions {
        if is_wanted(function, &sets.files[function.file as usize]) {
            part.add(function, sets);
        }
    }
    part.sets
}

/// All functions, each once.
pub fn joined<'a>(all: impl IntoIterator<Item = &'a FileSets>) -> FileSets {
    let (mut part, mut seen) = (Part::default(), HashSet::new());
    for sets in all {
        // Numbers are those of the sets they come from.
        part.forget_numbers();
        for function in &sets.functions {
            if seen.insert(function.key) {
                part.add(function, sets);
            }
        }
    }
    part.sets
}

/// Sets that grow by functions of other sets, with numbers of their own.
#[derive(Default)]
struct Part {
    sets: FileSets,
    variables: HashMap<u32, u32>,
    files: HashMap<u32, u32>,
    conditions: HashMap<u32, u32>,
}

impl Part {
    fn forget_numbers(&mut self) {
        self.variables.clear();
        self.files.clear();
        self.conditions.clear();
    }

    fn add(&mut self, function: &FunctionSet, from: &FileSets) {
        let mut function = function.clone();
        let name = |number: u32| from.files[number as usize].clone();
        function.file = renumbered(&mut self.files, &mut self.sets.files, function.file, name);
        for access in &mut function.accesses {
            access.variable = self.variable(access.variable, from);
            for condition in &mut access.under {
                *condition = self.condition(*condition, from);
            }
        }
        self.sets.functions.push(function);
    }

    fn variable(&mut self, number: u32, from: &FileSets) -> u32 {
        let name = |number: u32| from.variables[number as usize].clone();
        renumbered(&mut self.variables, &mut self.sets.variables, number, name)
    }

    fn condition(&mut self, number: u32, from: &FileSets) -> u32 {
        let ConditionText { variable, text } = &from.conditions[number as usize];
        let variable = self.variable(*variable, from);
        let condition = |_| ConditionText { variable, text: text.clone() };
        renumbered(&mut self.conditions, &mut self.sets.conditions, number, condition)
    }
}

fn renumbered<T>(
    known: &mut HashMap<u32, u32>,
    all: &mut Vec<T>,
    number: u32,
    what: impl FnOnce(u32) -> T,
) -> u32 {
    *known.entry(number).or_insert_with(|| {
        all.push(what(number));
        all.len() as u32 - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access_sets::{Access, WRITTEN_HERE, kind};

    fn access(variable: u32, under: Vec<u32>) -> Access {
        let (line, statement, origin) = (1, 1, WRITTEN_HERE);
        Access { variable, kind: kind::READ, line, column: 1, statement, origin, under }
    }

    fn function(key: u64, file: u32, accesses: Vec<Access>) -> FunctionSet {
        let (name, line, calls) = (format!("f{key}"), 1, vec![]);
        FunctionSet { key, name, file, line, accesses, calls, is_life: false, statements: vec![] }
    }

    fn unit() -> FileSets {
        FileSets {
            variables: ["x", "y", "flag"].map(str::to_owned).to_vec(),
            files: ["a.c", "h.h", "b.c"].map(str::to_owned).to_vec(),
            conditions: vec![ConditionText { variable: 2, text: "flag".to_owned() }],
            functions: vec![
                function(1, 0, vec![access(0, vec![])]),
                function(2, 1, vec![access(1, vec![])]),
                function(3, 2, vec![access(1, vec![0])]),
            ],
            ..FileSets::default()
        }
    }

    #[test]
    fn each_file_has_its_functions_and_only_the_names_they_need() {
        let files = ["a.c", "b.c", "none.c"].map(str::to_owned);
        let (parts, rest) = by_file(unit(), &files);
        assert_eq!(parts[0].variables, ["x"]);
        assert_eq!(parts[1].variables, ["y", "flag"]);
        assert_eq!(parts[1].conditions, [ConditionText { variable: 1, text: "flag".to_owned() }]);
        assert_eq!(parts[1].functions, [function(3, 0, vec![access(0, vec![0])])]);
        assert_eq!(parts[2], FileSets::default());
        assert_eq!((rest.files, rest.functions[0].key), (vec!["h.h".to_owned()], 2));
    }

    #[test]
    fn what_is_joined_has_each_function_once() {
        let (parts, rest) = by_file(unit(), &["a.c".to_owned()]);
        let all = joined([&rest, &parts[0], &rest]);
        let keys: Vec<u64> = all.functions.iter().map(|function| function.key).collect();
        assert_eq!(keys, [2, 3, 1]);
        let first = &all.functions[2].accesses[0];
        assert_eq!(all.variables[first.variable as usize], "x");
    }

    #[test]
    fn only_what_is_asked_for_is_left() {
        let left = only(&unit(), |function, file| function.key > 1 && file == "b.c");
        assert_eq!((left.functions.len(), left.variables.len()), (1, 2));
    }
}
