//! Builds workloads and keeps what was built: a file is named by a hash of everything that went into it.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock};

use unpick_problem::Problem;

use crate::folders::{Folders, crate_folder};
use crate::options::Optimisation;
use crate::third_party::{LibrarySources, ThirdParty};
use crate::variant::{Compiler, Recipe, Runtime, Variant};
use crate::workload::Workload;
use unpick_bench_results::machine::first_line_of;

pub struct Builder {
    pub folders: Folders,
    pub optimisation: Optimisation,
    pub unpick: PathBuf,
    pub jobs: usize,
    pub third_party: OnceLock<ThirdParty>,
}

/// The newest clang known to work here.
pub fn clang(for_cxx: bool) -> &'static str {
    let has_16 = first_line_of("clang-16", &["--version"]) != "not found";
    match (has_16, for_cxx) {
        (true, false) => "clang-16",
        (true, true) => "clang++-16",
        (false, false) => "clang",
        (false, true) => "clang++",
    }
}

/// A command line, with a hash of the tool it calls.
#[derive(Clone)]
struct Tool {
    words: Vec<String>,
    environment: Vec<(&'static str, String)>,
    version: u64,
}

impl Tool {
    fn installed(name: &str) -> Self {
        let version = hash_of(&first_line_of(name, &["--version"]));
        Self { words: vec![name.to_owned()], environment: Vec::new(), version }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command
            .args(&self.words[1..])
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

impl Builder {
    /// The program of a workload in a variant, built if it is not there yet.
    pub fn program(&self, workload: &Workload, variant: &Variant) -> Result<PathBuf, Problem> {
        self.program_with(workload, variant, &[])
    }

    /// The same with more sources in it.
    pub fn program_with(
        &self,
        workload: &Workload,
        variant: &Variant,
        more: &[PathBuf],
    ) -> Result<PathBuf, Problem> {
        let recipe = variant.recipe();
        let library = self.library_sources(workload)?;
        let source = crate_folder().join("workloads").join(workload.source);
        let tool = self.tool(recipe.compiler, is_cxx(&source))?;
        let mut sources = vec![source];
        sources.extend(library.sources.iter().chain(more).cloned());
        let mut inputs = self.compile_all(&tool, &recipe, &library.flags, &sources)?;
        inputs.extend(self.runtime_object(&recipe.runtime)?);
        self.link(&tool, &recipe, &inputs, &format!("{}-{}", workload.name, variant.label()))
    }

    fn library_sources(&self, workload: &Workload) -> Result<LibrarySources, Problem> {
        let Some(library) = workload.library else { return Ok(LibrarySources::default()) };
        if self.third_party.get().is_none() {
            let _ = self.third_party.set(ThirdParty::fetch(&self.folders.third_party)?);
        }
        self.third_party
            .get()
            .map_or_else(|| Ok(LibrarySources::default()), |known| known.sources_of(library))
    }

    fn tool(&self, compiler: Compiler, for_cxx: bool) -> Result<Tool, Problem> {
        match compiler {
            Compiler::Gcc => Ok(Tool::installed(if for_cxx { "g++" } else { "gcc" })),
            Compiler::Clang => Ok(Tool::installed(clang(for_cxx))),
            Compiler::Unpick => self.unpick_tool(for_cxx, Vec::new()),
            Compiler::UnpickClang => {
                let name = if for_cxx { "UNPICK_CXX" } else { "UNPICK_CC" };
                self.unpick_tool(for_cxx, vec![(name, clang(for_cxx).to_owned())])
            }
        }
    }

    fn unpick_tool(
        &self,
        for_cxx: bool,
        environment: Vec<(&'static str, String)>,
    ) -> Result<Tool, Problem> {
        let verb = if for_cxx { "c++" } else { "cc" };
        let words = vec![self.unpick.display().to_string(), verb.to_owned()];
        let version = hash_of_file(&self.unpick).map_err(|error| {
            Problem::usage("the `unpick` command to measure is not there")
                .at("file", self.unpick.display())
                .why(error)
                .next("cargo build --release -p unpick-cli, or name another with --unpick, or leave it out with --variants")
        })?;
        Ok(Tool { words, environment, version })
    }

    /// Compiles all sources, `jobs` at a time.
    fn compile_all(
        &self,
        tool: &Tool,
        recipe: &Recipe,
        flags: &[String],
        sources: &[PathBuf],
    ) -> Result<Vec<PathBuf>, Problem> {
        let waiting = Mutex::new(sources.iter().enumerate());
        let objects = Mutex::new(vec![PathBuf::new(); sources.len()]);
        let compile_waiting = || -> Result<(), Problem> {
            while let Some((at, source)) = lock(&waiting).next() {
                let object = self.compile(tool, &self.compile_flags(recipe, flags), source)?;
                lock(&objects)[at] = object;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..self.jobs.max(1)).map(|_| scope.spawn(compile_waiting)).collect();
            workers
                .into_iter()
                .try_for_each(|worker| worker.join().expect("a compiling thread does not panic"))
        })?;
        Ok(objects.into_inner().expect("no compiling thread panicked"))
    }

    fn compile_flags(&self, recipe: &Recipe, more: &[String]) -> Vec<String> {
        let mut flags = vec![
            self.optimisation.flag().to_owned(),
            "-g".to_owned(),
            "-pthread".to_owned(),
            "-w".to_owned(),
        ];
        flags.push(format!("-I{}", crate_folder().join("workloads").display()));
        if recipe.compile_with_sanitizer {
            flags.push("-fsanitize=thread".to_owned());
        }
        flags.extend_from_slice(more);
        flags
    }

    fn compile(&self, tool: &Tool, flags: &[String], source: &Path) -> Result<PathBuf, Problem> {
        let ingredients = (
            tool.version,
            &tool.words,
            &tool.environment,
            flags,
            source,
            content_of(source)?,
            own_header()?,
        );
        let object =
            self.folders.objects.join(format!("{}-{:016x}.o", stem(source), hash_of(&ingredients)));
        let mut command = tool.command();
        command.args(flags).arg("-c").arg(source);
        run_unless_made(command, &object)?;
        Ok(object)
    }

    fn runtime_object(&self, runtime: &Runtime) -> Result<Option<PathBuf>, Problem> {
        match runtime {
            Runtime::FromCompiler => Ok(None),
            Runtime::Object(path) => Ok(Some(path.to_path_buf())),
            Runtime::EmptyHooks => {
                let flags = ["-O2", "-mcx16", "-w"].map(str::to_owned);
                let source = crate_folder().join("floor/empty_hooks.c");
                self.compile(&Tool::installed("gcc"), &flags, &source).map(Some)
            }
        }
    }

    fn link(
        &self,
        tool: &Tool,
        recipe: &Recipe,
        inputs: &[PathBuf],
        name: &str,
    ) -> Result<PathBuf, Problem> {
        let contents: Vec<u64> =
            inputs.iter().map(|input| content_of(input)).collect::<Result<_, _>>()?;
        let ingredients =
            (tool.version, &tool.words, &tool.environment, recipe.link_with_sanitizer, contents);
        let program = self.folders.programs.join(format!("{name}-{:016x}", hash_of(&ingredients)));
        let mut command = tool.command();
        if recipe.link_with_sanitizer {
            command.arg("-fsanitize=thread");
        }
        command.arg("-pthread").args(inputs).args(["-lm", "-ldl"]);
        run_unless_made(command, &program)?;
        Ok(program)
    }
}

/// Adds `-o product` to a command and runs it; the product appears whole or not at all.
fn run_unless_made(mut command: Command, product: &Path) -> Result<(), Problem> {
    if product.exists() {
        return Ok(());
    }
    let unfinished = product.with_extension(format!("unfinished-{}", std::process::id()));
    command.arg("-o").arg(&unfinished);
    let printed = command.output();
    let cannot = |why: String| {
        Problem::own_fault("a workload cannot be built")
            .at("command", format!("{command:?}"))
            .why(why)
    };
    let printed = printed.map_err(|error| cannot(error.to_string()))?;
    if !printed.status.success() {
        return Err(cannot(String::from_utf8_lossy(&printed.stderr).into_owned()));
    }
    fs::rename(&unfinished, product).map_err(|error| cannot(error.to_string()))
}

fn is_cxx(source: &Path) -> bool {
    source.extension().is_some_and(|end| end == "cpp")
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The header all workloads include: a change of it changes all of them.
fn own_header() -> Result<u64, Problem> {
    content_of(&crate_folder().join("workloads/workload.h"))
}

fn content_of(file: &Path) -> Result<u64, Problem> {
    hash_of_file(file).map_err(|error| {
        Problem::own_fault("a file cannot be read").at("file", file.display()).why(error)
    })
}

/// Piece by piece: memory this process has held counts into the peak of every program it starts afterwards.
fn hash_of_file(path: &Path) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    let mut hasher = DefaultHasher::new();
    let mut piece = [0; 16 * 1024];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.finish()),
            length => hasher.write(&piece[..length]),
        }
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no compiling thread panicked")
}
