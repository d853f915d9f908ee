//! A file's outline: what it declares, and what of it cannot be read.
//!
//! Takes   the bytes of a file.      Gives  plain data, which can be kept: the same bytes have the same outline.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use syn::Item;

use super::declarations::{Declaration, declarations_in};
use super::salvage::salvage;
use super::types::Types;
use crate::access_sets::FileSets;
use crate::access_sets::c::hash;

/// A file as syn sees it. It stays in the thread that made it.
pub struct Parsed {
    pub(super) items: Vec<Item>,
}

/// All that must be known of a file before the bodies of any file are read.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    pub lines: usize,
    /// What a user is told about it.
    pub trouble: Option<String>,
    /// Whether nothing of it could be parsed.
    pub is_lost: bool,
    declarations: Vec<Declaration>,
    /// Of the declarations.
    hash: u64,
}

impl Outline {
    /// Parses a file, or of one that does not parse what can be.
    pub fn of(bytes: &[u8]) -> (Self, Option<Parsed>) {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let why = format!("byte {} is not UTF-8", error.valid_up_to());
                return (Self::lost(why), None);
            }
        };
        let lines = text.lines().count();
        let error = match syn::parse_file(text) {
            Ok(file) => return Self::read(lines, None, file.items),
            Err(error) => format!("line {}: {error}", error.span().start().line),
        };
        let saved = salvage(text);
        if saved.items.is_empty() {
            return (Self::lost(error), None);
        }
        let lost = saved.lost.max(1);
        let trouble = format!("{error}; {lost} of {} parts of it not read", saved.parts.max(lost));
        Self::read(lines, Some(trouble), saved.items)
    }

    fn read(lines: usize, trouble: Option<String>, items: Vec<Item>) -> (Self, Option<Parsed>) {
        let declarations = declarations_in(&items);
        let text = serde_json::to_vec(&declarations).expect("names and numbers can be written");
        let hash = hash(&text);
        let outline = Self { lines, trouble, is_lost: false, declarations, hash };
        (outline, Some(Parsed { items }))
    }

    /// Of a file of which nothing can be read.
    pub fn lost(why: impl Display) -> Self {
        Self { trouble: Some(format!("not read: {why}")), is_lost: true, ..Self::default() }
    }

    /// The access sets of the file, with what the outline knows of it.
    pub fn completed(&self, sets: FileSets) -> FileSets {
        let declared = self.declarations.iter().filter_map(Declaration::variable).collect();
        FileSets { lines: self.lines, declared, ..sets }
    }
}

impl Types {
    /// What files declare together, and a number that is another one if that is something else.
    pub fn of_outlines<'o>(outlines: impl Iterator<Item = &'o Outline> + Clone) -> (Self, u64) {
        // One that declares nothing may come and go.
        let hashes = outlines.clone().filter(|outline| !outline.declarations.is_empty());
        let hashes: Vec<u8> = hashes.flat_map(|outline| outline.hash.to_le_bytes()).collect();
        (Self::of(outlines.flat_map(|outline| &outline.declarations)), hash(&hashes))
    }
}
