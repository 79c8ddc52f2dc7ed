//! The tokens of an expression.

use std::ops::Range;

use super::error::ExpressionError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name(String),
    /// A quoted text, without quotes and escapes.
    Text(String),
    /// Digits, with or without a decimal point.
    Number(String),
    Mark(&'static str),
}

/// Operators and punctuation, longer ones first.
const MARKS: &[&str] = &[
    "==", "!=", "<=", ">=", "//", "**", "|", "(", ")", "[", "]", ",", "~", ":", "+", "-", "*", "/", "%", "<", ">", "=",
    ".", "{", "}", "!", "&", "?", ";", "$", "#", "@", "^", "\\",
];

/// Where an expression ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At `}}`.
    Braces,
    /// With the source.
    Source,
}

/// Returns the tokens from `start` to the end, and the position of the end.
pub(super) fn tokens(source: &str, start: usize, end: End) -> Result<(Vec<Token>, usize), ExpressionError> {
    let mut tokens = Vec::new();
    let mut at = start;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        if end == End::Braces && rest.starts_with("}}") {
            return Ok((tokens, at));
        }
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (kind, length) = if c == '"' || c == '\'' {
            let Some((text, length)) = quoted(rest, c) else {
                return Err(ExpressionError::new("this text has no closing quote", at..source.len()));
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
                    "write texts in straight quotes: \"text\"".to_owned()
                }
                _ => format!("'{c}' is not allowed here; write a column with such a name as row[\"…\"]"),
            };
            return Err(ExpressionError::new(message, range));
        };
        tokens.push(Token { kind, range: at..at + length });
        at += length;
    }
    if end == End::Source {
        return Ok((tokens, at));
    }
    Err(ExpressionError::new("these braces are not closed by }}", start - 2..start))
}

/// Parses a quoted text. Returns the text and the length in the source. Backslashes of unknown escapes stay, as in
/// regular expressions.
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
