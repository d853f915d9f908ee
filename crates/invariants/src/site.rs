//! A site in the words of the source, the same before and after a rebuild.

use std::path::{Path, PathBuf};

use unpick_analyses::RunPatterns;
use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_reproduce::{SourceCall, SourceCalls};
use unpick_symbols::{Frame, Place};

/// Functions that synchronise begin so: the bytes they touch are a lock's, not a variable of the user's.
const SYNCHRONISING: [&str; 4] = ["pthread_", "sem_", "mtx_", "cnd_"];

/// What tells sites apart. Lines may move, files may lie elsewhere, spaces may change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SiteKey {
    module: String,
    /// Without folders.
    file: String,
    function: String,
    /// Of the line, without spaces; the line's number where the text is not known.
    line: String,
    deed: String,
    occurrence: u32,
    /// Where nothing else is known; holds for one build.
    offset: Option<u64>,
}

/// What people are told of a site.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SiteWords {
    pub module: String,
    pub file: Option<String>,
    pub function: Option<String>,
    pub line: Option<u32>,
    pub text: Option<String>,
    /// `read`, `write`, `update`, or the function that was called.
    pub deed: Option<String>,
    pub occurrence: u32,
    pub offset: Option<u64>,
}

impl SiteWords {
    pub fn key(&self) -> SiteKey {
        let text = self.text.as_deref().map(without_spaces).filter(|text| !text.is_empty());
        let line = text.or_else(|| self.line.map(|line| line.to_string()));
        let file = self.file.as_deref().map(Path::new).and_then(Path::file_name);
        SiteKey {
            module: self.module.clone(),
            file: file.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            function: self.function.clone().unwrap_or_default(),
            line: line.unwrap_or_default(),
            deed: self.deed.clone().unwrap_or_default(),
            occurrence: self.occurrence,
            offset: self.offset,
        }
    }

    fn of(call: SourceCall, folder: &Path) -> SiteWords {
        SiteWords {
            module: call.module,
            file: call.file.map(|file| seen_from(&file, folder)),
            function: call.function,
            line: call.line,
            text: call.text,
            deed: call.deed,
            occurrence: call.occurrence,
            offset: call.offset,
        }
    }

    /// Whether it is none of the user's own accesses: code of the language's libraries or of a package that cargo fetched, or the call
    /// of a function that synchronises.
    pub fn is_of_library(&self) -> bool {
        let deed = self.deed.as_deref().unwrap_or_default();
        let (function, file) = (self.function.clone(), self.file.clone());
        let frame = Frame { function, file, line: self.line, column: None };
        let module = Some(self.module.clone());
        let place = Place { module, frames: vec![frame], ..Place::default() };
        let is_own_code = place.is_of_dependency() == Some(false);
        !is_own_code || SYNCHRONISING.iter().any(|start| deed.starts_with(start))
    }

    /// `deposit at bank.c:13`.
    pub fn shown(&self) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        let at = match (&self.file, self.offset) {
            (Some(file), _) => format!("{file}{line}"),
            (None, Some(offset)) => format!("{}+{offset:#x}", self.module),
            (None, None) => self.module.clone(),
        };
        match &self.function {
            Some(function) => format!("{function} at {at}"),
            None => at,
        }
    }
}

/// A short name of a site, or of several together: the same wherever it is computed.
impl SiteKey {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let offset = self.offset.map(|offset| offset.to_string()).unwrap_or_default();
        let occurrence = self.occurrence.to_string();
        let parts = [
            &self.module,
            &self.file,
            &self.function,
            &self.line,
            &self.deed,
            &occurrence,
            &offset,
        ];
        parts.into_iter().flat_map(|part| part.bytes().chain([0])).collect()
    }
}

/// Knows the sites of runs.
pub struct Sites {
    calls: SourceCalls,
    /// Files below it are named as seen from it.
    folder: PathBuf,
}

impl Sites {
    pub fn seen_from(folder: &Path) -> Sites {
        Sites { calls: SourceCalls::default(), folder: folder.to_owned() }
    }

    /// A site of a run, by number.
    pub fn words(&self, run: &RunPatterns, site: u32) -> SiteWords {
        let CodeSite { module, offset } = run.sites[site as usize];
        let Some(module) = module.map(|module| &run.modules[module as usize]) else {
            return SiteWords { offset: Some(offset), ..SiteWords::default() };
        };
        self.words_at(Path::new(&module.path), &module.build_id, offset)
    }

    /// The site of a module (by path and build id in hex) at a return address of its file.
    pub fn words_at(&self, module: &Path, build_id: &str, offset: u64) -> SiteWords {
        let path = self.folder.join(module);
        SiteWords::of(self.calls.call(&path, build_id, offset), &self.folder)
    }
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

fn seen_from(file: &str, folder: &Path) -> String {
    match Path::new(file).strip_prefix(folder) {
        Ok(below) if !folder.as_os_str().is_empty() => below.to_string_lossy().into_owned(),
        _ => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(function: &str, file: &str, deed: &str) -> SiteWords {
        let text = |text: &str| Some(text.to_owned());
        let (function, file, deed) = (text(function), text(file), text(deed));
        SiteWords { module: "bank".to_owned(), function, file, deed, ..SiteWords::default() }
    }

    #[test]
    fn locks_libraries_and_fetched_packages_are_none_of_the_users_accesses() {
        assert!(!words("deposit", "bank.c", "write").is_of_library());
        assert!(!words("deposit", "bank.c", "memcpy").is_of_library(), "bytes of the user's");
        assert!(words("deposit", "bank.c", "sem_wait").is_of_library());
        assert!(words("deposit", "bank.c", "pthread_mutex_lock").is_of_library());
        assert!(
            words("<i32 as core::cmp::PartialEq>::eq", "/rustc/59/cmp.rs", "read").is_of_library()
        );
        assert!(words("hashbrown::raw::insert", "/rust/deps/raw.rs", "read").is_of_library());
        assert!(words("log::log", "/x/registry/src/i-1/log-1/src/lib.rs", "read").is_of_library());
        let unknown = SiteWords { offset: Some(16), ..SiteWords::default() };
        assert!(!unknown.is_of_library(), "nobody knows");
    }
}
