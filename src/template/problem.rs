//! What is wrong with a cell, and what to do about it: the words stand beside their causes.

use super::identifier::Damage;
use super::number;

/// One thing that keeps a row from being sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The field must have a value and the cell has none.
    Blank,
    NotANumber(number::Fault),
    /// A value map that does not have the cell's value.
    NotMapped {
        known: Vec<String>,
        nearest: Option<String>,
    },
    /// The text does not match the template's pattern.
    Pattern(String),
    Damaged(Damage),
    /// A workbook's own error value, such as `#N/A`.
    CellError,
    /// A formula that no spreadsheet program has calculated yet.
    NotCalculated,
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
            Cause::NotMapped { .. } => "unknown-value",
            Cause::Pattern(_) => "pattern",
            Cause::Damaged(_) => "damaged-identifier",
            Cause::CellError => "cell-error",
            Cause::NotCalculated => "not-calculated",
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
            Cause::NotMapped { .. } => "is not a value that the template knows".to_owned(),
            Cause::Pattern(pattern) => format!("does not match the pattern {pattern}"),
            Cause::Damaged(Damage::Exponent) => {
                "looks like an identifier that was shortened to a power of ten".to_owned()
            }
            Cause::Damaged(Damage::Date) => "looks like an identifier that was turned into a date".to_owned(),
            Cause::Damaged(Damage::Rounded) => "is a number of more digits than a workbook keeps".to_owned(),
            Cause::CellError => "is an error value of the spreadsheet".to_owned(),
            Cause::NotCalculated => "is a formula that was never calculated".to_owned(),
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
            Cause::NotMapped { known, nearest } => {
                let known = format!("the template knows {}", list(known));
                match nearest {
                    Some(nearest) => format!("did you mean '{nearest}'? {known}"),
                    None => known,
                }
            }
            Cause::Pattern(_) => "correct the cell".to_owned(),
            Cause::Damaged(Damage::Exponent | Damage::Rounded) => {
                "format the column as text and enter the identifier again; its digits are lost in this file".to_owned()
            }
            Cause::Damaged(Damage::Date) => {
                "format the column as text and enter the identifier again, or set damaged = \"accept\" in the template if it is right".to_owned()
            }
            Cause::CellError => "correct the formula".to_owned(),
            Cause::NotCalculated => "open the file in your spreadsheet program, save it, and try again".to_owned(),
            Cause::Duplicate { other_row } => format!("keep one of them; the other is in row {other_row}"),
        }
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
