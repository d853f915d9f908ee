//! Parsing, of what is not nested too deeply.

use proc_macro2::{LexError, TokenStream};
use syn::{File, Item};

use super::nesting::is_too_deep;

/// Why a text cannot be parsed.
pub enum Unparsed {
    TooDeep,
    Wrong(syn::Error),
}

/// The items of a text.
pub fn items_of(text: &str) -> Result<Vec<Item>, Unparsed> {
    let tokens: TokenStream = without_interpreter(text)
        .parse()
        .map_err(|error: LexError| Unparsed::Wrong(error.into()))?;
    if is_too_deep(&tokens) {
        return Err(Unparsed::TooDeep);
    }
    syn::parse2::<File>(tokens).map(|file| file.items).map_err(Unparsed::Wrong)
}

/// The text behind `#!/usr/bin/env …`. That line's end stays, so that all lines keep their numbers.
fn without_interpreter(text: &str) -> &str {
    // An editor's mark of UTF-8.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.strip_prefix("#!") {
        Some(rest) if !rest.trim_start().starts_with('[') => {
            rest.find('\n').map_or("", |end| &rest[end..])
        }
        _ => text,
    }
}
