//! What is known of a code base's types: their fields and methods, its statics and functions.
//!
//! Each question about them has a number, and so has its answer: who keeps the numbers of both can tell later whether it
//! would be told the same again.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::declarations::Declaration;
use super::type_names::Known;

/// Types by the names of their fields, and statics.
#[derive(Default)]
pub struct Types {
    /// Per type, its fields with their types. A variant of an enumeration is a type: `Shape::Circle`.
    pub(super) fields: HashMap<String, HashMap<String, Option<Known>>>,
    /// Per field name, the types that have one.
    owners: HashMap<String, HashSet<String>>,
    pub(super) statics: HashMap<String, Option<Known>>,
    pub(super) aliases: HashMap<String, Known>,
    /// `Type::method` and plain functions.
    pub(super) functions: HashMap<String, Function>,
    /// Enumerations by variant, where only one has a variant of that name.
    pub(super) variants: HashMap<String, Option<String>>,
    /// By the numbers of questions; what is not here has no answer.
    answers: HashMap<u64, u64>,
}

/// What a function's first line says.
#[derive(Hash)]
pub struct Function {
    pub changes_its_object: bool,
    pub gives: Option<Known>,
}

/// What can be asked about the types of a code base.
#[derive(Hash)]
pub enum Question<'q> {
    /// Whether it has fields.
    Type(&'q str),
    Field(&'q str, &'q str),
    /// Of a field's name: the only type that has one.
    Owner(&'q str),
    Static(&'q str),
    Alias(&'q str),
    Function(&'q str),
    Variant(&'q str),
}

impl Types {
    /// Of two that declare the same, the later one counts.
    pub fn of<'d>(all: impl IntoIterator<Item = &'d Declaration>) -> Self {
        let mut types = Self::default();
        all.into_iter().for_each(|one| types.learn(one));
        types.answers = types.all_answers();
        types
    }

    fn learn(&mut self, declaration: &Declaration) {
        match declaration.clone() {
            Declaration::Field { owner, name, of } => {
                self.owners.entry(name.clone()).or_default().insert(owner.clone());
                self.fields.entry(owner).or_default().insert(name, of);
            }
            Declaration::Static { name, of } => {
                self.statics.insert(name, of);
            }
            Declaration::Alias { name, meant } => {
                self.aliases.insert(name, meant);
            }
            Declaration::Function { name, changes_its_object, gives } => {
                self.functions.insert(name, Function { changes_its_object, gives });
            }
            Declaration::Variant { name, owner } => {
                let known = self.variants.entry(name);
                known.and_modify(|other| *other = None).or_insert(Some(owner));
            }
        }
    }

    /// The only type that has a field by that name.
    pub fn only_owner(&self, field: &str) -> Option<&str> {
        let mut owners = self.owners.get(field)?.iter();
        owners.next().filter(|_| owners.next().is_none()).map(String::as_str)
    }

    fn all_answers(&self) -> HashMap<u64, u64> {
        let mut all = HashMap::new();
        let mut add = |question: Question<'_>, answer| {
            all.insert(number(&question), answer);
        };
        for (owner, fields) in &self.fields {
            add(Question::Type(owner), 1);
            for (field, of) in fields {
                add(Question::Field(owner, field), number(of));
            }
        }
        for field in self.owners.keys() {
            add(Question::Owner(field), number(&self.only_owner(field)));
        }
        self.statics.iter().for_each(|(name, of)| add(Question::Static(name), number(of)));
        self.aliases.iter().for_each(|(name, of)| add(Question::Alias(name), number(of)));
        self.functions.iter().for_each(|(name, one)| add(Question::Function(name), number(one)));
        self.variants.iter().for_each(|(name, of)| add(Question::Variant(name), number(of)));
        all
    }

    /// A number that is another one if the answer to one of these questions is.
    pub fn answers_to(&self, questions: &[u64]) -> u64 {
        let answers: Vec<u64> =
            questions.iter().map(|asked| self.answers.get(asked).copied().unwrap_or(0)).collect();
        number(&answers)
    }
}

/// The same in every process; made with another standard library it may be another, and then nothing that was kept fits.
pub fn number(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
