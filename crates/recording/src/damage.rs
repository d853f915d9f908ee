//! What could not be read, in sentences; bounded, because a broken file can be broken everywhere.

/// More notes than this say nothing new.
const MOST_NOTES: usize = 20;

/// Collects notes about damage.
#[derive(Debug, Default)]
pub struct Damage {
    notes: Vec<String>,
    further: u64,
}

impl Damage {
    pub fn note(&mut self, note: impl FnOnce() -> String) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(note());
        } else {
            self.further += 1;
        }
    }

    pub fn into_notes(mut self) -> Vec<String> {
        if self.further > 0 {
            self.notes.push(format!("{} further damaged places are not listed", self.further));
        }
        self.notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_beyond_the_bound_are_counted_not_kept() {
        let mut damage = Damage::default();
        (0..1000).for_each(|place| damage.note(|| place.to_string()));
        let notes = damage.into_notes();
        assert_eq!(notes.len(), MOST_NOTES + 1);
        assert_eq!(notes[MOST_NOTES], "980 further damaged places are not listed");
    }
}
