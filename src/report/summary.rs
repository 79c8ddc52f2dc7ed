//! What the first sheet of a workbook says: the accounting, what the run was about, what to do next, and what is wrong,
//! by cause, with the places of the first cells at fault.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::row::{ReportRow, place_of, shown};
use super::{CAN_BE_SENT, CHECK, Only, Request};
use crate::ledger::{Accounting, Causes, FIRST_ROWS, Group, Run, RunState};
use crate::sheet::write::{Count, Front, LeftOut, MAX_CHOICES, ProblemLine, Spot};

/// The code of problems in the service's own words.
const FROM_SERVICE: &str = "service";

/// Problems by cause, gathered while the rows are written.
#[derive(Default)]
pub(super) struct Summary {
    causes: Causes,
    /// The first places of each group, by its own place.
    spots: Vec<Vec<Spot>>,
    /// Rows written.
    rows: u64,
}

impl Summary {
    /// Takes in a row that is about to be written.
    pub fn add(&mut self, row: &ReportRow<'_>) {
        let written = self.rows;
        self.rows += 1;
        if row.faults.is_empty() || !row.outcome.state().is_problem() {
            return;
        }
        // What the service says often repeats what it was sent.
        let values: Vec<Cow<'_, str>> = match row.faults.iter().any(|fault| fault.problem.code == FROM_SERVICE) {
            true => row.cells.cells().map(|cell| cell.shown()).collect(),
            false => Vec::new(),
        };
        let names = row.outcome.names();
        for fault in row.faults.iter().filter(|fault| fault.problem.row.is_some() || row.is_first()) {
            let own: Vec<&str> = match fault.problem.code == FROM_SERVICE {
                true => names.iter().copied().chain(values.iter().map(AsRef::as_ref)).collect(),
                false => Vec::new(),
            };
            let Some(group) = self.causes.add_of(row.source.number, fault.problem, &own) else { continue };
            if group == self.spots.len() {
                self.spots.push(Vec::new());
            }
            let Some(spots) = self.spots.get_mut(group).filter(|spots| spots.len() < FIRST_ROWS) else { continue };
            let column = fault.column.unwrap_or_default();
            spots.push(Spot { label: format!("row {}", row.source.number), row: written, column });
        }
    }

    pub fn front(&self, run: &Run, accounting: &Accounting, request: &Request<'_>, left_out: LeftOut) -> Front {
        let is_check = run.about.command == CHECK;
        let file = run.about.file.rsplit(['/', '\\']).next().unwrap_or(&run.about.file);
        let (title, number) = match is_check {
            true => (format!("What is wrong with {file}"), String::new()),
            false => (format!("What became of {file}"), format!("Run {} · ", run.id)),
        };
        Front {
            title,
            subtitle: format!("{number}{} · written by sheetport", moment(run.created_at)),
            counts: counts(accounting, is_check),
            facts: facts(run),
            next: request.next.map(|next| (self.next_words(run, accounting, is_check), next.to_owned())),
            problems: self.causes.groups().into_iter().map(|group| self.line(run, group)).collect(),
            remarks: self.remarks(run, accounting, request, left_out),
        }
    }

    fn next_words(&self, run: &Run, accounting: &Accounting, is_check: bool) -> String {
        if run.state == RunState::Withheld || is_check && accounting.rejected > 0 {
            "Nothing was sent. Mend the rows on the next sheet (the cells at fault are red), save this file, then:"
        } else if is_check {
            "Nothing was sent yet, and nothing is wrong:"
        } else if accounting.pending > 0 {
            "Some of it was not sent yet. This carries on:"
        } else if accounting.unknown > 0 {
            "Some of it may or may not have been applied. Look it up in the service, then say what you found:"
        } else {
            "Mend the rows on the next sheet (the cells at fault are red), save this file, then:"
        }
        .to_owned()
    }

    fn line(&self, run: &Run, group: &Group) -> ProblemLine {
        let problem = &group.problem;
        let is_one_value = group.count == 1 || problem.code == "unknown-value";
        let value = match problem.value.as_str() {
            "" => String::new(),
            value if is_one_value => format!("'{}' ", shown(value)),
            value => format!("such as '{}': ", shown(value)),
        };
        let mut place = place_of(problem, run);
        if !problem.sheet.is_empty() {
            place = format!("{place} ({})", problem.sheet);
        }
        ProblemLine {
            count: group.count,
            place,
            words: format!("{value}{}", problem.message),
            remedy: problem.remedy.clone(),
            spots: self.spots.get(group.place).cloned().unwrap_or_default(),
        }
    }

    /// What the workbook has less than the run, in sentences.
    fn remarks(&self, run: &Run, accounting: &Accounting, request: &Request<'_>, left_out: LeftOut) -> Vec<String> {
        let mut remarks = Vec::new();
        let mut remark = |number: u64, before: &str, after: &str| {
            if number > 0 {
                remarks.push(format!("{before}: {number}. {after}"));
            }
        };
        remark(
            self.causes.ungrouped,
            "Further problems, each with a cause of its own",
            "They are in the rows' column sheetport_errors.",
        );
        remark(
            left_out.cut,
            "Cells with more than the 32,767 characters that a workbook's cell can hold",
            "They are cut with a mark; a report as .csv has them whole.",
        );
        remark(
            left_out.notes,
            "Cells at fault that are coloured without a note, because a workbook is slow with more of them",
            "What is wrong with them is in the rows' column sheetport_errors.",
        );
        if request.only != Only::All {
            remarks
                .push(format!("This report has the rows that were asked for: {} of {}.", self.rows, accounting.rows));
        }
        for choices in request.choices.iter().filter(|choices| choices.count > MAX_CHOICES) {
            let header = run.about.header.get(choices.column).map_or("", String::as_str);
            remarks.push(format!("{header} has no drop-down: the template knows {} values for it.", choices.count));
        }
        remarks
    }
}

fn counts(accounting: &Accounting, is_check: bool) -> Vec<Count> {
    let rows = match accounting.rows {
        1 => "records, made of 1 row".to_owned(),
        rows => format!("records, made of {rows} rows"),
    };
    // A check sends nothing, so that what it finds no fault with is not late.
    let meaning = |name, meaning| if is_check && name == "pending" { CAN_BE_SENT } else { meaning };
    let states = accounting.states().into_iter().filter(|(_, number, _)| *number > 0);
    std::iter::once(Count { number: accounting.total, name: "total", meaning: rows })
        .chain(states.map(|(name, number, means)| Count { number, name, meaning: meaning(name, means).to_owned() }))
        .collect()
}

fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let about = &run.about;
    let sheet = if about.reads_several_sheets() { String::new() } else { about.sheet.clone() };
    let number = if about.command == CHECK { String::new() } else { run.id.to_string() };
    vec![
        ("File", about.file.clone()),
        ("Sheet", sheet),
        ("Template", format!("{}, for each {}", about.template, about.record)),
        ("Service", about.base_url.clone()),
        ("Workspace", about.workspace.clone()),
        ("Run", number),
        ("Begun", moment(run.created_at)),
        ("Stopped", run.stopped_why.clone().unwrap_or_default()),
    ]
}

/// A time as the clock on the wall shows it.
fn moment(millis: i64) -> String {
    let zoned = Timestamp::from_millisecond(millis).map(|time| time.to_zoned(TimeZone::system()));
    zoned.map(|time| time.strftime("%Y-%m-%d %H:%M UTC%:z").to_string()).unwrap_or_default()
}
