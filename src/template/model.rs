//! A template as the rest of the program uses it: every name resolved, every rule checked.

use std::collections::HashMap;
use std::ops::Range;

use jiff::tz::TimeZone;
use regex::Regex;
use rust_decimal::Decimal;

use super::date::{Format, Order};
use super::expression::Expression;
use super::locale::Locale;
use super::lookup::Lookup;
use crate::records::{Field, RecordKind};
use crate::sheet::Options;

/// A checked template. Made by [`super::load::load`].
#[derive(Debug)]
pub struct Template {
    /// A built-in template's name, or the path that was given.
    pub name: String,
    /// The TOML that it was loaded from, kept so that messages can show the line and a run can keep a copy.
    pub source: String,
    pub record: RecordKind,
    pub description: String,
    pub sheet: SheetRules,
    pub group: Option<Group>,
    pub duplicates: Duplicates,
    /// What is said once a record, in the order of [`crate::records::Input::mappable`].
    pub fields: Vec<FieldRule>,
    /// What is said once a line, in the contract's order.
    pub lines: Vec<FieldRule>,
    pub examples: Vec<Example>,
}

impl Template {
    /// The rules of the record, then those of its lines: the order of [`super::bind::Layout::columns`].
    pub fn rules(&self) -> impl Iterator<Item = &FieldRule> + Clone {
        self.fields.iter().chain(&self.lines)
    }

    pub fn rule(&self, index: usize) -> Option<&FieldRule> {
        self.fields.get(index).or_else(|| self.lines.get(index.checked_sub(self.fields.len())?))
    }

    /// Sets an option of the call, whatever the template says of it.
    pub fn set_option(&mut self, name: &str, value: bool) {
        let input = self.record.input();
        let Some(field) = input.options().find(|field| field.name == name) else { return };
        self.fields.retain(|rule| rule.field.name != name);
        self.fields.push(FieldRule::constant(field, Place::Option, Constant::Boolean(value)));
        self.fields.sort_by_key(|rule| input.mappable().position(|field| field.name == rule.field.name));
    }
}

/// Which rows of which sheet are data.
#[derive(Debug)]
pub struct SheetRules {
    pub select: SheetSelect,
    pub header: HeaderRow,
    /// Columns in which a blank cell means what the cell above means.
    pub fill_down: Option<FillDown>,
    pub skip_where: Option<SkipRule>,
    /// How a text file is to be read, where it should not be found out.
    pub text: Options,
    /// Text that a spreadsheet would run as a formula has an apostrophe before it, which is not sent.
    pub defused: bool,
}

#[derive(Debug)]
pub enum SheetSelect {
    /// The first sheet that has the template's columns.
    FirstThatFits,
    /// Every sheet that has the template's columns, one after the other.
    All,
    Name(String),
    /// From 1, as people count.
    Index(usize),
}

#[derive(Clone, Copy, Debug)]
pub enum HeaderRow {
    /// The row near the top in which the most of the template's columns are found.
    Auto,
    /// As the spreadsheet program counts, from 1.
    Number(u64),
}

/// Rows whose cell matches are left out on purpose.
#[derive(Debug)]
pub struct SkipRule {
    /// The first of these that the header has.
    pub column: Vec<ColumnName>,
    pub matches: Regex,
}

/// Blank cells in `columns` are filled from above, as long as the cells in `within` stay the same.
#[derive(Debug)]
pub struct FillDown {
    pub columns: Vec<ColumnName>,
    pub within: Vec<ColumnName>,
}

/// Which rows make one record.
#[derive(Debug)]
pub struct Group {
    /// Rows that agree in all of these. Of each the first name that the header has counts.
    pub by: Vec<Vec<ColumnName>>,
    pub rows: GroupRows,
    /// A row in which all of them are blank belongs to the record of the row above it.
    pub blank_is_above: bool,
    /// Where the group stands in the template, for messages.
    pub span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupRows {
    /// The rows of a record may stand anywhere in the sheet.
    Anywhere,
    /// They stand one after the other; a record that comes again further down is a mistake of the sheet.
    Together,
}

/// What to do with two records that have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// None of them is sent: which is right is not for a program to say.
    Error,
    /// The first is sent, the others are left out.
    First,
    /// The last is sent, the others are left out.
    Last,
}

/// How one field of the record gets its value. The steps are taken in the order of the members here.
#[derive(Debug)]
pub struct FieldRule {
    pub field: &'static Field,
    pub place: Place,
    /// The value identifies something, so that what a spreadsheet program does to numbers damages it.
    pub is_name: bool,
    pub source: Source,
    /// A column that may be missing from the sheet; the field is then left out of every record.
    pub optional: bool,
    pub trim: bool,
    /// A cell that holds this clears the field: it is sent as null.
    pub clear: Option<String>,
    pub on_blank: OnBlank,
    pub replace: Vec<Replace>,
    pub split: Option<Split>,
    pub translate: Option<Translate>,
    pub number: NumberRule,
    pub date: DateRule,
    pub checks: Checks,
    pub damaged: Damaged,
    /// Where the field stands in the template, for messages.
    pub span: Range<usize>,
}

impl FieldRule {
    fn constant(field: &'static Field, place: Place, value: Constant) -> FieldRule {
        FieldRule {
            field,
            place,
            is_name: false,
            source: Source::Constant(value),
            optional: false,
            trim: false,
            clear: None,
            on_blank: OnBlank::Omit,
            replace: Vec::new(),
            split: None,
            translate: None,
            number: NumberRule::default(),
            date: DateRule::default(),
            checks: Checks::default(),
            damaged: Damaged::Error,
            span: 0..0,
        }
    }

    /// Whether the cell is changed as text before it is converted.
    pub fn changes_text(&self) -> bool {
        self.clear.is_some() || !self.replace.is_empty() || self.split.is_some() || self.translate.is_some()
    }
}

/// Where in a request a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The call's path.
    Id,
    Record,
    /// Beside the record in the body.
    Option,
    Line,
}

#[derive(Debug)]
pub enum Source {
    /// The first of these that the header has.
    Column(Vec<ColumnName>),
    /// What these columns hold, blank ones left out, with a text between.
    Joined {
        columns: Vec<ColumnName>,
        with: String,
    },
    Text {
        expression: Box<Expression>,
        /// As the template writes it.
        written: String,
    },
    Constant(Constant),
}

/// How a template names a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnName {
    /// The header's text, or the letters that the spreadsheet program shows when no header has that text.
    Named(String),
    /// From 1, as people count.
    Number(usize),
}

impl ColumnName {
    /// Whether both are the same column of any sheet: headers are compared without regard to case and white space.
    pub fn is_same(&self, other: &ColumnName) -> bool {
        match (self, other) {
            (ColumnName::Named(left), ColumnName::Named(right)) => same_header(left, right),
            (left, right) => left == right,
        }
    }
}

impl std::fmt::Display for ColumnName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ColumnName::Named(name) => write!(f, "'{name}'"),
            ColumnName::Number(number) => write!(f, "number {number}"),
        }
    }
}

/// Headers are compared without regard to case and to white space around and between words.
pub fn same_header(left: &str, right: &str) -> bool {
    folded_header(left) == folded_header(right)
}

/// A header as it is compared: what is asked of many names is folded once, since a cell may be megabytes long.
pub fn folded_header(name: &str) -> String {
    let mut folded = String::new();
    for word in name.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(&word.to_lowercase());
    }
    folded
}

/// A value that a template states itself, already of the field's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    Text(String),
    /// Digits as a JSON number has them.
    Number(String),
    Boolean(bool),
    Null,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnBlank {
    /// The field is left out of the request: the service keeps what it has.
    Omit,
    /// The field is sent as null: the service clears it.
    Null,
    /// A blank cell is a problem.
    Error,
    Default(Constant),
}

/// Every match of a pattern is replaced; `$1` is what its first parentheses matched.
#[derive(Debug)]
pub struct Replace {
    pub pattern: Regex,
    pub with: String,
}

/// One part of a text that a mark divides.
#[derive(Debug)]
pub struct Split {
    pub at: String,
    /// From 1; from -1 at the end. Never 0.
    pub take: i64,
}

/// A value in the sheet to a value in the service.
#[derive(Debug)]
pub enum Translate {
    Map(ValueMap),
    Lookup(Lookup),
}

/// The values that a template lists, found to the letter first and then without regard to case.
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
            map.folded.entry(from.to_lowercase()).or_insert(index);
        }
        ValueMap { entries, ..map }
    }

    pub fn get(&self, wanted: &str) -> Option<&Constant> {
        let index = self.exact.get(wanted).or_else(|| self.folded.get(&wanted.to_lowercase()))?;
        self.entries.get(*index).map(|(_, to)| to)
    }

    pub fn known(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries.iter().map(|(from, _)| from.as_str())
    }
}

/// How numbers are written and what is done with them.
#[derive(Debug, Default)]
pub struct NumberRule {
    pub locale: Option<Locale>,
    pub percent: Option<Percent>,
    pub scale: Option<Decimal>,
    pub round: Option<u32>,
}

/// What a percent sign means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Percent {
    /// `19%` is sent as 19.
    Whole,
    /// `19%` is sent as 0.19.
    Fraction,
}

/// How dates are written.
#[derive(Debug, Default)]
pub struct DateRule {
    /// Tried in their order; none: found out from the whole column.
    pub formats: Vec<Format>,
    /// What the locale says of the order of day and month, where it says it.
    pub order: Option<Order>,
    pub time_zone: Option<TimeZone>,
}

/// What a value must be like once it is converted.
#[derive(Debug, Default)]
pub struct Checks {
    pub allowed: Vec<String>,
    pub pattern: Option<Regex>,
    /// Digits.
    pub minimum: Option<String>,
    pub maximum: Option<String>,
}

/// What to do with an identifier that looks as if a spreadsheet program had damaged it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    Error,
    Accept,
}

/// Rows and what they must become.
#[derive(Debug)]
pub struct Example {
    pub rows: Vec<Vec<(String, ExampleCell)>>,
    /// The record: what the request says of it, its id, its lines and the options of the call side by side.
    pub sends: serde_json::Map<String, serde_json::Value>,
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExampleCell {
    Text(String),
    Number(f64),
    Boolean(bool),
}
