//! Identifiers damaged by a spreadsheet program: turned into a date, changed to scientific notation, or rounded.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use sheetport_files::visible::has_no_width;

use crate::initials::Initials;
use crate::normalize::trimmed;

/// The kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// `4,00638E+12`, `5.90123e12`: most digits are lost.
    Exponent,
    /// `12. Mrz`, `Mar-12`, `3月4日` or `02.03.2026`.
    Date,
    /// A number of more digits than a workbook can store.
    Rounded,
    /// Control characters, or characters without a width.
    Invisible,
    /// A word of a database or program for a missing value, such as `NULL`.
    Placeholder,
    /// A word for the total of other rows.
    Total,
    /// `1,001`, `R-1,001`: a number with group separators.
    Grouped,
    /// `1001.0`, `42.00`: a whole number with decimals, as written by databases and programs that calculate.
    Decimal,
    /// `1001.0000000001`: a calculated number.
    Calculated,
    /// `12:30:00`: a time of day.
    Time,
    /// `TRUE`: the result of a comparison, or how a program writes an empty field.
    Boolean,
    /// A line break or a tab within the text.
    LineBreak,
    /// A mark or a word for the value of the row above, such as `〃` or `dto.`.
    Ditto,
    /// The text of a formula, such as `=HYPERLINK("http://x";"A-1")`.
    Formula,
    /// `"0042"`, with the quotation marks.
    Quoted,
}

impl Damage {
    /// Returns the message to follow the value.
    pub fn message(self) -> &'static str {
        match self {
            Damage::Exponent => "looks like an identifier that a spreadsheet program changed to scientific notation",
            Damage::Date => "looks like an identifier turned into a date",
            Damage::Rounded => "has more digits than a workbook can store",
            Damage::Invisible => "has characters that nobody sees",
            Damage::Placeholder => "stands for a missing value",
            Damage::Total => "looks like a total of other rows",
            Damage::Grouped => "looks like a number shown with group separators",
            Damage::Decimal => "looks like an identifier to which a program has added .0",
            Damage::Calculated => "looks like an identifier that a program calculated with",
            Damage::Time => "looks like an identifier turned into a time of day",
            Damage::Boolean => "is true or false, not a name",
            Damage::LineBreak => "has a line break or a tab within it",
            Damage::Ditto => "stands for the value of the row above",
            Damage::Formula => "is the text of a formula",
            Damage::Quoted => "has quotation marks around it, which a program has written",
        }
    }

    pub fn remedy(self) -> &'static str {
        match self {
            Damage::Invisible => "delete the cell and type the identifier again",
            Damage::Placeholder => {
                "enter the value itself, leave the row out if it is only an example, or set damaged = \"accept\" in the template if \
                 it is correct"
            }
            Damage::Formula => "enter the result of the formula",
            Damage::Quoted => {
                "remove the quotation marks, or set damaged = \"accept\" in the template if they belong to it"
            }
            Damage::Total => {
                "delete the row, leave such rows out with skip_where in the template, or set damaged = \"accept\" if the \
                 identifier is correct"
            }
            Damage::Grouped => {
                "format the column in the spreadsheet program without separators and save the file again, remove them with \
                 replace in the template, or set damaged = \"accept\" if they belong to the identifier"
            }
            Damage::Decimal => {
                "remove .0 with replace in the template, or set damaged = \"accept\" if it belongs to the identifier"
            }
            Damage::Ditto => "enter the value itself, or leave the cell blank and set fill_down in the template",
            Damage::Exponent | Damage::Rounded => {
                "format the column as text and enter the identifier again; this file has lost its digits"
            }
            Damage::Date | Damage::Time | Damage::Calculated => {
                "format the column as text and enter the identifier again, or set damaged = \"accept\" in the template \
                 if it is correct"
            }
            Damage::Boolean => {
                "enter the text itself, or leave the cell blank; if the word is meant, set damaged = \"accept\" in the template"
            }
            Damage::LineBreak => {
                "write one identifier in one line, or set damaged = \"accept\" in the template if the break belongs to it"
            }
        }
    }
}

/// Lists of words with their first characters.
struct Lists {
    examples: Initials,
    ditto: Initials,
    booleans: Initials,
}

static INITIALS: LazyLock<Lists> = LazyLock::new(|| Lists {
    examples: Initials::of(&WORDS.examples, true),
    ditto: Initials::of(&WORDS.ditto, true),
    booleans: Initials::of(&WORDS.booleans, false),
});

/// `identifier.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// Short names of the months by language.
    months: BTreeMap<String, Vec<String>>,
    /// Regular expressions by the kind of damage.
    forms: BTreeMap<String, Vec<String>>,
    /// Words for missing values, in lower case.
    placeholders: HashSet<String>,
    /// How examples in forms begin, in lower case.
    examples: Vec<String>,
    /// Marks and words for the value of the row above, in lower case.
    ditto: Vec<String>,
    /// How programs write true and false.
    booleans: Vec<String>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    toml::from_str(include_str!("identifier.toml")).expect("the file is compiled in, and a test parses it")
});
/// Programs write a sign or decimals. `1E5` and `12E3` have neither, and are codes that people type.
static EXPONENT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^[-\u{2212}]?(?:\d[eE][+-]\d{1,3}|\d{1,3}[.,]\d+[eE][+-]?\d{1,3})$"));
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    // People type identifiers such as 12:30, but not seconds or a half of the day.
    regex(r"^(?:-?\d{1,4}:[0-5]\d:[0-5]\d(?:[.,]\d+)?|\d{1,2}:[0-5]\d(?::[0-5]\d)? ?[AaPp][Mm])$")
});
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let months = format!("(?:{})", WORDS.months.values().flatten().cloned().collect::<Vec<_>>().join("|"));
    let forms: Vec<String> = WORDS.forms.values().flatten().map(|form| form.replace("MONTH", &months)).collect();
    regex(&format!("^(?:{})$", forms.join("|")))
});
static DECIMAL: LazyLock<Regex> = LazyLock::new(|| regex(r"^\d+[.,]0+$"));
/// More decimals than people type: the noise of calculations begins at the tenth, and dates stored as numbers have eight or more.
static CALCULATED: LazyLock<Regex> = LazyLock::new(|| regex(r"^\d+[.,]\d{8,}$"));

/// Returns whether a text stands for the value of the row above.
pub fn is_ditto(text: &str) -> bool {
    let text = trimmed(text);
    INITIALS.ditto.has(text) && WORDS.ditto.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Returns whether a text is true or false as programs write them. `yes` and `false` in other letters may be names.
pub fn is_boolean(text: &str) -> bool {
    const MAX_BYTES: usize = 12;
    let text = trimmed(text);
    text.len() <= MAX_BYTES && INITIALS.booleans.has(text) && WORDS.booleans.iter().any(|word| word == text)
}

/// Detects a text that is no name whatever the other names look like: a word for a missing value, an example of a form, signs alone, or a
/// formula.
pub fn stand_in(text: &str) -> Option<Damage> {
    /// Longer than the longest word for a missing value, and than an example of a form.
    const MAX_BYTES: usize = 40;
    let text = trimmed(text);
    if text.starts_with('=') && text.chars().nth(1).is_some_and(|c| !c.is_whitespace()) {
        return Some(Damage::Formula);
    }
    if text.is_empty() || text.len() > MAX_BYTES {
        return None;
    }
    // A reference to a blank cell is 0 in a workbook.
    if text == "0" {
        return Some(Damage::Placeholder);
    }
    // Names of emoji are names; signs of a keyboard alone are none.
    if text.chars().all(|c| c.is_ascii_punctuation() || c.is_whitespace() || DASHES.contains(&c)) {
        return Some(Damage::Placeholder);
    }
    // No word for a missing value has a digit.
    let may_be_word = !text.bytes().any(|byte| byte.is_ascii_digit());
    // A capital letter of another alphabet may have a small one of ASCII.
    let may_be_example = INITIALS.examples.has(text) || !text.starts_with(|c: char| c.is_ascii());
    if !may_be_word && !may_be_example {
        return None;
    }
    let lower = text.to_lowercase();
    let is_example = || may_be_example && WORDS.examples.iter().any(|start| lower.starts_with(start.as_str()));
    (may_be_word && WORDS.placeholders.contains(&lower) || is_example()).then_some(Damage::Placeholder)
}

/// Dashes of typesetters.
const DASHES: [char; 4] = ['\u{2013}', '\u{2014}', '\u{2212}', '\u{2026}'];

/// Detects damage in a text.
pub fn damage(text: &str) -> Option<Damage> {
    let text = trimmed(text);
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    match is_code(text) {
        true => damage_by_program(text),
        false => damage_of_text(text).or_else(|| damage_by_program(text)),
    }
}

/// Whether a text consists of letters, digits and dashes of ASCII, with a digit: it is none of the words, which have none, and has no signs.
fn is_code(text: &str) -> bool {
    let mut has_digit = false;
    text.bytes().all(|byte| {
        has_digit |= byte.is_ascii_digit();
        byte.is_ascii_alphanumeric() || byte == b'-'
    }) && has_digit
}

/// Detects characters that nobody sees, and words and texts that are no identifiers.
fn damage_of_text(text: &str) -> Option<Damage> {
    if text.chars().any(|c| c.is_control() && !c.is_whitespace() || has_no_width(c)) {
        return Some(Damage::Invisible);
    }
    if text.contains(['\n', '\r', '\t', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']) {
        return Some(Damage::LineBreak);
    }
    if is_boolean(text) {
        return Some(Damage::Boolean);
    }
    if is_ditto(text) {
        return Some(Damage::Ditto);
    }
    if let Some(damage) = stand_in(text) {
        return Some(damage);
    }
    if text.len() > 2 && text.starts_with('"') && text.ends_with('"') {
        return Some(Damage::Quoted);
    }
    None
}

/// Detects what a program has made of another text.
fn damage_by_program(text: &str) -> Option<Damage> {
    const MAX_BYTES: usize = 24;
    // All patterns need a digit.
    if text.len() > MAX_BYTES || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    if is_grouped(text, &CERTAIN_SEPARATORS) {
        Some(Damage::Grouped)
    } else if text.contains(['.', ',']) && DECIMAL.is_match(text) {
        Some(Damage::Decimal)
    } else if text.contains(['.', ',']) && CALCULATED.is_match(text) {
        Some(Damage::Calculated)
    } else if text.contains(['e', 'E']) && EXPONENT.is_match(text) {
        Some(Damage::Exponent)
    } else if text.contains(':') && TIME.is_match(text) {
        Some(Damage::Time)
    } else if may_be_date(text) && DATE.is_match(text) {
        Some(Damage::Date)
    } else {
        None
    }
}

/// Whether a text has what each form of a date has: a day with a month or two further numbers after it, or a month before two digits of a
/// year. Compiling the pattern takes longer than checking a small sheet, which mostly needs it for no identifier.
fn may_be_date(text: &str) -> bool {
    const SEPARATORS: [char; 4] = ['-', '/', '.', ' '];
    const SIGNS: [char; 4] = ['月', '年', '월', '년'];
    let begins_with_month = |text: &str| {
        text.starts_with(['I', 'V', 'X'])
            || WORDS.months.values().flatten().any(|month| text.starts_with(month.as_str()))
    };
    let digits = text.chars().take_while(|c| c.is_numeric()).map(char::len_utf8).sum::<usize>();
    if digits > 0 {
        let rest = text[digits..].trim_start_matches(SEPARATORS);
        let has_number = || rest.starts_with(char::is_numeric) && rest.contains(SEPARATORS);
        return text.contains(SIGNS) || rest.len() < text.len() - digits && (has_number() || begins_with_month(rest));
    }
    text.get(text.len().saturating_sub(3)..).is_some_and(|end| end.starts_with(SEPARATORS)) && begins_with_month(text)
}

/// Group separators between digits that only programs write.
const CERTAIN_SEPARATORS: [char; 5] = [',', '\'', '\u{2019}', '\u{a0}', '\u{202f}'];
/// Group separators that people also write in identifiers.
const POSSIBLE_SEPARATORS: [char; 2] = ['.', ' '];

/// Returns the digits of a text that may be a number with group separators, such as `1.001`. A workbook of the same sheet
/// contains them without separators.
pub fn ungrouped(text: &str) -> Option<String> {
    let text = trimmed(text);
    let is_number = is_grouped(text, &POSSIBLE_SEPARATORS) && !text.contains(char::is_alphabetic);
    is_number.then(|| text.replace(POSSIBLE_SEPARATORS, ""))
}

/// A number within an identifier, such as `1.008` in `R-1.008`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedNumber<'t> {
    pub before: &'t str,
    pub after: &'t str,
    pub form: NumberForm,
}

/// How a number within an identifier is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberForm {
    /// At most three digits, too short for a group separator.
    Short,
    /// More digits, without separators.
    Long,
    /// With a point or a space between groups of three digits.
    Grouped(char),
}

/// Returns the only number within the text of an identifier. `None` without surrounding text, or with other marks in the number.
pub fn embedded_number(text: &str) -> Option<EmbeddedNumber<'_>> {
    let text = trimmed(text);
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (before, number, after) = (&text[..start], &text[start..end], &text[end..]);
    if before.is_empty() && after.is_empty() || number.starts_with('0') {
        return None;
    }
    let form = match number.len() {
        digits if number.bytes().all(|byte| byte.is_ascii_digit()) => match digits {
            1..=3 => NumberForm::Short,
            _ => NumberForm::Long,
        },
        _ => {
            let separator = number.chars().find(|c| POSSIBLE_SEPARATORS.contains(c))?;
            is_grouped(number, &[separator]).then_some(NumberForm::Grouped(separator))?
        }
    };
    Some(EmbeddedNumber { before, after, form })
}

/// Returns whether a text is a number with one of these characters after every three digits, possibly within other text, as
/// displayed by a number format: `R-1,008`, `1,009 Stk`.
fn is_grouped(text: &str, separators: &[char]) -> bool {
    const MAX_BYTES: usize = 24;
    if text.len() > MAX_BYTES || !text.contains(separators) {
        return false;
    }
    let number = text.trim_matches(|c: char| !c.is_ascii_digit());
    let Some(separator) = number.chars().find(|c| !c.is_ascii_digit()).filter(|c| separators.contains(c)) else {
        return false;
    };
    // Decimals come after the groups.
    let whole = number.split_once('.').filter(|_| separator != '.').map_or(number, |(whole, _)| whole);
    let is_decimal = |c: char| c.is_ascii_digit();
    let mut groups = whole.split(separator);
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && groups.all(|group| group.len() == 3 && group.chars().all(is_decimal))
        && number[whole.len()..].chars().skip(1).all(is_decimal)
}

/// Converts an identifier from a workbook's number. Fails for numbers long enough to have been rounded.
pub fn from_f64(number: f64) -> Result<String, Damage> {
    if number.abs() >= 1e15 {
        return Err(Damage::Rounded);
    }
    Ok(number.to_string())
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that a test compiles")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn no_word_has_a_digit_and_examples_of_ascii_have_a_space() {
        let has_digit = |word: &String| word.bytes().any(|byte| byte.is_ascii_digit());
        let words = WORDS.placeholders.iter().chain(&WORDS.ditto).chain(&WORDS.booleans).chain(&WORDS.examples);
        assert_eq!(words.filter(|word| has_digit(word)).count(), 0, "texts with digits are not compared with them");
        assert!(WORDS.examples.iter().all(|word| !word.is_ascii() || word.contains(' ')), "nor are codes");
    }

    proptest! {
        #[test]
        fn codes_are_none_of_the_words(text in "[A-Za-z0-9-]{1,12}") {
            if is_code(&text) && !text.bytes().all(|byte| byte.is_ascii_digit()) {
                prop_assert_eq!(damage_of_text(&text), None);
            }
        }
    }

    #[test]
    fn damaged_identifiers_are_recognized() {
        for (text, expected) in [
            ("4,00638E+12", Some(Damage::Exponent)),
            ("1E+05", Some(Damage::Exponent)),
            ("12. Mrz", Some(Damage::Date)),
            ("3-Mar", Some(Damage::Date)),
            ("Sep-02", Some(Damage::Date)),
            ("004711", None),
            ("4006381333931", None),
            ("DEC-10500", None),
            ("M8x40", None),
            ("1E05", None),
            ("5.90123e+12", Some(Damage::Exponent)),
            ("5,9E12", Some(Damage::Exponent)),
            ("590.1E+9", Some(Damage::Exponent)),
            ("5.9E+012", Some(Damage::Exponent)),
            ("1.5e-07", Some(Damage::Exponent)),
            ("1e+05", Some(Damage::Exponent)),
            ("1E5", None),
            ("12E3", None),
            ("5e12", None),
            ("10E-4", None),
            ("1.5E", None),
            ("2.5EX12", None),
            ("12:30:00", Some(Damage::Time)),
            ("36:30:00", Some(Damage::Time)),
            ("12:30 PM", Some(Damage::Time)),
            ("12:30", None),
            ("1:43", None),
            ("00:1A:2B", None),
            ("10:20:30:40", None),
            ("TRUE", Some(Damage::Boolean)),
            ("False", Some(Damage::Boolean)),
            ("FALSCH", Some(Damage::Boolean)),
            ("TRUE-1", None),
            ("true", None),
            ("A-1\nA-2", Some(Damage::LineBreak)),
            ("A\t1", Some(Damage::LineBreak)),
            ("A-1\n", None),
            ("MAR-123", None),
            ("NULL", Some(Damage::Placeholder)),
            ("n/a", Some(Damage::Placeholder)),
            ("NULL-1", None),
            ("42\u{200b}", Some(Damage::Invisible)),
            ("\u{1a}", Some(Damage::Invisible)),
            ("1,001", Some(Damage::Grouped)),
            ("1,002,345.00", Some(Damage::Grouped)),
            ("1'001", Some(Damage::Grouped)),
            ("1\u{202f}001", Some(Damage::Grouped)),
            ("€ 1,001", Some(Damage::Grouped)),
            ("0,001", None),
            ("1,00", Some(Damage::Decimal)),
            ("1,0001", None),
            ("1234,567", None),
            ("R-1,008", Some(Damage::Grouped)),
            ("1,009 Stk", Some(Damage::Grouped)),
            ("No. 1\u{a0}009", Some(Damage::Grouped)),
            ("1,001-A", Some(Damage::Grouped)),
            ("R-0,500", None),
            ("M8x1,250", None),
            ("A4-1,001", None),
            ("1.001", None),
            ("R-1.001", None),
            ("1001.0", Some(Damage::Decimal)),
            ("1.0", Some(Damage::Decimal)),
            ("42.000", Some(Damage::Decimal)),
            ("1001.05", None),
            ("10.0.1", None),
            ("A1.0", None),
            ("1001.0000000001", Some(Damage::Calculated)),
            ("1001.000001", None),
            ("〃", Some(Damage::Ditto)),
            ("Dto.", Some(Damage::Ditto)),
            ("dto-5", None),
        ] {
            assert_eq!(damage(text), expected, "{text}");
        }
    }

    #[test]
    fn possible_group_separators_are_recognized() {
        for (text, expected) in [
            ("1.001", Some("1001")),
            ("12 345 678", Some("12345678")),
            ("1.01", None),
            ("1.001.2", None),
            ("1.001 234", None),
            ("0.500", None),
            ("1001", None),
            ("A 100 200", None),
        ] {
            assert_eq!(ungrouped(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_within_identifiers_have_a_form() {
        for (text, expected) in [
            ("R-1.008", Some(("R-", "", NumberForm::Grouped('.')))),
            ("12 345 Stk", Some(("", " Stk", NumberForm::Grouped(' ')))),
            ("R-999", Some(("R-", "", NumberForm::Short))),
            ("R-1008", Some(("R-", "", NumberForm::Long))),
            ("R-1.08", None),
            ("R-0.500", None),
            ("R-1.008.2", None),
            ("M8x1.250", None),
            ("1.008", None),
            ("R", None),
        ] {
            let found = embedded_number(text).map(|found| (found.before, found.after, found.form));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn dates_of_spreadsheet_programs_in_any_language_are_damage() {
        for text in [
            "3-Mar",
            "Mar-03",
            "03. Mrz",
            "Mrz 03",
            "03-mars",
            "mars-03",
            "févr.-03",
            "05-avr",
            "3-ene",
            "ago-10",
            "03-giu",
            "3-mrt",
            "mrt-03",
            "03/mai",
            "dez/26",
            "03.paź",
            "wrz.03",
            "03.kvě",
            "03.III",
            "3-maj",
            "03.Şub",
            "Ağu.03",
            "03.мар",
            "мар.03",
            "3月4日",
            "2026年3月",
            "03월 04일",
            "2026년 3월",
            "02.03.2026",
            "2/3/2026",
            "31-12-1999",
            "3-Mar-26",
            "03. Mrz. 2026",
        ] {
            assert_eq!(damage(text), Some(Damage::Date), "{text}");
        }
    }

    #[test]
    fn identifiers_like_dates_are_not_damage() {
        for text in [
            "MAR-03",
            "SET-10",
            "Set-10",
            "GEN-02",
            "LUG-20",
            "Mar-123",
            "marsh-03",
            "3-marks",
            "10.12.24",
            "2026-03-02",
            "32.13.2026",
            "45.11.2026",
            "3月",
            "1.IV",
            "Mar",
            "мар",
        ] {
            assert_eq!(damage(text), None, "{text}");
        }
    }

    #[test]
    fn every_language_has_the_twelve_months() {
        let languages: Vec<&str> = WORDS.months.keys().map(String::as_str).collect();
        assert_eq!(languages, ["cs", "de", "en", "es", "fr", "it", "nl", "pl", "pt", "ru", "sv", "tr"]);
        for (language, months) in &WORDS.months {
            assert!(months.len() >= 12, "{language}");
        }
    }

    #[test]
    fn long_numbers_of_workbooks_are_damage() {
        assert_eq!(from_f64(4711.0).as_deref(), Ok("4711"));
        assert_eq!(from_f64(4006381333931.0).as_deref(), Ok("4006381333931"));
        assert_eq!(from_f64(1.2345678901234568e17), Err(Damage::Rounded));
    }
}
