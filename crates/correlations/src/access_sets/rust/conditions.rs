//! Conditions on one variable: branches, early ends, arms of a `match`, in words that are the same wherever they are tested.

use syn::{BinOp, Block, Expr, Lit, Pat, Stmt, UnOp};

use super::body::Bodies;
use super::methods;

/// Macros that do not come back.
const ENDING: [&str; 5] = ["panic", "unreachable", "todo", "unimplemented", "bail"];

impl Bodies<'_> {
    /// What holds where a condition is true, or false, holds from here on.
    pub fn enter(&mut self, condition: &Expr, holds: bool) {
        match condition {
            Expr::Paren(inner) => self.enter(&inner.expr, holds),
            Expr::Unary(not) if matches!(not.op, UnOp::Not(_)) => self.enter(&not.expr, !holds),
            Expr::Binary(both) => self.enter_operation(both, holds),
            Expr::Let(binding) if holds => self.enter_pattern(&binding.expr, &binding.pat),
            Expr::MethodCall(call) if !methods::passes_on(&call.method.to_string()) => {
                self.enter_question(call, holds);
            }
            flag => self.enter_flag(flag, holds),
        }
    }

    fn enter_operation(&mut self, both: &syn::ExprBinary, holds: bool) {
        match (&both.op, holds) {
            (BinOp::And(_), true) | (BinOp::Or(_), false) => {
                self.enter(&both.left, holds);
                self.enter(&both.right, holds);
            }
            (operator, _) => {
                let (Some(sign), Some(value)) = (sign(operator, holds), constant(&both.right))
                else {
                    return;
                };
                match (value.as_str(), sign) {
                    ("true", "==") | ("false", "!=") => self.enter_flag(&both.left, true),
                    ("true", "!=") | ("false", "==") => self.enter_flag(&both.left, false),
                    _ => self.enter_text(&both.left, |name| format!("{name} {sign} {value}")),
                }
            }
        }
    }

    /// `self.jobs.is_empty()`.
    fn enter_question(&mut self, call: &syn::ExprMethodCall, holds: bool) {
        let method = call.method.to_string();
        if !method.starts_with("is_") || !call.args.is_empty() {
            return;
        }
        let (method, holds) = match method.as_str() {
            "is_none" => ("is_some", !holds),
            "is_err" => ("is_ok", !holds),
            other => (other, holds),
        };
        let not = if holds { "" } else { "!" };
        self.enter_text(&call.receiver, |name| format!("{not}{name}.{method}()"));
    }

    fn enter_flag(&mut self, flag: &Expr, holds: bool) {
        let not = if holds { "" } else { "!" };
        self.enter_text(flag, |name| format!("{not}{name}"));
    }

    /// That a value fits a pattern.
    pub fn enter_pattern(&mut self, value: &Expr, pattern: &Pat) {
        match constant_in(pattern).as_deref() {
            Some("true") => self.enter_flag(value, true),
            Some("false") => self.enter_flag(value, false),
            Some(constant) => self.enter_text(value, |name| format!("{name} == {constant}")),
            None => {}
        }
    }

    fn enter_text(&mut self, value: &Expr, text: impl Fn(&str) -> String) {
        if let Some(name) = self.variable_of(value) {
            let variable = self.sets.variable(&name);
            self.sets.enter_condition(variable, text(&name));
        }
    }

    /// Behind `if self.closed { return; }` it is not closed.
    pub fn enter_what_is_left(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Expr(Expr::If(branch), _)
                if branch.else_branch.is_none() && ends(&branch.then_branch) =>
            {
                self.enter(&branch.cond, false);
            }
            Stmt::Local(local) => {
                if let Some(init) = local.init.as_ref().filter(|init| init.diverge.is_some()) {
                    self.enter_pattern(&init.expr, &local.pat);
                }
            }
            _ => {}
        }
    }
}

fn sign(operator: &BinOp, holds: bool) -> Option<&'static str> {
    Some(match (operator, holds) {
        (BinOp::Eq(_), true) | (BinOp::Ne(_), false) => "==",
        (BinOp::Ne(_), true) | (BinOp::Eq(_), false) => "!=",
        (BinOp::Lt(_), true) | (BinOp::Ge(_), false) => "<",
        (BinOp::Ge(_), true) | (BinOp::Lt(_), false) => ">=",
        (BinOp::Gt(_), true) | (BinOp::Le(_), false) => ">",
        (BinOp::Le(_), true) | (BinOp::Gt(_), false) => "<=",
        _ => return None,
    })
}

fn constant(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(literal) => literal_text(&literal.lit),
        Expr::Paren(inner) => constant(&inner.expr),
        Expr::Unary(minus) if matches!(minus.op, UnOp::Neg(_)) => {
            constant(&minus.expr).map(|text| format!("-{text}"))
        }
        Expr::Path(path) => constant_path(&path.path),
        _ => None,
    }
}

fn constant_in(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Lit(literal) => literal_text(&literal.lit),
        Pat::Path(path) => constant_path(&path.path),
        Pat::TupleStruct(parts) => constant_path(&parts.path),
        Pat::Struct(parts) => constant_path(&parts.path),
        Pat::Ident(name) if name.subpat.is_none() => {
            let name = name.ident.to_string();
            name.starts_with(char::is_uppercase).then_some(name)
        }
        Pat::Reference(inner) => constant_in(&inner.pat),
        Pat::Paren(inner) => constant_in(&inner.pat),
        _ => None,
    }
}

/// Constants and variants begin with a capital letter.
fn constant_path(path: &syn::Path) -> Option<String> {
    let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
    let is_constant = parts.last()?.starts_with(char::is_uppercase);
    is_constant.then(|| parts[parts.len().saturating_sub(2)..].join("::"))
}

fn literal_text(literal: &Lit) -> Option<String> {
    match literal {
        Lit::Int(number) => Some(number.base10_digits().to_owned()),
        Lit::Bool(flag) => Some(flag.value.to_string()),
        Lit::Char(letter) => Some(format!("{:?}", letter.value())),
        Lit::Str(text) => Some(format!("{:?}", text.value())),
        _ => None,
    }
}

/// Whether nothing behind a block is reached from it.
fn ends(block: &Block) -> bool {
    let is_ending = |call: &syn::Macro| {
        call.path.segments.last().is_some_and(|last| ENDING.iter().any(|name| last.ident == name))
    };
    match block.stmts.last() {
        Some(Stmt::Expr(last, _)) => match last {
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
            Expr::Macro(call) => is_ending(&call.mac),
            _ => false,
        },
        Some(Stmt::Macro(call)) => is_ending(&call.mac),
        _ => false,
    }
}
