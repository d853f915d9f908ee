//! File names without what they tell about the user.
//!
//! Takes   names of files, and texts that may have some in them.
//! Gives   files below the working folder as seen from it, below the home folder with `~`; of others but those of the system the last two
//!         parts, behind `…`. The same name always becomes the same, two names never do.
//! Misses  private folders in the middle of a text, but for the working, home and temporary ones.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::env;
use std::path::{Component, Path, PathBuf};

/// What is the same on many machines tells nothing about one.
const OF_THE_SYSTEM: [&str; 8] =
    ["/usr", "/lib", "/lib64", "/bin", "/rustc", "/nix/store", "/dev", "/proc"];
const ELSEWHERE: &str = "…";

/// What is private on this machine.
#[derive(Debug, Default)]
pub struct PrivatePaths {
    /// Folder, and what stands for it; longest first.
    folders: Vec<(String, &'static str)>,
    /// What was given for files elsewhere.
    given: RefCell<HashMap<String, String>>,
    taken: RefCell<HashSet<String>>,
}

impl PrivatePaths {
    /// Of this process; its working folder and these count as where a program was run.
    pub fn here<'p>(working_folders: impl IntoIterator<Item = &'p Path>) -> PrivatePaths {
        let mut folders: Vec<(PathBuf, &'static str)> = Vec::new();
        let logical = env::var_os("PWD").map(PathBuf::from);
        folders.extend(env::current_dir().ok().into_iter().chain(logical).map(|here| (here, "")));
        folders.extend(working_folders.into_iter().map(|folder| (folder.to_owned(), "")));
        folders.extend(env::var_os("HOME").map(|home| (PathBuf::from(home), "~")));
        folders.push((env::temp_dir(), ELSEWHERE));
        PrivatePaths::new(folders)
    }

    fn new(folders: Vec<(PathBuf, &'static str)>) -> PrivatePaths {
        let real = |(folder, sign): &(PathBuf, _)| Some((folder.canonicalize().ok()?, *sign));
        let mut all: Vec<_> = folders.iter().filter_map(real).collect();
        all.extend(folders);
        let mut folders: Vec<_> = all
            .into_iter()
            .filter(|(folder, _)| folder.is_absolute() && folder.parent().is_some())
            .map(|(folder, sign)| (tidy(&folder).to_string_lossy().into_owned(), sign))
            .collect();
        // Where a folder is two things at once, being the working folder counts.
        folders.sort_by(|one, other| (other.0.len(), one.1).cmp(&(one.0.len(), other.1)));
        folders.dedup_by(|later, first| later.0 == first.0);
        PrivatePaths { folders, ..PrivatePaths::default() }
    }

    /// A file name.
    pub fn path(&self, path: &str) -> String {
        let tidied = tidy(Path::new(path));
        if !tidied.is_absolute() {
            return path.to_owned();
        }
        let known = self.folders.iter().filter(|(_, sign)| *sign != ELSEWHERE);
        for (folder, sign) in known {
            if let Ok(below) = tidied.strip_prefix(folder) {
                return joined(sign, &below.to_string_lossy());
            }
        }
        if OF_THE_SYSTEM.iter().any(|folder| tidied.starts_with(folder)) {
            return path.to_owned();
        }
        self.elsewhere(&tidied)
    }

    /// A word of a command: a file name, `--option=FILE`, or a text.
    pub fn word(&self, word: &str) -> String {
        match word.split_once('=') {
            Some((option, path)) if path.starts_with('/') => {
                format!("{}={}", self.text(option), self.path(path))
            }
            _ if word.starts_with('/') => self.path(word),
            _ => self.text(word),
        }
    }

    /// A text that may have file names in it.
    pub fn text(&self, text: &str) -> String {
        let replace = |text: String, (folder, sign): &(String, &'static str)| {
            without_folder(&text, folder, sign)
        };
        self.folders.iter().fold(text.to_owned(), replace)
    }

    /// The last two parts; where another file has these already, with a number.
    fn elsewhere(&self, path: &Path) -> String {
        let whole = path.to_string_lossy().into_owned();
        if let Some(known) = self.given.borrow().get(&whole) {
            return known.clone();
        }
        let parts: Vec<_> = path.iter().skip(1).map(|part| part.to_string_lossy()).collect();
        let end = parts[parts.len().saturating_sub(2)..].join("/");
        let mut taken = self.taken.borrow_mut();
        let numbered = (2..).map(|number: u32| format!("{ELSEWHERE}{number}/{end}"));
        let mut candidates = std::iter::once(format!("{ELSEWHERE}/{end}")).chain(numbered);
        let name = candidates.find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(name.clone());
        self.given.borrow_mut().insert(whole, name.clone());
        name
    }
}

fn joined(sign: &str, below: &str) -> String {
    match (sign, below) {
        ("", "") => ".".to_owned(),
        ("", below) => below.to_owned(),
        (sign, "") => sign.to_owned(),
        (sign, below) => format!("{sign}/{below}"),
    }
}

/// Replaces a folder wherever it stands as a whole.
fn without_folder(text: &str, folder: &str, sign: &str) -> String {
    let is_in_name = |c: char| c.is_alphanumeric() || "._-~".contains(c);
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let (before, behind) = (&rest[..at], &rest[at + folder.len()..]);
        let goes_on = behind.starts_with(is_in_name);
        result.push_str(before);
        match (goes_on, behind.strip_prefix('/')) {
            (true, _) => result.push_str(folder),
            (false, Some(below)) if sign.is_empty() && below.starts_with(is_in_name) => {
                rest = below;
                continue;
            }
            (false, _) => result.push_str(if sign.is_empty() { "." } else { sign }),
        }
        rest = behind;
    }
    result + rest
}

/// Without `.`, and without `..` where the folder before it is named.
fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(tidied.components().next_back(), Some(Component::Normal(_))) =>
            {
                tidied.pop();
            }
            part => tidied.push(part),
        }
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> PrivatePaths {
        let folder = |path: &str, sign| (PathBuf::from(path), sign);
        PrivatePaths::new(vec![
            folder("/home/me/bank", ""),
            folder("/home/me", "~"),
            folder("/scratch", ELSEWHERE),
        ])
    }

    #[test]
    fn files_are_seen_from_the_working_folder_or_from_home() {
        let paths = paths();
        assert_eq!(paths.path("/home/me/bank/src/a.c"), "src/a.c");
        assert_eq!(paths.path("/home/me/bank/build/../a.c"), "a.c");
        assert_eq!(paths.path("/home/me/bank"), ".");
        assert_eq!(paths.path("/home/me/lib/b.c"), "~/lib/b.c");
        assert_eq!(paths.path("src/a.c"), "src/a.c");
    }

    #[test]
    fn of_files_elsewhere_the_end_is_told_and_the_system_is_no_secret() {
        let paths = paths();
        assert_eq!(paths.path("/usr/include/stdio.h"), "/usr/include/stdio.h");
        assert_eq!(paths.path("/home/me2/x/src/mod.rs"), "…/src/mod.rs");
        assert_eq!(paths.path("/scratch/me/src/mod.rs"), "…2/src/mod.rs");
        assert_eq!(paths.path("/home/me2/x/src/mod.rs"), "…/src/mod.rs");
        assert_eq!(paths.path("/secret"), "…/secret");
    }

    #[test]
    fn words_of_a_command_are_paths_options_or_texts() {
        let paths = paths();
        assert_eq!(paths.word("/home/me/bank/bank"), "bank");
        assert_eq!(paths.word("--input=/data/me/in.txt"), "--input=…/me/in.txt");
        assert_eq!(paths.word("cd /home/me/bank && ./run /home/me/x"), "cd . && ./run ~/x");
        assert_eq!(paths.word("-I/home/me/include"), "-I~/include");
        assert_eq!(paths.word("./bank"), "./bank");
    }

    #[test]
    fn texts_lose_private_folders_and_nothing_else() {
        let paths = paths();
        assert_eq!(paths.text("(lambda at /home/me/bank/a.cc:3:4)"), "(lambda at a.cc:3:4)");
        assert_eq!(paths.text("in /home/me, in /home/men"), "in ~, in /home/men");
        assert_eq!(paths.text("/scratch/x and stdout ~ /LOST/"), "…/x and stdout ~ /LOST/");
        assert_eq!(paths.text("/home/me/bank/"), "./");
    }

    #[test]
    fn a_home_that_is_the_root_hides_nothing() {
        let paths = PrivatePaths::new(vec![(PathBuf::from("/"), "~")]);
        assert_eq!(paths.text("a / b"), "a / b");
    }
}
