//! What the terminal can show.

use std::env;
use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use terminal_size::terminal_size_of;
use unpick_report::Style;

use crate::import::names_in;
use crate::record::store_option;

/// For files and pipes.
const USUAL_WIDTH: usize = 80;

/// How to print a report about the findings of a store on standard output.
pub fn style_of_stdout(store: &Path) -> Style {
    style_of(store, io::stdout().is_terminal())
}

/// The same on standard error.
pub fn style_of_stderr(store: &Path) -> Style {
    style_of(store, io::stderr().is_terminal())
}

fn style_of(store: &Path, is_terminal: bool) -> Style {
    Style {
        width: width(),
        colour: is_terminal && may_be_colourful(),
        folder: env::current_dir().unwrap_or_default(),
        // What cannot be read is not shown; a report does without.
        kept_lines: names_in(store)
            .ok()
            .flatten()
            .map_or_else(Default::default, |names| names.lines().clone()),
        command_options: store_option(store),
    }
}

/// A bar on standard error for so many steps, if somebody looks.
pub fn progress_bar(steps: u64, quiet: bool) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {msg}");
    ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn width() -> usize {
    let asked = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let real = || Some(usize::from(terminal_size_of(io::stdout())?.0.0));
    asked.or_else(real).filter(|&columns| columns > 0).unwrap_or(USUAL_WIDTH)
}

/// See no-color.org: set and not empty means no colours.
fn may_be_colourful() -> bool {
    let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    !unwanted && !is_dumb
}
