//! Updates taken out of real code: does `unpick correlate --broken` name them?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use unpick_correlations::{Break, CorrelationList};
use unpick_problem::Problem;

use crate::bases::Base;
use crate::failed;

const PLANTED: &str = include_str!("../planted.toml");

#[derive(Deserialize)]
struct File {
    planted: Vec<Planted>,
}

#[derive(Deserialize)]
struct Planted {
    base: String,
    file: String,
    /// Occurs once in the file.
    search: String,
    replace: String,
    function: String,
    /// What the function now leaves out.
    missing: String,
}

/// A plant, and where it was found.
pub struct Found {
    pub function: String,
    pub missing: String,
    pub rank: Option<usize>,
}

/// Takes all updates of a code base out of it, looks for them, and puts them back. What did not change is known from the
/// measurement before, in the same store.
pub fn find(unpick: &Path, base: &Base, folder: &Path) -> Result<Vec<Found>, Problem> {
    let file: File = toml::from_str(PLANTED).map_err(|error| failed("planted.toml", error))?;
    let mine: Vec<Planted> =
        file.planted.into_iter().filter(|planted| planted.base == base.name).collect();
    if mine.is_empty() {
        return Ok(Vec::new());
    }
    let mut originals = Vec::new();
    let planted = mine.iter().try_for_each(|planted| {
        originals.push(plant(&base.folder, planted)?);
        Ok(())
    });
    let list = planted.and_then(|()| breaks(unpick, &base.folder, folder));
    // The last change of a file first.
    for (path, text) in originals.into_iter().rev() {
        fs::write(&path, text).map_err(|error| failed("a file is not as it was", error))?;
    }
    let list = list?;
    Ok(mine
        .into_iter()
        .map(|planted| Found {
            rank: list.iter().find(|found| is_it(found, &planted)).map(|found| found.rank),
            function: planted.function,
            missing: planted.missing,
        })
        .collect())
}

fn is_it(found: &Break, planted: &Planted) -> bool {
    let asked = std::iter::once(&found.right).chain(found.others.iter().map(|rule| &rule.right));
    found.place.function == planted.function
        && asked.into_iter().any(|side| side.variable == planted.missing)
}

/// Gives the file as it was.
fn plant(base: &Path, planted: &Planted) -> Result<(PathBuf, String), Problem> {
    let path = base.join(&planted.file);
    let text = fs::read_to_string(&path).map_err(|error| failed(&planted.file, error))?;
    if text.matches(&planted.search).count() != 1 {
        return Err(failed("a plant has no place of its own", &planted.search));
    }
    let changed = text.replacen(&planted.search, &planted.replace, 1);
    fs::write(&path, changed).map_err(|error| failed(&planted.file, error))?;
    Ok((path, text))
}

fn breaks(unpick: &Path, base: &Path, folder: &Path) -> Result<Vec<Break>, Problem> {
    let json = folder.join("planted.json");
    Command::new(unpick)
        .args(["correlate", "--broken", "--json"])
        .args([&json, base])
        .arg("--store")
        .arg(folder.join("store"))
        .output()
        .map_err(|error| failed("unpick does not start", error))?;
    let text = fs::read_to_string(&json).map_err(|error| failed("no list", error))?;
    let list = CorrelationList::from_json(&text).map_err(|error| failed("no list", error))?;
    Ok(list.breaks)
}
