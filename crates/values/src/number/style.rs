//! The number style of a column: a decimal point or a decimal comma.

use std::sync::Arc;

use super::error::{AmbiguousNumber, Example, NumberError};
use super::shape::{Mark, Shape, TwoReadings};
use super::strip::{Bare, strip};
use crate::locale::Locale;

/// Maximum length of an example in bytes.
const MAX_EXAMPLE: usize = 40;

/// The decimal separators seen in the cells of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnStyle {
    /// The first cell that must have a decimal point.
    point: Option<Example>,
    /// The first cell that must have a decimal comma.
    comma: Option<Example>,
    /// The first cell with two readings.
    ambiguous: Option<Example>,
    /// Whether cells with two readings have points, and whether some have commas.
    ambiguous_marks: (bool, bool),
    /// Whether a cell has three digits after a separator, and none or more than three before it: `.500` is 0.5 and `1000,000` is
    /// 1000, unless other cells have the other decimal separator.
    has_irregular_thousands: bool,
    /// Whether a cell has a number without any separator.
    has_plain: bool,
    surroundings: Surroundings,
}

/// Evidence for the notation of a column from outside its cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The only decimal separator of the other number columns of the sheet.
    pub sheet: Option<Mark>,
    /// The usual decimal separator in the language of the sheet.
    pub usual: Option<Mark>,
    pub amounts: Option<Amounts>,
}

/// The number of decimals of the amounts in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amounts {
    /// None, because of the currency.
    Whole,
    /// Three, because of the currency.
    Thousandths,
    /// Any number of decimals, but no group separators: the amounts were written by Sheetport.
    Ungrouped,
}

impl ColumnStyle {
    /// A column without evidence.
    pub const UNKNOWN: ColumnStyle = ColumnStyle {
        point: None,
        comma: None,
        ambiguous: None,
        ambiguous_marks: (false, false),
        has_irregular_thousands: false,
        has_plain: false,
        surroundings: Surroundings { sheet: None, usual: None, amounts: None },
    };

    /// Adds the text of a cell.
    pub fn add(&mut self, row: u64, text: &str) {
        // Most cells only confirm known evidence.
        let is_known = |example: &Option<Example>, mark| example.is_some() && is_plain(text, mark);
        if !text.bytes().any(|byte| matches!(byte, b'.' | b',')) {
            self.has_plain |= text.bytes().any(|byte| byte.is_ascii_digit());
            return;
        }
        if is_known(&self.point, '.')
            || is_known(&self.comma, ',')
            || self.point.is_some() && self.comma.is_some() && self.ambiguous.is_some()
        {
            return;
        }
        let Some(bare) = strip(text) else { return };
        let shape = bare.shape();
        self.has_irregular_thousands |= shape.and_then(|shape| shape.irregular_thousands()).is_some();
        let seen = match shape {
            Some(Shape::Clear { decimal: Some(Mark::Point), .. }) => &mut self.point,
            Some(Shape::Clear { decimal: Some(Mark::Comma), .. }) => &mut self.comma,
            Some(Shape::Ambiguous(TwoReadings { mark, .. })) => {
                match mark {
                    Mark::Point => self.ambiguous_marks.0 = true,
                    Mark::Comma => self.ambiguous_marks.1 = true,
                }
                &mut self.ambiguous
            }
            Some(Shape::Clear { decimal: None, .. }) | None => return,
        };
        if seen.is_none() && text.len() <= MAX_EXAMPLE {
            *seen = Some(Example { row, text: text.trim().to_owned() });
        }
    }

    /// Sets the evidence to use if the cells of the column are not decisive.
    pub fn with(self, surroundings: Surroundings) -> ColumnStyle {
        ColumnStyle { surroundings, ..self }
    }

    /// Returns whether the column has ambiguous numbers without evidence in its cells.
    pub fn needs_other_evidence(&self) -> bool {
        self.ambiguous.is_some() && self.has_no_decimals()
    }

    /// Returns the only decimal separator of the column. `None` without evidence, and with evidence for both.
    pub fn decimal(&self) -> Option<Mark> {
        common_decimal(std::iter::once(self))
    }

    /// Returns whether no cell shows the decimal separator.
    pub fn has_no_decimals(&self) -> bool {
        self.point.is_none() && self.comma.is_none()
    }

    fn is_mixed(&self) -> bool {
        self.point.is_some() && self.comma.is_some()
    }

    /// Returns whether the column has numbers with two readings.
    pub fn has_ambiguous_numbers(&self) -> bool {
        self.ambiguous.is_some() || self.has_irregular_thousands
    }

    /// Returns the only separator of the numbers with two readings.
    pub fn ambiguous_mark(&self) -> Option<Mark> {
        match self.ambiguous_marks {
            (true, false) => Some(Mark::Point),
            (false, true) => Some(Mark::Comma),
            _ => None,
        }
    }

    /// Returns whether both styles read all numbers in the same way.
    pub fn reads_like(&self, other: &ColumnStyle) -> bool {
        let decision = |style: &ColumnStyle| {
            let has_amounts = style.surroundings.amounts.is_some();
            let of_amounts = has_amounts.then_some((style.ambiguous_marks, style.has_plain));
            (style.point.is_some(), style.comma.is_some(), style.surroundings, of_amounts)
        };
        decision(self) == decision(other)
    }

    /// Returns the decimal separator implied by the number of decimals in the column's amounts.
    fn by_amounts(&self, mark: Mark) -> Option<Mark> {
        let has_both_marks = self.ambiguous_marks == (true, true);
        match self.surroundings.amounts? {
            Amounts::Whole => Some(mark.other()),
            // If a number without decimals has no separator, three digits after a separator may be thousands.
            Amounts::Thousandths => Some(mark).filter(|_| !has_both_marks && !self.has_plain),
            Amounts::Ungrouped => Some(mark).filter(|_| !has_both_marks),
        }
    }

    /// Returns the decimal separator for a number with two readings.
    pub(super) fn choose(&self, number: TwoReadings<'_>, locale: Option<Locale>) -> Result<Mark, NumberError> {
        let declared = locale.and_then(|locale| Mark::of(locale.decimal));
        let is_contradicted = match declared {
            Some(Mark::Point) => self.comma.is_some(),
            Some(Mark::Comma) => self.point.is_some(),
            None => self.is_mixed(),
        };
        // A language is weak evidence for the decimals of a column, but thousands are more common than three decimals.
        let usual = self.surroundings.usual.filter(|usual| *usual != number.mark);
        let around = match (self.by_amounts(number.mark), self.surroundings.sheet) {
            (Some(by_amounts), Some(sheet)) if by_amounts != sheet => None,
            (by_amounts, sheet) => by_amounts.or(sheet).or(usual),
        };
        match declared.or(self.decimal()).or(around) {
            Some(mark) if !is_contradicted => Ok(mark),
            _ => Err(NumberError::Ambiguous(Arc::new(self.ambiguity(number, declared)))),
        }
    }

    /// Fails for a number such as `.500` or `1000,000` if the other mark is the decimal separator of other cells.
    pub(super) fn check_irregular_thousands(&self, shape: Shape<'_>) -> Result<(), NumberError> {
        match shape.irregular_thousands() {
            Some(number) if self.is_mixed() => Err(NumberError::Ambiguous(Arc::new(self.ambiguity(number, None)))),
            _ => Ok(()),
        }
    }

    fn ambiguity(&self, number: TwoReadings<'_>, declared: Option<Mark>) -> AmbiguousNumber {
        // The same example for the whole column, so that all its rows count as a single problem.
        let bare = self.ambiguous.as_ref().and_then(|example| strip(&example.text));
        let (example, number) = match (&self.ambiguous, bare.as_ref().and_then(Bare::shape)) {
            (Some(example), Some(Shape::Ambiguous(number))) => (example.text.clone(), number),
            _ => (format!("{}{}{}", number.whole, number.mark.as_char(), number.fraction), number),
        };
        let TwoReadings { whole, fraction, mark } = number;
        let readings = [format!("{whole}{fraction}"), format!("{whole}.{fraction}")];
        let locales = match mark {
            Mark::Point => ["de", "en"],
            Mark::Comma => ["en", "de"],
        };
        let evidence = match declared {
            Some(Mark::Point) => vec![&self.comma],
            Some(Mark::Comma) => vec![&self.point],
            None => vec![&self.point, &self.comma],
        };
        AmbiguousNumber { readings, locales, evidence: evidence.into_iter().flatten().cloned().collect(), example }
    }
}

/// Returns whether a text consists of digits, the mark, and one or two decimals.
fn is_plain(text: &str, mark: char) -> bool {
    text.split_once(mark).is_some_and(|(whole, fraction)| {
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        !whole.is_empty() && matches!(fraction.len(), 1 | 2) && all_digits(whole) && all_digits(fraction)
    })
}

/// Returns the only decimal separator of several columns.
pub fn common_decimal<'a>(columns: impl Iterator<Item = &'a ColumnStyle>) -> Option<Mark> {
    let (mut point, mut comma) = (false, false);
    for column in columns {
        point |= column.point.is_some();
        comma |= column.comma.is_some();
    }
    match (point, comma) {
        (true, false) => Some(Mark::Point),
        (false, true) => Some(Mark::Comma),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{Notation, parse_in};
    use super::*;
    use crate::locale;

    fn style(texts: &[&str]) -> ColumnStyle {
        let mut style = ColumnStyle::default();
        (2..).zip(texts).for_each(|(row, text)| style.add(row, text));
        style
    }

    /// Parses the texts of a column; `?` stands for an ambiguous number.
    #[track_caller]
    fn check(locale: Option<&str>, texts: &[&str], expected: &[&str]) {
        let style = style(texts);
        let locale = locale.map(|name| locale::find(name).expect("a locale"));
        let parsed = texts.iter().map(|text| match parse_in(text, Notation::Column { locale, style: &style }) {
            Ok(parsed) => parsed.number.to_string(),
            Err(NumberError::Ambiguous(_)) => "?".to_owned(),
            Err(error) => format!("{error:?}"),
        });
        assert_eq!(parsed.collect::<Vec<_>>(), expected, "{texts:?}");
    }

    #[test]
    fn the_column_decides_the_meaning_of_ambiguous_numbers() {
        check(None, &["1.299", "12,50"], &["1299", "12.50"]);
        check(None, &["1.299", "12.50"], &["1.299", "12.50"]);
        check(None, &["1,299", "12.50"], &["1299", "12.50"]);
        check(None, &["1.299 €", "1.250,00 €"], &["1299", "1250.00"]);
        check(None, &["1,250", "0,890"], &["1.250", "0.890"]);
        check(None, &["1.250", "0.875"], &["1.250", "0.875"]);
        check(None, &["1.250", "2.345.678"], &["1250", "2345678"]);
    }

    #[test]
    fn decimals_alone_are_refused_beside_the_other_separator() {
        check(None, &[".500", ".25", "12.75"], &["0.500", "0.25", "12.75"]);
        check(None, &[".500", ".25", "12,75"], &["?", "0.25", "12.75"]);
        check(None, &[",500", "12.75"], &["?", "12.75"]);
        check(None, &[".500", "1.500"], &["0.500", "1.500"]);
        check(None, &[".500", "1.500", "12,75"], &["?", "?", "12.75"]);
        check(None, &["1.500", "12,75"], &["1500", "12.75"]);
    }

    #[test]
    fn groups_without_a_separator_are_refused_beside_the_other_separator() {
        check(None, &["1000,000", "12,75"], &["1000.000", "12.75"]);
        check(None, &["1000,000", "12.75"], &["?", "12.75"]);
        check(None, &["1000.000", "12,75"], &["?", "12.75"]);
        check(None, &["1000,00", "12.75"], &["1000.00", "12.75"]);
        check(None, &["0,890", "12.75"], &["0.890", "12.75"]);
    }

    #[test]
    fn a_later_comma_changes_the_reading_of_decimals_alone() {
        assert!(style(&[".500"]).has_ambiguous_numbers());
        assert!(!style(&[".500"]).reads_like(&style(&[".500", "12,75"])));
    }

    #[test]
    fn ambiguous_numbers_without_evidence_are_refused() {
        check(None, &["1.299 €", "49 €"], &["?", "49"]);
        check(None, &["1.299", "12,50", "3.50"], &["?", "12.50", "3.50"]);
        check(None, &["1,299"], &["?"]);
    }

    #[test]
    fn a_declared_locale_is_contradicted_by_other_cells() {
        check(Some("de"), &["1.234"], &["1234"]);
        check(Some("de"), &["1.234", "12,50"], &["1234", "12.50"]);
        check(Some("de"), &["1.234", "12.40"], &["?", "Separators { decimal: ',' }"]);
        check(Some("en"), &["1,234", "12,50"], &["?", "Separators { decimal: '.' }"]);
    }

    #[test]
    fn other_columns_decide_only_without_own_evidence() {
        let german = style(&["1.299"]).with(Surroundings { sheet: Some(Mark::Comma), ..Surroundings::default() });
        let parsed = parse_in("1.299", Notation::Column { locale: None, style: &german }).expect("a number");
        assert_eq!(parsed.number.to_string(), "1299");
        let mixed =
            style(&["1.299", "1.5", "1,5"]).with(Surroundings { sheet: Some(Mark::Comma), ..Surroundings::default() });
        assert!(parse_in("1.299", Notation::Column { locale: None, style: &mixed }).is_err());
    }

    #[test]
    fn the_language_of_the_sheet_explains_thousands_only() {
        let english =
            style(&["1,000", "1.000"]).with(Surroundings { usual: Some(Mark::Point), ..Surroundings::default() });
        let parse = |text| parse_in(text, Notation::Column { locale: None, style: &english });
        assert_eq!(parse("1,000").expect("thousands").number.to_string(), "1000");
        assert!(matches!(parse("1.000"), Err(NumberError::Ambiguous(_))));
    }

    /// Parses the texts of a column whose amounts have these decimals; `?` stands for an ambiguous number.
    #[track_caller]
    fn check_amounts(amounts: Amounts, sheet: Option<Mark>, texts: &[&str], expected: &[&str]) {
        let style = style(texts).with(Surroundings { sheet, usual: None, amounts: Some(amounts) });
        let parse = |text: &&str| parse_in(text, Notation::Column { locale: None, style: &style });
        let parsed = texts.iter().map(|text| parse(text).map_or("?".to_owned(), |parsed| parsed.number.to_string()));
        assert_eq!(parsed.collect::<Vec<_>>(), expected, "{amounts:?} {texts:?}");
    }

    #[test]
    fn the_decimals_of_the_currency_decide() {
        check_amounts(Amounts::Whole, None, &["1.299", "850"], &["1299", "850"]);
        check_amounts(Amounts::Whole, None, &["1,299"], &["1299"]);
        check_amounts(Amounts::Whole, Some(Mark::Point), &["1.299"], &["?"]);
        check_amounts(Amounts::Thousandths, None, &["1.299", "0.850"], &["1.299", "0.850"]);
        check_amounts(Amounts::Thousandths, None, &["1,299", "850"], &["?", "850"]);
        check_amounts(Amounts::Thousandths, None, &["1,299", "2,500"], &["1.299", "2.500"]);
    }

    #[test]
    fn numbers_without_groups_have_decimals() {
        check_amounts(Amounts::Ungrouped, None, &["1.299", "2.500", "7"], &["1.299", "2.500", "7"]);
        check_amounts(Amounts::Ungrouped, None, &["1,299"], &["1.299"]);
        check_amounts(Amounts::Ungrouped, None, &["1,299", "12.50"], &["1299", "12.50"]);
        check_amounts(Amounts::Ungrouped, None, &["1,299", "1.299"], &["?", "?"]);
        check_amounts(Amounts::Ungrouped, Some(Mark::Point), &["1,299"], &["?"]);
    }

    #[test]
    fn the_remedy_names_both_readings_and_the_evidence() {
        let remedy = |texts: &[&str]| {
            let style = style(texts);
            parse_in(texts[0], Notation::Column { locale: None, style: &style }).expect_err("ambiguous").remedy()
        };
        assert_eq!(
            remedy(&["1.299 €"]),
            "'1.299 €' is 1299 or 1.299; say which with --locale, or by a line under [sheet] or the field in the template: \
             locale = \"de\" for 1299, \"en\" for 1.299"
        );
        assert_eq!(
            remedy(&["1,299", "2.5", "12,50"]),
            "'1,299' is 1299 or 1.299: this column has '2.5' in row 3 and '12,50' in row 4; write all numbers of the \
             column in the same way"
        );
    }
}
