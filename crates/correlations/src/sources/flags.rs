//! How a file is compiled: as `compile_commands.json` says, as somebody saw it compiled, or as well as can be guessed.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::SeenFlags;
use super::files::SourceFiles;
use super::includes::{Include, Includes};

/// Include folders that are guessed at most: with more, names begin to clash.
const MOST_GUESSED: usize = 40;

/// Flags per file, and those for files that nothing is known of.
pub struct Flags {
    known: HashMap<PathBuf, Vec<String>>,
    guessed: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Vec<String>,
    command: Option<String>,
}

impl Flags {
    pub fn find(
        files: &SourceFiles,
        seen: &SeenFlags,
        includes: &mut Includes,
        missing: &mut Vec<String>,
    ) -> Self {
        let mut known = HashMap::new();
        let mut has_database = false;
        for database in databases(&files.roots) {
            match read_database(&database) {
                Ok(read) => {
                    has_database = true;
                    missing.extend(told_gone(&database, &read.gone));
                    known.extend(read.flags);
                }
                Err(error) => missing.push(format!(
                    "{}: not used, flags are guessed: {error}; let the build system write it anew",
                    database.display()
                )),
            }
        }
        for file in &files.c {
            if !known.contains_key(file)
                && let Some((directory, words)) = seen(file)
            {
                known.insert(file.clone(), flags_in(&directory, &words));
            }
        }
        let strangers = files.c.iter().filter(|file| !known.contains_key(*file)).count();
        if (has_database || !known.is_empty()) && strangers > 0 {
            missing.push(format!(
                "{strangers} of {} files are in no compile_commands.json, nor were they seen by unpick cc: their flags are guessed",
                files.c.len()
            ));
        }
        Self { known, guessed: guessed_folders(files, includes) }
    }

    /// The arguments for libclang.
    pub fn of(&self, file: &Path) -> Vec<String> {
        let mut arguments = self.known.get(file).cloned().unwrap_or_else(|| self.guess(file));
        // Nobody reads them.
        arguments.push("-w".to_owned());
        arguments
    }

    fn guess(&self, file: &Path) -> Vec<String> {
        let mut arguments = Vec::new();
        if file.extension().is_some_and(|extension| extension != "c") {
            arguments.push("-std=gnu++17".to_owned());
        }
        arguments.extend(self.guessed.iter().map(|folder| format!("-I{}", folder.display())));
        arguments
    }
}

/// `compile_commands.json` of the folders, of their `build`, and of the folders around them.
fn databases(roots: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for root in roots {
        let folders = root.ancestors().take(3).flat_map(|at| [at.to_path_buf(), at.join("build")]);
        let first =
            folders.map(|folder| folder.join("compile_commands.json")).find(|p| p.is_file());
        found.extend(first.filter(|path| !found.contains(path)));
    }
    found
}

/// What a `compile_commands.json` says.
#[derive(Default)]
struct DatabaseRead {
    flags: HashMap<PathBuf, Vec<String>>,
    /// Files that are not there.
    gone: Vec<PathBuf>,
}

fn read_database(path: &Path) -> Result<DatabaseRead, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let entries: Vec<Entry> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let mut read = DatabaseRead::default();
    for entry in entries {
        let file = entry.directory.join(&entry.file);
        match file.canonicalize() {
            Ok(file) => {
                read.flags.insert(file, flags_of_entry(entry));
            }
            Err(_) => read.gone.push(file),
        }
    }
    Ok(read)
}

/// Half a build, or one of another time.
fn told_gone(database: &Path, gone: &[PathBuf]) -> Option<String> {
    let first = gone.first()?;
    Some(format!(
        "{}: {} of the files it names {} not there, such as {}: build again, and it will be what is there",
        database.display(),
        gone.len(),
        if gone.len() == 1 { "is" } else { "are" },
        first.display()
    ))
}

fn flags_of_entry(entry: Entry) -> Vec<String> {
    let words = match entry.command {
        Some(command) if entry.arguments.is_empty() => words_of(&command),
        _ => entry.arguments,
    };
    // The first word is the compiler.
    flags_in(&entry.directory, words.get(1..).unwrap_or_default())
}

fn flags_in(directory: &Path, words: &[String]) -> Vec<String> {
    let mut arguments = vec![format!("-working-directory={}", directory.display())];
    arguments.extend(wanted_flags(words));
    arguments
}

/// What matters for parsing; neither outputs nor the file itself, nor what only gcc knows.
fn wanted_flags(words: &[String]) -> Vec<String> {
    const WITH_VALUE: [&str; 8] =
        ["-I", "-D", "-U", "-isystem", "-iquote", "-include", "-idirafter", "-x"];
    const BEGINNINGS: [&str; 9] =
        ["-I", "-D", "-U", "-isystem", "-iquote", "-std=", "-pthread", "-m32", "-fshort-enums"];
    let mut wanted = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word.as_str()) {
            wanted.push(word.clone());
            wanted.extend(words.next().cloned());
        } else if word == "-o" {
            words.next();
        } else if BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)) {
            wanted.push(word.clone());
        }
    }
    wanted
}

/// Splits a command line as a shell does, without expanding anything.
fn words_of(command: &str) -> Vec<String> {
    let (mut words, mut word, mut is_open) = (Vec::new(), String::new(), false);
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some('\''), _) => word.push(letter),
            (_, '\\') => word.extend(letters.next()),
            (None, '"' | '\'') => {
                quote = Some(letter);
                is_open = true;
            }
            (None, _) if letter.is_whitespace() => {
                if is_open || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            _ => word.push(letter),
        }
    }
    if is_open || !word.is_empty() {
        words.push(word);
    }
    words
}

/// Folders from which the names in `#include` lines lead to headers of the code base, those that explain most first.
fn guessed_folders(files: &SourceFiles, includes: &mut Includes) -> Vec<PathBuf> {
    let mut by_name: HashMap<&std::ffi::OsStr, Vec<&PathBuf>> = HashMap::new();
    for header in &files.headers {
        by_name.entry(header.file_name().unwrap_or_default()).or_default().push(header);
    }
    let mut explained: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for file in files.c.iter().chain(&files.headers) {
        for include in includes.text(file).includes.iter().filter(|one| !is_of_the_language(one)) {
            let name = Path::new(&include.name);
            let headers = name.file_name().and_then(|last| by_name.get(last));
            for header in headers.into_iter().flatten().filter(|header| header.ends_with(name)) {
                let levels = name.components().count();
                if let Some(folder) = header.ancestors().nth(levels) {
                    *explained.entry(folder.to_path_buf()).or_default() += 1;
                }
            }
        }
    }
    let mut folders: Vec<(usize, PathBuf)> =
        explained.into_iter().map(|(folder, count)| (count, folder)).collect();
    folders.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    folders.into_iter().take(MOST_GUESSED).map(|(_, folder)| folder).collect()
}

/// Headers of C's library. A code base that has its own for some other machine (`shim/stdlib.h`) does not mean those here.
const OF_C: [&str; 29] = [
    "assert.h",
    "complex.h",
    "ctype.h",
    "errno.h",
    "fenv.h",
    "float.h",
    "inttypes.h",
    "iso646.h",
    "limits.h",
    "locale.h",
    "math.h",
    "setjmp.h",
    "signal.h",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "stdnoreturn.h",
    "string.h",
    "tgmath.h",
    "threads.h",
    "time.h",
    "uchar.h",
    "wchar.h",
    "wctype.h",
];

fn is_of_the_language(include: &Include) -> bool {
    OF_C.contains(&include.name.as_str())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Includes, SourceFiles, guessed_folders, wanted_flags, words_of};

    #[test]
    fn a_header_in_place_of_one_of_the_language_is_not_taken_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a.c", "#include <stdlib.h>\n#include \"string.h\"\n#include <own.h>\n");
        write("shim/stdlib.h", "");
        write("shim/string.h", "");
        write("include/own.h", "");
        let paths = [folder.path().to_path_buf()];
        let files = SourceFiles::below(&paths, 1 << 20, &mut Vec::new()).unwrap();
        let guessed = guessed_folders(&files, &mut Includes::default());
        let names: Vec<_> = guessed.iter().filter_map(|folder| folder.file_name()).collect();
        assert_eq!(names, ["include"]);
    }

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        let words = words_of(r#"cc -DA="x y" -DB=\"q\" 'a b.c' -I"in c" """#);
        assert_eq!(words, ["cc", "-DA=x y", "-DB=\"q\"", "a b.c", "-Iin c", ""]);
    }

    #[test]
    fn outputs_warnings_and_the_file_are_left_out() {
        let words =
            words_of("g++ -O2 -Wall -Iinc -I lib -DX=1 -std=c++20 -o a.o -c a.cc -MD -MF a.d");
        let wanted = wanted_flags(&words[1..]);
        assert_eq!(wanted, ["-Iinc", "-I", "lib", "-DX=1", "-std=c++20"]);
    }
}
