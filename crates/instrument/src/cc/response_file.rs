//! Response files: `@file` on a command line stands for the arguments in that file.
//!
//! The rules are those of gcc (libiberty's `expandargv`) and clang's GNU tokenizer: arguments end at white space,
//! either kind of quote groups, a backslash makes the next character ordinary everywhere, files may name further
//! files, and `@name` of a file that cannot be read is an argument like any other.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// A file that names itself must end somewhere; gcc stops at 2000 files.
const MOST_FILES: usize = 2000;

/// One argument of the command line as typed, and the arguments it stands for.
pub(super) struct Expanded {
    pub typed: OsString,
    pub stands_for: Vec<OsString>,
}

pub(super) fn expand(args: &[OsString]) -> Vec<Expanded> {
    let mut files_left = MOST_FILES;
    args.iter()
        .map(|arg| {
            let mut stands_for = Vec::new();
            expand_into(&mut stands_for, arg, &mut files_left);
            Expanded { typed: arg.clone(), stands_for }
        })
        .collect()
}

fn expand_into(arguments: &mut Vec<OsString>, arg: &OsStr, files_left: &mut usize) {
    match content_of_response_file(arg) {
        Some(content) if *files_left > 0 => {
            *files_left -= 1;
            for inner in split(&content) {
                expand_into(arguments, &inner, files_left);
            }
        }
        _ => arguments.push(arg.to_owned()),
    }
}

fn content_of_response_file(arg: &OsStr) -> Option<Vec<u8>> {
    let name = arg.as_bytes().strip_prefix(b"@")?;
    fs::read(Path::new(OsStr::from_bytes(name))).ok()
}

/// Splits text into arguments by gcc's quoting rules.
pub(super) fn split(text: &[u8]) -> Vec<OsString> {
    let mut arguments = Vec::new();
    let mut current: Option<Vec<u8>> = None;
    let mut quote: Option<u8> = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        let ends_argument = quote.is_none() && byte.is_ascii_whitespace();
        if ends_argument {
            arguments.extend(current.take());
            continue;
        }
        let argument = current.get_or_insert_default();
        match byte {
            b'\\' => argument.extend(bytes.next()),
            _ if quote == Some(byte) => quote = None,
            b'\'' | b'"' if quote.is_none() => quote = Some(byte),
            _ => argument.push(byte),
        }
    }
    arguments.extend(current);
    arguments.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_text(text: &str) -> Vec<String> {
        split(text.as_bytes()).into_iter().map(|arg| arg.into_string().unwrap()).collect()
    }

    #[test]
    fn white_space_of_any_kind_separates() {
        assert_eq!(split_text(" -c\n\ta.c \r\n"), ["-c", "a.c"]);
    }

    #[test]
    fn quotes_group_and_may_be_empty() {
        assert_eq!(split_text(r#"'a b'"c d" "" -DX='"y"'"#), ["a bc d", "", r#"-DX="y""#]);
    }

    #[test]
    fn a_backslash_protects_the_next_character_even_in_quotes() {
        assert_eq!(split_text(r#"a\ b 'it\'s' "\"q\"" c\\d"#), ["a b", "it's", r#""q""#, r"c\d"]);
    }

    #[test]
    fn files_may_name_files_and_a_loop_ends() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner.rsp");
        let outer = folder.path().join("outer.rsp");
        let looping = folder.path().join("loop.rsp");
        fs::write(&inner, "-DX 'b c.c'").unwrap();
        fs::write(&outer, format!("-c @{} -Wall", inner.display())).unwrap();
        fs::write(&looping, format!("@{}", looping.display())).unwrap();

        let expanded = expand(&[format!("@{}", outer.display()).into()]);
        assert_eq!(expanded[0].stands_for, ["-c", "-DX", "b c.c", "-Wall"]);
        assert_eq!(expand(&[format!("@{}", looping.display()).into()]).len(), 1);
    }

    #[test]
    fn a_missing_file_is_an_ordinary_argument() {
        let expanded = expand(&["@no/such/file".into()]);
        assert_eq!(expanded[0].stands_for, ["@no/such/file"]);
    }
}
