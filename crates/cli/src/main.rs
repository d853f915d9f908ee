//! The `unpick` command: one file per verb, this file only chooses between them.
#![forbid(unsafe_code)]

mod calibration;
mod cargo;
mod cargo_test;
mod cc;
mod check;
mod chosen;
mod clean;
mod communication;
mod conclude;
mod condensing;
mod confirm;
mod contradiction;
mod correlate;
mod deadlocks;
mod delays;
mod demo;
mod doctor;
mod dump;
mod export;
mod failures;
mod forcing;
mod hang;
mod header;
mod help_files;
mod hints;
mod hunt;
mod hunts;
mod impasse;
mod import;
mod invariants;
mod kept_findings;
mod misplaced;
mod one_run;
mod output;
mod pin;
mod program;
mod quantities;
mod race_orders;
mod races;
mod rank;
mod reconstruct;
mod record;
mod repeat;
mod reproduce;
mod runs;
mod show;
mod simulation;
mod store_folder;
mod supported;
mod terminal;
mod train;
mod trained;
mod watch;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use unpick_instrument::cargo::Tool;
use unpick_problem::Problem;

/// Finds, explains and reproduces concurrency bugs.
#[derive(Parser)]
#[command(name = "unpick", version, arg_required_else_help = true)]
struct CommandLine {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// See it at work: builds a small program with a bug, hunts it, explains what it found
    #[command(after_help = demo::HELP)]
    Demo(demo::Demo),
    /// Compile or link C, instrumented: a stand-in for gcc or clang
    #[command(after_help = cc::HELP, disable_help_flag = true)]
    Cc(PassedOn),
    /// Compile or link C++, instrumented: a stand-in for g++ or clang++
    #[command(name = "c++", after_help = cc::HELP, disable_help_flag = true)]
    Cxx(PassedOn),
    /// Build, test or run a cargo project, instrumented: a stand-in for cargo
    #[command(override_help = cargo::HELP, disable_help_flag = true)]
    Cargo(PassedOn),
    /// Run a program and keep what its threads did to each other
    #[command(after_help = record::HELP)]
    Record(record::Record),
    /// Run a program until it has failed and passed often enough, and rank what the failing runs have in common
    #[command(after_help = hunt::HELP)]
    Hunt(Box<hunt::Hunt>),
    /// Learn from passing runs which accesses no other thread comes before
    #[command(after_help = train::HELP)]
    Train(Box<train::Train>),
    /// Run a program as it is, and report where threads come between what training says belongs together
    #[command(after_help = watch::HELP)]
    Watch(watch::Watch),
    /// Show what training has learned, or put together what several machines have
    #[command(after_help = invariants::HELP)]
    Invariants(invariants::ShowInvariants),
    /// Find accesses of different threads that nothing orders, or that no lock protects
    #[command(after_help = races::HELP)]
    Races(Box<races::Races>),
    /// List the hunts of a store: when, of which program, what they found
    #[command(after_help = hunts::HELP)]
    Hunts(hunts::Hunts),
    /// List what was run: labels, durations, seeds
    Runs(runs::Runs),
    /// Rank the runs of a hunt again, in another way
    #[command(after_help = rank::HELP)]
    Rank(rank::Rank),
    /// Show which communication between threads goes with failing, and what stood around it
    #[command(after_help = reconstruct::HELP)]
    Reconstruct(reconstruct::Reconstruct),
    /// Look through sources: which variables belong together, and which functions forget one of them
    #[command(after_help = correlate::HELP)]
    Correlate(correlate::Correlate),
    /// Show what is in a recording, event by event
    Dump(dump::Dump),
    /// Show what a hunt found: ranked, explained, with the code of both threads
    #[command(after_help = show::HELP)]
    Show(show::Show),
    /// Run the program with the order of a finding forced: it fails on demand
    #[command(after_help = reproduce::HELP)]
    Reproduce(Box<reproduce::Reproduce>),
    /// Force each of the leading findings and its inverse order: which of them is the cause
    #[command(after_help = confirm::HELP)]
    Confirm(Box<confirm::Confirm>),
    /// Write the order of a finding as a file that outlives the build, to keep with the tests
    #[command(after_help = pin::HELP)]
    Pin(Box<pin::Pin>),
    /// Try such files on a program: fails while the bug is there, passes once it is fixed
    #[command(after_help = check::HELP)]
    Check(Box<check::Check>),
    /// Write the runs of a hunt to one file, to be looked at on another machine
    #[command(after_help = export::HELP)]
    Export(export::Export),
    /// Make a store of a file of exported runs
    #[command(after_help = import::HELP)]
    Import(import::Import),
    /// Remove old runs, or their recordings
    #[command(after_help = clean::HELP)]
    Clean(clean::Clean),
    /// Print unpick.h: breakpoints for tests of C and C++ programs
    #[command(after_help = header::HELP)]
    Header,
    /// Say which compilers and machine settings work here, and what is missing
    Doctor,
    /// Print completions for a shell
    #[command(after_help = help_files::COMPLETIONS_HELP)]
    Completions(help_files::Completions),
    /// Print the manual page, of Unpick or of one verb
    #[command(after_help = help_files::MAN_HELP)]
    Man(help_files::Man),
}

/// What follows a verb that stands in for another program.
#[derive(clap::Args)]
struct PassedOn {
    /// Arguments of the program this verb stands in for
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    unpick_runner::survive_file_size_limit();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let result = run_stand_in(&arguments).unwrap_or_else(|| run(CommandLine::parse().verb));
    result.unwrap_or_else(|problem| {
        eprintln!("{problem}");
        ExitCode::from(problem.exit_code())
    })
}

fn run(verb: Verb) -> Result<ExitCode, Problem> {
    match verb {
        Verb::Demo(demo) => demo::run(demo),
        Verb::Cc(passed_on) => cc::run_c(&passed_on.arguments),
        Verb::Cxx(passed_on) => cc::run_cxx(&passed_on.arguments),
        Verb::Cargo(passed_on) => cargo::run(&passed_on.arguments),
        Verb::Record(record) => record::run(record),
        Verb::Hunt(hunt) => hunt::run(*hunt),
        Verb::Train(train) => train::run(*train),
        Verb::Watch(watch) => watch::run(watch),
        Verb::Invariants(invariants) => invariants::run(invariants),
        Verb::Races(races) => races::run(*races),
        Verb::Hunts(hunts) => hunts::run(hunts),
        Verb::Runs(runs) => runs::run(runs),
        Verb::Rank(rank) => rank::run(rank),
        Verb::Reconstruct(reconstruct) => reconstruct::run(reconstruct),
        Verb::Correlate(correlate) => correlate::run(correlate),
        Verb::Dump(dump) => dump::run(dump),
        Verb::Show(show) => show::run(show),
        Verb::Reproduce(reproduce) => reproduce::run(*reproduce),
        Verb::Confirm(confirm) => confirm::run(*confirm),
        Verb::Pin(pin) => pin::run(*pin),
        Verb::Check(check) => check::run(*check),
        Verb::Export(export) => export::run(export),
        Verb::Import(import) => import::run(import),
        Verb::Clean(clean) => clean::run(clean),
        Verb::Header => header::run(),
        Verb::Doctor => doctor::run(),
        Verb::Completions(completions) => help_files::print_completions(completions),
        Verb::Man(man) => help_files::print_man(man),
    }
}

/// Verbs that stand in for another program never reach clap, which would keep `--help` and `--`
/// for itself; it knows them only to list and explain them.
fn run_stand_in(arguments: &[OsString]) -> Option<Result<ExitCode, Problem>> {
    let (program, rest) = arguments.split_first()?;
    if let Some(tool) = Tool::called(program) {
        return Some(cargo::run_tool(tool, rest));
    }
    match Path::new(program).file_name()?.to_str()? {
        "unpick-cc" => return Some(cc::run_c(rest)),
        "unpick-c++" => return Some(cc::run_cxx(rest)),
        _ => {}
    }
    let (verb, rest) = rest.split_first()?;
    match verb.to_str()? {
        "cc" => Some(cc::run_c(rest)),
        "c++" => Some(cc::run_cxx(rest)),
        "cargo" => Some(cargo::run(rest)),
        correlate::WORKER => Some(correlate::work()),
        _ => None,
    }
}
