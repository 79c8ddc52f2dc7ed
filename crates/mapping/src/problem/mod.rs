//! Problems of cells: cause, message and remedy.

mod marked_parts;
mod words;

use std::sync::Arc;

pub(super) use self::marked_parts::MarkedParts;
use sheetport_findings::Code;
use sheetport_values::budget::Exceeded;
use sheetport_values::check_digit::CheckError;
use sheetport_values::currency::Currency;
use sheetport_values::date::{AmbiguousDates, DateError, MixedDates};
use sheetport_values::decimal::Decimal;
use sheetport_values::identifier::Damage;
use sheetport_values::number::{AmbiguousNumber, NumberError, Percent};

/// A reason not to send a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Index of the sheet among the sheets read together.
    pub table: usize,
    /// Row number as in a spreadsheet program.
    pub row: u64,
    /// Column index, if the cause is a single cell.
    pub column: Option<usize>,
    /// The header of the column, or empty.
    pub header: String,
    /// The field of the record.
    pub field: &'static str,
    /// The cell as displayed in the sheet.
    pub value: String,
    pub cause: Cause,
}

/// A finding from outside of this module, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub code: Code,
    pub message: String,
    pub remedy: String,
}

/// Maximum length in bytes of a cell or header inside a problem. A cell can be megabytes long, and every row can have a
/// problem.
const MAX_EXCERPT: usize = 10_000;

/// Cuts a text to the length allowed in a problem.
pub fn excerpt(text: &str) -> String {
    match text.len() > MAX_EXCERPT {
        true => format!("{}…", &text[..text.floor_char_boundary(MAX_EXCERPT)]),
        false => text.to_owned(),
    }
}

impl Problem {
    /// Returns whether the template makes too much of the row.
    pub(super) fn is_too_much(&self) -> bool {
        matches!(self.cause, Cause::TooMuch(_))
    }

    /// Returns the approximate memory in bytes.
    pub fn size(&self) -> usize {
        let other = match &self.cause {
            Cause::Disagrees { other, .. } => other.len(),
            Cause::MarkedParts(parts) => parts.marked.len() + parts.others.len(),
            Cause::AfterStep { value, .. } => value.len(),
            Cause::Expression { source, reason } => source.len() + reason.len(),
            Cause::Rule { written, message } => written.len() + message.len(),
            Cause::Evidence(evidence) => evidence.message.len() + evidence.remedy.len(),
            Cause::LeftOut(because) | Cause::WarnWhere(because) => because.len(),
            Cause::NotAllowed { allowed: known, .. } | Cause::NotMapped { known, .. } => {
                known.iter().map(String::len).sum()
            }
            _ => 0,
        };
        200 + self.value.len() + self.header.len() + other
    }
}

/// Why a row is no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRecord {
    /// A number of pages.
    Page,
    /// A footnote, a comment, or another sentence about the list.
    Remark,
    /// The only cell of the row, unlike an identifier.
    Heading,
    /// A total of other rows.
    Total,
    /// A row under the header with instructions for filling in the columns.
    Hints,
    /// An identifier unlike the others, in a row without a name.
    Nameless,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A required field is blank.
    Blank,
    NotANumber(NumberError),
    NotACurrency,
    /// The currency beside an amount differs from the record's.
    OtherCurrency {
        currency: Currency,
    },
    /// The amounts of a record have different currencies.
    TwoCurrencies {
        other_row: u64,
        other: String,
    },
    /// The sign is used for several currencies.
    AmbiguousCurrency {
        sign: String,
    },
    NotADate(DateError),
    /// The cell's type is no date, such as a time without a date.
    NoDate,
    /// The column's dates fit two formats.
    AmbiguousDate(Arc<AmbiguousDates>),
    /// No format fits all of the column's dates.
    MixedDates(Arc<MixedDates>),
    NotABoolean,
    /// The word of a column of commands is none.
    NoCommand {
        nearest: Option<String>,
    },
    /// The row asks to delete its record.
    NoDeletion,
    /// Records of this kind can't be created or updated alone, for this reason.
    CommandRefused(String),
    /// A split does not give the requested part.
    NoSuchPart {
        at: String,
        take: i64,
    },
    /// An expression can't be evaluated for this row.
    Expression {
        reason: String,
        source: String,
    },
    /// The template makes too much of the row.
    TooMuch(Exceeded),
    /// An expression can't be evaluated, because a number has two readings.
    AmbiguousInExpression(Arc<AmbiguousNumber>),
    /// All fields that could identify the subject are blank.
    NothingNamed {
        what: &'static str,
        fields: &'static [&'static str],
        /// Whether the sheet has a column for one of them.
        has_column: bool,
    },
    /// All fields with a quantity are blank.
    NothingMoved {
        fields: &'static [&'static str],
    },
    /// A rule of the template does not hold.
    Rule {
        message: String,
        written: String,
    },
    /// The template leaves the row out, and says why.
    LeftOut(String),
    /// The template warns of the row, and says why.
    WarnWhere(String),
    /// The value is not allowed by the template.
    NotAllowed {
        allowed: Vec<String>,
        nearest: Option<String>,
    },
    /// The number is below the minimum.
    TooSmall(Decimal),
    /// The number is above the maximum.
    TooLarge(Decimal),
    /// The identifier can't be part of a URL.
    NotAnAddress,
    /// Rows of the same record have different values.
    Disagrees {
        other_row: u64,
        other: String,
    },
    /// The record has no lines but needs some.
    NoLines,
    /// Another row has the same key and wins by the template's rule.
    Superseded {
        by_row: u64,
    },
    /// The group column is blank.
    NoGroup,
    /// The rows of a record are not adjacent, against the template's rule.
    Scattered {
        first_row: u64,
    },
    /// The value is not one of the values listed in the template.
    NotMapped {
        known: Vec<String>,
        nearest: Option<String>,
    },
    /// The value is not in the lookup table.
    NotFound {
        nearest: Option<String>,
    },
    /// The text does not match the template's regular expression.
    Pattern(String),
    /// The check digit or the form of the number is wrong.
    CheckDigit(CheckError),
    /// A step before has changed the value of the cell.
    AfterStep {
        /// The key of the step, or `join`.
        step: &'static str,
        /// The value after the step.
        value: String,
        cause: Box<Cause>,
    },
    /// A number without a percent sign in a field for percentages.
    PercentSign(Percent),
    /// A number format shows a word beside the number, and the word is not sent.
    WordInFormat(String),
    Damaged(Damage),
    /// A number or an identifier with a part that is set differently, such as a footnote.
    MarkedParts(MarkedParts),
    /// A spreadsheet error, such as `#N/A`.
    CellError,
    /// What a spreadsheet program shows in place of a value that is too wide, or that it does not have yet.
    NotShown,
    /// A cell that the workbook stores twice, with different values.
    StoredTwice,
    /// A formula without a calculated value.
    NotCalculated,
    /// A text that was cut when written into a workbook.
    Cut,
    /// The row is no record.
    NoRecord(NoRecord),
    /// The row is part of a further table on the same sheet.
    SecondTable {
        header_row: u64,
    },
    /// Rows that were a single row before an unquoted line break in a cell.
    BrokenRow {
        first: u64,
        last: u64,
    },
    /// The row has more cells than the header has names, and a number that was probably split at its comma.
    ShiftedCells,
    /// The text has a replacement character for lost letters.
    LostLetters,
    /// A program mistook the day of the date for its month.
    TurnedDate,
    /// Another row has the same key.
    Duplicate {
        other_row: u64,
    },
    /// Another row of the first file, which this report lacks, was sent with the same key.
    SentForOtherRow {
        row: u64,
    },
    /// Another cell of the same row has the same key.
    DuplicateInRow,
    /// Another line of the record has the same value.
    RepeatedInLines {
        /// The other line: `row 7`, or `column D` of the same row.
        other: String,
    },
    /// The service has no record with this identifier.
    UnknownReference {
        what: &'static str,
        /// The option that makes the service create the record.
        created_with: Option<&'static str>,
    },
    /// The value of a field with `resolve` stands for no record of the service.
    NotResolved {
        what: &'static str,
        /// The members of the list's entries that were searched.
        searched: String,
        /// A name that differs in one letter.
        nearest: Option<String>,
    },
    /// The value of a field with `resolve` stands for two records of the service, with these ids.
    ResolvedTwice {
        what: &'static str,
        first: String,
        second: String,
    },
    /// The value of a field with `resolve` can't be looked up, for this reason.
    NotLookedUp {
        what: &'static str,
        reason: String,
    },
    /// The service has no order with this external id, or id.
    UnknownOrder {
        is_id: bool,
        /// The order that has the value as its running number.
        number_of: Option<String>,
    },
    /// Two orders of the service have the external id.
    SeveralOrders {
        first: String,
        second: String,
    },
    /// The service's order has lines that the sheet lacks; they would go.
    FewerLines {
        in_file: u64,
        in_service: u64,
        /// The lines that would go, or empty if they are not known.
        lost: String,
    },
    /// Lines of the order have values in the service that the sheet lacks; they would go.
    LineValues {
        /// The lines with their values.
        lost: String,
    },
    /// An earlier upload sent lines of the order that the sheet lacks, and the service does not show whether they are still there.
    LinesSentBefore {
        run: i64,
        /// The local date.
        date: String,
        /// False if the request may not have been applied.
        is_accepted: bool,
        in_file: u64,
        /// The number of lines of the earlier upload.
        then: u64,
        /// The lines that would go, or empty if they are not known.
        lost: String,
    },
    /// The service's other lines of the order can't be sent with the lines of the sheet.
    LinesNotKept(NotKept),
    /// The name of another record differs only in case, white space, width, zeros or look-alike letters.
    NearlyTheSame {
        other_row: u64,
    },
    /// The cell that groups the rows of a record has spaces around it, unlike the cell of another row.
    OnlySpacesDiffer {
        other_row: u64,
    },
    /// An identifier in the form of a date, among others.
    LooksLikeADate,
    /// An identifier is a number with decimals, so trailing zeros may be lost.
    MayLackZero,
    /// An identifier of digits is shorter than the others of its column, which begin with zeros and have this many digits.
    LacksZeros {
        usual: usize,
    },
    /// A number in a text has other decimals than displayed. The argument is the number of displayed decimals.
    OtherDecimals(u8),
    /// The displayed text depends on the computer. The text is sent in English if known, otherwise the value is sent.
    ShownByComputer {
        is_known: bool,
    },
    /// An identifier that may be a number with group separators, and the digits of the number.
    MayBeGrouped {
        plain: String,
    },
    /// The cell of a number in a text displays fewer digits than it contains.
    HiddenDigits,
    /// A record without a name, among others with names.
    NoName,
    /// What the other rows of the sheet say about a value.
    Evidence(Box<Evidence>),
    /// A price of several pieces, by another column of the row.
    PriceOfSeveral {
        /// The text of that column.
        pieces: String,
        header: String,
        price: String,
    },
    /// Another column fits the field, and has another value, or is the only one with a value.
    SeveralColumns {
        /// The text of the other column.
        other: String,
        header: String,
        /// The table of the field in a template.
        table: String,
        /// Whether the column that is read has no value.
        is_blank: bool,
    },
    /// An identifier with an apostrophe in front.
    Apostrophe,
    /// A row below has a line, but no name of its record.
    RowsBelow {
        row: u64,
    },
    /// A row without values in some columns filled in the row above, like a further row of the same record.
    Continues,
}

/// Why the service's other lines of an order can't be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotKept {
    NotShown,
    /// The lines do not show their items as the sheet names them.
    ItemsNotShown,
    /// The service has more lines with the item than the sheet.
    Several {
        item: String,
    },
    /// A value of the line is not shown, or has no place in a request.
    Inexact {
        item: String,
        member: String,
    },
}

impl Cause {
    /// Returns a short name for filters and scripts, stable across versions.
    pub fn code(&self) -> Code {
        match self {
            Cause::Blank => Code::Blank,
            Cause::NotANumber(NumberError::Ambiguous(_) | NumberError::PercentUnclear)
            | Cause::AmbiguousInExpression(_) => Code::AmbiguousNumber,
            Cause::NotANumber(NumberError::OverAHundredPercent) => Code::OutOfRange,
            Cause::NotANumber(_) => Code::NotANumber,
            Cause::NotACurrency
            | Cause::OtherCurrency { .. }
            | Cause::TwoCurrencies { .. }
            | Cause::AmbiguousCurrency { .. } => Code::Currency,
            Cause::AmbiguousDate(_) | Cause::MixedDates(_) | Cause::NotADate(DateError::NeedsTimeZone) => {
                Code::AmbiguousDate
            }
            Cause::NotADate(_) | Cause::NoDate => Code::NotADate,
            Cause::NotABoolean => Code::NotABoolean,
            Cause::NoCommand { .. } | Cause::NoDeletion | Cause::CommandRefused(_) => Code::Command,
            Cause::NoSuchPart { .. } => Code::NoSuchPart,
            Cause::Expression { .. } => Code::Expression,
            Cause::TooMuch(_) => Code::TooMuch,
            Cause::Rule { .. } => Code::Rule,
            Cause::LeftOut(_) => Code::SkipWhere,
            Cause::WarnWhere(_) => Code::WarnWhere,
            Cause::NothingNamed { .. } | Cause::NothingMoved { .. } => Code::Incomplete,
            Cause::NotMapped { .. } | Cause::NotAllowed { .. } | Cause::NotFound { .. } => Code::UnknownValue,
            Cause::TooSmall(_) | Cause::TooLarge(_) => Code::OutOfRange,
            Cause::NotAnAddress => Code::NotAnAddress,
            Cause::Disagrees { .. } => Code::Disagrees,
            Cause::NoLines => Code::NoLines,
            Cause::Superseded { .. } => Code::Superseded,
            Cause::NoGroup => Code::NoGroup,
            Cause::Scattered { .. } => Code::Scattered,
            Cause::Pattern(_) => Code::Pattern,
            Cause::CheckDigit(_) => Code::CheckDigit,
            Cause::AfterStep { cause, .. } => cause.code(),
            Cause::PercentSign(_) => Code::PercentSign,
            Cause::WordInFormat(_) => Code::WordInFormat,
            Cause::Damaged(_) => Code::DamagedIdentifier,
            Cause::MarkedParts(_) => Code::MarkedText,
            Cause::CellError | Cause::NotShown | Cause::StoredTwice => Code::CellError,
            Cause::NotCalculated => Code::NotCalculated,
            Cause::Cut => Code::Cut,
            Cause::NoRecord(_) => Code::NoRecord,
            Cause::SecondTable { .. } => Code::SecondTable,
            Cause::BrokenRow { .. } => Code::BrokenRow,
            Cause::ShiftedCells => Code::BeyondHeader,
            Cause::LostLetters => Code::LostLetters,
            Cause::TurnedDate => Code::TurnedDate,
            Cause::Duplicate { .. }
            | Cause::SentForOtherRow { .. }
            | Cause::DuplicateInRow
            | Cause::RepeatedInLines { .. } => Code::Duplicate,
            Cause::NearlyTheSame { .. } | Cause::OnlySpacesDiffer { .. } => Code::NearlyTheSame,
            Cause::LooksLikeADate => Code::LooksLikeADate,
            Cause::MayLackZero => Code::MayLackZero,
            Cause::LacksZeros { .. } => Code::LacksZeros,
            Cause::MayBeGrouped { .. } => Code::MayBeGrouped,
            Cause::OtherDecimals(_) | Cause::HiddenDigits => Code::OtherDecimals,
            Cause::ShownByComputer { .. } => Code::ShownByComputer,
            Cause::UnknownReference { .. }
            | Cause::NotResolved { .. }
            | Cause::ResolvedTwice { .. }
            | Cause::NotLookedUp { .. }
            | Cause::UnknownOrder { .. }
            | Cause::SeveralOrders { .. } => Code::UnknownReference,
            Cause::FewerLines { .. } => Code::FewerLines,
            Cause::LineValues { .. } => Code::FewerLines,
            Cause::LinesSentBefore { .. } => Code::LinesSentBefore,
            Cause::LinesNotKept(_) => Code::LinesNotKept,
            Cause::NoName => Code::NoName,
            Cause::Evidence(evidence) => evidence.code,
            Cause::PriceOfSeveral { .. } => Code::PriceOfSeveral,
            Cause::SeveralColumns { .. } => Code::SeveralColumns,
            Cause::Apostrophe => Code::Apostrophe,
            Cause::RowsBelow { .. } => Code::RowsBelow,
            Cause::Continues => Code::Continues,
        }
    }

    /// Returns true if the message quotes text from outside the sheet: a lookup table, the result of a step, or an expression of
    /// the template.
    pub fn is_internal(&self) -> bool {
        matches!(
            self,
            Cause::AfterStep { .. }
                | Cause::AmbiguousInExpression(_)
                | Cause::Disagrees { .. }
                | Cause::Expression { .. }
                | Cause::NotFound { .. }
                | Cause::Rule { .. }
                | Cause::LeftOut(_)
                | Cause::WarnWhere(_)
                | Cause::UnknownReference { .. }
                | Cause::NotResolved { .. }
                | Cause::ResolvedTwice { .. }
                | Cause::NotLookedUp { .. }
                | Cause::UnknownOrder { .. }
                | Cause::SeveralOrders { .. }
                | Cause::FewerLines { .. }
                | Cause::LineValues { .. }
                | Cause::LinesSentBefore { .. }
                | Cause::LinesNotKept(_)
        )
    }
}
