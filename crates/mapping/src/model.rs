//! The checked form of a template.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use jiff::tz::TimeZone;
use regex::Regex;

pub use super::checks::{Checks, Constant};
pub use super::column_name::{ColumnName, LINE_NUMBER, folded_header, has_line_number, same_header};
use super::language::Expression;
pub use super::row_test::{Condition, RowTest, Tested};
use sheetport_findings::{Code, Only};
use sheetport_records::{Field, Input, JsonType, List, RecordKind, transaction};
use sheetport_sheet::{Cell, Options};
use sheetport_values::currency::Currency;
use sheetport_values::date::DateFormat;
use sheetport_values::decimal::Decimal;
use sheetport_values::locale::{Locale, Order};
use sheetport_values::normalize::folded_word;
use sheetport_values::number::Percent;

use super::missing::Missing;
use crate::lookup::{Lookup, LookupReader, MAX_ENTRIES};
pub use crate::source::{Defaulted, LookupFiles};
use crate::typed_value::Value;

/// A checked template.
#[derive(Debug)]
pub struct Template {
    /// The name of a built-in template, or the path of a file.
    pub name: String,
    /// The TOML for the copy of a run: with all base templates, and with the values of its parameters.
    pub source: String,
    /// What `source` has from the defaults of a profile. `None` if nothing.
    pub defaulted: Option<Defaulted>,
    /// The lookup tables in other files. Read and added by the caller of the loader.
    pub lookups: Option<LookupFiles>,
    /// The values of the parameters by name.
    pub parameters: BTreeMap<String, Value<'static>>,
    pub record: RecordKind,
    /// Whether its records are counted stocks, of which transactions for the differences become when the stocks are known.
    pub counts: bool,
    /// Whether inference guessed the kind of record, without confirmation so far.
    pub is_record_guess: bool,
    pub description: String,
    pub sheet: SheetRules,
    pub unpivot: Option<Unpivot>,
    pub group: Option<Group>,
    pub duplicates: Duplicates,
    /// Questions that the template answers with yes.
    pub accepts: Vec<Code>,
    /// The records to send; `None` for all.
    pub only: Option<Only>,
    /// Whether only fields are written that are blank in the service.
    pub fill_blank: bool,
    /// What is set in records of the service that a file lacks, by a plan.
    pub missing: Option<Missing>,
    /// The fields of the record, in the order of [`Input::mappable`].
    pub fields: Vec<FieldRule>,
    /// The fields of a line, in the order of the contract.
    pub lines: Vec<FieldRule>,
    /// Conditions for the fields of every record.
    pub record_rules: Vec<RecordRule>,
    pub examples: Vec<Example>,
}

impl Template {
    /// Returns what a record can have, and what identifies it in the sheet.
    pub fn input(&self) -> &'static Input {
        if self.counts { &transaction::COUNT } else { self.record.input() }
    }

    /// Returns the TOML without the defaults of a profile.
    pub fn own_source(&self) -> &str {
        self.defaulted.as_ref().map_or(&self.source, |defaulted| &defaulted.source)
    }

    /// Returns the rules of the record, then of the lines. A layout has the same order.
    pub fn rules(&self) -> impl Iterator<Item = &FieldRule> + Clone {
        self.fields.iter().chain(&self.lines)
    }

    /// Returns a rule by index in [`Template::rules`].
    pub fn rule(&self, index: usize) -> Option<&FieldRule> {
        self.fields.get(index).or_else(|| self.lines.get(index.checked_sub(self.fields.len())?))
    }

    /// Reads the lookup tables in other sheets of the workbook. `read` is called with the field, the name of the sheet, and the
    /// reader for its rows.
    pub fn read_sheet_lookups<E>(
        &mut self,
        mut read: impl FnMut(&str, &str, LookupReader) -> Result<Lookup, E>,
    ) -> Result<(), E> {
        for rule in self.fields.iter_mut().chain(&mut self.lines) {
            if let Some(Translate::Lookup(lookup)) = &mut rule.translate
                && let Some(sheet) = lookup.pending_sheet()
            {
                *lookup = read(rule.field.name, sheet, LookupReader::new(lookup.columns().clone(), MAX_ENTRIES))?;
            }
        }
        Ok(())
    }

    /// Returns the approximate size of the lookup tables in memory, in bytes.
    pub fn size_of_tables(&self) -> usize {
        let tables = self.rules().map(|rule| match &rule.translate {
            Some(Translate::Lookup(lookup)) => lookup.size(),
            _ => 0,
        });
        tables.sum()
    }

    /// Returns whether inference has guessed a part of the template.
    pub fn has_guesses(&self) -> bool {
        self.is_record_guess
            || self.rules().any(|rule| rule.is_guess)
            || self.group.as_ref().is_some_and(|group| group.is_guess)
    }

    /// Returns whether a field always has the same value.
    pub fn has_constants(&self) -> bool {
        self.rules().any(|rule| matches!(rule.source, Source::Constant(_)))
    }

    /// Sets an option of the call, overriding the template.
    pub fn set_option(&mut self, name: &str, value: bool) {
        let input = self.input();
        let Some(field) = input.options().find(|field| field.name == name) else { return };
        self.fields.retain(|rule| rule.field.name != name);
        self.fields.push(FieldRule::constant(field, Place::Option, Constant::Boolean(value)));
        let places = input.mappable().count();
        self.fields
            .sort_by_key(|rule| input.mappable().position(|field| field.name == rule.field.name).unwrap_or(places));
    }
}

/// Rules for finding the data in a file.
#[derive(Debug)]
pub struct SheetRules {
    pub select: SheetSelect,
    /// The name of the locale, unless every column decides.
    pub locale: Option<String>,
    /// The time zone of dates with a time of day, unless a field has its own.
    pub time_zone: Option<TimeZone>,
    /// The currency of amounts without one, in a sheet without a column of currencies.
    pub currency: Option<Currency>,
    pub header: HeaderRow,
    /// Columns in which a blank cell repeats the cell above.
    pub fill_down: Option<FillDown>,
    /// Rows to leave out: those for which one of the tests holds.
    pub skip_where: Vec<RowTest>,
    /// Rows to use, if not all.
    pub keep_where: Option<RowTest>,
    /// Columns that are not read on purpose, so that nothing is said about them.
    pub ignored: Vec<ColumnName>,
    /// Rows to send with a warning.
    pub warn_where: Vec<RowTest>,
    /// Settings for text files, overriding detection.
    pub text: Options,
    /// Whether an apostrophe before a formula-like text is removed.
    pub defused: bool,
}

impl SheetRules {
    /// Returns all tests of rows.
    pub(crate) fn row_tests(&self) -> impl Iterator<Item = &RowTest> {
        self.skip_where.iter().chain(&self.keep_where).chain(&self.warn_where)
    }
}

#[derive(Debug)]
pub enum SheetSelect {
    /// The first sheet with the template's columns.
    FirstThatFits,
    /// Every sheet with the template's columns, in order.
    All,
    Name(String),
    /// Position of the sheet, from 1.
    Index(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderRow {
    /// The row near the top with most of the template's columns.
    Auto,
    /// Row number as in a spreadsheet program, from 1.
    Number(u64),
    /// Several rows. Their cells are joined with a space.
    Rows(Vec<u64>),
    /// There is no header: the first row is data, and columns are named by letters or numbers.
    None,
}

/// A condition for the fields of each record, or of each line.
#[derive(Debug)]
pub struct RecordRule {
    pub condition: Condition,
    /// The rules of the fields, in the order of the expression's columns. Indexes count as in
    /// [`Template::rules`].
    pub fields: Vec<usize>,
    /// Whether the fields belong to a line.
    pub is_of_lines: bool,
    pub severity: Severity,
    /// Message about a record that breaks the rule.
    pub message: Option<String>,
}

/// Handling of records that break a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The record is rejected.
    Error,
    /// The record is sent, and the summary shows the rule.
    Warning,
}

/// Fills blank cells in `columns` from above, as long as the cells in `within` stay the same.
#[derive(Debug, PartialEq, Eq)]
pub struct FillDown {
    pub columns: Vec<ColumnName>,
    /// Each with alternative names.
    pub within: Vec<Vec<ColumnName>>,
}

/// Columns whose cells are separate records or lines, such as months and sizes.
#[derive(Debug)]
pub struct Unpivot {
    pub columns: UnpivotColumns,
    /// Whether the columns may be missing.
    pub optional: bool,
    /// Name of the cell's header for fields.
    pub header_as: String,
    /// Name of the cell for fields.
    pub value_as: String,
    pub skips_zero: bool,
    pub unit: Unit,
    /// Byte range in the template, for messages.
    pub span: Range<usize>,
}

#[derive(Debug)]
pub enum UnpivotColumns {
    /// Each with alternative names.
    Named(Vec<Vec<ColumnName>>),
    /// By the text of the header.
    Matching(Regex),
}

/// The meaning of a cell in an unpivoted row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Record,
    /// A line of the row's record.
    Line,
}

impl Unpivot {
    /// Returns whether a column stands for the header or the value of a cell.
    pub fn names(&self, column: &ColumnName) -> bool {
        let is = |name: &String| matches!(column, ColumnName::Named(column) if same_header(column, name));
        is(&self.header_as) || is(&self.value_as)
    }

    /// Returns whether a cell is left out.
    pub fn skips(&self, cell: &Cell<'_>) -> bool {
        let is_zero = || match cell {
            Cell::Number(number)
            | Cell::Percent(number)
            | Cell::Money(number, _)
            | Cell::Formatted(number, _)
            | Cell::Rounded(number, _) => *number == 0.0,
            Cell::Text(text) => text.contains('0') && text.trim().chars().all(|c| "0.,".contains(c)),
            _ => false,
        };
        cell.is_blank() || self.skips_zero && is_zero()
    }
}

/// Rules for building one record from several rows.
#[derive(Debug)]
pub struct Group {
    /// Columns with equal cells in all rows of a record, each with alternative names.
    pub by: Vec<Vec<ColumnName>>,
    pub rows: GroupRows,
    /// Whether a row with these columns blank belongs to the record above.
    pub blank_is_above: bool,
    /// Whether inference guessed the columns, without confirmation so far.
    pub is_guess: bool,
    /// Byte range in the template, for messages.
    pub span: Range<usize>,
}

impl Group {
    /// Returns a name for each column, independent of the alternative name used in a file.
    pub fn names(&self) -> Vec<String> {
        let name = |column: &ColumnName| match column {
            ColumnName::Named(name) => folded_header(name),
            ColumnName::Number(number) => format!("#{number}"),
        };
        self.by.iter().filter_map(|names| names.first().map(name)).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupRows {
    /// The rows of a record may be anywhere in the sheet.
    Anywhere,
    /// The rows of a record are adjacent. Further rows below other records are a problem.
    Together,
}

/// Handling of records with the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// Both are problems.
    Error,
    /// Only the first is sent.
    First,
    /// Only the last is sent.
    Last,
    /// All are sent, even equal rows without a key.
    Send,
}

/// The rule for a field of the record. Steps are applied in the order of the members.
#[derive(Debug)]
pub struct FieldRule {
    pub field: &'static Field,
    pub place: Place,
    /// Whether the value is an identifier, easily damaged by spreadsheet programs.
    pub is_name: bool,
    pub source: Source,
    /// Whether the names of the column are all usual ones, as in a built-in template for any sheet. Their order says nothing about a
    /// sheet with several of them.
    pub has_usual_names: bool,
    /// Whether the column may be missing. The field is then omitted from every record.
    pub optional: bool,
    pub trim: bool,
    /// The text of cells that clear the field (send null).
    pub clear: Option<String>,
    pub on_blank: OnBlank,
    pub replace: Vec<Replace>,
    pub split: Option<Split>,
    pub translate: Option<Translate>,
    pub otherwise: Otherwise,
    pub number: NumberRule,
    pub date: DateRule,
    pub checks: Checks,
    pub damaged: Damaged,
    /// The lists of the service in which the value is looked up. The id of the record is sent in its place.
    pub resolve: Vec<&'static List>,
    /// Whether inference guessed the rule, without confirmation so far.
    pub is_guess: bool,
    /// Byte range in the template, for messages.
    pub span: Range<usize>,
}

impl FieldRule {
    fn constant(field: &'static Field, place: Place, value: Constant) -> FieldRule {
        FieldRule {
            field,
            place,
            is_name: false,
            source: Source::Constant(value),
            has_usual_names: false,
            optional: false,
            trim: false,
            clear: None,
            on_blank: OnBlank::Omit,
            replace: Vec::new(),
            split: None,
            translate: None,
            otherwise: Otherwise::Error,
            number: NumberRule::default(),
            date: DateRule::default(),
            checks: Checks::default(),
            damaged: Damaged::Error,
            resolve: Vec::new(),
            is_guess: false,
            span: 0..0,
        }
    }

    /// Returns whether the lookup compares each of the field's columns with a column of the table.
    pub(crate) fn compares_several_columns(&self) -> bool {
        self.translate.as_ref().is_some_and(Translate::compares_several_columns)
    }

    /// Returns whether the field is for texts that are neither identifiers nor currencies.
    pub(crate) fn is_plain_text(&self) -> bool {
        matches!(self.field.json, JsonType::String | JsonType::Strings) && !self.field.is_currency() && !self.is_name
    }

    /// Returns whether the cell is changed as text before conversion.
    pub fn changes_text(&self) -> bool {
        self.clear.is_some() || !self.replace.is_empty() || self.split.is_some() || self.translate.is_some()
    }
}

impl FieldRule {
    /// Returns the possible values of the field's cells, in the words of the sheet. Returns `None` for an unlimited number
    /// of values, and for cells changed as text before conversion.
    pub fn listed_values(&self) -> Option<Box<dyn ExactSizeIterator<Item = &str> + '_>> {
        if !matches!(self.source, Source::Column(_)) || !self.replace.is_empty() || self.split.is_some() {
            return None;
        }
        match (&self.translate, self.field.json) {
            (Some(Translate::Map(map)), _) => Some(Box::new(map.entries.iter().map(|(from, _)| from.as_str()))),
            (Some(Translate::Lookup(lookup)), _) => Some(Box::new(lookup.keys())),
            (None, JsonType::Boolean) => Some(Box::new(["yes", "no"].into_iter())),
            (None, JsonType::String | JsonType::Strings) if !self.checks.allowed.is_empty() => {
                Some(Box::new(self.checks.allowed.iter().map(String::as_str)))
            }
            _ => None,
        }
    }

    /// Returns whether [`FieldRule::listed_values`] is complete. Yes and no are also understood in other languages.
    pub fn listed_values_are_all(&self) -> bool {
        match &self.translate {
            Some(_) => self.otherwise == Otherwise::Error,
            None => self.field.json != JsonType::Boolean,
        }
    }
}

impl FieldRule {
    /// Whether the field has a column for each of several lines in a row.
    pub(crate) fn is_numbered(&self) -> bool {
        self.place == Place::Line && self.source.columns().iter().any(|names| has_line_number(names))
    }
}

/// The destination of a value in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The path.
    Id,
    Record,
    /// The body, beside the record.
    Option,
    /// Not sent: says what is done with the record.
    Command,
    Line,
}

#[derive(Debug)]
pub enum Source {
    /// Alternative names of a column.
    Column(Vec<ColumnName>),
    /// The columns joined by a separator, without blank cells. Each has alternative names.
    Joined {
        columns: Vec<Vec<ColumnName>>,
        with: String,
    },
    Text {
        expression: Box<Expression>,
        /// The expression in the template.
        written: String,
    },
    Constant(Constant),
}

impl Source {
    /// Returns the columns in the order of the source, each with alternative names.
    pub fn columns(&self) -> Vec<Vec<ColumnName>> {
        match self {
            Source::Column(names) => vec![names.clone()],
            Source::Joined { columns, .. } => columns.clone(),
            Source::Text { expression, .. } => {
                expression.columns().iter().map(|name| vec![ColumnName::Named(name.clone())]).collect()
            }
            Source::Constant(_) => Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnBlank {
    /// Omits the field from the request, so the service keeps the old value.
    Omit,
    /// Sends null, so the service clears the field.
    Null,
    /// Reports a problem.
    Error,
    Default(Constant),
}

/// Replaces every match of a pattern. `$1` is the first group.
#[derive(Debug)]
pub struct Replace {
    pub pattern: Regex,
    pub with: String,
}

/// Takes one part of a text between separators.
#[derive(Debug)]
pub struct Split {
    pub at: String,
    /// Position from 1, or from -1 at the end. Never 0.
    pub take: i64,
}

/// Translates values of the sheet to values of the service.
#[derive(Debug)]
pub enum Translate {
    Map(ValueMap),
    Lookup(Lookup),
}

impl Translate {
    /// Returns whether this is a lookup that compares several columns.
    pub(super) fn compares_several_columns(&self) -> bool {
        matches!(self, Translate::Lookup(lookup) if lookup.columns().from.len() > 1)
    }
}

/// Handling of a value that is missing in a map or lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// Reports a problem.
    Error,
    /// Sends the value unchanged.
    Keep,
    Value(Constant),
}

/// A map in the template: exact keys first, then keys in any case and width.
#[derive(Debug, Default)]
pub struct ValueMap {
    pub entries: Vec<(String, Constant)>,
    exact: HashMap<String, usize>,
    folded: HashMap<String, usize>,
}

impl ValueMap {
    pub fn new(entries: Vec<(String, Constant)>) -> ValueMap {
        let mut map = ValueMap::default();
        for (index, (from, _)) in entries.iter().enumerate() {
            map.exact.entry(from.clone()).or_insert(index);
            map.folded.entry(folded_word(from)).or_insert(index);
        }
        ValueMap { entries, ..map }
    }

    pub fn get(&self, wanted: &str) -> Option<&Constant> {
        let index = self.exact.get(wanted).or_else(|| self.folded.get(&folded_word(wanted)))?;
        self.entries.get(*index).map(|(_, to)| to)
    }

    /// Returns the keys in the order of the template.
    pub fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries.iter().map(|(from, _)| from.as_str())
    }
}

/// Parsing and scaling of numbers.
#[derive(Debug, Default)]
pub struct NumberRule {
    /// `None` if the column decides.
    pub locale: Option<Locale>,
    pub percent: Option<Percent>,
    pub scale: Option<Decimal>,
    pub round: Option<u32>,
}

/// Parsing of dates.
#[derive(Debug, Default)]
pub struct DateRule {
    /// Formats to try in order. If empty, the format is detected from the whole column.
    pub formats: Vec<DateFormat>,
    /// The order of day and month in the locale.
    pub order: Option<Order>,
    pub time_zone: Option<TimeZone>,
}

/// Handling of identifiers apparently damaged by a spreadsheet program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    Error,
    Accept,
}

/// Rows, and the expected record.
#[derive(Debug)]
pub struct Example {
    pub rows: Vec<Vec<(String, ExampleCell)>>,
    /// The record, including id, lines, and options of the call side by side. Several if the cells of a row are records.
    pub sends: Vec<serde_json::Map<String, serde_json::Value>>,
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExampleCell {
    Text(String),
    Number(f64),
    Boolean(bool),
}
