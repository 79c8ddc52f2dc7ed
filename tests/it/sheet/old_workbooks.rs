//! XLS workbooks of other programs: number formats under numbers of their own, and texts without a code page.

use super::parts::{xls, xls_cell, xls_of};
use super::{file, folder, read, rows};

/// A record of a format, and one of the style with this format.
fn format(id: u16, code: &str) -> [(u16, Vec<u8>); 2] {
    let len = u16::try_from(code.len()).unwrap().to_le_bytes();
    let format = [&id.to_le_bytes()[..], &len, &[0], code.as_bytes()].concat();
    let style = [&[0, 0][..], &id.to_le_bytes(), &[0; 16]].concat();
    [(0x041E, format), (0x00E0, style)]
}

#[test]
fn the_formats_of_the_file_hold_whatever_their_number() {
    let formats = [(50, "000"), (27, "0.00"), (30, "yyyy-mm-dd"), (500, "dd.mm.yyyy"), (14, "General"), (164, "0000")];
    let (mut formats, styles): (Vec<_>, Vec<_>) =
        formats.map(|(id, code)| format(id, code)).map(|[a, b]| (a, b)).into_iter().unzip();
    formats.extend(styles);
    let cell = |column: u16| xls_cell(0x0203, (0, column), column, &20.0_f64.to_le_bytes());
    let cells: Vec<_> = (0..6).map(cell).collect();
    let folder = folder();
    let book = read(&file(&folder, "prices.xls", xls(&formats, &cells))).unwrap();
    assert_eq!(rows(&book, 0).0, ["1: 020|20|1900-01-20|1900-01-20|20|0020"]);
}

#[test]
fn texts_without_a_code_page_are_recognized_by_their_letters() {
    let text = |at: (u16, u16), bytes: &[u8]| {
        let len = u16::try_from(bytes.len()).unwrap().to_le_bytes();
        xls_cell(0x0204, at, 0, &[&len[..], bytes].concat())
    };
    let folder = folder();
    let czech = encoding_rs::WINDOWS_1250;
    for (nth, expected) in (0..).zip([["Šroub křížový", "Žárovka"], ["Bolt", "Nut"]]) {
        let cells: Vec<_> = (0..).zip(expected).map(|(row, name)| text((row, 0), &czech.encode(name).0)).collect();
        let path = file(&folder, &format!("{nth}.xls"), xls_of(0x0500, &[], &cells));
        let found = rows(&read(&path).unwrap(), 0).0;
        assert_eq!(found, [format!("1: {}", expected[0]), format!("2: {}", expected[1])]);
    }
}
