//! Reads the sheets of a document.

use quick_xml::XmlVersion;
use quick_xml::encoding::DecodingReader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::cell::Stored;
use super::styles::Styles;
use crate::cell::Setting;
use crate::read::MAX_RECORD;
use crate::read::appearance::MergedCells;
use crate::read::workbook::fault::Fault;
use crate::read::workbook::formats::cells::damage;
use crate::read::workbook::formats::input::Source;
use crate::read::workbook::formats::rich_texts::PartStarts;
use crate::read::workbook::formats::tables::{TableBuilder, Tables};
use crate::{Cell, Shown};

/// Maximum number of columns with a separate style.
const MAX_COLUMNS: usize = 1 << 14;

/// The meaning of an element, from its name and its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Workbook,
    Styles,
    Style,
    Worksheet,
    Table,
    Row,
    Cell,
    /// The text of a cell, and elements for fonts within the text.
    Data,
    Options,
    Visible,
    Other,
}

/// Reads all sheets.
pub(crate) fn read(file: &Source) -> Result<Tables, Fault> {
    let mut reader = Reader::from_reader(DecodingReader::new(file.input()));
    reader.config_mut().expand_empty_elements = true;
    let mut document = Document::new(file);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer).map_err(|error| Fault::new(damage(error)))?;
        match event {
            Event::Start(tag) | Event::Empty(tag) => document.start(&tag)?,
            Event::End(_) => document.end()?,
            Event::Text(text) => document.text(&text.xml10_content())?,
            Event::CData(text) => document.text(&text.xml10_content())?,
            Event::GeneralRef(name) => document.entity(&name)?,
            Event::DocType(_) => {
                return Err(Fault::new("it has a document type definition, which workbooks never need"));
            }
            Event::Decl(declaration) => {
                let encoding = declaration.encoder();
                if let Some(Ok(name)) = declaration.encoding().filter(|_| encoding.is_none()) {
                    return Err(Fault::new(format!("its encoding '{name}' is unknown")));
                }
                // UTF-16 was detected by its first bytes.
                if let Some(encoding) = encoding.filter(|encoding| encoding.is_ascii_compatible()) {
                    reader.get_mut().set_encoding(encoding);
                }
            }
            Event::Comment(_) | Event::PI(_) => {}
            Event::Eof => return document.finish(),
        }
    }
}

struct Document<'f> {
    file: &'f Source,
    sheets: Tables,
    open: Vec<Element>,
    styles: Styles,
    sheet: Option<TableBuilder>,
    /// Styles of the columns of the current sheet: the last column of each style, and the style.
    columns: Vec<(usize, String)>,
    next_column: usize,
    table_style: Option<String>,
    /// The one-based number of the current row. `next_row` is the number of the next row.
    row: u64,
    next_row: u64,
    row_style: Option<String>,
    cell: Option<Stored>,
    /// How the open elements within the text of the cell set it, outermost first.
    settings: Vec<Setting>,
    parts: PartStarts,
    /// The column of the next cell.
    column: usize,
    visible: String,
    is_complete: bool,
}

impl<'f> Document<'f> {
    fn new(file: &'f Source) -> Document<'f> {
        Document {
            file,
            sheets: Tables::default(),
            open: Vec::new(),
            styles: Styles::default(),
            sheet: None,
            columns: Vec::new(),
            next_column: 0,
            table_style: None,
            row: 0,
            next_row: 1,
            row_style: None,
            cell: None,
            settings: Vec::new(),
            parts: PartStarts::default(),
            column: 0,
            visible: String::new(),
            is_complete: false,
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), Fault> {
        let name = tag.local_name();
        let element = match (self.open.last(), name.as_ref()) {
            (None, "Workbook") => Element::Workbook,
            (Some(Element::Workbook), "Styles") => Element::Styles,
            (Some(Element::Styles), "Style") => {
                self.styles.start(text_of(tag, "ID").unwrap_or_default(), text_of(tag, "Parent"));
                Element::Style
            }
            (Some(Element::Style), "NumberFormat") => {
                self.styles.set_format(&text_of(tag, "Format").unwrap_or_default());
                Element::Other
            }
            (Some(Element::Workbook), "Worksheet") => {
                self.sheet = Some(TableBuilder::new(text_of(tag, "Name").unwrap_or_default()));
                Element::Worksheet
            }
            (Some(Element::Worksheet), "Table") => {
                (self.columns, self.next_column) = (Vec::new(), 0);
                self.table_style = text_of(tag, "StyleID");
                (self.row, self.next_row) = (0, 1);
                Element::Table
            }
            (Some(Element::Table), "Column") => {
                self.add_column(tag);
                Element::Other
            }
            (Some(Element::Table), "Row") => {
                self.start_row(tag);
                Element::Row
            }
            (Some(Element::Row), "Cell") => {
                let index = number_of(tag, "Index").and_then(|index| usize::try_from(index).ok()?.checked_sub(1));
                let column = index.unwrap_or(self.column);
                let across = number_of(tag, "MergeAcross").and_then(|across| usize::try_from(across).ok()).unwrap_or(0);
                self.column = column.saturating_add(1).saturating_add(across);
                let down = number_of(tag, "MergeDown").unwrap_or(0);
                if let Some(sheet) = self.sheet.as_mut().filter(|_| down > 0) {
                    let (rows, columns) = (down.saturating_add(1), across.saturating_add(1));
                    sheet.appearance().merge(MergedCells::spanning((self.row, rows), (column, columns)));
                }
                let has_formula = text_of(tag, "Formula").is_some();
                self.cell = Some(Stored { column, style: text_of(tag, "StyleID"), has_formula, data: None });
                Element::Cell
            }
            (Some(Element::Cell), "Data") => {
                if let Some(cell) = &mut self.cell {
                    cell.data = Some((text_of(tag, "Type").unwrap_or_default(), String::new()));
                }
                self.parts = PartStarts::default();
                self.settings.push(Setting::Plain);
                Element::Data
            }
            (Some(Element::Data), name) => {
                let outer = self.settings.last().copied().unwrap_or(Setting::Plain);
                self.settings.push(match name {
                    "Sup" => Setting::Raised,
                    "Sub" => Setting::Lowered,
                    "S" => Setting::Struck,
                    _ => outer,
                });
                Element::Data
            }
            (Some(Element::Worksheet), "WorksheetOptions") => Element::Options,
            (Some(Element::Options), "Visible") => {
                self.visible.clear();
                Element::Visible
            }
            _ => Element::Other,
        };
        self.open.push(element);
        Ok(())
    }

    fn add_column(&mut self, tag: &BytesStart<'_>) {
        let number = |name: &str| number_of(tag, name).and_then(|number| usize::try_from(number).ok());
        let first = number("Index").and_then(|index| index.checked_sub(1)).unwrap_or(self.next_column);
        let last = first.saturating_add(number("Span").unwrap_or(0));
        self.next_column = last.saturating_add(1);
        if let Some(sheet) = self.sheet.as_mut().filter(|_| is_hidden(tag)) {
            sheet.appearance().hide_columns(first as u64, ((last - first) as u64).saturating_add(1));
        }
        if self.columns.len() + 1 < MAX_COLUMNS {
            // Omitted columns have no style.
            if first > 0 {
                self.columns.push((first - 1, String::new()));
            }
            self.columns.push((last, text_of(tag, "StyleID").unwrap_or_default()));
        }
    }

    fn start_row(&mut self, tag: &BytesStart<'_>) {
        self.row = number_of(tag, "Index").filter(|row| *row > 0).unwrap_or(self.next_row);
        let span = number_of(tag, "Span").unwrap_or(0);
        self.next_row = self.row.saturating_add(1).saturating_add(span);
        self.row_style = text_of(tag, "StyleID");
        self.column = 0;
        if let Some(sheet) = self.sheet.as_mut().filter(|_| is_hidden(tag)) {
            sheet.appearance().hide_rows(self.row, span.saturating_add(1));
        }
    }

    fn end(&mut self) -> Result<(), Fault> {
        match self.open.pop() {
            Some(Element::Data) => drop(self.settings.pop()),
            Some(Element::Cell) => self.end_cell()?,
            Some(Element::Visible) if self.visible.trim() != "SheetVisible" => {
                if let Some(sheet) = &mut self.sheet {
                    sheet.hide_table();
                }
            }
            Some(Element::Worksheet) => {
                if let Some(sheet) = self.sheet.take() {
                    self.sheets.add(sheet)?;
                }
            }
            Some(Element::Workbook) => self.is_complete = true,
            _ => {}
        }
        Ok(())
    }

    fn end_cell(&mut self) -> Result<(), Fault> {
        let (Some(cell), Some(sheet)) = (self.cell.take(), &mut self.sheet) else { return Ok(()) };
        let of_column = || {
            let at = self.columns.partition_point(|(last, _)| *last < cell.column);
            self.columns.get(at).map(|(_, style)| style.as_str()).filter(|style| !style.is_empty())
        };
        let style = cell.style.as_deref().or(self.row_style.as_deref()).or_else(of_column);
        let format = self.styles.format(style.or(self.table_style.as_deref()));
        let mut buffer = String::new();
        let value = cell.cell(format.map(|format| &format.display), &mut buffer);
        let shown = cell.shown(&value, format).filter(|shown| !shown.is_certain || shown.text != value.shown());
        let shown = shown.as_ref().map(|shown| Shown { text: &shown.text, is_certain: shown.is_certain });
        let parts = match value {
            Cell::Text(text) => std::mem::take(&mut self.parts).parts(text),
            _ => Vec::new(),
        };
        sheet.cell(self.row, cell.column, value, shown, self.file)?;
        sheet.add_parts(cell.column, &parts);
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Fault> {
        match self.open.last() {
            Some(Element::Data) => {
                if let Some((_, data)) = self.cell.as_mut().and_then(|cell| cell.data.as_mut()) {
                    self.parts.piece(data.len(), self.settings.last().copied().unwrap_or(Setting::Plain));
                    data.push_str(text);
                    if data.len() > MAX_RECORD {
                        return Err(Fault::new(format!("row {} is longer than 16 MiB", self.row)));
                    }
                }
            }
            Some(Element::Visible) if self.visible.len() < 64 => self.visible.push_str(text),
            _ => {}
        }
        Ok(())
    }

    fn entity(&mut self, name: &BytesRef<'_>) -> Result<(), Fault> {
        let unknown = || Fault::new(damage(format_args!("the entity '{}' is unknown", name.xml10_content())));
        match name.resolve_char_ref().map_err(|error| Fault::new(damage(error)))? {
            Some(c) => self.text(c.encode_utf8(&mut [0; 4])),
            None => self.text(resolve_predefined_entity(&name.xml10_content()).ok_or_else(unknown)?),
        }
    }

    fn finish(self) -> Result<Tables, Fault> {
        match self.is_complete {
            true => Ok(self.sheets),
            false => Err(Fault::new("it ends before the end of the workbook, so rows may be missing")),
        }
    }
}

/// Returns the value of an attribute by its name without a prefix.
fn text_of(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute =
        tag.attributes().with_checks(false).flatten().find(|found| found.key.local_name().as_ref() == name)?;
    Some(attribute.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
}

/// Returns whether the row or the columns of a tag are hidden, or have no height or width.
fn is_hidden(tag: &BytesStart<'_>) -> bool {
    let is_zero = |size: &str| text_of(tag, size).and_then(|size| size.parse().ok()) == Some(0.0);
    text_of(tag, "Hidden").as_deref() == Some("1") || is_zero("Height") || is_zero("Width")
}

/// Returns a number in an attribute, or the maximum for too many digits.
fn number_of(tag: &BytesStart<'_>, name: &str) -> Option<u64> {
    let text = text_of(tag, name)?;
    let is_number = !text.trim().is_empty() && text.trim().bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.trim().parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::read::workbook::activity::Activity;

    #[test]
    fn hidden_columns_and_merged_cells_are_found() {
        let xml = "<Workbook><Worksheet ss:Name=\"a\"><Table><Column/><Column ss:Index=\"3\" ss:Span=\"1\" ss:Hidden=\"1\"/>\
            <Column/><Column ss:Hidden=\"1\" ss:Span=\"99999999999999999999\"/>\
            <Row ss:Index=\"2\"><Cell/><Cell ss:MergeDown=\"3\"><Data ss:Type=\"String\">x</Data></Cell>\
            <Cell ss:MergeAcross=\"1\" ss:MergeDown=\"1\"/><Cell ss:MergeAcross=\"1\"/></Row>\
            <Row ss:Hidden=\"1\"><Cell ss:Index=\"7\" ss:MergeDown=\"1\"/></Row></Table></Worksheet></Workbook>";
        let file = Source::memory(xml.as_bytes().to_vec(), &Arc::new(Activity::default()));
        let sheets = read(&file).expect("a workbook");
        let found = sheets.appearance_of(0).expect("a sheet");
        assert_eq!(found.hidden_rows(), [(3, 3)]);
        assert_eq!((0..8).filter(|column| found.hides_column(*column)).collect::<Vec<_>>(), [2, 3, 5, 6, 7]);
        let merged: Vec<String> = found.merged().iter().map(MergedCells::to_string).collect();
        assert_eq!(merged, ["B2:B5", "C2:D3", "G3:G4"]);
    }
}
