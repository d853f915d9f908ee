//! The runtime carried inside this program, and where it lies on disk for a linker to find.

use crate::cache::Cache;
use std::path::PathBuf;
use unpick_problem::Problem;

/// A file carried inside this program; its name tells its content.
pub(crate) struct Embedded {
    pub name: &'static str,
    pub bytes: &'static [u8],
}

// OBJECT, STATIC_OBJECT, SHARED, DYNAMIC_LIST, GCC_SPECS, EXPORTED and WRAPPED: see build.rs.
include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The runtime as files: what a link that makes an executable needs.
#[derive(Debug, Clone)]
pub struct RuntimeFiles {
    /// For dynamically linked executables.
    pub object: PathBuf,
    /// For `-static` and `-static-pie`, together with `--wrap` of everything in `wrapped`.
    pub static_object: PathBuf,
    /// For `LD_PRELOAD` into a host that cannot be linked again.
    pub shared: PathBuf,
    /// For the linker's `--dynamic-list`: the names a `dlopen`ed object must find in the executable.
    pub dynamic_list: PathBuf,
    /// For gcc's `-specs=`: the flags that instrument, given to the compiler proper only.
    pub gcc_specs: PathBuf,
    /// The names in `dynamic_list`.
    pub exported: &'static [&'static str],
    /// The functions `static_object` takes over by `--wrap`.
    pub wrapped: &'static [&'static str],
}

/// Unpacks the runtime into the user's cache folder, unless it is there already.
pub fn runtime_files() -> Result<RuntimeFiles, Problem> {
    runtime_files_in(&Cache::open()?)
}

pub(crate) fn runtime_files_in(cache: &Cache) -> Result<RuntimeFiles, Problem> {
    Ok(RuntimeFiles {
        object: cache.keep(&OBJECT)?,
        static_object: cache.keep(&STATIC_OBJECT)?,
        shared: cache.keep(&SHARED)?,
        dynamic_list: cache.keep(&DYNAMIC_LIST)?,
        gcc_specs: cache.keep(&GCC_SPECS)?,
        exported: EXPORTED,
        wrapped: WRAPPED,
    })
}
