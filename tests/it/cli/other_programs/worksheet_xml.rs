//! The rows and cells of worksheets, as they are stored: in order, each once. Programs differ in what they make of others.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Asserts that rows and cells are stored in order and once, in every worksheet of the workbook.
#[track_caller]
pub fn check(path: &Path) {
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let parts: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let sheets = parts.iter().filter(|part| part.starts_with("xl/worksheets/sheet"));
    let checked = sheets.map(|part| {
        let mut reader = Reader::from_reader(BufReader::new(archive.by_name(part).unwrap()));
        check_sheet(&mut reader).unwrap_or_else(|problem| panic!("{}, {part}: {problem}", path.display()));
    });
    assert_ne!(checked.count(), 0, "{}", path.display());
}

fn check_sheet(reader: &mut Reader<impl std::io::BufRead>) -> Result<(), String> {
    let (mut row, mut column) = (0, 0);
    let mut buffer = Vec::new();
    loop {
        match reader.read_event_into(&mut buffer).map_err(|error| error.to_string())? {
            Event::Start(element) | Event::Empty(element) => match element.name().as_ref() {
                "row" => {
                    let number = attribute(&element)?.parse::<u32>().map_err(|error| error.to_string())?;
                    if number <= row || number > 1_048_576 {
                        return Err(format!("row {number} after row {row}"));
                    }
                    (row, column) = (number, 0);
                }
                "c" => {
                    let cell = attribute(&element)?;
                    let split = cell.find(|c: char| c.is_ascii_digit()).ok_or("a cell without a row")?;
                    let letters = cell[..split].bytes().fold(0, |sum, letter| sum * 26 + u32::from(letter - b'@'));
                    if letters <= column || letters > 16_384 || cell[split..] != row.to_string() {
                        return Err(format!("cell {cell} in row {row} after column {column}"));
                    }
                    column = letters;
                }
                _ => {}
            },
            Event::Eof => return Ok(()),
            _ => {}
        }
        buffer.clear();
    }
}

/// Returns the attribute `r`, the position of a row or cell.
fn attribute(element: &BytesStart<'_>) -> Result<String, String> {
    let value = element.try_get_attribute("r").map_err(|error| error.to_string())?.ok_or("without a position")?;
    Ok(value.value.into_owned())
}

#[test]
fn rows_and_cells_out_of_order_are_found() {
    let check = |rows: &str| check_sheet(&mut Reader::from_reader(format!("<sheetData>{rows}</sheetData>").as_bytes()));
    check("<row r=\"1\"><c r=\"A1\"/><c r=\"AA1\"><v>1</v></c></row><row r=\"3\"/>").unwrap();
    for (rows, problem) in [
        ("<row r=\"2\"/><row r=\"2\"/>", "row 2 after row 2"),
        ("<row r=\"2\"/><row r=\"1\"/>", "row 1 after row 2"),
        ("<row r=\"2\"><c r=\"B2\"/><c r=\"B2\"/></row>", "cell B2 in row 2 after column 2"),
        ("<row r=\"2\"><c r=\"AA2\"/><c r=\"B2\"/></row>", "cell B2 in row 2 after column 27"),
        ("<row r=\"2\"><c r=\"A3\"/></row>", "cell A3 in row 2 after column 0"),
        ("<row><c r=\"A3\"/></row>", "without a position"),
    ] {
        assert_eq!(check(rows), Err(problem.to_owned()));
    }
}
