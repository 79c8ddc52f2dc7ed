//! Builds the table: selects records and writes a row for each.
//!
//! Rows are written while pages are still being fetched, with the columns of the first page. If a later page adds a
//! column, the table is discarded, and all rows are written again from the spool once every column is known.

use std::path::PathBuf;

use super::columns::{Columns, OTHER_FIELDS, Row};
use super::sort::Sorter;
use crate::client::pages::{Entry, Page};
use crate::export::changes::RecordHashes;
use crate::export::error::Error;
use crate::export::template::Template;
use crate::export::template::model::ColumnSource;
use crate::export::value::text;
use crate::records::ListedField;
use crate::sheet::write::{Packing, Shape, Style, TextKind, Value, ValueTable, Written};

/// Options of the table.
#[derive(Debug)]
pub(in crate::export) struct TableOptions {
    /// The contract's fields, which have a column even without values.
    pub(in crate::export) fields: &'static [ListedField],
    /// Name of the sheet in a workbook.
    pub(in crate::export) sheet: &'static str,
    pub(in crate::export) target: Target,
    pub(in crate::export) style: Style,
    pub(in crate::export) template: Option<Template>,
    /// Path of an array whose elements get a row each.
    pub(in crate::export) explode: Option<String>,
    /// Omits records that last changed before this time.
    pub(in crate::export) since: Option<jiff::Timestamp>,
    /// Reads when each record last changed.
    pub(in crate::export) reads_changes: bool,
    /// Folder for temporary files.
    pub(in crate::export) scratch: PathBuf,
}

/// Destination of the table.
#[derive(Clone, Debug)]
pub(in crate::export) enum Target {
    File { path: PathBuf, shape: Shape },
    Stdout { kind: TextKind, packing: Packing },
}

/// Numbers of records and rows.
#[derive(Clone, Debug, Default)]
pub(in crate::export) struct Counts {
    /// Records in the table.
    pub(in crate::export) records: u64,
    pub(in crate::export) rows: u64,
    /// Records that have not changed since [`TableOptions::since`].
    pub(in crate::export) older: u64,
    /// Records excluded by the export template.
    pub(in crate::export) left_out: u64,
    /// Texts truncated to the maximum length of a workbook's cell.
    pub(in crate::export) cut: u64,
    /// Values in the column for fields beyond the maximum number of columns.
    pub(in crate::export) other_fields: u64,
    /// The latest `updated_at` of all records.
    pub(in crate::export) newest: Option<jiff::Timestamp>,
}

/// A finished table.
pub(in crate::export) struct FinishedTable {
    /// `None` for standard output.
    pub(in crate::export) written: Option<Written>,
    pub(in crate::export) header: Vec<String>,
    pub(in crate::export) counts: Counts,
    /// Fields of the export template that are blank in every record.
    pub(in crate::export) unused_fields: Vec<String>,
    /// `None` if the table does not contain all records.
    pub(in crate::export) hashes: Option<RecordHashes>,
}

/// Turns pages into rows of a table.
pub(in crate::export) struct TableBuilder {
    options: TableOptions,
    columns: Columns,
    table: Option<OpenTable>,
    /// A table was started and then discarded.
    was_discarded: bool,
    counts: Counts,
    hashes: Option<RecordHashes>,
}

/// A table that is being written.
struct OpenTable {
    table: ValueTable,
    columns: Vec<TableColumn>,
    rows: u64,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TableColumn {
    header: String,
    source: CellSource,
}

/// The source of a column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CellSource {
    /// A field, by its index in [`Columns`].
    Field(usize),
    /// A column of the export template: the index of the column and that of the field in [`Columns`].
    Template(usize, Option<usize>),
    /// All fields without a column of their own.
    OtherFields,
}

/// The decision about a record.
enum Selection {
    Selected,
    Older,
    LeftOut,
}

impl Target {
    fn is_workbook(&self) -> bool {
        matches!(self, Target::File { shape: Shape::Xlsx, .. })
    }

    fn is_ndjson(&self) -> bool {
        match self {
            Target::File { shape, .. } => shape.is_ndjson(),
            Target::Stdout { kind, .. } => *kind == TextKind::Ndjson,
        }
    }
}

impl TableOptions {
    /// Returns whether entries are written as received.
    fn is_verbatim(&self) -> bool {
        self.target.is_ndjson() && self.explode.is_none() && self.template.as_ref().is_none_or(|t| t.columns.is_empty())
    }

    /// Returns whether rows can be written before all columns are known. Output to stdout cannot be discarded.
    fn writes_early(&self) -> bool {
        matches!(self.target, Target::File { .. }) && self.template.as_ref().is_none_or(|t| t.sort.is_empty())
    }

    /// Returns whether the file contains all records, as required for a comparison with the previous export.
    fn is_comparable(&self) -> bool {
        matches!(self.target, Target::File { .. }) && self.since.is_none()
    }

    /// Returns whether columns found later belong to the table.
    fn has_open_columns(&self) -> bool {
        !self.is_verbatim() && self.template.as_ref().is_none_or(|template| template.others)
    }

    fn explode(&self) -> Option<&str> {
        self.explode.as_deref().or(self.template.as_ref().and_then(|template| template.explode.as_deref()))
    }

    fn select(&self, entry: &Entry<'_>, updated_at: Option<jiff::Timestamp>) -> Selection {
        // Without `updated_at`, the record may have changed.
        if self.since.is_some_and(|since| updated_at.is_some_and(|updated_at| updated_at < since)) {
            return Selection::Older;
        }
        match &self.template {
            Some(template) if !template.selects(entry) => Selection::LeftOut,
            _ => Selection::Selected,
        }
    }

    fn updated_at(&self, entry: &Entry<'_>) -> Option<jiff::Timestamp> {
        if self.reads_changes { text(entry.field("updated_at")).parse().ok() } else { None }
    }

    fn selects(&self, entry: &Entry<'_>) -> bool {
        matches!(self.select(entry, self.updated_at(entry)), Selection::Selected)
    }

    /// Returns the value of a cell.
    fn cell<'a>(&self, columns: &Columns, row: &Row<'a>, source: &CellSource) -> Value<'a> {
        match source {
            CellSource::Field(index) => columns.value(row, *index),
            CellSource::OtherFields => columns.value(row, columns.len()),
            CellSource::Template(column, index) => {
                let column = self.template.as_ref().and_then(|template| template.columns.get(*column));
                match column.map(|column| &column.source) {
                    Some(ColumnSource::Constant(text)) => Value::Text(text.clone().into()),
                    Some(ColumnSource::Field(field)) => match index {
                        Some(index) => field.format(row.json(*index), columns.value(row, *index)),
                        None => field.format(None, Value::Blank),
                    },
                    None => Value::Blank,
                }
            }
        }
    }
}

impl TableBuilder {
    pub(in crate::export) fn new(options: TableOptions) -> TableBuilder {
        let mut columns = Columns::new(options.fields, options.target.is_workbook());
        // Fields of the template always have a column, whatever the number of other fields.
        for column in options.template.iter().flat_map(|template| &template.columns) {
            if let ColumnSource::Field(field) = &column.source {
                columns.require(&field.path);
            }
        }
        let hashes = options.is_comparable().then(RecordHashes::default);
        TableBuilder { options, columns, table: None, was_discarded: false, counts: Counts::default(), hashes }
    }

    /// Adds a page. `new` contains a flag for each entry that occurs for the first time.
    pub(in crate::export) fn insert_page(&mut self, page: &Page, new: &[bool]) -> Result<(), Error> {
        let mut selected = Vec::with_capacity(page.len());
        for (entry, _) in page.entries().zip(new).filter(|(_, is_new)| **is_new) {
            if self.count(&entry) {
                if let Some(hashes) = &mut self.hashes {
                    hashes.insert(&entry);
                }
                selected.push(entry);
            }
        }
        if self.table.is_none() && !self.was_discarded && !selected.is_empty() && self.options.writes_early() {
            // Finds the columns of the first page before writing the first row.
            for entry in &selected {
                self.columns.rows(entry, self.options.explode());
            }
            self.table = Some(self.start_table()?);
        }
        let (columns, had_other_fields) = (self.columns.len(), self.columns.has_other_fields());
        for entry in &selected {
            self.counts.other_fields += self.add_entry(entry)?;
        }
        let is_wider = self.columns.len() > columns || self.columns.has_other_fields() != had_other_fields;
        if is_wider && self.table.is_some() && self.options.has_open_columns() {
            self.table = None;
            self.was_discarded = true;
        }
        Ok(())
    }

    /// Counts a new record. Returns whether it belongs to the table.
    fn count(&mut self, entry: &Entry<'_>) -> bool {
        let updated_at = self.options.updated_at(entry);
        self.counts.newest = self.counts.newest.max(updated_at);
        let selection = self.options.select(entry, updated_at);
        match selection {
            Selection::Selected => self.counts.records += 1,
            Selection::Older => self.counts.older += 1,
            Selection::LeftOut => self.counts.left_out += 1,
        }
        matches!(selection, Selection::Selected)
    }

    /// Finds the columns of an entry, and writes the rows if a table is open. Returns the number of values without a
    /// column of their own.
    fn add_entry(&mut self, entry: &Entry<'_>) -> Result<u64, Error> {
        let rows = self.columns.rows(entry, self.options.explode());
        if let Some(OpenTable { table, columns, rows: count }) = &mut self.table {
            *count += rows.len() as u64;
            match table {
                ValueTable::Lines(lines) if self.options.is_verbatim() => lines.json(entry.json())?,
                table => {
                    for row in &rows {
                        let cell = |column: &TableColumn| self.options.cell(&self.columns, row, &column.source);
                        let values: Vec<Value<'_>> = columns.iter().map(cell).collect();
                        table.row(&values)?;
                    }
                }
            }
        }
        Ok(rows.iter().map(|row| row.other_field_count() as u64).sum())
    }

    /// Finishes the table and puts the file in place at `path`. `pages` returns all pages again, from the first, in case
    /// the rows have to be written again.
    pub(in crate::export) fn finish(
        mut self,
        path: PathBuf,
        pages: impl Iterator<Item = Result<(Page, Vec<bool>), Error>>,
    ) -> Result<FinishedTable, Error> {
        let columns = self.table_columns();
        if self.table.as_ref().is_none_or(|table| table.columns != columns) {
            self.table = None;
            self.table = Some(self.start_table()?);
            self.write_again(pages)?;
        }
        // All columns were known at the start, so the table was not discarded again.
        let OpenTable { table, rows, .. } = self.table.take().expect("the table was started above");
        self.counts.rows = rows;
        self.counts.cut = table.cut();
        Ok(FinishedTable {
            written: table.finish_as(path)?,
            header: columns.into_iter().map(|column| column.header).collect(),
            unused_fields: self.unused_fields(),
            counts: self.counts,
            hashes: self.hashes,
        })
    }

    fn write_again(&mut self, pages: impl Iterator<Item = Result<(Page, Vec<bool>), Error>>) -> Result<(), Error> {
        let sort = self.options.template.as_ref().map_or(&[][..], |template| &template.sort);
        let mut sorter = (!sort.is_empty()).then(|| Sorter::new(sort.to_vec(), self.options.scratch.clone()));
        for page in pages {
            let (page, new) = page?;
            for (entry, _) in page.entries().zip(new).filter(|(_, is_new)| *is_new) {
                match &mut sorter {
                    _ if !self.options.selects(&entry) => {}
                    Some(sorter) => sorter.add(&entry)?,
                    None => drop(self.add_entry(&entry)?),
                }
            }
        }
        if let Some(sorter) = sorter {
            for json in sorter.finish()? {
                self.add_entry(&Entry::new(&json?))?;
            }
        }
        Ok(())
    }

    fn start_table(&self) -> Result<OpenTable, Error> {
        let columns = self.table_columns();
        let header: Vec<String> = columns.iter().map(|column| column.header.clone()).collect();
        let TableOptions { target, style, sheet, .. } = &self.options;
        let table = match target {
            Target::File { path, shape } => ValueTable::create(path, *shape, *style, sheet, &header)?,
            Target::Stdout { kind, packing } => ValueTable::stdout(*kind, *packing, *style, &header)?,
        };
        Ok(OpenTable { table, columns, rows: 0 })
    }

    /// Returns the columns of the table found so far.
    fn table_columns(&self) -> Vec<TableColumn> {
        let template = self.options.template.as_ref().filter(|template| !template.columns.is_empty());
        let mut columns = Vec::new();
        let mut used = Vec::new();
        for (number, column) in template.iter().flat_map(|template| &template.columns).enumerate() {
            let index = match &column.source {
                ColumnSource::Field(field) => self.columns.find(&field.path),
                ColumnSource::Constant(_) => None,
            };
            used.extend(index);
            columns.push(TableColumn { header: column.name.clone(), source: CellSource::Template(number, index) });
        }
        if template.is_none_or(|template| template.others) {
            for index in self.columns.visible().into_iter().filter(|index| !used.contains(index)) {
                let header = self.columns.header(index).to_owned();
                columns.push(TableColumn { header, source: CellSource::Field(index) });
            }
            if self.columns.has_other_fields() {
                columns.push(TableColumn { header: OTHER_FIELDS.to_owned(), source: CellSource::OtherFields });
            }
        }
        columns
    }

    /// Returns the template's fields that are blank in every record.
    fn unused_fields(&self) -> Vec<String> {
        if self.counts.records == 0 {
            return Vec::new();
        }
        let columns = self.options.template.iter().flat_map(|template| &template.columns);
        let fields = columns.filter_map(|column| match &column.source {
            ColumnSource::Field(field) => Some(&field.path),
            ColumnSource::Constant(_) => None,
        });
        let is_unused = |path: &&String| !self.columns.find(path).is_some_and(|index| self.columns.has_values(index));
        fields.filter(is_unused).cloned().collect()
    }
}
