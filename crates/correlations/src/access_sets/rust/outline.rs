//! A file's outline: what it declares, and what of it cannot be read.
//!
//! Takes   the bytes of a file.      Gives  plain data, which can be kept: the same bytes have the same outline.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use syn::{ImplItem, Item};

use super::declarations::{Declaration, declarations_in};
use super::parsing::{Unparsed, items_of};
use super::salvage::salvage;
use super::types::Types;
use crate::access_sets::FileSets;

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
        let error = match items_of(text) {
            Ok(items) => return Self::read(lines, None, items),
            Err(Unparsed::TooDeep) => return (Self::lost("it is nested too deeply"), None),
            Err(Unparsed::Wrong(error)) => format!("line {}: {error}", error.span().start().line),
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
        let outline = Self { lines, trouble, is_lost: false, declarations };
        (outline, Some(Parsed { items: with_functions_only(items) }))
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

/// Only the functions, without what is written above them: of a tree that is kept nothing else is needed.
fn with_functions_only(mut items: Vec<Item>) -> Vec<Item> {
    items.retain_mut(|item| match item {
        Item::Fn(function) => {
            function.attrs = Vec::new();
            true
        }
        Item::Mod(module) => {
            let inside = module.content.as_mut().map(|(_, items)| items);
            inside.is_some_and(|items| {
                *items = with_functions_only(std::mem::take(items));
                !items.is_empty()
            })
        }
        Item::Impl(of_type) => {
            of_type.items.retain_mut(|part| match part {
                ImplItem::Fn(method) => {
                    method.attrs = Vec::new();
                    true
                }
                _ => false,
            });
            !of_type.items.is_empty()
        }
        Item::Trait(_) => true,
        _ => false,
    });
    items.shrink_to_fit();
    items
}

impl Types {
    /// What files declare together.
    pub fn of_outlines<'o>(outlines: impl Iterator<Item = &'o Outline>) -> Self {
        Self::of(outlines.flat_map(|outline| &outline.declarations))
    }
}
