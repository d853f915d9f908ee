//! `RunPatterns` as bytes, and back without trust. `stored_tables` has the form.

use unpick_problem::Problem;

use crate::stored_tables::{Magic, framed, have_memory, is_in, unframed};

use super::earlier_encoding::{VERSION_2, VERSION_3, VERSION_4, Version2, Version3, Version4};
use super::result::{Access, Block, CodeSite, Lock, Memory, RunPatterns};

const MAGIC: Magic = *b"UNPIPATT";
const VERSION: u8 = 5;

impl RunPatterns {
    /// The bytes to store.
    ///
    /// # Panics
    /// Never: there is nothing in it that cannot be written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let tables = postcard::to_allocvec(self).expect("plain tables can always be encoded");
        framed(MAGIC, VERSION, &tables)
    }

    /// Reads what `to_bytes` wrote; `name` says in problems where it came from.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<RunPatterns, Problem> {
        let (version, tables) = unframed(MAGIC, bytes).map_err(|why| damaged(name, why))?;
        let read: RunPatterns = match version {
            VERSION => postcard::from_bytes(tables),
            VERSION_2 => postcard::from_bytes(tables).map(Version2::in_todays_terms),
            VERSION_3 => postcard::from_bytes(tables).map(Version3::in_todays_terms),
            VERSION_4 => postcard::from_bytes(tables).map(Version4::in_todays_terms),
            other => return Err(other_version(name, other)),
        }
        .map_err(|error| damaged(name, error))?;
        if !read.is_consistent() {
            return Err(damaged(name, "its tables do not fit together"));
        }
        Ok(read)
    }

    /// Every number in it names something.
    fn is_consistent(&self) -> bool {
        !self.stacks.is_empty()
            && !self.lock_sets.is_empty()
            && self.sites.iter().all(|site| self.has_module_of(site))
            && self.stacks.iter().flatten().all(|&site| is_in(site, &self.sites))
            && self.blocks.iter().all(|block| self.has_parts_of_block(block))
            && self.locks.iter().all(|lock| self.has_parts_of_lock(lock))
            && self.lock_sets.iter().flatten().all(|held| is_in(held.lock, &self.locks))
            && self.accesses.iter().all(|access| self.has_parts_of_access(access))
            && self
                .patterns
                .iter()
                .chain(&self.possible)
                .flat_map(|found| found.example())
                .all(|&at| is_in(at, &self.accesses))
    }

    fn has_module_of(&self, site: &CodeSite) -> bool {
        site.module.is_none_or(|module| is_in(module, &self.modules))
    }

    fn has_memory(&self, memory: Memory) -> bool {
        have_memory(&self.modules, &self.blocks, memory)
    }

    fn has_parts_of_block(&self, block: &Block) -> bool {
        is_in(block.site, &self.sites) && is_in(block.stack, &self.stacks)
    }

    fn has_parts_of_lock(&self, lock: &Lock) -> bool {
        is_in(lock.site, &self.sites)
            && is_in(lock.stack, &self.stacks)
            && self.has_memory(lock.memory)
    }

    fn has_parts_of_access(&self, access: &Access) -> bool {
        is_in(access.site, &self.sites)
            && is_in(access.stack, &self.stacks)
            && is_in(access.lock_set, &self.lock_sets)
            && self.has_memory(access.memory)
    }
}

fn damaged(name: &str, why: impl std::fmt::Display) -> Problem {
    Problem::own_fault("the patterns of a run cannot be read")
        .at("file", name)
        .why(why)
        .next("remove the file: if the run's recording is still there, the patterns are made again")
}

fn other_version(name: &str, version: u8) -> Problem {
    Problem::usage(format!(
        "the patterns of a run have version {version}, this build reads versions {VERSION_2} to {VERSION}"
    ))
    .at("file", name)
    .why("they were made by another version of unpick")
    .next("remove the file, or use the version of unpick that made it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interleaving_patterns::result::{Holding, Touch};
    use crate::interleaving_patterns::{CodeModule, Collector, Options};

    /// As builds of version 3 wrote it: without what was possible.
    fn version_3_of(run: &RunPatterns) -> Vec<u8> {
        let code = (&run.options, &run.modules, &run.sites, &run.stacks);
        let memory = (&run.locks, &run.lock_sets, &run.blocks);
        let found = (&run.accesses, &run.patterns, &run.hidden_pairs, &run.seen_sites);
        let counts = (run.processes, run.pairs, run.left_out);
        framed(MAGIC, VERSION_3, &postcard::to_allocvec(&(code, memory, found, counts)).unwrap())
    }

    /// As builds of version 2 wrote it: of locks that are held their numbers only, of accesses neither whole lengths nor libraries.
    fn version_2_of(run: &RunPatterns) -> Vec<u8> {
        let code = (&run.options, &run.modules, &run.sites, &run.stacks);
        let numbers = |held: &Vec<Holding>| held.iter().map(|held| held.lock).collect();
        let lock_sets: Vec<Vec<u32>> = run.lock_sets.iter().map(numbers).collect();
        let accesses: Vec<_> = run
            .accesses
            .iter()
            .map(|access| {
                let Access { process, thread, touch, atomic, .. } = *access;
                let Access { site, stack, lock_set, index, memory, length, .. } = *access;
                (process, thread, touch, atomic, site, stack, lock_set, index, memory, length)
            })
            .collect();
        let memory = (&run.locks, &lock_sets, &run.blocks);
        let found = (&accesses, &run.patterns, &run.hidden_pairs, &run.seen_sites);
        let counts = (run.processes, run.pairs, run.left_out);
        framed(MAGIC, VERSION_2, &postcard::to_allocvec(&(code, memory, found, counts)).unwrap())
    }

    /// As builds of version 4 wrote it: without whether the run was unfinished.
    fn version_4_of(run: &RunPatterns) -> Vec<u8> {
        let code = (&run.options, &run.modules, &run.sites, &run.stacks);
        let memory = (&run.locks, &run.lock_sets, &run.blocks);
        let found = (&run.accesses, &run.patterns, &run.hidden_pairs);
        let further = (&run.possible, &run.seen_sites);
        let counts = (run.processes, run.pairs, run.left_out);
        let tables = postcard::to_allocvec(&(code, memory, found, further, counts)).unwrap();
        framed(MAGIC, VERSION_4, &tables)
    }

    #[test]
    fn version_4_is_read_and_takes_every_run_for_finished() {
        let mut run = Collector::new(Options::default()).finish();
        (run.pairs, run.left_out) = (9, 3);
        assert_eq!(RunPatterns::from_bytes(&version_4_of(&run), "stored").unwrap(), run);
        let unfinished = RunPatterns { unfinished: true, ..run.clone() };
        assert_eq!(RunPatterns::from_bytes(&version_4_of(&unfinished), "stored").unwrap(), run);
        assert_eq!(RunPatterns::from_bytes(&unfinished.to_bytes(), "stored").unwrap(), unfinished);
    }

    #[test]
    fn version_2_is_read_and_knows_neither_acquisitions_nor_whole_lengths() {
        let mut run = Collector::new(Options::default()).finish();
        let memory = Memory::Other { address: 4096 };
        run.sites.push(CodeSite { module: None, offset: 7 });
        run.locks.push(Lock { memory, kind: "mutex".into(), shared: false, site: 0, stack: 0 });
        run.lock_sets.push(vec![Holding { lock: 0, acquisition: None }]);
        run.accesses.push(Access {
            process: 0,
            thread: 2,
            touch: Touch::Write,
            atomic: false,
            library: false,
            site: 0,
            stack: 0,
            lock_set: 1,
            index: 5,
            memory,
            length: 4,
            whole_length: 0,
        });
        assert_eq!(RunPatterns::from_bytes(&version_2_of(&run), "stored").unwrap(), run);
        let mut known = run.clone();
        known.lock_sets[1][0].acquisition = Some(3);
        (known.accesses[0].library, known.accesses[0].whole_length) = (true, 8);
        assert_eq!(RunPatterns::from_bytes(&version_2_of(&known), "stored").unwrap(), run);
    }

    #[test]
    fn version_3_is_read_and_knows_nothing_possible() {
        let mut run = Collector::new(Options::default()).finish();
        let (build_id, path) = ("ab".to_owned(), "/bin/bank".to_owned());
        run.modules.push(CodeModule { build_id, path, lowest: 1, length: 2 });
        run.sites.push(CodeSite { module: Some(0), offset: 7 });
        run.seen_sites.push(0);
        run.pairs = 9;
        assert_eq!(RunPatterns::from_bytes(&version_3_of(&run), "stored").unwrap(), run);
    }

    #[test]
    fn a_version_that_is_not_known_is_named() {
        let problem = RunPatterns::from_bytes(&framed(MAGIC, 9, &[0]), "stored").unwrap_err();
        assert!(problem.to_string().contains("version 9, this build reads versions 2 to 5"));
    }
}
