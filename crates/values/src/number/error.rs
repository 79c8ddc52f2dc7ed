//! Why a cell has no valid number.

use std::sync::Arc;

use crate::decimal::DecimalError;

/// The reason why a cell has no valid number. The messages leave out the number itself, so that rows with the same problem can be
/// counted together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    #[error("is not a number")]
    NotANumber,
    /// The separator could be a decimal or a group separator, and the column does not decide.
    #[error("could mean more than one number")]
    Ambiguous(Arc<AmbiguousNumber>),
    /// The separators don't fit the locale.
    #[error("is not a number with '{decimal}' as its decimal separator")]
    Separators { decimal: char },
    /// A percent sign without a meaning in the template.
    #[error("has a percent sign")]
    PercentUnclear,
    /// A tax rate.
    #[error("is more than 100%")]
    OverAHundredPercent,
    #[error("has more than 28 digits")]
    TooLong,
    /// The field takes whole numbers only.
    #[error("is not a whole number")]
    NotWhole,
    /// A number format displays a multiple of the number to be sent.
    #[error("has '{0}' in its number format, and only the number would be sent")]
    Multiple(String),
    /// A number format shows a part or a fraction of the number.
    #[error("contains another number than its number format shows")]
    ShownOther,
    /// A number format shows words instead of the number.
    #[error("contains a number, for which its number format shows words")]
    ShownAsText,
    /// A number format shows nothing.
    #[error("contains a number that its number format hides")]
    Hidden,
    /// The field is a count or a rate.
    #[error("has a currency, and this field is not an amount of money")]
    Money,
}

/// The readings of a number such as `1.299`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmbiguousNumber {
    /// An ambiguous cell of the column.
    pub example: String,
    /// The example as digits without separators, and with a decimal point.
    pub readings: [String; 2],
    /// Locales for both readings, for the template.
    pub locales: [&'static str; 2],
    /// Cells with a decimal point and with a decimal comma if the column has both, or the cell that contradicts the locale.
    pub evidence: Vec<Example>,
}

/// A cell quoted in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Row number as in a spreadsheet program.
    pub row: u64,
    pub text: String,
}

impl NumberError {
    /// Returns advice on how to fix the cell or the template.
    pub fn remedy(&self) -> String {
        match self {
            NumberError::NotANumber => "write a number, or leave the cell blank",
            NumberError::Ambiguous(ambiguous) => return ambiguous.remedy(),
            NumberError::Separators { .. } => {
                "write the number like those in the other rows, or remove the locale from the template, so that the \
                 column decides"
            }
            NumberError::PercentUnclear => {
                "choose in the template what 19% means: percent = \"whole\" sends 19, percent = \"fraction\" sends 0.19"
            }
            NumberError::OverAHundredPercent => {
                "write the rate as 19%; a cell with a percent format shows the number 19 as 1900%, and 0.19 as 19%"
            }
            NumberError::TooLong => "check the number; more than 28 digits can't be sent exactly",
            NumberError::NotWhole => "write a whole number, or set round = 0 in the template",
            NumberError::Multiple(_) => {
                "enter the number itself and format it as a plain number, or convert it in the template: scale = 0.01"
            }
            NumberError::ShownOther => {
                "format the column as a plain number, such as 0.00, and check that it is the number that is meant"
            }
            NumberError::Hidden => "show the number with another number format, or delete the content of the cell",
            NumberError::ShownAsText => "enter the number that is meant, or delete the content of the cell",
            NumberError::Money => "use the column with the count, or remove the currency",
        }
        .to_owned()
    }
}

impl AmbiguousNumber {
    /// Returns both readings, and instructions for choosing between them.
    pub fn remedy(&self) -> String {
        let AmbiguousNumber { example, readings: [grouped, fraction], locales: [one, other], evidence } = self;
        match evidence.as_slice() {
            [] => format!(
                "'{example}' is {grouped} or {fraction}; say which with --locale, or by a line under [sheet] or the field in \
                 the template: locale = \"{one}\" for {grouped}, \"{other}\" for {fraction}"
            ),
            [Example { row, text }] => format!(
                "'{example}' is {grouped} or {fraction}: this column has '{text}' in row {row}; write all numbers of the \
                 column in the same way"
            ),
            [first, second, ..] => format!(
                "'{example}' is {grouped} or {fraction}: this column has '{}' in row {} and '{}' in row {}; write all numbers \
                 of the column in the same way",
                first.text, first.row, second.text, second.row
            ),
        }
    }
}

impl From<DecimalError> for NumberError {
    fn from(error: DecimalError) -> NumberError {
        match error {
            DecimalError::TooManyDigits | DecimalError::TooManyDecimals => NumberError::TooLong,
            DecimalError::NotANumber | DecimalError::DivisionByZero => NumberError::NotANumber,
        }
    }
}
