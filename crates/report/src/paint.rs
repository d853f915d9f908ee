//! Colours, or none.

/// Puts colours around texts, if wanted.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    colour: bool,
}

const BOLD: &str = "1";
const FAINT: &str = "2";
const RED: &str = "31";
const YELLOW: &str = "33";
const CYAN: &str = "36";

impl Paint {
    pub fn new(colour: bool) -> Paint {
        Paint { colour }
    }

    fn with(self, code: &str, text: &str) -> String {
        match self.colour && !text.trim().is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    pub fn heading(self, text: &str) -> String {
        self.with(BOLD, text)
    }

    pub fn aside(self, text: &str) -> String {
        self.with(FAINT, text)
    }

    pub fn bad(self, text: &str) -> String {
        self.with(RED, text)
    }

    /// What belongs to one of the two threads of a pattern.
    pub fn of_role(self, role: u8, text: &str) -> String {
        self.with(if role == 1 { CYAN } else { YELLOW }, text)
    }
}
