//! What a file declares: types with their fields, statics, first lines of functions. Other files need nothing else of it.
//!
//! Takes   the items of a file.      Gives  declarations in the order of the source, as plain data: they can be kept.
//! Misses  what macros declare, but for statics of the usual ones.

use proc_macro2::{TokenStream, TokenTree};
use serde::{Deserialize, Serialize};
use syn::visit::{self, Visit};
use syn::{Fields, FnArg, ImplItemFn, Item, ItemEnum, ItemFn, ItemImpl, ItemStatic, ItemStruct};
use syn::{ItemTrait, ItemType, ItemUnion, Macro, Signature, TraitItemFn};

use super::type_names::{Known, known_result, known_type};

/// Macros that declare statics.
const OF_STATICS: [&str; 2] = ["thread_local", "lazy_static"];

/// One thing that a file declares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Declaration {
    /// A variant of an enumeration is an owner, too: `Shape::Circle`.
    Field {
        owner: String,
        name: String,
        of: Option<Known>,
    },
    Static {
        name: String,
        of: Option<Known>,
    },
    Alias {
        name: String,
        meant: Known,
    },
    /// `Type::method`, or a plain function.
    Function {
        name: String,
        changes_its_object: bool,
        gives: Option<Known>,
    },
    /// With the name by which its fields are known: `Circle`, `Shape::Circle`.
    Variant {
        name: String,
        owner: String,
    },
}

impl Declaration {
    /// The name that accesses to it have, if it is a variable.
    pub fn variable(&self) -> Option<String> {
        match self {
            Self::Field { owner, name, .. } => Some(format!("{owner}::{name}")),
            Self::Static { name, .. } => Some(name.clone()),
            Self::Alias { .. } | Self::Function { .. } | Self::Variant { .. } => None,
        }
    }
}

/// All that a file declares, at whatever depth.
pub fn declarations_in(items: &[Item]) -> Vec<Declaration> {
    let mut declarer = Declarer::default();
    items.iter().for_each(|item| declarer.visit_item(item));
    declarer.found
}

#[derive(Default)]
struct Declarer {
    found: Vec<Declaration>,
    /// The type whose `impl` is being read.
    this: Option<String>,
}

impl Declarer {
    fn fields(&mut self, owner: &str, fields: &Fields) {
        for (at, field) in fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
            let (owner, of) = (owner.to_owned(), known_type(&field.ty));
            self.found.push(Declaration::Field { owner, name, of });
        }
    }

    fn function(&mut self, signature: &Signature) {
        let name = self.name_of(&signature.ident.to_string());
        let changes_its_object = signature.inputs.first().is_some_and(|first| {
            matches!(first, FnArg::Receiver(receiver)
                if receiver.mutability.is_some() && receiver.reference.is_some())
        });
        let gives = known_result(&signature.output).map(|known| self.not_self(known));
        self.found.push(Declaration::Function { name, changes_its_object, gives });
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
}

impl Visit<'_> for Declarer {
    fn visit_item_struct(&mut self, item: &ItemStruct) {
        self.fields(&item.ident.to_string(), &item.fields);
    }

    fn visit_item_union(&mut self, item: &ItemUnion) {
        self.fields(&item.ident.to_string(), &Fields::Named(item.fields.clone()));
    }

    fn visit_item_enum(&mut self, item: &ItemEnum) {
        for variant in &item.variants {
            let owner = format!("{}::{}", item.ident, variant.ident);
            self.fields(&owner, &variant.fields);
            self.found.push(Declaration::Variant { name: variant.ident.to_string(), owner });
        }
    }

    fn visit_item_type(&mut self, item: &ItemType) {
        let name = item.ident.to_string();
        self.found.extend(known_type(&item.ty).map(|meant| Declaration::Alias { name, meant }));
    }

    fn visit_item_static(&mut self, item: &ItemStatic) {
        let (name, of) = (item.ident.to_string(), known_type(&item.ty));
        self.found.push(Declaration::Static { name, of });
    }

    fn visit_macro(&mut self, call: &Macro) {
        let name = call.path.segments.last().map(|last| last.ident.to_string());
        if name.is_some_and(|name| OF_STATICS.contains(&name.as_str())) {
            let statics = statics_in(call.tokens.clone());
            let declared = |(name, of)| Declaration::Static { name, of };
            self.found.extend(statics.into_iter().map(declared));
        }
    }

    fn visit_item_fn(&mut self, item: &ItemFn) {
        self.function(&item.sig);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &ImplItemFn) {
        self.function(&item.sig);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &TraitItemFn) {
        self.function(&item.sig);
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
