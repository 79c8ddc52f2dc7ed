//! What a caller knows better than detection, and the words by which flags and templates say it.

use encoding_rs::Encoding;

/// How a text file is to be read. Everything unset is found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The byte between fields.
    pub delimiter: Option<u8>,
    /// A label of the WHATWG Encoding Standard, such as `windows-1252`.
    pub encoding: Option<String>,
    /// The byte around fields that hold a delimiter; `Some(None)` where no byte is one.
    pub quote: Option<Option<u8>>,
    /// The byte that makes a quote text; `Some(None)` where quotes are doubled.
    pub escape: Option<Option<u8>>,
}

impl Options {
    /// These, and what they leave unset from `other`.
    pub fn or(self, other: &Options) -> Options {
        Options {
            delimiter: self.delimiter.or(other.delimiter),
            encoding: self.encoding.or_else(|| other.encoding.clone()),
            quote: self.quote.or(other.quote),
            escape: self.escape.or(other.escape),
        }
    }

    /// A delimiter by its character or its name.
    pub fn delimiter_named(word: &str) -> Result<u8, String> {
        match word.as_bytes() {
            b"tab" | b"\\t" => Ok(b'\t'),
            b"space" => Ok(b' '),
            [byte] if is_mark(*byte) && *byte != b'"' => Ok(*byte),
            _ => Err("a delimiter is one character such as ; or one of the words tab and space".to_owned()),
        }
    }

    /// A quote or an escape by its character, or nothing for the word none.
    pub fn mark_named(word: &str) -> Result<Option<u8>, String> {
        match word.as_bytes() {
            b"none" => Ok(None),
            [byte] if is_mark(*byte) => Ok(Some(*byte)),
            _ => Err("this is one character such as ' or \\, or the word none".to_owned()),
        }
    }

    pub fn is_encoding(label: &str) -> bool {
        Encoding::for_label_no_replacement(label.trim().as_bytes()).is_some()
    }

    /// Why these can't go together, or can't be at all.
    pub(super) fn check(&self) -> Result<(), String> {
        let impossible = |byte: u8| !byte.is_ascii() || matches!(byte, b'\n' | b'\r');
        let (delimiter, quote, escape) = (self.delimiter, self.quote.flatten(), self.escape.flatten());
        if let Some(byte) = delimiter.filter(|byte| impossible(*byte) || matches!(byte, b'"' | 0)) {
            return Err(format!("fields can't be separated by '{}'", byte.escape_ascii()));
        }
        if let Some(byte) = quote.filter(|byte| impossible(*byte) || delimiter == Some(*byte)) {
            return Err(format!("fields can't be quoted by '{}'", byte.escape_ascii()));
        }
        match escape.filter(|byte| impossible(*byte) || delimiter == Some(*byte)) {
            Some(byte) => Err(format!("quotes can't be escaped by '{}'", byte.escape_ascii())),
            None => Ok(()),
        }
    }
}

fn is_mark(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'\n' | b'\r' | 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_named() {
        assert_eq!(Options::delimiter_named("tab"), Ok(b'\t'));
        assert_eq!(Options::delimiter_named(";"), Ok(b';'));
        assert!(Options::delimiter_named("ab").is_err() && Options::delimiter_named("\"").is_err());
        assert_eq!(Options::mark_named("none"), Ok(None));
        assert_eq!(Options::mark_named("'"), Ok(Some(b'\'')));
        assert!(Options::mark_named("x").is_err());
    }

    #[test]
    fn what_is_said_first_counts() {
        let flags = Options { delimiter: Some(b';'), ..Options::default() };
        let template = Options { delimiter: Some(b','), quote: Some(None), ..Options::default() };
        assert_eq!(flags.or(&template), Options { delimiter: Some(b';'), quote: Some(None), ..Options::default() });
    }
}
