//! Which packages the code of a finding is of, and which of them the user treats as own or wants to hear nothing about.
//!
//! Takes   the files and modules of its accesses; the names of packages.
//! Returns names and versions of packages that cargo fetched; whether code is of a named package.
//! Misses  packages that neither cargo fetched nor a directory or a shared library holds.

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::names::Frame;

/// Where cargo keeps what it fetched: the folder behind that of the registry, or of the repository, is the package.
const FOLDERS: [&str; 2] = ["/registry/src/", "/git/checkouts/"];

/// Packages that the user names: `tokio` or `tokio@1.47.0` as cargo has them, `vendor/zlib` for a directory of sources, `libz.so` for
/// a shared library.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Packages {
    /// Their code counts as the user's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<String>,
    /// Orders that are all in their code are not reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// How many orders that correlate with failure are not reported for that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Packages {
    /// Nothing is named.
    pub const NONE: &'static Packages =
        &Packages { own: Vec::new(), ignored: Vec::new(), left_out: 0 };

    pub fn is_empty(&self) -> bool {
        self == Packages::NONE
    }
}

/// Whether code of this file, in this module, is of one of the named packages.
pub(crate) fn is_of(names: &[String], file: Option<&str>, module: Option<&str>) -> bool {
    names.iter().any(|name| {
        if name.contains('/') {
            return file.is_some_and(|file| is_below(file, name));
        }
        let package = file.and_then(package_of_file);
        package.is_some_and(|package| package.is_called(name))
            || module.is_some_and(|module| is_library_called(module, name))
    })
}

/// An absolute directory is a beginning of the path, any other one may be anywhere in it.
fn is_below(file: &str, directory: &str) -> bool {
    let is_named = |part: &&str| !matches!(*part, "" | ".");
    let parts: Vec<&str> = directory.split('/').filter(is_named).collect();
    let folders: Vec<&str> = file.split('/').filter(is_named).collect();
    let folders = &folders[..folders.len().saturating_sub(1)];
    if directory.starts_with('/') {
        return file.starts_with('/') && folders.starts_with(&parts);
    }
    !parts.is_empty() && folders.windows(parts.len()).any(|window| window == parts)
}

/// `libz.so` is the library of any version, `libz.so.1` that of one.
fn is_library_called(module: &str, name: &str) -> bool {
    let file = module.rsplit('/').next().unwrap_or(module);
    let version = file.strip_prefix(name).filter(|_| name.contains(".so"));
    version.is_some_and(|version| version.is_empty() || version.starts_with('.'))
}

/// A package that cargo fetched.
struct Package<'f> {
    name: &'f str,
    /// None: of a repository, whose folder is named by a hash.
    version: Option<&'f str>,
}

impl Package<'_> {
    /// As cargo's commands name packages. Its crates have `_` in place of `-`.
    fn is_called(&self, asked: &str) -> bool {
        let (name, version) = match asked.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (asked, None),
        };
        let is_version = version.is_none() || version == self.version;
        is_version && name.replace('_', "-") == self.name.replace('_', "-")
    }

    fn in_words(&self) -> String {
        match self.version {
            Some(version) => format!("{} {version}", self.name),
            None => self.name.to_owned(),
        }
    }
}

impl Finding {
    /// The packages of the code that it shows, without the user's own, each once: `crossbeam-queue 0.3.11`.
    pub fn packages(&self, named: &Packages) -> Vec<String> {
        let mut packages: Vec<String> = Vec::new();
        for access in &self.accesses {
            let module = access.code.module.as_deref();
            let is_own = is_of(&named.own, access.frame.file.as_deref(), module);
            let package = package_of(&access.frame).filter(|_| !is_own);
            packages.extend(package.filter(|package| !packages.contains(package)));
        }
        packages
    }
}

/// Whether cargo fetched the code of a frame.
pub(crate) fn is_fetched(frame: &Frame) -> bool {
    frame.file.as_deref().and_then(package_of_file).is_some()
}

fn package_of(frame: &Frame) -> Option<String> {
    package_of_file(frame.file.as_deref()?).map(|package| package.in_words())
}

fn package_of_file(file: &str) -> Option<Package<'_>> {
    let inside = FOLDERS.iter().find_map(|folder| Some(file.split_once(folder)?.1))?;
    let mut folders = inside.split('/');
    let (first, second) = (folders.next()?, folders.next()?);
    let is_of_registry = file.contains(FOLDERS[0]);
    let (name, version) = name_and_version(if is_of_registry { second } else { first });
    Some(Package { name, version: is_of_registry.then_some(version) })
}

/// `crossbeam-queue` and `0.3.11`, or a repository and the start of its commit.
fn name_and_version(folder: &str) -> (&str, &str) {
    // A version begins with a number and a dot.
    let begins_version = |at: &usize| {
        let (number, rest) = folder[at + 1..].split_once('.').unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && !rest.is_empty()
    };
    let by_number = folder.match_indices('-').map(|(at, _)| at).find(begins_version);
    match by_number.or_else(|| folder.rfind('-')) {
        Some(at) => (&folder[..at], &folder[at + 1..]),
        None => (folder, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(file: &str) -> Option<String> {
        package_of(&Frame { file: Some(file.to_owned()), ..Frame::default() })
    }

    #[test]
    fn fetched_packages_are_known_by_their_folders() {
        let registry = "/home/me/.cargo/registry/src/index-0123abc/crossbeam-queue-0.3.11/src/a.rs";
        assert_eq!(package(registry).as_deref(), Some("crossbeam-queue 0.3.11"));
        let before = "/x/registry/src/i-1/a-1-b-2.0.0-rc.1/src/lib.rs";
        assert_eq!(package(before).as_deref(), Some("a-1-b 2.0.0-rc.1"));
        let repository = "/home/me/.cargo/git/checkouts/tokio-0f1e2d3c/abcdef0/tokio/src/lib.rs";
        assert_eq!(package(repository).as_deref(), Some("tokio"));
        assert_eq!(package("/home/me/bank/src/main.rs"), None);
        assert_eq!(package("src/main.rs"), None);
    }

    fn is_named(name: &str, file: &str, module: &str) -> bool {
        is_of(&[name.to_owned()], Some(file), Some(module))
    }

    #[test]
    fn a_fetched_package_is_named_as_cargo_names_it() {
        let file = "/home/me/.cargo/registry/src/index-0123abc/crossbeam-queue-0.3.11/src/a.rs";
        for name in ["crossbeam-queue", "crossbeam_queue", "crossbeam-queue@0.3.11"] {
            assert!(is_named(name, file, "/home/me/bank"), "{name}");
        }
        for name in ["crossbeam", "crossbeam-queue@0.3.1", "queue", "bank"] {
            assert!(!is_named(name, file, "/home/me/bank"), "{name}");
        }
        let repository = "/home/me/.cargo/git/checkouts/tokio-0f1e2d3c/abcdef0/tokio/src/lib.rs";
        assert!(is_named("tokio", repository, "bank") && !is_named("tokio@1", repository, "bank"));
    }

    #[test]
    fn a_directory_is_a_package_wherever_the_project_is() {
        for file in ["/home/me/bank/vendor/zlib/inflate.c", "vendor/zlib/src/a.c"] {
            assert!(is_named("vendor/zlib", file, "bank") && is_named("zlib/", file, "bank"));
            assert!(!is_named("vendor/z", file, "bank") && !is_named("inflate.c/", file, "bank"));
        }
        let file = "/home/me/bank/vendor/zlib/inflate.c";
        assert!(is_named("/home/me/bank", file, "bank") && !is_named("/vendor/zlib", file, "bank"));
        assert!(!is_named("/", "src/main.c", "bank") && !is_named("./", "src/main.c", "bank"));
    }

    #[test]
    fn a_shared_library_is_named_by_its_file() {
        let is_z = |name: &str| is_named(name, "/src/inflate.c", "/usr/lib/libz.so.1.3");
        assert!(is_z("libz.so") && is_z("libz.so.1") && is_z("libz.so.1.3"));
        assert!(!is_z("libz.so.2") && !is_z("libz") && !is_z("libzstd.so"));
        assert!(!is_named("bank", "/src/bank.c", "/src/bank"), "the program is no library");
    }
}
