//! Settings for reading text files, and their notation in flags and templates.

use std::path::PathBuf;

use secrecy::SecretString;
use sheetport_files::text_file::read_text;

use super::text::TextEncoding;

/// Settings for reading a file. Unset options of a text are detected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Field delimiter.
    pub delimiter: Option<u8>,
    /// Label from the WHATWG Encoding Standard, such as `windows-1252`, or `cp437`, `cp850`, `cp852` or `utf-32`.
    pub encoding: Option<String>,
    /// Quote character; `Some(None)` if fields are not quoted.
    pub quote: Option<Option<u8>>,
    /// Escape character before quotes; `Some(None)` if quotes are doubled.
    pub escape: Option<Option<u8>>,
    /// File with the password of a workbook. Read only if a workbook may need it.
    pub password_file: Option<PathBuf>,
}

impl Options {
    /// Returns these options, completed from `other`.
    pub fn or(self, other: &Options) -> Options {
        Options {
            delimiter: self.delimiter.or(other.delimiter),
            encoding: self.encoding.or_else(|| other.encoding.clone()),
            quote: self.quote.or(other.quote),
            escape: self.escape.or(other.escape),
            password_file: self.password_file.or_else(|| other.password_file.clone()),
        }
    }

    /// Parses a delimiter: a character, `tab` or `space`.
    pub fn delimiter_named(word: &str) -> Result<u8, String> {
        match word.as_bytes() {
            b"tab" | b"\\t" => Ok(b'\t'),
            b"space" => Ok(b' '),
            [byte] if is_mark(*byte) && *byte != b'"' => Ok(*byte),
            _ => Err("a delimiter is one character such as ; or one of the words tab and space".to_owned()),
        }
    }

    /// Parses a quote or escape character, or `none`.
    pub fn mark_named(word: &str) -> Result<Option<u8>, String> {
        match word.as_bytes() {
            b"none" => Ok(None),
            [byte] if is_mark(*byte) => Ok(Some(*byte)),
            _ => Err("this is one character such as ' or \\, or the word none".to_owned()),
        }
    }

    pub fn is_encoding(label: &str) -> bool {
        TextEncoding::for_label(label).is_some()
    }

    /// Reads the password from the first line of its file. The error is the reason.
    pub(super) fn password(&self) -> Result<Option<SecretString>, String> {
        let Some(path) = &self.password_file else { return Ok(None) };
        let text = read_text(path)
            .map_err(|error| format!("the file {} with the password can't be read: {error}", path.display()))?;
        let line = text.trim_start_matches('\u{FEFF}').lines().next().unwrap_or_default();
        match line.is_empty() {
            true => Err(format!("the file {} with the password is empty", path.display())),
            false => Ok(Some(SecretString::from(line))),
        }
    }

    /// Checks that the options are valid and compatible. The error is the reason.
    pub(super) fn check(&self) -> Result<(), String> {
        let impossible = |byte: u8| !byte.is_ascii() || matches!(byte, b'\n' | b'\r');
        let (delimiter, quote, escape) = (self.delimiter, self.quote.flatten(), self.escape.flatten());
        if let Some(byte) = delimiter.filter(|byte| impossible(*byte) || matches!(byte, b'"' | 0)) {
            return Err(format!("'{}' cannot be the delimiter", byte.escape_ascii()));
        }
        if let Some(byte) = quote.filter(|byte| impossible(*byte) || delimiter == Some(*byte)) {
            return Err(format!("'{}' cannot be the quote character", byte.escape_ascii()));
        }
        match escape.filter(|byte| impossible(*byte) || delimiter == Some(*byte)) {
            Some(byte) => Err(format!("'{}' cannot be the escape character", byte.escape_ascii())),
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
    fn delimiters_and_quotes_are_parsed() {
        assert_eq!(Options::delimiter_named("tab"), Ok(b'\t'));
        assert_eq!(Options::delimiter_named(";"), Ok(b';'));
        assert!(Options::delimiter_named("ab").is_err() && Options::delimiter_named("\"").is_err());
        assert_eq!(Options::mark_named("none"), Ok(None));
        assert_eq!(Options::mark_named("'"), Ok(Some(b'\'')));
        assert!(Options::mark_named("x").is_err());
    }

    #[test]
    fn set_options_take_precedence() {
        let flags = Options { delimiter: Some(b';'), ..Options::default() };
        let template = Options { delimiter: Some(b','), quote: Some(None), ..Options::default() };
        assert_eq!(flags.or(&template), Options { delimiter: Some(b';'), quote: Some(None), ..Options::default() });
    }
}
