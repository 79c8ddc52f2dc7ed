//! The rows of the page as JSON for its script, limited to what a browser can handle. Omitted rows are counted.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use sheetport_ledger::{Causes, Problem, RecordState, Run};

use super::super::rows::{Fault, ReportRow};
use super::cut::cut;

/// Maximum number of rows with a problem, and separately of rows without a problem.
const MAX_ROWS: u64 = 50_000;
/// Maximum size of the rows of either kind, in bytes.
const MAX_BYTES: u64 = 48 << 20;
/// Maximum length of a cell, in characters.
const MAX_CELL: usize = 10_000;
/// Maximum length of a cause's value, in characters.
const CAUSE_VALUE: usize = 1_000;
/// The number of the first cause of warnings. Lower numbers are causes of problems.
pub(super) const FIRST_WARNING: usize = 5_000;
/// Number of rows shown without scripts, and the maximum length of their messages.
const PLAIN_ROWS: usize = 200;
const PLAIN_WORDS: usize = 600;

/// Totals of the written rows.
#[derive(Default)]
pub(super) struct PageTotals {
    pub rows: u64,
    pub left_out: u64,
    /// Causes of all rows, including omitted ones.
    pub causes: Causes,
    pub warnings: Causes,
    /// The first rows, shown without scripts.
    pub plain: Vec<PlainRow>,
}

pub(super) struct PlainRow {
    pub number: u64,
    pub sheet: String,
    pub state: RecordState,
    pub words: String,
}

/// Writes the data.
pub(super) struct PageData<'a, W: Write> {
    to: &'a mut W,
    shown: PageTotals,
    problems: Quota,
    others: Quota,
}

/// Number and size of the rows that may still be written.
struct Quota {
    rows: u64,
    bytes: u64,
}

/// A row for the script. Empty fields are omitted.
#[derive(Serialize)]
struct RowData<'a> {
    row: u64,
    state: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    sheet: &'a str,
    /// Texts of the cells, without trailing blank cells.
    cells: Vec<String>,
    /// Indexes of cut cells, with their full length in characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cut: Vec<(usize, usize)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<FaultData<'a>>,
    /// The message of a row without separate problems.
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
    /// Omitted if equal to the cell.
    #[serde(skip_serializing_if = "str::is_empty")]
    value: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    remedy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    warns: bool,
}

impl<'a, W: Write> PageData<'a, W> {
    /// Begins the data with the texts of the script, if they are not in English.
    pub(super) fn begin(to: &'a mut W, run: &Run, texts: &BTreeMap<&str, &str>) -> io::Result<PageData<'a, W>> {
        to.write_all(b"<script type=\"application/json\" id=\"data\">{")?;
        if !texts.is_empty() {
            to.write_all(b"\"texts\":")?;
            write_json(to, texts)?;
            to.write_all(b",")?;
        }
        to.write_all(b"\"header\":")?;
        write_json(to, &run.about.header)?;
        write!(to, ",\"sheets\":{},\"rows\":[", run.about.reads_several_sheets())?;
        let quota = || Quota { rows: MAX_ROWS, bytes: MAX_BYTES };
        Ok(PageData { to, shown: PageTotals::default(), problems: quota(), others: quota() })
    }

    pub(super) fn row(&mut self, row: &ReportRow<'_>) -> io::Result<()> {
        let causes = faults(row).map(|(fault, warns)| self.add_cause(row, fault, warns)).collect::<Vec<_>>();
        let quota = if row.record.outcome.state.is_problem() { &mut self.problems } else { &mut self.others };
        if quota.rows == 0 {
            self.shown.left_out += 1;
            return Ok(());
        }
        let json = escaped(&serde_json::to_string(&data(row, &causes))?);
        let Some(bytes) = quota.bytes.checked_sub(json.len() as u64) else {
            // Further rows are omitted as well, to leave no gaps.
            quota.rows = 0;
            self.shown.left_out += 1;
            return Ok(());
        };
        *quota = Quota { rows: quota.rows - 1, bytes };
        self.to.write_all(if self.shown.rows == 0 { b"\n" } else { b",\n" })?;
        self.to.write_all(json.as_bytes())?;
        self.shown.rows += 1;
        if self.shown.plain.len() < PLAIN_ROWS {
            self.shown.plain.push(plain(row));
        }
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<PageTotals> {
        self.to.write_all(b"\n]}</script>\n")?;
        Ok(self.shown)
    }

    /// Adds the problem to its cause, with the title of the column. Problems from the service name only fields.
    fn add_cause(&mut self, row: &ReportRow<'_>, fault: &Fault<'_>, warns: bool) -> Option<usize> {
        let header = fault.column.and_then(|column| row.run.about.header.get(column));
        let value = cut(&fault.problem.value, CAUSE_VALUE).0.to_owned();
        let header = header.cloned().unwrap_or_else(|| fault.problem.header.clone());
        let problem = Problem { column: fault.column, header, value, ..fault.problem.clone() };
        match warns {
            true => self.shown.warnings.add(row.source.number, &problem).map(|place| FIRST_WARNING + place),
            false => self.shown.causes.add(row.source.number, &problem),
        }
    }
}

/// Returns the problems and then the warnings of a row. The flag is true for warnings.
fn faults<'a>(row: &'a ReportRow<'_>) -> impl Iterator<Item = (&'a Fault<'a>, bool)> {
    // The faults of an unchanged record say that an earlier run sent it.
    let warns = row.record.outcome.state == RecordState::Unchanged;
    let problems = row.faults.iter().map(move |fault| (fault, warns));
    problems.chain(row.warnings.iter().map(|fault| (fault, true)))
}

fn data<'a>(row: &'a ReportRow<'_>, causes: &[Option<usize>]) -> RowData<'a> {
    let record = row.record;
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
    let faults = faults(row).zip(causes).map(|((fault, warns), cause)| {
        let value = cut(&fault.problem.value, MAX_CELL).0;
        let is_cell = fault.column.and_then(|column| cells.get(column)).is_some_and(|cell| cell == value);
        FaultData {
            column: fault.column,
            field: &fault.problem.field,
            value: if is_cell { "" } else { value },
            message: cut(&fault.problem.message, MAX_CELL).0,
            remedy: cut(&fault.problem.remedy, MAX_CELL).0,
            cause: *cause,
            warns,
        }
    });
    RowData {
        row: row.source.number,
        state: record.outcome.state.name(),
        sheet: &row.source.sheet,
        faults: faults.collect(),
        cells,
        cut: long,
        note: if row.faults.is_empty() { row.errors() } else { String::new() },
        service_id: record.outcome.service_id.as_deref(),
        ctx_id: record.outcome.ctx_id.as_deref(),
        job_id: record.outcome.job_id.as_deref(),
        http_status: record.outcome.http_status,
        attempts: record.attempts(),
    }
}

fn plain(row: &ReportRow<'_>) -> PlainRow {
    let texts = row.texts();
    let words =
        [texts.errors, texts.warnings].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
    let (shown, is_all) = cut(&words, PLAIN_WORDS);
    PlainRow {
        number: row.source.number,
        sheet: row.source.sheet.clone(),
        state: row.record.outcome.state,
        words: if is_all { words } else { format!("{shown}…") },
    }
}

fn write_json(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    to.write_all(escaped(&serde_json::to_string(value)?).as_bytes())
}

/// Escapes JSON for use in a `<script>` element: the text cannot end the element or start a comment. These characters occur
/// only in JSON strings, where they can be escaped.
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
        fn escaped_text_cannot_end_the_script_and_round_trips(text in "(</script|<!--|]]>|&lt;|\u{2028}|\\PC|\0|\"|\\\\){0,9}") {
            let written = escaped(&serde_json::to_string(&text).expect("JSON"));
            let dangerous = ['<', '>', '&', '\u{2028}', '\0'];
            prop_assert!(!written.contains(dangerous));
            prop_assert_eq!(serde_json::from_str::<String>(&written).expect("JSON"), text);
        }
    }
}
