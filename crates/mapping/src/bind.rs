//! Binds a template to a sheet: finds the header row, and the column of each field.

use std::collections::{HashMap, HashSet};

use sheetport_documents::nearest;
use sheetport_records::{Exported, RecordKind};
use sheetport_sheet::cell::column_index;
use sheetport_sheet::read::header::without_mark;
use sheetport_sheet::{Cell, Row, column_letters, write};

use super::columns::{Finder, own_width};
use super::facts::Facts;
use super::header_names::{Spelling, loose};
use super::model::{
    ColumnName, FieldRule, HeaderRow, LINE_NUMBER, Place, RowTest, Source, Template, Unit, UnpivotColumns,
    has_line_number,
};
use super::rivals::{self, Rival};

/// Maximum number of lines in a row.
const MAX_LINES: usize = 200;

pub use super::columns::{Columns, MissingColumn, Reason, own_column};
pub use sheetport_sheet::RESERVED_PREFIX;
pub use sheetport_sheet::read::HEADER_SEARCH_ROWS;

/// The header row of a sheet.
#[derive(Clone, Debug)]
pub struct Header {
    /// Number of the header's last row as in the spreadsheet program, counted from 1; 0 for a sheet without a header.
    pub row: u64,
    pub names: Vec<String>,
}

/// The columns of a test of rows in the order of the test; `None` for missing optional columns.
pub type TestColumns = Vec<Option<usize>>;

/// A template bound to a sheet. Columns are counted from 0.
#[derive(Clone, Debug)]
pub struct Layout {
    pub header: Header,
    /// The columns of each rule, in the order of [`Template::rules`].
    pub columns: Vec<Columns>,
    /// The lines of a row in numbered columns. Empty if rows have at most one line.
    pub numbered_lines: Vec<NumberedLine>,
    /// The cells of a row that are separate records. Empty if each row is at most one record.
    pub cells: Vec<RecordCell>,
    /// Columns identifying the record of a row; empty if each row is a record.
    pub group: Vec<usize>,
    /// The columns of each test of `skip_where`.
    pub skip: Vec<TestColumns>,
    /// The columns of `keep_where`, if the template has it.
    pub keep: Vec<TestColumns>,
    /// The columns of each test of `warn_where`.
    pub warn: Vec<TestColumns>,
    /// Columns to fill from above.
    pub fill_down: Vec<usize>,
    /// Columns with the same values in all rows of a fill.
    pub fill_within: Vec<usize>,
    /// Number of columns, without the columns added by a report.
    pub width: usize,
    /// Whether the sheet is a report of an earlier run.
    pub is_report: bool,
    /// Whether texts like formulas have an apostrophe in front, as in reports and exports.
    pub is_defused: bool,
    /// The report's column with the status of each row.
    pub status: Option<usize>,
    /// Columns without a field.
    pub unused: Vec<usize>,
    /// Columns without a field and without a name.
    pub nameless: Vec<usize>,
    /// Unused columns with a usual name for a field that is read from another column.
    pub rivals: Vec<Rival>,
    /// Unused columns with almost the name of a missing column.
    pub drifted: Vec<Drift>,
    /// Facts about the file and the sheet for expressions.
    pub facts: Facts,
    /// Number of columns found, for choosing among sheets.
    pub found: usize,
}

/// A line in numbered columns.
#[derive(Clone, Debug)]
pub struct NumberedLine {
    /// In the order of the template's lines.
    pub columns: Vec<Columns>,
    /// The columns with the number of this line. If all are blank, the row does not have the line.
    pub own: Vec<usize>,
}

/// A cell of a row that is a separate record.
#[derive(Clone, Debug)]
pub struct RecordCell {
    pub column: usize,
    /// The columns of each rule, in the order of [`Template::rules`].
    pub columns: Vec<Columns>,
}

impl Layout {
    /// Whether the sheet is a list of the service that we have exported.
    pub fn is_export(&self) -> bool {
        self.is_defused && !self.is_report
    }

    /// Returns a layout for each cell that is a separate record.
    pub fn of_each_cell(&self) -> Vec<Layout> {
        let of_cell = |cell: &RecordCell| Layout { columns: cell.columns.clone(), cells: Vec::new(), ..self.clone() };
        self.cells.iter().map(of_cell).collect()
    }

    /// Returns the columns of all tests of rows.
    pub fn tested(&self) -> impl Iterator<Item = usize> {
        self.skip.iter().chain(&self.keep).chain(&self.warn).flatten().flatten().copied()
    }

    /// Returns the columns of a rule in all lines and records of a row. `rule` counts as in [`Template::rules`].
    pub fn columns_of(&self, rule: usize) -> Vec<usize> {
        let in_line = |line: &NumberedLine| {
            let first = self.columns.len() - line.columns.len();
            rule.checked_sub(first).map_or_else(Vec::new, |nth| line.columns[nth].iter().collect())
        };
        let mut all: Vec<usize> = self.columns[rule].iter().collect();
        all.extend(self.numbered_lines.iter().flat_map(in_line));
        all.extend(self.cells.iter().flat_map(|cell| cell.columns[rule].iter()));
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A column with probably a new name.
#[derive(Clone, Debug)]
pub struct Drift {
    pub field: &'static str,
    /// Counted from 0.
    pub column: usize,
    pub place: Place,
    /// The name of the column in the template, if that of the sheet is one letter off: a person must say whether it is the column.
    pub misspelt: Option<String>,
}

/// The columns missing from a sheet.
#[derive(Debug)]
pub struct Missing {
    pub header: Option<Header>,
    pub found: usize,
    pub columns: Vec<MissingColumn>,
}

impl Missing {
    /// Describes each missing column, with the header that is most like it.
    pub fn described(&self) -> impl Iterator<Item = String> {
        let names = self.header.as_ref().map_or(&[][..], |header| &header.names);
        self.columns.iter().map(|column| {
            let nearest = column.nearest(names).map(|nearest| format!(" (the nearest is '{nearest}')"));
            column.to_string() + nearest.as_deref().unwrap_or_default()
        })
    }
}

/// Returns the index of the report's own column `name`, without the prefix.
pub fn report_column(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|column| column.trim().strip_prefix(RESERVED_PREFIX) == Some(name))
}

/// Returns the header row of a report of an earlier run.
pub fn report_header(top: &[Row]) -> Option<Header> {
    let has = |row: &Row, name| row.cells().any(|cell| cell.shown().trim().strip_prefix(RESERVED_PREFIX) == Some(name));
    let row = top.iter().find(|row| ["status", "row", "run"].iter().any(|name| has(row, name)))?;
    let mut header = header_of(row);
    header.names.iter_mut().for_each(|name| *name = write::restore(name).into_owned());
    Some(header)
}

/// Binds a template to a sheet that begins with the rows `top`. Fails if the sheet lacks a required column.
pub fn bind(template: &Template, top: &[Row]) -> Result<Layout, Missing> {
    let header = match &template.sheet.header {
        _ if report_header(top).is_some() => report_header(top),
        HeaderRow::Number(number) => top.iter().find(|row| row.number == *number).map(header_of),
        HeaderRow::Rows(rows) => joined_header(rows, top),
        HeaderRow::None => Some(lettered_header(top)),
        HeaderRow::Auto if has_letters_alone(template) && begins_with_a_record(top) => Some(lettered_header(top)),
        HeaderRow::Auto => best_header(template, top),
    };
    match header {
        Some(header) => {
            let layout = bind_header(template, header)?;
            let names = (layout.header.row, layout.header.names.as_slice());
            // A report has the rows that were rejected for this reason.
            if !layout.is_report
                && let Some(conflict) = rivals::conflict(template, &layout.rivals, names, top)
            {
                return Err(Missing { found: layout.found, header: Some(layout.header), columns: vec![conflict] });
            }
            Ok(Layout { facts: Facts::of_cells(template, top), ..layout })
        }
        None => Err(Missing { header: None, found: 0, columns: Vec::new() }),
    }
}

/// Binds a template to a header. Fails if the header lacks a required column.
pub(super) fn bind_header(template: &Template, header: Header) -> Result<Layout, Missing> {
    let mut finder = Finder::new(template, &header.names);
    let unpivoted = template.unpivot.as_ref().map_or_else(Vec::new, |unpivot| finder.unpivoted(unpivot));
    let at = |column: usize| template.unpivot.as_ref().map(|unpivot| (unpivot, column));
    finder.cell = unpivoted.first().and_then(|column| at(*column));
    let columns: Vec<Columns> = template.rules().map(|rule| finder.rule(rule, 1)).collect();
    let (mut cells, mut numbered_lines) = (Vec::new(), numbered_lines(template, &mut finder));
    let found_once = finder.found;
    for column in unpivoted.iter().copied().filter(|_| finder.missing.is_empty()).collect::<Vec<_>>() {
        finder.cell = at(column);
        match template.unpivot.as_ref().map(|unpivot| unpivot.unit) {
            Some(Unit::Record) => {
                let columns = template.rules().map(|rule| finder.rule(rule, 1)).collect();
                cells.push(RecordCell { column, columns });
            }
            Some(Unit::Line) => {
                let columns = template.lines.iter().map(|rule| finder.rule(rule, 1)).collect();
                numbered_lines.push(NumberedLine { columns, own: vec![column] });
            }
            None => {}
        }
    }
    (finder.cell, finder.found) = (None, found_once);
    let mut one = |wanted: &[ColumnName], key: &str, optional: bool| finder.one(wanted, key, optional);
    let mut tested = |tests: &[RowTest], key: &str| -> Vec<TestColumns> {
        tests.iter().map(|test| test.columns().iter().map(|column| one(column, key, test.optional)).collect()).collect()
    };
    let skip = tested(&template.sheet.skip_where, "skip_where");
    let keep = tested(template.sheet.keep_where.as_slice(), "keep_where");
    let warn = tested(&template.sheet.warn_where, "warn_where");
    let (filled, within) =
        template.sheet.fill_down.as_ref().map_or((&[][..], &[][..]), |fill| (&fill.columns, &fill.within));
    let fill_down: Vec<usize> =
        filled.iter().filter_map(|wanted| one(std::slice::from_ref(wanted), "fill_down", true)).collect();
    let ignored: Vec<usize> =
        template.sheet.ignored.iter().filter_map(|wanted| one(std::slice::from_ref(wanted), "ignored", true)).collect();
    let fill_within: Vec<usize> = within.iter().filter_map(|wanted| one(wanted, "fill_down", false)).collect();
    let by = template.group.as_ref().map_or(&[][..], |group| &group.by);
    let group: Vec<usize> = by.iter().filter_map(|wanted| one(wanted, "group", false)).collect();
    let (found, missing) = (finder.found, finder.missing);
    if !missing.is_empty() {
        return Err(Missing { header: Some(header), found, columns: missing });
    }
    let names = &header.names;
    let width = own_width(names);
    let unread = |index: usize| !columns.iter().any(|columns| columns.contains(index));
    let others = (0..width).filter(|index| unread(*index) && !names[*index].trim().is_empty()).count();
    let absent = if others > 0 { beside_the_key(template, &columns) } else { Vec::new() };
    if !absent.is_empty() {
        return Err(Missing { header: Some(header), found, columns: absent });
    }
    let used = |index: usize| {
        columns.iter().any(|columns| columns.contains(index))
            || unpivoted.contains(&index)
            || numbered_lines.iter().flat_map(|line| &line.columns).any(|columns| columns.contains(index))
            || skip.iter().chain(&keep).chain(&warn).flatten().any(|tested| *tested == Some(index))
            || group.contains(&index)
            || fill_within.contains(&index)
            || ignored.contains(&index)
    };
    let (nameless, unused): (Vec<usize>, Vec<usize>) =
        (0..width).filter(|index| !used(*index)).partition(|index| names[*index].trim().is_empty());
    let is_report = width < names.len();
    let status = report_column(names, "status");
    let drifted = drifted(template, &columns, names, &unused);
    let is_defused = is_report || template.sheet.defused || is_export(template.record, names);
    let rivals = if is_defused && !is_report { Vec::new() } else { rivals::find(template, &columns, names, &unused) };
    Ok(Layout {
        columns,
        numbered_lines,
        cells,
        group,
        skip,
        keep,
        warn,
        fill_down,
        fill_within,
        width,
        is_report,
        is_defused,
        status,
        unused,
        nameless,
        rivals,
        drifted,
        facts: Facts::default(),
        found,
        header,
    })
}

/// Finds the lines of a row in numbered columns. The header need not have all numbers.
fn numbered_lines(template: &Template, finder: &mut Finder<'_>) -> Vec<NumberedLine> {
    if !template.lines.iter().any(FieldRule::is_numbered) {
        return Vec::new();
    }
    let line = |number: usize| {
        let columns: Vec<Columns> = template.lines.iter().map(|rule| finder.rule(rule, number)).collect();
        let own = template.lines.iter().zip(&columns).flat_map(|(rule, columns)| {
            let of_source = match columns {
                Columns::None => Vec::new(),
                Columns::One(column) => vec![Some(*column)],
                Columns::Several(columns) => columns.clone(),
            };
            let with_names = rule.source.columns().into_iter().zip(of_source);
            with_names.filter(|(names, _)| has_line_number(names)).filter_map(|(_, column)| column).collect::<Vec<_>>()
        });
        let own: Vec<usize> = own.collect();
        NumberedLine { columns, own }
    };
    (1..=MAX_LINES).map(line).filter(|line| !line.own.is_empty()).collect()
}

/// Returns the optional columns of a template if the sheet has none of them, and the records would only have their key and
/// constants.
fn beside_the_key(template: &Template, columns: &[Columns]) -> Vec<MissingColumn> {
    let key = template.input().key;
    let is_key = |rule: &FieldRule| rule.place == Place::Id || key.contains(&rule.field.name);
    let others = || template.rules().zip(columns).filter(|(rule, _)| !is_key(rule));
    if others().any(|(_, columns)| *columns != Columns::None) {
        return Vec::new();
    }
    let absent = others().filter_map(|(rule, _)| match &rule.source {
        Source::Column(wanted) => {
            Some(MissingColumn { field: rule.field.name.to_owned(), wanted: wanted.clone(), reason: Reason::Absent })
        }
        _ => None,
    });
    absent.collect()
}

/// Whether a header is from an export of these records: the fields of the list in order, then any others.
pub fn is_export(record: RecordKind, names: &[String]) -> bool {
    Exported::with_header(names).is_some_and(|exported| exported.record == Some(record))
}

/// Finds unused columns with almost the name of a missing optional column.
fn drifted(template: &Template, columns: &[Columns], names: &[String], unused: &[usize]) -> Vec<Drift> {
    let absent = template.rules().zip(columns).filter(|(_, columns)| **columns == Columns::None);
    let spellings: Vec<(usize, Spelling)> =
        unused.iter().filter_map(|column| Some((*column, Spelling::new(names.get(*column)?)))).collect();
    let drift = |(rule, _): (&FieldRule, &Columns)| {
        let Source::Column(wanted) = &rule.source else { return None };
        let drift = |column, misspelt| Some(Drift { field: rule.field.name, place: rule.place, column, misspelt });
        let mut meant = wanted.iter().filter_map(ColumnName::name).map(|name| (name, Spelling::new(name)));
        let misspelt = meant.find_map(|(name, spelling)| {
            let (column, _) = spellings.iter().find(|(_, other)| spelling.is_off_by_one_letter(other))?;
            Some((*column, name.to_owned()))
        });
        if let Some((column, name)) = misspelt {
            return drift(column, Some(name));
        }
        let likeness = wanted.iter().find_map(|wanted| {
            let ColumnName::Named(wanted) = wanted else { return None };
            let unused_names = unused.iter().filter_map(|index| names.get(*index)).map(String::as_str);
            let like = nearest(wanted, unused_names.filter(|name| has_similar_length(name, wanted)))?;
            unused.iter().copied().find(|index| names[*index] == like)
        });
        drift(likeness?, None)
    };
    absent.filter_map(drift).collect()
}

/// Whether two names have a similar length. For example, `Current Quantity` resembles `Currency`, but is hardly a new name for
/// it.
fn has_similar_length(left: &str, right: &str) -> bool {
    let (left, right) = (left.trim().chars().count(), right.trim().chars().count());
    2 * left.max(right) <= 3 * left.min(right)
}

/// Returns the first of the rows with the most columns of the template, or the first row that is not blank.
fn best_header(template: &Template, top: &[Row]) -> Option<Header> {
    let (unpivoted, pattern) = match template.unpivot.as_ref().map(|unpivot| &unpivot.columns) {
        Some(UnpivotColumns::Named(columns)) => (columns.as_slice(), None),
        Some(UnpivotColumns::Matching(pattern)) => (&[][..], Some(pattern)),
        None => (&[][..], None),
    };
    let by = template.group.as_ref().map_or(&[][..], |group| &group.by);
    let columns = template.rules().flat_map(|rule| rule.source.columns());
    let columns = columns.chain(by.iter().chain(unpivoted).cloned());
    // The columns of each name, folded once for all rows.
    let mut wanted: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, names) in columns.enumerate() {
        names.iter().filter_map(loose_name).for_each(|name| wanted.entry(name).or_default().push(index));
    }
    let named = |row: &Row| {
        let found = row.cells().filter_map(|cell| wanted.get(&loose(without_mark(&cell.shown()))));
        let found: HashSet<usize> = found.flatten().copied().collect();
        let matching =
            pattern.map_or(0, |pattern| row.cells().filter(|cell| pattern.is_match(cell.shown().trim())).count());
        matching + found.len()
    };
    let best = top.iter().rev().map(|row| (named(row), row)).max_by_key(|(found, _)| *found);
    let best = best.filter(|(found, _)| *found > 0).map(|(_, row)| row);
    best.or_else(|| top.iter().find(|row| !row.is_blank())).map(header_of)
}

/// Returns a header of several rows. The text of a cell merged across columns applies to all of them, although the reader returns
/// the text in the first column only.
fn joined_header(rows: &[u64], top: &[Row]) -> Option<Header> {
    let found: Vec<&Row> = rows.iter().filter_map(|number| top.iter().find(|row| row.number == *number)).collect();
    let (last, above) = found.split_last()?;
    let width = found.iter().map(|row| row.len()).max().unwrap_or_default();
    let mut names = vec![String::new(); width];
    for row in above {
        let mut merged = String::new();
        for (index, name) in names.iter_mut().enumerate() {
            let cell = without_mark(&row.get(index).shown()).trim().to_owned();
            let has_name_below = !last.get(index).is_blank();
            match (cell.is_empty(), has_name_below) {
                (true, true) => append(name, &merged),
                (_, is_group) => {
                    append(name, &cell);
                    // A cell above a blank cell names a single column.
                    merged = if is_group { cell } else { String::new() };
                }
            }
        }
    }
    for (index, name) in names.iter_mut().enumerate() {
        append(name, without_mark(&last.get(index).shown()).trim());
    }
    Some(Header { row: *rows.last()?, names })
}

/// Appends a part of a header after a space.
fn append(name: &mut String, part: &str) {
    if !name.is_empty() && !part.is_empty() {
        name.push(' ');
    }
    name.push_str(part);
}

/// Returns a header for a sheet without header: the letters of its columns.
fn lettered_header(top: &[Row]) -> Header {
    let width = top.iter().map(Row::len).max().unwrap_or_default();
    Header { row: 0, names: (0..width).map(column_letters).collect() }
}

/// Whether the template names all columns by their letters or numbers.
fn has_letters_alone(template: &Template) -> bool {
    let is_letter = |column: &ColumnName| match column {
        ColumnName::Named(name) => column_index(name).is_some(),
        ColumnName::Number(_) => true,
    };
    let unpivot = template.unpivot.as_ref();
    let is_of_cell = |column: &ColumnName| unpivot.is_some_and(|unpivot| unpivot.names(column));
    let columns = template.rules().flat_map(|rule| rule.source.columns().concat());
    let mut columns = columns.filter(|column| !is_of_cell(column));
    columns.all(|column| is_letter(&column))
}

/// Whether the first row has a cell of the same form as the cell below, with digits: `H-1` above `H-2`. Headers have no such
/// cells.
fn begins_with_a_record(top: &[Row]) -> bool {
    let mut rows = top.iter().filter(|row| !row.is_blank());
    let (Some(first), Some(second)) = (rows.next(), rows.next()) else { return false };
    let form = |cell: Cell<'_>| -> String {
        let text = cell.shown();
        text.chars()
            .map(|c| {
                if c.is_numeric() {
                    '0'
                } else if c.is_alphabetic() {
                    'a'
                } else {
                    c
                }
            })
            .collect()
    };
    first.cells().zip(second.cells()).any(|(above, below)| {
        let above = form(above);
        above.contains('0') && above == form(below)
    })
}

fn header_of(row: &Row) -> Header {
    Header { row: row.number, names: row.cells().map(|cell| without_mark(&cell.shown()).to_owned()).collect() }
}

/// Returns the name of a column for comparison; that of the first line, if each line has its own.
fn loose_name(column: &ColumnName) -> Option<String> {
    column.name().map(|name| loose(&name.replace(LINE_NUMBER, "1")))
}
