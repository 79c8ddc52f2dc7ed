//! Writes texts as TOML, with escapes for invisible characters.

use sheetport_files::visible::has_no_width;

/// Returns the text as a TOML string.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if is_interpreted(c) => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns a key, in quotes if necessary.
pub fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// Returns an inline table of texts and values that are TOML already.
pub fn inline_table<'a>(entries: impl Iterator<Item = (&'a str, String)>) -> String {
    let entries: Vec<String> = entries.map(|(from, to)| format!("{} = {to}", quoted(from))).collect();
    format!("{{ {} }}", entries.join(", "))
}

/// Whether terminals and editors interpret the character instead of displaying it.
pub fn is_interpreted(c: char) -> bool {
    c.is_control() || has_no_width(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_were() {
        for text in ["plain", "", "a \"b\" \\ 'c'", "two\nlines\t", "\u{202e}reversed\u{200b}", "Größe 数量"] {
            let toml: toml::Table = format!("{} = {}", key(text), quoted(text)).parse().expect("TOML");
            assert_eq!(toml.get(text).and_then(toml::Value::as_str), Some(text));
            assert!(!quoted(text).contains(is_interpreted), "{}", quoted(text));
        }
        assert_eq!((key("a-b_1"), key("a b")), ("a-b_1".to_owned(), "\"a b\"".to_owned()));
        let table = inline_table([("a b", quoted("c")), ("d", "1".to_owned())].into_iter());
        assert_eq!(table, "{ \"a b\" = \"c\", \"d\" = 1 }");
    }
}
