//! The input file, the flags for reading a CSV, and the choice of a template.

pub(super) mod about_template;
mod propose;
mod recognize;

use std::path::Path;

use sheetport_files::visible::one_line;
use sheetport_language::say;
use sheetport_mapping::Template;
use sheetport_mapping::load::SheetKeys;
use sheetport_operations::{self as operations, InputFile, STANDARD_INPUT, Spreadsheet, load_template_for};

use crate::cli::Input;
use crate::error::{ErrorCode, Failure};
use crate::settings::Settings;
use crate::ui;
use propose::propose;
use recognize::recognize;

pub(super) use recognize::{Purpose, with_suggestion};

/// Opens the file or the object at `path`, or standard input for `-`.
pub(super) async fn open(path: &Path, settings: &Settings) -> Result<InputFile, Failure> {
    Ok(match path.as_os_str() == "-" {
        true => InputFile::spool(std::io::stdin().lock(), STANDARD_INPUT)?,
        false => operations::open_input(&settings.context, path).await?,
    })
}

/// Loads the named or recognized template, and combines it with the file and the flags.
pub(super) async fn spreadsheet<'a>(
    file: &'a InputFile,
    input: &'a Input,
    purpose: Purpose<'_>,
    settings: &Settings,
) -> Result<Spreadsheet<'a>, Failure> {
    Ok(to_send(file, input, purpose, settings).await?.0)
}

/// Returns the spreadsheet with its template, and whether the template is new: nobody has seen yet what is sent with it.
pub(super) async fn to_send<'a>(
    file: &'a InputFile,
    input: &'a Input,
    purpose: Purpose<'_>,
    settings: &Settings,
) -> Result<(Spreadsheet<'a>, bool), Failure> {
    let (name, is_new) = match &input.template {
        Some(name) => (name.clone(), false),
        None => match recognize(file, input, purpose, settings).await? {
            Some(name) => (name, false),
            None => (propose(file, input, settings).await?, true),
        },
    };
    let template = load_template_for(&name, input.changes(settings.context.defaults()), file)?;
    let text = input.reading.options();
    if settings.output.talks() {
        say_defaults(&template, &settings.context.profile);
    }
    if let Purpose::Sending { .. } = purpose {
        let is_plain = input.set.is_empty() && input.of_sheet.keys() == SheetKeys::default();
        // Naming a template for an upload implies trust, and so do the answers of which it was made.
        if is_new || input.template.is_some() {
            operations::trust(&settings.context, &template)?;
        } else if is_plain && !operations::is_trusted(&settings.context, &template) {
            // The file may have been replaced since a person accepted it. With flags that change the template, its digest differs from the
            // accepted one anyway.
            let message = format!("the template {} changed while it was used", one_line(&name));
            return Err(Failure::new(ErrorCode::Usage, message, "look at it again, then repeat the upload"));
        }
    }
    let edits = match input.reviewed {
        true => Some(operations::review::edits_of_file(&settings.context, file).await?),
        false => None,
    };
    let (sheet, accepts) = (input.sheet.as_deref(), input.accept.as_slice());
    Ok((Spreadsheet { file, template, sheet, text, rows: None, is_strict: false, accepts, edits }, is_new))
}

/// Says what the template has from the profile. People who check a file on another machine may have another profile.
fn say_defaults(template: &Template, profile: &str) {
    for (key, value) in template.defaulted.iter().flat_map(|defaulted| &defaulted.keys) {
        ui::remark(match *key {
            "time_zone" => say!("time zone {value}, from the profile {profile}"),
            "currency" => say!("currency {value} where the sheet says none, from the profile {profile}"),
            _ => say!("numbers and dates as in {value}, from the profile {profile}"),
        });
    }
}
