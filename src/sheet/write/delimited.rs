//! CSV or TSV by RFC 4180: UTF-8, CRLF, quotes where they are needed. Most cells need none and are copied as they are.
//!
//! What a row looks like and where it goes are two things, so that rows can be made on any thread.

use std::borrow::Cow;
use std::io::Write;

use super::defuse::defuse;
use super::sink::Sink;
use super::value::{Style, TextKind, Value};
use crate::sheet::Error;

/// What rows of values look like.
#[derive(Clone, Copy, Debug)]
pub struct Delimiting {
    separator: u8,
    style: Style,
}

/// A text of rows on its way.
pub struct Delimited {
    sink: Sink,
    delimiting: Delimiting,
    /// What was not given to the sink yet.
    waiting: Vec<u8>,
}

/// So many bytes are given to the sink at once.
const TOGETHER: usize = 128 * 1024;

impl Delimiting {
    /// Nothing for a text that has no separators.
    pub fn of(kind: TextKind, style: Style) -> Option<Delimiting> {
        let separator = match (kind, style.delimiter) {
            (TextKind::Ndjson, _) => return None,
            (_, Some(delimiter)) => delimiter,
            (TextKind::Tsv, None) => b'\t',
            (TextKind::Csv, None) if style.decimal_comma => b';',
            (TextKind::Csv, None) => b',',
        };
        Some(Delimiting { separator, style })
    }

    /// Adds a row to `out`.
    pub fn row<'a>(&self, values: impl IntoIterator<Item = Value<'a>>, out: &mut Vec<u8>) {
        let begin = out.len();
        let mut count = 0;
        for value in values {
            if count > 0 {
                self.separate(out);
            }
            self.cell(value, out);
            count += 1;
        }
        self.end_row(begin, count, out);
    }

    /// Adds what stands between two cells of a row.
    #[inline]
    pub fn separate(&self, out: &mut Vec<u8>) {
        out.push(self.separator);
    }

    /// Adds a cell.
    pub fn cell(&self, value: Value<'_>, out: &mut Vec<u8>) {
        match value {
            Value::Blank => {}
            Value::Text(text) if self.style.raw => self.field(&text, out),
            Value::Text(text) => self.field(&defuse(&text), out),
            Value::Number(digits) if self.style.decimal_comma => self.field(&digits.replace('.', ","), out),
            Value::Digits(digits) if self.style.decimal_comma => self.field(&digits.replace('.', ","), out),
            Value::Digits(digits) => self.field(&digits, out),
            Value::Number(text) | Value::DateTime { text, .. } => self.field(text, out),
            Value::Boolean(true) => self.field("true", out),
            Value::Boolean(false) => self.field("false", out),
        }
    }

    /// Adds the cell of a text that stands in JSON without escapes, if it is the same in both. Otherwise nothing is added,
    /// and it is false.
    #[inline]
    pub fn plain_text(&self, inner: &[u8], out: &mut Vec<u8>) -> bool {
        // In JSON, what a cell would need quotes for is escaped, all but the separator.
        let is_dangerous = matches!(inner.first(), Some(b'\'' | b'=' | b'+' | b'-' | b'@'));
        if is_dangerous || holds(inner, self.separator) {
            return false;
        }
        out.extend_from_slice(inner);
        true
    }

    /// The same of a number.
    #[inline]
    pub fn plain_number(&self, digits: &[u8], out: &mut Vec<u8>) -> bool {
        if self.style.decimal_comma || !matches!(self.separator, b',' | b';' | b'\t' | b'|') {
            return false;
        }
        out.extend_from_slice(digits);
        true
    }

    /// Ends a row of so many cells that began at `begin` of `out`.
    #[inline]
    pub fn end_row(&self, begin: usize, count: usize, out: &mut Vec<u8>) {
        if out.len() == begin && count == 1 {
            // A row of one blank cell is not to be taken for a blank line.
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(b"\r\n");
    }

    fn field(&self, text: &str, out: &mut Vec<u8>) {
        let separator = self.separator;
        let needs_quotes = |byte: u8| byte == separator || matches!(byte, b'"' | b'\r' | b'\n');
        // All bytes are looked at, many of them together: hardly any cell needs quotes.
        if !text.bytes().fold(false, |any, byte| any | needs_quotes(byte)) {
            out.extend_from_slice(text.as_bytes());
            return;
        }
        out.push(b'"');
        for (nth, part) in text.split('"').enumerate() {
            if nth > 0 {
                out.extend_from_slice(b"\"\"");
            }
            out.extend_from_slice(part.as_bytes());
        }
        out.push(b'"');
    }
}

/// Whether one of the bytes is this one. Eight are looked at together, and the last eight once more, because most cells are
/// shorter than what it takes for more together to be worth while.
#[inline]
fn holds(bytes: &[u8], wanted: u8) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let of = |eight: &[u8; 8]| {
        let other = u64::from_ne_bytes(*eight) ^ (ONES * u64::from(wanted));
        other.wrapping_sub(ONES) & !other & HIGH
    };
    match bytes.last_chunk() {
        None => bytes.contains(&wanted),
        Some(last) => bytes.as_chunks().0.iter().fold(of(last), |found, eight| found | of(eight)) != 0,
    }
}

impl Delimited {
    pub(super) fn create(sink: Sink, delimiting: Delimiting, header: &[String]) -> Result<Delimited, Error> {
        let mut table = Delimited { sink, delimiting, waiting: Vec::with_capacity(TOGETHER + TOGETHER / 4) };
        if delimiting.style.bom {
            table.waiting.extend("\u{feff}".as_bytes());
        }
        delimiting.row(header.iter().map(|name| Value::Text(Cow::Borrowed(name))), &mut table.waiting);
        Ok(table)
    }

    pub(super) fn row(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        self.delimiting.row(values.iter().map(Value::borrowed), &mut self.waiting);
        if self.waiting.len() >= TOGETHER { self.give() } else { Ok(()) }
    }

    /// Adds rows as [`Delimiting::row`] makes them.
    pub fn made(&mut self, rows: &[u8]) -> Result<(), Error> {
        self.waiting.extend_from_slice(rows);
        if self.waiting.len() >= TOGETHER { self.give() } else { Ok(()) }
    }

    fn give(&mut self) -> Result<(), Error> {
        let given = self.sink.write_all(&self.waiting);
        given.map_err(|source| Error::Write { path: self.sink.name().to_owned(), source })?;
        self.waiting.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Sink, Error> {
        self.give()?;
        Ok(self.sink)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn a_byte_is_found_wherever_it_stands(text in "[a-c,é]{0,40}", wanted in "[a,;]") {
            let wanted = wanted.as_bytes()[0];
            prop_assert_eq!(holds(text.as_bytes(), wanted), text.as_bytes().contains(&wanted));
        }
    }
}
