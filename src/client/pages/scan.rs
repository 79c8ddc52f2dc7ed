//! JSON looked over in one pass, for the places in the text at which its parts stand.
//!
//! Entries are mostly flat: names, plain texts and numbers are looked over here, several times as fast as a parser that
//! hands out each of them. What is nested or escaped is given to `serde_json`, one value at a time. Both accept the same
//! JSON, to which a property test holds them.

use std::ops::Range;

use serde_json::value::RawValue;

/// What a value is, as far as its text tells at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Null,
    Boolean,
    Number,
    /// A text that stands in its quotes as it is.
    PlainText,
    /// A text with escapes in it.
    EscapedText,
    Array,
    Object,
}

/// A value: where it stands, and what it is.
#[derive(Clone, Debug)]
pub struct Value {
    pub place: Range<usize>,
    pub form: Form,
}

/// A place in a text, which moves on as parts are read. Nothing comes back for what is not JSON.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    pub fn new(text: &'t str) -> Scan<'t> {
        Scan { text, at: 0 }
    }

    /// The next byte that is no white space.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                byte => return byte,
            }
        }
    }

    /// Nothing but white space is left.
    pub fn is_done(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads an array and stops at each of its elements, for `element` to read it.
    pub fn array(&mut self, mut element: impl FnMut(&mut Scan<'t>) -> Option<()>) -> Option<()> {
        self.pass(b'[')?;
        if self.peek()? == b']' {
            return self.pass(b']');
        }
        loop {
            self.peek()?;
            element(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                _ => return self.pass(b']'),
            }
        }
    }

    /// Reads an object and stops at each of its values, for `field` to read it; it is told where the name stands, with its
    /// quotes.
    pub fn object(&mut self, mut field: impl FnMut(&mut Scan<'t>, Range<usize>) -> Option<()>) -> Option<()> {
        self.pass(b'{')?;
        if self.peek()? == b'}' {
            return self.pass(b'}');
        }
        loop {
            if self.peek()? != b'"' {
                return None;
            }
            let name = self.text()?.place;
            self.pass(b':')?;
            self.peek()?;
            field(self, name)?;
            match self.peek()? {
                b',' => self.at += 1,
                _ => return self.pass(b'}'),
            }
        }
    }

    /// Reads a value of any kind.
    pub fn value(&mut self) -> Option<Value> {
        self.peek()?;
        self.value_here()
    }

    /// The same, where no white space stands before it.
    #[inline]
    pub fn value_here(&mut self) -> Option<Value> {
        match self.byte()? {
            b'"' => self.text(),
            b'-' | b'0'..=b'9' => self.number(),
            b'n' => self.word("null", Form::Null),
            b't' => self.word("true", Form::Boolean),
            b'f' => self.word("false", Form::Boolean),
            b'[' => self.other(Form::Array),
            b'{' => self.other(Form::Object),
            _ => None,
        }
    }

    /// Passes over these bytes; false, and it stays where it is, where others stand.
    #[inline]
    pub fn pass_same(&mut self, expected: &[u8]) -> bool {
        let is_same = self.rest().is_some_and(|rest| begins_with(rest, expected));
        self.at += if is_same { expected.len() } else { 0 };
        is_same
    }

    /// Where the next byte is read.
    pub fn at(&self) -> usize {
        self.at
    }

    #[inline]
    fn rest(&self) -> Option<&'t [u8]> {
        self.text.as_bytes().get(self.at..)
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn pass(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    #[inline]
    fn text(&mut self) -> Option<Value> {
        let inner = self.text.as_bytes().get(self.at + 1..)?;
        let end = plain(inner);
        match inner.get(end)? {
            b'"' => Some(self.pass_over(end + 2, Form::PlainText)),
            b'\\' => self.other(Form::EscapedText),
            _ => None,
        }
    }

    #[inline]
    fn number(&mut self) -> Option<Value> {
        let rest = self.rest()?;
        let digits =
            |from: usize| rest.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
        let mut len = usize::from(rest.first() == Some(&b'-'));
        match digits(len) {
            0 => return None,
            more if more > 1 && rest.get(len) == Some(&b'0') => return None,
            more => len += more,
        }
        if rest.get(len) == Some(&b'.') {
            let more = digits(len + 1);
            if more == 0 {
                return None;
            }
            len += 1 + more;
        }
        if let Some(b'e' | b'E') = rest.get(len) {
            let sign = usize::from(matches!(rest.get(len + 1), Some(b'+' | b'-')));
            let more = digits(len + 1 + sign);
            if more == 0 {
                return None;
            }
            len += 1 + sign + more;
        }
        Some(self.pass_over(len, Form::Number))
    }

    fn word(&mut self, word: &str, form: Form) -> Option<Value> {
        let is_there = self.rest()?.starts_with(word.as_bytes());
        is_there.then(|| self.pass_over(word.len(), form))
    }

    fn other(&mut self, form: Form) -> Option<Value> {
        let rest = self.text.get(self.at..)?;
        let value = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>().next()?.ok()?;
        Some(self.pass_over(value.get().len(), form))
    }

    #[inline]
    fn pass_over(&mut self, len: usize, form: Form) -> Value {
        let start = self.at;
        self.at += len;
        Value { place: start..self.at, form }
    }
}

/// Whether a text begins with these few bytes. Eight are compared together, and the last eight once more, which takes
/// less than a call.
#[inline]
fn begins_with(text: &[u8], bytes: &[u8]) -> bool {
    let Some(text) = text.get(..bytes.len()) else { return false };
    match bytes.last_chunk::<8>() {
        None => text == bytes,
        last => {
            let (ours, expected) = (text.as_chunks::<8>().0, bytes.as_chunks::<8>().0);
            text.last_chunk() == last && ours.iter().zip(expected).all(|(one, other)| one == other)
        }
    }
}

/// How many bytes there are before the first that ends a text or is not itself in it: a quote, a backslash, a control
/// character. Eight are looked at together.
#[inline]
fn plain(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // The lowest high bit that is set belongs to the first byte that is less than `n`; later ones may be set in error.
    let less = |word: u64, n: u64| word.wrapping_sub(ONES * n) & !word & HIGH;
    let (eights, rest) = text.as_chunks();
    let mut at = 0;
    for eight in eights {
        let word = u64::from_le_bytes(*eight);
        let quote = ONES * u64::from(b'"');
        let backslash = ONES * u64::from(b'\\');
        let found = less(word, 0x20) | less(word ^ quote, 1) | less(word ^ backslash, 1);
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};
    use serde::de::IgnoredAny;

    use super::*;

    /// Whether a text is one JSON value, and what it is made of if it is an array or an object.
    fn scanned(text: &str) -> Option<Vec<&str>> {
        let mut scan = Scan::new(text);
        let mut parts = Vec::new();
        let mut take = |scan: &mut Scan<'_>| {
            parts.push(text.get(scan.value()?.place)?);
            Some(())
        };
        match scan.peek()? {
            b'[' => scan.array(take)?,
            b'{' => scan.object(|scan, _| take(scan))?,
            _ => take(&mut scan)?,
        }
        scan.is_done().then_some(parts)
    }

    #[test]
    fn the_parts_of_arrays_and_objects_stand_where_they_are() {
        assert_eq!(scanned(r#" [1 ,"a\"]" , [2,3],null ] "#), Some(vec!["1", r#""a\"]""#, "[2,3]", "null"]));
        assert_eq!(scanned(r#"{"a" : -0.5e+3 , "\u0062":{"c":[]}}"#), Some(vec!["-0.5e+3", r#"{"c":[]}"#]));
        assert_eq!((scanned("[]"), scanned(" { } ")), (Some(vec![]), Some(vec![])));
    }

    #[test]
    fn a_text_ends_at_the_first_byte_that_can_not_stand_in_it() {
        for stop in (0..=255).map(char::from) {
            for before in 0..20 {
                let text = format!("{}{stop}é\u{1}", "\u{7f}".repeat(before));
                let is_stop = matches!(stop, '"' | '\\' | '\0'..='\x1f');
                let end = if is_stop { before } else { text.len() - 1 };
                assert_eq!(plain(text.as_bytes()), end, "{text:?}");
            }
        }
    }

    #[test]
    fn what_is_no_json_is_none_here_either() {
        for text in [
            "",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,]",
            "{",
            "{1:2}",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "nul",
            "nullx",
            "\"a",
            "\"\n\"",
            r#""\x""#,
            "[1]]",
            "1 2",
            "truefalse",
            "[1 2]",
            "\u{a0}1",
            "'a'",
        ] {
            assert_eq!(scanned(text), None, "{text}");
            assert!(serde_json::from_str::<IgnoredAny>(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_beginning_is_one_wherever_it_differs(text in "[ab]{0,40}", len in 0..45_usize, change in 0..45_usize) {
            let mut bytes = text.as_bytes().iter().copied().chain(*b"abcde").take(len).collect::<Vec<u8>>();
            if let Some(byte) = bytes.get_mut(change) {
                *byte ^= 3;
            }
            prop_assert_eq!(begins_with(text.as_bytes(), &bytes), text.as_bytes().starts_with(&bytes));
        }

        /// What one takes for JSON the other does, too, also where a character was lost or added.
        #[test]
        fn it_agrees_with_the_parser(text in r#"(\[|\{"a":|)((-|)[0-9]{0,2}[.eE+-]?[0-9]?|"[a\\"nu0-9\n]{0,4}"|null?|true|[\[{, :}\]]){0,5}(\]|\}|)"#) {
            let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(scanned(&text).is_some(), is_json, "{}", text);
        }
    }
}
