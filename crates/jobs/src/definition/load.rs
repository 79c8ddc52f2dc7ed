//! Reads the file of a job, and reports every mistake with its line.

use std::num::NonZeroU16;
use std::ops::Range;
use std::path::{Path, PathBuf};

use sheetport_documents::{Mistakes, Notes, Parsed, Texts, TomlFile};
use sheetport_export::{Choice, ExportOptions, Format, Since};
use sheetport_files::absolute_path::absolute;
use sheetport_files::text_file::read_text;
use sheetport_mapping::builtin;
use sheetport_mapping::modes::{NOT_NEW, why_not_fill, why_not_only};
use sheetport_operations::error::Error;
use sheetport_operations::exports::{EXPORTABLE, ExportRequest, IdSource};
use sheetport_operations::files::{resolved, sibling};
use sheetport_operations::send::DEFAULT_CONCURRENCY;
use sheetport_operations::templates::load_template::{TemplateChanges, load_template};
use sheetport_records::Family;
use sheetport_sheet::Options;
use sheetport_sheet::write::Style;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::model::{Folders, Job, SETTLE, Step, UploadStep, Work};
use super::notice_keys;
use super::raw::{ExportKeys, RawJob, UploadKeys};
use super::schedule_keys;

/// Longest wait for a file to settle, in seconds.
const MAX_SETTLE: u64 = 3600;
const MAX_CONCURRENCY: u16 = 256;
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
    let (root, notes) = Notes::parse(TomlFile { what: "job", name: &name, source });
    let reader = Reader { folder: path.parent().unwrap_or(Path::new(".")), notes: &notes };
    let job = root.and_then(|root| reader.job(path, root));
    notes.finish(job)
}

/// Reads the tables of a job in this folder.
struct Reader<'a> {
    folder: &'a Path,
    notes: &'a Notes<'a>,
}

impl Reader<'_> {
    /// Returns the job, without what is wrong.
    fn job(&self, path: &Path, root: DeTable<'_>) -> Option<Job> {
        let steps = self.steps(&root);
        let raw: RawJob = self.notes.table(root)?;
        let stem = path.file_stem().map_or_else(|| "job".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let name = raw.name.unwrap_or(stem);
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            self.notes.note(0..0, "the name of the job is blank or has a line break", None);
        }
        let notice = |raw| notice_keys::read(raw, self.folder, self.notes);
        Some(Job {
            path: path.to_owned(),
            name,
            profile: raw.profile,
            steps,
            notices: raw.notify.into_iter().filter_map(notice).collect(),
            heartbeat: notice_keys::heartbeat(
                (raw.heartbeat, raw.heartbeat_env, raw.heartbeat_file),
                self.folder,
                self.notes,
            ),
            zone: raw.schedule.as_ref().and_then(|raw| schedule_keys::zone(raw.get_ref(), self.notes)),
            schedule: raw.schedule.and_then(|raw| schedule_keys::read(raw, self.notes)),
        })
    }

    fn steps<'t>(&self, root: &DeTable<'t>) -> Vec<Step> {
        let Some(value) = root.get("step") else {
            let hint = "add [[step]] with upload = \"inbox/*.xlsx\" or export = \"items\"";
            self.notes.note(0..0, "the job has no step", Some(hint));
            return Vec::new();
        };
        let table = |value: &Spanned<DeValue<'t>>| Some((value.span(), value.get_ref().as_table()?.clone()));
        let tables = value.get_ref().as_array().and_then(|values| values.iter().map(table).collect::<Option<Vec<_>>>());
        let Some(tables) = tables else {
            self.notes.note(value.span(), "step is not written as [[step]]", None);
            return Vec::new();
        };
        let steps = tables.into_iter().enumerate();
        steps.filter_map(|(index, (span, table))| self.step(index + 1, span, table)).collect()
    }

    fn step(&self, number: usize, span: Range<usize>, table: DeTable<'_>) -> Option<Step> {
        match (table.get("upload"), table.get("export")) {
            (Some(_), None) => {
                let mut keys: UploadKeys = self.notes.table(table)?;
                let files = keys.upload.take()?;
                let name = keys.name.take().unwrap_or_else(|| format!("{number}. upload {}", files.get_ref()));
                let stops = keys.stop_on_failure;
                Some(Step { name, stops, work: Work::Upload(self.upload(span, &files, keys)?) })
            }
            (None, Some(_)) => {
                let mut keys: ExportKeys = self.notes.table(table)?;
                let lists = keys.export.take()?;
                let name =
                    keys.name.take().unwrap_or_else(|| format!("{number}. export {}", lists.get_ref().0.join(", ")));
                let stops = keys.stop_on_failure;
                Some(Step { name, stops, work: Work::Export(self.export(span, &lists, keys)?) })
            }
            (None, None) => {
                self.notes.note(span, "the step has neither upload nor export", None);
                None
            }
            (Some(_), Some(export)) => {
                let hint = Some("make two steps of it");
                self.notes.note(export.span(), "a step either uploads or exports", hint);
                None
            }
        }
    }

    fn upload(&self, span: Range<usize>, upload: &Spanned<String>, keys: UploadKeys) -> Option<Box<UploadStep>> {
        let notes = self.notes;
        let files = upload.get_ref();
        let path = resolved(self.folder, files);
        let pattern = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = path.parent().unwrap_or(self.folder).to_owned();
        if pattern.is_empty() || files.ends_with(['/', '\\']) {
            let hint = Some("name them as in upload = \"inbox/*.xlsx\"");
            notes.note(upload.span(), "upload does not name files", hint);
        }
        if folder.to_string_lossy().contains(WILDCARDS) {
            let hint = Some("make a step for each folder");
            notes.note(upload.span(), "only the name of the file may have * and ?", hint);
        }
        let moves = keys.moves.unwrap_or(pattern.contains(WILDCARDS));
        let place = |key: &str, named: &Option<Spanned<String>>| match named {
            Some(named) if !moves => {
                let message = format!("{key} has no effect, because the file stays where it is");
                notes.note(named.span(), message, Some("add move = true, or leave it out"));
                None
            }
            Some(named) => self.dated(named.span(), named.get_ref()),
            None => Some(sibling(&folder, key)),
        };
        let (done, failed) = (place("done", &keys.done), place("failed", &keys.failed));
        for target in [&done, &failed].into_iter().flatten().filter(|target| **target == folder && moves) {
            let message = format!("{} is the folder that the step reads", target.display());
            let hint = Some("files would be uploaded again and again: name another folder");
            notes.note(span.clone(), message, hint);
        }
        let settle = keys.settle.as_ref().map_or(SETTLE, |settle| settle.get_ref().0.0);
        if let Some(settle) = keys.settle.as_ref().filter(|_| settle.as_secs() > MAX_SETTLE) {
            notes.note(settle.span(), "settle is longer than an hour", None);
        }
        let set: Vec<(String, String)> = keys.set.clone().into_iter().collect();
        let template = self.template(span, &keys, &set);
        self.check_concurrency(keys.concurrency.as_ref());
        Some(Box::new(UploadStep {
            folder,
            files: pattern,
            folders: done.zip(failed).filter(|_| moves).map(|(done, failed)| Folders { done, failed }),
            settle,
            template: template?,
            set,
            keys,
        }))
    }

    /// Returns the template of an upload, and loads it to find mistakes now.
    fn template(&self, span: Range<usize>, keys: &UploadKeys, set: &[(String, String)]) -> Option<String> {
        let Some(named) = &keys.template else {
            let hint = "add template = \"items\" or the name of a template file; nobody can be asked at night";
            self.notes.note(span, "the step has no template", Some(hint));
            return None;
        };
        let (span, name) = (named.span(), named.get_ref());
        let wanted = match builtin::find(name) {
            Some(_) => name.clone(),
            None => self.folder.join(name).display().to_string(),
        };
        let changes = TemplateChanges { parameters: set, sheet: keys.sheet_keys(), ..TemplateChanges::default() };
        match load_template(&wanted, changes) {
            Ok(template) => {
                let given = |flag: &'static str, is_wrong: bool| is_wrong.then_some(flag);
                let input = template.record.input();
                let has = |name: &str| input.options().any(|field| field.name == name);
                if let Some(only) = keys.only()
                    && let Some(why) =
                        if template.counts { Some(NOT_NEW.to_owned()) } else { why_not_only(template.record, only) }
                {
                    let message = format!("only = \"{}\" is not possible: {why}", only.name());
                    self.notes.note(span.clone(), message, None);
                }
                if let Some(why) = why_not_fill(template.record).filter(|_| keys.fill_blank) {
                    self.notes.note(span.clone(), format!("fill_blank is not possible: {why}"), None);
                }
                let wrong = [
                    given("changed_only", keys.changed_only && input.key.is_empty()),
                    given("keep_lines", keys.keep_lines && template.record != sheetport_records::RecordKind::Order),
                    given("create_missing_items", keys.create_missing_items && !has("createMissingItems")),
                    given("trigger_workflows", keys.trigger_workflows && !has("triggerWorkflows")),
                ];
                for key in wrong.into_iter().flatten() {
                    self.notes.note(span.clone(), format!("{key} is not possible for {}", input.plural), None);
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
                self.notes.note(span, format!("the template can't be used: {text}"), Some(&hint));
            }
        }
        Some(wanted)
    }

    fn export(&self, span: Range<usize>, export: &Spanned<Texts>, keys: ExportKeys) -> Option<Box<ExportRequest>> {
        let notes = self.notes;
        let lists = &export.get_ref().0;
        let records: Vec<&'static str> = lists
            .iter()
            .filter_map(|name| {
                let known = EXPORTABLE.into_iter().find(|known| known == name);
                if known.is_none() {
                    let message = format!("there are no {name} to export");
                    notes.unknown(export.span(), message, name, &EXPORTABLE);
                }
                known
            })
            .collect();
        let Some(output) = &keys.output else {
            notes.note(span, "the step has no output", Some("add output = \"items-{date}.xlsx\""));
            return None;
        };
        let is_database = Format::of(Path::new(output.get_ref())).is_some_and(Format::is_database);
        if keys.replace && is_database {
            let message = "replace begins the database anew every night: what was deleted and what has changed is lost";
            let hint = "leave out replace, a database is updated; after a change of types, run the export by hand with --replace";
            notes.note(output.span(), message, Some(hint));
        }
        if let Some(since) = keys.since.as_ref().filter(|since| since.get_ref() != "last") {
            let message = format!("'{}' can't be exported every night", since.get_ref());
            notes.note(since.span(), message, Some("since = \"last\", or leave it out"));
        }
        if let Some(ratio) = keys.min_ratio.as_ref().filter(|ratio| !(0.0..=1.0).contains(ratio.get_ref())) {
            notes.note(ratio.span(), "min_ratio is not a number from 0 to 1, such as 0.8", None);
        }
        let family = |name: &str| {
            let families = [Family::Public, Family::Legacy];
            let family = families.into_iter().find(|family| family.name() == name);
            family.ok_or_else(|| "expected public or legacy".to_owned())
        };
        let locale = |name: &str| {
            let comma = sheetport_export::locale::has_decimal_comma(name);
            comma.ok_or_else(|| "expected a language such as de, fr or en".to_owned())
        };
        self.check_concurrency(keys.concurrency.as_ref());
        let ids = keys.ids.as_ref().map(|path| self.folder.join(path));
        let request = ExportRequest {
            output: Some(resolved(self.folder, output.get_ref())),
            family: self.parsed("family", &keys.family, family),
            template: keys.template.map(|path| self.folder.join(path)),
            lines: keys.lines,
            choice: Choice {
                columns: keys.columns.unwrap_or_default().0,
                conditions: keys.conditions.unwrap_or_default().0,
                sort: keys.sort.unwrap_or_default().0,
                renames: keys.rename.into_iter().flatten().map(|(field, name)| format!("{field}={name}")).collect(),
            },
            changes: keys.changes.map(|path| resolved(self.folder, &path)),
            latest: keys.latest.map(|path| resolved(self.folder, &path)),
            ids: ids.map(|path| IdSource { path, column: keys.column, external: keys.external }),
            rate: keys.rate.map(|Parsed(rate)| rate),
            options: ExportOptions {
                style: Style {
                    decimal_comma: self.parsed("locale", &keys.locale, locale).unwrap_or(false),
                    delimiter: self.parsed("delimiter", &keys.delimiter, Options::delimiter_named),
                    bom: keys.bom,
                    raw: keys.exact,
                },
                explode: keys.explode,
                since: if keys.since.is_some() { Since::Last } else { Since::Ever },
                append: keys.append,
                verify: keys.verify,
                keep: keys.keep.map(NonZeroU16::get),
                min_ratio: keys.min_ratio.map(Spanned::into_inner),
                allow_empty: keys.allow_empty,
                replace: keys.replace,
                concurrency: keys.concurrency.map_or(DEFAULT_CONCURRENCY, |number| number.get_ref().get()),
                ..ExportOptions::default()
            },
            records,
            ..ExportRequest::default()
        };
        if request.records.len() == lists.len()
            && let Err(error) = sheetport_operations::exports::check(&request)
        {
            let place = if error.to_string().contains("--keep") { output.span() } else { export.span() };
            notes.note(place, error.to_string(), error.hint().as_deref());
        }
        Some(Box::new(request))
    }

    /// Reads a text, or notes why it can't be read.
    fn parsed<T>(
        &self,
        key: &str,
        text: &Option<Spanned<String>>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = text.as_ref()?;
        parse(text.get_ref()).map_err(|why| self.notes.note(text.span(), format!("{key}: {why}"), None)).ok()
    }

    fn check_concurrency(&self, number: Option<&Spanned<NonZeroU16>>) {
        if let Some(number) = number.filter(|number| number.get_ref().get() > MAX_CONCURRENCY) {
            let message = format!("concurrency is not a number from 1 to {MAX_CONCURRENCY}");
            self.notes.note(number.span(), message, None);
        }
    }

    /// Returns the path of a folder. `{date}` and `{time}` in the name stay for later.
    fn dated(&self, span: Range<usize>, folder: &str) -> Option<PathBuf> {
        let rest = folder.replace("{date}", "").replace("{time}", "");
        if rest.contains(['{', '}']) {
            let message = format!("'{folder}' has an unknown placeholder");
            self.notes.note(span, message, Some("{date} and {time} are filled in"));
            return None;
        }
        Some(resolved(self.folder, folder))
    }
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
    fn a_database_is_not_replaced_every_night() {
        let step =
            |file: &str| mistakes(&format!("[[step]]\nexport = \"items\"\noutput = \"{file}\"\nreplace = true\n"));
        assert_eq!(step("items.csv"), [""; 0]);
        assert!(step("items.db")[0].starts_with("3: replace begins the database anew every night"));
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
