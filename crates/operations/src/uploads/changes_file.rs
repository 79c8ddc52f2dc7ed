//! The file of changes that a plan writes: a row for each changed field, and one for each other record. `apply` reads it back.

use std::path::{Path, PathBuf};

use sheetport_findings::Code;
use sheetport_ledger::{Ledger, Outcome, PlannedRecord, Run, Seq, SheetSelection};
use sheetport_plan::approve::{APPROVE, FIELD, PLAN, PLANNED, change_id};
use sheetport_plan::compare::{Change, ChangedField, Difference, OddChange};
use sheetport_plan::count::moved;
use sheetport_records::transaction::COUNTED;
use sheetport_sheet::write::{FileFormat, Style, Value, ValueTable};
use sheetport_storage::ObjectAddress;

use super::super::error::Error;
use super::fate::{Fate, first_problem};

/// The columns of the file. Programs read them, so they are not translated.
const COLUMNS: [&str; 9] = [APPROVE, "row", "record", "change", FIELD, "now", PLANNED, "remark", PLAN];
const SHEET: &str = "sheet";

/// Returns the format of a new file for changes.
pub(crate) fn new_table(path: &Path) -> Result<FileFormat, Error> {
    let format = FileFormat::of(path).ok_or_else(|| {
        let message = format!("{} has no extension that says what to write", path.display());
        Error::invalid(message, format!("name it {}", FileFormat::NAMES))
    })?;
    if ObjectAddress::of(path)?.is_some() {
        let message = format!("{} is in a bucket, but changes are written to a file on this machine", path.display());
        return Err(Error::invalid(message, "name a file in a folder"));
    }
    if path.exists() {
        let message = format!("{} exists already", path.display());
        return Err(Error::invalid(message, "choose another name for the changes, or remove the file"));
    }
    Ok(format)
}

/// Writes the changes of a planned run.
pub(crate) async fn write(
    ledger: &Ledger,
    run: &Run,
    difference: &Difference,
    path: &Path,
    format: FileFormat,
) -> Result<PathBuf, Error> {
    let has_sheets = !matches!(run.about.sheet, SheetSelection::One(_));
    let (first, rest) = COLUMNS.split_at(1);
    let header = first.iter().chain(has_sheets.then_some(&SHEET)).chain(rest);
    let header = header.map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let mut table = ValueTable::create(path, format, Style::default(), "changes", &header)?;
    let (plan, mut from): (String, Seq) = (run.token(), 0);
    while let Some(block) = ledger.records_without_bodies(run.id, from, 1).await?.filter(|block| block.end() > from) {
        from = block.end();
        let outcomes = ledger.outcomes(run.id, block.first..=from - 1).await?;
        for (seq, record) in block.numbered() {
            let state = State::of(record, outcomes.get(&seq), difference.records.get(&seq));
            let row = record.rows.first().map(u64::to_string).unwrap_or_default();
            let start = [
                Some(Value::Blank),
                has_sheets.then(|| text(&record.sheet)),
                Some(if row.is_empty() { Value::Blank } else { Value::Number(&row) }),
                Some(text(record.key.as_deref().unwrap_or_default())),
                Some(text(state.name)),
            ];
            let start: Vec<Value<'_>> = start.into_iter().flatten().collect();
            for change in state.fields {
                let ChangedField { field, is_number, is_as_sent, odd, .. } = change;
                let (old, new, id) = (change.old(), change.planned(), change_id(&plan, seq, field));
                let difference = moved(&old, new).filter(|_| *field == COUNTED).map(|it| format!("difference {it:+}"));
                let remarks = [odd.map(remark), is_as_sent.then_some("now as last sent from here")];
                let remarks = remarks.into_iter().flatten().chain(difference.as_deref());
                let remark = remarks.chain(other_stock(record)).collect::<Vec<_>>().join("; ");
                let rest = [text(field), value(&old, *is_number), value(new, *is_number), text(&remark), text(&id)];
                table.row(&start.iter().cloned().chain(rest).collect::<Vec<_>>())?;
            }
            if state.fields.is_empty() {
                let id = change_id(&plan, seq, "");
                let rest = [Value::Blank, Value::Blank, Value::Blank, text(&state.remark), text(&id)];
                table.row(&start.iter().cloned().chain(rest).collect::<Vec<_>>())?;
            }
        }
    }
    table.finish_as(path.to_owned())?;
    Ok(path.to_owned())
}

/// What happens to a record, for the file of changes.
struct State<'a> {
    name: &'static str,
    fields: &'a [ChangedField],
    remark: String,
}

impl<'a> State<'a> {
    fn of(record: &PlannedRecord<()>, outcome: Option<&Outcome>, change: Option<&'a Change>) -> State<'a> {
        let fate = Fate::of(record, outcome, change);
        let problem = first_problem(record, outcome).filter(|_| matches!(fate, Fate::Refused | Fate::Settled(_)));
        let remark = problem.map(|problem| problem.message.clone()).unwrap_or_default();
        let fields = match change {
            Some(Change::Changed(fields)) if matches!(fate, Fate::Changed | Fate::Gone) => &**fields,
            _ => &[],
        };
        State { name: fate.name(), fields, remark }
    }
}

/// Returns the warning that the sheet expected another stock.
fn other_stock(record: &PlannedRecord<()>) -> Option<&str> {
    let warning = record.warnings.iter().find(|warning| warning.code == Code::OtherStock);
    warning.map(|warning| warning.message.as_str())
}

fn text(text: &str) -> Value<'_> {
    if text.is_empty() { Value::Blank } else { Value::Text(text.into()) }
}

fn value(shown: &str, is_number: bool) -> Value<'_> {
    if is_number && !shown.is_empty() { Value::Number(shown) } else { text(shown) }
}

fn remark(odd: OddChange) -> &'static str {
    match odd {
        OddChange::TenTimes => "ten times as large or more",
        OddChange::TenthOrLess => "a tenth or less",
        OddChange::Zero => "becomes 0",
        OddChange::Blank => "becomes blank",
        OddChange::Far => "far from the other changes",
        OddChange::Status => "few others change their status",
    }
}
