//! Protection against formula injection through text files.
//!
//! Spreadsheet programs run a cell of a CSV that begins with `=`, `+`, `-` or `@`, even after characters that they drop: white
//! space, quotes, zero bytes, zero-width characters. A program that opens the file with another separator sees further cell
//! beginnings within a text, for example after `;`, and after line breaks. [`defuse`] puts an apostrophe before each sign in such
//! a position, and before signs that already have an apostrophe, so that [`restore`] is the exact inverse: `restore(defuse(s)) ==
//! s` for every `s`. Numbers such as `-1.234,50`, phone numbers and lone dashes stay unchanged.
//!
//! The web page of reports does the same for copied texts (`crates/report/src/html/page/page.js`).

use std::borrow::Cow;

/// Returns `text` in a form that is safe in a CSV.
pub fn defuse(text: &str) -> Cow<'_, str> {
    with_apostrophes(text, Sign::is_dangerous)
}

/// Returns `text` escaped for workbooks, so that [`restore`] returns `text` again. Workbooks store texts as texts, so no
/// protection is needed.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains('\'') {
        return Cow::Borrowed(text);
    }
    with_apostrophes(text, |sign, text| sign.apostrophes(text) > 0)
}

/// Returns whether a spreadsheet program would treat `text` as a formula after an edit of its cell.
pub(super) fn is_like_formula(text: &str) -> bool {
    Sign::first(text).is_some_and(|sign| sign.cell == 0 && sign.is_dangerous(text))
}

/// Reverts [`defuse`]. Other text is returned unchanged.
pub fn restore(text: &str) -> Cow<'_, str> {
    if !text.contains('\'') {
        return Cow::Borrowed(text);
    }
    let mut restored = String::new();
    let mut copied = 0;
    for sign in Sign::all(text).filter(|sign| sign.apostrophes(text) > 0) {
        restored.push_str(&text[copied..sign.at - 1]);
        copied = sign.at;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    restored.push_str(&text[copied..]);
    Cow::Owned(restored)
}

fn with_apostrophes(text: &str, needs_one: impl Fn(&Sign, &str) -> bool) -> Cow<'_, str> {
    let mut safe = String::new();
    let mut copied = 0;
    for sign in Sign::all(text).filter(|sign| needs_one(sign, text)) {
        safe.push_str(&text[copied..sign.at]);
        safe.push('\'');
        copied = sign.at;
    }
    if safe.is_empty() {
        return Cow::Borrowed(text);
    }
    safe.push_str(&text[copied..]);
    Cow::Owned(safe)
}

/// The sign of a formula at a possible beginning of a cell, possibly after apostrophes.
#[derive(Clone, Copy, Debug)]
struct Sign {
    /// Position of the sign.
    at: usize,
    sign: char,
    /// Start of the cell: 0, or the position after a separator.
    cell: usize,
}

impl Sign {
    fn first(text: &str) -> Option<Sign> {
        Sign::all(text).next()
    }

    fn all(text: &str) -> impl Iterator<Item = Sign> {
        // Most texts contain no first byte of a sign, or only after a letter or digit, as dates do.
        let bytes = text.as_bytes();
        let may_begin = |at: usize| at.checked_sub(1).is_none_or(|before| !bytes[before].is_ascii_alphanumeric());
        let is_first = |byte: &u8| matches!(byte, b'=' | b'+' | b'-' | b'@' | 0xEF);
        let may_have = bytes.iter().enumerate().any(|(at, byte)| is_first(byte) && may_begin(at));
        let text_of_signs = if may_have { text } else { "" };
        text_of_signs.char_indices().filter(|(_, c)| is_sign(*c)).filter_map(|(at, sign)| {
            let before = text[..at].trim_end_matches('\'').trim_end_matches(|c| is_dropped(c) && !is_separator(c));
            (before.is_empty() || before.ends_with(is_separator)).then_some(Sign { at, sign, cell: before.len() })
        })
    }

    /// Returns the number of apostrophes before the sign.
    fn apostrophes(&self, text: &str) -> usize {
        let before = &text[..self.at];
        before.len() - before.trim_end_matches('\'').len()
    }

    fn is_dangerous(&self, text: &str) -> bool {
        if self.apostrophes(text) > 0 {
            return true;
        }
        let rest = &text[self.at + self.sign.len_utf8()..];
        match self.sign {
            '+' | '＋' | '﹢' | '-' | '－' | '﹣' => {
                !is_amount(rest) && !is_phone_number(self.sign, rest) && (self.cell == 0 || acts(self.cell_from(text)))
            }
            _ => true,
        }
    }

    /// Returns the rest of the cell from the sign, as seen by a program that separates cells at the separator before the cell.
    fn cell_from<'t>(&self, text: &'t str) -> &'t str {
        let separator = text[..self.cell].chars().next_back();
        let rest = &text[self.at..];
        let end = rest.find(|c| is_line_break(c) || Some(c) == separator);
        &rest[..end.unwrap_or(rest.len())]
    }
}

fn is_sign(c: char) -> bool {
    matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠' | '﹦' | '﹢' | '﹣' | '﹫')
}

/// Returns whether a program may begin a cell after this character.
fn is_separator(c: char) -> bool {
    matches!(c, ',' | ';' | '\t' | '|') || is_line_break(c)
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns whether a program may drop this character at the beginning of a cell.
fn is_dropped(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '"' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a sign is followed only by digits with their separators, or by dashes: `-1.234,50`, `- 5 %`, `---`.
fn is_amount(rest: &str) -> bool {
    let is_number = rest.contains(is_digit)
        && rest
            .trim_end_matches(['%', ' ', '\u{a0}'])
            .chars()
            .all(|c| is_digit(c) || matches!(c, '.' | ',' | ' ' | '\u{a0}'));
    is_number || rest.chars().all(|c| c == '-')
}

/// Returns whether this is a phone number, and not also a calculation: `+49 151 23-45`, but not `+49-151`.
fn is_phone_number(sign: char, rest: &str) -> bool {
    let is_part = |c: char| is_digit(c) || matches!(c, ' ' | '\u{a0}' | '(' | ')' | '-' | '/' | '.');
    sign == '+' && rest.starts_with(is_digit) && rest.contains([' ', '(']) && rest.chars().all(is_part)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '０'..='９')
}

/// Returns whether the text, as a formula, could call a function, another program or another file. Without these characters, as
/// in the lines of a list, a formula could only calculate.
fn acts(text: &str) -> bool {
    text.contains(['(', '[', '|', '（', '［', '｜'])
        || text.match_indices(['!', '！']).any(|(at, mark)| {
            let next = text[at + mark.len()..].chars().next();
            next.is_some_and(|c| !c.is_whitespace() && !matches!(c, '!' | '?' | '.' | ')'))
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn formulas_are_defused() {
        for (text, safe) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+49-151-23", "'+49-151-23"),
            ("+1+1", "'+1+1"),
            ("-A1", "'-A1"),
            ("- cmd|' /C calc'!A0", "'- cmd|' /C calc'!A0"),
            ("'=1", "''=1"),
            ("'-5", "''-5"),
            ("-5 % off", "'-5 % off"),
            // Characters before the sign that programs drop.
            ("\0=1", "\0'=1"),
            ("\u{feff}=1", "\u{feff}'=1"),
            ("\u{200b} \u{a0}=1", "\u{200b} \u{a0}'=1"),
            ("\n=1", "\n'=1"),
            ("\t@a", "\t'@a"),
            ("\"=1\"", "\"'=1\""),
            // Signs of East Asian keyboards.
            ("＝1", "'＝1"),
            ("＠a", "'＠a"),
            ("＋a", "'＋a"),
            // Behind the separator of another program.
            ("q;=1+1;", "q;'=1+1;"),
            ("a\t=1\t@b", "a\t'=1\t'@b"),
            ("a|=1, =2", "a|'=1, '=2"),
            ("q;\0\"=1", "q;\0\"'=1"),
            ("q;'=1", "q;''=1"),
            ("a\n-cmd|' /C calc'!A0", "a\n'-cmd|' /C calc'!A0"),
            ("a;+SUM(B1)", "a;'+SUM(B1)"),
            ("a;-'[b.xlsx]c'!A1", "a;'-'[b.xlsx]c'!A1"),
            ("a;-Sheet2!A1", "a;'-Sheet2!A1"),
            ("=1;=2", "'=1;'=2"),
        ] {
            assert_eq!(defuse(text), safe);
            assert_eq!(restore(safe), text);
        }
    }

    #[test]
    fn harmless_texts_stay() {
        for text in [
            "-5",
            "-1.234,50",
            "- 5 %",
            "-",
            "--",
            "+49",
            "+49 151 23 45-67",
            "+49 (0)151/2345",
            "－５",
            "'tis",
            "'",
            "",
            "a=b",
            "a-b, c+d",
            "red; -5; -",
            "Contents:\n- screws\n- 2 washers, steel\n+ a box!",
            "user@example.com;a@b",
            "Müller – Söhne",
            "_x003D_1",
        ] {
            assert_eq!(defuse(text), text);
            assert_eq!(restore(text), text);
        }
    }

    #[test]
    fn texts_in_workbooks_are_escaped_for_restoring_only() {
        for (text, escaped) in [("=1", "=1"), ("'=1", "''=1"), ("a;'=1", "a;''=1"), ("'tis", "'tis")] {
            assert_eq!(escape(text), escaped);
            assert_eq!(restore(escaped), text);
        }
        assert!(is_like_formula("=1") && is_like_formula(" @x") && !is_like_formula("a;=1") && !is_like_formula("-5"));
    }

    proptest! {
        #[test]
        fn restore_reverts_defuse(text in "['\"=+\\-@\t\r\n;,|\0 0-9.a(!＝\u{200b}]{0,9}|\\PC*") {
            let safe = defuse(&text).into_owned();
            prop_assert_eq!(&*restore(&safe), text.as_str());
            let escaped = escape(&text);
            prop_assert_eq!(&*restore(&escaped), text.as_str());
            for cell in safe.split([',', ';', '\t', '|', '\n', '\r']) {
                let shown = cell.trim_start_matches(is_dropped);
                prop_assert!(!shown.starts_with(['=', '@', '＝']), "{safe:?}");
                prop_assert!(!shown.starts_with(['+', '-']) || !acts(&shown[1..]) || is_phone_number('+', &shown[1..]), "{safe:?}");
            }
        }
    }
}
