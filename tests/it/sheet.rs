//! Spreadsheets as real files on disk: read as people have them, written and read back.

use std::fs;
use std::path::{Path, PathBuf};

use rust_xlsxwriter::{Format as XlsxFormat, Formula, Workbook};
use sheetport::sheet::write::{Existing, Format, Mark, Table, WholeFile, restore};
use sheetport::sheet::{Book, Cell, Error, Options, Row, open};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn file(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn read(path: &Path) -> Result<Book, Error> {
    open(path, &Options::default())
}

/// All rows of a sheet as `number: cell|cell`, and what stopped the reading.
fn rows(book: &Book, sheet: usize) -> (Vec<String>, Option<Error>) {
    let mut rows = book.rows(sheet).unwrap();
    let (mut row, mut lines) = (Row::default(), Vec::new());
    loop {
        match rows.next(&mut row) {
            Ok(true) => {
                let cells: Vec<_> = row.cells().map(|cell| cell.shown().into_owned()).collect();
                lines.push(format!("{}: {}", row.number, cells.join("|")));
            }
            Ok(false) => return (lines, None),
            Err(error) => return (lines, Some(error)),
        }
    }
}

/// A text file of these bytes is described so and has these rows.
#[track_caller]
fn check(bytes: impl AsRef<[u8]>, description: &str, expected: &[&str]) {
    let folder = folder();
    let book = read(&file(&folder, "prices.txt", bytes)).unwrap();
    let (lines, error) = rows(&book, 0);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(lines, expected);
    assert_eq!(book.description(), description);
    assert_eq!(book.sheets(), ["prices"]);
}

/// Reading a text file of these bytes stops at this place for this reason, after this many rows.
#[track_caller]
fn check_unreadable(bytes: impl AsRef<[u8]>, given: usize, place: &str, reason: &str) {
    let folder = folder();
    let book = read(&file(&folder, "prices.csv", bytes)).unwrap();
    let (lines, error) = rows(&book, 0);
    assert_eq!(lines.len(), given, "{lines:?}");
    let Some(Error::Unreadable { place: found, reason: said, .. }) = error else { panic!("{error:?}") };
    assert_eq!(found, place);
    assert!(said.contains(reason), "{said}");
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

mod text {
    use super::*;

    #[test]
    fn utf8_with_and_without_mark() {
        check("SKU,Größe\n0042,ä\n", "CSV, UTF-8, delimiter ','", &["1: SKU|Größe", "2: 0042|ä"]);
        check("\u{FEFF}SKU;Größe\n0042;ä", "CSV, UTF-8, delimiter ';'", &["1: SKU|Größe", "2: 0042|ä"]);
    }

    #[test]
    fn windows_1252_as_german_excel_saves_it() {
        let (bytes, _, _) = encoding_rs::WINDOWS_1252.encode("Größe;Preis\r\nM8;1,50 €\r\n");
        check(bytes, "CSV, windows-1252, delimiter ';'", &["1: Größe|Preis", "2: M8|1,50 €"]);
    }

    #[test]
    fn utf16_as_excel_saves_unicode_text() {
        let text = "\u{FEFF}SKU\tGröße\r\n0042\t😀\r\n";
        let expected = ["1: SKU|Größe", "2: 0042|😀"];
        check(utf16(text, u16::to_le_bytes), "CSV, UTF-16LE, delimiter tab", &expected);
        check(utf16(text, u16::to_be_bytes), "CSV, UTF-16BE, delimiter tab", &expected);
        let bare = text.trim_start_matches('\u{FEFF}');
        check(utf16(bare, u16::to_le_bytes), "CSV, UTF-16LE, delimiter tab", &expected);
        check(utf16(bare, u16::to_be_bytes), "CSV, UTF-16BE, delimiter tab", &expected);
    }

    #[test]
    fn a_line_that_names_the_delimiter_is_not_a_row() {
        let expected = ["1: a,b|c", "2: 1,2|3"];
        check("sep=;\r\na,b;c\r\n1,2;3\r\n", "CSV, UTF-8, delimiter ';'", &expected);
        check(
            utf16("\u{FEFF}sep=;\r\na,b;c\r\n1,2;3\r\n", u16::to_le_bytes),
            "CSV, UTF-16LE, delimiter ';'",
            &expected,
        );
    }

    #[test]
    fn rows_are_counted_as_spreadsheet_programs_show_them() {
        let expected = ["2: a|b", "5: \"one\"\ntwo|2", "6: |", "8: c|d"];
        let text = "\na,b\n\n\n\"\"\"one\"\"\ntwo\",2\n,\n\nc,d\n\n";
        check(text, "CSV, UTF-8, delimiter ','", &expected);
        check(text.trim_end(), "CSV, UTF-8, delimiter ','", &expected);
        let expected = expected.map(|line| line.replace('\n', "\r\n"));
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        check(text.replace('\n', "\r\n"), "CSV, UTF-8, delimiter ','", &expected);
        let expected: Vec<_> = expected.iter().map(|line| line.replace("\r\n", "\r")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        check(text.replace('\n', "\r"), "CSV, UTF-8, delimiter ','", &expected);
    }

    #[test]
    fn blank_lines_are_counted_across_the_reader_s_chunks() {
        let text = format!("a,b\r\n{}c,d\r\n", "\r\n".repeat(200_000));
        check(text, "CSV, UTF-8, delimiter ','", &["1: a|b", "200002: c|d"]);
    }

    #[test]
    fn cells_are_neither_trimmed_nor_parsed() {
        check(
            "SKU,Name,Price\n 007 , x ,1.0\n\"\",\" \",=1+1\n",
            "CSV, UTF-8, delimiter ','",
            &["1: SKU|Name|Price", "2:  007 | x |1.0", "3: | |=1+1"],
        );
    }

    #[test]
    fn ragged_rows_are_given_as_they_are() {
        check(
            "a,b,c\n1,2\n1,2,3,4\n1,2,3",
            "CSV, UTF-8, delimiter ','",
            &["1: a|b|c", "2: 1|2", "3: 1|2|3|4", "4: 1|2|3"],
        );
    }

    #[test]
    fn a_nul_in_text_is_kept() {
        check("a,b\nlong enough a text,x\0y\n", "CSV, UTF-8, delimiter ','", &["1: a|b", "2: long enough a text|x\0y"]);
    }

    #[test]
    fn bytes_that_are_not_utf8_past_the_sample_are_an_error_at_their_cell() {
        let mut bytes = "SKU,Name\n".as_bytes().to_vec();
        bytes.extend(b"0042,Bolt\n".repeat(10_000));
        bytes.extend(b"0043,Gr\xF6\xDFe\n");
        check_unreadable(bytes, 10_001, " at row 10002", "the text in column B is not UTF-8");
    }

    #[test]
    fn bytes_that_the_encoding_does_not_know_are_an_error_and_never_replaced() {
        let mut bytes = utf16("\u{FEFF}a;b\n1;2\n", u16::to_le_bytes);
        bytes.extend(0xD800_u16.to_le_bytes());
        bytes.extend(utf16(";3\n", u16::to_le_bytes));
        check_unreadable(bytes, 2, " at row 3", "not UTF-16LE");
    }

    #[test]
    fn the_caller_knows_better() {
        let folder = folder();
        let path = file(&folder, "a.csv", b"a;b,c\n\xE4;\xF6,\xFC\n");
        let options = Options { delimiter: Some(b','), encoding: Some("latin2".to_owned()) };
        let book = open(&path, &options).unwrap();
        assert_eq!(book.description(), "CSV, ISO-8859-2, delimiter ','");
        assert_eq!(rows(&book, 0).0, ["1: a;b|c", "2: ä;ö|ü"]);
        for options in [
            Options { delimiter: None, encoding: Some("klingon".to_owned()) },
            Options { delimiter: Some(b'"'), encoding: None },
            Options { delimiter: Some(b'\n'), encoding: None },
            Options { delimiter: Some(0xE4), encoding: None },
        ] {
            assert!(matches!(open(&path, &options), Err(Error::BadOptions { .. })), "{options:?}");
        }
    }

    #[test]
    fn a_quote_never_closed_is_an_error_at_the_row_where_it_opened() {
        check_unreadable("a,b\n1,2\n3,\"4\n5,6\n7,8\n", 2, " at row 3", "never closed");
    }

    #[test]
    fn a_quote_never_closed_in_the_last_line_takes_nothing_in() {
        check("a,b\n1,\"2", "CSV, UTF-8, delimiter ','", &["1: a|b", "2: 1|2"]);
        check("a,b\n1,\"2\n\n", "CSV, UTF-8, delimiter ','", &["1: a|b", "2: 1|2"]);
        check("a,b\n1,\"2\"", "CSV, UTF-8, delimiter ','", &["1: a|b", "2: 1|2"]);
    }

    #[test]
    fn a_record_without_end_is_an_error() {
        let text = format!("a,b\n1,\"{}", "2,3\n".repeat(5 * 1024 * 1024));
        check_unreadable(text, 1, " at row 2", "longer than 16 MiB");
        let text = format!("a,b\n{}\n", ",".repeat(1_000_000));
        check_unreadable(text, 1, " at row 2", "more than 16384 columns");
    }

    #[test]
    fn a_row_as_wide_as_a_spreadsheet_is_read() {
        let folder = folder();
        let path = file(&folder, "wide.csv", format!("{}x\n", "x,".repeat(16_383)));
        let mut rows = read(&path).unwrap().rows(0).unwrap();
        let mut row = Row::default();
        assert!(rows.next(&mut row).unwrap());
        assert_eq!(row.len(), 16_384);
    }

    #[test]
    fn a_book_is_read_any_number_of_times() {
        let folder = folder();
        let book = read(&file(&folder, "a.csv", "a,b\n1,2\n")).unwrap();
        assert_eq!(rows(&book, 0).0, rows(&book, 0).0);
        assert!(matches!(book.rows(1), Err(Error::NoSuchSheet { .. })));
    }
}

mod kinds {
    use super::*;

    #[track_caller]
    fn check_refused(bytes: impl AsRef<[u8]>, what: &str) {
        let folder = folder();
        match read(&file(&folder, "prices.csv", bytes)) {
            Err(Error::NotASpreadsheet { found, .. }) => assert_eq!(found, what),
            other => panic!("{other:?}"),
        }
    }

    fn ole(stream: &str) -> Vec<u8> {
        let mut bytes = vec![0; 2048];
        bytes[..8].copy_from_slice(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
        bytes[30] = 9;
        bytes[48] = 1;
        let name = utf16(stream, u16::to_le_bytes);
        bytes[1024..1024 + name.len()].copy_from_slice(&name);
        bytes
    }

    /// An archive's first entry, stored, and nothing more.
    fn zip(name: &str, content: &str) -> Vec<u8> {
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.extend([0; 22]);
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(content.as_bytes());
        bytes
    }

    #[test]
    fn what_is_not_a_spreadsheet_is_named() {
        check_refused("%PDF-1.7\n%âãÏÓ\n1 0 obj", "a PDF document");
        check_refused(b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", "an image");
        check_refused(b"\x7FELF\x02\x01\x01\0", "a program");
        check_refused((0..=255).collect::<Vec<u8>>().repeat(20), "binary data");
        check_refused([0; 512], "binary data");
        check_refused(" <!DOCTYPE html>\n<table></table>", "a web page (HTML)");
        check_refused("<?xml version=\"1.0\"?><a/>", "an XML document");
        check_refused(ole("Workbook"), "an old Excel workbook (.xls)");
        check_refused(ole("WordDocument"), "an old Word document (.doc)");
        check_refused(
            zip("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
            "an OpenDocument spreadsheet (.ods)",
        );
        check_refused(zip("word/document.xml", ""), "a Word document");
        check_refused(zip("xl/workbook.bin", ""), "a binary Excel workbook (.xlsb)");
        check_refused(zip("photos/1.jpg", ""), "a ZIP archive");
    }

    #[test]
    fn an_encrypted_workbook_says_so() {
        let folder = folder();
        let error = read(&file(&folder, "prices.xlsx", ole("EncryptedPackage"))).unwrap_err();
        assert!(matches!(error, Error::Encrypted { .. }));
        assert!(error.hint().unwrap().contains("password"));
    }

    #[test]
    fn nothing_but_white_space_is_empty() {
        for bytes in [&b""[..], b" \r\n\t\n", b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFF\xFE\n\0"] {
            let folder = folder();
            assert!(matches!(read(&file(&folder, "a.csv", bytes)), Err(Error::Empty { .. })), "{bytes:?}");
        }
    }

    #[test]
    fn a_folder_and_a_missing_file_are_told() {
        let folder = folder();
        let error = read(folder.path()).unwrap_err();
        assert!(error.to_string().ends_with("it is a folder"), "{error}");
        assert!(matches!(read(&folder.path().join("none.csv")), Err(Error::Open { .. })));
    }
}

mod workbook {
    use super::*;

    fn save(folder: &TempDir, build: impl FnOnce(&mut Workbook)) -> PathBuf {
        let path = folder.path().join("prices.xlsx");
        let mut workbook = Workbook::new();
        build(&mut workbook);
        workbook.save(&path).unwrap();
        path
    }

    #[test]
    fn cells_have_their_kinds_and_rows_their_numbers() {
        let folder = folder();
        let path = save(&folder, |workbook| {
            let sheet = workbook.add_worksheet();
            sheet.set_name("Prices").unwrap();
            sheet.write_string(0, 0, "SKU").unwrap();
            sheet.write_string(0, 3, "Name").unwrap();
            sheet.write_string(9, 0, "0042").unwrap();
            sheet.write_number(9, 1, 1234.5).unwrap();
            sheet.write_boolean(9, 2, true).unwrap();
            sheet.write_blank(9, 5, &XlsxFormat::new().set_bold()).unwrap();
            sheet.write_blank(11, 0, &XlsxFormat::new().set_bold()).unwrap();
            let with = |format: &str| XlsxFormat::new().set_num_format(format);
            sheet.write_number_with_format(1_048_575, 0, 45_943.0, &with("dd.mm.yyyy")).unwrap();
            sheet.write_number_with_format(1_048_575, 1, 45_943.395_833_333_1, &with("dd.mm.yyyy hh:mm")).unwrap();
            sheet.write_number_with_format(1_048_575, 2, 0.395_833_333_333_3, &with("hh:mm")).unwrap();
            sheet.write_number_with_format(1_048_575, 3, 1.520_833_333_333_3, &with("[h]:mm")).unwrap();
            sheet.write_formula(1_048_575, 4, Formula::new("=NA()").set_result("#N/A")).unwrap();
            sheet.write_number(1_048_575, 16_383, 7).unwrap();
            workbook.add_worksheet().set_name("Second").unwrap().write_string(0, 0, "second").unwrap();
        });
        let book = read(&path).unwrap();
        assert_eq!(book.description(), "XLSX, 2 sheets");
        assert_eq!(book.sheets(), ["Prices", "Second"]);

        let mut reader = book.rows(0).unwrap();
        let mut row = Row::default();
        assert!(reader.next(&mut row).unwrap());
        assert_eq!(row.number, 1);
        let cells: Vec<_> = row.cells().collect();
        assert_eq!(cells, [Cell::Text("SKU"), Cell::Blank, Cell::Blank, Cell::Text("Name")]);
        assert!(reader.next(&mut row).unwrap());
        assert_eq!(row.number, 10);
        let cells: Vec<_> = row.cells().collect();
        assert_eq!(cells, [Cell::Text("0042"), Cell::Number(1234.5), Cell::Boolean(true)]);
        assert!(reader.next(&mut row).unwrap());
        assert_eq!(row.number, 1_048_576);
        assert!(matches!(row.get(0), Cell::Date(date) if date.to_string() == "2025-10-13"));
        assert!(matches!(row.get(1), Cell::DateTime(at) if at.to_string() == "2025-10-13T09:30:00"));
        assert!(matches!(row.get(2), Cell::Time(time) if time.to_string() == "09:30:00"));
        assert_eq!(row.get(3), Cell::Text("36:30:00"));
        assert_eq!(row.get(4), Cell::Error("#N/A"));
        assert_eq!(row.get(16_383), Cell::Number(7.0));
        assert!(!reader.next(&mut row).unwrap());
        assert!(!reader.next(&mut row).unwrap());

        assert_eq!(rows(&book, 1).0, ["1: second"]);
    }

    #[test]
    fn a_long_sheet_comes_whole_and_in_order_and_can_be_left_early() {
        let folder = folder();
        let path = save(&folder, |workbook| {
            let sheet = workbook.add_worksheet();
            for row in 0..3000 {
                sheet.write_string(row, 0, format!("row {row}")).unwrap();
                sheet.write_number(row, 1 + (row % 3) as u16, row).unwrap();
            }
        });
        let book = read(&path).unwrap();
        let mut early = book.rows(0).unwrap();
        let mut row = Row::default();
        assert!(early.next(&mut row).unwrap());
        drop(early);
        let side_by_side = book.rows(0).unwrap();
        let (lines, error) = rows(&book, 0);
        drop(side_by_side);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(lines.len(), 3000);
        assert_eq!(lines[0], "1: row 0|0");
        assert_eq!(lines[1], "2: row 1||1");
        assert_eq!(lines[2999], "3000: row 2999|||2999");
    }

    #[test]
    fn a_workbook_cut_short_is_unreadable() {
        let folder = folder();
        let path = save(&folder, |workbook| {
            workbook.add_worksheet().write_string(0, 0, "SKU").unwrap();
        });
        let bytes = fs::read(&path).unwrap();
        for keep in [bytes.len() / 2, bytes.len() - 10] {
            let cut = file(&folder, "cut.xlsx", &bytes[..keep]);
            assert!(matches!(read(&cut), Err(Error::Unreadable { .. })));
        }
    }
}

mod table {
    use super::*;

    const HEADER: [&str; 4] = ["SKU", "Name", "Price", "Day"];

    fn day() -> jiff::civil::Date {
        jiff::civil::date(2025, 10, 13)
    }

    fn write(path: &Path, existing: Existing) -> Result<PathBuf, Error> {
        let mut table = Table::create(path, Format::of(path).unwrap(), existing, "Items", &HEADER)?;
        let time = jiff::civil::time(9, 30, 0, 0);
        let mark = Mark { column: 1, note: "unknown unit" };
        table.row(&[Cell::Text("0042"), Cell::Text("=1+1"), Cell::Number(-1.5), Cell::Date(day())], &[mark])?;
        table.row(&[Cell::Text(" \u{1}_x0041_\r\n\"ä\";,"), Cell::Blank, Cell::Boolean(true)], &[])?;
        let marks = [Mark { column: 3, note: "one" }, Mark { column: 3, note: "two" }, Mark { column: 6, note: "" }];
        table.row(&[Cell::Error("#N/A"), Cell::Time(time), Cell::DateTime(day().to_datetime(time))], &marks)?;
        table.finish()
    }

    fn names(folder: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_workbook_is_read_back_as_it_was_written() {
        let folder = folder();
        let path = write(&folder.path().join("out.xlsx"), Existing::Keep).unwrap();
        assert_eq!(names(&folder), ["out.xlsx"]);
        let book = read(&path).unwrap();
        assert_eq!(book.sheets(), ["Items"]);
        let (lines, error) = rows(&book, 0);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(
            lines,
            [
                "1: SKU|Name|Price|Day",
                "2: 0042|=1+1|-1.5|2025-10-13",
                "3:  \u{1}_x0041_\r\n\"ä\";,||TRUE",
                "4: #N/A|09:30:00|2025-10-13T09:30:00",
            ]
        );
    }

    #[test]
    fn a_csv_is_read_back_with_its_formulas_defused() {
        let folder = folder();
        let path = write(&folder.path().join("out.csv"), Existing::Keep).unwrap();
        assert_eq!(names(&folder), ["out.csv"]);
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "SKU,Name,Price,Day\r\n0042,'=1+1,-1.5,2025-10-13\r\n\" \u{1}_x0041_\r\n\"\"ä\"\";,\",,TRUE,\r\n\
             #N/A,09:30:00,2025-10-13T09:30:00,\r\n"
        );
        let (lines, _) = rows(&read(&path).unwrap(), 0);
        assert_eq!(lines[1], "2: 0042|'=1+1|-1.5|2025-10-13");
        assert_eq!(restore("'=1+1"), "=1+1");
    }

    #[test]
    fn a_file_that_is_there_is_kept_or_replaced_as_told() {
        for name in ["out.csv", "out.xlsx"] {
            let folder = folder();
            let path = file(&folder, name, "mine");
            assert!(matches!(write(&path, Existing::Keep), Err(Error::Exists { .. })));
            assert_eq!(fs::read(&path).unwrap(), b"mine");
            write(&path, Existing::Replace).unwrap();
            assert_ne!(fs::read(&path).unwrap(), b"mine");
            assert_eq!(names(&folder), [name]);
        }
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_kept() {
        let folder = folder();
        let path = folder.path().join("out.csv");
        let mut table = Table::create(&path, Format::Csv, Existing::Keep, "Items", &HEADER).unwrap();
        table.row(&[Cell::Text("a")], &[]).unwrap();
        fs::write(&path, "mine").unwrap();
        assert!(matches!(table.finish(), Err(Error::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        assert_eq!(names(&folder), ["out.csv"]);
    }

    #[test]
    fn a_table_that_is_dropped_leaves_nothing() {
        for name in ["out.csv", "out.xlsx"] {
            let folder = folder();
            let path = folder.path().join(name);
            let mut table =
                Table::create(&path, Format::of(&path).unwrap(), Existing::Replace, "Items", &HEADER).unwrap();
            table.row(&[Cell::Text("a")], &[]).unwrap();
            assert!(!path.exists());
            drop(table);
            assert_eq!(names(&folder), [""; 0]);
        }
    }

    #[test]
    fn a_place_that_can_t_be_written_is_told_at_once() {
        let folder = folder();
        let create = |path: &Path| Table::create(path, Format::Csv, Existing::Replace, "Items", &HEADER).err();
        assert!(matches!(create(&folder.path().join("none/out.csv")), Some(Error::Write { .. })));
        assert!(matches!(create(folder.path()), Some(Error::Unwritable { .. })));
    }

    #[test]
    fn a_table_wider_than_a_workbook_is_refused() {
        let folder = folder();
        let path = folder.path().join("out.xlsx");
        let mut table = Table::create(&path, Format::Xlsx, Existing::Replace, "Items", &HEADER).unwrap();
        let wide = vec![Cell::Blank; 16_385];
        assert!(matches!(table.row(&wide, &[]), Err(Error::Unwritable { .. })));
    }

    #[test]
    fn text_longer_than_a_cell_is_cut_with_a_mark() {
        let folder = folder();
        let path = folder.path().join("out.xlsx");
        let mut table = Table::create(&path, Format::Xlsx, Existing::Replace, "Items", &["Text"]).unwrap();
        table.row(&[Cell::Text(&"ä".repeat(40_000))], &[]).unwrap();
        table.finish().unwrap();
        let (lines, _) = rows(&read(&path).unwrap(), 0);
        assert!(lines[1].ends_with("ä… [cut]"));
        assert_eq!(lines[1].strip_prefix("2: ").unwrap().chars().count(), 32_767);
    }

    #[test]
    #[cfg(unix)]
    fn others_may_read_a_finished_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder();
        let path = WholeFile::create(&folder.path().join("a"), Existing::Keep).unwrap().finish().unwrap();
        // Under any usual umask the owner may read and write, and nobody may run it.
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o711, 0o600);
    }
}
