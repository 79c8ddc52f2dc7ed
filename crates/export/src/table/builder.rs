//! Builds the table: selects records and writes a row for each.
//!
//! Rows are written while pages are still being fetched, with the columns of the first page. If a later page adds a
//! column, the table is discarded, and all rows are written again from the spool once every column is known.

use std::path::PathBuf;

use sheetport_client::pages::{Entry, Page};
use sheetport_datasets::{Database, Key, Kind};
use sheetport_documents::nearest;
use sheetport_records::ListedField;
use sheetport_sheet::write::{FileFormat, Style, Value, ValueTable};

use super::cell_source::{CellSource, TableColumn, check_headers};
use super::columns::{Columns, OTHER_FIELDS};
use super::file_table::{FileTable, NewTable};
use super::finished::{Counts, FinishedTable, UnusedField};
use super::named_fields::NamedFields;
use super::remembered::{RememberedColumns, SavedColumn, TypedColumn, kinds};
use super::selection::Selection;
use super::sort::Sorter;
use super::types::ColumnTypes;
use crate::changes::RecordHashes;
use crate::error::{ChangedType, Error, NotAppended};
use crate::format::Format;
use crate::template::Template;
use crate::template::model::{Column, ColumnSource, Formula, not_computed};

/// Options of the table.
#[derive(Debug)]
pub(crate) struct TableOptions {
    /// The fields in the contract. They have a column even without values.
    pub(crate) fields: &'static [ListedField],
    /// Name of the sheet in a workbook.
    pub(crate) sheet: &'static str,
    /// Path of the file; `None` for standard output.
    pub(crate) path: Option<PathBuf>,
    pub(crate) format: Format,
    pub(crate) style: Style,
    /// Whether the table can't be discarded after its first row: it is one of several in a workbook, or appends to earlier rows.
    pub(crate) is_continued: bool,
    pub(crate) template: Option<Template>,
    /// Path of an array to expand into one row per element.
    pub(crate) explode: Option<String>,
    pub(crate) selection: Selection,
    /// Whether the records are the details of a list's entries, which have been selected by the list.
    pub(crate) is_of_details: bool,
    /// Named fields that the records of an earlier export had.
    pub(crate) known_fields: Vec<String>,
    /// The columns of earlier exports, which come first and stay, with or without values.
    pub(crate) remembered: RememberedColumns,
    /// Whether the file is begun anew with the types of its values.
    pub(crate) is_replaced: bool,
    /// Whether the records are all of a list, so that others are gone.
    pub(crate) is_list: bool,
    /// Folder for temporary files.
    pub(crate) scratch: PathBuf,
}

/// Where a table begins.
pub(crate) enum TableStart {
    /// In a separate file, with these columns first.
    File { columns: Vec<SavedColumn> },
    /// On a further sheet of a workbook, or in a database.
    Next(FileTable),
    /// After the rows of a table with these columns.
    Rows { table: ValueTable, columns: Vec<SavedColumn> },
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
    named: NamedFields,
    types: ColumnTypes,
    /// Hashes of the ids of all records of the list, for a database.
    present: Option<Vec<u64>>,
}

/// A table being written.
struct OpenTable {
    table: FileTable,
    columns: Vec<TableColumn>,
    kinds: Vec<Kind>,
    rows: u64,
    /// Why a row was refused: its values have other types than those of the rows before.
    refused: Option<Error>,
}

impl TableOptions {
    /// Returns whether entries are written as received.
    fn is_verbatim(&self) -> bool {
        self.format.is_ndjson()
            && self.explode.is_none()
            && self.template.as_ref().is_none_or(|t| t.columns.is_empty() && t.renames.is_empty())
    }

    /// Returns whether rows can be written before all columns are known. Output to stdout cannot be discarded.
    fn writes_early(&self) -> bool {
        self.path.is_some()
            && !self.is_continued
            // A database is open as shortly as possible.
            && self.format != Format::Sqlite
            && self.template.as_ref().is_none_or(|t| t.sort.is_empty())
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

    /// Returns the fields that the template names, without those of the contract.
    fn named_fields(&self) -> Vec<String> {
        let Some(template) = &self.template else { return Vec::new() };
        let computed = template.computed().flat_map(Formula::paths).map(String::as_str);
        let named = template.demanded.iter().map(String::as_str).chain(template.deciding_fields()).chain(computed);
        named.filter(|path| !self.fields.iter().any(|field| field.name == *path)).map(str::to_owned).collect()
    }

    /// Returns whether a record without this field is a mistake of the template.
    fn demands(&self, path: &str) -> bool {
        let demanded = self.template.as_ref().map_or(&[][..], |template| &template.demanded);
        demanded.iter().any(|demanded| demanded == path) && !self.known_fields.iter().any(|known| known == path)
    }

    fn has_changed(&self, entry: &Entry<'_>) -> bool {
        self.is_of_details || self.selection.has_changed(entry)
    }

    fn meets_conditions(&self, entry: &Entry<'_>) -> Result<bool, Error> {
        self.template.as_ref().map_or(Ok(true), |template| template.selects(entry))
    }

    fn selects(&self, entry: &Entry<'_>) -> Result<bool, Error> {
        Ok(self.meets_conditions(entry)? && self.has_changed(entry))
    }
}

impl TableBuilder {
    pub(crate) fn new(options: TableOptions) -> TableBuilder {
        let mut columns = Columns::new(options.fields, options.format == Format::Sheet(FileFormat::Xlsx));
        // Template fields always have a column, however many other fields there are.
        for field in options.template.iter().flat_map(Template::fields) {
            columns.require(&field.path);
        }
        for path in options.template.iter().flat_map(Template::computed).flat_map(Formula::paths) {
            columns.require(path);
        }
        let has_others = options.has_open_columns();
        for column in options.remembered.columns.iter().filter(|_| has_others) {
            match &column.name.field {
                Some(path) => columns.remember(path),
                None if column.name.is_other_fields() => columns.keep_other_fields(),
                None => {}
            }
        }
        let hashes = options.is_comparable().then(RecordHashes::default);
        let present = (options.format == Format::Sqlite && options.is_list).then(Vec::new);
        let is_free = options.is_replaced;
        let types = ColumnTypes::new(options.format.store(), options.fields, options.remembered.clone(), is_free);
        let (table, was_discarded, counts) = (None, false, Counts::default());
        let named = NamedFields::new(options.named_fields());
        let mut builder =
            TableBuilder { options, columns, table, was_discarded, counts, hashes, named, types, present };
        let of_template = builder.table_columns().into_iter().filter(|column| column.source.is_of_template());
        let of_template: Vec<_> = of_template.map(|TableColumn { name, source }| (name, source)).collect();
        builder.types.watch(of_template);
        builder
    }

    /// Adds a page. `new` has a flag for each entry, true at its first occurrence.
    pub(crate) fn insert_page(&mut self, page: &Page, new: &[bool]) -> Result<(), Error> {
        let mut selected = Vec::with_capacity(page.entries().len());
        for (entry, _) in page.entries().zip(new).filter(|(_, is_new)| **is_new) {
            if self.count(&entry)? {
                selected.push(entry);
            }
        }
        let is_typed = self.options.format.is_typed();
        let begins_early =
            self.table.is_none() && !self.was_discarded && !selected.is_empty() && self.options.writes_early();
        if begins_early {
            // Finds the columns and types of the first page before writing the first row.
            let types = &mut self.types;
            let today = self.options.template.as_ref().and_then(|template| template.today);
            for entry in &selected {
                self.columns.each_row(entry, self.options.explode(), |all, row| {
                    if is_typed {
                        types.add(all, &row, entry, today);
                    }
                    Ok::<_, Error>(())
                })?;
            }
            self.begin_early()?;
        }
        let (columns, had_other_fields) = (self.columns.len(), self.columns.has_other_fields());
        for entry in &selected {
            self.counts.other_fields += self.add_entry(entry, !(begins_early && is_typed))?;
        }
        let is_wider = self.columns.len() > columns || self.columns.has_other_fields() != had_other_fields;
        let is_refused = self.table.as_ref().is_some_and(|table| table.refused.is_some());
        if is_refused || is_wider && self.table.is_some() && self.options.has_open_columns() {
            self.table = None;
            self.was_discarded = true;
        }
        Ok(())
    }

    /// Starts the table with the columns and types of the first page.
    fn begin_early(&mut self) -> Result<(), Error> {
        let start = TableStart::File { columns: Vec::new() };
        let columns = self.table_columns();
        match self.typed(&columns) {
            Ok((typed, _)) => self.table = Some(self.start_table(start, columns, &typed)?),
            // More values may be to blame: all are counted first.
            Err(_) => self.was_discarded = true,
        }
        Ok(())
    }

    /// Counts a new record. Returns whether the record belongs to the table.
    fn count(&mut self, entry: &Entry<'_>) -> Result<bool, Error> {
        self.named.look_into(entry, self.options.explode());
        let is_included = self.options.meets_conditions(entry)?;
        if is_included && let Some(hashes) = &mut self.hashes {
            hashes.insert(entry);
        }
        if is_included && let Some((present, id)) = self.present.as_mut().zip(entry.id()) {
            present.push(Database::hash_of(id.as_bytes()));
        }
        let has_changed = self.options.has_changed(entry);
        match (has_changed, is_included) {
            (true, true) => self.counts.records += 1,
            (false, _) => self.counts.older += 1,
            (true, false) => self.counts.left_out += 1,
        }
        Ok(has_changed && is_included)
    }

    /// Finds the columns and types of an entry if it `is_new`, and writes the rows if a table is open. Returns the number of values
    /// without a separate column.
    fn add_entry(&mut self, entry: &Entry<'_>, is_new: bool) -> Result<u64, Error> {
        let mut other_fields = 0;
        let is_verbatim = self.options.is_verbatim();
        let today = self.options.template.as_ref().and_then(|template| template.today);
        let mut table = self.table.as_mut();
        if let Some(OpenTable { table, .. }) = &mut table
            && is_verbatim
        {
            table.entry(entry.json())?;
        }
        let id = if self.options.format.is_database() { entry.id() } else { None };
        let types = &mut self.types;
        let mut position = 0;
        self.columns.each_row(entry, self.options.explode(), |all, row| {
            other_fields += row.other_field_count() as u64;
            if is_new && !is_verbatim {
                types.add(all, &row, entry, today);
            }
            let Some(OpenTable { table, columns, rows, refused, .. }) = &mut table else { return Ok(()) };
            *rows += 1;
            position += 1;
            if is_verbatim || refused.is_some() {
                return Ok(());
            }
            let value = |column: &TableColumn| {
                let computed = column.source.value(all, &row, today);
                computed.map_err(|reason| not_computed(&column.name.header, entry, reason))
            };
            let values = columns.iter().map(value).collect::<Result<Vec<Value<'_>>, _>>()?;
            match table.row(Key { id: id.as_deref(), position }, &values) {
                Err(error) if error.is_of_value() => {
                    *refused = Some(error);
                    Ok(())
                }
                done => done,
            }
        })?;
        Ok(other_fields)
    }

    /// Adds the records of the list that are not gone, by the hashes of their IDs, if the table has their details.
    pub(crate) fn keep(&mut self, ids: impl Iterator<Item = u64>) {
        if let Some(present) = &mut self.present {
            present.extend(ids);
        }
    }

    /// Finishes the table. The caller puts the file in place. `pages` returns all pages again, from the first, in case the
    /// rows have to be written again.
    ///
    /// # Errors
    /// [`Error::NotAppended`] if the file has no column for some values, and [`Error::NoField`] if no record has a named field.
    pub(crate) fn finish(
        mut self,
        start: TableStart,
        pages: impl Iterator<Item = Result<(Page, Vec<bool>), Error>>,
    ) -> Result<(FileTable, FinishedTable), Error> {
        self.check_named_fields()?;
        let columns = self.columns_from(&start)?;
        if self.options.template.as_ref().is_some_and(|template| !template.renames.is_empty()) {
            check_headers(&columns)?;
        }
        let (typed, changed_types) = self.typed(&columns)?;
        let has_types = self.options.format.is_typed();
        let is_other = |table: &OpenTable| table.columns != columns || has_types && table.kinds != kinds(&typed);
        if self.table.as_ref().is_none_or(is_other) {
            self.table = None;
            self.table = Some(self.start_table(start, columns, &typed)?);
            self.write_again(pages)?;
        }
        // All columns were known at the start, so the table was not discarded again.
        let OpenTable { mut table, rows, refused, .. } = self.table.take().expect("the table was started above");
        if let Some(error) = refused {
            return Err(error);
        }
        table.end_list(self.present.take())?;
        self.counts.rows = rows;
        self.counts.cut = table.cut();
        self.counts.defused = table.defused();
        let finished = FinishedTable {
            new_columns: self.new_columns(&typed),
            columns: typed,
            changed_types,
            unused_fields: self.unused_fields(),
            known_fields: self.known_fields(),
            counts: self.counts,
            hashes: self.hashes,
        };
        Ok((table, finished))
    }

    fn write_again(&mut self, pages: impl Iterator<Item = Result<(Page, Vec<bool>), Error>>) -> Result<(), Error> {
        let sorted = self.options.template.as_ref().filter(|template| !template.sort.is_empty());
        let mut sorter =
            sorted.map(|template| Sorter::new(template.sort.clone(), template.today, self.options.scratch.clone()));
        for page in pages {
            let (page, new) = page?;
            for (entry, _) in page.entries().zip(new).filter(|(_, is_new)| *is_new) {
                match &mut sorter {
                    _ if !self.options.selects(&entry)? => {}
                    Some(sorter) => sorter.add(&entry)?,
                    None => drop(self.add_entry(&entry, false)?),
                }
            }
        }
        if let Some(sorter) = sorter {
            for json in sorter.finish()? {
                self.add_entry(&Entry::new(&json?), false)?;
            }
        }
        Ok(())
    }

    /// Starts the table.
    fn start_table(
        &self,
        start: TableStart,
        columns: Vec<TableColumn>,
        typed: &[TypedColumn],
    ) -> Result<OpenTable, Error> {
        let TableOptions { path, format, style, sheet, .. } = &self.options;
        let id = columns.iter().position(|column| column.source.is_of(&self.columns, "id"));
        let new = NewTable { sheet, columns: typed, id, style: *style };
        let table = match (start, path, format) {
            (TableStart::Next(before), ..) => before.next(&new)?,
            (TableStart::Rows { table, .. }, ..) => FileTable::Sheet(table),
            (TableStart::File { .. }, Some(path), format) => FileTable::create(path, *format, &new)?,
            (TableStart::File { .. }, None, Format::Sheet(FileFormat::Text { kind, .. })) => {
                FileTable::stdout(*kind, &new)?
            }
            (TableStart::File { .. }, None, _) => {
                return Err(Error::Internal("only texts can be written to standard output"));
            }
        };
        Ok(OpenTable { table, columns, kinds: kinds(typed), rows: 0, refused: None })
    }

    /// Returns the columns with the types of all values, and in a file without types, what has changed.
    ///
    /// # Errors
    /// [`Error::Types`] if the type of a column does not hold all values.
    fn typed(&self, columns: &[TableColumn]) -> Result<(Vec<TypedColumn>, Vec<ChangedType>), Error> {
        let (mut typed, mut changed) = (Vec::new(), Vec::new());
        for TableColumn { name, source } in columns {
            let kind = self.types.of(&self.columns, source).unwrap_or_else(|misfits| {
                let kind = misfits.narrowest;
                changed.push(ChangedType::new(name.header.clone(), misfits, self.types.until(name)));
                Some(kind)
            });
            typed.push(TypedColumn { name: name.clone(), kind });
        }
        match &self.options.path {
            Some(path) if !changed.is_empty() && self.options.format.is_typed() => {
                Err(Error::Types { path: path.clone(), changed })
            }
            _ => Ok((typed, changed)),
        }
    }

    /// Returns the headers of the columns that earlier exports did not have.
    fn new_columns(&self, columns: &[TypedColumn]) -> Vec<String> {
        let remembered = &self.options.remembered;
        let is_new = |column: &&TypedColumn| !remembered.columns.is_empty() && remembered.find(&column.name).is_none();
        columns.iter().filter(is_new).map(|column| column.name.header.clone()).collect()
    }

    /// Returns the columns of the table found so far.
    fn table_columns(&self) -> Vec<TableColumn> {
        let template = self.options.template.as_ref().filter(|template| !template.columns.is_empty());
        let mut columns = Vec::new();
        let mut used = Vec::new();
        for Column { name, source } in template.iter().flat_map(|template| &template.columns) {
            let mark = source.mark();
            let source = match source {
                ColumnSource::Constant(text) => CellSource::Constant(text.clone()),
                ColumnSource::Field(field) => {
                    let index = self.columns.find(&field.path);
                    used.extend(index);
                    CellSource::Formatted(field.clone(), index)
                }
                ColumnSource::Computed(formula, format) => {
                    let places = formula.paths().iter().map(|path| self.columns.find(path)).collect();
                    CellSource::Computed(formula.clone(), format.clone(), places)
                }
            };
            let name = SavedColumn { header: name.clone(), field: None, source: Some(mark) };
            columns.push(TableColumn { name, source });
        }
        let renames = self.options.template.as_ref().map(|template| &template.renames);
        if template.is_none_or(|template| template.others) {
            for index in self.columns.visible().into_iter().filter(|index| !used.contains(index)) {
                let path = self.columns.path(index);
                let renamed = renames.zip(path).and_then(|(renames, path)| renames.get(path));
                let header = renamed.map_or_else(|| self.columns.header(index), String::as_str).to_owned();
                let name = SavedColumn { header, field: path.map(str::to_owned), source: None };
                columns.push(TableColumn { name, source: CellSource::Field(index) });
            }
            if self.columns.has_other_fields() {
                let name = SavedColumn { header: OTHER_FIELDS.to_owned(), field: None, source: None };
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
            TableStart::Next(_) => return Ok(found),
        };
        if earlier.is_empty() || self.options.format.is_ndjson() || !is_fixed && !self.options.has_open_columns() {
            return Ok(found);
        }
        let others = if is_fixed { self.other_columns(earlier, &found) } else { Vec::new() };
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
            (_, Some(path)) if !others.is_empty() => {
                Err(Error::NotAppended { path: path.clone(), why: NotAppended::OtherColumns { columns: others } })
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

    /// Returns the columns of a file that mean something else in this table, or are not in this table although its columns were
    /// chosen.
    fn other_columns(&self, earlier: &[SavedColumn], found: &[TableColumn]) -> Vec<String> {
        let renames = self.options.template.iter().flat_map(|template| template.renames.values());
        let renames: Vec<&String> = renames.collect();
        let differs = |name: &&SavedColumn| match found.iter().find(|column| column.name.is_same(name)) {
            None => !self.options.has_open_columns(),
            Some(TableColumn { name: now, .. }) => {
                let has_other_source = name.source.is_some() && now.source.is_some() && name.source != now.source;
                has_other_source || now.header != name.header && renames.contains(&&now.header)
            }
        };
        earlier.iter().filter(differs).map(|name| name.header.clone()).collect()
    }

    /// Refuses a table if no record has a field that the template names.
    fn check_named_fields(&self) -> Result<(), Error> {
        let contract: Vec<&str> = self.options.fields.iter().map(|field| field.name).collect();
        let missing = self.named.missing(&contract);
        match missing.into_iter().find(|(path, _)| self.options.demands(path)) {
            None => Ok(()),
            Some((path, nearest)) => Err(Error::NoField {
                records: self.options.sheet,
                path: path.to_owned(),
                nearest: nearest.map(str::to_owned),
            }),
        }
    }

    /// Returns the demanded fields that exist.
    fn known_fields(&self) -> Vec<String> {
        let demanded = self.options.template.iter().flat_map(|template| &template.demanded);
        let is_known = |path: &&String| self.options.known_fields.contains(path) || self.named.found().contains(path);
        demanded.filter(is_known).cloned().collect()
    }

    /// Returns the fields of the template and of `--explode` that are blank in every record.
    fn unused_fields(&self) -> Vec<UnusedField> {
        let contract: Vec<&str> = self.options.fields.iter().map(|field| field.name).collect();
        let missing = self.named.missing(&contract).into_iter();
        let missing = missing.map(|(path, nearest)| UnusedField {
            path: path.to_owned(),
            nearest: nearest.map(str::to_owned),
            is_exploded: false,
        });
        if self.counts.records == 0 {
            return missing.collect();
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
        let mut unused: Vec<UnusedField> = unused.chain(explode).map(unused_field).collect();
        for field in missing {
            if !unused.iter().any(|known| known.path == field.path) {
                unused.push(field);
            }
        }
        unused
    }
}
