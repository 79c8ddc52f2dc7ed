//! What is wrong with a cell, and what to do about it: the words stand beside their causes.

use std::sync::Arc;

use super::date;
use super::identifier::Damage;
use super::number;

/// One thing that keeps a row from being sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which of the sheets that are read together, from 0.
    pub part: usize,
    /// The row, as the spreadsheet program counts.
    pub row: u64,
    /// From 0; nothing when the cause is not one cell.
    pub column: Option<usize>,
    /// The header above the cell, or empty.
    pub header: String,
    /// The field of the record that the cell was for.
    pub field: &'static str,
    /// The cell as the sheet shows it.
    pub value: String,
    pub cause: Cause,
}

/// Bytes of a cell or a header that a problem keeps. A cell can be megabytes long, and every row can have a problem.
const MOST_KEPT: usize = 10_000;

/// As much of a text as a problem keeps.
pub fn kept(text: &str) -> String {
    match text.len() > MOST_KEPT {
        true => format!("{}…", &text[..text.floor_char_boundary(MOST_KEPT)]),
        false => text.to_owned(),
    }
}

impl Problem {
    /// About how many bytes are held for it.
    pub fn held(&self) -> usize {
        let other = if let Cause::Disagrees { other, .. } = &self.cause { other.len() } else { 0 };
        200 + self.value.len() + self.header.len() + other
    }
}

/// Two ways of reading a column's dates: each a pattern, and what `example` is by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmbiguousDates {
    pub example: String,
    pub readings: [(String, String); 2],
}

/// `pattern` reads the most of a column, and not `example` in `row`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixedDates {
    pub example: String,
    pub row: u64,
    pub pattern: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The field must have a value and the cell has none.
    Blank,
    NotANumber(number::Fault),
    NotADate(date::Fault),
    /// A cell of another kind, such as a time without a date.
    NoDate,
    /// The column's dates can be read in two ways.
    AmbiguousDate(Arc<AmbiguousDates>),
    /// No one way of reading fits all of the column's dates.
    MixedDates(Arc<MixedDates>),
    /// Neither a yes nor a no.
    NotABoolean,
    /// A split that has no such part.
    NoSuchPart {
        at: String,
        take: i64,
    },
    /// An expression that can't be evaluated for this row.
    Expression {
        reason: String,
        source: String,
    },
    /// A value that is not among those that the template allows.
    NotAllowed {
        allowed: Vec<String>,
        nearest: Option<String>,
    },
    /// Digits of the bound.
    TooSmall(String),
    TooLarge(String),
    /// A name that the address of a request can't hold.
    NotAnAddress,
    /// Rows of one record that say different things.
    Disagrees {
        other_row: u64,
        other: String,
    },
    /// A record without lines, of a kind that needs some.
    NoLines,
    /// Another row has the same key, and the template says that that one counts.
    Superseded {
        by_row: u64,
    },
    /// The column that says which record a row belongs to is blank.
    NoGroup,
    /// A record's rows that do not stand together, where the template says that they do.
    Scattered {
        first_row: u64,
    },
    /// A value map that does not have the cell's value.
    NotMapped {
        known: Vec<String>,
        nearest: Option<String>,
    },
    /// A lookup table that does not have the cell's value.
    NotFound {
        nearest: Option<String>,
    },
    /// The text does not match the template's pattern.
    Pattern(String),
    Damaged(Damage),
    /// A workbook's own error value, such as `#N/A`.
    CellError,
    /// A formula that no spreadsheet program has calculated yet.
    NotCalculated,
    /// A text that was cut when it was written into a workbook.
    Cut,
    /// A key that an earlier or later row has too.
    Duplicate {
        other_row: u64,
    },
}

impl Cause {
    /// A short name that stays the same between versions, for filters and scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Cause::Blank => "blank",
            Cause::NotANumber(number::Fault::NeedsLocale | number::Fault::PercentUnclear) => "ambiguous-number",
            Cause::NotANumber(_) => "not-a-number",
            Cause::AmbiguousDate(_) | Cause::MixedDates(_) | Cause::NotADate(date::Fault::NeedsTimeZone) => {
                "ambiguous-date"
            }
            Cause::NotADate(_) | Cause::NoDate => "not-a-date",
            Cause::NotABoolean => "not-a-boolean",
            Cause::NoSuchPart { .. } => "no-such-part",
            Cause::Expression { .. } => "expression",
            Cause::NotMapped { .. } | Cause::NotAllowed { .. } | Cause::NotFound { .. } => "unknown-value",
            Cause::TooSmall(_) | Cause::TooLarge(_) => "out-of-range",
            Cause::NotAnAddress => "not-an-address",
            Cause::Disagrees { .. } => "disagrees",
            Cause::NoLines => "no-lines",
            Cause::Superseded { .. } => "superseded",
            Cause::NoGroup => "no-group",
            Cause::Scattered { .. } => "scattered",
            Cause::Pattern(_) => "pattern",
            Cause::Damaged(_) => "damaged-identifier",
            Cause::CellError => "cell-error",
            Cause::NotCalculated => "not-calculated",
            Cause::Cut => "cut",
            Cause::Duplicate { .. } => "duplicate",
        }
    }

    /// What is wrong, without the value itself, so that rows with one cause can be counted together.
    pub fn message(&self) -> String {
        match self {
            Cause::Blank => "is blank".to_owned(),
            Cause::NotANumber(fault) => match fault {
                number::Fault::NotANumber => "is not a number".to_owned(),
                number::Fault::NeedsLocale => "can be read as more than one number".to_owned(),
                number::Fault::Separators { decimal } => {
                    format!("is not a number that has '{decimal}' before its decimals")
                }
                number::Fault::PercentUnclear => "has a percent sign".to_owned(),
                number::Fault::TooLong => "has more than 28 digits".to_owned(),
                number::Fault::NotWhole => "is not a whole number".to_owned(),
            },
            Cause::NotADate(fault) => fault.to_string(),
            Cause::NoDate => "is not a date".to_owned(),
            Cause::AmbiguousDate(_) => "can be read as more than one date".to_owned(),
            Cause::MixedDates(_) => "stands in a column whose dates are written in more than one way".to_owned(),
            Cause::NotABoolean => "is neither a yes nor a no".to_owned(),
            Cause::NoSuchPart { at, take } => format!("has no part {take} when it is split at '{at}'"),
            Cause::Expression { reason, .. } => format!("can't be put together: {reason}"),
            Cause::NotAllowed { .. } => "is not a value that the template allows".to_owned(),
            Cause::NotFound { .. } => "is not in the lookup table".to_owned(),
            Cause::TooSmall(bound) => format!("is less than {bound}"),
            Cause::TooLarge(bound) => format!("is more than {bound}"),
            Cause::NotAnAddress => "can't name a record in an address".to_owned(),
            Cause::Disagrees { .. } => "differs from another row of the same record".to_owned(),
            Cause::NoLines => "has no lines".to_owned(),
            Cause::Superseded { by_row } => format!("is there more than once, and row {by_row} counts"),
            Cause::NoGroup => "is blank, so the row belongs to no record".to_owned(),
            Cause::Scattered { .. } => "comes again after other records".to_owned(),
            Cause::NotMapped { .. } => "is not a value that the template knows".to_owned(),
            Cause::Pattern(pattern) => format!("does not match the pattern {pattern}"),
            Cause::Damaged(Damage::Exponent) => {
                "looks like an identifier that was shortened to a power of ten".to_owned()
            }
            Cause::Damaged(Damage::Date) => "looks like an identifier that was turned into a date".to_owned(),
            Cause::Damaged(Damage::Rounded) => "is a number of more digits than a workbook keeps".to_owned(),
            Cause::CellError => "is an error value of the spreadsheet".to_owned(),
            Cause::NotCalculated => "is a formula that was never calculated".to_owned(),
            Cause::Cut => "was cut to what a workbook's cell can hold, and its end is lost".to_owned(),
            Cause::Duplicate { .. } => "is there more than once".to_owned(),
        }
    }

    /// What a person can do about it.
    pub fn remedy(&self) -> String {
        match self {
            Cause::Blank => "fill the cell in".to_owned(),
            Cause::NotANumber(fault) => match fault {
                number::Fault::NotANumber => "write it as a number, or leave the cell blank".to_owned(),
                number::Fault::NeedsLocale => "say how this sheet writes numbers: locale = \"de\" or \"en\" in the template".to_owned(),
                number::Fault::Separators { .. } => "write it as the other rows do, or give this field a locale of its own in the template".to_owned(),
                number::Fault::PercentUnclear => {
                    "say what it means in the template: percent = \"whole\" sends 19, percent = \"fraction\" sends 0.19".to_owned()
                }
                number::Fault::TooLong => "check the number; it can't be sent exactly".to_owned(),
                number::Fault::NotWhole => "write it without decimals, or set round = 0 in the template".to_owned(),
            },
            Cause::NotADate(fault) => fault.remedy(),
            Cause::NoDate => "write the date, or leave the cell blank".to_owned(),
            Cause::AmbiguousDate(dates) => {
                let AmbiguousDates { example, readings: [(one, first), (other, second)] } = &**dates;
                format!("'{example}' is {first} as {one} and {second} as {other}; say which in the template: format = \"{one}\"")
            }
            Cause::MixedDates(dates) => {
                let MixedDates { example, row, pattern } = &**dates;
                let one = pattern.as_deref().unwrap_or("DD.MM.YYYY");
                format!("row {row} has '{example}', which is not {one}; name them all in the template: format = [\"{one}\", …]")
            }
            Cause::NotABoolean => "write yes or no, or say in the template what it means: map = { … }".to_owned(),
            Cause::NoSuchPart { .. } => "correct the cell, or the split in the template".to_owned(),
            Cause::Expression { source, .. } => format!("the template says {source}"),
            Cause::NotMapped { known, nearest } => with_nearest(nearest, format!("the template knows {}", list(known))),
            Cause::NotAllowed { allowed, nearest } => with_nearest(nearest, format!("it allows {}", list(allowed))),
            Cause::NotFound { nearest } => with_nearest(nearest, "correct the cell, or add it to the table".to_owned()),
            Cause::TooSmall(_) | Cause::TooLarge(_) => "check the number".to_owned(),
            Cause::NotAnAddress => "give the record another name".to_owned(),
            Cause::Disagrees { other_row, other } => {
                let other = if other.is_empty() { "blank".to_owned() } else { format!("'{other}'") };
                format!("row {other_row} has {other}; make them the same")
            }
            Cause::NoLines => "fill in the cells of at least one line".to_owned(),
            Cause::Superseded { .. } => "the template says so: duplicates".to_owned(),
            Cause::NoGroup => {
                "fill it in, or write on_blank = \"above\" under [group] if the row belongs to the one above".to_owned()
            }
            Cause::Scattered { first_row } => format!("its first row is {first_row}; put the rows of a record together"),
            Cause::Pattern(_) => "correct the cell".to_owned(),
            Cause::Damaged(Damage::Exponent | Damage::Rounded) => {
                "format the column as text and enter the identifier again; its digits are lost in this file".to_owned()
            }
            Cause::Damaged(Damage::Date) => {
                "format the column as text and enter the identifier again, or set damaged = \"accept\" in the template if it is right".to_owned()
            }
            Cause::CellError => "correct the formula".to_owned(),
            Cause::Cut => {
                "have the report or the export written as .csv, which has room for all of it, or write the whole text here".to_owned()
            }
            Cause::NotCalculated => "open the file in your spreadsheet program, save it, and try again".to_owned(),
            Cause::Duplicate { other_row } => format!("keep one of them; the other is in row {other_row}"),
        }
    }
}

fn with_nearest(nearest: &Option<String>, known: String) -> String {
    match nearest {
        Some(nearest) => format!("did you mean '{nearest}'? {known}"),
        None => known,
    }
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
