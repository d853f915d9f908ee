//! Runs of different builds of a program do not mix: a place in the code of the one is another place in the other.
//!
//! Takes   the patterns of runs, one after the other.      Gives  a problem for the first that is of another build.
//! Misses  modules without a build id, and those no pattern has to do with.

use std::collections::HashMap;

use unpick_analyses::RunPatterns;
use unpick_problem::Problem;

/// The builds of all modules seen so far.
#[derive(Debug, Default)]
pub struct Builds {
    /// Build id and first run by path.
    by_path: HashMap<String, (String, u64)>,
}

impl Builds {
    /// Takes note of a run's modules; refuses the run if one of them was built anew.
    pub fn add(&mut self, run: u64, patterns: &RunPatterns) -> Result<(), Problem> {
        let known = patterns.modules.iter().filter(|module| !module.build_id.is_empty());
        for module in known.clone() {
            if let Some((build_id, first)) = self.by_path.get(&module.path)
                && *build_id != module.build_id
            {
                return Err(mixed(&module.path, run, *first));
            }
        }
        for module in known {
            let entry = || (module.build_id.clone(), run);
            self.by_path.entry(module.path.clone()).or_insert_with(entry);
        }
        Ok(())
    }
}

fn mixed(path: &str, run: u64, first: u64) -> Problem {
    Problem::usage(format!("run {run} is of another build of the program than run {first}"))
        .at("file", path)
        .why("its build id is different: it was built again in between, and lines and patterns of two builds do not compare")
        .next("hunt the new build by itself: unpick hunt -- PROGRAM")
}

#[cfg(test)]
mod tests {
    use super::*;
    use unpick_analyses::interleaving_patterns::CodeModule;
    use unpick_analyses::{Collector, Options};

    fn run_with(path: &str, build_id: &str) -> RunPatterns {
        let mut patterns = Collector::new(Options::default()).finish();
        let (path, build_id) = (path.to_owned(), build_id.to_owned());
        patterns.modules.push(CodeModule { build_id, path, lowest: 0, length: 10 });
        patterns
    }

    #[test]
    fn a_program_that_was_built_again_is_refused() {
        let mut builds = Builds::default();
        builds.add(1, &run_with("/bank", "aa")).unwrap();
        builds.add(2, &run_with("/bank", "aa")).unwrap();
        builds.add(3, &run_with("/libc.so", "cc")).unwrap();
        let problem = builds.add(4, &run_with("/bank", "bb")).unwrap_err().to_string();
        assert!(problem.contains("run 4") && problem.contains("run 1"), "{problem}");
        builds.add(5, &run_with("/bank", "aa")).unwrap();
    }

    #[test]
    fn without_a_build_id_nothing_can_be_said() {
        let mut builds = Builds::default();
        builds.add(1, &run_with("/bank", "aa")).unwrap();
        builds.add(2, &run_with("/bank", "")).unwrap();
    }
}
