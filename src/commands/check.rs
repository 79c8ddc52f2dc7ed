//! `check`: everything that is wrong with a file, in one pass and without a network.

use super::sending::quoted;
use super::summary::Summary;
use super::{template, upload};
use crate::cli::Check;
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
    let (exit, summary) = ended(settings, "check", &source, &template, &tally);
    summary.print(settings.output);
    Ok(exit)
}

/// Shows the problems that a pass over a file found, and sums it up.
pub fn ended(
    settings: &Settings,
    command: &str,
    source: &Source,
    template: &Template,
    tally: &Tally,
) -> (Exit, Summary) {
    if !settings.output.json && tally.rejected > 0 {
        ui::heading("Wrong in the sheet");
        ui::problems::print(&tally.causes);
    }
    let file = source.path.display().to_string();
    let next = (tally.to_send > 0).then(|| format!("sheetport upload {} -t {}", quoted(&file), quoted(&template.name)));
    let exit = if tally.rejected > 0 { Exit::RowsFailed } else { Exit::Done };
    (exit, Summary::of_tally(command, template.record.name(), &template.name, &file, tally, next))
}
