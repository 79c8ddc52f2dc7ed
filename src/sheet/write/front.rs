//! The first sheet of a workbook of rows: what they came to and what is wrong with them, for people, with links to the
//! cells at fault. What it says is the caller's; how it looks is decided here.

use rust_xlsxwriter::{Color, Format, FormatAlign, FormatBorder, Url, Worksheet, XlsxError};

use super::look;

/// What stands on the sheet, from top to bottom. What is empty is left out.
#[derive(Clone, Debug, Default)]
pub struct Front {
    pub title: String,
    pub subtitle: String,
    pub counts: Vec<Count>,
    /// What each is called, and what it is.
    pub facts: Vec<(&'static str, String)>,
    /// What to do next, in words, and the command for it.
    pub next: Option<(String, String)>,
    pub problems: Vec<ProblemLine>,
    pub remarks: Vec<String>,
}

/// A number and what it counts.
#[derive(Clone, Debug)]
pub struct Count {
    pub number: u64,
    /// A state has the colour that its rows have.
    pub name: &'static str,
    pub meaning: String,
}

/// A cause, and where it is found.
#[derive(Clone, Debug)]
pub struct ProblemLine {
    pub count: u64,
    pub place: String,
    pub words: String,
    pub remedy: String,
    /// The first few.
    pub spots: Vec<Spot>,
}

/// A cell that a link leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub label: String,
    /// The row's place among those that the table was given, from 0.
    pub row: u64,
    /// From 0.
    pub column: usize,
}

const TITLES: [&str; 4] = ["Rows", "Column", "What is wrong", "What to do"];
const WIDTHS: [f64; 4] = [12.0, 24.0, 52.0, 58.0];
/// The column of the first link.
const LINKS: u16 = TITLES.len() as u16;
/// As wide as a row's number of seven digits.
const LINK_WIDTH: f64 = 10.0;

/// Draws `front`; `link` tells the link to a spot.
pub fn draw(sheet: &mut Worksheet, front: &Front, link: impl Fn(&Spot) -> String) -> Result<(), XlsxError> {
    let looks = Looks::default();
    let most_links = front.problems.iter().map(|line| line.spots.len()).max().unwrap_or(0) as u16;
    for (column, width) in (0..).zip(WIDTHS) {
        sheet.set_column_width(column, width)?;
    }
    for column in LINKS..=LINKS + most_links {
        sheet.set_column_width(column, LINK_WIDTH)?;
    }
    sheet.set_screen_gridlines(false);
    sheet.set_landscape();
    sheet.set_paper_size(9);
    sheet.set_print_fit_to_pages(1, 0);
    sheet.write_string_with_format(0, 0, look::cut(&front.title), &looks.title)?;
    sheet.write_string_with_format(1, 0, look::cut(&front.subtitle), &looks.faint)?;
    let mut row = 3;
    for count in &front.counts {
        let tone = look::tone(count.name);
        let number = tone.map_or(looks.number.clone(), |tone| looks.number.clone().set_background_color(tone));
        sheet.write_number_with_format(row, 0, count.number as f64, &number)?;
        sheet.write_string_with_format(row, 1, count.name, &looks.strong)?;
        sheet.write_string_with_format(row, 2, look::cut(&count.meaning), &looks.faint)?;
        row += 1;
    }
    row += 1;
    if let Some((words, command)) = &front.next {
        sheet.write_string_with_format(row, 0, "Next", &looks.label)?;
        sheet.write_string(row, 1, look::cut(words))?;
        for column in 1..LINKS {
            sheet.write_blank(row + 1, column, &looks.command)?;
        }
        sheet.write_string_with_format(row + 1, 1, look::cut(command), &looks.command)?;
        row += 3;
    }
    if !front.problems.is_empty() {
        row = problems(sheet, row, &front.problems, most_links, &looks, link)? + 1;
    }
    for remark in &front.remarks {
        sheet.write_string(row, 0, look::cut(remark))?;
        row += 1;
    }
    row += u32::from(!front.remarks.is_empty());
    for (name, fact) in front.facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        sheet.write_string_with_format(row, 0, *name, &looks.faint)?;
        sheet.write_string(row, 1, look::cut(fact))?;
        row += 1;
    }
    Ok(())
}

/// Answers the row below the last.
fn problems(
    sheet: &mut Worksheet,
    top: u32,
    lines: &[ProblemLine],
    most_links: u16,
    looks: &Looks,
    link: impl Fn(&Spot) -> String,
) -> Result<u32, XlsxError> {
    for (column, title) in (0..).zip(TITLES) {
        sheet.write_string_with_format(top, column, title, &looks.header)?;
    }
    for column in LINKS..LINKS + most_links.max(1) {
        sheet.write_blank(top, column, &looks.header)?;
    }
    sheet.write_string_with_format(top, LINKS, "First rows", &looks.header)?;
    let mut row = top;
    for line in lines {
        row += 1;
        sheet.write_number_with_format(row, 0, line.count as f64, &looks.cell_number)?;
        let texts = [&line.place, &line.words, &line.remedy];
        let heights = texts.iter().zip(&WIDTHS[1..]).filter_map(|(text, width)| look::height(text, *width));
        if let Some(height) = heights.reduce(f64::max) {
            sheet.set_row_height(row, height)?;
        }
        for (column, text) in (1..).zip(texts) {
            sheet.write_string_with_format(row, column, look::cut(text), &looks.cell)?;
        }
        for column in LINKS..LINKS + most_links.max(1) {
            sheet.write_blank(row, column, &looks.cell)?;
        }
        for (column, spot) in (LINKS..).zip(&line.spots) {
            let url = Url::new(format!("internal:{}", link(spot))).set_text(&spot.label);
            sheet.write_url_with_format(row, column, url, &looks.link)?;
        }
    }
    Ok(row + 1)
}

struct Looks {
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

impl Default for Looks {
    fn default() -> Looks {
        let line = Color::RGB(0xD9_D9_D9);
        let cell = Format::new()
            .set_text_wrap()
            .set_align(FormatAlign::Top)
            .set_border_bottom(FormatBorder::Thin)
            .set_border_bottom_color(line);
        Looks {
            title: Format::new().set_bold().set_font_size(16),
            label: Format::new().set_bold(),
            strong: Format::new().set_bold().set_indent(1),
            faint: Format::new().set_font_color(Color::RGB(0x59_59_59)),
            number: Format::new().set_num_format("#,##0").set_bold(),
            command: Format::new().set_font_name("Consolas").set_background_color(Color::RGB(0xF2_F2_F2)),
            header: look::header(),
            cell_number: cell.clone().set_num_format("#,##0").set_align(FormatAlign::Left),
            link: cell
                .clone()
                .set_font_color(Color::RGB(0x05_63_C1))
                .set_underline(rust_xlsxwriter::FormatUnderline::Single),
            cell,
        }
    }
}
