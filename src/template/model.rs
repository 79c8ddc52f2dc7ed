//! A template as the rest of the program uses it: every name resolved, every rule checked.

use std::ops::Range;

use regex::Regex;

use super::locale::Locale;
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
    /// In the contract's order, which is the order of the fields in a request's body.
    pub fields: Vec<FieldRule>,
    pub examples: Vec<Example>,
}

/// Which rows of which sheet are data.
#[derive(Debug)]
pub struct SheetRules {
    pub select: SheetSelect,
    pub header: HeaderRow,
    pub skip_where: Option<SkipRule>,
    /// How a text file is to be read, where it should not be found out.
    pub text: Options,
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
    pub column: ColumnName,
    pub matches: Regex,
}

/// How one field of the record gets its value.
#[derive(Debug)]
pub struct FieldRule {
    pub field: &'static Field,
    pub source: Source,
    /// A column that may be missing from the sheet; the field is then left out of every record.
    pub optional: bool,
    pub trim: bool,
    /// Value in the sheet to value in the service, in the template's order.
    pub map: Vec<(String, Constant)>,
    pub on_blank: OnBlank,
    pub round: Option<u32>,
    pub locale: Option<Locale>,
    pub percent: Option<Percent>,
    pub pattern: Option<Regex>,
    pub damaged: Damaged,
    /// Where the field stands in the template, for messages.
    pub span: Range<usize>,
}

#[derive(Debug)]
pub enum Source {
    /// The first of these that the header has.
    Column(Vec<ColumnName>),
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

impl std::fmt::Display for ColumnName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ColumnName::Named(name) => write!(f, "'{name}'"),
            ColumnName::Number(number) => write!(f, "number {number}"),
        }
    }
}

/// A value that a template states itself, already of the field's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    Text(String),
    /// Digits as a JSON number has them.
    Number(String),
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

/// What a percent sign means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Percent {
    /// `19%` is sent as 19.
    Whole,
    /// `19%` is sent as 0.19.
    Fraction,
}

/// What to do with an identifier that looks as if a spreadsheet program had damaged it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    Error,
    Accept,
}

/// A row and the body that it must become.
#[derive(Debug)]
pub struct Example {
    pub row: Vec<(String, ExampleCell)>,
    pub sends: serde_json::Map<String, serde_json::Value>,
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExampleCell {
    Text(String),
    Number(f64),
    Boolean(bool),
}
