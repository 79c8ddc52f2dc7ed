//! `view`: what a file is read as, and how sure of it Sheetport is; or its table, or all its cells, for other programs.

use std::io::{self, Write};

use serde_json::json;

use super::input::{self, InputFile};
use crate::cli::View;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::sheet::json::JsonRow;
use crate::sheet::{Book, Error, Row, Table, open};
use crate::ui;

pub fn run(args: &View, settings: &Settings) -> Result<Exit, Failure> {
    let file = InputFile::open(&args.file)?;
    let book = match open(&file.path, &input::options(&args.reading)) {
        // A table without rows is what there is to print.
        Err(Error::Empty { .. }) if args.csv => {
            ui::remark(format_args!("{} is empty", file.name.display()));
            return Ok(Exit::Done);
        }
        book => book.map_err(|error| file.told(error))?,
    };
    let sheet = match &args.sheet {
        Some(wanted) => book.find_sheet(wanted).map_err(|error| file.told(error))?,
        None => 0,
    };
    let written = if args.csv {
        csv(args, settings, &book, sheet)
    } else if args.all_sheets {
        all_sheets(&book)
    } else {
        facts(args, settings, &file, &book, sheet)
    };
    match written {
        Ok(()) => Ok(Exit::Done),
        Err(Stopped::Read(error)) => Err(file.told(error).into()),
        // Whoever read our output has seen enough.
        Err(Stopped::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(Stopped::Write(error)) => Err(Failure::new(
            Exit::Fault,
            format!("the output can't be written: {error}"),
            "check where it goes to and that the disk has room",
        )),
    }
}

/// Why not everything was printed.
enum Stopped {
    Read(Error),
    Write(io::Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Stopped {
        Stopped::Read(error)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Stopped {
        Stopped::Write(error)
    }
}

impl From<csv::Error> for Stopped {
    fn from(error: csv::Error) -> Stopped {
        Stopped::Write(match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            other => io::Error::other(format!("{other:?}")),
        })
    }
}

fn facts(args: &View, settings: &Settings, file: &InputFile, book: &Book, sheet: usize) -> Result<(), Stopped> {
    let facts = ui::view::Facts::of(&file.name.display().to_string(), book, sheet, args.rows)?;
    match settings.output.json {
        true => ui::json(&facts.json()),
        false => facts.print(),
    }
    Ok(())
}

fn csv(args: &View, settings: &Settings, book: &Book, sheet: usize) -> Result<(), Stopped> {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(ui::data());
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
        ui::remark(format_args!("a second table begins at row {row} and is left out; --every-row prints all"));
    }
    Ok(())
}

fn write(writer: &mut csv::Writer<impl Write>, row: &Row) -> csv::Result<()> {
    for cell in row.cells() {
        writer.write_field(cell.unformatted().shown().as_bytes())?;
    }
    writer.write_record(None::<&[u8]>)
}

/// One JSON object with every cell, written as it is read. Each row stands where its number says: rows that the file
/// leaves out are empty.
fn all_sheets(book: &Book) -> Result<(), Stopped> {
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
