//! Formats that show a number with other text or as another number: `"R-"0`, `0.00" cents"`, `(###) ###-####`, `0,` and
//! `0;-0;"sold out"`.
//!
//! Group separators, spaces and brackets around a number do not change what a reader takes it for, and are ignored.

use super::section::{Condition, Section, after_general, split};
use crate::decimal::{self, Decimal};

/// Maximum number of decimals, and of group separators behind the digits.
const MAX_PLACES: u32 = 15;

#[derive(Clone, Debug, PartialEq)]
pub(in crate::sheet::read::workbook) struct LiteralFormat {
    /// At most three.
    sections: Vec<Section<Content>>,
}

/// The pattern of a section; `None` for sections that show other than numbers with text.
type Content = Option<Pattern>;

/// A section from left to right.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pattern {
    /// The pieces before the decimal point.
    whole: Vec<Piece>,
    /// The pieces after it.
    rest: Vec<Piece>,
    /// The number is shown divided by a thousand, this many times.
    thousands: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Literal(char),
    /// A digit that is always shown.
    Zero,
    /// A digit that is shown if needed.
    Optional,
    /// All digits that the number has.
    General,
}

/// Returns the patterns of the sections for numbers; `None` for sections that show dates, percentages, fractions or texts.
pub(super) fn patterns(code: &str) -> impl Iterator<Item = Section<Option<Pattern>>> {
    split(code).into_iter().take(3).map(section)
}

impl LiteralFormat {
    /// Returns `None` for formats without such text.
    pub(crate) fn parse(code: &str) -> Option<LiteralFormat> {
        let literal = |section: Section<Content>| Section {
            condition: section.condition,
            content: section.content.filter(Pattern::matters),
        };
        let sections: Vec<_> = patterns(code).map(literal).collect();
        sections.iter().any(|section| section.content.is_some()).then_some(LiteralFormat { sections })
    }

    /// Returns what the format shows, with a decimal point and without group separators, or `None` if that is the plain
    /// number.
    pub(crate) fn format(&self, number: f64) -> Option<String> {
        let pattern = Section::choose(&self.sections, number)?.as_ref()?;
        let positive = Section::choose(&self.sections, number.abs()).and_then(Option::as_ref);
        let has_own_section = !positive.is_some_and(|positive| std::ptr::eq(positive, pattern));
        let shown = pattern.show(decimal::from_f64(number).ok()?.abs())?;
        Some(if number < 0.0 && !has_own_section { format!("-{shown}") } else { shown })
    }
}

impl Pattern {
    fn pieces(&self) -> impl DoubleEndedIterator<Item = Piece> + '_ {
        self.whole.iter().chain(&self.rest).copied()
    }

    /// Returns whether the pattern changes what a reader takes the number for.
    fn matters(&self) -> bool {
        let is_literal = |piece: &Piece| matches!(piece, Piece::Literal(_));
        let pieces: Vec<Piece> = self.pieces().collect();
        let Some(first) = pieces.iter().position(|piece| !is_literal(piece)) else {
            return pieces.iter().any(|piece| matches!(piece, Piece::Literal(c) if c.is_alphanumeric()));
        };
        let last = pieces.iter().rposition(|piece| !is_literal(piece)).unwrap_or(first);
        let has = |pieces: &[Piece], ignored: &str| {
            let matters = |c: char| !c.is_whitespace() && !ignored.contains(c);
            pieces.iter().any(|piece| matches!(piece, Piece::Literal(c) if matters(*c)))
        };
        self.thousands > 0
            || has(&pieces[..first], "-–—+()'’.,:~")
            || has(&pieces[last..], "-–—+()'’.,:~")
            || has(&pieces[first..last], "'’.,")
    }

    /// Returns the fewest and the most decimals of a plain number. Returns `None` if the pattern shows something else, or all
    /// digits that the number has.
    pub(super) fn decimals(&self) -> Option<(u32, u32)> {
        let is_digit = |piece: &Piece| matches!(piece, Piece::Zero | Piece::Optional);
        let is_plain =
            self.pieces().any(|piece| is_digit(&piece)) && self.pieces().all(|piece| piece != Piece::General);
        let count = |is_counted: fn(&Piece) -> bool| self.rest.iter().filter(|piece| is_counted(piece)).count() as u32;
        let fewest = count(|piece| *piece == Piece::Zero);
        let most = count(|piece| matches!(piece, Piece::Zero | Piece::Optional));
        (is_plain && !self.matters()).then_some((fewest, most))
    }

    fn show(&self, number: Decimal) -> Option<String> {
        let places = self.rest.iter().filter(|piece| matches!(piece, Piece::Zero | Piece::Optional)).count() as u32;
        let is_general = self.pieces().any(|piece| piece == Piece::General);
        let mut number = number;
        for _ in 0..self.thousands {
            number = decimal::multiply(number, Decimal::new(1, 3)).ok()?;
        }
        let number = if is_general { number.normalize() } else { decimal::round(number, places).normalize() };
        let digits = number.to_string();
        let (whole, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
        let mut shown = self.show_whole(if whole == "0" && !is_general { "" } else { whole }, decimals);
        let mut decimals = decimals.chars();
        for (nth, piece) in self.rest.iter().enumerate() {
            let digit = match piece {
                Piece::Literal(literal) => Some(*literal),
                Piece::Zero => Some(decimals.next().unwrap_or('0')),
                Piece::Optional | Piece::General => decimals.next(),
            };
            let is_first = nth == 0 && !matches!(piece, Piece::Literal(_));
            shown.extend(digit.filter(|_| is_first).map(|_| '.'));
            shown.extend(digit);
        }
        Some(shown.trim().to_owned())
    }

    /// Digits fill the places from the right; the leftmost place shows all remaining ones.
    fn show_whole(&self, digits: &str, decimals: &str) -> String {
        let places = self.whole.iter().filter(|piece| matches!(piece, Piece::Zero | Piece::Optional)).count();
        let (mut left, mut filled, mut shown) = (digits.chars().rev(), 0, Vec::new());
        if places == 0 && !self.rest.is_empty() {
            shown.extend(left.by_ref());
        }
        for piece in self.whole.iter().rev() {
            match piece {
                Piece::Literal(literal) => shown.push(*literal),
                Piece::General => {
                    shown.extend(decimals.chars().rev().chain((!decimals.is_empty()).then_some('.')));
                    shown.extend(left.by_ref());
                }
                Piece::Zero | Piece::Optional => {
                    filled += 1;
                    match left.next() {
                        Some(digit) => shown.push(digit),
                        None if *piece == Piece::Zero => shown.push('0'),
                        None => {}
                    }
                    if filled == places {
                        shown.extend(left.by_ref());
                    }
                }
            }
        }
        shown.iter().rev().collect()
    }
}

fn section(code: &str) -> Section<Content> {
    let mut section = Section { condition: None, content: None };
    let mut pattern = Pattern::default();
    let (mut is_past_point, mut commas) = (false, 0);
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        let has_digits = pattern.pieces().any(|piece| !matches!(piece, Piece::Literal(_)));
        let pieces = if is_past_point { &mut pattern.rest } else { &mut pattern.whole };
        match c {
            '0' | '#' | '?' => {
                pieces.push(if c == '0' { Piece::Zero } else { Piece::Optional });
                commas = 0;
            }
            '.' if !is_past_point => is_past_point = true,
            ',' if has_digits => commas += 1,
            '"' => pieces.extend(chars.by_ref().take_while(|c| *c != '"').map(Piece::Literal)),
            '\\' => pieces.extend(chars.next().map(Piece::Literal)),
            // A space as wide as a character, or a fill character.
            '_' => {
                chars.next();
                pieces.push(Piece::Literal(' '));
            }
            '*' => drop(chars.next()),
            '[' => {
                let inner: String = chars.by_ref().take_while(|c| *c != ']').collect();
                if let Some(symbol) = inner.strip_prefix('$') {
                    // [$€-407]: the currency and the language.
                    let symbol = symbol.rsplit_once('-').map_or(symbol, |(symbol, _)| symbol);
                    pieces.extend(symbol.chars().map(Piece::Literal));
                } else if inner.starts_with(['<', '>', '=']) {
                    section.condition = Condition::parse(&inner);
                } else if inner.chars().all(|c| matches!(c.to_ascii_lowercase(), 'h' | 'm' | 's')) {
                    return section;
                }
            }
            'G' | 'g' if let Some(rest) = after_general(chars.as_str()) => {
                pieces.push(Piece::General);
                chars = rest.chars();
            }
            // A percentage, a text, a fraction, an exponent or a date, perhaps in another language.
            '%' | '@' | '/' => return section,
            c if c.is_alphabetic() => return section,
            c => pieces.push(Piece::Literal(c)),
        }
    }
    pattern.thousands = commas.min(MAX_PLACES);
    let is_usable = pattern.rest.len() <= MAX_PLACES as usize || pattern.rest.contains(&Piece::Literal(' '));
    section.content = Some(pattern).filter(|_| is_usable);
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, number: f64, expected: Option<&str>) {
        let shown = LiteralFormat::parse(code).and_then(|format| format.format(number));
        assert_eq!(shown.as_deref(), expected, "{code} {number}");
    }

    #[test]
    fn literals_around_a_number_are_shown_with_it() {
        check("\"R-\"0", 5001.0, Some("R-5001"));
        check("\"R-\"#,##0", 5001.0, Some("R-5001"));
        check("\\R\\-0", 5001.0, Some("R-5001"));
        check("#0\"-A\"", 7.0, Some("7-A"));
        check("\"0\"0", 42.0, Some("042"));
        check("\"#\"0", 42.0, Some("#42"));
        check("0.00\" cents\"", 1299.0, Some("1299.00 cents"));
        check("#,##0.0##\\ \\k\\g", 1234.5, Some("1234.5 kg"));
        check("0.00\" / 100\"", 12.5, Some("12.50 / 100"));
        check("0\"%\"", 19.0, Some("19%"));
        check("[$T€-407] 0.0", 1.25, Some("T€ 1.3"));
        check("General\" kg\"", 2.5, Some("2.5 kg"));
        check("\"ca. \"General_)", 0.125, Some("ca. 0.125"));
        check("000\" kg\"", 7.0, Some("007 kg"));
        check(".00\" m\"", 12.5, Some("12.50 m"));
        check("0\" kg\"", 1e300, None);
    }

    #[test]
    fn literals_between_digits_are_shown_unless_they_separate_groups() {
        check("[<=9999999]###-####;(###) ###-####", 5_551_234.0, Some("555-1234"));
        check("[<=9999999]###-####;(###) ###-####", 2_065_551_234.0, Some("(206) 555-1234"));
        check("#\"/\"00", 2601.0, Some("26/01"));
        for code in ["#\\ ##0", "# ##0.00", "#'##0", "#\"\u{a0}\"##0", "#\".\"##0"] {
            check(code, 1234.0, None);
        }
    }

    #[test]
    fn scaled_numbers_are_shown_as_such() {
        check("0,", 5000.0, Some("5"));
        check("0.00,", 12_990.0, Some("12.99"));
        check("#,##0.0,,\" M\"", 12_500_000.0, Some("12.5 M"));
        check("#,##0", 5000.0, None);
    }

    #[test]
    fn words_instead_of_a_number_are_shown() {
        check("0.00;-0.00;\"on request\"", 0.0, Some("on request"));
        check("0.00;-0.00;\"on request\"", 1.0, None);
        check("\"yes\";;\"no\"", 1.0, Some("yes"));
        check("[=0]\"sold out\";0", 0.0, Some("sold out"));
        check("[>9]\"many\";0\" pcs\"", 5.0, Some("5 pcs"));
        check("0.00;-0.00;\"-\"", 0.0, None);
    }

    #[test]
    fn negative_numbers_have_a_sign_or_a_section() {
        check("0\" kg\"", -5.0, Some("-5 kg"));
        check("[>=0]0\" kg\";(0\" kg\")", -5.0, Some("(5 kg)"));
        check("0\" kg\";(0\" kg\")", -5.0, Some("(5 kg)"));
        check("0\" kg\"", 1e-20, Some("0 kg"));
    }

    #[test]
    fn plain_numbers_dates_fractions_and_percentages_are_no_literals() {
        let codes = [
            "General",
            "0",
            "0.00",
            "#,##0.00",
            "_-* #,##0.00_-;\\-* #,##0.00_-;_-* \"-\"??_-;_-@_-",
            "#,##0_);[Red](#,##0)",
            "(0.00)",
            "- 0",
            "0%",
            "0.00E+00",
            "# ?/?",
            "# ??/100",
            "dd\" of \"mmmm",
            "[h]:mm\" h\"",
            "hh\" o'clock\"",
            "@\" x\"",
            ";;;",
            "",
        ];
        for code in codes {
            assert_eq!(LiteralFormat::parse(code), None, "{code}");
        }
    }
}
