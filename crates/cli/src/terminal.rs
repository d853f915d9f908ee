//! What the terminal can show.

use std::env;
use std::io::{self, IsTerminal};
use std::path::Path;

use terminal_size::terminal_size_of;
use unpick_report::Style;
use unpick_run_store::Store;

/// For files and pipes.
const USUAL_WIDTH: usize = 80;

/// How to print a report about the findings of a store on standard output.
pub fn style_of_stdout(store: &Path) -> Style {
    Style {
        width: width(),
        colour: is_colourful(),
        folder: env::current_dir().unwrap_or_default(),
        command_options: options_for(store),
    }
}

fn width() -> usize {
    let asked = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let real = || Some(usize::from(terminal_size_of(io::stdout())?.0.0));
    asked.or_else(real).filter(|&columns| columns > 0).unwrap_or(USUAL_WIDTH)
}

/// See no-color.org: set and not empty means no colours.
fn is_colourful() -> bool {
    let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    !unwanted && !is_dumb && io::stdout().is_terminal()
}

/// What a command needs to find the store again.
fn options_for(store: &Path) -> String {
    if store == Store::default_folder() {
        return String::new();
    }
    format!(" --store {}", quoted(&store.to_string_lossy()))
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_store_only_if_it_is_not_the_usual_one() {
        assert_eq!(options_for(Path::new(".unpick")), "");
        assert_eq!(options_for(Path::new("/tmp/runs")), " --store /tmp/runs");
        assert_eq!(options_for(Path::new("it's here")), r" --store 'it'\''s here'");
    }
}
