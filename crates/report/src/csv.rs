//! Reports as CSV.

use sheetport_ledger::Ledger;
use sheetport_sheet::write::{CsvTable, Style, WholeFile};

use super::error::Error;
use super::options::{Request, Written};
use super::rows::{Subject, each_row};

/// Delimiters that a report copies from the file of its run. Spreadsheet programs do not detect others, such as spaces.
const DELIMITERS: &[u8] = b",;\t|";

pub(super) async fn write(
    ledger: &Ledger,
    subject: &Subject<'_>,
    request: &Request<'_>,
    file: WholeFile,
) -> Result<Written, Error> {
    let header = subject.header();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    // A program that opened the file also opens a report in the same form.
    let form = subject.run.about.text_form;
    let usual = form.map(|form| form.delimiter).filter(|delimiter| DELIMITERS.contains(delimiter));
    let delimiter = request.csv.delimiter.or(usual);
    let bom = request.csv.bom.unwrap_or(form.is_some_and(|form| form.has_bom));
    let mut table = CsvTable::create(file, &header, Style { delimiter, bom, ..Style::default() })?;
    let rows = each_row(ledger, subject, request.rows, |row| {
        let texts = row.texts();
        Ok(table.row(row.report_cells(&texts))?)
    })
    .await?;
    Ok(Written { path: table.finish()?, rows, left_out: 0 })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use sheetport_sheet::Cell;
    use sheetport_sheet::write::{CsvTable, Existing, Style, WholeFile};

    #[test]
    fn cells_of_every_kind_are_written_and_rows_are_padded() {
        let folder = tempfile::tempdir().unwrap();
        let file = WholeFile::create(&folder.path().join("out.csv"), Existing::Keep).unwrap();
        let mut table = CsvTable::create(file, &["SKU", "Name", "Price", "Day"], Style::default()).unwrap();
        let (day, time) = (jiff::civil::date(2025, 10, 13), jiff::civil::time(9, 30, 0, 0));
        table.row([Cell::Text("0042"), Cell::Text("=1+1"), Cell::Number(-1.5), Cell::Date(day)]).unwrap();
        table.row([Cell::Text(" \u{1}_x0041_\r\n\"ä\";,"), Cell::Blank, Cell::Boolean(true)]).unwrap();
        table.row([Cell::Error("#N/A"), Cell::Time(time), Cell::DateTime(day.to_datetime(time))]).unwrap();
        table.row([0.19, -0.005, 0.1 + 0.2, 1e-20].map(Cell::Percent)).unwrap();
        assert_eq!(
            std::fs::read_to_string(table.finish().unwrap()).unwrap(),
            "SKU,Name,Price,Day\r\n0042,'=1+1,-1.5,2025-10-13\r\n\" \u{1}_x0041_\r\n\"\"ä\"\";,\",,TRUE,\r\n\
             #N/A,09:30:00,2025-10-13T09:30:00,\r\n19%,-0.5%,30%,0.000000000000000001%\r\n"
        );
    }
}
