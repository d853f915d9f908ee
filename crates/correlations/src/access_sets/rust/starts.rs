//! Where statements and values begin.
//!
//! `Spanned::span` writes out all tokens of what it is asked about, and so those of a block once per level around it.
//!
//! Takes   a statement or an expression.      Gives  the place of its first token.
//! Cost    one step per operand on the left; of forms that are rare or short, their tokens.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Label, Stmt};

pub fn start_of_statement(statement: &Stmt) -> Span {
    match statement {
        Stmt::Local(local) => first(&local.attrs, || local.let_token.span),
        Stmt::Expr(value, _) => start_of(value),
        Stmt::Item(_) | Stmt::Macro(_) => statement.span(),
    }
}

pub fn start_of(value: &Expr) -> Span {
    match value {
        Expr::Assign(it) => first(&it.attrs, || start_of(&it.left)),
        Expr::Async(it) => first(&it.attrs, || it.async_token.span),
        Expr::Await(it) => first(&it.attrs, || start_of(&it.base)),
        Expr::Binary(it) => first(&it.attrs, || start_of(&it.left)),
        Expr::Block(it) => labelled(&it.attrs, it.label.as_ref(), it.block.brace_token.span.open()),
        Expr::Call(it) => first(&it.attrs, || start_of(&it.func)),
        Expr::Field(it) => first(&it.attrs, || start_of(&it.base)),
        Expr::ForLoop(it) => labelled(&it.attrs, it.label.as_ref(), it.for_token.span),
        Expr::If(it) => first(&it.attrs, || it.if_token.span),
        Expr::Index(it) => first(&it.attrs, || start_of(&it.expr)),
        Expr::Loop(it) => labelled(&it.attrs, it.label.as_ref(), it.loop_token.span),
        Expr::Match(it) => first(&it.attrs, || it.match_token.span),
        Expr::MethodCall(it) => first(&it.attrs, || start_of(&it.receiver)),
        Expr::Paren(it) => first(&it.attrs, || it.paren_token.span.open()),
        Expr::Return(it) => first(&it.attrs, || it.return_token.span),
        Expr::Try(it) => first(&it.attrs, || start_of(&it.expr)),
        Expr::Unsafe(it) => first(&it.attrs, || it.unsafe_token.span),
        Expr::While(it) => labelled(&it.attrs, it.label.as_ref(), it.while_token.span),
        other => other.span(),
    }
}

/// Attributes come before everything else.
fn first(attributes: &[Attribute], otherwise: impl FnOnce() -> Span) -> Span {
    attributes.first().map_or_else(otherwise, |attribute| attribute.pound_token.span)
}

fn labelled(attributes: &[Attribute], label: Option<&Label>, keyword: Span) -> Span {
    first(attributes, || label.map_or(keyword, |label| label.name.apostrophe))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATEMENTS: &str = "{
        let x = 1;
        #[a] let y = 2;
        x = y; x += y; x + y;
        f(x)(y); x.f().g.h[1]?.await;
        { x }
        'a: { x }
        'b: for x in y {}
        'c: loop {}
        'd: while x {}
        for x in y {} loop {} while x {}
        if x {} else if y {}
        #[a] if x {}
        match x { _ => {} }
        unsafe { x }; async { x }; (x); return x;
        #[a] f(x); #[a] x.y = 1; #[a] { x }
        |x| y; move || {}; [x]; S { x }; &x; *x = 1; -x; break; f!(x); x as u8; x..y; (x, y);
        struct S; fn g() {}
        #[inner] fn h() {}
    }";

    #[test]
    fn is_where_the_first_token_is() {
        let block: syn::Block = syn::parse_str(STATEMENTS).unwrap();
        for statement in &block.stmts {
            let (ours, whole) = (start_of_statement(statement), statement.span());
            assert_eq!(ours.start(), whole.start());
        }
    }
}
