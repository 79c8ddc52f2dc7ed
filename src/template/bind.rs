//! Where a template's columns are in a sheet: the header row, and the columns of each field.

use super::model::{ColumnName, FieldRule, HeaderRow, Source, Template, folded_header};
use crate::diagnostics::{nearest, nearest_of};
use crate::records::{RecordKind, item, order};
use crate::sheet::cell::column_index;
use crate::sheet::{Row, column_letters};

/// How far down the header is looked for.
pub const HEADER_WITHIN: usize = 100;

pub use crate::sheet::RESERVED_PREFIX;

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
    /// For each of the template's rules where its value comes from.
    pub columns: Vec<Columns>,
    /// What names the record that a row belongs to; empty where each row is a record.
    pub group: Vec<usize>,
    pub skip_column: Option<usize>,
    /// Where blank cells are filled from above, and the columns that must stay the same for it.
    pub fill_down: Vec<usize>,
    pub fill_within: Vec<usize>,
    /// How many of the header's columns are the sheet's own. A report's further ones are ours.
    pub width: usize,
    /// The sheet is one of our reports.
    pub is_report: bool,
    /// Text that looks like a formula has an apostrophe before it, as we write it in reports and exports.
    pub is_defused: bool,
    /// In one of our reports, where it says what became of each row. Without it, nothing is left out by what it says.
    pub status: Option<usize>,
    /// Columns that no field uses, from 0.
    pub unused: Vec<usize>,
    /// Columns that no field uses and that are called almost like one that a field looks for and does not find.
    pub drifted: Vec<Drift>,
    /// How many names of the template the header has: the measure by which a sheet is chosen.
    pub found: usize,
}

/// A rule's columns, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Columns {
    /// A constant, or an optional column that the sheet does not have.
    None,
    One(usize),
    /// In the order in which the rule names them; one that is optional and missing is nothing.
    Several(Vec<Option<usize>>),
}

impl Columns {
    /// The column that stands for the rule in messages.
    pub fn first(&self) -> Option<usize> {
        match self {
            Columns::None => None,
            Columns::One(index) => Some(*index),
            Columns::Several(indexes) => indexes.iter().flatten().next().copied(),
        }
    }

    pub fn contains(&self, wanted: usize) -> bool {
        match self {
            Columns::None => false,
            Columns::One(index) => *index == wanted,
            Columns::Several(indexes) => indexes.contains(&Some(wanted)),
        }
    }
}

/// A column that was probably renamed.
#[derive(Clone, Debug)]
pub struct Drift {
    pub field: &'static str,
    /// From 0.
    pub column: usize,
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

/// The place of the column of ours that is called `name`, without the prefix.
pub fn our_column(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|column| column.trim().strip_prefix(RESERVED_PREFIX) == Some(name))
}

/// The header of one of our reports, which has our columns wherever the header of the original sheet stood.
pub fn report_header(top: &[Row]) -> Option<Header> {
    let has = |row: &Row, name| row.cells().any(|cell| cell.shown().trim().strip_prefix(RESERVED_PREFIX) == Some(name));
    top.iter().find(|row| ["status", "row", "run"].iter().any(|name| has(row, name))).map(header_of)
}

/// Binds `template` to a sheet that begins with the rows `top`.
pub fn bind(template: &Template, top: &[Row]) -> Result<Layout, Missing> {
    let header = match template.sheet.header {
        _ if report_header(top).is_some() => report_header(top),
        HeaderRow::Number(number) => top.iter().find(|row| row.number == number).map(header_of),
        HeaderRow::Auto => best_header(template, top),
    };
    let Some(header) = header else {
        return Err(Missing { header: None, found: 0, columns: Vec::new() });
    };
    let names = &header.names;
    let folded = folded(names);
    let mut missing = Vec::new();
    let mut found = 0;
    let mut one = |wanted: &[ColumnName], field: &str, optional: bool| match find_column(wanted, names, &folded) {
        Ok(index) => {
            found += 1;
            Some(index)
        }
        Err(Reason::Absent { .. }) if optional => None,
        Err(reason) => {
            missing.push(MissingColumn { field: field.to_owned(), wanted: wanted.to_vec(), reason });
            None
        }
    };
    let columns: Vec<Columns> = template
        .rules()
        .map(|rule| {
            let mut each = |wanted: &ColumnName| one(std::slice::from_ref(wanted), rule.field.name, rule.optional);
            match &rule.source {
                Source::Constant(_) => Columns::None,
                Source::Joined { columns, .. } => Columns::Several(columns.iter().map(each).collect()),
                Source::Text { expression, .. } => {
                    let names = expression.columns().iter().cloned().map(ColumnName::Named);
                    Columns::Several(names.map(|name| each(&name)).collect())
                }
                Source::Column(wanted) => {
                    one(wanted, rule.field.name, rule.optional).map_or(Columns::None, Columns::One)
                }
            }
        })
        .collect();
    let skip_column = template.sheet.skip_where.as_ref().and_then(|skip| one(&skip.column, "skip_where", false));
    let (filled, within) =
        template.sheet.fill_down.as_ref().map_or((&[][..], &[][..]), |fill| (&fill.columns, &fill.within));
    let fill_down: Vec<usize> =
        filled.iter().filter_map(|wanted| one(std::slice::from_ref(wanted), "fill_down", true)).collect();
    let fill_within: Vec<usize> =
        within.iter().filter_map(|wanted| one(std::slice::from_ref(wanted), "fill_down", false)).collect();
    let by = template.group.as_ref().map_or(&[][..], |group| &group.by);
    let group: Vec<usize> = by.iter().filter_map(|wanted| one(wanted, "group", false)).collect();
    if !missing.is_empty() {
        return Err(Missing { header: Some(header), found, columns: missing });
    }
    let width = own_width(names);
    let used = |index: usize| {
        columns.iter().any(|columns| columns.contains(index))
            || skip_column == Some(index)
            || group.contains(&index)
            || fill_within.contains(&index)
    };
    let unused: Vec<usize> = (0..width).filter(|index| !used(*index) && !names[*index].trim().is_empty()).collect();
    let is_report = width < names.len();
    let status = our_column(names, "status");
    let drifted = drifted(template, &columns, names, &unused);
    Ok(Layout {
        columns,
        group,
        skip_column,
        fill_down,
        fill_within,
        width,
        is_report,
        is_defused: is_report || template.sheet.defused || is_export(template.record, names),
        status,
        unused,
        drifted,
        found,
        header,
    })
}

/// Whether a sheet is one of our exports of such records: its columns are those of their list, in its order, and then
/// what it has further.
pub fn is_export(record: RecordKind, names: &[String]) -> bool {
    let list = match record {
        RecordKind::Item => &item::LIST,
        RecordKind::Order => &order::LIST,
        _ => return false,
    };
    names.len() >= list.fields.len() && list.fields.iter().zip(names).all(|(field, name)| field.name == name)
}

/// Optional columns that are missing while one that no field uses is called almost like them.
fn drifted(template: &Template, columns: &[Columns], names: &[String], unused: &[usize]) -> Vec<Drift> {
    let absent = template.rules().zip(columns).filter(|(_, columns)| **columns == Columns::None);
    let drift = |(rule, _): (&FieldRule, &Columns)| {
        let Source::Column(wanted) = &rule.source else { return None };
        let likeness = wanted.iter().find_map(|wanted| {
            let ColumnName::Named(wanted) = wanted else { return None };
            let unused_names = unused.iter().filter_map(|index| names.get(*index)).map(String::as_str);
            let like = nearest(wanted, unused_names.filter(|name| is_as_long(name, wanted)))?;
            unused.iter().copied().find(|index| names[*index] == like)
        });
        Some(Drift { field: rule.field.name, column: likeness? })
    };
    absent.filter_map(drift).collect()
}

/// Whether two names are about as long. A name that only begins like another, as `Current Quantity` begins like
/// `Currency`, was hardly renamed from it.
fn is_as_long(left: &str, right: &str) -> bool {
    let (left, right) = (left.trim().chars().count(), right.trim().chars().count());
    2 * left.max(right) <= 3 * left.min(right)
}

/// The row in which the most of the template's names stand; of several the first.
fn best_header(template: &Template, top: &[Row]) -> Option<Header> {
    let named = |row: &Row| {
        let names = folded(&header_of(row).names);
        let has = |column: &ColumnName| has_name(column, &names);
        let found = template.rules().map(|rule| match &rule.source {
            Source::Column(wanted) => usize::from(wanted.iter().any(has)),
            Source::Joined { columns, .. } => columns.iter().filter(|column| has(column)).count(),
            Source::Text { expression, .. } => {
                expression.columns().iter().filter(|name| names.contains(&folded_header(name))).count()
            }
            Source::Constant(_) => 0,
        });
        let by = template.group.as_ref().map_or(&[][..], |group| &group.by);
        found.sum::<usize>() + by.iter().filter(|names| names.iter().any(has)).count()
    };
    let best = top.iter().rev().map(|row| (named(row), row)).max_by_key(|(found, _)| *found);
    let best = best.filter(|(found, _)| *found > 0).map(|(_, row)| row);
    best.or_else(|| top.iter().find(|row| !row.is_blank())).map(header_of)
}

fn header_of(row: &Row) -> Header {
    Header { row: row.number, names: row.cells().map(|cell| cell.shown().into_owned()).collect() }
}

/// A report's own columns stand together at the end.
fn own_width(names: &[String]) -> usize {
    names.iter().position(|name| name.starts_with(RESERVED_PREFIX)).unwrap_or(names.len())
}

fn folded(names: &[String]) -> Vec<String> {
    names.iter().map(|name| folded_header(name)).collect()
}

/// Whether a column is among names that are folded.
fn has_name(column: &ColumnName, names: &[String]) -> bool {
    match column {
        ColumnName::Named(wanted) => names.contains(&folded_header(wanted)),
        ColumnName::Number(_) => false,
    }
}

fn find_column(wanted: &[ColumnName], names: &[String], folded: &[String]) -> Result<usize, Reason> {
    for column in wanted {
        match column {
            ColumnName::Number(number) => return Ok(number - 1),
            ColumnName::Named(name) => {
                let name_folded = folded_header(name);
                let own = folded.iter().take(own_width(names)).enumerate();
                let there: Vec<usize> = own.filter(|(_, name)| **name == name_folded).map(|(index, _)| index).collect();
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
