//! From linker names to the names the programmer wrote.

/// The name as written in the source: Rust without its hash, C++ without parameters.
pub fn demangled(name: &str) -> String {
    rust_name(name).or_else(|| cpp_name(name)).unwrap_or_else(|| name.to_owned())
}

fn rust_name(name: &str) -> Option<String> {
    // `_ZN…E` is shared with C++: only the trailing hash makes it Rust's.
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    let plain = format!("{demangled:#}");
    let has_hash = name.starts_with("_R") || format!("{demangled}").len() > plain.len();
    has_hash.then(|| without_brackets_around_type(&plain))
}

/// `bank::Account::put` for `<bank::Account>::put`; `<A as Trait>::put` stays.
fn without_brackets_around_type(name: &str) -> String {
    let Some(inner) = name.strip_prefix('<') else { return name.to_owned() };
    let mut open = 1;
    let mut before = ' ';
    for (at, c) in inner.char_indices() {
        match c {
            '<' => open += 1,
            '>' if before != '-' => open -= 1, // not the arrow of a function type
            _ => {}
        }
        before = c;
        if open == 0 {
            let of_type = &inner[..at];
            let is_trait = of_type.contains(" as ");
            return if is_trait {
                name.to_owned()
            } else {
                format!("{of_type}{}", &inner[at + 1..])
            };
        }
    }
    name.to_owned()
}

fn cpp_name(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    symbol.demangle_with_options(&options).ok()
}

#[cfg(test)]
mod tests {
    use super::{demangled, without_brackets_around_type};

    #[test]
    fn each_language_is_demangled_and_c_is_left_alone() {
        assert_eq!(demangled("_ZN4bank7Account7depositEi"), "bank::Account::deposit");
        assert_eq!(demangled("_ZN4bank7deposit17h0123456789abcdefE"), "bank::deposit");
        assert_eq!(demangled("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(without_brackets_around_type("<a::B<C>>::put"), "a::B<C>::put");
        assert_eq!(without_brackets_around_type("<a::B as C>::put"), "<a::B as C>::put");
        assert_eq!(demangled("deposit"), "deposit");
        assert_eq!(demangled("_Zgarbage"), "_Zgarbage");
    }
}
