//! The content of a report's first sheet: counts, facts about the run, the next command, and problems by cause.

use std::borrow::Cow;

use jiff::Timestamp;
use sheetport_findings::Code;
use sheetport_language::{Language, say_in};
use sheetport_ledger::{
    Accounting, Causes, FIRST_ROWS, Group, Problem, RecordState, Run, RunCommand, RunState, WARNED,
};
use sheetport_sheet::ReportWords;
use sheetport_values::date::local_zone;

use super::summary_sheet::{CellLink, Count, ProblemLine, SummarySheet};
use super::writer::Omissions;
use crate::options::{ACCEPTED_IN_REHEARSAL, IN_REHEARSAL, MAX_CHOICES, READY_TO_SEND, Request, RowFilter};
use crate::rows::{COLUMNS_IN_FRONT, Fault, ReportRow, place_of, shortened, state_name};

/// The instruction for a supplier.
const FOR_SUPPLIER: &str =
    "Fix the rows on the next sheet (faulty cells are red), save this file with all of its columns, and send it back.";

/// Problems and warnings by cause, collected while the rows are written.
pub(super) struct Summary {
    language: Language,
    problems: LinkedCauses,
    warnings: LinkedCauses,
    /// Number of rows written.
    rows: u64,
}

/// Causes with links to the first rows of each.
#[derive(Default)]
struct LinkedCauses {
    causes: Causes,
    links: Vec<Vec<CellLink>>,
}

impl LinkedCauses {
    /// Adds a problem of the row `number`, with a link if the row is among the first of its cause.
    fn add(&mut self, number: u64, problem: &Problem, own: &[&str], link: Option<CellLink>) {
        let Some(group) = self.causes.add_of(number, problem, own) else { return };
        if group == self.links.len() {
            self.links.push(Vec::new());
        }
        if let Some(links) = self.links.get_mut(group).filter(|links| links.len() < FIRST_ROWS) {
            links.extend(link);
        }
    }

    fn lines(&self, run: &Run, language: Language) -> Vec<ProblemLine> {
        self.causes.groups().into_iter().map(|group| self.line(run, group, language)).collect()
    }

    fn line(&self, run: &Run, group: &Group, language: Language) -> ProblemLine {
        let problem = &group.problem;
        let is_one_value = group.count == 1 || problem.code.is_by_value();
        let value = match problem.value.as_str() {
            "" => String::new(),
            value if is_one_value => say_in!(language, "'{}' ", shortened(value)),
            value => say_in!(language, "such as '{}': ", shortened(value)),
        };
        let mut place = place_of(problem, run, language);
        if !problem.sheet.is_empty() {
            place = format!("{place} ({})", problem.sheet);
        }
        ProblemLine {
            count: group.count,
            place,
            words: format!("{value}{}", problem.message),
            remedy: problem.remedy.clone(),
            // Groups and links are added together.
            links: self.links.get(group.place).cloned().expect("every group has links"),
        }
    }
}

impl Summary {
    /// Returns the summary of a run without rows: the warnings about its file.
    pub(super) fn of_file(run: &Run, language: Language) -> Summary {
        let (problems, warnings) = (LinkedCauses::default(), LinkedCauses::default());
        let mut summary = Summary { language, problems, warnings, rows: 0 };
        for warning in &run.warnings {
            summary.warnings.add(warning.row.unwrap_or_default(), warning, &[], None);
        }
        summary
    }

    /// Adds the problems and warnings of the next row.
    pub(super) fn add(&mut self, row: &ReportRow<'_>) {
        let written = self.rows;
        self.rows += 1;
        // Without a column, links to the start of the row.
        let column = |fault: &Fault<'_>| fault.column.map_or(0, |column| COLUMNS_IN_FRONT + column);
        let label = say_in!(self.language, "row {}", row.source.number);
        let link = |fault: &Fault<'_>| Some(CellLink { label: label.clone(), row: written, column: column(fault) });
        let counts = |fault: &&Fault<'_>| fault.problem.row.is_some() || row.is_first();
        for fault in row.warnings.iter().filter(counts) {
            self.warnings.add(row.source.number, fault.problem, &[], link(fault));
        }
        if row.record.outcome.state == RecordState::Unchanged {
            // Left out because an earlier run sent the record.
            for fault in row.faults.iter().filter(counts) {
                self.warnings.add(row.source.number, fault.problem, &[], link(fault));
            }
        }
        if row.faults.is_empty() || !row.record.outcome.state.is_problem() {
            return;
        }
        // Messages of the service often quote the values sent; these must not distinguish causes.
        let values: Vec<Cow<'_, str>> = match row.faults.iter().any(|fault| fault.problem.code == Code::Service) {
            true => row.cells.cells().map(|cell| cell.shown()).collect(),
            false => Vec::new(),
        };
        let names = row.record.names();
        for fault in row.faults.iter().filter(counts) {
            let own: Vec<&str> = match fault.problem.code == Code::Service {
                true => names.iter().copied().chain(values.iter().map(AsRef::as_ref)).collect(),
                false => Vec::new(),
            };
            self.problems.add(row.source.number, fault.problem, &own, link(fault));
        }
    }

    pub(super) fn sheet(
        &self,
        run: &Run,
        accounting: &Accounting,
        request: &Request<'_>,
        omitted: Omissions,
    ) -> SummarySheet {
        let language = self.language;
        let file = run.about.file.rsplit(['/', '\\']).next().expect("splitting yields a part");
        let (title, number) = match run.about.command {
            RunCommand::Check => (say_in!(language, "Check of {file}"), String::new()),
            RunCommand::Rehearse => {
                (say_in!(language, "Rehearsal of {file}: nothing was sent to a service"), String::new())
            }
            RunCommand::Upload | RunCommand::Retry => {
                (say_in!(language, "Upload of {file}"), say_in!(language, "Run {} · ", run.id))
            }
            RunCommand::Undo => {
                let undone = run.about.undo_of.unwrap_or_default();
                (say_in!(language, "Undo of run {undone}, {file}"), say_in!(language, "Run {} · ", run.id))
            }
        };
        let next = match request.for_supplier {
            true => Some((FOR_SUPPLIER, String::new())),
            false => request.next.map(|next| (instruction(run, accounting), next.to_owned())),
        };
        let time = local_time(run.created_at);
        SummarySheet {
            language,
            title,
            subtitle: format!("{number}{}", say_in!(language, "{time} · written by sheetport")),
            counts: counts(run, accounting, request.words, language),
            facts: facts(run, language),
            next: next.map(|(instruction, command)| (language.label(instruction).to_owned(), command)),
            problems: self.problems.lines(run, language),
            warnings: self.warnings.lines(run, language),
            remarks: self.remarks(run, accounting, request, omitted),
        }
    }

    /// Describes the data of the run that the workbook lacks.
    fn remarks(&self, run: &Run, accounting: &Accounting, request: &Request<'_>, omitted: Omissions) -> Vec<String> {
        let [errors, warnings] = ["sheetport_errors", "sheetport_warnings"].map(|name| request.words.title(name));
        let language = self.language;
        let number = |number| language.thousands(number);
        let ungrouped = self.problems.causes.ungrouped + self.warnings.causes.ungrouped;
        let mut remarks = Vec::new();
        if ungrouped > 0 {
            remarks.push(say_in!(
                language,
                "Further problems with other causes: {}. See the columns {errors} and {warnings}.",
                number(ungrouped)
            ));
        }
        if omitted.cut_texts > 0 {
            remarks.push(say_in!(
                language,
                "Cells longer than 32,767 characters, the limit of a workbook: {}. They are cut and marked; a report as .csv \
                 has the complete text.",
                number(omitted.cut_texts)
            ));
        }
        if omitted.notes > 0 {
            remarks.push(say_in!(
                language,
                "Faulty cells without a note, because more notes would slow down the workbook: {}. See the column {errors}.",
                number(omitted.notes)
            ));
        }
        if request.rows != RowFilter::All {
            let (rows, all) = (number(self.rows), number(accounting.rows));
            remarks.push(say_in!(language, "This report has {rows} of {all} rows (--only)."));
        }
        for choices in request.choices.iter().filter(|choices| choices.count > MAX_CHOICES) {
            let header = run.about.header.get(choices.column).map_or("", String::as_str);
            let count = number(choices.count as u64);
            remarks.push(say_in!(language, "{header} has no drop-down list: {count} values are too many."));
        }
        remarks
    }
}

fn counts(run: &Run, accounting: &Accounting, words: &ReportWords, language: Language) -> Vec<Count> {
    let rows = say_in!(language, "records from {}", language.counted(accounting.rows, "row"));
    let meaning = |state: RecordState| match (run.about.command, state) {
        (RunCommand::Check, RecordState::Pending) => READY_TO_SEND,
        (RunCommand::Rehearse, RecordState::Sent) => ACCEPTED_IN_REHEARSAL,
        _ => state.meaning(),
    };
    let count = |number, name: &str, meaning: &str, state| Count {
        number,
        name: name.to_owned(),
        meaning: language.label(meaning).to_owned(),
        state,
    };
    let states = accounting.states().into_iter().filter(|(_, number)| *number > 0);
    let (warned, meaning_of_warned) = WARNED;
    let warned =
        (accounting.warned > 0).then(|| count(accounting.warned, language.word(warned), meaning_of_warned, None));
    std::iter::once(Count {
        number: accounting.total,
        name: language.label("total").to_owned(),
        meaning: rows,
        state: None,
    })
    .chain(
        states.map(|(state, number)| count(number, words.state(state_name(run, state)), meaning(state), Some(state))),
    )
    .chain(warned)
    .collect()
}

/// Returns facts about the run, with English names.
fn facts(run: &Run, language: Language) -> Vec<(&'static str, String)> {
    let about = &run.about;
    let sheet = about.sheet.name().unwrap_or_default().to_owned();
    let is_kept = matches!(about.command, RunCommand::Upload | RunCommand::Retry | RunCommand::Undo);
    let number = if is_kept { run.id.to_string() } else { String::new() };
    let template = match about.template.as_str() {
        "" => String::new(),
        template => say_in!(language, "{template}, for each {}", language.noun(about.record.name())),
    };
    let service = match about.command {
        RunCommand::Rehearse => language.label(IN_REHEARSAL).to_owned(),
        RunCommand::Check | RunCommand::Upload | RunCommand::Retry | RunCommand::Undo => about.base_url.clone(),
    };
    vec![
        ("File", about.file.clone()),
        ("Sheet", sheet),
        ("Template", template),
        ("Service", service),
        ("Workspace", about.workspace.clone()),
        ("Run", number),
        ("Started", local_time(run.created_at)),
        ("Stopped", run.stopped_why.clone().unwrap_or_default()),
    ]
}

/// Formats a timestamp in the local time zone. Out-of-range timestamps yield an empty text.
fn local_time(millis: i64) -> String {
    let zoned = Timestamp::from_millisecond(millis).map(|time| time.to_zoned(local_zone()));
    zoned.map_or_else(|_| String::new(), |time| time.strftime("%Y-%m-%d %H:%M UTC%:z").to_string())
}

/// Introduces the next command, in English.
fn instruction(run: &Run, accounting: &Accounting) -> &'static str {
    let is_check = run.about.command == RunCommand::Check;
    if run.about.command == RunCommand::Rehearse {
        "This was a rehearsal, and nothing was sent. Fix the rows on the next sheet (faulty cells are red), save this file, then run:"
    } else if run.state == RunState::Withheld || is_check && accounting.rejected > 0 {
        "Nothing was sent. Fix the rows on the next sheet (faulty cells are red), save this file, then run:"
    } else if is_check {
        "No problems found, nothing sent yet. To send, run:"
    } else if accounting.pending > 0 {
        "Some records were not sent yet. To continue, run:"
    } else if accounting.unknown > 0 {
        "Some records may or may not have been applied. Look them up in the service, then run:"
    } else {
        "Fix the rows on the next sheet (faulty cells are red), save this file, then run:"
    }
}
