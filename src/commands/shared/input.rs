//! The input file and the flags for reading a CSV.

use std::path::Path;

use crate::cli::{Input, Mark, Reading};
use crate::error::Failure;
use crate::operations::{InputFile, STANDARD_INPUT, Spreadsheet, load_template, quoted};
use crate::sheet::Options;

/// Opens the file at `path`, or standard input for `-`.
pub fn open(path: &Path) -> Result<InputFile, Failure> {
    Ok(match path.as_os_str() == "-" {
        true => InputFile::spool(std::io::stdin().lock(), STANDARD_INPUT)?,
        false => InputFile::at(path),
    })
}

/// Loads the template and combines it with the file and the flags.
pub fn spreadsheet<'a>(file: &'a InputFile, input: &'a Input) -> Result<Spreadsheet<'a>, Failure> {
    let (template, text) = (load_template(&input.template)?, options(&input.reading));
    Ok(Spreadsheet { file, template, sheet: input.sheet.as_deref(), text, rows: None })
}

pub fn options(reading: &Reading) -> Options {
    Options {
        delimiter: reading.delimiter,
        encoding: reading.encoding.clone(),
        quote: reading.quote.map(|mark| mark.0),
        escape: reading.escape.map(|mark| mark.0),
    }
}

/// Returns the reading flags in use, as name and value.
pub fn given_options(reading: &Reading) -> Vec<(&'static str, String)> {
    let delimiter = |byte| if byte == b'\t' { "tab".to_owned() } else { char::from(byte).to_string() };
    let mark = |mark: Mark| mark.0.map_or("none".to_owned(), |byte| char::from(byte).to_string());
    let options = [
        ("delimiter", reading.delimiter.map(delimiter)),
        ("encoding", reading.encoding.clone()),
        ("quote", reading.quote.map(mark)),
        ("escape", reading.escape.map(mark)),
    ];
    options.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Returns the command that uploads the file with the same flags.
pub fn upload_command(input: &Input) -> String {
    let mut words = vec!["sheetport".to_owned(), "upload".to_owned(), input.file.display().to_string()];
    words.extend(["-t".to_owned(), input.template.clone()]);
    words.extend(input.sheet.iter().flat_map(|sheet| ["--sheet".to_owned(), sheet.clone()]));
    words.extend(given_options(&input.reading).into_iter().flat_map(|(name, value)| [format!("--{name}"), value]));
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
