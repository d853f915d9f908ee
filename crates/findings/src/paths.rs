//! File names as the reader of a report would type them.

use std::path::{Component, Path, PathBuf};

/// `file` as seen from `folder`, if it is below it; else as it is.
pub fn seen_from(file: &str, folder: &Path) -> String {
    let (file_path, folder) = (tidy(Path::new(file)), tidy(folder));
    match file_path.strip_prefix(&folder) {
        Ok(below) if !folder.as_os_str().is_empty() && !below.as_os_str().is_empty() => {
            below.to_string_lossy().into_owned()
        }
        _ => file.to_owned(),
    }
}

/// Without `.`, and without `..` where the folder before it is named: compilers write `/src/build/../bank.c`.
fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if ends_in_name(&tidied) => {
                tidied.pop();
            }
            part => tidied.push(part),
        }
    }
    tidied
}

fn ends_in_name(path: &Path) -> bool {
    matches!(path.components().next_back(), Some(Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_the_folder_are_seen_from_it() {
        let folder = Path::new("/home/me/bank");
        assert_eq!(seen_from("/home/me/bank/src/a.c", folder), "src/a.c");
        assert_eq!(seen_from("/home/me/bank/build/../src/./a.c", folder), "src/a.c");
        assert_eq!(seen_from("/home/me/banking/a.c", folder), "/home/me/banking/a.c");
        assert_eq!(seen_from("/usr/include/stdio.h", folder), "/usr/include/stdio.h");
        assert_eq!(seen_from("src/a.c", folder), "src/a.c");
        assert_eq!(seen_from("../a.c", Path::new("")), "../a.c");
    }
}
