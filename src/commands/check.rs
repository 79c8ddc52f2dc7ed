//! `check`: everything that is wrong with a file, in one pass and without a network.

use super::summary::Summary;
use super::{sending, template, upload};
use crate::cli::{Check, Input};
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::template::Template;
use crate::ui;
use crate::ui::progress::Progress;
use crate::upload::{Source, Tally, read};

pub fn run(args: &Check, settings: &Settings) -> Result<Exit, Failure> {
    let template = template::load(&args.input.template)?;
    let source = upload::open(&args.input, &template)?;
    upload::describe(settings, &source, &template);
    let progress = Progress::new(settings.output.progress, "checking", "row", None);
    let mut rows = 0;
    let tally = read::read(&source, &template, |batch| {
        rows += batch.rows.len() as u64;
        progress.at(rows, String::new);
        true
    })?;
    progress.finish(tally.rows);
    show(settings, "check", &args.input, &source, &template, &tally);
    Ok(if tally.rejected > 0 { Exit::RowsFailed } else { Exit::Done })
}

/// Prints what a pass over a file found.
pub fn show(settings: &Settings, command: &str, input: &Input, source: &Source, template: &Template, tally: &Tally) {
    if !settings.output.json && tally.rejected > 0 {
        ui::problems::print(&tally.causes);
        ui::line("");
    }
    let file = source.path.display().to_string();
    let next = (tally.to_send > 0).then(|| upload_of(input));
    Summary::of_tally(command, template.record.name(), &template.name, &file, tally, next).print(settings.output);
}

/// The command that uploads what was checked, read in the same way.
fn upload_of(input: &Input) -> String {
    let mut words = vec!["sheetport".to_owned(), "upload".to_owned(), input.file.display().to_string()];
    words.extend(["-t".to_owned(), input.template.clone()]);
    let delimiter =
        input.delimiter.map(|byte| if byte == b'\t' { "tab".to_owned() } else { char::from(byte).to_string() });
    for (flag, value) in
        [("--sheet", input.sheet.clone()), ("--delimiter", delimiter), ("--encoding", input.encoding.clone())]
    {
        words.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
    }
    words.iter().map(|word| sending::quoted(word)).collect::<Vec<_>>().join(" ")
}
