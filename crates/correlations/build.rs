//! Numbers the rules by which sources are read, so that nobody can forget to: what was kept by other rules is read anew.
//!
//! Takes   the sources of this crate that decide what comes of reading, and the versions and features it asks for of its parsers.
//! Gives   `UNPICK_READING_RULES`: a hash of names and contents, the same wherever the sources lie and in whichever order they are found.
//! Misses  parsers that change without a change of `Cargo.toml`.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// All that decides what comes of reading, as seen from this crate's folder.
const READERS: [&str; 5] =
    ["Cargo.toml", "src/access_sets", "src/access_sets.rs", "src/sources", "src/sources.rs"];

fn main() {
    for reader in READERS {
        // Of a folder this means all that is in it.
        println!("cargo::rerun-if-changed={reader}");
    }
    // Cargo runs this in the crate's folder.
    match reading_rules(Path::new("")) {
        Ok(rules) => println!("cargo::rustc-env=UNPICK_READING_RULES={rules:016x}"),
        Err(error) => println!("cargo::error=the sources of this crate cannot be read: {error}"),
    }
}

/// The number of the rules that the sources of a crate amount to.
pub fn reading_rules(of_crate: &Path) -> io::Result<u64> {
    let mut texts = BTreeMap::new();
    for reader in READERS {
        collect(of_crate, reader, &mut texts)?;
    }
    Ok(hash_of(&texts))
}

/// All files below a name, by names that have the same separator everywhere.
fn collect(of_crate: &Path, name: &str, texts: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    let path = of_crate.join(name);
    if !path.is_dir() {
        texts.insert(name.to_owned(), fs::read(path)?);
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let inside = entry?.file_name();
        collect(of_crate, &format!("{name}/{}", inside.to_string_lossy()), texts)?;
    }
    Ok(())
}

/// FNV-1a, with the length before each text: what ends one file and what begins the next cannot change places.
fn hash_of(texts: &BTreeMap<String, Vec<u8>>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in length.iter().chain(bytes) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for (name, text) in texts {
        add(name.as_bytes());
        add(text);
    }
    hash
}
