//! Where a template's columns are in a sheet: the header row, and an index for each field.

use super::model::{ColumnName, HeaderRow, Source, Template};
use super::nearest::nearest_of;
use crate::sheet::cell::column_index;
use crate::sheet::{Row, column_letters};

/// How far down the header is looked for.
pub const HEADER_WITHIN: usize = 100;

pub use crate::sheet::OUR_PREFIX;

/// The row that names the columns.
#[derive(Clone, Debug)]
pub struct Header {
    /// As the spreadsheet program counts, from 1.
    pub row: u64,
    pub names: Vec<String>,
}

/// A template bound to a sheet.
#[derive(Clone, Debug)]
pub struct Layout {
    pub header: Header,
    /// For each of the template's fields the column, from 0; nothing for constants and absent optional columns.
    pub columns: Vec<Option<usize>>,
    pub skip_column: Option<usize>,
    /// How many of the header's columns are the sheet's own. A report's further ones are ours.
    pub width: usize,
    /// The sheet is one of our reports, in which text that looks like a formula has an apostrophe before it.
    pub is_report: bool,
    /// Columns that no field uses, from 0.
    pub unused: Vec<usize>,
    /// How many names of the template the header has: the measure by which a sheet is chosen.
    pub found: usize,
}

/// Columns that the template needs and the sheet does not have.
#[derive(Debug)]
pub struct Missing {
    pub header: Option<Header>,
    pub found: usize,
    pub columns: Vec<MissingColumn>,
}

#[derive(Debug)]
pub struct MissingColumn {
    /// The field that wanted it, or `skip_where`.
    pub field: String,
    pub wanted: Vec<ColumnName>,
    pub reason: Reason,
}

#[derive(Debug)]
pub enum Reason {
    Absent {
        nearest: Option<String>,
    },
    /// Several columns have that header; their letters.
    Twice {
        letters: Vec<String>,
    },
}

impl std::fmt::Display for MissingColumn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 5;
        let wanted: Vec<String> = self.wanted.iter().take(SHOWN).map(ToString::to_string).collect();
        write!(f, "{} wants the column {}", self.field, wanted.join(" or "))?;
        if self.wanted.len() > SHOWN {
            write!(f, " or one of {} more names", self.wanted.len() - SHOWN)?;
        }
        match &self.reason {
            Reason::Absent { nearest: Some(nearest) } => write!(f, " (the nearest is '{nearest}')"),
            Reason::Absent { nearest: None } => Ok(()),
            Reason::Twice { letters } => write!(f, ", which is there more than once ({})", letters.join(", ")),
        }
    }
}

/// Binds `template` to a sheet that begins with the rows `top`.
pub fn bind(template: &Template, top: &[Row]) -> Result<Layout, Missing> {
    let header = match template.sheet.header {
        HeaderRow::Number(number) => top.iter().find(|row| row.number == number).map(header_of),
        HeaderRow::Auto => best_header(template, top),
    };
    let Some(header) = header else {
        return Err(Missing { header: None, found: 0, columns: Vec::new() });
    };
    let mut missing = Vec::new();
    let mut columns = Vec::new();
    let mut found = 0;
    for rule in &template.fields {
        let Source::Column(wanted) = &rule.source else {
            columns.push(None);
            continue;
        };
        match find_column(wanted, &header.names) {
            Ok(index) => {
                found += 1;
                columns.push(Some(index));
            }
            Err(Reason::Absent { .. }) if rule.optional => columns.push(None),
            Err(reason) => {
                missing.push(MissingColumn { field: rule.field.name.to_owned(), wanted: wanted.clone(), reason });
                columns.push(None);
            }
        }
    }
    let skip_column = match &template.sheet.skip_where {
        None => None,
        Some(skip) => match find_column(std::slice::from_ref(&skip.column), &header.names) {
            Ok(index) => Some(index),
            Err(reason) => {
                missing.push(MissingColumn {
                    field: "skip_where".to_owned(),
                    wanted: vec![skip.column.clone()],
                    reason,
                });
                None
            }
        },
    };
    if !missing.is_empty() {
        return Err(Missing { header: Some(header), found, columns: missing });
    }
    let width = own_width(&header.names);
    let used = |index: &usize| columns.contains(&Some(*index)) || skip_column == Some(*index);
    let unused = (0..width).filter(|index| !used(index) && !header.names[*index].trim().is_empty()).collect();
    let is_report = width < header.names.len();
    Ok(Layout { header, columns, skip_column, width, is_report, unused, found })
}

/// The row in which the most of the template's names stand; of several the first.
fn best_header(template: &Template, top: &[Row]) -> Option<Header> {
    let named = |row: &Row| {
        let header = header_of(row);
        let sources = template.fields.iter().filter_map(|rule| match &rule.source {
            Source::Column(wanted) => Some(wanted),
            Source::Constant(_) => None,
        });
        sources.filter(|wanted| wanted.iter().any(|column| has_name(column, &header.names))).count()
    };
    let best = top.iter().rev().max_by_key(|row| named(row)).filter(|row| named(row) > 0);
    best.or_else(|| top.iter().find(|row| !row.is_blank())).map(header_of)
}

fn header_of(row: &Row) -> Header {
    Header { row: row.number, names: row.cells().map(|cell| cell.shown().into_owned()).collect() }
}

/// A report's own columns stand together at the end.
fn own_width(names: &[String]) -> usize {
    names.iter().position(|name| name.starts_with(OUR_PREFIX)).unwrap_or(names.len())
}

fn has_name(column: &ColumnName, names: &[String]) -> bool {
    match column {
        ColumnName::Named(wanted) => names.iter().any(|name| same(name, wanted)),
        ColumnName::Number(_) => false,
    }
}

/// Headers are compared without regard to case and to white space around and between words.
fn same(left: &str, right: &str) -> bool {
    let mut left = left.split_whitespace();
    let mut right = right.split_whitespace();
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == b || a.to_lowercase() == b.to_lowercase() => {}
            _ => return false,
        }
    }
}

fn find_column(wanted: &[ColumnName], names: &[String]) -> Result<usize, Reason> {
    for column in wanted {
        match column {
            ColumnName::Number(number) => return Ok(number - 1),
            ColumnName::Named(name) => {
                let there: Vec<usize> = (0..own_width(names)).filter(|index| same(&names[*index], name)).collect();
                match there.as_slice() {
                    [] => {
                        if let Some(index) = column_index(name).filter(|index| *index < names.len()) {
                            return Ok(index);
                        }
                    }
                    [index] => return Ok(*index),
                    several => {
                        return Err(Reason::Twice {
                            letters: several.iter().map(|index| column_letters(*index)).collect(),
                        });
                    }
                }
            }
        }
    }
    let words = wanted.iter().filter_map(|column| match column {
        ColumnName::Named(name) => Some(name.as_str()),
        ColumnName::Number(_) => None,
    });
    let nearest = nearest_of(words, names.iter().map(String::as_str)).map(str::to_owned);
    Err(Reason::Absent { nearest })
}
