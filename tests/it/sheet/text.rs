//! Text files: encodings, delimiters, row numbers and errors.

use sheetport_sheet::{Error, Options, Row, open};

use super::{file, folder, read, rows, utf16};

/// Checks the description and rows of a text file.
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

/// Checks the place and reason of an error, and the number of rows before it.
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
fn a_line_with_the_delimiter_is_not_a_row() {
    let expected = ["1: a,b|c", "2: 1,2|3"];
    check("sep=;\r\na,b;c\r\n1,2;3\r\n", "CSV, UTF-8, delimiter ';'", &expected);
    check(utf16("\u{FEFF}sep=;\r\na,b;c\r\n1,2;3\r\n", u16::to_le_bytes), "CSV, UTF-16LE, delimiter ';'", &expected);
}

#[test]
fn rows_are_numbered_as_in_spreadsheet_programs() {
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
fn blank_lines_are_counted_across_chunks() {
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
fn ragged_rows_are_unchanged() {
    check("a,b,c\n1,2\n1,2,3,4\n1,2,3", "CSV, UTF-8, delimiter ','", &["1: a|b|c", "2: 1|2", "3: 1|2|3|4", "4: 1|2|3"]);
}

#[test]
fn a_nul_in_text_is_kept() {
    check("a,b\nlong enough a text,x\0y\n", "CSV, UTF-8, delimiter ','", &["1: a|b", "2: long enough a text|x\0y"]);
}

#[test]
fn bytes_that_are_not_utf8_become_replacement_characters_in_their_cell() {
    let mut bytes = "SKU,Größe\n".as_bytes().to_vec();
    bytes.extend(b"0042,Bolt\n".repeat(10_000));
    bytes.extend(b"0043,Gr\xF6\xDFe\n0044,\"a \"\"b\"\" \xF6\"\n");
    let folder = folder();
    let book = read(&file(&folder, "prices.csv", bytes)).unwrap();
    let (lines, error) = rows(&book, 0);
    assert!(error.is_none());
    assert_eq!(lines[10_001..], ["10002: 0043|Gr\u{fffd}\u{fffd}e", "10003: 0044|a \"b\" \u{fffd}"]);
}

#[test]
fn the_encoding_is_detected_from_a_late_character() {
    for (size, encoding) in [("Größe".as_bytes(), "UTF-8"), (b"Gr\xF6\xDFe", "windows-1252")] {
        let mut bytes = b"0042,Bolt\n".repeat(50_000);
        bytes.extend(b"0043,");
        bytes.extend(size);
        let folder = folder();
        let book = read(&file(&folder, "prices.csv", bytes)).unwrap();
        assert_eq!(book.description(), format!("CSV, {encoding}, delimiter ','"));
        assert_eq!(rows(&book, 0).0[50_000], "50001: 0043|Größe");
    }
}

#[test]
fn invalid_bytes_are_an_error_and_never_replaced() {
    let mut bytes = utf16("\u{FEFF}a;b\n1;2\n", u16::to_le_bytes);
    bytes.extend(0xD800_u16.to_le_bytes());
    bytes.extend(utf16(";3\n", u16::to_le_bytes));
    check_unreadable(bytes, 2, " at row 3", "not UTF-16LE");
}

#[test]
fn options_override_detection() {
    let folder = folder();
    let path = file(&folder, "a.csv", b"a;b,c\n\xE4;\xF6,\xFC\n");
    let options = Options { delimiter: Some(b','), encoding: Some("latin2".to_owned()), ..Options::default() };
    let book = open(&path, &options).unwrap();
    assert_eq!(book.description(), "CSV, ISO-8859-2, delimiter ','");
    assert_eq!(rows(&book, 0).0, ["1: a;b|c", "2: ä;ö|ü"]);
    for options in [
        Options { delimiter: None, encoding: Some("klingon".to_owned()), ..Options::default() },
        Options { delimiter: Some(b'"'), ..Options::default() },
        Options { delimiter: Some(b'\n'), ..Options::default() },
        Options { delimiter: Some(0xE4), ..Options::default() },
    ] {
        assert!(matches!(open(&path, &options), Err(Error::BadOptions { .. })), "{options:?}");
    }
}

#[test]
fn an_unclosed_quote_is_an_error_at_its_row() {
    check_unreadable("a,b\n1,2\n3,\"4\n5,6\n7,8\n", 2, " at row 3", "never closed");
}

#[test]
fn an_unclosed_quote_in_the_last_line_is_text() {
    check("a,b\n1,\"2", "CSV, UTF-8, delimiter ','", &["1: a|b", "2: 1|\"2"]);
    check("a,b\n1,\"2\n\n", "CSV, UTF-8, delimiter ','", &["1: a|b", "2: 1|\"2"]);
    check("a,b\n1,\"2\"", "CSV, UTF-8, delimiter ','", &["1: a|b", "2: 1|2"]);
}

#[test]
fn an_endless_record_is_an_error() {
    let text = format!("a,b\n1,\"{}", "2,3\n".repeat(5 * 1024 * 1024));
    check_unreadable(text, 1, " at row 2", "longer than 16 MiB");
    let text = format!("a,b\n{}\n", ",".repeat(1_000_000));
    check_unreadable(text, 1, " at row 2", "more than 16384 columns");
}

#[test]
fn a_row_of_maximum_width_is_read() {
    let folder = folder();
    let path = file(&folder, "wide.csv", format!("{}x\n", "x,".repeat(16_383)));
    let mut rows = read(&path).unwrap().rows(0).unwrap();
    let mut row = Row::default();
    assert!(rows.next(&mut row).unwrap());
    assert_eq!(row.len(), 16_384);
}

#[test]
fn a_book_can_be_read_repeatedly() {
    let folder = folder();
    let book = read(&file(&folder, "a.csv", "a,b\n1,2\n")).unwrap();
    assert_eq!(rows(&book, 0).0, rows(&book, 0).0);
    assert!(matches!(book.rows(1), Err(Error::NoSuchSheet { .. })));
}

/// Encodes letters of German in the code pages 437, 850 and 852, which have them at the same places.
fn dos(text: &str) -> Vec<u8> {
    let letters = [('ä', 0x84), ('ö', 0x94), ('ü', 0x81), ('ß', 0xE1), ('Ä', 0x8E), ('Ö', 0x99), ('Ü', 0x9A)];
    let letter = |c: char| letters.iter().find(|(letter, _)| *letter == c).map(|(_, byte)| *byte);
    text.chars().map(|c| letter(c).unwrap_or_else(|| u8::try_from(c).unwrap())).collect()
}

#[test]
fn code_pages_of_dos_are_told_by_their_letters() {
    let expected = ["1: Größe|Stück", "2: Müller|5", "3: Käse Straße|7"];
    check(dos("Größe;Stück\r\nMüller;5\r\nKäse Straße;7\r\n"), "CSV, IBM850, delimiter ';'", &expected);
}

#[test]
fn code_pages_of_dos_are_read_by_name() {
    let folder = folder();
    // Long enough for several chunks.
    let bytes: Vec<u8> = (0..20_000).flat_map(|_| b"\x9C;\xA5;\x84\n".to_vec()).collect();
    let path = file(&folder, "a.csv", bytes);
    for (label, line) in [("cp437", "£|Ñ|ä"), ("IBM850", "£|Ñ|ä"), ("852", "ť|ą|ä"), ("cp866", "Ь|е|Д")] {
        let options = Options { encoding: Some(label.to_owned()), ..Options::default() };
        let (lines, error) = rows(&open(&path, &options).unwrap(), 0);
        assert!(error.is_none() && lines.len() == 20_000);
        assert!(lines.iter().enumerate().all(|(row, found)| *found == format!("{}: {line}", row + 1)), "{label}");
    }
}

fn utf32(text: &str, bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
    text.chars().flat_map(|c| bytes(u32::from(c))).collect()
}

#[test]
fn utf32_with_a_mark() {
    for (bytes, name) in [(u32::to_le_bytes as fn(u32) -> [u8; 4], "UTF-32LE"), (u32::to_be_bytes, "UTF-32BE")] {
        let text = format!("\u{FEFF}SKU;Größe\n0042;𝄞{}\n", "x".repeat(100_000));
        let last = format!("2: 0042|𝄞{}", "x".repeat(100_000));
        check(utf32(&text, bytes), &format!("CSV, {name}, delimiter ';'"), &["1: SKU|Größe", &last]);
    }
    let mut bytes = utf32("\u{FEFF}a;b\n1;2\n", u32::to_le_bytes);
    bytes.extend(0xD800_u32.to_le_bytes());
    check_unreadable(bytes.clone(), 2, " at row 3", "not UTF-32LE");
    bytes.truncate(bytes.len() - 2);
    check_unreadable(bytes, 2, " at row 3", "not UTF-32LE");
}
