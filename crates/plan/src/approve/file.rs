//! Reading a file of changes that came back from a person.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::{Map, Value};
use sheetport_ledger::Seq;
use sheetport_sheet::{self as sheet, Book, Options, Row};
use sheetport_values::boolean;

use super::id::ChangeId;
use crate::error::Error;

/// The columns that are read. Programs write them, so they are not translated.
pub const APPROVE: &str = "approve";
pub const FIELD: &str = "field";
pub const PLANNED: &str = "planned";
pub const PLAN: &str = "plan";
const COLUMNS: [&str; 4] = [APPROVE, FIELD, PLANNED, PLAN];
/// Rows searched for the titles of the columns.
const HEADER_ROWS: usize = 20;
/// Maximum length of a line of NDJSON, in bytes.
const MAX_LINE: u64 = 16 << 20;

/// What the file says about a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub seq: Seq,
    /// Empty for a record as a whole.
    pub field: Box<str>,
    /// The row or line of the file.
    pub row: u64,
    /// `None` if the cell is blank.
    pub approves: Option<bool>,
    /// The cell of the planned value. `None` if the file lacks it.
    pub planned: Option<Box<str>>,
}

/// Why a file of changes can't be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("it has no column '{0}'")]
    NoColumn(&'static str),
    #[error("it has no row below its titles, so nothing says which plan it is")]
    NoRows,
    #[error(
        "row {row} names no change of a plan: its cell in the column 'plan' or 'field' was edited, or the row was added"
    )]
    Edited { row: u64 },
    #[error("row {row} belongs to the plan {found}, and the rows before it to {first}")]
    OtherPlan { row: u64, found: String, first: String },
    #[error("'{word}' in row {row} is neither yes nor no")]
    NeitherYesNorNo { row: u64, word: String },
    #[error("line {row} is no JSON object: {why}")]
    NotJson { row: u64, why: String },
    #[error("it is compressed")]
    Compressed,
}

impl Refused {
    /// Returns what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Refused::NoColumn(_) => {
                "give the file that `sheetport plan -o` has written, with its columns, or the number of the run"
            }
            Refused::NoRows => "give the number of the run instead, or plan the file again",
            Refused::Edited { .. } | Refused::NotJson { .. } => {
                "take the row away, or plan again and write the changes to a new file; rows may be removed and sorted, and only 'approve' and 'planned' edited"
            }
            Refused::OtherPlan { .. } => "apply the files of the plans one by one",
            Refused::Compressed => "unpack it first",
            Refused::NeitherYesNorNo { .. } => "write yes or no, or leave the cell blank",
        }
    }
}

/// A file of changes.
#[derive(Debug)]
pub struct ChangesFile {
    /// The name of the plan, with the number of its run.
    pub plan: String,
    pub run: i64,
    /// In the order of records.
    pub marks: Vec<Mark>,
}

impl ChangesFile {
    /// Reads the file `at`; messages name `path`.
    ///
    /// # Errors
    /// [`Error::Sheet`] if the file can't be read. The inner error says why its content can't be used.
    pub fn read(at: &Path, path: &Path) -> Result<Result<ChangesFile, Refused>, Error> {
        let of_file = |error: sheet::Error| Error::from(error.of_file(path));
        let mut rows = Rows::default();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if name.ends_with(".ndjson.gz") || name.ends_with(".ndjson.zst") {
            return Ok(Err(Refused::Compressed));
        }
        let read = match is_ndjson(path) {
            true => read_lines(at, &mut rows).map_err(|source| sheet::Error::Open { path: path.to_owned(), source })?,
            false => {
                let book = sheet::open(at, &Options::default()).map_err(of_file)?;
                read_book(&book, &mut rows).map_err(of_file)?
            }
        };
        Ok(read.and_then(|()| rows.finish()))
    }
}

fn is_ndjson(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| extension == "ndjson" || extension == "jsonl")
}

/// The rows so far.
#[derive(Default)]
struct Rows {
    plan: Option<(String, i64)>,
    marks: Vec<Mark>,
}

impl Rows {
    fn add(
        &mut self,
        row: u64,
        plan: &str,
        field: &str,
        approve: &str,
        planned: Option<Box<str>>,
    ) -> Result<(), Refused> {
        let field = field.trim();
        let id = ChangeId::parse(plan.trim(), field).ok_or(Refused::Edited { row })?;
        let run = id.run().ok_or(Refused::Edited { row })?;
        match &self.plan {
            Some((first, _)) if *first != id.plan => {
                return Err(Refused::OtherPlan { row, found: id.plan, first: first.clone() });
            }
            Some(_) => {}
            None => self.plan = Some((id.plan, run)),
        }
        let approves = match approve.trim() {
            "" => None,
            word => {
                let known = boolean::parse(word);
                Some(known.ok_or_else(|| Refused::NeitherYesNorNo { row, word: word.to_owned() })?)
            }
        };
        self.marks.push(Mark { seq: id.seq, field: field.into(), row, approves, planned });
        Ok(())
    }

    fn finish(self) -> Result<ChangesFile, Refused> {
        let Rows { plan, mut marks } = self;
        let (plan, run) = plan.ok_or(Refused::NoRows)?;
        marks.sort_by_key(|mark| mark.seq);
        Ok(ChangesFile { plan, run, marks })
    }
}

/// Reads the first sheet with our columns.
fn read_book(book: &Book, found: &mut Rows) -> Result<Result<(), Refused>, sheet::Error> {
    let mut missing = None;
    for sheet in 0..book.sheets().len() {
        for header in book.first_rows(sheet, HEADER_ROWS)? {
            match columns(&header) {
                Ok(columns) => return read_rows(book, sheet, header.number, columns, found),
                // The row with most of our titles says best what is missing.
                Err((count, column)) if missing.is_none_or(|(most, _)| count > most) => missing = Some((count, column)),
                Err(_) => {}
            }
        }
    }
    Ok(Err(Refused::NoColumn(missing.map_or(PLAN, |(_, column)| column))))
}

/// Returns the places of [`COLUMNS`], or their number and the first one that is missing.
fn columns(header: &Row) -> Result<[usize; 4], (usize, &'static str)> {
    let titles: Vec<String> = header.cells().map(|cell| cell.shown().trim().to_lowercase()).collect();
    let place = |name: &str| titles.iter().position(|title| title == name);
    let count = COLUMNS.iter().filter(|name| place(name).is_some()).count();
    let [approve, field, planned, plan] = COLUMNS.map(|name| place(name).ok_or((count, name)));
    Ok([approve?, field?, planned?, plan?])
}

fn read_rows(
    book: &Book,
    sheet: usize,
    header: u64,
    [approve, field, planned, plan]: [usize; 4],
    found: &mut Rows,
) -> Result<Result<(), Refused>, sheet::Error> {
    let (mut rows, mut row) = (book.rows(sheet)?, Row::default());
    while rows.next(&mut row)? {
        if row.number <= header || row.is_blank() {
            continue;
        }
        let shown = |column: usize| row.get(column).shown();
        // A program may have given the number another format.
        let value = row.get(planned).unformatted().shown().into();
        let added = found.add(row.number, &shown(plan), &shown(field), &shown(approve), Some(value));
        if added.is_err() {
            return Ok(added);
        }
    }
    Ok(Ok(()))
}

/// Reads a file with a JSON object per line.
fn read_lines(path: &Path, found: &mut Rows) -> std::io::Result<Result<(), Refused>> {
    let mut file = BufReader::new(File::open(path)?);
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        if file.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(Ok(()));
        }
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let fields: Map<String, Value> = match serde_json::from_slice(&line) {
            Ok(fields) => fields,
            Err(error) => return Ok(Err(Refused::NotJson { row: number, why: error.to_string() })),
        };
        let text = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let planned = fields.contains_key(PLANNED).then(|| text(PLANNED).into());
        let added = found.add(number, &text(PLAN), &text(FIELD), &text(APPROVE), planned);
        if added.is_err() {
            return Ok(added);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::id::change_id;
    use super::*;

    fn read(name: &str, text: &str) -> Result<ChangesFile, Refused> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        ChangesFile::read(&path, &path).expect("read")
    }

    fn approvals(file: &ChangesFile) -> Vec<(Seq, &str, Option<bool>)> {
        file.marks.iter().map(|mark| (mark.seq, &*mark.field, mark.approves)).collect()
    }

    #[test]
    fn a_file_with_other_columns_and_order_is_read() {
        let (first, price) = (change_id("2-bcdfgh", 0, ""), change_id("2-bcdfgh", 3, "price"));
        let text = format!("note;Plan;field;planned;approve\nx;{price};price;1,20;nein\n;;;;\n;{first};;;JA\n");
        let file = read("changes.csv", &text).expect("a file of changes");
        assert_eq!((file.plan.as_str(), file.run), ("2-bcdfgh", 2));
        assert_eq!(approvals(&file), [(0, "", Some(true)), (3, "price", Some(false))]);
        assert_eq!(file.marks[1].row, 2);
        let lines = format!(
            "{{\"plan\":\"{first}\"}}\n\n{{\"plan\":\"{price}\",\"field\":\"price\",\"planned\":1.20,\"approve\":true}}\n"
        );
        let file = read("changes.ndjson", &lines).expect("a file of changes");
        assert_eq!(approvals(&file), [(0, "", None), (3, "price", Some(true))]);
        assert_eq!(file.marks[1].planned.as_deref(), Some("1.20"));
    }

    #[test]
    fn what_is_no_file_of_changes_is_refused() {
        let id = change_id("2-bcdfgh", 0, "");
        let other = change_id("3-bcdfgh", 0, "");
        let refused = |text: &str| read("changes.csv", text).expect_err("refused");
        assert_eq!(refused("approve,field,plan\n,,x\n"), Refused::NoColumn(PLANNED));
        assert_eq!(read("changes.ndjson.gz", "x").expect_err("refused"), Refused::Compressed);
        assert_eq!(refused("approve,field,planned,plan\n"), Refused::NoRows);
        assert_eq!(refused("approve,field,planned,plan\n,,,x\n"), Refused::Edited { row: 2 });
        assert_eq!(refused(&format!("approve,field,planned,plan\n,price,1,{id}\n")), Refused::Edited { row: 2 });
        let word = Refused::NeitherYesNorNo { row: 2, word: "perhaps".to_owned() };
        assert_eq!(refused(&format!("approve,field,planned,plan\nperhaps,,,{id}\n")), word);
        let mixed = Refused::OtherPlan { row: 3, found: "3-bcdfgh".to_owned(), first: "2-bcdfgh".to_owned() };
        assert_eq!(refused(&format!("approve,field,planned,plan\n,,,{id}\n,,,{other}\n")), mixed);
    }
}
