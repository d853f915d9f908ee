//! Places: fields and statics that expressions are, and how they are touched.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, ExprClosure, UnOp};

use super::body::{Bodies, line_of};
use super::methods;
use super::scope::Local;
use super::type_names::Known;
use super::values::member_name;
use crate::access_sets::c::hash;
use crate::access_sets::{WRITTEN_HERE, kind};

impl Bodies<'_> {
    /// The place that an expression is, touched as `bits` say; or the values in it, read.
    pub fn touch(&mut self, expression: &Expr, bits: u8) {
        match expression {
            Expr::Field(field) => {
                let name = member_name(&field.member);
                match self.owner_of(&field.base, &name) {
                    Some(owner) => {
                        self.record(&format!("{owner}::{name}"), bits, field.member.span());
                        self.reach(&field.base);
                    }
                    // `x.lock().count` and the like.
                    None => self.touch(&field.base, bits),
                }
            }
            Expr::Path(path) => {
                let name = path.path.segments.last().map(|last| last.ident.to_string());
                let is_static =
                    |name: &String| self.locals.get(name).is_none() && self.types.is_static(name);
                if let Some(name) = name.filter(is_static) {
                    self.record(&name, bits, expression.span());
                }
            }
            Expr::Index(index) => {
                self.touch_behind(&index.expr, bits);
                self.visit_expr(&index.index);
            }
            Expr::Paren(inner) => self.touch(&inner.expr, bits),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_)) => {
                self.touch_behind(&inner.expr, bits);
            }
            Expr::MethodCall(call) if methods::passes_on(&call.method.to_string()) => {
                self.touch_behind(&call.receiver, bits);
                call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            Expr::Try(inner) => self.touch(&inner.expr, bits),
            Expr::Await(inner) => self.touch(&inner.base, bits),
            other => self.visit_expr(other),
        }
    }

    /// The same for what a value refers to, if it is a name for a variable.
    fn touch_behind(&mut self, value: &Expr, bits: u8) {
        match value {
            Expr::Path(path) if path.path.get_ident().is_some() => match self.referred(value) {
                Some(variable) => self.record(&variable, bits, path.span()),
                None => self.touch(value, bits),
            },
            Expr::Paren(inner) => self.touch_behind(&inner.expr, bits),
            other => self.touch(other, bits),
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

    pub fn record(&mut self, name: &str, bits: u8, at: Span) {
        let variable = self.sets.variable(name);
        let column = at.start().column as u32 + 1;
        self.sets.access(variable, bits, (line_of(at), column), WRITTEN_HERE);
    }

    /// A method, which does something to its object.
    pub fn method_call(&mut self, call: &syn::ExprMethodCall) {
        let method = call.method.to_string();
        let of = self.type_of(&call.receiver);
        let told = of.as_ref().and_then(|of| self.types.changes_its_object(&of.name, &method));
        let bits = match told {
            Some(true) => kind::READ | kind::WRITE,
            Some(false) => kind::READ,
            None => methods::kind_of(&method),
        };
        self.touch_behind(&call.receiver, bits);
        for argument in &call.args {
            match argument {
                // `self.jobs.iter_mut().for_each(|job| job.done = true)`
                Expr::Closure(closure) if closure.inputs.len() == 1 => {
                    let given = self.given_by(call, of.clone());
                    self.closure(closure, &given);
                }
                other => self.visit_expr(other),
            }
        }
        if let Some(of) = of {
            self.sets.call(hash(format!("{}::{method}", of.name).as_bytes()));
        }
    }

    /// What a method gives to a closure: what its object holds or, `with` a thread's own variable, that.
    fn given_by(&self, call: &syn::ExprMethodCall, of: Option<Known>) -> Local {
        let mut given = Local { known: of.map(Known::inside), ..self.local_of(&call.receiver) };
        if call.method.to_string().starts_with("with") {
            given.refers_to = self.variable_of(&call.receiver);
            given.is_reference = true;
        }
        given
    }

    /// The body of a closure, whose only argument is known.
    pub fn closure(&mut self, closure: &ExprClosure, given: &Local) {
        let mark = self.locals.mark();
        closure.inputs.iter().for_each(|input| self.bind(input, given.clone()));
        self.visit_expr(&closure.body);
        self.locals.back_to(mark);
    }
}
