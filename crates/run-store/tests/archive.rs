//! What can be wrong with a file of exported runs, and that nothing of it stays.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;
use unpick_analyses::{Collector, Options};
use unpick_events::Label;
use unpick_recording::{Outcome, RunInfo, RunOptions};
use unpick_run_store::{Manifest, Packer, Piece, Store, unpack};

mod packed;

use packed::packed;

const MOST_BYTES: u64 = 1 << 24;

struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Scene {
        Scene { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self) -> PathBuf {
        self.path("export")
    }

    /// The problem with these bytes; nothing else is left of them.
    fn refused(&self, bytes: &[u8]) -> String {
        fs::write(self.file(), bytes).unwrap();
        let problem = unpack(&self.file(), &self.path("store"), MOST_BYTES).unwrap_err();
        assert_eq!(fs::read_dir(self.folder.path()).unwrap().count(), 1, "{problem}");
        assert_eq!(problem.exit_code(), 2, "{problem}");
        problem.to_string()
    }
}

fn info(label: Label, hunt: u64) -> Vec<u8> {
    let info = RunInfo {
        written_as: None,
        stdin: None,
        judged_by: None,
        command: vec!["./bank".to_owned()],
        working_folder: PathBuf::from("."),
        started_ms: 1,
        duration_ms: 1,
        outcome: Outcome::Exit { code: 0 },
        options: RunOptions::default(),
        seed: 1,
        unpick_version: "0.1.0".to_owned(),
        format_version: 2,
        label: Some(label),
        why: None,
        hunt: Some(hunt),
    };
    serde_json::to_vec(&info).unwrap()
}

/// Two runs, packed.
fn export() -> Vec<u8> {
    let scene = Scene::new();
    let mut packer = Packer::begin(&scene.file(), &Manifest::new(3, 2)).unwrap();
    let patterns = Collector::new(Options::default()).finish().to_bytes();
    for (run, label) in [(3, Label::Pass), (4, Label::Fail)] {
        packer.add(Piece::RunInfo { run }, &info(label, 3)).unwrap();
        packer.add(Piece::Patterns { run }, &patterns).unwrap();
    }
    let recording = scene.path("a recording");
    fs::write(&recording, [7; 100_000]).unwrap();
    packer.add_file(Piece::Recording { run: 4, process: 77, image: 0 }, &recording).unwrap();
    packer.finish().unwrap();
    assert!(!scene.path("store").exists());
    fs::read(scene.file()).unwrap()
}

fn tar_of(packed: &[u8]) -> Vec<u8> {
    let mut tar = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut tar).unwrap();
    tar
}

/// An archive with a good manifest and one more entry.
fn with_entry(name: &str, kind: EntryType, bytes: &[u8]) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    let manifest = serde_json::to_vec(&Manifest::new(3, 0)).unwrap();
    append(&mut tar, "manifest.json", EntryType::Regular, &manifest);
    append(&mut tar, name, kind, bytes);
    packed(&tar.into_inner().unwrap())
}

/// Names that `tar` itself would refuse are written as well.
fn append(tar: &mut Builder<Vec<u8>>, name: &str, kind: EntryType, bytes: &[u8]) {
    let mut header = Header::new_ustar();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    tar.append(&header, bytes).unwrap();
}

#[test]
fn what_was_packed_comes_back_with_its_numbers() {
    let scene = Scene::new();
    fs::write(scene.file(), export()).unwrap();
    let store = scene.path("store");
    unpack(&scene.file(), &store, MOST_BYTES).unwrap().put_in_place().unwrap();
    let runs = Store::at(&store).runs_of_hunt(None).unwrap();
    let found: Vec<_> = runs.iter().map(|run| (run.number, run.label())).collect();
    assert_eq!(found, [(3, Label::Pass), (4, Label::Fail)]);
    assert_eq!(fs::read(store.join("runs/0004/77-0.events")).unwrap(), [7; 100_000]);
    assert_eq!(fs::read_dir(scene.folder.path()).unwrap().count(), 2);
}

#[test]
fn the_same_pieces_give_the_same_bytes() {
    assert_eq!(export(), export());
}

#[test]
fn a_file_that_was_cut_is_refused_wherever_it_was_cut() {
    let (scene, whole) = (Scene::new(), export());
    for end in (0..whole.len()).step_by(whole.len() / 40) {
        let told = scene.refused(&whole[..end]);
        assert!(told.contains("damaged") || told.contains("no file of exported runs"), "{told}");
    }
    assert!(scene.refused(&whole[..whole.len() - 1]).contains("it ends too early"));
}

#[test]
fn a_bit_that_was_lost_is_noticed() {
    let (scene, whole) = (Scene::new(), export());
    // Behind the header of gzip; the last byte before its trailer has bits that mean nothing.
    for at in (10..whole.len()).step_by(13).filter(|&at| at != whole.len() - 9) {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        scene.refused(&bytes);
    }
}

#[test]
fn an_archive_without_its_last_run_is_not_whole() {
    let scene = Scene::new();
    let tar = tar_of(&export());
    let second = tar.windows(9).position(|window| window == b"runs/0004").unwrap();
    let told = scene.refused(&packed(&[&tar[..second], &[0; 1024][..]].concat()));
    assert!(told.contains("it has 1 runs and should have 2"), "{told}");
}

#[test]
fn other_files_and_other_archives_are_told_apart_from_exports() {
    let scene = Scene::new();
    let mut other = Builder::new(Vec::new());
    append(&mut other, "holiday.jpg", EntryType::Regular, b"picture");
    let other = packed(&other.into_inner().unwrap());
    for bytes in [&b""[..], b"text", &packed(b"text"), &packed(&[0; 4096]), &other] {
        let told = scene.refused(bytes);
        assert!(told.contains("this is no file of exported runs"), "{told}");
    }
}

#[test]
fn a_newer_version_is_named() {
    let scene = Scene::new();
    let mut tar = Builder::new(Vec::new());
    let newer = br#"{"form": "unpick-export/2", "contents": []}"#;
    append(&mut tar, "manifest.json", EntryType::Regular, newer);
    let told = scene.refused(&packed(&tar.into_inner().unwrap()));
    assert!(told.contains("`unpick-export/2`") && told.contains("a newer one"), "{told}");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let scene = Scene::new();
    for name in ["../escaped", "/tmp/escaped", "runs/0001/../../../escaped", "runs/0001/stdout"] {
        let told = scene.refused(&with_entry(name, EntryType::Regular, b"harm"));
        assert!(told.contains(name) && told.contains("does not belong"), "{told}");
    }
}

#[test]
fn links_and_folders_are_refused() {
    let scene = Scene::new();
    let kinds = [EntryType::Symlink, EntryType::Link, EntryType::Directory, EntryType::Fifo];
    for kind in kinds.into_iter().chain([EntryType::GNULongName, EntryType::XHeader]) {
        let told = scene.refused(&with_entry("runs/0001/run.json", kind, b""));
        assert!(told.contains("does not belong"), "{kind:?}: {told}");
    }
}

#[test]
fn a_piece_that_is_there_twice_is_damage() {
    let scene = Scene::new();
    let mut tar = Builder::new(Vec::new());
    let manifest = serde_json::to_vec(&Manifest::new(3, 1)).unwrap();
    append(&mut tar, "manifest.json", EntryType::Regular, &manifest);
    for _ in 0..2 {
        append(&mut tar, "runs/0003/run.json", EntryType::Regular, &info(Label::Pass, 3));
    }
    let told = scene.refused(&packed(&tar.into_inner().unwrap()));
    assert!(told.contains("is in it twice"), "{told}");
}

#[test]
fn runs_of_another_hunt_do_not_slip_in() {
    let scene = Scene::new();
    let bytes = with_entry("runs/0005/run.json", EntryType::Regular, &info(Label::Pass, 5));
    assert!(scene.refused(&bytes).contains("run 5 is of another hunt"));
}

#[test]
fn a_small_file_that_unpacks_to_much_is_refused() {
    let scene = Scene::new();
    let zeros = vec![0; 2 * MOST_BYTES as usize];
    let bytes = with_entry("runs/0001/1-0.events", EntryType::Regular, &zeros);
    assert!((bytes.len() as u64) < MOST_BYTES / 50);
    let told = scene.refused(&bytes);
    assert!(told.contains("larger than they may be") && told.contains("--limit"), "{told}");
    // Behind the end of the archive as well.
    let hidden = [&tar_of(&export())[..], &zeros].concat();
    assert!(scene.refused(&packed(&hidden)).contains("larger than they may be"));
}

#[test]
fn a_store_with_something_in_it_is_refused_and_an_empty_folder_is_not() {
    let scene = Scene::new();
    fs::write(scene.file(), export()).unwrap();
    let store = scene.path("store");
    fs::create_dir(&store).unwrap();
    unpack(&scene.file(), &store, MOST_BYTES).unwrap().put_in_place().unwrap();
    let told = unpack(&scene.file(), &store, MOST_BYTES).unwrap_err().to_string();
    assert!(told.contains("the store is not empty"), "{told}");
}

#[test]
fn a_store_that_was_filled_meanwhile_is_left_alone() {
    let scene = Scene::new();
    fs::write(scene.file(), export()).unwrap();
    let store = scene.path("store");
    let unpacked = unpack(&scene.file(), &store, MOST_BYTES).unwrap();
    fs::create_dir_all(store.join("runs/0001")).unwrap();
    assert_eq!(unpacked.put_in_place().unwrap_err().exit_code(), 70);
    assert_eq!(entries(&store.join("runs")), 1);
    assert_eq!(entries(scene.folder.path()), 2);
}

/// Run by hand after the form was changed: `cargo test -p unpick-run-store --test archive -- --ignored`.
#[test]
#[ignore = "writes the corpus"]
fn the_corpus_is_written() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let unpacked = |bytes: &[u8]| tar_of(bytes);
    let link = with_entry("runs/0001/run.json", EntryType::Symlink, b"");
    let escape = with_entry("../escaped", EntryType::Regular, b"harm");
    let long = with_entry("names.json", EntryType::GNULongName, &[b'a'; 600]);
    let whole = two_small_runs();
    let cut = whole[..whole.len() / 2].to_vec();
    for (name, tar) in [
        ("two-runs", whole),
        ("cut", cut),
        ("link", unpacked(&link)),
        ("escape", unpacked(&escape)),
        ("long-name", unpacked(&long)),
        ("empty", Vec::new()),
    ] {
        fs::write(corpus.join(format!("{name}.tar")), tar).unwrap();
    }
}

fn two_small_runs() -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    let manifest = serde_json::to_vec(&Manifest::new(3, 2)).unwrap();
    append(&mut tar, "manifest.json", EntryType::Regular, &manifest);
    let patterns = Collector::new(Options::default()).finish().to_bytes();
    for (run, label) in [(3, Label::Pass), (4, Label::Fail)] {
        append(&mut tar, &format!("runs/{run:04}/run.json"), EntryType::Regular, &info(label, 3));
        append(&mut tar, &format!("runs/{run:04}/patterns.bin"), EntryType::Regular, &patterns);
    }
    append(&mut tar, "runs/0004/77-0.events", EntryType::Regular, &[7; 100]);
    tar.into_inner().unwrap()
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}
