//! One fix for all rows of a cause.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;
use sheetport_documents::nearest;
use sheetport_findings::{FixKind, Scope};
use sheetport_ledger::Edit;
use sheetport_sheet::Row;

use super::super::edit_log::{EditLog, LEFT_OUT};
use super::super::problems::{CheckedSheet, ProblemPlace};
use super::super::sheet::RowStore;
use super::super::template::allowed_texts;
use crate::error::Error;

/// Number of rows read at a time.
const CHUNK: usize = 4_096;
/// Examples in a preview.
const SAMPLES: usize = 3;
/// Maximum number of problems of a cause for which every possible fix is tried.
const MAX_TRIED: usize = 20_000;
/// Number of different texts of a cause that are counted.
const MAX_VALUES: usize = 8;
/// Number of rows examined for the usual length of identifiers.
const SURVEYED: usize = 1_000;

/// Maximum number of texts in a `replace` or `map` that a fix adds to a template.
const MAX_TEXTS: usize = 20;

/// A change of every cell or row of a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Writes this text into each cell.
    Set(String),
    /// Replaces a part of each cell.
    ReplacePart { find: String, with: String },
    /// Removes leading, trailing and repeated spaces, and invisible characters.
    Tidy,
    /// Keeps the first number of each cell.
    NumberOnly,
    /// Takes the text of the cell above.
    FillFromAbove,
    /// Adds zeros at the beginning, up to this length.
    PadZeros(usize),
    /// Leaves the rows out.
    LeaveOut,
    /// Leaves out all but the first row with the same cell.
    KeepFirst,
    /// Leaves out all but the last row with the same cell.
    KeepLast,
}

/// An applied fix, with the data needed to express it in a template.
#[derive(Clone, Debug)]
pub struct MadeFix {
    pub fix: Fix,
    /// The step of the edits.
    pub step: i64,
    /// Number of changed cells, or of rows left out.
    pub count: usize,
    /// The column of the cells with the problem.
    pub column: Option<usize>,
    /// The distinct texts of these cells; empty if there are more than `MAX_TEXTS`.
    pub texts: Vec<String>,
    /// Whether the problem is in the cell, and not between several rows or with the service.
    pub is_of_cell: bool,
}

/// A possible fix for a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixChoice {
    pub fix: Fix,
    pub preview: FixPreview,
}

/// The changes that a fix would make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixPreview {
    /// Cells, or rows left out.
    pub count: usize,
    /// Whether the count follows from the first cells of very many.
    pub is_estimate: bool,
    /// Rows with the text before and after.
    pub samples: Vec<(u64, String, String)>,
}

/// The rows of a cause, and the data needed to change these rows.
pub struct CauseRows<'a> {
    sheet: &'a CheckedSheet,
    rows: &'a RowStore,
    log: &'a EditLog,
    cause: usize,
    /// The problems that are meant, ordered by row.
    places: Cow<'a, [ProblemPlace]>,
}

/// A cell or a row to change: row, column, text before, text after.
type Change = (u64, Option<usize>, String, String);

impl<'a> CauseRows<'a> {
    /// Returns the rows of a cause. With `value`, only those whose cell has this text.
    ///
    /// # Errors
    /// If the rows can't be read.
    pub fn new(
        sheet: &'a CheckedSheet,
        (rows, log): (&'a RowStore, &'a EditLog),
        cause: usize,
        value: Option<&str>,
    ) -> Result<CauseRows<'a>, Error> {
        let mut all = CauseRows { sheet, rows, log, cause, places: Cow::Borrowed(sheet.of_cause(cause)) };
        if let Some(value) = value {
            let mut found = Vec::new();
            all.each_cell(&all.places, all.column(), |row, column, text, _| {
                if text == value {
                    found.push(ProblemPlace { row, column: u32::try_from(column).ok() });
                }
            })?;
            all.places = Cow::Owned(found);
        }
        Ok(all)
    }

    /// Returns the problems that are meant, ordered by row.
    pub fn places(&self) -> &[ProblemPlace] {
        &self.places
    }

    /// Returns the possible fixes, each with a preview of its changes.
    pub fn choices(&self) -> Result<Vec<FixChoice>, Error> {
        let Some(cause) = self.sheet.causes.get(self.cause) else { return Ok(Vec::new()) };
        let problem = &cause.problem;
        let mut fixes = Vec::new();
        for kind in problem.code.fixes() {
            match kind {
                FixKind::Nearest => fixes.extend(
                    nearest(&problem.value, self.allowed().iter().map(String::as_str))
                        .map(|to| Fix::Set(to.to_owned())),
                ),
                FixKind::KeepOne => fixes.extend([Fix::KeepLast, Fix::KeepFirst]),
                FixKind::NumberOnly => fixes.push(Fix::NumberOnly),
                FixKind::FillFromAbove => fixes.push(Fix::FillFromAbove),
                FixKind::PadZeros => fixes.extend(self.usual_length()?.map(Fix::PadZeros)),
            }
        }
        if self.column().is_some() {
            fixes.push(Fix::Tidy);
        }
        fixes.push(Fix::LeaveOut);
        let is_small = self.places.len() <= MAX_TRIED;
        let mut of_cells = self.previews_of_cells(&fixes)?.into_iter();
        let mut choices = Vec::new();
        for fix in fixes {
            let preview = match of_cells.next().flatten() {
                Some(preview) => preview,
                None if is_small => self.preview(&fix)?,
                None => FixPreview { count: self.places.len().max(cause.count as usize), ..FixPreview::default() },
            };
            if preview.count > 0 {
                choices.push(FixChoice { fix, preview });
            }
        }
        Ok(choices)
    }

    /// Returns the most frequent texts of the cells of the cause, each with its number. Returns none for very many cells, and for
    /// problems without a cell.
    ///
    /// # Errors
    /// If the rows can't be read.
    pub fn values(&self) -> Result<Vec<(String, u64)>, Error> {
        let all = self.sheet.of_cause(self.cause);
        if all.len() > MAX_TRIED || self.column().is_none() {
            return Ok(Vec::new());
        }
        let mut counts: HashMap<String, u64> = HashMap::new();
        self.each_cell(all, self.column(), |_, _, text, _| *counts.entry(text).or_default() += 1)?;
        let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
        counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        counts.truncate(MAX_VALUES);
        Ok(counts)
    }

    /// Returns what each fix of cells would change, from reading the rows once; `None` for fixes that leave rows out.
    fn previews_of_cells(&self, fixes: &[Fix]) -> Result<Vec<Option<FixPreview>>, Error> {
        let is_of_cells = |fix: &Fix| !matches!(fix, Fix::LeaveOut | Fix::KeepFirst | Fix::KeepLast);
        let mut previews: Vec<Option<FixPreview>> =
            fixes.iter().map(|fix| is_of_cells(fix).then(FixPreview::default)).collect();
        let mut fills = vec![Filling::default(); fixes.len()];
        let problems = self.places();
        let tried = &problems[..problems.len().min(MAX_TRIED)];
        if previews.iter().any(Option::is_some) {
            self.each_cell(tried, self.column(), |row, _, text, above| {
                for ((fix, filling), preview) in fixes.iter().zip(&mut fills).zip(&mut previews) {
                    let Some(preview) = preview else { continue };
                    if let Some(new) = filling.changed(fix, row, &text, above.as_deref()) {
                        preview.add(row, text.clone(), new);
                    }
                }
            })?;
        }
        // Of very many cells, the first ones tell how many are concerned.
        let (all, tried) = (problems.len() as u64, tried.len().max(1) as u64);
        for preview in previews.iter_mut().flatten().filter(|_| all > tried) {
            preview.count = usize::try_from(preview.count as u64 * all / tried).unwrap_or(usize::MAX);
            preview.is_estimate = true;
        }
        Ok(previews)
    }

    /// Returns the allowed texts of the cells, if the template lists them.
    pub fn allowed(&self) -> Vec<String> {
        let Some(cause) = self.sheet.causes.get(self.cause) else { return Vec::new() };
        let rule = self.sheet.template.rules().find(|rule| rule.field.name == cause.problem.field);
        rule.map(allowed_texts).unwrap_or_default()
    }

    /// Returns a preview of the changes of a fix.
    pub fn preview(&self, fix: &Fix) -> Result<FixPreview, Error> {
        let mut preview = FixPreview::default();
        self.each_change(fix, |(row, _, before, after)| preview.add(row, before, after))?;
        Ok(preview)
    }

    /// Returns the edits of a fix.
    pub fn edits(&self, fix: &Fix) -> Result<Vec<Edit>, Error> {
        let sheet = self.sheet_index();
        let mut changes = Vec::new();
        self.each_change(fix, |(row, column, _, after)| changes.push((sheet, row, column, Some(after))))?;
        Ok(self.log.edits(changes))
    }

    /// Returns the data for the template. The caller sets step and count when the edits are stored.
    pub fn made(&self, fix: &Fix) -> Result<MadeFix, Error> {
        let column = self.column();
        let mut texts = BTreeSet::new();
        if matches!(fix, Fix::Set(_) | Fix::LeaveOut) {
            self.each_cell(&self.places, column, |_, _, text, _| {
                if texts.len() <= MAX_TEXTS {
                    texts.insert(text);
                }
            })?;
        }
        if texts.len() > MAX_TEXTS {
            texts.clear();
        }
        let cause = self.sheet.causes.get(self.cause);
        let is_of_cell = cause.is_some_and(|cause| !cause.is_refusal && cause.problem.code.scope() != Scope::Rows);
        Ok(MadeFix { fix: fix.clone(), step: 0, count: 0, column, texts: texts.into_iter().collect(), is_of_cell })
    }

    fn sheet_index(&self) -> usize {
        self.sheet.sheet_index()
    }

    /// Returns the column of the cause's cells.
    fn column(&self) -> Option<usize> {
        self.sheet.causes.get(self.cause).and_then(|cause| self.sheet.column_of(&cause.problem))
    }

    fn each_change(&self, fix: &Fix, mut change: impl FnMut(Change)) -> Result<(), Error> {
        let problems = self.places();
        let column = self.column();
        match fix {
            Fix::LeaveOut => {
                let mut rows: Vec<u64> = problems.iter().map(|problem| problem.row).filter(|row| *row > 0).collect();
                rows.dedup();
                let is_in = |row: &u64| !self.log.current().leaves_out(self.sheet_index(), *row);
                rows.into_iter().filter(is_in).for_each(|row| change((row, None, String::new(), LEFT_OUT.to_owned())));
            }
            Fix::KeepFirst | Fix::KeepLast => {
                let Some(column) = column else { return Ok(()) };
                let mut by_text: HashMap<String, Vec<u64>> = HashMap::new();
                self.each_cell(problems, Some(column), |row, _, text, _| by_text.entry(text).or_default().push(row))?;
                // For repeated records, the problem may be reported for one of the rows only.
                self.add_equal(column, &mut by_text)?;
                let mut rows: Vec<u64> = Vec::new();
                for mut same in by_text.into_values().filter(|same| same.len() > 1) {
                    same.sort_unstable();
                    same.dedup();
                    let kept = if *fix == Fix::KeepFirst { 0 } else { same.len() - 1 };
                    rows.extend(same.into_iter().enumerate().filter(|(nth, _)| *nth != kept).map(|(_, row)| row));
                }
                rows.sort_unstable();
                rows.into_iter().for_each(|row| change((row, None, String::new(), LEFT_OUT.to_owned())));
            }
            fix => {
                let mut filling = Filling::default();
                self.each_cell(problems, column, |row, column, text, above| {
                    if let Some(new) = filling.changed(fix, row, &text, above.as_deref()) {
                        change((row, Some(column), text, new));
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Adds the other rows of the sheet whose cells have one of these texts: from the numbers of the records, which are known, or by
    /// reading the sheet where the cells are no numbers of records.
    fn add_equal(&self, column: usize, by_text: &mut HashMap<String, Vec<u64>>) -> Result<(), Error> {
        let field = self.sheet.causes.get(self.cause).map_or("", |cause| cause.problem.field.as_str());
        let is_key = self.sheet.template.input().key.contains(&field);
        let known = by_text.keys().filter(|_| is_key).map(|text| (text.clone(), self.sheet.rows_with_key(text.trim())));
        let known: Vec<(String, Vec<u64>)> = known.take_while(|(_, rows)| rows.len() > 1).collect();
        if known.len() == by_text.len() {
            let sheet = self.sheet_index();
            for (text, rows) in known {
                let rows = rows.into_iter().filter(|row| !self.log.current().leaves_out(sheet, *row));
                by_text.entry(text).or_default().extend(rows);
            }
            return Ok(());
        }
        let header = self.sheet.source.tables.first().map_or(0, |part| part.layout.header.row);
        let (mut from, sheet) = (0, self.sheet_index());
        loop {
            let rows = self.rows.window(from, CHUNK)?;
            if rows.is_empty() {
                return Ok(());
            }
            from += rows.len() as u64;
            for row in rows.iter().filter(|row| row.number > header) {
                if !self.log.current().leaves_out(sheet, row.number)
                    && let Some(same) = by_text.get_mut(&self.text(row, column))
                {
                    same.push(row.number);
                }
            }
        }
    }

    /// Calls `each` with the row, the column, the text of the cell and the text of the cell above.
    fn each_cell(
        &self,
        problems: &[ProblemPlace],
        column: Option<usize>,
        mut each: impl FnMut(u64, usize, String, Option<String>),
    ) -> Result<(), Error> {
        for chunk in problems.chunks(CHUNK) {
            let numbers: Vec<u64> = chunk.iter().map(|problem| problem.row).collect();
            let mut wanted: Vec<u64> = numbers.iter().flat_map(|row| [row.saturating_sub(1), *row]).collect();
            wanted.dedup();
            let rows: HashMap<u64, Row> =
                self.rows.numbered(&wanted)?.into_iter().map(|row| (row.number, row)).collect();
            for problem in chunk {
                let Some(column) = problem.column.map(|column| column as usize).or(column) else { continue };
                let Some(row) = rows.get(&problem.row) else { continue };
                if self.log.current().leaves_out(self.sheet_index(), row.number) {
                    continue;
                }
                let above = rows.get(&problem.row.saturating_sub(1)).map(|row| self.text(row, column));
                each(problem.row, column, self.text(row, column), above);
            }
        }
        Ok(())
    }

    /// Returns the current text of a cell.
    fn text(&self, row: &Row, column: usize) -> String {
        let edited = self.log.current().cell(self.sheet_index(), row.number, column);
        edited.map_or_else(|| row.get(column).shown().into_owned(), str::to_owned)
    }

    /// Returns the most frequent length of texts of digits in the column that begin with a zero.
    fn usual_length(&self) -> Result<Option<usize>, Error> {
        let Some(column) = self.column() else { return Ok(None) };
        let mut lengths: HashMap<usize, usize> = HashMap::new();
        for row in self.rows.window(0, SURVEYED)? {
            let text = self.text(&row, column);
            if text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()) {
                *lengths.entry(text.len()).or_default() += 1;
            }
        }
        Ok(lengths.into_iter().max_by_key(|(length, count)| (*count, *length)).map(|(length, _)| length))
    }
}

impl FixPreview {
    fn add(&mut self, row: u64, before: String, after: String) {
        self.count += 1;
        if self.samples.len() < SAMPLES {
            self.samples.push((row, before, after));
        }
    }
}

/// The last row that a fix has changed, with its new text: the cell above may be one that the fix has just filled.
#[derive(Clone, Debug, Default)]
struct Filling(Option<(u64, String)>);

impl Filling {
    /// Returns the new text of a cell if the fix changes it.
    fn changed(&mut self, fix: &Fix, row: u64, text: &str, above: Option<&str>) -> Option<String> {
        let filled = self.0.take().filter(|(last, _)| *fix == Fix::FillFromAbove && last + 1 == row);
        let above = filled.as_ref().map(|(_, text)| text.as_str()).or(above);
        let new = changed(fix, text, above).filter(|new| new != text)?;
        self.0 = Some((row, new.clone()));
        Some(new)
    }
}

/// Returns the new text of a cell, or `None` if the fix does not apply.
fn changed(fix: &Fix, text: &str, above: Option<&str>) -> Option<String> {
    match fix {
        Fix::Set(to) => Some(to.clone()),
        Fix::ReplacePart { find, with } => (!find.is_empty()).then(|| text.replace(find.as_str(), with)),
        // A blank cell needs a value, and not fewer spaces.
        Fix::Tidy => Some(tidied(text)).filter(|tidy| !tidy.is_empty()),
        Fix::NumberOnly => only_number(text),
        Fix::FillFromAbove => {
            above.filter(|above| text.trim().is_empty() && !above.trim().is_empty()).map(str::to_owned)
        }
        Fix::PadZeros(length) => {
            let is_short = text.len() < *length && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_short.then(|| format!("{text:0>length$}"))
        }
        Fix::LeaveOut | Fix::KeepFirst | Fix::KeepLast => None,
    }
}

/// Returns the only number of a text. A number beside a letter, such as 12.5O, may have another digit there, and of several numbers none
/// is certain.
fn only_number(text: &str) -> Option<String> {
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[-+]?[0-9][0-9.,'’ \u{a0}]*[0-9]|[-+]?[0-9]").expect("a valid pattern"));
    let mut numbers = NUMBER.find_iter(text);
    let number = numbers.next().filter(|_| numbers.next().is_none())?;
    let before = text[..number.start()].chars().next_back();
    let after = text[number.end()..].chars().next();
    let is_apart = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    (is_apart(before) && is_apart(after)).then(|| number.as_str().to_owned())
}

/// Removes leading, trailing and repeated spaces, and invisible characters.
fn tidied(text: &str) -> String {
    let visible = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|c| !sheetport_files::visible::is_invisible(*c));
    visible.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fix_changes_the_cells_that_it_is_for() {
        let replace = |find: &str, with: &str| Fix::ReplacePart { find: find.to_owned(), with: with.to_owned() };
        for (fix, text, above, expected) in [
            (Fix::Set("pcs".to_owned()), "pcs ", None, Some("pcs")),
            (replace("O", "0"), "12.5O", None, Some("12.50")),
            (replace("", "0"), "12", None, None),
            (Fix::Tidy, "  Bolt \u{200b} M8\u{a0}", None, Some("Bolt M8")),
            (Fix::NumberOnly, "EUR 1.234,50 / pc", None, Some("1.234,50")),
            (Fix::NumberOnly, "-7", None, Some("-7")),
            (Fix::NumberOnly, "on request", None, None),
            (Fix::NumberOnly, "12.5O", None, None),
            (Fix::NumberOnly, "10 – 20", None, None),
            (Fix::FillFromAbove, " ", Some("Bolt"), Some("Bolt")),
            (Fix::FillFromAbove, "Nut", Some("Bolt"), None),
            (Fix::PadZeros(6), "4930", None, Some("004930")),
            (Fix::PadZeros(6), "A930", None, None),
            (Fix::PadZeros(3), "4930", None, None),
        ] {
            assert_eq!(changed(&fix, text, above).as_deref(), expected, "{fix:?} {text}");
        }
    }
}
