//! Writes columns and texts in an expression, for templates and remedies that name one.

/// Returns a column in an expression.
pub fn row_value(name: &str) -> String {
    format!("row[{}]", quoted(name))
}

/// Returns a text in an expression.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::super::Expression;
    use super::*;

    #[test]
    fn any_name_is_read_as_it_is() {
        for name in ["Price", "Item no.", "Supplier's \"net\" price", "a\\b", "数量"] {
            let expression = Expression::parse(&format!("{{{{ {} }}}}", row_value(name))).expect("an expression");
            assert_eq!(expression.columns(), [name]);
        }
    }
}
