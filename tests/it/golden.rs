//! Golden files: what is planned for each spreadsheet of `tests/golden` and `samples`, compared with the files in `expected`.
//! `tests/golden/README.md` describes them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};
use sheetport_ledger::{Disposition, PlannedRecord};
use sheetport_operations::{
    self as operations, Check, Context, Event, InferRequest, InputFile, Spreadsheet, TemplateChanges, Unrecognized,
};
use sheetport_plan::plan::{ReadMode, read};
use sheetport_plan::{Source, Tally};
use sheetport_records::RecordKind;
use sheetport_sheet::Options;

use crate::environment::context;

/// Set to write the expected files instead of comparing them.
const UPDATE: &str = "SHEETPORT_UPDATE_GOLDEN";

#[tokio::test]
async fn damaged_files_are_planned_as_before() {
    compare_cases("damaged").await;
}

#[tokio::test]
async fn healthy_files_are_planned_as_before() {
    compare_cases("healthy").await;
}

#[tokio::test]
async fn files_of_other_tools_users_are_planned_as_before() {
    compare_cases("wild").await;
}

#[tokio::test]
async fn samples_are_planned_as_before() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let mut found = Comparison::of(golden().join("samples/expected"));
    for path in files_in(&samples) {
        let name = name_of(&path);
        if name.ends_with(".md") || name.ends_with(".toml") {
            continue;
        }
        // The template of a sample has the sample's name, or that of a built-in template.
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let own = samples.join(format!("{stem}.toml"));
        let template = match stem {
            _ if own.is_file() => Some(name_of(&own)),
            "tool-prices" => None,
            _ => Some(stem.to_owned()),
        };
        let case =
            Case { about: String::new(), kind: Some("item".to_owned()), template, sheet: None, files: vec![name] };
        found.plan(&samples, &case).await;
    }
    found.finish();
}

/// The content of `case.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[allow(dead_code, reason = "for people")]
    about: String,
    /// The kind of records of an inferred template.
    kind: Option<String>,
    /// Name of a built-in template or of a file of the case. A template is inferred if `None`.
    template: Option<String>,
    sheet: Option<String>,
    files: Vec<String>,
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Plans the files of all cases in a folder of `tests/golden`.
async fn compare_cases(folder: &str) {
    let mut differences = Vec::new();
    let mut cases = 0;
    for path in entries_of(&golden().join(folder)) {
        let case = fs::read_to_string(path.join("case.toml"))
            .unwrap_or_else(|_| panic!("{} has no case.toml", path.display()));
        let case: Case = toml::from_str(&case).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut found = Comparison::of(path.join("expected"));
        found.plan(&path, &case).await;
        differences.append(&mut found.differences());
        cases += 1;
    }
    assert!(cases > 0, "{folder} has no cases");
    report(&differences);
}

/// What was found for the files of one folder.
struct Comparison {
    expected: PathBuf,
    found: Vec<(String, String)>,
}

impl Comparison {
    fn of(expected: PathBuf) -> Comparison {
        Comparison { expected, found: Vec::new() }
    }

    /// Plans the files of a case in a copy of its folder, so that nothing but the case is there.
    async fn plan(&mut self, folder: &Path, case: &Case) {
        let place = tempfile::tempdir().unwrap();
        for path in files_in(folder) {
            let is_input = case.files.contains(&name_of(&path)) || case.template == Some(name_of(&path));
            if is_input {
                fs::copy(&path, place.path().join(name_of(&path))).unwrap();
            }
        }
        for name in &case.files {
            let planned = plan_file(place.path(), case, name).await;
            for (suffix, text) in planned {
                self.found.push((format!("{name}{suffix}"), text));
            }
        }
    }

    /// Returns a description of each difference, or writes what was found if so asked.
    fn differences(self) -> Vec<String> {
        let mut differences = Vec::new();
        let mut known: BTreeSet<String> = files_in(&self.expected).iter().map(|path| name_of(path)).collect();
        let is_update = std::env::var_os(UPDATE).is_some();
        if is_update {
            fs::create_dir_all(&self.expected).unwrap();
        }
        for (name, text) in self.found {
            let path = self.expected.join(&name);
            known.remove(&name);
            if is_update {
                fs::write(&path, text).unwrap();
            } else {
                let expected = fs::read_to_string(&path).unwrap_or_default();
                if expected != text {
                    differences.push(first_difference(&path, &expected, &text));
                }
            }
        }
        for name in known {
            if is_update {
                fs::remove_file(self.expected.join(name)).unwrap();
            } else {
                differences.push(format!("{} is no longer made", self.expected.join(name).display()));
            }
        }
        differences
    }

    fn finish(self) {
        report(&self.differences());
    }
}

fn report(differences: &[String]) {
    assert!(
        differences.is_empty(),
        "{} golden files differ; tests/golden/README.md says how to renew them:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

fn first_difference(path: &Path, expected: &str, found: &str) -> String {
    let mut lines = (1..).zip(expected.lines().map(Some).chain([None]).zip(found.lines().map(Some).chain([None])));
    let differing = lines.find(|(_, (expected, found))| expected != found);
    let (line, (expected, found)) = differing.unwrap_or((0, (None, None)));
    let shown = |line: Option<&str>| line.map_or_else(|| "(end)".to_owned(), |line| line.chars().take(600).collect());
    format!("{}:{line}\n  expected {}\n  found    {}", path.display(), shown(expected), shown(found))
}

/// Returns the texts for one spreadsheet, each with the end of its file name.
async fn plan_file(folder: &Path, case: &Case, name: &str) -> Vec<(&'static str, String)> {
    let mut texts = Vec::new();
    let home = tempfile::tempdir().unwrap();
    let context = context(home.path());
    let file = InputFile::at(&folder.join(name));
    let of_place = [folder, home.path()].map(|place| format!("{}{}", place.display(), std::path::MAIN_SEPARATOR));
    let masked = |text: &str| of_place.iter().fold(text.to_owned(), |text, place| text.replace(place, ""));
    let recognized = recognized(&context, &file, case.sheet.as_deref()).await;
    let wanted = match &case.template {
        Some(template) if folder.join(template).is_file() => Ok(folder.join(template).display().to_string()),
        Some(template) => Ok(template.clone()),
        None => infer(&context, &file, case).await.map(|toml| {
            texts.push((".template.toml", masked(&toml)));
            // Not beside the spreadsheet, where it would be an example for the next.
            let path = home.path().join("inferred.toml");
            fs::write(&path, &toml).unwrap();
            path.display().to_string()
        }),
    };
    let planned = match wanted {
        Ok(wanted) => plan(&context, &file, &wanted, case.sheet.as_deref(), &mut texts).await,
        Err(error) => Err(error),
    };
    let outcome = planned.unwrap_or_else(|error| json!({ "refused": error.to_string() }));
    texts.push((".json", masked(&lines_of(&recognized, &outcome))));
    texts
}

/// Returns the name of the template that is chosen without `-t`, if one clearly fits.
async fn recognized(context: &Context, file: &InputFile, sheet: Option<&str>) -> Value {
    let unknown = Unrecognized { file, sheet, text: Options::default(), keys: Default::default() };
    match operations::recognize(context, &unknown, &|_| ()).await {
        Ok(found) if found.is_clear() => {
            let best = found.candidates.first().map(|best| Path::new(&best.name));
            json!(best.and_then(Path::file_name).map(|name| name.to_string_lossy()))
        }
        Ok(_) => Value::Null,
        Err(error) => json!(error.to_string()),
    }
}

async fn infer(context: &Context, file: &InputFile, case: &Case) -> Result<String, operations::Error> {
    let kind = case.kind.as_deref().and_then(RecordKind::from_name).expect("a case has a template or a kind");
    let request = InferRequest {
        file,
        record: Some(kind),
        sheet: case.sheet.as_deref(),
        text: Options::default(),
        header_row: None,
        reading: Vec::new(),
    };
    Ok(operations::infer(context, &request, &|_| ()).await?.toml)
}

async fn plan(
    context: &Context,
    file: &InputFile,
    template: &str,
    sheet: Option<&str>,
    texts: &mut Vec<(&'static str, String)>,
) -> Result<Value, operations::Error> {
    let report = context.home.join("report.csv");
    let load = || operations::load_template(template, TemplateChanges::default());
    let template = load()?;
    let options = Options::default().or(&template.sheet.text);
    let input = Spreadsheet {
        file,
        template: load()?,
        sheet,
        text: options.clone(),
        rows: None,
        is_strict: false,
        accepts: &[],
        edits: None,
    };
    let check = Check {
        input,
        report: Some(&report),
        for_supplier: false,
        has_rows: false,
        next: "",
        online: None,
        keep_lines: false,
    };
    operations::check(context, check, &|_: Event<'_>| ()).await?;
    texts.push((".report.csv", without_marks(&fs::read_to_string(&report).unwrap())));
    let source = Source::open_as(&file.path, &file.name, &template, sheet, &options)?;
    let mut records: Vec<(PlannedRecord, Option<Value>)> = Vec::new();
    let tally = read(&source, &template, ReadMode::Records, |batch| {
        if batch.restarts {
            records.clear();
        }
        records.extend(batch.records.into_iter().map(|record| (record, None)));
        for withdrawn in batch.withdrawn {
            let at = usize::try_from(withdrawn.seq).unwrap();
            records[at].1 = Some(json!({ withdrawn.state.name(): withdrawn.problem }));
        }
        true
    })?;
    Ok(
        json!({ "counts": counts(&tally), "warnings": tally.of_file, "records": records.iter().map(record).collect::<Vec<_>>() }),
    )
}

/// Masks the hashes of rejected rows, which change with every comment of a template. Their codes are in the other file.
fn without_marks(report: &str) -> String {
    Regex::new("check( [a-z-]+:[0-9a-f]{8})+").unwrap().replace_all(report, "").into_owned()
}

fn counts(tally: &Tally) -> Value {
    json!({
        "rows": tally.rows, "to_send": tally.to_send, "skipped": tally.skipped, "rejected": tally.rejected, "warned": tally.warned,
    })
}

fn record((record, withdrawn): &(PlannedRecord, Option<Value>)) -> Value {
    let outcome = match (&record.disposition, withdrawn) {
        (_, Some(withdrawn)) => withdrawn.clone(),
        // The body as it is sent: numbers keep their digits.
        (Disposition::Send(body), None) => json!({ "send": serde_json::from_str::<Value>(body).unwrap() }),
        (Disposition::Rejected(problems), None) => json!({ "rejected": problems }),
        (Disposition::Skipped(reason), None) => json!({ "skipped": reason }),
        (Disposition::AcceptedEarlier(_), None) => json!("accepted earlier"),
    };
    json!({
        "rows": record.rows, "sheet": record.sheet, "key": record.key, "target": record.target, "outcome": outcome,
        "warnings": record.warnings,
    })
}

/// Returns JSON with a line for each record and warning, so that a diff shows single records.
fn lines_of(recognized: &Value, outcome: &Value) -> String {
    let mut text = format!("{{\n\"recognized\": {recognized}");
    for (name, value) in outcome.as_object().into_iter().flatten() {
        write!(text, ",\n\"{name}\": ").unwrap();
        match value.as_array() {
            Some(entries) if !entries.is_empty() => {
                let lines: Vec<String> = entries.iter().map(Value::to_string).collect();
                write!(text, "[\n{}\n]", lines.join(",\n")).unwrap();
            }
            _ => write!(text, "{value}").unwrap(),
        }
    }
    text.push_str("\n}\n");
    text
}

/// Returns the files of a folder in order; none if it does not exist.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect(),
        Err(_) => Vec::new(),
    };
    paths.sort();
    paths
}

/// Returns the folders in a folder in order.
fn entries_of(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_dir());
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}
