//! Problems of cells: cause, message and remedy.

use std::sync::Arc;

use super::value::budget::Exceeded;
use super::value::check_digit::CheckError;
use super::value::date::{AmbiguousDates, DateError, MixedDates};
use super::value::identifier::Damage;
use super::value::number::{AmbiguousNumber, NumberError, Percent};
use crate::currency::Currency;
use crate::decimal::Decimal;

/// A reason not to send a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Index of the sheet among the sheets read together.
    pub part: usize,
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
            Cause::AfterStep { value, .. } => value.len(),
            Cause::Expression { source, reason } => source.len() + reason.len(),
            Cause::Rule { written, message } => written.len() + message.len(),
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
    },
    /// A rule of the template does not hold.
    Rule {
        message: String,
        written: String,
    },
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
    /// A spreadsheet error, such as `#N/A`.
    CellError,
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
    /// The row has more cells than the header, and a number that was probably split at its decimal comma.
    ShiftedCells,
    /// The text has a replacement character for lost letters.
    LostLetters,
    /// A program mistook the day of the date for its month.
    TurnedDate,
    /// Another row has the same key.
    Duplicate {
        other_row: u64,
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
    /// A price of several pieces, by another column of the row.
    PriceOfSeveral {
        /// The text of that column.
        pieces: String,
        header: String,
        price: String,
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

impl Cause {
    /// Returns a short name for filters and scripts, stable across versions.
    pub fn code(&self) -> &'static str {
        match self {
            Cause::Blank => "blank",
            Cause::NotANumber(NumberError::Ambiguous(_) | NumberError::PercentUnclear)
            | Cause::AmbiguousInExpression(_) => "ambiguous-number",
            Cause::NotANumber(_) => "not-a-number",
            Cause::NotACurrency
            | Cause::OtherCurrency { .. }
            | Cause::TwoCurrencies { .. }
            | Cause::AmbiguousCurrency { .. } => "currency",
            Cause::AmbiguousDate(_) | Cause::MixedDates(_) | Cause::NotADate(DateError::NeedsTimeZone) => {
                "ambiguous-date"
            }
            Cause::NotADate(_) | Cause::NoDate => "not-a-date",
            Cause::NotABoolean => "not-a-boolean",
            Cause::NoSuchPart { .. } => "no-such-part",
            Cause::Expression { .. } => "expression",
            Cause::TooMuch(_) => "too-much",
            Cause::Rule { .. } => "rule",
            Cause::NothingNamed { .. } => "incomplete",
            Cause::NotMapped { .. } | Cause::NotAllowed { .. } | Cause::NotFound { .. } => "unknown-value",
            Cause::TooSmall(_) | Cause::TooLarge(_) => "out-of-range",
            Cause::NotAnAddress => "not-an-address",
            Cause::Disagrees { .. } => "disagrees",
            Cause::NoLines => "no-lines",
            Cause::Superseded { .. } => "superseded",
            Cause::NoGroup => "no-group",
            Cause::Scattered { .. } => "scattered",
            Cause::Pattern(_) => "pattern",
            Cause::CheckDigit(_) => "check-digit",
            Cause::AfterStep { cause, .. } => cause.code(),
            Cause::PercentSign(_) => "percent-sign",
            Cause::WordInFormat(_) => "word-in-format",
            Cause::Damaged(_) => "damaged-identifier",
            Cause::CellError => "cell-error",
            Cause::NotCalculated => "not-calculated",
            Cause::Cut => "cut",
            Cause::NoRecord(_) => "no-record",
            Cause::SecondTable { .. } => "second-table",
            Cause::BrokenRow { .. } => "broken-row",
            Cause::ShiftedCells => "beyond-header",
            Cause::LostLetters => "lost-letters",
            Cause::TurnedDate => "turned-date",
            Cause::Duplicate { .. } | Cause::DuplicateInRow | Cause::RepeatedInLines { .. } => "duplicate",
            Cause::NearlyTheSame { .. } | Cause::OnlySpacesDiffer { .. } => "nearly-the-same",
            Cause::LooksLikeADate => "looks-like-a-date",
            Cause::MayLackZero => "may-lack-zero",
            Cause::LacksZeros { .. } => "lacks-zeros",
            Cause::MayBeGrouped { .. } => "may-be-grouped",
            Cause::OtherDecimals(_) | Cause::HiddenDigits => "other-decimals",
            Cause::ShownByComputer { .. } => "shown-by-computer",
            Cause::UnknownReference { .. } => "unknown-reference",
            Cause::NoName => "no-name",
            Cause::PriceOfSeveral { .. } => "price-of-several",
            Cause::Apostrophe => "apostrophe",
            Cause::RowsBelow { .. } => "rows-below",
            Cause::Continues => "continues",
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
                | Cause::UnknownReference { .. }
        )
    }

    /// Returns the message without the value, so that rows with the same problem can be counted together.
    pub fn message(&self) -> String {
        match self {
            Cause::NotANumber(error) => return error.to_string(),
            Cause::NotADate(error) => return error.to_string(),
            Cause::NoSuchPart { at, take } => return format!("has no part {take} when split at '{at}'"),
            Cause::Expression { reason, .. } => return format!("can't be evaluated: {reason}"),
            Cause::AmbiguousInExpression(number) => {
                return format!(
                    "can't be evaluated: '{}' {}",
                    number.example,
                    NumberError::Ambiguous(Arc::clone(number))
                );
            }
            Cause::NothingNamed { what, .. } => return format!("is blank, and no other field names the {what}"),
            Cause::Rule { message, .. } => return format!("is against a rule of the template: {message}"),
            Cause::TooMuch(exceeded) => return exceeded.to_string(),
            Cause::TooSmall(bound) => return format!("is less than {bound}"),
            Cause::TooLarge(bound) => return format!("is more than {bound}"),
            Cause::Superseded { by_row } => return format!("appears more than once, and row {by_row} is used"),
            Cause::AfterStep { cause, .. } => return cause.message(),
            Cause::Pattern(pattern) => return format!("does not match the pattern {pattern}"),
            Cause::CheckDigit(error) => return error.to_string(),
            Cause::OtherCurrency { currency } => return format!("is not {currency}, the currency of the record"),
            Cause::WordInFormat(word) => return format!("has '{word}' in its number format, which is not sent"),
            Cause::NoRecord(NoRecord::Page) => "is the number of a page, and its row is no record",
            Cause::NoRecord(NoRecord::Remark) => "is a remark, and its row is no record",
            Cause::NoRecord(NoRecord::Heading) => {
                "is the only cell of its row, and unlike the identifiers of other rows"
            }
            Cause::NoRecord(NoRecord::Total) => "looks like a total of other rows",
            Cause::NoRecord(NoRecord::Nameless) => "is unlike the other identifiers, and its row has no name",
            Cause::NoName => "has no name, unlike most rows",
            Cause::NoRecord(NoRecord::Hints) => "says how to fill in the column, and its row is no record",
            Cause::SecondTable { .. } => "the row belongs to another table below the first one",
            Cause::BrokenRow { .. } => "the row is a part of a row that a line ending has broken",
            Cause::ShiftedCells => {
                "may be a part of a number with a comma: the row has more cells than the header, and the cells after it have shifted"
            }
            Cause::LostLetters => "has lost letters, shown as \u{fffd}",
            Cause::TurnedDate => "is a date whose day and month a spreadsheet program has probably swapped",
            Cause::NotACurrency => "is not a currency",
            Cause::TwoCurrencies { .. } => "differs from the currency of another amount of the record",
            Cause::AmbiguousCurrency { .. } => "stands for several currencies",
            Cause::PercentSign(Percent::Whole) => "is less than 1 and has no percent sign",
            Cause::PercentSign(Percent::Fraction) => "is more than 1 and has no percent sign",
            Cause::Blank => "is blank",
            Cause::NoDate => "is not a date",
            Cause::AmbiguousDate(_) => "could mean more than one date",
            Cause::MixedDates(_) => "is in a column with dates in different formats",
            Cause::NotABoolean => "is neither yes nor no",
            Cause::NotAllowed { .. } => "is not a value that the template allows",
            Cause::NotFound { .. } => "is not in the lookup table",
            Cause::NotAnAddress => "can't be used in a URL",
            Cause::Disagrees { .. } => "differs from another row of the same record",
            Cause::NoLines => "has no lines",
            Cause::NoGroup => "is blank, so the row belongs to no record",
            Cause::Scattered { .. } => "appears again after other records",
            Cause::NotMapped { .. } => "is not one of the values listed in the template",
            Cause::Damaged(damage) => damage.message(),
            Cause::CellError => "is a spreadsheet error",
            Cause::NotCalculated => "is a formula without a calculated value",
            Cause::Cut => "was cut to the length of a workbook's cell",
            Cause::Duplicate { .. } => "appears more than once",
            Cause::DuplicateInRow => "is the same for several cells of the row",
            Cause::RepeatedInLines { .. } => "appears in more than one line of the record",
            Cause::NearlyTheSame { .. } => "differs from another one only in case, spaces, zeros or look-alike letters",
            Cause::OnlySpacesDiffer { .. } => "has spaces around it, which do not make another record",
            Cause::LooksLikeADate => "has the form of a date",
            Cause::MayLackZero => {
                "is a number with decimals, and would be the same if it was typed with zeros at its end"
            }
            Cause::LacksZeros { usual } => {
                return format!("may lack zeros: others of the column begin with zeros and have {usual} digits");
            }
            Cause::MayBeGrouped { plain } => {
                return format!("may be {plain}, shown with group separators, and is sent with them");
            }
            Cause::OtherDecimals(decimals) => {
                return format!("is shown with {decimals} decimals, and sent with the digits that the cell contains");
            }
            Cause::ShownByComputer { is_known: true } => {
                "is sent as programs in English show it; others may show other separators or names"
            }
            Cause::ShownByComputer { is_known: false } => {
                "is sent as its cell contains it; what the cell shows depends on the computer, or is a fraction or in scientific notation"
            }
            Cause::HiddenDigits => "is sent as it is shown, without the further digits that the cell contains",
            Cause::UnknownReference { what, .. } => return format!("is no {what} that the service knows"),
            Cause::PriceOfSeveral { pieces, header, .. } => {
                return format!("is the price of '{pieces}', according to the column '{header}'");
            }
            Cause::Apostrophe => "begins with an apostrophe",
            Cause::RowsBelow { .. } => "may have further lines: rows below it name no record",
            Cause::Continues => "is blank, as in a further row of the record above",
        }
        .to_owned()
    }

    /// Returns advice on how to fix the cell or the template.
    pub fn remedy(&self) -> String {
        match self {
            Cause::NotANumber(error) => return error.remedy(),
            Cause::NotADate(error) => return error.remedy(),
            Cause::AfterStep { step, value, cause } => {
                let value = if value.is_empty() { "blank".to_owned() } else { format!("'{value}'") };
                return format!("after {step} it is {value}; {}", cause.remedy());
            }
            Cause::AmbiguousDate(dates) => {
                let AmbiguousDates { example, readings: [(one, first), (other, second)] } = &**dates;
                return format!(
                    "'{example}' is {first} as {one} and {second} as {other}; choose one in the template: \
                     format = \"{one}\""
                );
            }
            Cause::MixedDates(dates) => {
                let MixedDates { example, row, pattern } = &**dates;
                return format!(
                    "row {row} has '{example}', which is not {pattern}; list all formats in the template: \
                     format = [\"{pattern}\", …]"
                );
            }
            Cause::AmbiguousInExpression(number) => return number.remedy(),
            Cause::NothingNamed { fields, .. } => {
                return format!("fill in {}; without it, the service may refuse the record", fields.join(" or "));
            }
            Cause::Expression { source, .. } => {
                return format!("fix the cells, or the expression in the template: {source}");
            }
            Cause::Rule { written, .. } => return format!("fix the row, or the rule in the template: {written}"),
            Cause::NotMapped { known, nearest } => return suggest(nearest, &format!("the listed values are {}", list(known))),
            Cause::NotAllowed { allowed, nearest } => {
                return suggest(nearest, &format!("allowed are {}", list(allowed)));
            }
            Cause::NotFound { nearest } => return suggest(nearest, "fix the cell, or add the value to the table"),
            Cause::Disagrees { other_row, other } => {
                let other = if other.is_empty() { "blank".to_owned() } else { format!("'{other}'") };
                return format!("row {other_row} has {other}; make them the same");
            }
            Cause::Scattered { first_row } => {
                return format!("its first row is {first_row}; put the rows of a record next to each other");
            }
            Cause::Duplicate { other_row } => return format!("keep one of them; the other is in row {other_row}"),
            Cause::OnlySpacesDiffer { other_row } => {
                return format!("remove the spaces; if it is another record than that of row {other_row}, rename it");
            }
            Cause::RepeatedInLines { other } => {
                return format!("make one line of both, or remove unique from the template; the other is in {other}");
            }
            Cause::UnknownReference { what, created_with: None } => {
                return format!("correct it, or create the {what} first");
            }
            Cause::UnknownReference { what, created_with: Some(_) } => {
                return format!("correct it, create the {what} first, or upload with --create-missing-items");
            }
            Cause::NearlyTheSame { other_row } => {
                return format!("write it as in row {other_row} if both mean the same");
            }
            Cause::PriceOfSeveral { header, price, .. } => {
                return format!(
                    "divide it in a template of your own: text = \"{{{{ row['{price}'] | divided_by(row['{header}'], 4) }}}}\"; if it is \
                     the price of one: text = \"{{{{ row['{price}'] }}}}\""
                );
            }
            Cause::RowsBelow { row } => {
                return format!(
                    "if row {row} belongs to it, fill in the cell there, or write on_blank = \"above\" under [group]"
                );
            }
            Cause::PercentSign(Percent::Whole) => {
                "it is sent as it is; write 19% for 19 percent, or percent = \"fraction\" in the template if it stands for a fraction"
            }
            Cause::PercentSign(Percent::Fraction) => {
                "it is sent as it is; write 19% for 0.19, or percent = \"whole\" in the template if percentages have no sign"
            }
            Cause::WordInFormat(_) => {
                "check that the number alone is what the field means; a plain number format ends this warning"
            }
            Cause::DuplicateInRow => "add the name in header_as of [unpivot] to the columns of this field in the template",
            Cause::Continues => "fill it in, or add fill_down with this column to [sheet] of the template",
            Cause::MayLackZero => {
                "compare it with its source: spreadsheet programs store 1.10 as 1.1; format the column as text before typing"
            }
            Cause::LacksZeros { .. } => {
                "put the zeros back: spreadsheet programs take them away; format the column as text before typing, or set \
                 damaged = \"accept\" in the template"
            }
            Cause::MayBeGrouped { .. } => {
                "if it is a number, format the column in the spreadsheet program without separators and save the file again; \
                 otherwise set damaged = \"accept\" in the template"
            }
            Cause::OtherDecimals(_) => "choose a number format that shows the digits to send, or round the number in the sheet",
            Cause::ShownByComputer { .. } => {
                "choose a number format without group separators, names of months and the computer's own formats, or format the \
                 column as text"
            }
            Cause::HiddenDigits => "choose a number format that shows all digits, or round the number in the sheet",
            Cause::LooksLikeADate => "compare it with its source: spreadsheet programs turn codes such as 2-3 into dates",
            Cause::Apostrophe => "delete the apostrophe if a program added it to keep zeros",
            Cause::NoName => "fill in the name, or leave such rows out with skip_where in the template",
            Cause::NoRecord(NoRecord::Heading | NoRecord::Nameless) => {
                "fill in the other cells, delete the row, or leave such rows out with skip_where in the template"
            }
            Cause::NoRecord(_) => "delete the row, or leave such rows out with skip_where in the template",
            Cause::SecondTable { header_row } => {
                return format!("put the table from row {header_row} on in a file or sheet of its own");
            }
            Cause::BrokenRow { first, last } => {
                return format!("join rows {first} to {last}, with quotes around the cell that has the line ending");
            }
            Cause::ShiftedCells => {
                "put quotes around numbers with a comma, or save the file with another delimiter; if the row only ends with \
                 a delimiter, let the header end with one, too"
            }
            Cause::LostLetters => {
                "type the text again; a program that saved or converted the file could not write its letters, or the file is in \
                 another encoding: --encoding"
            }
            Cause::TurnedDate => {
                "other dates of the column are texts with days after the 12th, which that program could not read; import the \
                 original file again, with the column as text"
            }
            Cause::NotACurrency => "write an ISO 4217 code, such as EUR",
            Cause::OtherCurrency { .. } => "convert the amount, or fix the currency",
            Cause::TwoCurrencies { other_row, other } => {
                return format!("row {other_row} has '{other}'; a record has one currency");
            }
            Cause::AmbiguousCurrency { .. } => {
                "add the currency to the template, such as [fields.currency] with value = \"SEK\""
            }
            Cause::TooMuch(_) => {
                "shorten the cell, or replace, split and join less in the template: all fields of a row share this limit"
            }
            Cause::Blank => "fill in the cell",
            Cause::NoDate => "write the date, or leave the cell blank",
            Cause::NotABoolean => "write yes or no, or translate the value in the template: map = { … }",
            Cause::NoSuchPart { .. } => "fix the cell, or the split in the template",
            Cause::TooSmall(_) | Cause::TooLarge(_) => "check the number",
            Cause::NotAnAddress => "use another identifier for this record",
            Cause::NoLines => "fill in the cells of at least one line",
            Cause::Superseded { .. } => "to get an error instead, set duplicates = \"error\" in the template",
            Cause::NoGroup => {
                "fill it in, or write on_blank = \"above\" under [group] if the row belongs to the record above"
            }
            Cause::Pattern(_) => "fix the cell",
            Cause::CheckDigit(_) => "compare it with its source: a digit is wrong or missing, or two are swapped",
            Cause::Damaged(damage) => damage.remedy(),
            Cause::CellError => "fix the formula",
            Cause::Cut => {
                "write the report or export as .csv, which keeps the whole text, or enter the whole text here"
            }
            Cause::NotCalculated => "open the file in your spreadsheet program, save it, and try again",
        }
        .to_owned()
    }
}

fn suggest(nearest: &Option<String>, advice: &str) -> String {
    match nearest {
        Some(nearest) => format!("did you mean '{nearest}'? {advice}"),
        None => advice.to_owned(),
    }
}

fn list(names: &[String]) -> String {
    const MAX_NAMES: usize = 8;
    let mut text = names.iter().take(MAX_NAMES).map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    if names.len() > MAX_NAMES {
        text.push_str(&format!(" and {} more", names.len() - MAX_NAMES));
    }
    text
}
