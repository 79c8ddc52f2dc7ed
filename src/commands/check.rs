//! `check`: everything that is wrong with a file, in one pass and without a network.

use super::input::InputFile;
use super::{reading, template};
use crate::cli::Check;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui::progress::Progress;
use crate::upload::read::{Keep, read};

pub fn run(args: &Check, settings: &Settings) -> Result<Exit, Failure> {
    let template = template::load(&args.input.template)?;
    let file = InputFile::open(&args.input.file)?;
    let source = reading::open(&file, &args.input, &template)?;
    reading::describe(settings, &source, &template);
    let progress = Progress::new(settings.output.progress, "checking", "row", None);
    let mut rows = 0;
    let tally = read(&source, &template, Keep::Nothing, |batch| {
        rows += batch.read;
        progress.at(rows, String::new);
        true
    })?;
    progress.finish(tally.rows);
    if !settings.output.json {
        reading::show_problems(&tally);
    }
    let (exit, summary) = reading::ended("check", &args.input, &source, &template, &tally);
    summary.print(settings.output);
    Ok(exit)
}
