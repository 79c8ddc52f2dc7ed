//! Builds the table: selects records and writes a row for each.
//!
//! Rows are written while pages are still being fetched, with the columns of the first page. If a later page adds a
//! column, the table is discarded, and all rows are written again from the spool once every column is known.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sheetport_client::pages::{Entry, Page};
use sheetport_documents::nearest;
use sheetport_records::ListedField;
use sheetport_sheet::write::{FileFormat, Style, Value, ValueTable};

use super::columns::{Columns, OTHER_FIELDS, Row};
use super::sort::Sorter;
use crate::changes::{PreviousRecords, RecordHashes};
use crate::error::{Error, NotAppended};
use crate::template::Template;
use crate::template::model::{Column, ColumnSource, Field};
use crate::value::text;

/// Options of the table.
#[derive(Debug)]
pub(crate) struct TableOptions {
    /// The fields in the contract. They have a column even without values.
    pub(crate) fields: &'static [ListedField],
    /// Name of the sheet in a workbook.
    pub(crate) sheet: &'static str,
    /// Path of the file; `None` for standard output.
    pub(crate) path: Option<PathBuf>,
    pub(crate) format: FileFormat,
    pub(crate) style: Style,
    /// Whether the table can't be discarded after its first row: it is one of several in a workbook, or appends to earlier rows.
    pub(crate) is_continued: bool,
    pub(crate) template: Option<Template>,
    /// Path of an array to expand into one row per element.
    pub(crate) explode: Option<String>,
    pub(crate) selection: Selection,
    /// Folder for temporary files.
    pub(crate) scratch: PathBuf,
}

/// Selects records by their last change.
#[derive(Debug)]
pub(crate) enum Selection {
    All,
    /// Records changed at or after this time, and records without `updated_at`.
    Since(jiff::Timestamp),
    /// Records that are new or changed since the previous export. All records if there is none.
    ChangedFrom(Option<PreviousRecords>),
}

/// Numbers of records and rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Records in the table.
    pub(crate) records: u64,
    pub(crate) rows: u64,
    /// Records omitted by [`TableOptions::selection`].
    pub(crate) older: u64,
    /// Records excluded by the export template.
    pub(crate) left_out: u64,
    /// Texts truncated to the maximum length of a workbook's cell.
    pub(crate) cut: u64,
    /// Number of texts with an apostrophe added, to keep them from running as formulas.
    pub(crate) defused: u64,
    /// Values in the column for fields beyond the maximum number of columns.
    pub(crate) other_fields: u64,
}

/// Where a table begins.
pub(crate) enum TableStart {
    /// In a separate file, with these columns first.
    File { columns: Vec<SavedColumn> },
    /// On a further sheet of a workbook.
    Sheet(ValueTable),
    /// After the rows of a table with these columns.
    Rows { table: ValueTable, columns: Vec<SavedColumn> },
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedColumn {
    pub(crate) header: String,
    /// Unique path of the field. `None` for columns of a template, and for the column of all other fields.
    field: Option<String>,
}

/// A finished table.
pub(crate) struct FinishedTable {
    pub(crate) columns: Vec<SavedColumn>,
    pub(crate) counts: Counts,
    /// Fields of the export template or of `--explode` that are blank in every record.
    pub(crate) unused_fields: Vec<UnusedField>,
    /// The records of the list, in the table or not. `None` if the next export will not compare with this export.
    pub(crate) hashes: Option<RecordHashes>,
}

/// A field that is blank in every record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnusedField {
    pub(crate) path: String,
    /// A similar field with values.
    pub(crate) nearest: Option<String>,
    /// Whether the field is the array of `--explode`.
    pub(crate) is_exploded: bool,
}

/// Turns pages into rows of a table.
pub(crate) struct TableBuilder {
    options: TableOptions,
    columns: Columns,
    table: Option<OpenTable>,
    /// A table was started and then discarded.
    was_discarded: bool,
    counts: Counts,
    hashes: Option<RecordHashes>,
}

/// A table being written.
struct OpenTable {
    table: ValueTable,
    columns: Vec<TableColumn>,
    rows: u64,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TableColumn {
    name: SavedColumn,
    source: CellSource,
}

/// The source of a column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CellSource {
    /// A field, by its index in [`Columns`].
    Field(usize),
    /// A formatted field of the export template, and its index in [`Columns`].
    Formatted(Field, Option<usize>),
    Constant(String),
    /// All fields without a separate column.
    OtherFields,
}

impl SavedColumn {
    fn is_same(&self, other: &SavedColumn) -> bool {
        self.field == other.field && (self.field.is_some() || self.header == other.header)
    }
}

impl TableOptions {
    /// Returns whether entries are written as received.
    fn is_verbatim(&self) -> bool {
        self.format.is_ndjson() && self.explode.is_none() && self.template.as_ref().is_none_or(|t| t.columns.is_empty())
    }

    /// Returns whether rows can be written before all columns are known. Output to stdout cannot be discarded.
    fn writes_early(&self) -> bool {
        self.path.is_some() && !self.is_continued && self.template.as_ref().is_none_or(|t| t.sort.is_empty())
    }

    /// Returns whether the next export can compare with this export. Not possible with `Since`: the next export must still
    /// contain changes before that time.
    fn is_comparable(&self) -> bool {
        self.path.is_some() && !matches!(self.selection, Selection::Since(_))
    }

    /// Returns whether columns found later belong to the table.
    fn has_open_columns(&self) -> bool {
        !self.is_verbatim() && self.template.as_ref().is_none_or(|template| template.others)
    }

    fn explode(&self) -> Option<&str> {
        self.explode.as_deref().or(self.template.as_ref().and_then(|template| template.explode.as_deref()))
    }

    fn has_changed(&self, entry: &Entry<'_>) -> bool {
        match &self.selection {
            Selection::All | Selection::ChangedFrom(None) => true,
            Selection::Since(moment) => {
                let updated_at: Option<jiff::Timestamp> = text(entry.field("updated_at")).parse().ok();
                updated_at.is_none_or(|updated_at| updated_at >= *moment)
            }
            Selection::ChangedFrom(Some(previous)) => !previous.contains(entry),
        }
    }

    fn meets_conditions(&self, entry: &Entry<'_>) -> Result<bool, Error> {
        self.template.as_ref().map_or(Ok(true), |template| template.selects(entry))
    }

    fn selects(&self, entry: &Entry<'_>) -> Result<bool, Error> {
        Ok(self.meets_conditions(entry)? && self.has_changed(entry))
    }
}

impl CellSource {
    /// Returns the value of a cell.
    fn value<'a>(&self, columns: &Columns, row: &Row<'a>) -> Value<'a> {
        match self {
            CellSource::Field(index) => columns.value(row, *index),
            CellSource::Formatted(field, Some(index)) => field.format(row.json(*index), columns.value(row, *index)),
            CellSource::Formatted(field, None) => field.format(None, Value::Blank),
            CellSource::Constant(text) => Value::Text(text.clone().into()),
            CellSource::OtherFields => columns.value(row, columns.len()),
        }
    }
}

impl TableBuilder {
    pub(crate) fn new(options: TableOptions) -> TableBuilder {
        let mut columns = Columns::new(options.fields, options.format == FileFormat::Xlsx);
        // Template fields always have a column, however many other fields there are.
        for field in options.template.iter().flat_map(Template::fields) {
            columns.require(&field.path);
        }
        let hashes = options.is_comparable().then(RecordHashes::default);
        TableBuilder { options, columns, table: None, was_discarded: false, counts: Counts::default(), hashes }
    }

    /// Adds a page. `new` has a flag for each entry, true at its first occurrence.
    pub(crate) fn insert_page(&mut self, page: &Page, new: &[bool]) -> Result<(), Error> {
        let mut selected = Vec::with_capacity(page.entries().len());
        for (entry, _) in page.entries().zip(new).filter(|(_, is_new)| **is_new) {
            if self.count(&entry)? {
                selected.push(entry);
            }
        }
        if self.table.is_none() && !self.was_discarded && !selected.is_empty() && self.options.writes_early() {
            // Finds the columns of the first page before writing the first row.
            for entry in &selected {
                self.columns.each_row(entry, self.options.explode(), |_, _| Ok::<_, Error>(()))?;
            }
            let start = TableStart::File { columns: Vec::new() };
            self.table = Some(self.start_table(start, self.table_columns())?);
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

    /// Counts a new record. Returns whether the record belongs to the table.
    fn count(&mut self, entry: &Entry<'_>) -> Result<bool, Error> {
        let is_included = self.options.meets_conditions(entry)?;
        if is_included && let Some(hashes) = &mut self.hashes {
            hashes.insert(entry);
        }
        let has_changed = self.options.has_changed(entry);
        match (has_changed, is_included) {
            (true, true) => self.counts.records += 1,
            (false, _) => self.counts.older += 1,
            (true, false) => self.counts.left_out += 1,
        }
        Ok(has_changed && is_included)
    }

    /// Finds the columns of an entry, and writes the rows if a table is open. Returns the number of values without a separate
    /// column.
    fn add_entry(&mut self, entry: &Entry<'_>) -> Result<u64, Error> {
        let mut other_fields = 0;
        let is_verbatim = self.options.is_verbatim();
        let mut table = self.table.as_mut();
        if let Some(OpenTable { table: ValueTable::Lines(lines), .. }) = &mut table
            && is_verbatim
        {
            lines.json(entry.json())?;
        }
        self.columns.each_row(entry, self.options.explode(), |all, row| {
            other_fields += row.other_field_count() as u64;
            let Some(OpenTable { table, columns, rows }) = &mut table else { return Ok(()) };
            *rows += 1;
            if is_verbatim {
                return Ok(());
            }
            let values: Vec<Value<'_>> = columns.iter().map(|column| column.source.value(all, &row)).collect();
            table.row(&values).map_err(Error::from)
        })?;
        Ok(other_fields)
    }

    /// Finishes the table. The caller puts the file in place. `pages` returns all pages again, from the first, in case the
    /// rows have to be written again.
    ///
    /// # Errors
    /// [`Error::NotAppended`] if the file has no column for some values.
    pub(crate) fn finish(
        mut self,
        start: TableStart,
        pages: impl Iterator<Item = Result<(Page, Vec<bool>), Error>>,
    ) -> Result<(ValueTable, FinishedTable), Error> {
        let columns = self.columns_from(&start)?;
        if self.table.as_ref().is_none_or(|table| table.columns != columns) {
            self.table = None;
            self.table = Some(self.start_table(start, columns.clone())?);
            self.write_again(pages)?;
        }
        // All columns were known at the start, so the table was not discarded again.
        let OpenTable { table, rows, .. } = self.table.take().expect("the table was started above");
        self.counts.rows = rows;
        self.counts.cut = table.cut();
        self.counts.defused = table.defused();
        let finished = FinishedTable {
            columns: columns.into_iter().map(|column| column.name).collect(),
            unused_fields: self.unused_fields(),
            counts: self.counts,
            hashes: self.hashes,
        };
        Ok((table, finished))
    }

    fn write_again(&mut self, pages: impl Iterator<Item = Result<(Page, Vec<bool>), Error>>) -> Result<(), Error> {
        let sort = self.options.template.as_ref().map_or(&[][..], |template| &template.sort);
        let mut sorter = (!sort.is_empty()).then(|| Sorter::new(sort.to_vec(), self.options.scratch.clone()));
        for page in pages {
            let (page, new) = page?;
            for (entry, _) in page.entries().zip(new).filter(|(_, is_new)| *is_new) {
                match &mut sorter {
                    _ if !self.options.selects(&entry)? => {}
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

    /// Starts the table.
    fn start_table(&self, start: TableStart, columns: Vec<TableColumn>) -> Result<OpenTable, Error> {
        let header: Vec<String> = columns.iter().map(|column| column.name.header.clone()).collect();
        let TableOptions { path, format, style, sheet, .. } = &self.options;
        let table = match (start, path, format) {
            (TableStart::Sheet(before), ..) => before.next_sheet(sheet, &header)?,
            (TableStart::Rows { table, .. }, ..) => table,
            (TableStart::File { .. }, Some(path), format) => ValueTable::create(path, *format, *style, sheet, &header)?,
            (TableStart::File { .. }, None, FileFormat::Text { kind, .. }) => {
                ValueTable::stdout(*kind, *style, &header)?
            }
            (TableStart::File { .. }, None, FileFormat::Xlsx) => {
                return Err(Error::Internal("a workbook cannot be written to standard output"));
            }
        };
        Ok(OpenTable { table, columns, rows: 0 })
    }

    /// Returns the columns of the table found so far.
    fn table_columns(&self) -> Vec<TableColumn> {
        let template = self.options.template.as_ref().filter(|template| !template.columns.is_empty());
        let mut columns = Vec::new();
        let mut used = Vec::new();
        for Column { name, source } in template.iter().flat_map(|template| &template.columns) {
            let source = match source {
                ColumnSource::Constant(text) => CellSource::Constant(text.clone()),
                ColumnSource::Field(field) => {
                    let index = self.columns.find(&field.path);
                    used.extend(index);
                    CellSource::Formatted(field.clone(), index)
                }
            };
            columns.push(TableColumn { name: SavedColumn { header: name.clone(), field: None }, source });
        }
        if template.is_none_or(|template| template.others) {
            for index in self.columns.visible().into_iter().filter(|index| !used.contains(index)) {
                let header = self.columns.header(index).to_owned();
                let name = SavedColumn { header, field: self.columns.path(index).map(str::to_owned) };
                columns.push(TableColumn { name, source: CellSource::Field(index) });
            }
            if self.columns.has_other_fields() {
                let name = SavedColumn { header: OTHER_FIELDS.to_owned(), field: None };
                columns.push(TableColumn { name, source: CellSource::OtherFields });
            }
        }
        columns
    }

    /// Returns the columns of the table, beginning with the columns of `start` in their order. Lines of JSON have no order.
    fn columns_from(&self, start: &TableStart) -> Result<Vec<TableColumn>, Error> {
        let mut found = self.table_columns();
        let (earlier, is_fixed) = match start {
            TableStart::File { columns } => (columns, false),
            TableStart::Rows { columns, .. } => (columns, true),
            TableStart::Sheet(_) => return Ok(found),
        };
        if earlier.is_empty() || self.options.format.is_ndjson() {
            return Ok(found);
        }
        let mut columns: Vec<TableColumn> = Vec::new();
        for name in earlier {
            let source = match found.iter().position(|column| column.name.is_same(name)) {
                Some(place) => found.remove(place).source,
                None => CellSource::Constant(String::new()),
            };
            columns.push(TableColumn { name: name.clone(), source });
        }
        let is_filled = |column: &TableColumn| match column.source {
            CellSource::Field(index) => self.columns.has_values(index),
            _ => true,
        };
        found.retain(|column| !is_fixed || is_filled(column));
        match (is_fixed && self.counts.records > 0 && !found.is_empty(), &self.options.path) {
            (true, Some(path)) => {
                let columns = found.into_iter().map(|column| column.name.header).collect();
                Err(Error::NotAppended { path: path.clone(), why: NotAppended::Columns { columns } })
            }
            _ if is_fixed => Ok(columns),
            _ => {
                for mut column in found {
                    let header = column.name.header.clone();
                    let is_taken = |header: &str| columns.iter().any(|column| column.name.header == header);
                    let numbered = (2..).map(|number| format!("{header} ({number})"));
                    if is_taken(&header) {
                        column.name.header = numbered.into_iter().find(|header| !is_taken(header)).unwrap_or(header);
                    }
                    columns.push(column);
                }
                Ok(columns)
            }
        }
    }

    /// Returns the fields of the template and of `--explode` that are blank in every record.
    fn unused_fields(&self) -> Vec<UnusedField> {
        if self.counts.records == 0 {
            return Vec::new();
        }
        let filled = self.columns.filled_paths();
        let is_filled = |path: &str| filled.contains(&path);
        let is_exploded = |path: &str| {
            let is_below = |filled: &&str| filled.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
            is_filled(path) || filled.iter().any(is_below)
        };
        let fields = self.options.template.iter().flat_map(Template::fields).map(|field| field.path.as_str());
        let unused = fields.filter(|path| !is_filled(path)).map(|path| (path, false));
        let explode = self.options.explode().filter(|path| !is_exploded(path)).map(|path| (path, true));
        let unused_field = |(path, is_exploded): (&str, bool)| {
            let nearest = nearest(path, filled.iter().copied()).map(str::to_owned);
            UnusedField { path: path.to_owned(), nearest, is_exploded }
        };
        unused.chain(explode).map(unused_field).collect()
    }
}
