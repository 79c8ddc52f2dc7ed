//! Messages of the TOML parser about values of a wrong type, in words for people who know no Rust.

/// Returns a message of the parser in plain words, or `None` if it is about something else.
pub(super) fn in_plain_words(message: &str) -> Option<String> {
    let (found, expected) = message.split_once(", expected ")?;
    let number = found.strip_prefix("invalid value: integer `").and_then(|number| number.strip_suffix('`'));
    let is_too_large = number.is_some_and(|number| number != "0" && !number.starts_with('-'));
    if is_too_large {
        return Some("this number is too large".to_owned());
    }
    if !found.starts_with("invalid type: ") && number.is_none() {
        return None;
    }
    let wanted = match expected {
        "f64" | "f32" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of 0 or more",
        "a nonzero u8" | "a nonzero u16" | "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => {
            "a whole number of 1 or more"
        }
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "a string" => "text in quotation marks",
        "a boolean" => "true or false",
        "a sequence" => "a list in brackets",
        "a map" => "a table",
        _ if expected.starts_with("struct ") => "a table",
        _ => return None,
    };
    Some(format!("this must be {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_rust_are_not_shown() {
        for (message, plain) in [
            (r#"invalid type: string "10%", expected f64"#, Some("this must be a number")),
            ("invalid type: floating point `1.5`, expected u16", Some("this must be a whole number of 0 or more")),
            ("invalid value: integer `-1`, expected u64", Some("this must be a whole number of 0 or more")),
            ("invalid value: integer `70000`, expected u16", Some("this number is too large")),
            ("invalid value: integer `0`, expected a nonzero u64", Some("this must be a whole number of 1 or more")),
            ("invalid type: integer `5`, expected a string", Some("this must be text in quotation marks")),
            (r#"invalid type: string "yes", expected a boolean"#, Some("this must be true or false")),
            ("invalid type: integer `1`, expected struct RawAnswer", Some("this must be a table")),
            ("unclosed table, expected `]`", None),
        ] {
            assert_eq!(in_plain_words(message).as_deref(), plain, "{message}");
        }
    }
}
