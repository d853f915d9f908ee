//! Names of variables: those that correlations have, and those that accesses are shown by.
//!
//! `Type::field` of the sources is `variable.field` or `Type[3].field` of an access: the type of a variable is not told there. So a field is
//! known by its own name alone; that both variables of a rule are parts of one object says the rest.

/// The parts of a name: `["cache", "table"]` of `cache.table[3] (heap, allocated at cache.c:31)`.
pub fn parts_of(shown: &str) -> Vec<&str> {
    let name = shown.split(" (").next().unwrap_or(shown);
    let name = name.split('+').next().unwrap_or(name);
    let parts = name.split(['.', '>', ':']).map(|part| {
        let part = part.split('[').next().unwrap_or(part);
        part.trim_matches(['-', '(', ')', '*', '&', ' '])
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// Whether an access that is shown by a name is to a variable that a correlation names.
pub fn is_called(shown: &str, correlated: &str) -> bool {
    let (shown, wanted) = (parts_of(shown), parts_of(correlated));
    let (Some(field), Some(last)) = (wanted.last(), shown.last()) else { return false };
    let is_global = wanted.len() == 1;
    if is_global { shown.first() == Some(field) } else { last == field }
}

/// Whether a correlation names a field of some object.
pub fn is_field(correlated: &str) -> bool {
    parts_of(correlated).len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_parts() {
        assert_eq!(parts_of("cache.table[3] (heap, allocated at c.c:31)"), ["cache", "table"]);
        assert_eq!(parts_of("bank::Account::balance"), ["bank", "Account", "balance"]);
        assert_eq!(parts_of("count+4 (static in next)"), ["count"]);
        assert_eq!(parts_of("(*of).empty"), ["of", "empty"]);
        assert_eq!(parts_of("of->empty"), ["of", "empty"]);
    }

    #[test]
    fn a_field_is_known_by_its_name_and_a_global_by_the_variable() {
        assert!(is_called("cache.table[3]", "property_cache::table"));
        assert!(!is_called("cache.empty", "property_cache::table"));
        assert!(is_called("finished", "finished"));
        assert!(is_called("totals[2]", "totals"));
        assert!(!is_called("job.finished", "finished"));
    }
}
