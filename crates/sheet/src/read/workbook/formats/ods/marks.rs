//! Marks of cells that calamine reads as plain numbers or blanks: numbers with a relevant format, formulas with boolean results,
//! and formulas without a result. Before parsing, the values of these cells are moved to the attribute for times, together with a
//! percent sign, which never occurs in times, and the mark. Dates and times keep their attribute.

use std::collections::HashMap;
use std::io::{Cursor, Read, Seek, Write};

use memchr::memmem::find;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::super::tag::{Tag, each_piece};
use super::styles::Styles;
use crate::read::appearance::{Appearance, MergedCells};
use crate::read::workbook::styles::NumberFormat;

const CONTENT: &str = "content.xml";
const STYLES: &str = "styles.xml";
const CELLS: [&str; 2] = ["table:table-cell", "table:covered-table-cell"];
/// The attributes with values, and their replacements.
const VALUES: [(&[u8], &str); 6] = [
    (b"office:value=\"", TIME),
    (b"office:value='", "office:time-value='"),
    (b"office:date-value=\"", "office:date-value=\""),
    (b"office:date-value='", "office:date-value='"),
    (b"office:time-value=\"", TIME),
    (b"office:time-value='", "office:time-value='"),
];
const TIME: &str = "office:time-value=\"";
const ROWS_SPANNED: &str = "table:number-rows-spanned";
const MARK: char = '%';
/// The marks of booleans and of formulas without a result.
const CONSTANTS: [(&str, Mark<'static>); 3] =
    [("true", Mark::Boolean(true)), ("false", Mark::Boolean(false)), ("uncalculated", Mark::Uncalculated)];
/// How LibreOffice saves a boolean with the format of a number.
const BOOLEANS: [(&str, Mark<'static>); 2] =
    [("of:=TRUE()", Mark::Boolean(true)), ("of:=FALSE()", Mark::Boolean(false))];
/// Maximum number of different columns of a table with a common format.
const MAX_COLUMNS: usize = 1 << 14;

/// The content of a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mark<'v> {
    /// The position of the format, and the stored number, date or time.
    Format(usize, &'v str),
    Boolean(bool),
    /// A formula without a result.
    Uncalculated,
}

/// Marks the cells of a document.
#[derive(Debug, Default)]
pub(crate) struct Marker {
    styles: Styles,
    /// The formats in marks.
    formats: Vec<NumberFormat>,
    /// Positions in `formats` by the style of cells, their type and currency.
    known: HashMap<Cell, Option<usize>>,
    /// The styles of the columns of the current table, each up to a column.
    columns: Vec<(u32, String)>,
    /// The style of the current row.
    row: Option<String>,
    /// The column of the next cell.
    column: u32,
    /// The number of rows up to the current row.
    rows: u64,
    /// The appearance of each table.
    appearances: Vec<Appearance>,
}

/// A document with marks.
pub(crate) struct Marked {
    /// A copy of the archive, if the format of any cell matters.
    pub archive: Option<Vec<u8>>,
    pub formats: Vec<NumberFormat>,
    /// The appearance of each table.
    pub appearances: Vec<Appearance>,
}

/// The text of a content with marks.
pub(crate) struct MarkedText {
    pub text: String,
    pub formats: Vec<NumberFormat>,
    /// The appearance of each table.
    pub appearances: Vec<Appearance>,
}

/// The properties of a cell that determine its format.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Cell {
    style: String,
    kind: String,
    currency: String,
}

impl Marker {
    /// Marks the cells of an archive. Returns `None` for an unusual archive.
    pub(crate) fn mark(input: &mut (impl Read + Seek)) -> Option<Marked> {
        let mut archive = ZipArchive::new(input).ok()?;
        let mut first = Marker::default();
        first.read_styles(archive.by_name(STYLES).ok());
        if each_piece(archive.by_name(CONTENT).ok()?, |piece| Ok(first.piece(piece).is_none())).ok()? {
            return Some(Marked { archive: None, formats: Vec::new(), appearances: first.appearances });
        }
        let mut marker = Marker::default();
        marker.read_styles(archive.by_name(STYLES).ok());
        let mut marked = ZipWriter::new(Cursor::new(Vec::new()));
        for index in 0..archive.len() {
            let part = archive.by_index_raw(index).ok()?;
            if part.name().ok()? != CONTENT {
                marked.raw_copy_file(part).ok()?;
            }
        }
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        marked.start_file(CONTENT, options.compression_level(Some(1)).large_file(true)).ok()?;
        let write = |piece: &[u8]| {
            let changed = marker.piece(piece);
            marked.write_all(changed.as_deref().unwrap_or(piece)).map(|()| true)
        };
        each_piece(archive.by_name(CONTENT).ok()?, write).ok()?;
        let archive = Some(marked.finish().ok()?.into_inner());
        Some(Marked { archive, formats: marker.formats, appearances: marker.appearances })
    }

    /// Marks the cells of a content. `styles` is the part with the styles.
    pub(crate) fn mark_text(styles: &str, xml: &str) -> MarkedText {
        let mut marker = Marker::default();
        marker.read_styles(Some(styles.as_bytes()));
        let mut marked = Vec::with_capacity(xml.len());
        for piece in xml.split_inclusive('<') {
            marked.extend_from_slice(marker.piece(piece.as_bytes()).as_deref().unwrap_or(piece.as_bytes()));
        }
        let text = String::from_utf8(marked).expect("marking replaces ASCII by ASCII");
        MarkedText { text, formats: marker.formats, appearances: marker.appearances }
    }

    fn read_styles(&mut self, part: Option<impl Read>) {
        let styles = &mut self.styles;
        let read = |piece: &[u8]| {
            Tag::parse(piece).iter().for_each(|tag| styles.read(tag));
            Ok(true)
        };
        // A part without styles, or an unreadable part, has no formats. The checksums detect damage.
        drop(part.map(|part| each_piece(part, read)));
    }

    /// Reads the next piece of the content. Returns the piece with a mark if it starts with a cell whose format matters.
    fn piece(&mut self, piece: &[u8]) -> Option<Vec<u8>> {
        if piece.starts_with(b"text:") || piece.starts_with(b"/text:") {
            return None;
        }
        let tag = Tag::parse(piece)?;
        let owned = |name: &str| tag.attribute(name).map(|value| value.into_owned());
        match tag.name {
            "table:table" => {
                (self.columns, self.row, self.column, self.rows) = (Vec::new(), None, 0, 0);
                self.appearances.push(Appearance::default());
            }
            "table:table-column" if self.columns.len() < MAX_COLUMNS => {
                let end = self.columns.last().map_or(0, |(end, _)| *end);
                let count = tag.number("table:number-columns-repeated").unwrap_or(1);
                if is_hidden(&tag)
                    && let Some(appearance) = self.appearances.last_mut()
                {
                    appearance.hide_columns(u64::from(end), u64::from(count));
                }
                let end = end.saturating_add(count);
                self.columns.push((end, owned("table:default-cell-style-name").unwrap_or_default()));
            }
            "table:table-row" => {
                (self.row, self.column) = (owned("table:default-cell-style-name"), 0);
                let count = u64::from(tag.number("table:number-rows-repeated").unwrap_or(1));
                if is_hidden(&tag)
                    && let Some(appearance) = self.appearances.last_mut()
                {
                    appearance.hide_rows(self.rows + 1, count);
                }
                self.rows = self.rows.saturating_add(count);
            }
            name if CELLS.contains(&name) => {
                let column = self.column;
                if find(piece, ROWS_SPANNED.as_bytes()).is_some() {
                    self.merge(&tag, column);
                }
                self.column = column.saturating_add(tag.number("table:number-columns-repeated").unwrap_or(1));
                return self.cell(&tag, column, piece);
            }
            _ => self.styles.read(&tag),
        }
        None
    }

    /// Adds the merged cells that begin at a column of the current row.
    fn merge(&mut self, tag: &Tag<'_>, column: u32) {
        let rows = tag.number(ROWS_SPANNED).unwrap_or(1);
        let columns = tag.number("table:number-columns-spanned").unwrap_or(1);
        if let Some(appearance) = self.appearances.last_mut() {
            let (column, columns) = (column as usize, columns as usize);
            appearance.merge(MergedCells::spanning((self.rows, u64::from(rows)), (column, columns)));
        }
    }

    fn cell(&mut self, tag: &Tag<'_>, column: u32, piece: &[u8]) -> Option<Vec<u8>> {
        if let Some(mark) = constant(tag) {
            let (word, _) = CONSTANTS.iter().find(|(_, constant)| *constant == mark)?;
            // Calamine takes the first value of a cell.
            let mark = format!(" {TIME}{MARK}{word}\"");
            return Some([&piece[..tag.name.len()], mark.as_bytes(), &piece[tag.name.len()..]].concat());
        }
        let (at, attribute, instead) = VALUES.iter().find_map(|(attribute, instead)| {
            let at = find(piece, attribute).filter(|at| piece[at - 1].is_ascii_whitespace())?;
            Some((at, attribute, instead))
        })?;
        let kind = tag.attribute("office:value-type")?.into_owned();
        let by_column = || {
            let style = self.columns.partition_point(|(end, _)| *end <= column);
            self.columns.get(style).map(|(_, style)| style.clone())
        };
        let style = tag.attribute("table:style-name").map(|style| style.into_owned());
        let style = style.or_else(|| self.row.clone()).or_else(by_column).unwrap_or_default();
        let currency = tag.attribute("office:currency").unwrap_or_default().into_owned();
        let format = self.format(Cell { style, kind, currency })?;
        let mark = format!("{instead}{MARK}{format}{MARK}");
        Some([&piece[..at], mark.as_bytes(), &piece[at + attribute.len()..]].concat())
    }

    /// Returns the position of the format of a cell.
    fn format(&mut self, cell: Cell) -> Option<usize> {
        if let Some(known) = self.known.get(&cell) {
            return *known;
        }
        let by_style = self.styles.format(&cell.style);
        let by_type = || match &*cell.kind {
            "percentage" => NumberFormat::parse("0%"),
            "currency" if !cell.currency.is_empty() => NumberFormat::parse(&format!("0.00 [${}]", cell.currency)),
            _ => None,
        };
        let format = by_style.or_else(by_type).map(|format| {
            self.formats.push(format);
            self.formats.len() - 1
        });
        self.known.insert(cell, format);
        format
    }
}

/// Returns whether the row or the columns of a tag are hidden.
fn is_hidden(tag: &Tag<'_>) -> bool {
    matches!(tag.attribute("table:visibility").as_deref(), Some("collapse" | "filter"))
}

/// Returns the mark of a formula with a boolean result or without a result.
fn constant(tag: &Tag<'_>) -> Option<Mark<'static>> {
    let formula = tag.attribute("table:formula")?;
    if tag.attribute("office:value-type").is_none() {
        return Some(Mark::Uncalculated);
    }
    BOOLEANS.iter().find(|(text, _)| formula.eq_ignore_ascii_case(text)).map(|(_, mark)| *mark)
}

/// Parses the value of a marked cell.
pub(crate) fn parse_mark(value: &str) -> Option<Mark<'_>> {
    let marked = value.strip_prefix(MARK)?;
    if let Some((_, mark)) = CONSTANTS.iter().find(|(word, _)| marked == *word) {
        return Some(*mark);
    }
    let (format, stored) = marked.split_once(MARK)?;
    Some(Mark::Format(format.parse().ok()?, stored))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, expected: &str) {
        let styles = "<number:number-style style:name=\"n\"><number:number number:min-integer-digits=\"5\"/>\
                      </number:number-style><style:style style:name=\"z\" style:family=\"table-cell\" \
                      style:data-style-name=\"n\"/>";
        assert_eq!(Marker::mark_text(styles, content).text, expected);
    }

    #[test]
    fn cells_are_marked_by_their_type() {
        check(
            "<table:table-cell office:value-type=\"percentage\" office:value=\"0.19\"><text:p>19%</text:p>",
            "<table:table-cell office:value-type=\"percentage\" office:time-value=\"%0%0.19\"><text:p>19%</text:p>",
        );
        check(
            "<table:covered-table-cell\noffice:value='5' office:currency='EUR'\noffice:value-type='currency'/>",
            "<table:covered-table-cell\noffice:time-value='%0%5' office:currency='EUR'\noffice:value-type='currency'/>",
        );
        for plain in [
            "<table:table-cell office:value-type=\"float\" office:value=\"0.19\"/>",
            "<text:p>table:table-cell office:value-type=\"percentage\" office:value=\"0.19\"</text:p>",
            "<table:table-cell office:value-type=\"currency\" office:value=\"0.19\"/>",
        ] {
            check(plain, plain);
        }
        assert_eq!(parse_mark("%3%0.19"), Some(Mark::Format(3, "0.19")));
        assert_eq!(parse_mark("PT09H30M00S"), None);
        assert_eq!(parse_mark("%x"), None);
    }

    #[test]
    fn hidden_columns_and_merged_cells_are_found_among_repeated_ones() {
        let xml = "<table:table><table:table-column table:number-columns-repeated=\"2\"/><table:table-column \
            table:visibility=\"collapse\" table:number-columns-repeated=\"2\"/><table:table-column/>\
            <table:table-row table:number-rows-repeated=\"3\"><table:table-cell/></table:table-row>\
            <table:table-row table:visibility=\"filter\"><table:table-cell table:number-columns-repeated=\"2\"/>\
            <table:table-cell table:number-columns-spanned=\"2\" table:number-rows-spanned=\"3\"><text:p>x</text:p>\
            </table:table-cell><table:covered-table-cell/><table:table-cell table:number-columns-spanned=\"1\" \
            table:number-rows-spanned=\"2\"/></table:table-row></table:table><table:table><table:table-row>\
            <table:table-cell table:number-columns-spanned=\"2\" table:number-rows-spanned=\"1\"/></table:table-row>";
        let found = Marker::mark_text("", xml).appearances;
        let hidden: Vec<usize> = (0..20).filter(|column| found[0].hides_column(*column)).collect();
        assert_eq!((hidden.as_slice(), found[0].hidden_rows()), (&[2, 3][..], &[(4, 4)][..]));
        let merged: Vec<String> = found[0].merged().iter().map(MergedCells::to_string).collect();
        assert_eq!(merged, ["C4:D6", "E4:E5"]);
        let across: Vec<String> = found[1].merged_across().iter().map(MergedCells::to_string).collect();
        assert_eq!((found.len(), across), (2, vec!["A1:B1".to_owned()]));
    }

    #[test]
    fn booleans_and_formulas_without_a_result_are_marked() {
        check(
            "<table:table-cell table:formula=\"of:=TRUE()\" office:value-type=\"float\" office:value=\"1\"/>",
            "<table:table-cell office:time-value=\"%true\" table:formula=\"of:=TRUE()\" office:value-type=\"float\" \
             office:value=\"1\"/>",
        );
        check(
            "<table:table-cell table:formula=\"of:=[.A1]*2\"/>",
            "<table:table-cell office:time-value=\"%uncalculated\" table:formula=\"of:=[.A1]*2\"/>",
        );
        let calculated =
            "<table:table-cell table:formula=\"of:=[.A1]\" office:value-type=\"string\" office:string-value=\"\"/>";
        check(calculated, calculated);
        assert_eq!(parse_mark("%false"), Some(Mark::Boolean(false)));
        assert_eq!(parse_mark("%uncalculated"), Some(Mark::Uncalculated));
    }

    #[test]
    fn cells_are_marked_by_their_own_style_or_that_of_their_row_or_column() {
        let cell = |style: &str| format!("<table:table-cell{style} office:value-type=\"float\" office:value=\"42\"/>");
        let marked = |style: &str| cell(style).replace("office:value=\"", "office:time-value=\"%0%");
        let table = |row: &str, cells: &[String]| {
            format!(
                "<table:table><table:table-column table:number-columns-repeated=\"2\"/>\
                 <table:table-column table:default-cell-style-name=\"z\"/><table:table-row{row}>{}</table:table-row>",
                cells.concat()
            )
        };
        let (own, other) = (" table:style-name=\"z\"", " table:style-name=\"a\"");
        check(&table("", &[cell(own), cell("")]), &table("", &[marked(own), cell("")]));
        let blank = "<table:table-cell table:number-columns-repeated=\"2\"/>".to_owned();
        check(&table("", &[blank.clone(), cell("")]), &table("", &[blank.clone(), marked("")]));
        check(&table("", &[blank.clone(), cell(other)]), &table("", &[blank, cell(other)]));
        let row = " table:default-cell-style-name=\"z\"";
        check(&table(row, &[cell("")]), &table(row, &[marked("")]));
    }
}
