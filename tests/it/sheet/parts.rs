//! Workbooks put together part by part, as no library would write them.

use std::io::{Cursor, Write};
use std::path::PathBuf;

use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::file;

/// An archive of `parts`, packed.
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

/// What an XLSX file has besides its sheet.
pub struct Xlsx<'a> {
    /// What stands in `<worksheet>`.
    pub sheet: &'a str,
    /// What stands in `<numFmts>`; the cells' formats are these, counted from 1.
    pub formats: &'a [&'a str],
    pub shared_strings: Option<&'a str>,
    pub workbook_properties: &'a str,
}

impl Default for Xlsx<'_> {
    fn default() -> Self {
        Xlsx { sheet: "<sheetData/>", formats: &[], shared_strings: None, workbook_properties: "" }
    }
}

impl Xlsx<'_> {
    pub fn bytes(&self) -> Vec<u8> {
        const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
        const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        let workbook = format!(
            r#"<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}">{}<sheets><sheet name="Prices" sheetId="1" r:id="rId1"/></sheets></workbook>"#,
            self.workbook_properties
        );
        let relations = |kind: &str, target: &str| {
            format!(
                r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="{RELATIONS}/{kind}" Target="{target}"/></Relationships>"#
            )
        };
        let root = relations("officeDocument", "xl/workbook.xml");
        let relations = relations("worksheet", "worksheets/sheet1.xml");
        let sheet = format!(r#"<worksheet xmlns="{MAIN}">{}</worksheet>"#, self.sheet);
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
            ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
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

/// An ODS file whose one table has these rows.
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
