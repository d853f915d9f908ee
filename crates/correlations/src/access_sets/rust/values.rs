//! Values: of which type they are, and which variable they are or refer to, where the source tells.

use syn::{Block, Expr, Member, Stmt, UnOp};

use super::body::Bodies;
use super::methods::{self, Gives};
use super::type_names::{Known, is_transparent, known_type};

impl Bodies<'_> {
    /// The type of a value, where it is told.
    pub fn type_of(&self, value: &Expr) -> Option<Known> {
        match value {
            Expr::Path(path) => {
                let last = path.path.segments.last()?.ident.to_string();
                match path.path.get_ident() {
                    Some(name) if name == "self" => self.this.as_deref().map(Known::named),
                    Some(_) if self.locals.get(&last).is_some() => {
                        self.locals.get(&last)?.known.clone()
                    }
                    _ => self.types.static_type(&last),
                }
            }
            Expr::Field(field) => {
                let name = member_name(&field.member);
                let owner = self.owner_of(&field.base, &name)?;
                self.types.field_type(&owner, &name)
            }
            Expr::Index(index) => self.type_of(&index.expr).map(Known::inside),
            Expr::Cast(cast) => known_type(&cast.ty).map(|known| self.resolved(known)),
            Expr::Struct(literal) => {
                let owner = self.types.of_path(&literal.path, self.this.as_deref());
                owner.as_deref().map(Known::named)
            }
            Expr::MethodCall(call) => {
                let of = self.type_of(&call.receiver)?;
                let method = call.method.to_string();
                let told = self.types.result_of(&format!("{}::{method}", of.name));
                told.or_else(|| match methods::gives(&method) {
                    Gives::Inside => Some(of.inside()),
                    Gives::Same => Some(of),
                    Gives::Unknown => None,
                })
            }
            Expr::Call(call) => self.type_of_result(call),
            other => self.type_of(inner(other)?),
        }
    }

    fn type_of_result(&self, call: &syn::ExprCall) -> Option<Known> {
        let Expr::Path(path) = &*call.func else { return None };
        let name = self.function_name(&path.path);
        if let Some(told) = self.types.result_of(&name) {
            return Some(told);
        }
        let Some((owner, _)) = name.split_once("::") else {
            let is_wrapping = matches!(name.as_str(), "Some" | "Ok" | "Err");
            return is_wrapping.then(|| self.type_of(call.args.first()?)).flatten();
        };
        if is_transparent(owner) {
            return self.type_of(call.args.first()?);
        }
        // `Type::new()`
        owner.starts_with(char::is_uppercase).then(|| self.resolved(Known::named(owner)))
    }

    /// `Type::method`, or the last name alone.
    pub fn function_name(&self, path: &syn::Path) -> String {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        let name = parts[parts.len().saturating_sub(2)..].join("::");
        match (&self.this, name.strip_prefix("Self::")) {
            (Some(this), Some(method)) => format!("{this}::{method}"),
            _ => name,
        }
    }

    /// A type by its name at this place.
    pub fn resolved(&self, known: Known) -> Known {
        match (&self.this, known.name.as_str()) {
            (Some(this), "Self") => Known { name: this.clone(), ..known },
            _ => self.types.resolved(known),
        }
    }

    pub fn owner_of(&self, base: &Expr, field: &str) -> Option<String> {
        let of = self.type_of(base).map(|known| known.name);
        self.types.owner(of.as_deref(), field).map(str::to_owned)
    }

    /// The variable that an expression is, or is behind.
    pub fn variable_of(&self, place: &Expr) -> Option<String> {
        match place {
            Expr::Field(field) => {
                let name = member_name(&field.member);
                let owner = self.owner_of(&field.base, &name)?;
                Some(format!("{owner}::{name}"))
            }
            Expr::Path(path) => {
                let name = path.path.segments.last()?.ident.to_string();
                match self.locals.get(&name) {
                    Some(local) => local.refers_to.clone(),
                    None => self.types.is_static(&name).then_some(name),
                }
            }
            Expr::Index(index) => self.variable_of(&index.expr),
            Expr::MethodCall(call) if methods::passes_on(&call.method.to_string()) => {
                self.variable_of(&call.receiver)
            }
            other => self.variable_of(inner(other)?),
        }
    }

    /// The variable that can be changed through a value: `&mut self.jobs`, `self.count.lock().unwrap()`.
    pub fn referred(&self, value: &Expr) -> Option<String> {
        match value {
            Expr::Reference(reference) => self.variable_of(&reference.expr),
            Expr::MethodCall(call) if methods::refers(&call.method.to_string()) => {
                self.variable_of(&call.receiver)
            }
            Expr::Path(path) => {
                self.locals.get(&path.path.get_ident()?.to_string())?.refers_to.clone()
            }
            Expr::Unary(_) => None,
            other => self.referred(inner(other)?),
        }
    }
}

/// What stands for the whole: without brackets, `?`, `.await`, `*`, `&` and the like.
fn inner(value: &Expr) -> Option<&Expr> {
    match value {
        Expr::Reference(inner) => Some(&inner.expr),
        Expr::Paren(inner) => Some(&inner.expr),
        Expr::Group(inner) => Some(&inner.expr),
        Expr::Try(inner) => Some(&inner.expr),
        Expr::Await(inner) => Some(&inner.base),
        Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_)) => Some(&inner.expr),
        Expr::Unsafe(inner) => last_value(&inner.block),
        Expr::Block(inner) => last_value(&inner.block),
        _ => None,
    }
}

fn last_value(block: &Block) -> Option<&Expr> {
    match block.stmts.last()? {
        Stmt::Expr(value, None) => Some(value),
        _ => None,
    }
}

pub fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}
