//! Names that travel: what a program's files said about the code and memory of some runs, as data.
//!
//! Takes   JSON, trusted in nothing, or what `TableBuilder` has gathered.
//! Gives   modules by build id, sites in words, variables, locks, and lines of source.
//! Misses  what the runs had nothing to do with: other windows may show accesses that are not in it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use unpick_analyses::interleaving_patterns::Touch;
use unpick_findings::{Author, Frame};

/// Name and version of the form.
pub const FORM: &str = "unpick-names/1";
/// No source that people wrote is longer: a report makes a text of that many lines.
const LAST_LINE: u32 = 1 << 20;

/// Lines of source by file and number.
pub type KeptLines = BTreeMap<String, BTreeMap<u32, String>>;

/// Names of all there is in some runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameTable {
    pub(crate) form: String,
    pub(crate) modules: Vec<NamedModule>,
    pub(crate) sites: Vec<NamedSite>,
    pub(crate) variables: Vec<NamedVariable>,
    pub(crate) locks: Vec<NamedLock>,
    pub(crate) lines: KeptLines,
}

/// A file that code is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedModule {
    /// Empty if it has none.
    pub build_id: String,
    pub path: String,
}

/// What stands at a return address of a module's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedSite {
    pub module: Option<u32>,
    pub offset: u64,
    pub frame: Frame,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inlined_into: Vec<Frame>,
    #[serde(default, skip_serializing_if = "is_user")]
    pub author: Author,
    /// The line of source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Inside a library of the language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_call: Option<NamedCall>,
}

/// The user's call behind a site, a site of the same module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedCall {
    pub offset: u64,
    pub is_exact: bool,
}

fn is_user(author: &Author) -> bool {
    *author == Author::User
}

/// All that the name of accessed bytes depends on. Sites and modules are numbers of the table.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct AccessKey {
    pub site: u32,
    pub touch: Touch,
    pub length: u64,
    pub memory: MemoryKey,
}

/// Where bytes are, as every run knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MemoryKey {
    Static { module: u32, offset: u64 },
    Heap { site: u32, stack: Vec<u32>, size: u64, offset: u64 },
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct LockKey {
    pub kind: String,
    pub memory: MemoryKey,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedVariable {
    pub access: AccessKey,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedLock {
    pub lock: LockKey,
    pub name: String,
}

/// Why a text is no table of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotNames {
    /// Its `form` is another one.
    OtherForm(String),
    Damaged(String),
}

impl fmt::Display for NotNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotNames::OtherForm(form) => {
                write!(f, "their form is `{}`, this build reads `{FORM}`", form.escape_debug())
            }
            NotNames::Damaged(why) => write!(f, "{}", why.escape_debug()),
        }
    }
}

/// What every version has.
#[derive(Deserialize)]
struct Form {
    form: String,
}

impl NameTable {
    pub fn from_json(text: &[u8]) -> Result<NameTable, NotNames> {
        let damaged = |error: serde_json::Error| NotNames::Damaged(error.to_string());
        // The form is looked at first: another version may have other fields.
        let form: Form = serde_json::from_slice(text).map_err(damaged)?;
        if form.form != FORM {
            return Err(NotNames::OtherForm(form.form));
        }
        let table: NameTable = serde_json::from_slice(text).map_err(damaged)?;
        let fits = table.is_consistent();
        fits.then_some(table).ok_or_else(|| NotNames::Damaged("its numbers do not fit".to_owned()))
    }

    /// As JSON: who gives names away can read what they are.
    ///
    /// # Panics
    /// Never: there is nothing in it that JSON cannot say.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain tables can always be written")
    }

    /// Lines of source that excerpts are made of.
    pub fn lines(&self) -> &KeptLines {
        &self.lines
    }

    /// Rewrites every file name by `path` and every other text by `text`: who knows which of them are private does not know
    /// where they stand. Lines of source stay as they are.
    pub fn rewrite(&mut self, path: &dyn Fn(&str) -> String, text: &dyn Fn(&str) -> String) {
        self.modules.iter_mut().for_each(|module| module.path = path(&module.path));
        let frames = self
            .sites
            .iter_mut()
            .flat_map(|site| std::iter::once(&mut site.frame).chain(&mut site.inlined_into));
        for frame in frames {
            frame.file = frame.file.as_deref().map(path);
            frame.function = frame.function.as_deref().map(text);
        }
        self.variables.iter_mut().for_each(|variable| variable.name = text(&variable.name));
        self.locks.iter_mut().for_each(|lock| lock.name = text(&lock.name));
        let lines = std::mem::take(&mut self.lines);
        self.lines = lines.into_iter().map(|(file, lines)| (path(&file), lines)).collect();
    }

    /// Every number in it names something.
    fn is_consistent(&self) -> bool {
        self.sites.iter().all(|site| site.module.is_none_or(|module| is_in(module, &self.modules)))
            && self.variables.iter().all(|variable| {
                is_in(variable.access.site, &self.sites) && self.has_memory(&variable.access.memory)
            })
            && self.locks.iter().all(|lock| self.has_memory(&lock.lock.memory))
            && self.lines.values().flat_map(BTreeMap::keys).all(|&line| line <= LAST_LINE)
    }

    fn has_memory(&self, memory: &MemoryKey) -> bool {
        match memory {
            MemoryKey::Static { module, .. } => is_in(*module, &self.modules),
            MemoryKey::Heap { site, stack, .. } => {
                stack.iter().chain([site]).all(|&site| is_in(site, &self.sites))
            }
            MemoryKey::Other => true,
        }
    }
}

fn is_in<T>(number: u32, table: &[T]) -> bool {
    (number as usize) < table.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> NameTable {
        let frame = Frame {
            function: Some("look<(lambda at /home/me/bank.cc:3:4)>".to_owned()),
            file: Some("/home/me/bank.cc".to_owned()),
            line: Some(3),
            column: Some(4),
        };
        let site = NamedSite {
            module: Some(0),
            offset: 16,
            frame,
            inlined_into: Vec::new(),
            author: Author::User,
            text: Some("look();".to_owned()),
            users_call: None,
        };
        let lines = BTreeMap::from([(3, "look();".to_owned())]);
        NameTable {
            form: FORM.to_owned(),
            modules: vec![NamedModule {
                build_id: "aa".to_owned(),
                path: "/home/me/bank".to_owned(),
            }],
            sites: vec![site],
            variables: Vec::new(),
            locks: Vec::new(),
            lines: BTreeMap::from([("/home/me/bank.cc".to_owned(), lines)]),
        }
    }

    #[test]
    fn a_table_comes_back_as_it_was() {
        assert_eq!(NameTable::from_json(table().to_json().as_bytes()), Ok(table()));
    }

    #[test]
    fn numbers_that_name_nothing_are_damage() {
        let mut table = table();
        table.sites[0].module = Some(1);
        let read = NameTable::from_json(table.to_json().as_bytes());
        assert!(matches!(read, Err(NotNames::Damaged(_))));
    }

    #[test]
    fn a_line_that_no_source_has_is_damage() {
        let mut table = table();
        table.lines.get_mut("/home/me/bank.cc").unwrap().insert(u32::MAX, String::new());
        let read = NameTable::from_json(table.to_json().as_bytes());
        assert!(matches!(read, Err(NotNames::Damaged(_))));
    }

    #[test]
    fn another_version_is_told_apart_from_damage() {
        let newer = br#"{"form": "unpick-names/9", "places": {}}"#;
        let read = NameTable::from_json(newer);
        assert_eq!(read, Err(NotNames::OtherForm("unpick-names/9".to_owned())));
        assert!(matches!(NameTable::from_json(b"{"), Err(NotNames::Damaged(_))));
    }

    #[test]
    fn all_that_may_be_private_is_rewritten() {
        let mut table = table();
        let shorter = |text: &str| text.replace("/home/me/", "");
        table.rewrite(&shorter, &shorter);
        let json = table.to_json();
        assert!(!json.contains("/home/me"), "{json}");
        assert!(json.contains("bank.cc") && json.contains("look();"), "{json}");
    }
}
