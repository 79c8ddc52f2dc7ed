//! Reads the file of a job, and reports every mistake with its line.

use std::path::{Path, PathBuf};

use sheetport_documents::{Mistakes, TomlFile, suggestion};
use sheetport_files::absolute_path::absolute;
use sheetport_files::text_file::read_text;
use sheetport_mapping::builtin;
use sheetport_operations::error::Error;
use sheetport_operations::exports::{EXPORTABLE, IdSource};
use sheetport_operations::files::{resolved, sibling};
use sheetport_operations::templates::load_template::{TemplateChanges, load_template};
use sheetport_records::Family;
use sheetport_sheet::Options;
use sheetport_sheet::write::Style;
use sheetport_values::locale;
use toml::de::DeTable;

use super::keys::{Keys, Mistaken, Placed};
use super::model::{ExportStep, Folders, Job, Notice, SETTLE, Step, UploadStep, Work};
use super::notice_keys;
use super::schedule_keys;

/// Longest wait for a file to settle, in seconds.
const MAX_SETTLE: u64 = 3600;
const WILDCARDS: [char; 2] = ['*', '?'];

/// Reads the job at `path` and its templates.
///
/// # Errors
/// If the file can't be read, or has mistakes. Returns all mistakes.
pub fn load_job(path: &Path) -> Result<Job, Error> {
    let source = read_text(path).map_err(|error| {
        let hint = "name the TOML file of a job, such as nightly.toml; docs/jobs.md has an example";
        Error::invalid(format!("the job {} can't be read: {error}", path.display()), hint)
    })?;
    let path = absolute(path);
    Ok(parse(&path, &source)?)
}

pub(crate) fn parse(path: &Path, source: &str) -> Result<Job, Mistakes> {
    let name = path.display().to_string();
    let file = TomlFile { what: "job", name: &name, source };
    let root = DeTable::parse(source).map_err(|error| Mistakes::from(file.syntax(&error)))?;
    let mistaken = Mistaken::of(file);
    let job = Reader { folder: path.parent().unwrap_or(Path::new(".")) }.job(path, root.get_ref(), &mistaken);
    match Mistakes::new(mistaken.into_sorted()) {
        Some(mistakes) => Err(mistakes),
        None => Ok(job),
    }
}

/// Reads the tables of a job in this folder.
struct Reader<'a> {
    folder: &'a Path,
}

impl Reader<'_> {
    fn job(&self, path: &Path, root: &DeTable<'_>, mistaken: &Mistaken<'_>) -> Job {
        let keys = Keys::of(root, 0..0, mistaken);
        let stem = path.file_stem().map_or_else(|| "job".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let name = keys.text("name").map_or(stem, |(_, name)| name);
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            keys.mistake(0..0, "the name of the job is blank or has a line break", None);
        }
        let profile = keys.text("profile").map(|(_, profile)| profile);
        let tables = keys.tables("step");
        if tables.is_empty() {
            keys.mistake(
                0..0,
                "the job has no step",
                Some("add [[step]] with upload = \"inbox/*.xlsx\" or export = \"items\""),
            );
        }
        let steps = tables.into_iter().enumerate().filter_map(|(index, table)| self.step(index + 1, table)).collect();
        let notices: Vec<Notice> =
            keys.tables("notify").into_iter().filter_map(|table| notice_keys::read(table, self.folder)).collect();
        let schedule = keys.table("schedule").and_then(schedule_keys::read);
        keys.finish();
        Job { path: path.to_owned(), name, profile, steps, notices, schedule }
    }

    fn step(&self, number: usize, keys: Keys<'_>) -> Option<Step> {
        let name = keys.text("name").map(|(_, name)| name);
        let stops = keys.flag("stop_on_failure");
        let (upload, export) = (keys.text("upload"), keys.texts("export"));
        let (work, usual) = match (upload, export) {
            (Some((span, files)), None) => (self.upload(&keys, (span, &files)).map(Work::Upload), files),
            (None, Some((span, lists))) => {
                let names: Vec<&str> = lists.iter().map(|(_, name)| name.as_str()).collect();
                let usual = names.join(", ");
                (self.export(&keys, span, &lists).map(Work::Export), usual)
            }
            (None, None) => {
                keys.mistake(keys.span(), "the step has neither upload nor export", None);
                return None;
            }
            (Some(_), Some((span, _))) => {
                keys.mistake(span, "a step either uploads or exports", Some("make two steps of it"));
                return None;
            }
        };
        keys.finish();
        let name = name.unwrap_or_else(|| format!("{number}. {} {usual}", work.as_ref().map_or("", Work::name)));
        Some(Step { name, stops, work: work? })
    }

    fn upload(&self, keys: &Keys<'_>, (span, files): Placed<&str>) -> Option<Box<UploadStep>> {
        let path = resolved(self.folder, files);
        let pattern = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = path.parent().unwrap_or(self.folder).to_owned();
        if pattern.is_empty() || files.ends_with(['/', '\\']) {
            keys.mistake(span.clone(), "upload does not name files", Some("name them as in upload = \"inbox/*.xlsx\""));
        }
        if folder.to_string_lossy().contains(WILDCARDS) {
            keys.mistake(span, "only the name of the file may have * and ?", Some("make a step for each folder"));
        }
        let is_inbox = pattern.contains(WILDCARDS);
        let moves = keys.choice("move").unwrap_or(is_inbox);
        let place = |key, usual: &str| match keys.text(key) {
            Some((span, _)) if !moves => {
                keys.mistake(
                    span,
                    format!("{key} has no effect, because the file stays where it is"),
                    Some("add move = true, or leave it out"),
                );
                None
            }
            Some((span, folder)) => self.dated(keys, span, &folder),
            None => Some(sibling(&folder, usual)),
        };
        let (done, failed) = (place("done", "done"), place("failed", "failed"));
        for target in [&done, &failed].into_iter().flatten().filter(|target| **target == folder && moves) {
            let message = format!("{} is the folder that the step reads", target.display());
            keys.mistake(keys.span(), message, Some("files would be uploaded again and again: name another folder"));
        }
        let set = keys.named_texts("set");
        let locale = keys.parsed("locale", |name| locale::check(name).map(str::to_owned));
        let template = self.template(keys, &set, locale.as_deref());
        let settle = keys.duration("settle").unwrap_or(SETTLE);
        if settle.as_secs() > MAX_SETTLE {
            keys.mistake(keys.span(), "settle is longer than an hour", None);
        }
        Some(Box::new(UploadStep {
            folder,
            files: pattern,
            sheet: keys.text("sheet").map(|(_, sheet)| sheet),
            strict: keys.flag("strict"),
            all_or_nothing: keys.flag("all_or_nothing"),
            changed_only: keys.flag("changed_only"),
            keep_lines: keys.flag("keep_lines"),
            create_missing_items: keys.flag("create_missing_items"),
            trigger_workflows: keys.flag("trigger_workflows"),
            for_supplier: keys.flag("for_supplier"),
            max_errors: keys.number("max_errors", 0..=u64::MAX),
            max_unknown: keys.number("max_unknown", 0..=u64::MAX),
            rate: keys.parsed("rate", str::parse),
            concurrency: concurrency(keys),
            folders: done.zip(failed).filter(|_| moves).map(|(done, failed)| Folders { done, failed }),
            settle,
            template: template?,
            set,
            locale,
        }))
    }

    /// Reads the name of the template of an upload, and loads the template to find mistakes now.
    fn template(&self, keys: &Keys<'_>, set: &[(String, String)], locale: Option<&str>) -> Option<String> {
        let Some((span, name)) = keys.text("template") else {
            let hint = "add template = \"items\" or the name of a template file; nobody can be asked at night";
            keys.mistake(keys.span(), "the step has no template", Some(hint));
            return None;
        };
        let wanted = match builtin::find(&name) {
            Some(_) => name,
            None => self.folder.join(&name).display().to_string(),
        };
        let changes = TemplateChanges { parameters: set, locale, lookup_folders: &[] };
        match load_template(&wanted, changes) {
            Ok(template) => {
                let given = |flag: &'static str, is_wrong: bool| is_wrong.then_some(flag);
                let input = template.record.input();
                let has = |name: &str| input.options().any(|field| field.name == name);
                let wrong = [
                    given("changed_only", keys.flag("changed_only") && input.key.is_empty()),
                    given(
                        "keep_lines",
                        keys.flag("keep_lines") && template.record != sheetport_records::RecordKind::Order,
                    ),
                    given("create_missing_items", keys.flag("create_missing_items") && !has("createMissingItems")),
                    given("trigger_workflows", keys.flag("trigger_workflows") && !has("triggerWorkflows")),
                ];
                for key in wrong.into_iter().flatten() {
                    keys.mistake(span.clone(), format!("{key} is not possible for {}", input.plural), None);
                }
            }
            Err(error) => {
                let text = error.to_string();
                let text = text.lines().next().unwrap_or_default();
                let hint = error.hint().unwrap_or_else(|| {
                    format!(
                        "look at it: sheetport template check {name}",
                        name = sheetport_operations::command_line::quoted(&wanted)
                    )
                });
                keys.mistake(span, format!("the template can't be used: {text}"), Some(&hint));
            }
        }
        Some(wanted)
    }

    fn export(
        &self,
        keys: &Keys<'_>,
        span: std::ops::Range<usize>,
        lists: &[Placed<String>],
    ) -> Option<Box<ExportStep>> {
        let records: Vec<&'static str> = lists
            .iter()
            .filter_map(|(span, name)| {
                let known = EXPORTABLE.into_iter().find(|known| known == name);
                if known.is_none() {
                    let message = format!("there are no {name} to export");
                    keys.mistake(span.clone(), message, Some(&suggestion(name, &EXPORTABLE)));
                }
                known
            })
            .collect();
        let Some((output_span, output)) = keys.text("output") else {
            keys.mistake(keys.span(), "the step has no output", Some("add output = \"items-{date}.xlsx\""));
            return None;
        };
        let output = resolved(self.folder, &output);
        let locale = |name: &str| {
            let comma = sheetport_export::locale::has_decimal_comma(name);
            comma.ok_or_else(|| "expected a language such as de, fr or en".to_owned())
        };
        let ids = keys.text("ids").map(|(_, path)| self.folder.join(path));
        let (column, external) = (keys.text("column").map(|(_, column)| column), keys.flag("external"));
        let since = keys.text("since");
        if let Some((span, since)) = since.as_ref().filter(|(_, since)| since != "last") {
            let hint = Some("since = \"last\", or leave it out");
            keys.mistake(span.clone(), format!("'{since}' can't be exported every night"), hint);
        }
        let step = ExportStep {
            output,
            family: keys.parsed("family", |name| {
                let families = [Family::Public, Family::Legacy];
                let family = families.into_iter().find(|family| family.name() == name);
                family.ok_or_else(|| "expected public or legacy".to_owned())
            }),
            template: keys.text("template").map(|(_, path)| self.folder.join(path)),
            explode: keys.text("explode").map(|(_, field)| field),
            style: Style {
                decimal_comma: keys.parsed("locale", locale).unwrap_or(false),
                delimiter: keys.parsed("delimiter", Options::delimiter_named),
                bom: keys.flag("bom"),
                raw: keys.flag("exact"),
            },
            since_last: since.is_some(),
            append: keys.flag("append"),
            changes: keys.text("changes").map(|(_, path)| resolved(self.folder, &path)),
            verify: keys.flag("verify"),
            keep: keys.number("keep", 1..=u64::from(u16::MAX)).and_then(|keep| u16::try_from(keep).ok()),
            min_ratio: keys.share("min_ratio"),
            allow_empty: keys.flag("allow_empty"),
            replace: keys.flag("replace"),
            ids: ids.map(|path| IdSource { path, column, external }),
            rate: keys.parsed("rate", str::parse),
            concurrency: concurrency(keys),
            records,
        };
        if step.records.len() == lists.len()
            && let Err(error) = sheetport_operations::exports::check(&step.request())
        {
            let place = if error.to_string().contains("--keep") { output_span } else { span };
            keys.mistake(place, error.to_string(), error.hint().as_deref());
        }
        Some(Box::new(step))
    }

    /// Returns the path of a folder. `{date}` and `{time}` in the name stay for later.
    fn dated(&self, keys: &Keys<'_>, span: std::ops::Range<usize>, folder: &str) -> Option<PathBuf> {
        let rest = folder.replace("{date}", "").replace("{time}", "");
        if rest.contains(['{', '}']) {
            let message = format!("'{folder}' has an unknown placeholder");
            keys.mistake(span, message, Some("{date} and {time} are filled in"));
            return None;
        }
        Some(resolved(self.folder, folder))
    }
}

fn concurrency(keys: &Keys<'_>) -> Option<u16> {
    keys.number("concurrency", 1..=256).and_then(|number| u16::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines and messages of the mistakes.
    fn mistakes(source: &str) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        match parse(&folder.path().join("nightly.toml"), source) {
            Ok(_) => Vec::new(),
            Err(mistakes) => mistakes
                .iter()
                .map(|mistake| format!("{}: {}", mistake.position().expect("a place").0, mistake.message))
                .collect(),
        }
    }

    #[test]
    fn all_mistakes_of_a_job_are_found_at_their_lines() {
        let source = "\
nmae = \"x\"
[[step]]
upload = \"inbox/*.xlsx\"
template = \"itmes\"
all_or_noting = true
max_errors = -1
[[step]]
export = \"itmes\"
output = \"items.xlsx\"
keep = 0
[[step]]
upload = \"in*/x.xlsx\"
template = \"items\"
settle = \"soon\"
[[notify]]
on = [\"failures\"]
command = []
[schedule]
at = \"25:00\"
";
        let found = mistakes(source);
        let lines: Vec<&str> = found.iter().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(lines, ["1", "4", "5", "6", "8", "10", "12", "14", "16", "17", "19"], "{found:#?}");
    }

    #[test]
    fn a_job_without_steps_or_with_a_password_is_refused() {
        assert_eq!(mistakes(""), ["1: the job has no step"]);
        let with = |password: &str| {
            mistakes(&format!(
                "[[step]]\nexport = \"items\"\noutput = \"items.csv\"\n[[notify]]\n[notify.mail]\nfrom = \"a@example.com\"\n\
                 to = \"b@example.com\"\nserver = \"mail.example.com\"\nuser = \"a\"\n{password}\n"
            ))
        };
        assert_eq!(with("password_env = \"MAIL\""), [""; 0]);
        assert!(with("password = \"secret\"")[0].starts_with("10: a password does not belong in the job's file"));
        assert!(with("")[0].contains("the password of this user is not named"));
    }

    #[test]
    fn the_folder_that_is_read_is_no_target() {
        let step =
            |more: &str| mistakes(&format!("[[step]]\nupload = \"inbox/*.csv\"\ntemplate = \"items\"\n{more}\n"));
        assert_eq!(step("done = \"archive/{date}\""), [""; 0]);
        assert!(step("done = \"inbox\"")[0].contains("the folder that the step reads"));
        assert!(step("failed = \"x/{day}\"")[0].contains("placeholder"));
        assert!(step("move = false\ndone = \"archive\"")[0].contains("no effect"));
    }
}
