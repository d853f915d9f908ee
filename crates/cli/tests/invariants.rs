//! `unpick train`, `watch` and `invariants` from the outside, with a program whose threads do as they are told.

mod ran;
mod schemas;

use std::fs;
use std::path::PathBuf;

use ran::Ran;
use schemas::assert_valid;
use serde_json::{Value, json};
use tempfile::TempDir;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/invariants/deposit.c");

/// A folder with the program.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        scene.build(&fs::read_to_string(SOURCE).unwrap());
        scene
    }

    /// A scene whose program was trained with calm runs.
    fn trained() -> Scene {
        let scene = Scene::new();
        let trained = scene.train(&[], &["calm"]);
        assert_eq!(trained.code, Some(0), "{}{}", trained.stdout, trained.stderr);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn build(&self, source: &str) {
        fs::write(self.path("deposit.c"), source).unwrap();
        let built = self.unpick(&["cc", "-g", "-pthread", "deposit.c", "-o", "deposit"]);
        assert_eq!(built.code, Some(0), "{}", built.stderr);
    }

    fn unpick(&self, arguments: &[&str]) -> Ran {
        ran::unpick(self.folder.path(), arguments)
    }

    fn train(&self, options: &[&str], words: &[&str]) -> Ran {
        let end = [&["--settled-after", "2", "--", "./deposit"], words].concat();
        self.unpick(&[&["train"], options, &end].concat())
    }

    fn watch(&self, options: &[&str], words: &[&str]) -> Ran {
        self.unpick(&[&["watch"], options, &["--", "./deposit"], words].concat())
    }

    fn invariants_file(&self) -> String {
        fs::read_to_string(self.path(".unpick/invariants.toml")).unwrap()
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn what_calm_runs_teach_a_torn_run_violates_though_it_does_not_fail() {
    let scene = Scene::new();
    // Of a training that was killed: no process has such a number.
    fs::create_dir_all(scene.path(".unpick/training-99999999/runs/0001")).unwrap();
    let trained = scene.train(&["--json", "-"], &["calm"]);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let trained = parsed(&trained.stdout);
    assert_valid(&trained, "train.schema.json");
    assert_eq!((&trained["settled"], &trained["runs"]["passed"]), (&json!(true), &json!(3)));
    let left: Vec<_> = fs::read_dir(scene.path(".unpick")).unwrap().collect();
    assert_eq!(left.len(), 1, "training leaves the file, and no runs: {left:?}");

    let calm = scene.watch(&["--json", "calm.json"], &["calm"]);
    assert_eq!(calm.code, Some(0), "{}", calm.stderr);
    assert!(calm.stderr.contains("no invariant was violated"), "{}", calm.stderr);
    assert!(calm.stderr.ends_with("next: unpick invariants\n"), "{}", calm.stderr);
    assert_valid(
        &parsed(&fs::read_to_string(scene.path("calm.json")).unwrap()),
        "watch.schema.json",
    );

    let torn = scene.watch(&["--json", "torn.json"], &["torn", "3"]);
    assert_eq!(torn.code, Some(3), "the program's own: {}", torn.stderr);
    assert!(torn.stderr.contains("case 6 (r [w] w), once"), "{}", torn.stderr);
    assert!(
        torn.stderr.contains("next: unpick hunt --active -- ./deposit torn 3"),
        "{}",
        torn.stderr
    );
    let told = parsed(&fs::read_to_string(scene.path("torn.json")).unwrap());
    assert_valid(&told, "watch.schema.json");
    let [violation] = told["violations"].as_array().unwrap().as_slice() else { panic!("{told:#}") };
    let texts: Vec<_> =
        violation["accesses"].as_array().unwrap().iter().map(|access| &access["text"]).collect();
    let (read, write) = (json!("int seen = account;"), json!("account = seen + amount;"));
    let trimmed: Vec<Value> =
        texts.iter().map(|text| json!(text.as_str().unwrap().trim())).collect();
    assert_eq!(trimmed, [read, write.clone(), write]);
    assert_eq!((&violation["case"], &violation["deciding"]), (&json!(6), &json!(1)));
    assert_eq!(violation["trained"]["challenged"], 0);
    assert_eq!(told["outcome"], json!({ "exit": { "code": 3 } }));
}

#[test]
fn invariants_are_shown_with_how_often_they_were_checked_and_challenged() {
    let scene = Scene::trained();
    let shown = scene.unpick(&["invariants"]);
    assert!(
        shown.stdout.contains("deposit at deposit.c:18: account = seen + amount;"),
        "{}",
        shown.stdout
    );
    assert!(shown.stdout.ends_with("next: unpick watch -- ./deposit calm\n"), "{}", shown.stdout);
    // Semaphores are counted, and listed after the user's own accesses if all are asked for.
    assert!(!shown.stdout.contains("sem_wait"), "{}", shown.stdout);
    let folded = "and 2 in library code or at locks: unpick invariants --all\n";
    assert!(shown.stdout.contains(folded), "{}", shown.stdout);
    let all = scene.unpick(&["invariants", "--all"]).stdout;
    let at = |text: &str| all.find(text).unwrap_or_else(|| panic!("{text}: {all}"));
    assert!(at("account = seen + amount;") < at("violated in 3 runs"), "{all}");
    assert!(at("violated in 3 runs") < at("sem_wait"), "{all}");
    assert!(!all.contains("in library code"), "{all}");
    let told = parsed(&scene.unpick(&["invariants", "--json", "-"]).stdout);
    assert_valid(&told, "invariants.schema.json");
    let sites = told["sites"].as_array().unwrap();
    let of = |line: u32| {
        sites.iter().find(|site| site["line"] == line && site["function"] == "deposit").unwrap()
    };
    // The first deposit is made before anybody shares the account; two more in each of three runs.
    assert_eq!((&of(18)["checked"], &of(18)["challenged"]), (&json!(6), &json!(0)));
    assert_eq!((&of(13)["invariant"], &of(13)["violated_runs"]), (&json!(false), &json!(3)));
    let of_library = sites.iter().filter(|site| site["library"] == true);
    let deeds: Vec<_> = of_library.map(|site| site["deed"].as_str().unwrap()).collect();
    assert_eq!(deeds.len(), 2, "{deeds:?}");
    assert!(deeds.iter().all(|deed| deed.starts_with("sem_")), "{deeds:?}");
}

#[test]
fn a_rebuilt_program_is_watched_by_the_same_invariants() {
    let scene = Scene::trained();
    let source = fs::read_to_string(SOURCE).unwrap();
    let moved = source.replace("static int account;", "static int account;\n\nint a_new_line;\n");
    scene.build(&moved);
    let torn = scene.watch(&[], &["torn"]);
    assert!(torn.stderr.contains("another build than those that were trained"), "{}", torn.stderr);
    assert!(torn.stderr.contains("case 6"), "{}", torn.stderr);
    scene.build(&source.replace("account", "balance").replace("deposit", "pay"));
    let other = scene.watch(&[], &["torn"]);
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    assert!(other.stderr.contains("nothing was watched"), "{}", other.stderr);
}

#[test]
fn violations_are_suppressed_by_function_file_or_finding() {
    let scene = Scene::trained();
    let id = {
        let told = parsed(&scene.watch(&["--json", "-", "--quiet"], &["torn"]).stdout);
        told["violations"][0]["id"].as_str().unwrap().to_owned()
    };
    for rule in [format!("finding {id}"), "function dep*".to_owned(), "file deposit.c".to_owned()] {
        fs::write(scene.path("quiet.txt"), format!("# known\n{rule}\n")).unwrap();
        let quiet = scene.watch(&["--suppressions", "quiet.txt"], &["torn"]);
        assert!(quiet.stderr.contains("no invariant was violated"), "{rule}: {}", quiet.stderr);
        assert!(quiet.stderr.contains("1 suppressed"), "{rule}: {}", quiet.stderr);
    }
    fs::write(scene.path(".unpick/suppressions"), "function other\nrace deposit\n").unwrap();
    let wrong = scene.watch(&[], &["torn"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("line 2: `race`"), "{}", wrong.stderr);
}

#[test]
fn failing_runs_teach_nothing_and_leave_the_file_alone() {
    let scene = Scene::trained();
    let before = scene.invariants_file();
    let failed = scene.train(&["--runs", "2"], &["torn", "1"]);
    assert_eq!(failed.code, Some(2), "{}", failed.stdout);
    assert!(failed.stderr.contains("no run passed (2 failed"), "{}", failed.stderr);
    assert_eq!(scene.invariants_file(), before);
    // A torn run that passes takes the invariant away.
    let torn = scene.train(&[], &["torn"]);
    assert_eq!(torn.code, Some(0), "{}", torn.stderr);
    let quiet = scene.watch(&[], &["torn"]);
    assert!(quiet.stderr.contains("no invariant was violated"), "{}", quiet.stderr);
}

#[test]
fn other_labels_other_programs_and_damaged_files_are_refused_and_left_alone() {
    let scene = Scene::trained();
    let before = scene.invariants_file();
    let labels = scene.train(&["--fail-if", "exit = 7"], &["calm"]);
    assert_eq!(labels.code, Some(2));
    assert!(labels.stderr.contains("other rules for what counts as failing"), "{}", labels.stderr);
    fs::copy(scene.path("deposit"), scene.path("shop")).unwrap();
    for verb in ["train", "watch"] {
        let other = scene.unpick(&[verb, "--", "./shop", "calm"]);
        assert_eq!(other.code, Some(2));
        assert!(other.stderr.contains("another program: deposit"), "{}", other.stderr);
    }
    assert_eq!(scene.invariants_file(), before);

    let damaged = before.replacen("checked = ", "checked = many", 1);
    fs::write(scene.path(".unpick/invariants.toml"), &damaged).unwrap();
    for verb in ["train", "watch"] {
        let refused = scene.unpick(&[verb, "--", "./deposit", "calm"]);
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains("line "), "{}", refused.stderr);
    }
    assert_eq!(scene.invariants_file(), damaged);
    fs::remove_file(scene.path(".unpick/invariants.toml")).unwrap();
    let nothing = scene.watch(&[], &["calm"]);
    assert!(nothing.stderr.contains("next: train them with runs that pass"), "{}", nothing.stderr);
}

#[test]
fn what_several_machines_learned_is_put_together() {
    let scene = Scene::new();
    for file in ["one.toml", "two.toml"] {
        assert_eq!(scene.train(&["--file", file], &["calm"]).code, Some(0));
    }
    // The second machine's runs are not the first one's again.
    assert_eq!(scene.train(&["--file", "two.toml"], &["calm"]).code, Some(0));
    let merged =
        scene.unpick(&["invariants", "--file", "all.toml", "--merge", "one.toml", "two.toml"]);
    assert_eq!(merged.code, Some(0), "{}", merged.stderr);
    assert!(merged.stdout.contains("after 8 runs that passed"), "{}", merged.stdout);
    let torn = scene.watch(&["--file", "all.toml"], &["torn"]);
    assert!(torn.stderr.contains("none of 8 passing runs did that"), "{}", torn.stderr);

    let again =
        scene.unpick(&["invariants", "--file", "all.toml", "--merge", "one.toml", "two.toml"]);
    assert!(again.stderr.contains("would replace a file"), "{}", again.stderr);
    let twice =
        scene.unpick(&["invariants", "--file", "new.toml", "--merge", "one.toml", "one.toml"]);
    assert!(twice.stderr.contains("would count twice"), "{}", twice.stderr);
    assert!(!scene.path("new.toml").exists());
}

/// Every second run is torn, and fails by that.
const MIXED: &str = r#"#!/bin/sh
if [ "$1" = calm ]; then exec ./deposit calm; fi
echo >> count
case $(($(wc -l < count) % 2)) in 1) exec ./deposit torn 1;; esac
exec ./deposit calm
"#;

#[test]
fn an_invariant_that_failing_runs_violate_supports_a_finding() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    fs::write(scene.path("mixed.sh"), MIXED).unwrap();
    fs::set_permissions(scene.path("mixed.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let trained = scene.unpick(&["train", "--settled-after", "2", "--", "./mixed.sh", "calm"]);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let watched = scene.unpick(&["watch", "--", "./mixed.sh", "calm"]);
    assert!(!watched.stderr.contains("another build"), "{}", watched.stderr);
    let plain = ["hunt", "--no-delays", "--no-confirm", "--no-active", "--runs", "6"];
    let hunt = scene.unpick(&[&plain[..], &["--json", "f.json", "--", "./mixed.sh"]].concat());
    assert_eq!(hunt.code, Some(66), "{}{}", hunt.stdout, hunt.stderr);
    let line = "violated invariant: r [w] w at deposit.c:18 in `deposit`";
    assert!(hunt.stdout.contains(line), "{}", hunt.stdout);
    let findings = parsed(&fs::read_to_string(scene.path("f.json")).unwrap());
    assert_valid(&findings, "findings.schema.json");
    let [invariant] = findings["findings"][0]["invariants"].as_array().unwrap().as_slice() else {
        panic!("{findings:#}")
    };
    assert_eq!((&invariant["failed_runs"], &invariant["looked_at"]), (&json!(3), &json!(3)));
    assert_eq!(invariant["trained"]["violated_runs"], 0);

    let missing = scene.unpick(&["hunt", "--invariants", "none.toml", "--", "./mixed.sh"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("no invariants in the file"), "{}", missing.stderr);
}

#[test]
fn simulated_caches_are_trained_and_watched_alike() {
    let scene = Scene::new();
    // Lines as large as a variable see what the software sees.
    let small = ["--simulate-hardware", "--line-size", "4", "--cache-size", "64KiB"];
    let options = [&small[..], &["--file", "caches.toml", "--json", "-"]].concat();
    let trained = scene.train(&options, &["calm"]);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let trained = parsed(&trained.stdout);
    assert_valid(&trained, "train.schema.json");
    assert_eq!(trained["hardware"], json!({ "line_size": 4, "cache_size": 65536 }));

    let torn = scene.watch(&["--file", "caches.toml", "--json", "torn.json"], &["torn"]);
    assert!(
        torn.stderr.contains("simulated caches of 65536 bytes in lines of 4"),
        "{}",
        torn.stderr
    );
    let told = parsed(&fs::read_to_string(scene.path("torn.json")).unwrap());
    assert_valid(&told, "watch.schema.json");
    assert_eq!(told["hardware"], trained["hardware"]);
    let violations = told["violations"].as_array().unwrap();
    let is_lost_update = |violation: &&Value| {
        let last = violation["accesses"].as_array().unwrap().last().unwrap();
        violation["case"] == 6
            && last["text"].as_str().unwrap().contains("account = seen + amount;")
    };
    assert_eq!(violations.iter().filter(is_lost_update).count(), 1, "{told:#}");
    let run = format!(".unpick/runs/{:04}/run.json", told["run"].as_u64().unwrap());
    let run = parsed(&fs::read_to_string(scene.path(&run)).unwrap());
    assert_eq!(run["options"]["full"], true, "caches need every access");

    let shown = scene.unpick(&["invariants", "--file", "caches.toml", "--json", "-"]);
    let shown = parsed(&shown.stdout);
    assert_valid(&shown, "invariants.schema.json");
    assert_eq!(shown["hardware"], trained["hardware"]);
}

#[test]
fn simulated_caches_do_not_mix_with_anything_else() {
    let scene = Scene::trained();
    let before = scene.invariants_file();
    let mixed = scene.train(&["--simulate-hardware"], &["calm"]);
    assert_eq!(mixed.code, Some(2));
    let why = "they say no simulated hardware, now it is `--simulate-hardware --line-size 64 --cache-size 32768`";
    assert!(mixed.stderr.contains(why), "{}", mixed.stderr);
    assert_eq!(scene.invariants_file(), before);
    let odd = scene.train(&["--simulate-hardware", "--line-size", "48"], &["calm"]);
    assert_eq!(odd.code, Some(2));
    assert!(odd.stderr.contains("no cache of 32768 bytes in lines of 48"), "{}", odd.stderr);
    let alone = scene.train(&["--line-size", "64"], &["calm"]);
    assert_eq!(alone.code, Some(2));
    assert!(alone.stderr.contains("--simulate-hardware"), "{}", alone.stderr);

    let trained = scene.train(&["--simulate-hardware", "--file", "caches.toml"], &["calm"]);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    let hunt = scene.unpick(&["hunt", "--invariants", "caches.toml", "--", "./deposit", "calm"]);
    assert_eq!(hunt.code, Some(2));
    assert!(hunt.stderr.contains("trained through simulated caches"), "{}", hunt.stderr);
}
