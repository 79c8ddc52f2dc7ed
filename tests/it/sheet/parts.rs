//! Workbooks assembled from parts, with content that no library writes.

use std::io::{Cursor, Write};
use std::path::PathBuf;

use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{file, utf16};

/// Creates a compressed archive of `parts`.
pub fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        let options = SimpleFileOptions::default();
        let stored = options.compression_method(zip::CompressionMethod::Stored);
        archive.start_file(*name, if *name == "mimetype" { stored } else { options }).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The parts of an XLSX file.
pub struct Xlsx<'a> {
    /// Content of `<worksheet>`.
    pub sheet: &'a str,
    /// Content of `<numFmts>`. The formats of cells are numbered from 1.
    pub formats: &'a [&'a str],
    pub shared_strings: Option<&'a str>,
    pub workbook_properties: &'a str,
    /// Additional elements `<sheet>` and relations.
    pub more_sheets: &'a str,
    pub more_relations: &'a str,
    /// Encodes the sheet in UTF-16.
    pub utf16: bool,
}

impl Default for Xlsx<'_> {
    fn default() -> Self {
        Xlsx {
            sheet: "<sheetData/>",
            formats: &[],
            shared_strings: None,
            workbook_properties: "",
            more_sheets: "",
            more_relations: "",
            utf16: false,
        }
    }
}

impl Xlsx<'_> {
    pub fn bytes(&self) -> Vec<u8> {
        const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
        const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        let workbook = format!(
            r#"<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}">{}<sheets><sheet name="Prices" sheetId="1" r:id="rId1"/>{}</sheets></workbook>"#,
            self.workbook_properties, self.more_sheets
        );
        let relations = |kind: &str, target: &str, more: &str| {
            format!(
                r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="{RELATIONS}/{kind}" Target="{target}"/>{more}</Relationships>"#
            )
        };
        let root = relations("officeDocument", "xl/workbook.xml", "");
        let relations = relations("worksheet", "worksheets/sheet1.xml", self.more_relations);
        let sheet = format!(r#"<worksheet xmlns="{MAIN}">{}</worksheet>"#, self.sheet);
        let sheet = if self.utf16 {
            let text = format!("\u{FEFF}<?xml version=\"1.0\" encoding=\"UTF-16\"?>{sheet}");
            utf16(&text, u16::to_be_bytes)
        } else {
            sheet.into_bytes()
        };
        let (mut formats, mut cells) = (String::new(), r#"<xf numFmtId="0"/>"#.to_owned());
        for (index, format) in self.formats.iter().enumerate() {
            let id = 164 + index;
            formats.push_str(&format!(r#"<numFmt numFmtId="{id}" formatCode="{format}"/>"#));
            cells.push_str(&format!(r#"<xf numFmtId="{id}" applyNumberFormat="1"/>"#));
        }
        let styles = format!(
            r#"<styleSheet xmlns="{MAIN}"><numFmts>{formats}</numFmts><cellXfs>{cells}</cellXfs></styleSheet>"#
        );
        let mut parts: Vec<(&str, &[u8])> = vec![
            ("[Content_Types].xml", b"<Types/>"),
            ("_rels/.rels", root.as_bytes()),
            ("xl/workbook.xml", workbook.as_bytes()),
            ("xl/_rels/workbook.xml.rels", relations.as_bytes()),
            ("xl/styles.xml", styles.as_bytes()),
            ("xl/worksheets/sheet1.xml", &sheet),
        ];
        if let Some(strings) = self.shared_strings {
            parts.push(("xl/sharedStrings.xml", strings.as_bytes()));
        }
        archive(&parts)
    }

    pub fn save(&self, folder: &TempDir) -> PathBuf {
        file(folder, "prices.xlsx", self.bytes())
    }
}

/// Creates an ODS file with these rows.
pub fn ods(rows: &str) -> Vec<u8> {
    let content = format!(
        r#"<office:document-content><office:body><office:spreadsheet><table:table table:name="Prices">{rows}</table:table></office:spreadsheet></office:body></office:document-content>"#
    );
    archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", b"<manifest:manifest/>"),
        ("content.xml", content.as_bytes()),
    ])
}

/// A cell of an XLSB file: record type, style and further bytes.
pub type XlsbCell<'a> = (u8, u8, &'a [u8]);

/// Creates an XLSB file with these rows. Style 1 has the first of the number formats, style 2 the second one.
pub fn xlsb(formats: &[&str], rows: &[&[XlsbCell<'_>]]) -> Vec<u8> {
    let wide = |text: &str| {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        [&(units.len() as u32 / 2).to_le_bytes(), units.as_slice()].concat()
    };
    let record = |kind: u16, body: &[u8]| {
        let kind = if kind < 0x80 { vec![kind as u8] } else { vec![kind as u8 | 0x80, (kind >> 7) as u8] };
        [kind.as_slice(), &[body.len() as u8], body].concat()
    };
    let bundle = [&[0; 8], wide("rId1").as_slice(), &wide("Prices")].concat();
    let workbook = [record(0x9C, &bundle), record(0x90, &[]), record(0x9D, &[0; 4])].concat();
    let (mut codes, mut cells) = (Vec::new(), record(0x2F, &[0; 16]));
    for (id, format) in (164_u8..).zip(formats) {
        codes.extend(record(0x2C, &[&[id, 0], wide(format).as_slice()].concat()));
        cells.extend(record(0x2F, &[&[0, 0, id, 0], [0; 12].as_slice()].concat()));
    }
    let count = formats.len() as u8;
    let styles =
        [record(0x267, &[count, 0, 0, 0]), codes, record(0x269, &[count + 1, 0, 0, 0]), cells, record(0x26A, &[])]
            .concat();
    let mut sheet = [record(0x81, &[]), record(0x94, &[0; 16]), record(0x91, &[])].concat();
    for (row, cells) in rows.iter().enumerate() {
        sheet.extend(record(0, &[&[row as u8][..], &[0; 16]].concat()));
        for (column, (kind, style, rest)) in cells.iter().enumerate() {
            sheet.extend(record(u16::from(*kind), &[&[column as u8, 0, 0, 0, *style, 0, 0, 0], *rest].concat()));
        }
    }
    sheet.extend(record(0x92, &[]));
    let relations =
        r#"<Relationships><Relationship Id="rId1" Type="t" Target="worksheets/sheet1.bin"/></Relationships>"#;
    archive(&[
        ("xl/workbook.bin", &workbook),
        ("xl/_rels/workbook.bin.rels", relations.as_bytes()),
        ("xl/styles.bin", &styles),
        ("xl/worksheets/sheet1.bin", &sheet),
    ])
}

/// Creates an XLS file (BIFF8) with these records, each a type and a body. `globals` are further workbook records: code
/// page, formats, styles.
pub fn xls(globals: &[(u16, Vec<u8>)], cells: &[(u16, Vec<u8>)]) -> Vec<u8> {
    xls_of(0x0600, globals, cells)
}

/// Creates an XLS file like [`xls`], of a version: `0x0600`, or `0x0500` for Excel 95.
pub fn xls_of(version: u16, globals: &[(u16, Vec<u8>)], cells: &[(u16, Vec<u8>)]) -> Vec<u8> {
    const BEGIN: u16 = 0x0809;
    const END: u16 = 0x000A;
    const SHEET: u16 = 0x0085;
    let record = |kind: u16, body: &[u8]| {
        [&kind.to_le_bytes()[..], &u16::try_from(body.len()).unwrap().to_le_bytes(), body].concat()
    };
    let all = |records: &[(u16, Vec<u8>)]| records.iter().map(|(kind, body)| record(*kind, body)).collect::<Vec<_>>();
    let begin = |what: u16| record(BEGIN, &[&version.to_le_bytes()[..], &what.to_le_bytes(), &[0; 12]].concat());
    let before = [begin(5), all(globals).concat()].concat();
    // Position, visibility, and name as a text with a length and one byte per character, in Excel 97 after a flag.
    let flag: &[u8] = if version == 0x0600 { &[0] } else { &[] };
    let bundle = |place: u32| [&place.to_le_bytes()[..], &[0, 0, 6], flag, b"Prices"].concat();
    let place = before.len() + record(SHEET, &bundle(0)).len() + record(END, &[]).len();
    let bundle = record(SHEET, &bundle(u32::try_from(place).unwrap()));
    let sheet = [begin(0x10), all(cells).concat(), record(END, &[])].concat();
    ole(&[before, bundle, record(END, &[]), sheet].concat())
}

/// Creates a cell record, which starts with row, column and style.
pub fn xls_cell(kind: u16, (row, column): (u16, u16), style: u16, rest: &[u8]) -> (u16, Vec<u8>) {
    (kind, [&row.to_le_bytes()[..], &column.to_le_bytes(), &style.to_le_bytes(), rest].concat())
}

/// Creates an OLE2 file with one stream, `Workbook`.
fn ole(stream: &[u8]) -> Vec<u8> {
    const SECTOR: usize = 512;
    const FREE: u32 = 0xFFFF_FFFF;
    const CHAIN_END: u32 = 0xFFFF_FFFE;
    const TABLE: u32 = 0xFFFF_FFFD;
    // Shorter streams would be stored separately.
    let mut stream = stream.to_vec();
    stream.resize(stream.len().max(4096).next_multiple_of(SECTOR), 0);
    let sectors = u32::try_from(stream.len() / SECTOR).unwrap();
    // Sector 0 is the allocation table, sector 1 the directory, then the stream.
    let mut table = vec![TABLE, CHAIN_END];
    table.extend((2..2 + sectors).map(|sector| if sector == 1 + sectors { CHAIN_END } else { sector + 1 }));
    assert!(table.len() <= SECTOR / 4, "more than one sector of the table");
    table.resize(SECTOR / 4, FREE);
    let mut header = vec![0; SECTOR];
    header[..8].copy_from_slice(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
    header[24..34].copy_from_slice(&[0x3E, 0, 3, 0, 0xFE, 0xFF, 9, 0, 6, 0]);
    let mut put = |at: usize, value: u32| header[at..at + 4].copy_from_slice(&value.to_le_bytes());
    [(44, 1), (48, 1), (56, 4096), (60, CHAIN_END), (68, CHAIN_END)].into_iter().for_each(|(at, value)| put(at, value));
    put(76, 0);
    (80..SECTOR).step_by(4).for_each(|at| put(at, FREE));
    let entry = |name: &str, kind: u8, child: u32, start: u32, len: u32| {
        let mut entry = vec![0; 128];
        let units = utf16(name, u16::to_le_bytes);
        entry[..units.len()].copy_from_slice(&units);
        entry[64] = u8::try_from(units.len() + 2).unwrap();
        entry[66..68].copy_from_slice(&[kind, 1]);
        for (at, value) in [(68, FREE), (72, FREE), (76, child), (116, start), (120, len)] {
            entry[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        entry
    };
    let mut directory = entry("Root Entry", 5, 1, CHAIN_END, 0);
    directory.extend(entry("Workbook", 2, FREE, 2, u32::try_from(stream.len()).unwrap()));
    directory.resize(SECTOR, 0);
    let table: Vec<u8> = table.into_iter().flat_map(u32::to_le_bytes).collect();
    [header, table, directory, stream].concat()
}
