//! What is known of a code base's types: their fields and methods, its statics and functions.

use std::collections::{HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Fields, FnArg, ImplItemFn, Item, ItemEnum, ItemFn, ItemImpl, ItemStatic, ItemStruct};
use syn::{ItemTrait, ItemType, ItemUnion, Macro, Signature, TraitItemFn};

use super::type_names::{Known, known_result, known_type};

/// Macros that declare statics.
const OF_STATICS: [&str; 2] = ["thread_local", "lazy_static"];

/// Types by the names of their fields, and statics.
#[derive(Default)]
pub struct Types {
    /// Per type, its fields with their types. A variant of an enumeration is a type: `Shape::Circle`.
    fields: HashMap<String, HashMap<String, Option<Known>>>,
    /// Per field name, the types that have one.
    owners: HashMap<String, HashSet<String>>,
    statics: HashMap<String, Option<Known>>,
    aliases: HashMap<String, Known>,
    /// `Type::method` and plain functions.
    functions: HashMap<String, Function>,
    /// Enumerations by variant, where only one has a variant of that name.
    variants: HashMap<String, Option<String>>,
    declared: Vec<String>,
    /// The type whose `impl` is being read.
    this: Option<String>,
}

/// What a function's first line says.
#[derive(Clone)]
struct Function {
    changes_its_object: bool,
    gives: Option<Known>,
}

impl Types {
    /// Takes in a file. Gives the fields and statics it declares, by the names that accesses have.
    pub fn learn(&mut self, items: &[Item]) -> Vec<String> {
        items.iter().for_each(|item| self.visit_item(item));
        std::mem::take(&mut self.declared)
    }

    fn learn_fields(&mut self, owner: &str, fields: &Fields) {
        for (at, field) in fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
            self.declared.push(format!("{owner}::{name}"));
            let of = known_type(&field.ty);
            self.fields.entry(owner.to_owned()).or_default().insert(name.clone(), of);
            self.owners.entry(name).or_default().insert(owner.to_owned());
        }
    }

    fn learn_static(&mut self, name: String, of: Option<Known>) {
        self.declared.push(name.clone());
        self.statics.insert(name, of);
    }

    fn learn_function(&mut self, signature: &Signature) {
        let name = self.name_of(&signature.ident.to_string());
        let changes_its_object = signature.inputs.first().is_some_and(|first| {
            matches!(first, FnArg::Receiver(receiver)
                if receiver.mutability.is_some() && receiver.reference.is_some())
        });
        let gives = known_result(&signature.output).map(|known| self.not_self(known));
        self.functions.insert(name, Function { changes_its_object, gives });
    }

    fn name_of(&self, function: &str) -> String {
        match &self.this {
            Some(this) => format!("{this}::{function}"),
            None => function.to_owned(),
        }
    }

    fn not_self(&self, known: Known) -> Known {
        match (&self.this, known.name.as_str()) {
            (Some(this), "Self") => Known { name: this.clone(), ..known },
            _ => known,
        }
    }

    pub fn is_static(&self, name: &str) -> bool {
        self.statics.contains_key(name)
    }

    pub fn static_type(&self, name: &str) -> Option<Known> {
        Some(self.resolved(self.statics.get(name)?.clone()?))
    }

    /// The type that a field belongs to: that of the value if it is known, or the only one with such a field.
    pub fn owner<'a>(&'a self, value: Option<&'a str>, field: &str) -> Option<&'a str> {
        if let Some(of) = value {
            let is_own = |of: &str| self.fields.get(of).is_some_and(|all| all.contains_key(field));
            return is_own(of).then_some(of);
        }
        let owners = self.owners.get(field)?;
        // Places in a tuple have no name of their own.
        let has_name = field.parse::<usize>().is_err();
        (has_name && owners.len() == 1).then(|| owners.iter().next().map(String::as_str)).flatten()
    }

    /// The type of a field.
    pub fn field_type(&self, owner: &str, field: &str) -> Option<Known> {
        Some(self.resolved(self.fields.get(owner)?.get(field)?.clone()?))
    }

    /// The type that a name stands for.
    pub fn resolved(&self, known: Known) -> Known {
        match self.aliases.get(&known.name) {
            Some(meant) => meant.clone(),
            None => known,
        }
    }

    /// What a function of the code base gives.
    pub fn result_of(&self, function: &str) -> Option<Known> {
        Some(self.resolved(self.functions.get(function)?.gives.clone()?))
    }

    /// Whether a method of the code base changes its object; nothing if there is no such method.
    pub fn changes_its_object(&self, of: &str, method: &str) -> Option<bool> {
        self.functions.get(&format!("{of}::{method}")).map(|one| one.changes_its_object)
    }

    /// The type whose fields a pattern or literal names: `Stats`, `Shape::Circle`, `Circle` where it is the only one.
    pub fn of_path(&self, path: &syn::Path, this: Option<&str>) -> Option<String> {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        let last = parts.last()?;
        let last = if last == "Self" { this?.to_owned() } else { last.clone() };
        if let Some(outer) = parts.len().checked_sub(2).map(|at| &parts[at]) {
            let outer = if outer == "Self" { this? } else { outer };
            let variant = format!("{outer}::{last}");
            if self.fields.contains_key(&variant) {
                return Some(variant);
            }
        }
        if self.fields.contains_key(&last) {
            return Some(last);
        }
        if let Some(Some(variant)) = self.variants.get(&last) {
            return Some(variant.clone());
        }
        let meant = self.aliases.get(&last)?;
        self.fields.contains_key(&meant.name).then(|| meant.name.clone())
    }
}

impl Visit<'_> for Types {
    fn visit_item_struct(&mut self, item: &ItemStruct) {
        self.learn_fields(&item.ident.to_string(), &item.fields);
    }

    fn visit_item_union(&mut self, item: &ItemUnion) {
        self.learn_fields(&item.ident.to_string(), &Fields::Named(item.fields.clone()));
    }

    fn visit_item_enum(&mut self, item: &ItemEnum) {
        for variant in &item.variants {
            let owner = format!("{}::{}", item.ident, variant.ident);
            self.learn_fields(&owner, &variant.fields);
            let known = self.variants.entry(variant.ident.to_string());
            known.and_modify(|other| *other = None).or_insert(Some(owner));
        }
    }

    fn visit_item_type(&mut self, item: &ItemType) {
        self.aliases.extend(known_type(&item.ty).map(|known| (item.ident.to_string(), known)));
    }

    fn visit_item_static(&mut self, item: &ItemStatic) {
        self.learn_static(item.ident.to_string(), known_type(&item.ty));
    }

    fn visit_macro(&mut self, call: &Macro) {
        let name = call.path.segments.last().map(|last| last.ident.to_string());
        if name.is_some_and(|name| OF_STATICS.contains(&name.as_str())) {
            for (name, of) in statics_in(call.tokens.clone()) {
                self.learn_static(name, of);
            }
        }
    }

    fn visit_item_fn(&mut self, item: &ItemFn) {
        self.learn_function(&item.sig);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &ImplItemFn) {
        self.learn_function(&item.sig);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &TraitItemFn) {
        self.learn_function(&item.sig);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &ItemImpl) {
        let this = known_type(&item.self_ty).map(|known| known.name);
        let outer = std::mem::replace(&mut self.this, this);
        visit::visit_item_impl(self, item);
        self.this = outer;
    }

    fn visit_item_trait(&mut self, item: &ItemTrait) {
        let outer = self.this.replace(item.ident.to_string());
        visit::visit_item_trait(self, item);
        self.this = outer;
    }
}

/// The statics of `static NAME: Type = …;`, as some macros take them.
fn statics_in(tokens: TokenStream) -> Vec<(String, Option<Known>)> {
    let mut found = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if !matches!(&token, TokenTree::Ident(word) if word == "static") {
            continue;
        }
        let name = tokens.find_map(|token| match token {
            TokenTree::Ident(word) if word != "ref" && word != "mut" => Some(word.to_string()),
            _ => None,
        });
        let is_sign =
            |token: &TokenTree, sign| matches!(token, TokenTree::Punct(p) if p.as_char() == sign);
        tokens.next();
        let of: TokenStream = tokens.by_ref().take_while(|token| !is_sign(token, '=')).collect();
        let of = syn::parse2::<syn::Type>(of).ok();
        found.extend(name.map(|name| (name, of.as_ref().and_then(known_type))));
        tokens.by_ref().take_while(|token| !is_sign(token, ';')).for_each(drop);
    }
    found
}
