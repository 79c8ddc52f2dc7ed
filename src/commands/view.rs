//! `view`: shows how a file is read, or prints the table as CSV or all cells as JSON.

use std::io::{self, Write};

use serde_json::json;
use sheetport_language::say;
use sheetport_operations::InputFile;
use sheetport_sheet::json::JsonRow;
use sheetport_sheet::{Book, Error, Row, Table, open};

use super::input;
use crate::cli::View;
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(super) async fn run(args: &View, settings: &Settings) -> Result<Exit, Failure> {
    let file = input::open(&args.file, settings).await?;
    let named = |error: Error| error.of_file(&file.name);
    let book = match open(&file.path, &args.reading.options()) {
        // The table of an empty file has no rows.
        Err(Error::Empty { .. }) if args.csv => {
            ui::remark(say!("{} is empty", file.name.display()));
            return Ok(Exit::Done);
        }
        book => book.map_err(named)?,
    };
    let sheet = match &args.sheet {
        Some(wanted) => book.find_sheet(wanted).map_err(named)?,
        None if args.all_sheets => 0,
        None => book.first_filled_sheet().map_err(named)?,
    };
    let written = if args.csv {
        csv(args, settings, &book, sheet)
    } else if args.all_sheets {
        all_sheets(&book)
    } else {
        describe(args, settings, &file, &book, sheet)
    };
    match written {
        Ok(()) => Ok(Exit::Done),
        Err(PrintError::Read(error)) => Err(named(error).into()),
        // The reader closed the pipe, as `head` does.
        Err(PrintError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(PrintError::Write(error)) => Err(Failure::new(
            ErrorCode::Local,
            format!("the output can't be written: {error}"),
            "check that the disk has room and that the output is still open",
        )),
    }
}

/// An error while reading or printing.
#[derive(Debug, thiserror::Error)]
enum PrintError {
    #[error(transparent)]
    Read(#[from] Error),
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl From<csv::Error> for PrintError {
    fn from(error: csv::Error) -> PrintError {
        PrintError::Write(match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            other => io::Error::other(format!("{other:?}")),
        })
    }
}

fn describe(args: &View, settings: &Settings, file: &InputFile, book: &Book, sheet: usize) -> Result<(), PrintError> {
    let name = file.name.display().to_string();
    let view = ui::view::FileView::of(&name, book, sheet, args.rows)?;
    match settings.output.json {
        true => ui::json(&view.json()),
        false => view.print(),
    }
    Ok(())
}

fn csv(args: &View, settings: &Settings, book: &Book, sheet: usize) -> Result<(), PrintError> {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(ui::csv_data());
    let mut row = Row::default();
    if args.every_row {
        let mut rows = book.rows(sheet)?;
        while rows.next(&mut row)? {
            write(&mut writer, &row)?;
        }
        writer.flush()?;
        return Ok(());
    }
    let mut table = Table::new(book.rows(sheet)?)?;
    while table.next(&mut row)? {
        write(&mut writer, &row)?;
    }
    writer.flush()?;
    if let Some(row) = table.ended_at().filter(|_| !settings.output.quiet) {
        ui::remark(say!("a second table begins at row {row} and was not printed; --every-row prints all rows"));
    }
    Ok(())
}

fn write(writer: &mut csv::Writer<impl Write>, row: &Row) -> csv::Result<()> {
    for cell in row.cells() {
        writer.write_field(cell.unformatted().shown().as_bytes())?;
    }
    writer.write_record(None::<&[u8]>)
}

/// Prints every cell as a single JSON object while reading. Rows missing in the file become empty arrays, so that the index of a
/// row is its number minus 1.
fn all_sheets(book: &Book) -> Result<(), PrintError> {
    let mut out = ui::data();
    let mut row = Row::default();
    out.write_all(b"{\"sheets\":[")?;
    for (index, name) in book.sheets().iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        write!(out, "{comma}{{\"name\":{},\"rows\":[", json!(name))?;
        let mut rows = book.rows(index)?;
        let mut written = 0;
        while rows.next(&mut row)? {
            for number in written + 1..row.number {
                out.write_all(if number == 1 { b"[]" } else { b",[]" })?;
            }
            out.write_all(if row.number == 1 { b"" } else { b"," })?;
            serde_json::to_writer(&mut out, &JsonRow(&row)).map_err(io::Error::from)?;
            written = row.number;
        }
        out.write_all(b"]}")?;
    }
    out.write_all(b"]}\n")?;
    out.flush()?;
    Ok(())
}
