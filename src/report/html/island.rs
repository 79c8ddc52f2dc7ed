//! The rows of the page, as data for its script. Their number and their length are bounded, so that a browser can open
//! what is written; what is left out is counted and said.

use std::io::{self, Write};

use serde::Serialize;

use super::super::row::{Fault, ReportRow};
use super::visible::cut;
use crate::ledger::{Causes, Problem, Run};

/// Rows that have a problem, and as many again that have none: those of the first kind are never left out for the others.
const MAX_ROWS: u64 = 50_000;
/// Bytes of the rows of either kind.
const MAX_BYTES: u64 = 48 << 20;
/// Characters of a cell.
const MAX_CELL: usize = 10_000;
/// Characters of a value by which causes are told apart.
const CAUSE_VALUE: usize = 1_000;
/// Rows that are shown to readers whose browser runs no scripts, and the characters of their words.
const PLAIN_ROWS: usize = 200;
const PLAIN_WORDS: usize = 600;

/// What the rows were, once they are written.
#[derive(Default)]
pub(super) struct Shown {
    pub rows: u64,
    pub left_out: u64,
    /// Of all rows, also of those that are left out.
    pub causes: Causes,
    /// The first rows, for readers without scripts.
    pub plain: Vec<PlainRow>,
}

pub(super) struct PlainRow {
    pub number: u64,
    pub sheet: String,
    pub state: &'static str,
    pub words: String,
}

pub(super) struct Island<'a, W: Write> {
    to: &'a mut W,
    shown: Shown,
    problems: Room,
    others: Room,
}

/// What may still be written.
struct Room {
    rows: u64,
    bytes: u64,
}

/// A row as the script reads it. What is not there is left out.
#[derive(Serialize)]
struct Data<'a> {
    row: u64,
    state: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    sheet: &'a str,
    /// As text, the blank ones at the end left out.
    cells: Vec<String>,
    /// The cells that are longer than what is here, with their length in characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<(usize, usize)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<FaultData<'a>>,
    /// What is said of a row that has no fault of its own.
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ctx_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
}

#[derive(Serialize)]
struct FaultData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(skip_serializing_if = "str::is_empty")]
    field: &'a str,
    /// Where it is not the text of the cell.
    #[serde(skip_serializing_if = "str::is_empty")]
    value: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    remedy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<usize>,
}

impl<'a, W: Write> Island<'a, W> {
    pub fn begin(to: &'a mut W, run: &Run) -> io::Result<Island<'a, W>> {
        to.write_all(b"<script type=\"application/json\" id=\"data\">{\"header\":")?;
        write_json(to, &run.about.header)?;
        write!(to, ",\"sheets\":{},\"rows\":[", run.about.reads_several_sheets())?;
        let room = || Room { rows: MAX_ROWS, bytes: MAX_BYTES };
        Ok(Island { to, shown: Shown::default(), problems: room(), others: room() })
    }

    pub fn row(&mut self, row: &ReportRow<'_>) -> io::Result<()> {
        let causes = row.faults.iter().map(|fault| self.add_cause(row, fault)).collect::<Vec<_>>();
        let room = if row.outcome.state().is_problem() { &mut self.problems } else { &mut self.others };
        if room.rows == 0 {
            self.shown.left_out += 1;
            return Ok(());
        }
        let json = escaped(&serde_json::to_string(&data(row, &causes))?);
        let Some(bytes) = room.bytes.checked_sub(json.len() as u64) else {
            // Those that follow would leave a gap, in which nobody looks for a row.
            room.rows = 0;
            self.shown.left_out += 1;
            return Ok(());
        };
        *room = Room { rows: room.rows - 1, bytes };
        self.to.write_all(if self.shown.rows == 0 { b"\n" } else { b",\n" })?;
        self.to.write_all(json.as_bytes())?;
        self.shown.rows += 1;
        if self.shown.plain.len() < PLAIN_ROWS {
            self.shown.plain.push(plain(row));
        }
        Ok(())
    }

    pub fn finish(self) -> io::Result<Shown> {
        self.to.write_all(b"\n]}</script>\n")?;
        Ok(self.shown)
    }

    /// The service names fields only; people look for the column.
    fn add_cause(&mut self, row: &ReportRow<'_>, fault: &Fault<'_>) -> Option<usize> {
        let header = fault.column.and_then(|column| row.run.about.header.get(column));
        let value = cut(&fault.problem.value, CAUSE_VALUE).0.to_owned();
        let header = header.cloned().unwrap_or_else(|| fault.problem.header.clone());
        let Problem { code, row: of, field, sheet, message, remedy, .. } = fault.problem.clone();
        let problem = Problem { code, row: of, column: fault.column, header, field, value, sheet, message, remedy };
        self.shown.causes.add(row.source.number, &problem)
    }
}

fn data<'a>(row: &'a ReportRow<'_>, causes: &[Option<usize>]) -> Data<'a> {
    let outcome = row.outcome;
    let mut long = Vec::new();
    let mut cells: Vec<String> = Vec::with_capacity(row.cells.len());
    for (place, cell) in row.cells.cells().enumerate() {
        let text = cell.shown();
        let (shown, is_all) = cut(&text, MAX_CELL);
        if !is_all {
            long.push((place, text.chars().count()));
        }
        cells.push(shown.to_owned());
    }
    cells.truncate(cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1));
    let faults = row.faults.iter().zip(causes).map(|(fault, cause)| {
        let value = cut(&fault.problem.value, MAX_CELL).0;
        let is_cell = fault.column.and_then(|column| cells.get(column)).is_some_and(|cell| cell == value);
        FaultData {
            column: fault.column,
            field: &fault.problem.field,
            value: if is_cell { "" } else { value },
            message: cut(&fault.problem.message, MAX_CELL).0,
            remedy: cut(&fault.problem.remedy, MAX_CELL).0,
            cause: *cause,
        }
    });
    Data {
        row: row.source.number,
        state: outcome.state().name(),
        sheet: &row.source.sheet,
        faults: faults.collect(),
        cells,
        cut: long,
        note: if row.faults.is_empty() { row.errors() } else { String::new() },
        service_id: outcome.service_id(),
        ctx_id: outcome.ctx_id(),
        job_id: outcome.job_id(),
        http_status: outcome.http_status(),
        attempts: outcome.attempts(),
    }
}

fn plain(row: &ReportRow<'_>) -> PlainRow {
    let words = row.errors();
    let (shown, is_all) = cut(&words, PLAIN_WORDS);
    PlainRow {
        number: row.source.number,
        sheet: row.source.sheet.clone(),
        state: row.outcome.state().name(),
        words: if is_all { words } else { format!("{shown}…") },
    }
}

fn write_json(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    to.write_all(escaped(&serde_json::to_string(value)?).as_bytes())
}

/// JSON as it may stand between `<script>` and `</script>`: nothing in it ends the one or begins a comment. The signs
/// only ever stand in its texts, where they can be written so.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 32);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn no_text_ends_the_script_and_each_comes_back(text in "(</script|<!--|]]>|&lt;|\u{2028}|\\PC|\0|\"|\\\\){0,9}") {
            let written = escaped(&serde_json::to_string(&text).expect("JSON"));
            let dangerous = ['<', '>', '&', '\u{2028}', '\0'];
            prop_assert!(!written.contains(dangerous));
            prop_assert_eq!(serde_json::from_str::<String>(&written).expect("JSON"), text);
        }
    }
}
