//! `unpick import`: a store of its own from a file of exported runs.
//!
//! Takes   a file of `unpick export`, trusted in nothing.      Gives  a store that all verbs can look at, or nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use unpick_findings::Findings;
use unpick_names::{NameTable, NotNames, StoredNames};
use unpick_problem::Problem;
use unpick_run_store::{Piece, Store, Unpacked, unpack};

use crate::quantities::{bytes, counted};
use crate::record::store_option;
use crate::store_folder::store_folder;

pub const HELP: &str = "\
The runs keep their numbers, so the store must be new or empty. Neither the program nor its source is needed to look at them:
  unpick import --store bank bank.unpick
  unpick show --store bank
  unpick runs --store bank
  unpick rank --store bank --formula ochiai
Other windows and modes need the recordings (unpick export --with-recordings); accesses that only these show have no names without
the program, and locks of Rust are not recognised there.";

/// What `unpick import` can be told.
#[derive(clap::Args)]
pub struct Import {
    /// Give up if it unpacks to more than this
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = bytes)]
    limit: u64,
    /// Folder to make, which will hold the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
    /// A file that `unpick export` wrote
    file: PathBuf,
}

pub fn run(import: Import) -> Result<ExitCode, Problem> {
    let unpacked = unpack(&import.file, &import.store, import.limit)?;
    check(&unpacked, &import.file)?;
    let (hunt, runs) = (unpacked.manifest.hunt, counted(unpacked.manifest.runs, "run"));
    unpacked.put_in_place()?;
    eprintln!("unpick: hunt {hunt}: {runs} imported into {}", import.store.display());
    eprintln!("unpick: next: unpick show{}", store_option(&import.store));
    Ok(ExitCode::SUCCESS)
}

/// What `unpack` does not know: names and findings.
fn check(unpacked: &Unpacked, file: &Path) -> Result<(), Problem> {
    let unreadable = |piece: Piece, why: String| {
        Problem::usage("the exported runs cannot be read")
            .at("file", file.display())
            .why(format!("{piece}: {why}"))
            .next("export them again, with this version of unpick; nothing was imported")
    };
    if let Some(bytes) = piece_of(unpacked, Piece::Names)? {
        NameTable::from_json(&bytes).map_err(|why| unreadable(Piece::Names, why.to_string()))?;
    }
    if let Some(bytes) = piece_of(unpacked, Piece::Findings)? {
        let text = String::from_utf8_lossy(&bytes);
        Findings::from_json(&text)
            .map_err(|why| unreadable(Piece::Findings, format!("{why:?}")))?;
    }
    Ok(())
}

fn piece_of(unpacked: &Unpacked, piece: Piece) -> Result<Option<Vec<u8>>, Problem> {
    read_if_there(&piece.below(unpacked.folder()))
}

/// The names that came with imported runs; none in a store that nothing was imported into.
pub fn names_in(store: &Path) -> Result<Option<StoredNames>, Problem> {
    let file = Piece::Names.below(store);
    let Some(bytes) = read_if_there(&file)? else { return Ok(None) };
    let table = NameTable::from_json(&bytes).map_err(|why| cannot_use(&file, &why))?;
    Ok(Some(StoredNames::new(table)))
}

fn read_if_there(file: &Path) -> Result<Option<Vec<u8>>, Problem> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::own_fault("what was imported cannot be read")
            .at("file", file.display())
            .why(error)
            .next("import again, into another store: unpick import --store DIR FILE")),
    }
}

fn cannot_use(file: &Path, why: &NotNames) -> Problem {
    Problem::usage("the names of imported runs cannot be read")
        .at("file", file.display())
        .why(why)
        .next("import again, into another store: unpick import --store DIR FILE")
}
