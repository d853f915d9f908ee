//! Functions of a file, and what is known while one is read.

use std::path::Path;

use proc_macro2::Span;
use syn::visit::Visit;
use syn::{Block, FnArg, ImplItem, Item, Signature, TraitItem};

use super::asked::Asked;
use super::scope::{Local, Locals};
use super::type_names::known_type;
use crate::access_sets::SetsBuilder;
use crate::access_sets::c::hash;

pub struct Bodies<'a> {
    pub types: &'a Asked<'a>,
    pub sets: &'a mut SetsBuilder,
    file: u32,
    /// The type whose `impl` it is.
    pub this: Option<String>,
    pub locals: Locals,
}

impl<'a> Bodies<'a> {
    pub fn new(types: &'a Asked<'a>, sets: &'a mut SetsBuilder, path: &Path) -> Self {
        let file = sets.file(&path.to_string_lossy());
        Self { types, sets, file, this: None, locals: Locals::default() }
    }

    pub fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Fn(item) => self.function(&item.sig, &item.block, None),
                Item::Mod(module) => {
                    if let Some((_, items)) = &module.content {
                        self.items(items);
                    }
                }
                Item::Impl(item) => {
                    let this = known_type(&item.self_ty).map(|known| known.name);
                    let outer = std::mem::replace(&mut self.this, this);
                    for part in &item.items {
                        if let ImplItem::Fn(method) = part {
                            self.function(&method.sig, &method.block, self.this.clone());
                        }
                    }
                    self.this = outer;
                }
                Item::Trait(item) => {
                    let outer = self.this.take();
                    for part in &item.items {
                        if let TraitItem::Fn(method) = part
                            && let Some(body) = &method.default
                        {
                            self.function(&method.sig, body, Some(item.ident.to_string()));
                        }
                    }
                    self.this = outer;
                }
                _ => {}
            }
        }
    }

    fn function(&mut self, signature: &Signature, body: &Block, of: Option<String>) {
        let name = match of {
            Some(of) => format!("{of}::{}", signature.ident),
            None => signature.ident.to_string(),
        };
        let key = hash(name.as_bytes());
        let is_life = matches!(signature.ident.to_string().as_str(), "new" | "default" | "drop");
        let outer = std::mem::take(&mut self.locals);
        let is_outermost = self.sets.begin_function(
            key,
            name,
            self.file,
            line_of(signature.ident.span()),
            is_life,
        );
        for argument in &signature.inputs {
            if let FnArg::Typed(argument) = argument {
                let local = Local::of_type(&argument.ty);
                let known = local.known.map(|known| self.resolved(known));
                self.bind(&argument.pat, Local { known, ..local });
            }
        }
        self.visit_block(body);
        if is_outermost {
            self.sets.end_function();
        }
        self.locals = outer;
    }
}

pub fn line_of(span: Span) -> u32 {
    span.start().line as u32
}
