//! The command line: one place per option, with name, default and help.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::variant::{Variant, VariantName};
use crate::workload::{WORKLOADS, Workload};

/// Measures what recording costs against native, empty hooks, ThreadSanitizer and Valgrind.
#[derive(Debug, Parser)]
#[command(name = "unpick-bench-overhead")]
pub struct Options {
    /// Numbers of threads to run with
    #[arg(long, value_delimiter = ',', default_value = "2,8")]
    pub threads: Vec<u32>,

    /// Rounds; in each round every variant runs once
    #[arg(long, default_value_t = 5)]
    pub repeat: usize,

    /// Only these workloads (comma-separated or repeated)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub only: Vec<String>,

    /// Only these variants; native is always added
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = VariantName::PUBLISHED)]
    pub variants: Vec<VariantName>,

    /// Adds a variant that links this runtime object or archive; may be repeated to compare runtimes
    #[arg(long, value_name = "[LABEL=]PATH", value_parser = parse_runtime_object)]
    pub runtime_object: Vec<RuntimeObject>,

    /// How much work each workload gets
    #[arg(long, value_enum, default_value_t = Scale::Full)]
    pub scale: Scale,

    /// Optimisation level of all variants
    #[arg(long, value_enum, default_value_t = Optimisation::O1)]
    pub optimise: Optimisation,

    /// The `unpick` command to measure [default: the one beside this program]
    #[arg(long, value_name = "PATH")]
    pub unpick: Option<PathBuf>,

    /// Compile this many files at once
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,

    /// Seconds after which one run is given up
    #[arg(long, default_value_t = 600)]
    pub limit: u32,

    /// Measure only what breakpoints cost that are armed and not reached, against none
    #[arg(long)]
    pub armed: bool,

    /// Write every single sample to that file (tab-separated), to judge the noise
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,

    /// Replace this benchmark's section in that file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Scale {
    /// About a tenth of the work: for a quick look, and for what is a hundred times slower than native
    Small,
    /// Native takes about half a second with two threads
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Optimisation {
    #[value(name = "O1")]
    O1,
    #[value(name = "O2")]
    O2,
}

impl Optimisation {
    pub fn flag(self) -> &'static str {
        match self {
            Self::O1 => "-O1",
            Self::O2 => "-O2",
        }
    }
}

/// A runtime given by its object file, with the name it has in the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeObject {
    pub label: String,
    pub path: PathBuf,
}

fn parse_runtime_object(given: &str) -> Result<RuntimeObject, String> {
    let (label, path) = match given.split_once('=') {
        Some((label, path)) => (label.to_owned(), PathBuf::from(path)),
        None => (file_stem(given), PathBuf::from(given)),
    };
    if !path.is_file() {
        return Err(format!("{} is not a file", path.display()));
    }
    Ok(RuntimeObject { label, path })
}

fn file_stem(path: &str) -> String {
    let stem = std::path::Path::new(path).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

impl Options {
    /// The workloads chosen, in the order of the table.
    pub fn workloads(&self) -> Result<Vec<&'static Workload>, String> {
        if let Some(unknown) =
            self.only.iter().find(|name| !WORKLOADS.iter().any(|known| known.name == **name))
        {
            return Err(unknown.clone());
        }
        let is_chosen = |workload: &&Workload| {
            self.only.is_empty() || self.only.iter().any(|name| name == workload.name)
        };
        Ok(WORKLOADS.iter().filter(is_chosen).collect())
    }

    /// The variants chosen: native first, because every ratio needs it.
    pub fn variants(&self) -> Vec<Variant> {
        let mut variants = vec![Variant::Named(VariantName::Native)];
        let named = self.variants.iter().copied().filter(|name| *name != VariantName::Native);
        variants.extend(named.map(Variant::Named));
        variants.extend(self.runtime_object.iter().cloned().map(Variant::RuntimeObject));
        variants
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_is_measured_once_whether_asked_for_or_not() {
        for given in ["native,floor", "floor"] {
            let options = Options::parse_from(["bench", "--variants", given]);
            let labels: Vec<_> = options.variants().iter().map(Variant::label).collect();
            assert_eq!(labels, ["native", "floor"]);
        }
    }

    #[test]
    fn an_unknown_workload_is_named() {
        let options = Options::parse_from(["bench", "--only", "lu,nonsense"]);
        assert_eq!(options.workloads().err().as_deref(), Some("nonsense"));
    }

    #[test]
    fn a_runtime_object_has_its_label_or_its_file_name() {
        let file = tempfile::Builder::new()
            .prefix("shadow8")
            .suffix(".o")
            .rand_bytes(0)
            .tempfile()
            .unwrap();
        let path = file.path().to_str().unwrap();
        assert_eq!(parse_runtime_object(path).unwrap().label, "shadow8");
        assert_eq!(parse_runtime_object(&format!("new={path}")).unwrap().label, "new");
        assert!(parse_runtime_object("no/such/file.o").is_err());
    }
}
