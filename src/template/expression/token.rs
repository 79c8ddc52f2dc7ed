//! The words and marks of an expression, with their places.

use std::ops::Range;

use super::ExpressionError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Name(String),
    /// A text in quotes, what it stands for.
    Text(String),
    /// Digits, perhaps with a point.
    Number(String),
    Mark(&'static str),
}

/// Longer ones before those that they begin with.
const MARKS: &[&str] = &[
    "==", "!=", "<=", ">=", "//", "**", "|", "(", ")", "[", "]", ",", "~", ":", "+", "-", "*", "/", "%", "<", ">", "=",
    ".", "{", "}", "!", "&", "?", ";", "$", "#", "@", "^", "\\",
];

/// The tokens from `start` up to the closing braces, and where these begin.
pub fn tokens(source: &str, start: usize) -> Result<(Vec<Token>, usize), ExpressionError> {
    let mut tokens = Vec::new();
    let mut at = start;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        if rest.starts_with("}}") {
            return Ok((tokens, at));
        }
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (kind, length) = if c == '"' || c == '\'' {
            let Some((text, length)) = quoted(rest, c) else {
                return Err(ExpressionError {
                    message: "this text has no closing quote".to_owned(),
                    range: at..source.len(),
                });
            };
            (Kind::Text(text), length)
        } else if c.is_ascii_digit() {
            let whole = rest.bytes().take_while(u8::is_ascii_digit).count();
            let decimals =
                rest[whole..].strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
            let length = whole + if decimals > 0 { decimals + 1 } else { 0 };
            (Kind::Number(rest[..length].to_owned()), length)
        } else if c.is_alphabetic() || c == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (Kind::Name(rest[..length].to_owned()), length)
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            (Kind::Mark(mark), mark.len())
        } else {
            let range = at..at + c.len_utf8();
            let message = match c {
                '“' | '”' | '„' | '‘' | '’' | '«' | '»' => {
                    "texts stand in straight quotes, \"so\"".to_owned()
                }
                _ => format!("'{c}' has no meaning here; a column with such a name is written row[\"…\"]"),
            };
            return Err(ExpressionError { message, range });
        };
        tokens.push(Token { kind, range: at..at + length });
        at += length;
    }
    Err(ExpressionError { message: "these braces are not closed by }}".to_owned(), range: start - 2..start })
}

/// The text between quotes and the bytes that it takes with them. A backslash that is no known escape stays, because
/// patterns have many.
fn quoted(source: &str, quote: char) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = source.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Some((text, at + 1));
        }
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next()?.1 {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            escaped @ ('"' | '\'' | '\\') => text.push(escaped),
            other => {
                text.push('\\');
                text.push(other);
            }
        }
    }
    None
}
