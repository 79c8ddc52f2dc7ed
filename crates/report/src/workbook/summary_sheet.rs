//! The layout of a report's first sheet: counts, the next command, and problems with links to the first rows.

use rust_xlsxwriter::{Color, Format, FormatAlign, FormatBorder, FormatUnderline, Url, Worksheet, XlsxError};
use sheetport_language::Language;
use sheetport_ledger::RecordState;
use sheetport_sheet::write::xlsx::styles;
use sheetport_sheet::write::xlsx::table::Locations;
use sheetport_sheet::write::xlsx::text::cut;

use super::styles::{row_height, state_color};

/// The content of the sheet, from top to bottom. Empty parts are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct SummarySheet {
    pub language: Language,
    pub title: String,
    pub subtitle: String,
    pub counts: Vec<Count>,
    /// Names in English, and values.
    pub facts: Vec<(&'static str, String)>,
    /// An instruction, and the command to run, if any.
    pub next: Option<(String, String)>,
    pub problems: Vec<ProblemLine>,
    pub warnings: Vec<ProblemLine>,
    pub remarks: Vec<String>,
}

/// A count with its name and meaning.
#[derive(Clone, Debug)]
pub(super) struct Count {
    pub number: u64,
    pub name: String,
    pub meaning: String,
    /// The state of these records; `None` for other numbers.
    pub state: Option<RecordState>,
}

/// A group of equal problems or warnings.
#[derive(Clone, Debug)]
pub(super) struct ProblemLine {
    pub count: u64,
    pub place: String,
    pub words: String,
    pub remedy: String,
    /// The first few cells.
    pub links: Vec<CellLink>,
}

/// A link to a cell of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CellLink {
    pub label: String,
    /// Zero-based index among the report's rows.
    pub row: u64,
    /// Zero-based column.
    pub column: usize,
}

const TITLES: [&str; 5] = ["Rows", "Column", "What is wrong", "What to do", "First rows"];
const WARNING_TITLES: [&str; 5] = ["Rows", "Column", "Warnings: what may be wrong", "What to do", "First rows"];
const WIDTHS: [f64; 4] = [12.0, 24.0, 52.0, 58.0];
/// First column of links.
const LINKS: u16 = WIDTHS.len() as u16;
/// Width for a row number of seven digits, after the word *row*.
const LINK_WIDTH: f64 = 10.0;
const WORD: f64 = 3.0;

/// Writes `summary` to an empty worksheet.
pub(super) fn draw(sheet: &mut Worksheet, summary: &SummarySheet, cells: &Locations) -> Result<(), XlsxError> {
    let (formats, language) = (Formats::new(), summary.language);
    let lines = summary.problems.iter().chain(&summary.warnings);
    let link_columns = lines.map(|line| line.links.len()).max().unwrap_or(0) as u16;
    for (column, width) in (0..).zip(WIDTHS) {
        sheet.set_column_width(column, width)?;
    }
    for column in LINKS..=LINKS + link_columns {
        let word = language.word("row").chars().count() as f64;
        sheet.set_column_width(column, LINK_WIDTH - WORD + word)?;
    }
    sheet.set_screen_gridlines(false);
    sheet.set_landscape();
    sheet.set_paper_size(9);
    sheet.set_print_fit_to_pages(1, 0);
    sheet.write_string_with_format(0, 0, cut(&summary.title), &formats.title)?;
    sheet.write_string_with_format(1, 0, cut(&summary.subtitle), &formats.faint)?;
    let mut row = 3;
    for count in &summary.counts {
        let color = count.state.map(state_color);
        let number = color.map_or(formats.number.clone(), |color| formats.number.clone().set_background_color(color));
        sheet.write_number_with_format(row, 0, count.number as f64, &number)?;
        sheet.write_string_with_format(row, 1, &count.name, &formats.strong)?;
        sheet.write_string_with_format(row, 2, cut(&count.meaning), &formats.faint)?;
        row += 1;
    }
    row += 1;
    if let Some((words, command)) = &summary.next {
        sheet.write_string_with_format(row, 0, language.label("Next"), &formats.label)?;
        sheet.write_string(row, 1, cut(words))?;
        if !command.is_empty() {
            for column in 1..LINKS {
                sheet.write_blank(row + 1, column, &formats.command)?;
            }
            sheet.write_string_with_format(row + 1, 1, cut(command), &formats.command)?;
            row += 1;
        }
        row += 2;
    }
    for (titles, lines) in [(TITLES, &summary.problems), (WARNING_TITLES, &summary.warnings)] {
        if !lines.is_empty() {
            let titles = titles.map(|title| language.label(title));
            row = draw_problems(sheet, row, titles, lines, link_columns.max(1), &formats, cells)? + 1;
        }
    }
    for remark in &summary.remarks {
        sheet.write_string(row, 0, cut(remark))?;
        row += 1;
    }
    row += u32::from(!summary.remarks.is_empty());
    for (name, fact) in summary.facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        sheet.write_string_with_format(row, 0, language.label(name), &formats.faint)?;
        sheet.write_string(row, 1, cut(fact))?;
        row += 1;
    }
    Ok(())
}

/// Writes a table of problems from row `top` and returns the row after it.
fn draw_problems(
    sheet: &mut Worksheet,
    top: u32,
    titles: [&str; 5],
    lines: &[ProblemLine],
    link_columns: u16,
    formats: &Formats,
    cells: &Locations,
) -> Result<u32, XlsxError> {
    for column in LINKS..LINKS + link_columns {
        sheet.write_blank(top, column, &formats.header)?;
    }
    for (column, title) in (0..).zip(titles) {
        sheet.write_string_with_format(top, column, title, &formats.header)?;
    }
    let mut row = top;
    for line in lines {
        row += 1;
        sheet.write_number_with_format(row, 0, line.count as f64, &formats.cell_number)?;
        let texts = [&line.place, &line.words, &line.remedy];
        let heights = texts.iter().zip(&WIDTHS[1..]).filter_map(|(text, width)| row_height(text, *width));
        if let Some(height) = heights.reduce(f64::max) {
            sheet.set_row_height(row, height)?;
        }
        for (column, text) in (1..).zip(texts) {
            sheet.write_string_with_format(row, column, cut(text), &formats.cell)?;
        }
        for column in LINKS..LINKS + link_columns {
            sheet.write_blank(row, column, &formats.cell)?;
        }
        for (column, link) in (LINKS..).zip(&line.links) {
            let target = cells.reference(link.row, link.column);
            let url = Url::new(format!("internal:{target}")).set_text(&link.label);
            sheet.write_url_with_format(row, column, url, &formats.link)?;
        }
    }
    Ok(row + 1)
}

struct Formats {
    title: Format,
    label: Format,
    strong: Format,
    faint: Format,
    number: Format,
    command: Format,
    header: Format,
    cell: Format,
    cell_number: Format,
    link: Format,
}

impl Formats {
    fn new() -> Formats {
        let cell = Format::new()
            .set_text_wrap()
            .set_align(FormatAlign::Top)
            .set_border_bottom(FormatBorder::Thin)
            .set_border_bottom_color(Color::RGB(0xD9_D9_D9));
        Formats {
            title: Format::new().set_bold().set_font_size(16),
            label: Format::new().set_bold(),
            strong: Format::new().set_bold().set_indent(1),
            faint: Format::new().set_font_color(Color::RGB(0x59_59_59)),
            number: Format::new().set_num_format("#,##0").set_bold(),
            command: Format::new().set_font_name("Consolas").set_background_color(Color::RGB(0xF2_F2_F2)),
            header: styles::header(),
            cell_number: cell.clone().set_num_format("#,##0").set_align(FormatAlign::Left),
            link: cell.clone().set_font_color(Color::RGB(0x05_63_C1)).set_underline(FormatUnderline::Single),
            cell,
        }
    }
}
