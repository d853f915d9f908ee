//! `unpick-cargo-rustdoc`, cargo's RUSTDOC: compiles documentation tests like the code they test.

use super::codegen::CommandLine;
use super::settings::Settings;
use std::ffi::OsString;
use std::process::Command;

pub(super) fn command(settings: Option<Settings>, arguments: Vec<OsString>) -> Command {
    let program = settings
        .as_ref()
        .and_then(|settings| settings.rustdoc.clone())
        .unwrap_or_else(|| "rustdoc".into());
    let mut command = Command::new(program);
    match settings.and_then(|settings| instrument(&settings, arguments.clone())) {
        Some(instrumented) => command.args(instrumented).env("RUSTC_BOOTSTRAP", "1"),
        None => command.args(arguments),
    };
    command
}

/// Plain documentation needs the flags as well: rustdoc refuses libraries compiled with other ones.
fn instrument(settings: &Settings, arguments: Vec<OsString>) -> Option<Vec<OsString>> {
    let mut line = CommandLine::parse(arguments);
    if !line.values("--target").contains(&settings.target) {
        return None;
    }
    line.prepare_for_reports();
    line.add(&settings.all_flags());
    Some(line.print())
}
