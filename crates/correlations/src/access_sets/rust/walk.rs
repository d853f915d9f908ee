//! Bodies of functions: which fields and statics they touch, in the order of statements.

use syn::parse::{ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Pat, Stmt, Token, UnOp};

use super::body::{Bodies, line_of};
use super::scope::Local;
use super::starts::{start_of, start_of_statement};
use super::type_names::Known;
use crate::access_sets::c::hash;
use crate::access_sets::kind;

impl Bodies<'_> {
    /// `match` and its arms, each under what its pattern says.
    fn arms(&mut self, choice: &syn::ExprMatch) {
        self.visit_expr(&choice.expr);
        for arm in &choice.arms {
            let (held, mark) = (self.sets.conditions_held(), self.locals.mark());
            self.enter_pattern(&choice.expr, &arm.pat);
            self.bind(&arm.pat, self.local_of(&choice.expr));
            if let Some((_, guard)) = &arm.guard {
                self.visit_expr(guard);
                self.enter(guard, true);
            }
            self.sets.next_statement_at(line_of(start_of(&arm.body)));
            self.visit_expr(&arm.body);
            self.sets.leave_conditions(held);
            self.locals.back_to(mark);
        }
    }

    fn branches(&mut self, branches: &syn::ExprIf) {
        let (held, mark) = (self.sets.conditions_held(), self.locals.mark());
        self.visit_expr(&branches.cond);
        self.enter(&branches.cond, true);
        self.visit_block(&branches.then_branch);
        self.sets.leave_conditions(held);
        self.locals.back_to(mark);
        if let Some((_, other)) = &branches.else_branch {
            self.enter(&branches.cond, false);
            self.visit_expr(other);
            self.sets.leave_conditions(held);
        }
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
    fn visit_block(&mut self, block: &Block) {
        let (held, mark) = (self.sets.conditions_held(), self.locals.mark());
        for statement in &block.stmts {
            self.visit_stmt(statement);
            self.enter_what_is_left(statement);
        }
        self.sets.leave_conditions(held);
        self.locals.back_to(mark);
    }

    fn visit_stmt(&mut self, statement: &Stmt) {
        self.sets.next_statement_at(line_of(start_of_statement(statement)));
        match statement {
            Stmt::Item(item) => self.items(std::slice::from_ref(item)),
            Stmt::Local(local) => {
                let mut value = Local::default();
                if let Some(init) = &local.init {
                    self.visit_expr(&init.expr);
                    value = self.local_of(&init.expr);
                    if let Some((_, other)) = &init.diverge {
                        self.visit_expr(other);
                    }
                }
                self.bind(&local.pat, value);
            }
            Stmt::Macro(call) => self.visit_macro(&call.mac),
            Stmt::Expr(expression, _) => self.visit_expr(expression),
        }
    }

    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::Field(_) | Expr::Path(_) | Expr::Index(_) => self.touch(expression, kind::READ),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_)) => {
                self.touch(expression, kind::READ);
            }
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
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Call(call) => {
                if let Expr::Path(path) = &*call.func {
                    self.sets.call(hash(self.function_name(&path.path).as_bytes()));
                } else {
                    self.visit_expr(&call.func);
                }
                call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            Expr::If(choice) => self.branches(choice),
            Expr::Match(choice) => self.arms(choice),
            Expr::Let(binding) => {
                self.visit_expr(&binding.expr);
                self.bind(&binding.pat, self.local_of(&binding.expr));
            }
            Expr::While(repeated) => {
                let (held, mark) = (self.sets.conditions_held(), self.locals.mark());
                self.visit_expr(&repeated.cond);
                self.enter(&repeated.cond, true);
                self.visit_block(&repeated.body);
                self.sets.leave_conditions(held);
                self.locals.back_to(mark);
            }
            Expr::ForLoop(repeated) => {
                let mark = self.locals.mark();
                self.visit_expr(&repeated.expr);
                let all = self.local_of(&repeated.expr);
                let each = Local { known: all.known.clone().map(Known::inside), ..all };
                self.bind(&repeated.pat, each);
                self.visit_block(&repeated.body);
                self.locals.back_to(mark);
            }
            Expr::Closure(closure) => self.closure(closure, &Local::default()),
            Expr::Struct(literal) => {
                literal.fields.iter().for_each(|field| self.visit_expr(&field.expr));
                literal.rest.iter().for_each(|rest| self.visit_expr(rest));
            }
            _ => visit::visit_expr(self, expression),
        }
    }

    /// Arguments of the usual macros are expressions with commas between, or begin with one.
    fn visit_macro(&mut self, call: &syn::Macro) {
        let arguments = |input: ParseStream<'_>| {
            let mut all: Vec<Expr> = Vec::new();
            while let Ok(argument) = input.parse() {
                all.push(argument);
                if input.parse::<Token![,]>().is_err() && input.parse::<Token![;]>().is_err() {
                    break;
                }
            }
            // What else there is has no form that is known.
            input.parse::<proc_macro2::TokenStream>()?;
            Ok(all)
        };
        for argument in arguments.parse2(call.tokens.clone()).into_iter().flatten() {
            self.visit_expr(&argument);
        }
    }

    fn visit_pat(&mut self, _: &Pat) {}
}
