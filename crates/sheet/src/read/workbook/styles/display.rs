//! The type of a number according to its format code, for formats in which only the code determines the type of a cell.

use super::number_format::NumberFormat;
use super::section::split;
use super::shown::SYSTEM_FORMAT;
use crate::Cell;
use crate::read::workbook::dates;

/// Excel's names for formats in web pages and XML spreadsheets, with their codes.
const NAMED: [(&str, &str); 18] = [
    ("general", ""),
    ("general number", ""),
    ("standard", "#,##0.00"),
    ("fixed", "0.00"),
    ("percent", "0.00%"),
    ("scientific", "0.00E+00"),
    // The currency of the system.
    ("currency", "#,##0.00"),
    ("euro currency", "[$€-2] #,##0.00"),
    ("yes/no", ""),
    ("true/false", ""),
    ("on/off", ""),
    ("general date", "yyyy-mm-dd hh:mm"),
    ("long date", "yyyy-mm-dd"),
    ("medium date", "yyyy-mm-dd"),
    ("short date", "yyyy-mm-dd"),
    ("long time", "hh:mm:ss"),
    ("medium time", "hh:mm"),
    ("short time", "hh:mm"),
];

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Display {
    #[default]
    Number,
    /// The format of text cells.
    Text,
    Date,
    /// Elapsed time such as `[h]:mm`.
    Elapsed,
    Format(NumberFormat),
}

impl Display {
    /// Parses a format code, or a name that Excel uses in place of a code.
    pub(crate) fn parse(code: &str) -> Display {
        let code = code.trim();
        let named = NAMED.iter().find(|(name, _)| code.eq_ignore_ascii_case(name)).map(|(_, code)| *code);
        let code = named.unwrap_or(code);
        if code == "@" {
            return Display::Text;
        }
        if let Some(format) = NumberFormat::parse(code).filter(NumberFormat::has_values) {
            return Display::Format(format);
        }
        match letters(code) {
            Letters::Elapsed => Display::Elapsed,
            Letters::Date => Display::Date,
            Letters::Unknown | Letters::None => Display::Number,
        }
    }

    /// Parses the displayed form of a format code or name. The names of dates, times and money mean formats of the computer.
    pub(crate) fn number_format(code: &str) -> Option<NumberFormat> {
        let code = code.trim();
        let named = NAMED.iter().find(|(name, _)| code.eq_ignore_ascii_case(name));
        let is_of_system = |name: &str| ["date", "time", "currency"].iter().any(|word| name.ends_with(word));
        NumberFormat::parse(match named {
            Some(("euro currency", code)) => code,
            Some((name, _)) if is_of_system(name) => SYSTEM_FORMAT,
            Some((_, code)) => code,
            None => code,
        })
    }

    /// Parses a format code that may be in another language, such as `JJJJ`. Returns `None` for unknown letters.
    pub(crate) fn parse_localized(code: &str) -> Option<Display> {
        let display = match Display::parse(code) {
            Display::Format(format) if !has_english_separators(code) => {
                format.without_decimals().map_or(Display::Number, Display::Format)
            }
            display => display,
        };
        let is_named = code.is_empty() || NAMED.iter().any(|(name, _)| code.trim().eq_ignore_ascii_case(name));
        (is_named || display != Display::Number || letters(code) == Letters::None).then_some(display)
    }

    /// Returns the cell of a number, using `text` as a buffer.
    pub(crate) fn cell<'t>(&self, number: f64, is_1904: bool, text: &'t mut String) -> Cell<'t> {
        match self {
            Display::Number | Display::Text => Cell::Number(number),
            Display::Date => dates::from_serial(number, is_1904),
            Display::Elapsed => match dates::from_elapsed_days(number) {
                Ok(cell) => cell,
                Err(elapsed) => {
                    *text = elapsed;
                    Cell::Text(text)
                }
            },
            Display::Format(format) => format.cell(number, text).unwrap_or(Cell::Number(number)),
        }
    }
}

/// Whether the point of a code is certainly a decimal point. In other languages it may separate groups: `0.00` and `#,##0.00` are
/// certain, `#.##0` is not.
fn has_english_separators(code: &str) -> bool {
    let first = split(code).first().copied().unwrap_or_default();
    match first.split_once('.') {
        Some((whole, rest)) => !rest.contains([',', '.']) && (whole.contains(',') || whole == "0"),
        // Names such as Standard mean other formats in other languages.
        None => !first.contains(|c: char| c == ',' || c.is_alphabetic()),
    }
}

/// The kind of letters in a format, except literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letters {
    None,
    Date,
    Elapsed,
    Unknown,
}

fn letters(code: &str) -> Letters {
    let mut found = Letters::None;
    let mut chars = split(code).first().copied().unwrap_or_default().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => drop(chars.by_ref().find(|c| *c == '"')),
            '\\' | '_' | '*' => drop(chars.next()),
            '[' => {
                let inner: String = chars.by_ref().take_while(|c| *c != ']').collect();
                if !inner.is_empty() && inner.chars().all(|c| matches!(c.to_ascii_lowercase(), 'h' | 'm' | 's')) {
                    return Letters::Elapsed;
                }
            }
            c if matches!(c.to_ascii_lowercase(), 'd' | 'm' | 'y' | 'h' | 's') => found = Letters::Date,
            'E' | 'e' => {}
            c if c.is_alphabetic() && found == Letters::None => found = Letters::Unknown,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, number: f64, expected: &str) {
        let mut text = String::new();
        assert_eq!(Display::parse(code).cell(number, false, &mut text).shown(), expected, "{code} {number}");
    }

    #[test]
    fn codes_and_names_decide_what_a_number_is() {
        for (code, number, shown) in [
            ("General", 42.0, "42"),
            ("Standard", 1234.5, "1234.5"),
            ("Fixed", 0.5, "0.5"),
            ("0.00E+00", 1200.0, "1200"),
            ("Percent", 0.19, "19%"),
            ("Euro Currency", 5.5, "5.5 €"),
            ("Currency", 5.5, "5.5"),
            ("00000", 42.0, "00042"),
            ("Short Date", 45_943.0, "2025-10-13"),
            ("dd\\.mm\\.yyyy", 45_943.0, "2025-10-13"),
            ("[$-409]h:mm\\ AM/PM;@", 0.5, "12:00:00"),
            ("[h]:mm", 1.5, "36:00:00"),
            ("0.00\" m\"", 7.0, "7.00 m"),
            ("[Red]0", 7.0, "7"),
        ] {
            check(code, number, shown);
        }
        assert_eq!(Display::parse("@"), Display::Text);
    }

    #[test]
    fn letters_of_other_languages_are_unknown() {
        assert_eq!(Display::parse_localized("JJJJ"), None);
        assert_eq!(Display::parse_localized("TT.MM.JJJJ"), Some(Display::Date));
        assert_eq!(Display::parse_localized("#.##0,00"), Some(Display::Number));
        assert_eq!(Display::parse_localized("Standard"), Some(Display::Number));
        assert_eq!(Display::parse_localized("BOOLEAN"), None);
        for (code, number, decimals) in [
            ("0.00", 1.5, Some(2)),
            ("#,##0.00", 1.5, Some(2)),
            ("0,00", 1.5, None),
            ("#.##0", 1.5, None),
            ("0", 1.5, Some(0)),
        ] {
            let (display, mut text) = (Display::parse_localized(code).expect("a format"), String::new());
            let cell = display.cell(number, false, &mut text);
            assert_eq!(
                matches!(cell, Cell::Rounded(_, found) if Some(found) == decimals),
                decimals.is_some(),
                "{code}"
            );
        }
    }
}
