//! Words for a shell, for the commands that are suggested to a person or a script.

/// An argument as the system's usual shell takes it: whole, and nothing in it run.
pub fn quoted(text: &str) -> String {
    let is_plain = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_./\\:=,".contains(c));
    if is_plain && (cfg!(windows) || !text.contains('\\')) {
        text.to_owned()
    } else if cfg!(windows) {
        format!("\"{}\"", text.replace('"', "\\\""))
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::quoted;

    #[test]
    fn nothing_in_an_argument_is_run() {
        for (text, word) in [
            ("prices.csv", "prices.csv"),
            ("my prices.csv", "'my prices.csv'"),
            ("$(rm)`x`\"", "'$(rm)`x`\"'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }
}
