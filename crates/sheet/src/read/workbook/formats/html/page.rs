//! Reads the tables of a page. A table within a cell counts as a separate table.

use std::io::Read;

use html5gum::{DefaultEmitter, EndTag, IoReader, StartTag, Token, Tokenizer};
use quick_xml::escape::unescape;

use super::attributes::{is_hidden, setting, span};
use super::cell::Stored;
use super::grid::{Grid, MAX_COLUMN_SPAN, MAX_ROW_SPAN};
use super::stylesheet::Stylesheet;
use crate::cell::Setting;
use crate::read::MAX_RECORD;
use crate::read::appearance::MergedCells;
use crate::read::text::TextDecoder;
use crate::read::text::encoding::with_label;
use crate::read::workbook::fault::{Fault, FaultKind};
use crate::read::workbook::formats::input::Source;
use crate::read::workbook::formats::rich_texts::PartStarts;
use crate::read::workbook::formats::tables::{TableBuilder, Tables};
use crate::{Cell, Shown};

/// Maximum depth of tables within tables.
const MAX_DEPTH: usize = 64;
/// Maximum length of a style element, in bytes.
const MAX_STYLE: usize = 4 << 20;

/// Reads all tables with cells.
pub(crate) fn read(file: &Source, encoding: &str) -> Result<Tables, Fault> {
    let failed = |error: std::io::Error| Fault::new(error.to_string());
    let mut start = Vec::new();
    file.again().take(4).read_to_end(&mut start).map_err(failed)?;
    let found =
        with_label(encoding, &start).ok_or_else(|| Fault::new(format!("its encoding '{encoding}' is unknown")))?;
    let text = TextDecoder::new(file.input(), found).map_err(failed)?;
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut page = Page {
        file,
        tables: Tables::default(),
        open: Vec::new(),
        styles: Stylesheet::default(),
        names: Vec::new(),
        css: None,
    };
    for token in Tokenizer::new_with_emitter(IoReader::new(text), emitter) {
        page.token(token.map_err(failed)?)?;
    }
    page.finish()
}

struct Page<'f> {
    file: &'f Source,
    tables: Tables,
    /// The open tables, outermost first.
    open: Vec<OpenTable>,
    styles: Stylesheet,
    /// The names of Excel's sheets.
    names: Vec<String>,
    /// The text of the open style element.
    css: Option<String>,
}

struct OpenTable {
    table: TableBuilder,
    grid: Grid,
    /// The number of columns described so far.
    columns: u64,
    in_row: bool,
    cell: Option<OpenCell>,
}

struct OpenCell {
    column: usize,
    stored: Stored,
    text: CellText,
    /// The open elements that may set their text differently, outermost first.
    settings: Vec<(Vec<u8>, Setting)>,
    parts: PartStarts,
    /// The name and depth of the open element with hidden text.
    unseen: Option<(Vec<u8>, usize)>,
}

/// The displayed text of a cell: white space becomes one space, and only elements break lines.
#[derive(Default)]
struct CellText {
    text: String,
    space: bool,
    line: bool,
}

impl Page<'_> {
    fn token(&mut self, token: Token) -> Result<(), Fault> {
        match token {
            Token::StartTag(tag) => self.start(&tag),
            Token::EndTag(tag) => self.end(&tag),
            Token::String(text) => self.text(&String::from_utf8_lossy(&text)),
            Token::Comment(comment) => {
                self.comment(&String::from_utf8_lossy(&comment));
                Ok(())
            }
            Token::Doctype(_) | Token::Error(_) => Ok(()),
        }
    }

    fn start(&mut self, tag: &StartTag<()>) -> Result<(), Fault> {
        let name: &[u8] = &tag.name;
        match name {
            b"style" => self.css = Some(String::new()),
            b"table" => {
                if self.open.len() == MAX_DEPTH {
                    return Err(Fault::new(format!("it has tables within tables, more than {MAX_DEPTH} deep")));
                }
                let table = TableBuilder::new(String::new());
                self.open.push(OpenTable { table, grid: Grid::default(), columns: 0, in_row: false, cell: None });
            }
            b"tr" => {
                self.end_row()?;
                if let Some(open) = self.open.last_mut() {
                    open.start_row();
                    if is_hidden(tag) {
                        open.table.appearance().hide_rows(open.grid.row, 1);
                    }
                }
            }
            b"td" | b"th" => {
                self.end_cell()?;
                if let Some(open) = self.open.last_mut() {
                    if !open.in_row {
                        open.start_row();
                    }
                    let (columns, rows) = (span(tag, "colspan", MAX_COLUMN_SPAN), span(tag, "rowspan", MAX_ROW_SPAN));
                    let column = open.grid.place(columns, rows);
                    let merged = MergedCells::spanning((open.grid.row, rows as u64), (column, columns));
                    open.table.appearance().merge(merged);
                    let stored = Stored::new(tag, &self.styles);
                    open.cell = Some(OpenCell {
                        column,
                        stored,
                        text: CellText::default(),
                        settings: Vec::new(),
                        parts: PartStarts::default(),
                        unseen: None,
                    });
                }
            }
            b"thead" | b"tbody" | b"tfoot" => self.end_row()?,
            b"col" => {
                if let Some(open) = self.open.last_mut() {
                    open.add_columns(tag);
                }
            }
            _ => {
                if let Some(cell) = self.cell() {
                    cell.start(tag);
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, tag: &EndTag<()>) -> Result<(), Fault> {
        let name: &[u8] = &tag.name;
        match name {
            b"style" => {
                if let Some(css) = self.css.take() {
                    self.styles.read(&css);
                }
            }
            b"table" => {
                self.end_row()?;
                if let Some(open) = self.open.pop().filter(|open| !open.table.is_blank()) {
                    self.tables.add(open.table)?;
                }
            }
            b"tr" | b"thead" | b"tbody" | b"tfoot" => self.end_row()?,
            b"td" | b"th" => self.end_cell()?,
            name => {
                if let Some(cell) = self.cell() {
                    cell.end(name);
                }
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Fault> {
        if let Some(css) = &mut self.css {
            if css.len() + text.len() <= MAX_STYLE {
                css.push_str(text);
            }
        } else if let Some(cell) = self.cell().filter(|cell| cell.unseen.is_none()) {
            let setting = cell.settings.iter().map(|(_, setting)| *setting).rfind(|setting| *setting != Setting::Plain);
            cell.parts.piece(cell.text.text.len(), setting.unwrap_or(Setting::Plain));
            cell.text.push(text);
            if cell.text.text.len() > MAX_RECORD {
                return Err(Fault::new("one of its cells is longer than 16 MiB"));
            }
        }
        Ok(())
    }

    /// Reads the names of the sheets from a comment for Excel.
    fn comment(&mut self, comment: &str) {
        let names = comment.split("<x:Name>").skip(1).filter_map(|rest| Some(rest.split_once("</x:Name>")?.0));
        self.names.extend(names.map(|name| unescape(name).map_or_else(|_| name.to_owned(), |name| name.into_owned())));
    }

    /// Returns the open cell of the innermost table.
    fn cell(&mut self) -> Option<&mut OpenCell> {
        self.open.last_mut()?.cell.as_mut()
    }

    fn end_cell(&mut self) -> Result<(), Fault> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let Some(cell) = open.cell.take() else { return Ok(()) };
        let mut buffer = String::new();
        let value = cell.stored.cell(&cell.text.text, &mut buffer);
        let shown = cell.stored.shown(&value, cell.text.text.trim());
        let shown = shown.map(|text| Shown { text, is_certain: true });
        let parts = match value {
            Cell::Text(text) if text == cell.text.text => cell.parts.parts(text),
            _ => Vec::new(),
        };
        open.table.cell(open.grid.row, cell.column, value, shown, self.file)?;
        open.table.add_parts(cell.column, &parts);
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), Fault> {
        self.end_cell()?;
        if let Some(open) = self.open.last_mut() {
            open.in_row = false;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Tables, Fault> {
        if !self.open.is_empty() {
            return Err(Fault::new("it ends within a table, so rows may be missing"));
        }
        if self.tables.is_empty() {
            let reason = "a web page (HTML) without a table".to_owned();
            return Err(Fault { kind: FaultKind::NotASpreadsheet, reason });
        }
        self.tables.name(self.names);
        self.tables.number();
        Ok(self.tables)
    }
}

impl OpenTable {
    fn start_row(&mut self) {
        self.in_row = true;
        self.grid.start_row();
    }

    /// Adds columns with a common description.
    fn add_columns(&mut self, tag: &StartTag<()>) {
        let count = span(tag, "span", MAX_COLUMN_SPAN) as u64;
        if is_hidden(tag) {
            self.table.appearance().hide_columns(self.columns, count);
        }
        self.columns += count;
    }
}

impl OpenCell {
    fn start(&mut self, tag: &StartTag<()>) {
        let name: &[u8] = &tag.name;
        if let Some((unseen, depth)) = &mut self.unseen {
            *depth += usize::from(unseen.as_slice() == name && !tag.self_closing);
            return;
        }
        match name {
            b"br" => self.text.line_break(),
            b"p" | b"div" | b"li" => self.text.start_line(),
            b"img" | b"input" | b"hr" | b"wbr" | b"meta" | b"link" => {}
            // Comments of LibreOffice and Excel, and invisible sort keys.
            _ if name == b"comment" || is_comment(tag) || is_hidden(tag) => self.unseen = Some((name.to_vec(), 1)),
            b"script" => self.unseen = Some((name.to_vec(), 1)),
            _ if !tag.self_closing && self.settings.len() < MAX_DEPTH => {
                self.settings.push((name.to_vec(), setting(tag)));
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        match &mut self.unseen {
            Some((unseen, depth)) if unseen.as_slice() == name => {
                *depth -= 1;
                if *depth == 0 {
                    self.unseen = None;
                }
            }
            Some(_) => {}
            None if matches!(name, b"p" | b"div" | b"li") => self.text.start_line(),
            None => {
                if let Some(at) = self.settings.iter().rposition(|(open, _)| open.as_slice() == name) {
                    self.settings.truncate(at);
                }
            }
        }
    }
}

fn is_comment(tag: &StartTag<()>) -> bool {
    super::attributes::attribute(tag, "class").is_some_and(|class| class.starts_with("msocom"))
}

impl CellText {
    fn push(&mut self, text: &str) {
        for c in text.chars() {
            if matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0C') {
                self.space = true;
                continue;
            }
            if std::mem::take(&mut self.line) && !self.text.is_empty() {
                self.text.push('\n');
            } else if self.space && !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
            self.space = false;
            self.text.push(c);
        }
    }

    fn line_break(&mut self) {
        if self.line && !self.text.is_empty() {
            self.text.push('\n');
        }
        self.line = true;
    }

    /// Starts a new line, unless already at the start of a line.
    fn start_line(&mut self) {
        self.line = true;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::read::workbook::activity::Activity;

    #[test]
    fn hidden_columns_and_merged_cells_are_found() {
        let page = "<table><colgroup><col span=2><col style='display:none' span=2><col></colgroup>\
            <tr><th>a</th><th>b</th></tr><tr><td>1</td><td rowspan=4>x</td><td colspan=2 rowspan=2>y</td></tr>\
            <tr style='display: none'><td>2</td><td rowspan=9999999999>z</td></tr></table>\
            <table><tr><td colspan=2 rowspan=1>x</td></tr></table>";
        let file = Source::memory(page.as_bytes().to_vec(), &Arc::new(Activity::default()));
        let tables = read(&file, "utf-8").expect("a page");
        let found = tables.appearance_of(0).expect("a table");
        assert_eq!(found.hidden_rows(), [(3, 3)]);
        assert_eq!((0..20).filter(|column| found.hides_column(*column)).collect::<Vec<_>>(), [2, 3]);
        let merged: Vec<String> = found.merged().iter().map(MergedCells::to_string).collect();
        assert_eq!(merged, ["B2:B5", "C2:D3", "E3:E65536"]);
        let across = tables.appearance_of(1).expect("a table").merged_across().iter();
        assert_eq!(across.map(MergedCells::to_string).collect::<Vec<_>>(), ["A1:B1"]);
    }
}
