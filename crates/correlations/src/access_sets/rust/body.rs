//! Bodies of functions: which fields and statics they touch, in the order of statements.

use std::collections::HashMap;
use std::path::Path;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    BinOp, Block, Expr, FnArg, ImplItem, Item, Member, Pat, Signature, Stmt, TraitItem, UnOp,
};

use super::methods;
use super::types::{Types, type_name};
use crate::access_sets::c::hash;
use crate::access_sets::{SetsBuilder, WRITTEN_HERE, kind};

pub struct Bodies<'a> {
    types: &'a Types,
    sets: &'a mut SetsBuilder,
    file: u32,
    /// The type whose `impl` it is.
    this: Option<String>,
    /// Types of local values, as far as they are told.
    locals: HashMap<String, String>,
}

impl<'a> Bodies<'a> {
    pub fn new(types: &'a Types, sets: &'a mut SetsBuilder, path: &Path) -> Self {
        let file = sets.file(&path.to_string_lossy());
        Self { types, sets, file, this: None, locals: HashMap::new() }
    }

    pub fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Fn(item) => self.function(&item.sig, &item.block),
                Item::Mod(module) => {
                    if let Some((_, items)) = &module.content {
                        self.items(items);
                    }
                }
                Item::Impl(item) => {
                    let outer = std::mem::replace(&mut self.this, type_name(&item.self_ty));
                    for part in &item.items {
                        if let ImplItem::Fn(method) = part {
                            self.function(&method.sig, &method.block);
                        }
                    }
                    self.this = outer;
                }
                Item::Trait(item) => {
                    for part in &item.items {
                        if let TraitItem::Fn(method) = part
                            && let Some(body) = &method.default
                        {
                            self.function(&method.sig, body);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn function(&mut self, signature: &Signature, body: &Block) {
        let name = match &self.this {
            Some(this) => format!("{this}::{}", signature.ident),
            None => signature.ident.to_string(),
        };
        // A free function may be called by its last name alone, and two files may have one each.
        let line = signature.ident.span().start().line as u32;
        let key = hash(name.as_bytes());
        let is_life = matches!(signature.ident.to_string().as_str(), "new" | "default" | "drop");
        let outer = std::mem::take(&mut self.locals);
        for argument in &signature.inputs {
            if let FnArg::Typed(argument) = argument {
                self.learn_local(&argument.pat, type_name(&argument.ty));
            }
        }
        let is_outermost = self.sets.begin_function(key, name, self.file, line, is_life);
        self.visit_block(body);
        if is_outermost {
            self.sets.end_function();
        }
        self.locals = outer;
    }

    fn learn_local(&mut self, pattern: &Pat, of: Option<String>) {
        match pattern {
            Pat::Ident(name) => {
                // A value of unknown type hides an older one of the same name.
                self.locals.remove(&name.ident.to_string());
                self.locals.extend(of.map(|of| (name.ident.to_string(), of)));
            }
            Pat::Type(typed) => self.learn_local(&typed.pat, type_name(&typed.ty)),
            Pat::Reference(reference) => self.learn_local(&reference.pat, of),
            _ => {}
        }
    }

    /// The type of a value, where it is told.
    fn type_of(&self, value: &Expr) -> Option<String> {
        match value {
            Expr::Path(path) => {
                let name = path.path.get_ident()?.to_string();
                if name == "self" { self.this.clone() } else { self.locals.get(&name).cloned() }
            }
            Expr::Field(field) => {
                let name = member_name(&field.member);
                let owner = self.owner_of(&field.base, &name)?;
                self.types.field_type(&owner, &name).map(str::to_owned)
            }
            Expr::Reference(inner) => self.type_of(&inner.expr),
            Expr::Paren(inner) => self.type_of(&inner.expr),
            Expr::Unary(inner) => self.type_of(&inner.expr),
            Expr::Try(inner) => self.type_of(&inner.expr),
            Expr::Struct(literal) => {
                self.named_type(&literal.path.segments.last()?.ident.to_string())
            }
            // `Type::new()`
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else { return None };
                let segments = &path.path.segments;
                let owner = segments.iter().nth_back(1)?.ident.to_string();
                owner.starts_with(char::is_uppercase).then(|| self.named_type(&owner)).flatten()
            }
            _ => None,
        }
    }

    fn named_type(&self, name: &str) -> Option<String> {
        if name == "Self" { self.this.clone() } else { Some(name.to_owned()) }
    }

    fn owner_of(&self, base: &Expr, field: &str) -> Option<String> {
        let of = self.type_of(base);
        self.types.owner(of.as_deref(), field).map(str::to_owned)
    }

    /// The place that an expression is, touched as `bits` say; or the values in it, read.
    fn touch(&mut self, expression: &Expr, bits: u8) {
        match expression {
            Expr::Field(field) => {
                let name = member_name(&field.member);
                match self.owner_of(&field.base, &name) {
                    Some(owner) => {
                        self.record(&format!("{owner}::{name}"), bits, expression);
                        self.reach(&field.base);
                    }
                    // `x.lock().count` and the like.
                    None => self.touch(&field.base, bits),
                }
            }
            Expr::Path(path) => {
                let name = path.path.segments.last().map(|last| last.ident.to_string());
                if let Some(name) = name.filter(|name| self.types.is_static(name)) {
                    self.record(&name, bits, expression);
                }
            }
            Expr::Index(index) => {
                self.touch(&index.expr, bits);
                self.visit_expr(&index.index);
            }
            Expr::Paren(inner) => self.touch(&inner.expr, bits),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_)) => {
                self.touch(&inner.expr, bits)
            }
            Expr::MethodCall(call) if methods::passes_on(&call.method.to_string()) => {
                self.touch(&call.receiver, bits);
                call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            Expr::Try(inner) => self.touch(&inner.expr, bits),
            other => self.visit_expr(other),
        }
    }

    /// Values on the way to a field are no accesses.
    fn reach(&mut self, base: &Expr) {
        match base {
            Expr::Field(field) => self.reach(&field.base),
            Expr::Path(_) => {}
            Expr::Paren(inner) => self.reach(&inner.expr),
            Expr::Unary(inner) => self.reach(&inner.expr),
            Expr::Index(index) => {
                self.reach(&index.expr);
                self.visit_expr(&index.index);
            }
            other => self.touch(other, kind::READ),
        }
    }

    fn record(&mut self, name: &str, bits: u8, at: &Expr) {
        let variable = self.sets.variable(name);
        let line = match at {
            Expr::Field(field) => field.member.span().start().line,
            other => other.span().start().line,
        };
        self.sets.access(variable, bits, line as u32, WRITTEN_HERE);
    }

    /// Holds inside: `if self.flag`, `if !self.flag`.
    fn enter(&mut self, condition: &Expr, holds: bool) {
        match condition {
            Expr::Paren(inner) => self.enter(&inner.expr, holds),
            Expr::Unary(not) if matches!(not.op, UnOp::Not(_)) => self.enter(&not.expr, !holds),
            Expr::Binary(both) if matches!(both.op, BinOp::And(_)) && holds => {
                self.enter(&both.left, true);
                self.enter(&both.right, true);
            }
            Expr::Field(field) => {
                let name = member_name(&field.member);
                if let Some(owner) = self.owner_of(&field.base, &name) {
                    let text = format!("{}{owner}::{name}", if holds { "" } else { "!" });
                    let variable = self.sets.variable(&format!("{owner}::{name}"));
                    self.sets.enter_condition(variable, text);
                }
            }
            _ => {}
        }
    }
}

fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

fn is_assignment(operator: &BinOp) -> bool {
    use BinOp::{
        AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign, MulAssign, RemAssign,
        ShlAssign, ShrAssign, SubAssign,
    };
    matches!(
        operator,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitXorAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}

impl Visit<'_> for Bodies<'_> {
    fn visit_stmt(&mut self, statement: &Stmt) {
        self.sets.next_statement();
        match statement {
            Stmt::Item(item) => self.items(std::slice::from_ref(item)),
            Stmt::Local(local) => {
                visit::visit_local(self, local);
                let of = local.init.as_ref().and_then(|init| self.type_of(&init.expr));
                self.learn_local(&local.pat, of);
            }
            Stmt::Macro(call) => self.visit_macro(&call.mac),
            Stmt::Expr(expression, _) => self.visit_expr(expression),
        }
    }

    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::Field(_) | Expr::Path(_) => self.touch(expression, kind::READ),
            Expr::Assign(assignment) => {
                self.visit_expr(&assignment.right);
                self.touch(&assignment.left, kind::WRITE);
            }
            Expr::Binary(operation) if is_assignment(&operation.op) => {
                self.visit_expr(&operation.right);
                self.touch(&operation.left, kind::READ | kind::WRITE);
            }
            Expr::Reference(reference) if reference.mutability.is_some() => {
                self.touch(&reference.expr, kind::ADDRESS);
            }
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                self.touch(&call.receiver, methods::kind_of(&method));
                call.args.iter().for_each(|argument| self.visit_expr(argument));
                if let Some(of) = self.type_of(&call.receiver) {
                    self.sets.call(hash(format!("{of}::{method}").as_bytes()));
                }
            }
            Expr::Call(call) => {
                if let Expr::Path(path) = &*call.func {
                    let last: Vec<String> =
                        path.path.segments.iter().map(|part| part.ident.to_string()).collect();
                    let from = last.len().saturating_sub(2);
                    let name = last[from..].join("::");
                    let name = match (&self.this, name.strip_prefix("Self::")) {
                        (Some(this), Some(method)) => format!("{this}::{method}"),
                        _ => name,
                    };
                    self.sets.call(hash(name.as_bytes()));
                }
                call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            Expr::If(branches) => {
                self.visit_expr(&branches.cond);
                let held = self.sets.conditions_held();
                self.enter(&branches.cond, true);
                self.visit_block(&branches.then_branch);
                self.sets.leave_conditions(held);
                if let Some((_, other)) = &branches.else_branch {
                    self.enter(&branches.cond, false);
                    self.visit_expr(other);
                    self.sets.leave_conditions(held);
                }
            }
            _ => visit::visit_expr(self, expression),
        }
    }

    /// Arguments of the usual macros are expressions with commas between.
    fn visit_macro(&mut self, call: &syn::Macro) {
        let arguments = call
            .parse_body_with(syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated);
        for argument in arguments.into_iter().flatten() {
            self.visit_expr(&argument);
        }
    }
}
