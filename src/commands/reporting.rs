//! What all commands that write a report share: its name and format, the drop-downs that the template gives it, and the
//! command that comes after it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::input::STANDARD_INPUT;
use super::shell::quoted;
use super::template;
use crate::error::{Exit, Failure};
use crate::ledger::{Accounting, Run, RunState};
use crate::report::{Choices, Format, MAX_CHOICES};
use crate::sheet::write::{Existing, WholeFile};
use crate::template::Template;
use crate::template::model::Source;
use crate::ui;

/// Workbooks of all kinds get a report as .xlsx; what is no workbook gets one as .csv.
const WORKBOOKS: [&str; 9] = ["xlsx", "xlsm", "xltx", "xltm", "xlsb", "xls", "xla", "xlam", "ods"];
/// What a text's name may end with after its own extension.
const PACKED: [&str; 2] = ["gz", "zst"];

/// The format that a report's name asks for.
pub fn report_format(path: &Path) -> Result<Format, Failure> {
    Format::of(path).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("{} has no extension that says what to write", path.display()),
            "end its name in .xlsx or .csv, or in .html for a page to look at",
        )
    })
}

/// Refuses a name for a report that it could not be written under, before anything is sent: one whose extension says
/// nothing, one that is taken, one in a folder that is not there.
pub fn check_report(path: &Path) -> Result<(), Failure> {
    report_format(path)?;
    // It leaves nothing behind.
    WholeFile::create(path, Existing::Keep)?;
    Ok(())
}

/// The names beside the file, the next one for when the one before is taken: `prices.csv` gets `prices.report.csv`, then
/// `prices.report-2.csv`. Standard input lies nowhere, so its report goes into the working folder.
pub fn beside(file: &Path) -> impl Iterator<Item = PathBuf> {
    // Other files are noted with their folders.
    let stdin = (file == Path::new(STANDARD_INPUT)).then(|| std::path::absolute("stdin.csv").unwrap_or_default());
    let mut file = stdin.unwrap_or_else(|| file.to_owned());
    if has_extension(&file, &PACKED) {
        file.set_extension("");
    }
    let extension = if has_extension(&file, &WORKBOOKS) { "xlsx" } else { "csv" };
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_else(|| "rows".to_owned());
    let stem = without_report(&stem).to_owned();
    (1_u64..).map(move |number| match number {
        1 => file.with_file_name(format!("{stem}.report.{extension}")),
        number => file.with_file_name(format!("{stem}.report-{number}.{extension}")),
    })
}

/// The name of the file that a report is of, where `stem` is a report's.
fn without_report(stem: &str) -> &str {
    match stem.rsplit_once(".report") {
        Some((file, "")) if !file.is_empty() => file,
        Some((file, number)) if !file.is_empty() => {
            let is_number = number.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok());
            if is_number { file } else { stem }
        }
        _ => stem,
    }
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extensions.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// Whether the file at `path` is a text that begins with a byte order mark, as Excel writes it and wants it. A file that
/// is not there any more has none.
pub fn has_bom(path: &Path) -> bool {
    let mut start = [0; 3];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && (start == *b"\xEF\xBB\xBF" || start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF"))
}

/// The drop-downs that a run's report has in `format`, by the template as the run has it.
pub fn choices(run: &Run, format: Format, talks: bool) -> Vec<Choices> {
    if format != Format::Xlsx {
        return Vec::new();
    }
    match template::reload(&run.about.template, &run.about.template_toml) {
        Ok(template) => choices_of(&template, run),
        Err(error) => {
            if talks {
                ui::remark(format_args!(
                    "the report has no drop-downs, because the template can't be read again: {error}"
                ));
            }
            Vec::new()
        }
    }
}

fn choices_of(template: &Template, run: &Run) -> Vec<Choices> {
    let mut columns = run.about.columns.iter().peekable();
    // By column; nothing for one that feeds several fields, because what suits one of them may not suit the others.
    let mut choices: BTreeMap<usize, Option<Choices>> = BTreeMap::new();
    for rule in template.rules().filter(|rule| !matches!(rule.source, Source::Constant(_))) {
        // Of the template's rules, the run has those whose columns the sheet has, in the template's order.
        let Some((_, column)) = columns.next_if(|(field, _)| field == rule.field.name) else { continue };
        let of_rule = rule.listed_values().map(|values| {
            let count = values.len();
            let shown = count <= MAX_CHOICES;
            let values = values.take(if shown { count } else { 0 }).map(|value| value.trim().to_owned());
            let values = values.chain(rule.clear.clone().filter(|_| shown)).collect();
            Choices { column: *column, count, is_closed: rule.listed_values_are_all(), values }
        });
        choices.entry(*column).and_modify(|known| *known = None).or_insert(of_rule);
    }
    choices.into_values().flatten().collect()
}

/// The command that comes next for a run that is kept; nothing where there is nothing to do. `report` is where its report
/// is or will be.
pub fn next(run: &Run, accounting: &Accounting, is_stopped: bool, report: Option<&Path>) -> Option<String> {
    if run.state == RunState::Withheld {
        return Some(mend(run, report));
    }
    if is_stopped || accounting.pending > 0 {
        return Some(format!("sheetport resume {}", run.id));
    }
    if accounting.unknown > 0 {
        return Some(format!("sheetport resolve {}", run.id));
    }
    has_problems(accounting).then(|| mend(run, report))
}

/// The command that comes after mending the rows: the report is handed back, or where it is none to mend, such a report
/// is written.
pub fn mend(run: &Run, report: Option<&Path>) -> String {
    match report.filter(|path| Format::of(path).is_some_and(Format::is_editable)) {
        None => format!("sheetport report {0} -o report-{0}.xlsx --only problems", run.id),
        Some(report) => format!("sheetport retry {}", quoted(&report.display().to_string())),
    }
}

pub fn has_problems(accounting: &Accounting) -> bool {
    accounting.rejected + accounting.failed + accounting.unknown > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_lies_beside_its_file_in_the_format_that_suits_it() {
        let name = |file: &str, nth| {
            let path = beside(&Path::new("folder").join(file)).nth(nth).expect("a name");
            assert_eq!(path.parent(), Some(Path::new("folder")));
            path.file_name().expect("a name").to_string_lossy().into_owned()
        };
        for (file, report) in [
            ("prices.csv", "prices.report.csv"),
            ("prices.tsv", "prices.report.csv"),
            ("prices", "prices.report.csv"),
            ("prices.csv.gz", "prices.report.csv"),
            ("prices.tsv.ZST", "prices.report.csv"),
            ("prices.xlsx", "prices.report.xlsx"),
            ("prices.XLS", "prices.report.xlsx"),
            ("prices.xlsm", "prices.report.xlsx"),
            ("prices.xlsb", "prices.report.xlsx"),
            ("prices.ods", "prices.report.xlsx"),
            ("prices.report.csv", "prices.report.csv"),
            ("prices.report-12.xlsx", "prices.report.xlsx"),
            ("my.reporting.csv", "my.reporting.report.csv"),
            ("my.report-draft.csv", "my.report-draft.report.csv"),
            ("my.report-.csv", "my.report-.report.csv"),
            (".report.csv", ".report.report.csv"),
        ] {
            assert_eq!(name(file, 0), report, "{file}");
        }
        assert_eq!(name("prices.report-2.csv", 2), "prices.report-3.csv");
    }
}
