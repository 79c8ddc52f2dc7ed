//! Chooses the template for a file without `-t`.

use std::path::Path;

use sheetport_files::visible::one_line;
use sheetport_language::say;
use sheetport_mapping::model::{FieldRule, OnBlank, Source};
use sheetport_operations::{
    self as operations, Candidate, CommandLine, InputFile, Recognized, TemplateOrigin, Unrecognized, quoted,
};
use sheetport_sheet::UNSPLIT_HINT;

use super::about_template::AboutTemplate;
use super::propose::infer_command;
use crate::cli::{Input, Upload};
use crate::commands::console::Console;
use crate::commands::next_command;
use crate::error::{ErrorCode, Failure};
use crate::settings::Settings;
use crate::ui;

/// Maximum number of other templates named.
const MAX_OTHERS: usize = 3;

/// The purpose of the template.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) enum Purpose<'a> {
    /// Nothing is sent, so the best guess is good enough.
    Looking,
    /// A person must agree: on the terminal, or beforehand with `--yes` or in `sheetport.toml`.
    Sending { is_agreed: bool, upload: &'a Upload },
}

/// Returns the name of the template that fits the file, and prints the reason. `None` if no template fits, and a person can be asked.
pub(super) async fn recognize(
    file: &InputFile,
    input: &Input,
    purpose: Purpose<'_>,
    settings: &Settings,
) -> Result<Option<String>, Failure> {
    let unknown = unrecognized(file, input);
    let console = Console::new(settings.output);
    let recognized = operations::recognize(&settings.context, &unknown, &|event| console.show(event)).await?;
    let name = file.name.display().to_string();
    let name = one_line(&name);
    let Some(best) = recognized.candidates.first().filter(|best| best.fit.is_good()) else {
        let asks = matches!(purpose, Purpose::Sending { is_agreed: false, .. }) && settings.output.can_ask();
        if asks && !recognized.is_unsplit && recognized.with_constants.is_none() && file.name.is_file() {
            return Ok(None);
        }
        let message = format!("no template fits {name}{}", nearly(&recognized));
        let propose = format!("let Sheetport propose one: {}", infer_command(file, settings));
        let hint = match &recognized.with_constants {
            _ if recognized.is_unsplit => UNSPLIT_HINT.to_owned(),
            Some(other) => format!("{}; or {propose}", fits_with_constants(other)),
            None => propose,
        };
        return Err(Failure::new(ErrorCode::Usage, message, hint));
    };
    if settings.output.talks() {
        ui::remark(say!("template {}", describe(best)));
        if let Some(others) = others(&recognized) {
            ui::hint(&say!("{others}; choose with -t"));
        }
        if let Some(other) = &recognized.with_constants {
            ui::hint(&say!("{}", fits_with_constants(other)));
        }
        if !best.is_trusted {
            ui::remark(say!("  its content is not trusted yet; this is what it does:"));
            AboutTemplate::of(&best.template).print();
        }
    }
    let trust = || CommandLine::new(&settings.context, "template trust").file(Path::new(&best.name));
    match purpose {
        Purpose::Looking => {
            if !best.is_trusted && settings.output.talks() {
                ui::hint(&say!("an upload without -t uses it once it is trusted: {}", trust()));
            }
        }
        Purpose::Sending { is_agreed: true, .. } if recognized.is_clear() && best.is_trusted => {}
        Purpose::Sending { is_agreed: false, .. } if settings.output.can_ask() => {
            let question = say!("Upload {name} with the template {}? [y/N]", best.name);
            if !matches!(ui::ask(&question).as_deref(), Some("y" | "yes")) {
                return Err(Failure::new(ErrorCode::Usage, "nothing was sent", "name another template with -t"));
            }
            operations::trust(&settings.context, &best.template)?;
        }
        Purpose::Sending { is_agreed, upload } if !best.is_trusted => {
            let place = if is_agreed { "; --yes and accept_recognized are for trusted templates" } else { "" };
            let message = format!("no template was named; {name} fits {}{place}", describe(best));
            let command = next_command::upload(upload, &best.name, &settings.context);
            let hint = format!("look at the template, then trust it as it is: {}; or name it: {command}", trust());
            return Err(Failure::new(ErrorCode::Usage, message, hint));
        }
        Purpose::Sending { is_agreed, upload } => {
            let message = match recognized.is_clear() {
                true => format!("no template was named; {name} fits {}", describe(best)),
                false => format!("no template was named, and {name} fits several"),
            };
            let accept =
                if is_agreed { "" } else { ", or accept it with --yes, or accept_recognized in sheetport.toml" };
            let command = next_command::upload(upload, &best.name, &settings.context);
            return Err(Failure::new(ErrorCode::Usage, message, format!("name it: {command}{accept}")));
        }
    }
    Ok(Some(best.name.clone()))
}

fn unrecognized<'a>(file: &'a InputFile, input: &'a Input) -> Unrecognized<'a> {
    let (sheet, text) = (input.sheet.as_deref(), input.reading.options());
    Unrecognized { file, sheet, text, keys: input.of_sheet.keys() }
}

/// Converts an error. If the file lacks columns of the template, the hint also names a template that fits.
pub(in crate::commands) async fn with_suggestion(
    error: operations::Error,
    file: &InputFile,
    input: &Input,
    settings: &Settings,
) -> Failure {
    let is_other_template = error.is_other_template();
    let mut failure = Failure::from(error);
    if is_other_template {
        let unknown = unrecognized(file, input);
        // The first error is more important than a failure to recognize the file.
        if let Ok(recognized) = operations::recognize(&settings.context, &unknown, &|_| {}).await
            && let Some(best) =
                recognized.with_constants.as_ref().or(recognized.candidates.first()).filter(|best| best.fit.is_good())
        {
            let other = format!("use -t {}: template {}", quoted(&best.name), describe(best));
            failure.hint = Some(failure.hint.map_or_else(|| other.clone(), |hint| format!("{hint}; or {other}")));
        }
    }
    failure
}

/// Returns name, origin and fit of a template.
fn describe(candidate: &Candidate) -> String {
    let Candidate { name, template, origin, is_trusted, fit } = candidate;
    let trusted = if *is_trusted { "" } else { ", not trusted yet" };
    let origin = match origin {
        TemplateOrigin::BuiltIn => "built in".to_owned(),
        TemplateOrigin::Folder => "next to the file".to_owned(),
        TemplateOrigin::Run(run) => say!("of run {run}"),
    };
    format!(
        "{name} ({origin}{trusted}, for {}): uses {} of {} columns; {} of the first {} rows are valid",
        template.record.input().plural,
        fit.used,
        fit.columns,
        fit.valid,
        fit.rows
    )
}

/// Lists the other templates that fit.
fn others(recognized: &Recognized) -> Option<String> {
    let others: Vec<String> = recognized.candidates[1..]
        .iter()
        .filter(|other| other.fit.is_good())
        .take(MAX_OTHERS)
        .map(|other| format!("{} ({} of {} columns)", other.name, other.fit.used, other.fit.columns))
        .collect();
    (!others.is_empty()).then(|| format!("also fitting: {}", others.join(", ")))
}

/// Names a template that only a person can choose, and what it says of every record.
fn fits_with_constants(other: &Candidate) -> String {
    let is_set =
        |rule: &&FieldRule| matches!(rule.source, Source::Constant(_)) || matches!(rule.on_blank, OnBlank::Default(_));
    let fields: Vec<&str> = other.template.rules().filter(is_set).map(|rule| rule.field.name).collect();
    format!("-t {} fits, but it sets {} by itself", quoted(&other.name), fields.join(", "))
}

/// Names the template whose columns are present, although few rows are valid.
fn nearly(recognized: &Recognized) -> String {
    recognized.candidates.first().map_or_else(String::new, |best| format!("; the nearest is {}", describe(best)))
}
