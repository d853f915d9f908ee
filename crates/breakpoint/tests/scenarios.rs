//! One table of scenarios, two libraries: what Rust's does, C's does too.

mod table;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use table::{folder, scenarios};
use unpick_breakpoint::{
    Breakpoint, Halves, Holding, Outcome, Step, holding, step, trigger, waiting,
};

/// Set where this test program is called by itself, to play one scenario.
const PLAY: &str = "UNPICK_TEST_PLAY_SCENARIO";

#[test]
fn rust_does_what_the_table_says() {
    let scratch = tempfile::tempdir().unwrap();
    for scenario in scenarios() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "plays_a_scenario", "--nocapture"]).env(PLAY, "1");
        scenario.holds_for(&mut command, scratch.path());
    }
}

#[test]
fn c_and_cpp_do_what_the_table_says() {
    for (compiler, standard) in
        [("gcc", "c99"), ("g++", "c++11"), ("clang", "c11"), ("clang++", "c++20")]
    {
        let scratch = tempfile::tempdir().unwrap();
        let Some(driver) = built(compiler, standard, scratch.path()) else { continue };
        for scenario in scenarios() {
            scenario.holds_for(&mut Command::new(&driver), scratch.path());
        }
    }
}

/// None if there is no such compiler here.
fn built(compiler: &str, standard: &str, into: &Path) -> Option<PathBuf> {
    let driver = into.join("scenario");
    let language = if compiler.ends_with("++") { "c++" } else { "c" };
    let mut command = Command::new(compiler);
    command.args([
        "-x",
        language,
        &format!("-std={standard}"),
        "-O1",
        "-pthread",
        "-DUNPICK_BREAKPOINTS",
    ]);
    command.args([
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-Iinclude",
        "tests/scenario.c",
        "-o",
    ]);
    let status = command.arg(&driver).current_dir(folder()).status();
    if status.is_err() {
        assert!(std::env::var_os("CI").is_none(), "{compiler} is not installed");
        return None;
    }
    assert!(status.unwrap().success(), "{command:?}");
    Some(driver)
}

/// Not a test by itself: the driver of the Rust library. Its twin is tests/scenario.c.
#[test]
fn plays_a_scenario() {
    if std::env::var_os(PLAY).is_none() {
        return;
    }
    let mut script = String::new();
    std::io::stdin().read_to_string(&mut script).unwrap();
    let mut threads: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in script.lines() {
        let (thread, act) = line.split_once(' ').unwrap();
        threads.entry(thread).or_default().push(act);
    }
    let stage = Stage::default();
    let told: Vec<(&str, Vec<Outcome>)> = thread::scope(|scope| {
        let play = |(name, acts): (_, Vec<_>)| (name, scope.spawn(|| stage.play(acts)));
        let players: Vec<_> = threads.into_iter().map(play).collect();
        players.into_iter().map(|(name, player)| (name, player.join().unwrap())).collect()
    });
    println!();
    for (name, outcomes) in told {
        for outcome in outcomes {
            println!("= {name} {outcome}");
        }
    }
    let words = stage.words.into_inner().unwrap();
    println!("{}", [vec!["words".to_owned()], words].concat().join(" "));
}

/// What the threads of a scenario share.
#[derive(Default)]
struct Stage {
    objects: [u8; 10],
    words: Mutex<Vec<String>>,
}

#[derive(Default)]
struct Player {
    told: Vec<Outcome>,
    steps: HashMap<String, Step>,
    held: Vec<Holding>,
}

impl Stage {
    fn play(&self, acts: Vec<&str>) -> Vec<Outcome> {
        let mut player = Player::default();
        for act in acts {
            self.obey(&mut player, &act.split(' ').collect::<Vec<_>>());
        }
        player.told
    }

    fn obey(&self, player: &mut Player, words: &[&str]) {
        match words {
            ["trigger", rest @ ..] => player.told.push(trigger!(self.breakpoint(rest))),
            ["step", rest @ ..] => {
                let step = step!(self.breakpoint(rest));
                player.told.push(step.outcome());
                player.steps.insert(rest[1].to_owned(), step);
            }
            ["done", name] => drop(player.steps.remove(*name)),
            ["waits", name, count] => wait_until(|| waiting(name) >= count.parse().unwrap()),
            ["mark", word] => self.words.lock().unwrap().push((*word).to_owned()),
            ["marks", count] => {
                wait_until(|| self.words.lock().unwrap().len() >= count.parse().unwrap());
            }
            ["hold", "caret"] => player.held.push(holding!("caret")),
            ["release", "caret"] => drop(player.held.pop()),
            other => panic!("the driver does not know {other:?}"),
        }
    }

    fn breakpoint<'a>(&self, words: &[&'a str]) -> Breakpoint<'a> {
        let (kind, name) = (words[0], words[1]);
        let number = |at: usize| words[at].parse::<usize>().unwrap();
        let object = |at: usize| &self.objects[number(at)];
        let (half, rest) = match kind {
            "rendezvous" => (words[2], &words[3..]),
            "deadlock" => (words[4], &words[5..]),
            _ => (words[3], &words[4..]),
        };
        let breakpoint = match kind {
            "conflict" => in_half(Breakpoint::conflict(name, object(2)), half),
            "deadlock" => in_half(Breakpoint::deadlock(name, object(2), object(3)), half),
            "atomicity" if half == "gap" => Breakpoint::atomicity(name, object(2)).gap(),
            "atomicity" => Breakpoint::atomicity(name, object(2)).intruder(),
            "own" => {
                let makes_ten = |mine: &usize, theirs: &usize| mine + theirs == 10;
                in_half(Breakpoint::own(name, number(2), makes_ten), half)
            }
            "rendezvous" => in_half(Breakpoint::rendezvous(name), half),
            other => panic!("the driver does not know {other}"),
        };
        rest.iter().fold(breakpoint, |breakpoint, option| with_option(breakpoint, option))
    }
}

fn in_half<'a>(halves: Halves<'a>, half: &str) -> Breakpoint<'a> {
    match half {
        "first" => halves.first(),
        "second" => halves.second(),
        role => {
            let (role, of) = role.split_once('/').unwrap();
            halves.role(role.parse().unwrap(), of.parse().unwrap())
        }
    }
}

fn with_option<'a>(breakpoint: Breakpoint<'a>, option: &'a str) -> Breakpoint<'a> {
    let (key, value) = option.split_once('=').unwrap();
    let number = || value.parse().unwrap();
    match key {
        "pause" => breakpoint.pause(Duration::from_millis(number())),
        "ignore" => breakpoint.ignore_first(number()),
        "bound" => breakpoint.bound(number()),
        "when" => breakpoint.when(move || value == "1"),
        "lock" => breakpoint.lock_held(value),
        other => panic!("the driver does not know {other}"),
    }
}

fn wait_until(is_so: impl Fn() -> bool) {
    for _ in 0..100_000 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_micros(200));
    }
    eprintln!("the driver has waited too long: the scenario cannot go on");
    std::process::exit(2);
}
