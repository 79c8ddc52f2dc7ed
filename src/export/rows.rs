//! From pages to the file: which records are in it, and a row for each.
//!
//! The first pages say what the columns are, and nearly always they are right: rows are written while further pages are
//! still being fetched. Where a later page brings a new column, the table that was begun is given up, and all rows are
//! written once more from the spool when every column is known.

use std::path::PathBuf;
use std::sync::Arc;

use super::Error;
use super::changes::Prints;
use super::columns::{self, Columns, Row};
use super::layout::{From, InForce, Layout, Made, Slot, value};
use super::sort::Sorter;
use super::template::Template;
use super::template::model::{Source, json_at, text};
use crate::client::pages::{Entry, Page};
use crate::records::ListedField;
use crate::sheet::write::{Delimiting, Packing, Shape, Style, TextKind, ValueTable, Written};

/// What is to become of the records.
#[derive(Debug)]
pub struct Recipe {
    pub fields: &'static [ListedField],
    /// What a workbook's sheet is called.
    pub sheet: &'static str,
    pub target: Target,
    pub style: Style,
    pub template: Option<Template>,
    /// The path of an array of which each element gets a row.
    pub explode: Option<String>,
    /// Leaves out records that last changed before.
    pub since: Option<jiff::Timestamp>,
    /// Looks at when each record last changed.
    pub minds_changes: bool,
    /// Where what does not fit into memory waits.
    pub scratch: PathBuf,
}

#[derive(Clone, Debug)]
pub enum Target {
    File { path: PathBuf, shape: Shape },
    Stdout { kind: TextKind, packing: Packing },
}

/// What was found and written.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Records in the file.
    pub records: u64,
    pub rows: u64,
    /// Records that had not changed since.
    pub older: u64,
    /// Records that the template leaves out.
    pub left_out: u64,
    /// Texts that were cut because a workbook's cells can't hold more.
    pub cut: u64,
    /// The newest `updated_at` of all records.
    pub newest: Option<jiff::Timestamp>,
}

/// Turns pages into rows.
pub struct Maker {
    recipe: Arc<Recipe>,
    columns: Columns,
    table: Option<(ValueTable, Vec<Slot>)>,
    /// A table that was begun was given up.
    gave_up: bool,
    rows_written: u64,
    gathered: u64,
    /// What others may make rows by meanwhile, and how much was known of columns then.
    in_force: InForce,
    stand_in_force: Option<u64>,
    pub counts: Counts,
    pub prints: Prints,
}

/// What takes pages, each with which of its entries are new.
pub type Take<'a> = &'a mut dyn FnMut(&Page, &[bool]) -> Result<(), Error>;

impl Counts {
    fn add(&mut self, more: &Counts) {
        let Counts { records, rows, older, left_out, cut, newest } = more;
        self.records += records;
        self.rows += rows;
        self.older += older;
        self.left_out += left_out;
        self.cut += cut;
        self.newest = self.newest.max(*newest);
    }
}

impl Target {
    fn has_dates(&self) -> bool {
        matches!(self, Target::File { shape: Shape::Xlsx, .. })
    }

    fn is_ndjson(&self) -> bool {
        match self {
            Target::File { shape, .. } => shape.is_ndjson(),
            Target::Stdout { kind, .. } => *kind == TextKind::Ndjson,
        }
    }
}

impl Recipe {
    /// Whether entries go into the file as they came.
    fn is_verbatim(&self) -> bool {
        self.target.is_ndjson() && self.explode.is_none() && self.template.as_ref().is_none_or(|t| t.columns.is_empty())
    }

    /// Whether rows may be written before all are known. Of standard output nothing can be taken back.
    fn writes_ahead(&self) -> bool {
        matches!(self.target, Target::File { .. }) && self.template.as_ref().is_none_or(|t| t.sort.is_empty())
    }

    /// Whether the file has all records, so that it can be held against the one before.
    pub fn compares(&self) -> bool {
        matches!(self.target, Target::File { .. }) && self.since.is_none()
    }

    /// How rows look that may be made by whoever has a page: one of each record, as a text that is written ahead.
    fn delimiting(&self) -> Option<Delimiting> {
        let Target::File { shape: Shape::Text { kind, .. }, .. } = &self.target else { return None };
        let explodes = self.explode.is_some() || self.template.as_ref().is_some_and(|t| t.explode.is_some());
        if explodes || !self.writes_ahead() { None } else { Delimiting::of(*kind, self.style) }
    }

    /// Counts an entry; false for one that is not in the file.
    #[inline]
    pub fn count(&self, entry: Entry<'_>, counts: &mut Counts) -> bool {
        let changed = if self.minds_changes { updated_at(entry) } else { None };
        counts.newest = counts.newest.max(changed);
        if !self.is_recent(changed) {
            counts.older += 1;
            return false;
        }
        if !self.takes(entry) {
            counts.left_out += 1;
            return false;
        }
        counts.records += 1;
        true
    }

    fn takes(&self, entry: Entry<'_>) -> bool {
        self.template.as_ref().is_none_or(|template| template.takes(entry))
    }

    /// A record of which it is not known when it last changed may have changed.
    fn is_recent(&self, changed: Option<jiff::Timestamp>) -> bool {
        self.since.is_none_or(|since| changed.is_none_or(|changed| changed >= since))
    }
}

impl Maker {
    /// `in_force` is where it tells what others may make rows by.
    pub fn new(recipe: Recipe, prints: Prints, in_force: InForce) -> Maker {
        let mut columns = Columns::new(recipe.fields, recipe.target.has_dates());
        // What a template names has a column from the first, however many others there will be.
        for column in recipe.template.iter().flat_map(|template| &template.columns) {
            if let Source::Field(field) = &column.source {
                columns.want(&field.path);
            }
        }
        Maker {
            recipe: Arc::new(recipe),
            columns,
            table: None,
            gave_up: false,
            rows_written: 0,
            gathered: 0,
            in_force,
            stand_in_force: None,
            counts: Counts::default(),
            prints,
        }
    }

    /// The names of the columns in the file.
    pub fn header(&self) -> Vec<String> {
        self.slots().into_iter().map(|slot| slot.name).collect()
    }

    /// The fields that the template names and no record has.
    pub fn never_met(&self) -> Vec<&str> {
        let columns = self.recipe.template.iter().flat_map(|template| &template.columns);
        let fields = columns.filter_map(|column| match &column.source {
            Source::Field(field) => Some(field.path.as_str()),
            Source::Constant(_) => None,
        });
        let is_met = |path: &str| self.columns.known(path).is_some_and(|place| self.columns.has_values(place));
        if self.counts.records == 0 { Vec::new() } else { fields.filter(|path| !is_met(path)).collect() }
    }

    /// Values that are together in one column because there are too many columns.
    pub fn gathered(&self) -> u64 {
        self.gathered
    }

    /// Takes a page that comes for the first time; `new` says which of its entries were not met before.
    pub fn page(&mut self, page: &Page, new: &[bool]) -> Result<(), Error> {
        let mut taken = Vec::with_capacity(new.len());
        for (entry, is_new) in page.entries().zip(new) {
            if *is_new && self.recipe.count(entry, &mut self.counts) {
                self.prints.add(entry);
                taken.push(entry);
            }
        }
        if self.table.is_none() && !self.gave_up && !taken.is_empty() && self.recipe.writes_ahead() {
            // What is on the first page is met before its first row is written.
            self.write(&taken, false)?;
            self.begin()?;
        }
        let writes = self.table.is_some();
        self.gathered += self.write(&taken, writes)?;
        self.tell();
        Ok(())
    }

    /// Takes a page whose entries are all new, and whose rows were made by the layout in force.
    pub fn made(&mut self, made: Made) -> Result<(), Error> {
        self.counts.add(&made.counts);
        self.prints.extend(&made.prints);
        match &mut self.table {
            Some((ValueTable::Delimited(table), _)) => {
                self.rows_written += made.counts.rows;
                table.made(&made.bytes)?;
            }
            // All rows are written again when every column is known.
            None if self.gave_up => {}
            _ => return Err(Error::Stuck),
        }
        self.in_force.take_back(made);
        Ok(())
    }

    /// Tells those who have pages by what to make rows, when that has changed.
    fn tell(&mut self) {
        let stand = self.table.is_some().then(|| self.columns.stand());
        let Some(delimiting) = self.recipe.delimiting().filter(|_| self.stand_in_force != stand) else { return };
        self.stand_in_force = stand;
        self.in_force.set(self.table.as_ref().map(|(_, slots)| Layout {
            recipe: Arc::clone(&self.recipe),
            columns: self.columns.clone(),
            slots: slots.clone(),
            delimiting,
            prints: self.prints.are_on(),
        }));
    }

    /// Ends the file under the name `path`, writing the rows once more where that is needed: `again` gives all pages
    /// anew. Of standard output nothing is told.
    pub fn finish(
        &mut self,
        path: PathBuf,
        again: &mut dyn FnMut(Take<'_>) -> Result<(), Error>,
    ) -> Result<Option<Written>, Error> {
        let slots = self.slots();
        if self.table.as_ref().is_none_or(|(_, begun)| *begun != slots) {
            self.table = None;
            self.rows_written = 0;
            self.begin()?;
            let sort = self.recipe.template.as_ref().map(|template| template.sort.clone()).unwrap_or_default();
            match sort.is_empty() {
                true => again(&mut |page, new| self.write_again(page, new))?,
                false => {
                    let mut sorter = Sorter::new(sort, self.recipe.scratch.clone());
                    again(&mut |page, new| {
                        let wanted = self.wanted(page, new);
                        wanted.into_iter().try_for_each(|entry| sorter.add(entry))
                    })?;
                    sorter.each(&mut |page| self.write_again(page, &vec![true; page.len()]))?;
                }
            }
        }
        self.counts.rows = self.rows_written;
        match self.table.take() {
            Some((table, _)) => {
                self.counts.cut = table.cut();
                Ok(table.finish_as(path)?)
            }
            // All columns were known, and yet one came: rather no file than one that lacks rows.
            None => Err(Error::Stuck),
        }
    }

    fn wanted<'a>(&self, page: &'a Page, new: &[bool]) -> Vec<Entry<'a>> {
        let entries = page.entries().zip(new).filter(|(_, is_new)| **is_new).map(|(entry, _)| entry);
        let is_recent = |entry| self.recipe.since.is_none() || self.recipe.is_recent(updated_at(entry));
        entries.filter(|entry| is_recent(*entry) && self.recipe.takes(*entry)).collect()
    }

    fn write_again(&mut self, page: &Page, new: &[bool]) -> Result<(), Error> {
        let wanted = self.wanted(page, new);
        self.write(&wanted, true).map(drop)
    }

    fn begin(&mut self) -> Result<(), Error> {
        let slots = self.slots();
        let header: Vec<String> = slots.iter().map(|slot| slot.name.clone()).collect();
        let table = match &self.recipe.target {
            Target::File { path, shape } => {
                ValueTable::create(path, *shape, self.recipe.style, self.recipe.sheet, &header)?
            }
            Target::Stdout { kind, packing } => ValueTable::stdout(*kind, *packing, self.recipe.style, &header)?,
        };
        self.table = Some((table, slots));
        Ok(())
    }

    /// Meets the columns of entries, and writes their rows if `writes` and as long as the table's columns are all. Tells
    /// how many values have no column of their own.
    fn write(&mut self, entries: &[Entry<'_>], writes: bool) -> Result<u64, Error> {
        let Maker { recipe, columns, table, rows_written, gave_up, .. } = self;
        let explode = recipe.explode.as_deref().or(recipe.template.as_ref().and_then(|t| t.explode.as_deref()));
        let (known, had_others) = (columns.len(), columns.has_others());
        let mut others = 0;
        let is_verbatim = recipe.is_verbatim();
        let shows_all = recipe.template.as_ref().is_none_or(|template| template.others);
        let mut row = Row::default();
        let mut values = Vec::new();
        for entry in entries {
            columns.rows(*entry, explode, &mut row, |columns, row| -> Result<(), Error> {
                others += row.other_count() as u64;
                let Some((table, slots)) = table.as_mut().filter(|_| writes) else { return Ok(()) };
                if let (true, ValueTable::Lines(lines)) = (is_verbatim, &mut *table) {
                    *rows_written += 1;
                    return Ok(lines.json(entry.text())?);
                }
                values.clear();
                values.extend(slots.iter().map(|slot| value(recipe, columns, row, &slot.from)));
                *rows_written += 1;
                Ok(table.row(&values)?)
            })?;
        }
        let grew = columns.len() > known || columns.has_others() && !had_others;
        if writes && grew && shows_all && !is_verbatim {
            *table = None;
            *gave_up = true;
        }
        Ok(others)
    }

    fn slots(&self) -> Vec<Slot> {
        let columns = &self.columns;
        let met = |place: usize| Slot { name: columns.name(place).to_owned(), from: From::Met(place) };
        let mut slots = Vec::new();
        let mut used = Vec::new();
        let template = self.recipe.template.as_ref().filter(|template| !template.columns.is_empty());
        for (number, column) in template.iter().flat_map(|template| &template.columns).enumerate() {
            let place = match &column.source {
                Source::Field(field) => self.columns.known(&field.path),
                Source::Constant(_) => None,
            };
            used.extend(place);
            slots.push(Slot { name: column.name.clone(), from: From::Template(number, place) });
        }
        if template.is_none_or(|template| template.others) {
            slots.extend(columns.shown().into_iter().filter(|place| !used.contains(place)).map(met));
            if columns.has_others() {
                slots.push(Slot { name: columns::OTHERS.to_owned(), from: From::Others });
            }
        }
        slots
    }
}

fn updated_at(entry: Entry<'_>) -> Option<jiff::Timestamp> {
    let json = entry.field("\"updated_at\"").map(|(json, _)| json);
    let text = text(json.or_else(|| json_at(entry, "updated_at")));
    text.parse().ok()
}
