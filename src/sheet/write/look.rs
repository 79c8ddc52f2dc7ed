//! How a table looks in a workbook: formats, widths, names of sheets, and what becomes of values that Excel can't hold.

use std::borrow::Cow;

use rust_xlsxwriter::{Color, ExcelDateTime, Format, FormatAlign, Note, Worksheet, XlsxError};

use super::Value;
use super::defuse::defuse;
use crate::sheet::Cell;

/// The UTF-16 units that a cell holds.
pub const MAX_TEXT: usize = 32_767;
/// The digits that every double keeps.
const EXACT_DIGITS: usize = 15;
const CUT: &str = "… [cut]";
/// A text with the mark at its end was cut if it is about as long as a cell can be. Somebody may have mended a word in
/// it, and programs that save a workbook may end its lines with one character for two.
const CUT_FROM: usize = MAX_TEXT / 2;
/// A note is read in a small window; more than this is not read at all.
const MAX_NOTE: usize = 2_000;
const MAX_SHEET_NAME: usize = 31;
const MAX_WIDTH: usize = 40;
/// Of a column of sentences.
const SENTENCE_WIDTH: f64 = 60.0;

/// The formats of a workbook's cells, plain and marked.
pub struct Look {
    pub header: Format,
    /// Of columns that are not the person's own.
    pub our_header: Format,
    pub sentence: Format,
    plain: Kinds,
    marked: Kinds,
    /// Numbers with so many decimals as the place in the list.
    decimals: Vec<Format>,
    date_time_millis: Format,
}

/// A look that a cell or its whole column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    General,
    Text,
    /// A number that shows so many decimals.
    Decimals(usize),
    Date,
    Time,
    DateTime,
    /// The same, to the millisecond.
    Millis,
    /// A percentage that shows so many decimals.
    Percent(usize),
}

struct Kinds {
    general: Format,
    text: Format,
    date: Format,
    time: Format,
    date_time: Format,
    /// Percentages with so many decimals as the place in the list.
    percent: Vec<Format>,
}

impl Default for Look {
    fn default() -> Look {
        // Beside a text of several lines the others begin where it begins. Being set, a look is also never the bare one, for
        // which a cell takes its column's: a number in a column of texts would be a text once it is edited.
        let top = Format::new().set_align(FormatAlign::Top);
        let marked = top.clone().set_background_color(Color::RGB(0xFF_C7_CE));
        let decimals = (0..=EXACT_DIGITS).map(|places| top.clone().set_num_format(decimal(places)));
        Look {
            header: header(),
            our_header: header().set_background_color(Color::RGB(0xE7_E6_E6)),
            sentence: top.clone().set_num_format("@").set_text_wrap(),
            plain: Kinds::on(&top),
            marked: Kinds::on(&marked),
            decimals: decimals.collect(),
            date_time_millis: top.set_num_format("yyyy-mm-dd hh:mm:ss.000"),
        }
    }
}

impl Look {
    pub fn of(&self, cell: &Cell<'_>, marked: bool) -> Option<&Format> {
        let kinds = if marked { &self.marked } else { &self.plain };
        match cell {
            Cell::Blank if !marked => None,
            Cell::Text(_) => Some(&kinds.text),
            Cell::Date(_) => Some(&kinds.date),
            Cell::Time(_) => Some(&kinds.time),
            Cell::DateTime(_) => Some(&kinds.date_time),
            Cell::Percent(_) => Some(kinds.percent(percent_decimals(cell))),
            _ => Some(&kinds.general),
        }
    }

    /// Of a blank cell at fault in a column that looks so: what a person types there is to be what it is in the cells
    /// around it, and text where nobody knows.
    pub fn missing(&self, kind: Option<Kind>) -> &Format {
        match kind {
            None | Some(Kind::Text) => &self.marked.text,
            Some(Kind::Date) => &self.marked.date,
            Some(Kind::Time) => &self.marked.time,
            Some(Kind::DateTime | Kind::Millis) => &self.marked.date_time,
            Some(Kind::Percent(places)) => self.marked.percent(places),
            Some(Kind::General | Kind::Decimals(_)) => &self.marked.general,
        }
    }

    pub fn format(&self, kind: Kind) -> &Format {
        match kind {
            Kind::General => &self.plain.general,
            Kind::Text => &self.plain.text,
            Kind::Decimals(places) => self.decimals.get(places).unwrap_or(&self.plain.general),
            Kind::Date => &self.plain.date,
            Kind::Time => &self.plain.time,
            Kind::DateTime => &self.plain.date_time,
            Kind::Millis => &self.date_time_millis,
            Kind::Percent(places) => self.plain.percent(places),
        }
    }

    /// Writes one value. A number is one, and shows as many decimals as it has; digits that a double can't keep are text.
    /// In a column of its kind it needs no look of its own, which would take a third of the time. Answers whether the
    /// text was too long and is cut.
    pub fn write_value(
        &self,
        sheet: &mut Worksheet,
        row: u32,
        column: u16,
        value: &Value<'_>,
        column_kind: Option<Kind>,
    ) -> Result<bool, XlsxError> {
        let Some((kind, ready)) = ready(value) else { return Ok(false) };
        let is_cut = matches!(&ready, Ready::Text(text) if is_cut(text)) && is_too_long(value);
        let format = (column_kind != Some(kind)).then(|| self.format(kind));
        match (ready, format) {
            (Ready::Text(text), None) => sheet.write_string(row, column, text)?,
            (Ready::Text(text), Some(format)) => sheet.write_string_with_format(row, column, text, format)?,
            (Ready::Number(number), None) => sheet.write_number(row, column, number)?,
            (Ready::Number(number), Some(format)) => sheet.write_number_with_format(row, column, number, format)?,
            (Ready::Boolean(boolean), _) => sheet.write_boolean(row, column, boolean)?,
            (Ready::DateTime(at), None) => sheet.write_datetime(row, column, at)?,
            (Ready::DateTime(at), Some(format)) => sheet.write_datetime_with_format(row, column, at, format)?,
        };
        Ok(is_cut)
    }
}

/// The kind of a cell, as which its column may look; nothing for a blank.
pub fn cell_kind(cell: &Cell<'_>) -> Option<Kind> {
    match cell {
        Cell::Blank | Cell::Text("") => None,
        Cell::Text(_) => Some(Kind::Text),
        Cell::Date(_) => Some(Kind::Date),
        Cell::Time(_) => Some(Kind::Time),
        Cell::DateTime(_) => Some(Kind::DateTime),
        Cell::Percent(_) => Some(Kind::Percent(percent_decimals(cell))),
        Cell::Number(_) | Cell::Boolean(_) | Cell::Error(_) => Some(Kind::General),
    }
}

/// The kind of a value, as which its column may look; nothing for a blank.
pub fn kind(value: &Value<'_>) -> Option<Kind> {
    ready(value).map(|(kind, _)| kind)
}

/// A value as a workbook takes it.
enum Ready<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    Boolean(bool),
    DateTime(ExcelDateTime),
}

fn ready<'a>(value: &'a Value<'_>) -> Option<(Kind, Ready<'a>)> {
    let number = |digits: &'a str| match exact(digits) {
        Some((number, Some(places))) => (Kind::Decimals(places), Ready::Number(number)),
        Some((number, None)) => (Kind::General, Ready::Number(number)),
        None => (Kind::Text, Ready::Text(cut(digits))),
    };
    Some(match value {
        Value::Blank => return None,
        Value::Text(text) if text.starts_with('\'') => {
            (Kind::Text, Ready::Text(Cow::Owned(cut(&kept(text)).into_owned())))
        }
        Value::Text(text) => (Kind::Text, Ready::Text(cut(text))),
        Value::Boolean(boolean) => (Kind::General, Ready::Boolean(*boolean)),
        Value::Number(digits) => number(digits),
        Value::Digits(digits) => number(digits),
        Value::DateTime { at, text } => {
            let nanos = at.subsec_nanosecond();
            let kind = if nanos == 0 { Kind::DateTime } else { Kind::Millis };
            match serial(&Cell::DateTime(*at)).filter(|_| nanos % 1_000_000 == 0) {
                Some(serial) => (kind, Ready::DateTime(serial)),
                None => (Kind::Text, Ready::Text(cut(text))),
            }
        }
    })
}

/// Whether a value is text that is longer than a cell can be.
fn is_too_long(value: &Value<'_>) -> bool {
    match value {
        Value::Text(text) => cut_text(text).is_some(),
        Value::Number(text) | Value::DateTime { text, .. } => cut_text(text).is_some(),
        Value::Digits(text) => cut_text(text).is_some(),
        Value::Blank | Value::Boolean(_) => false,
    }
}

/// The double that means these digits and no others, and how many of them are decimals where there is no exponent.
fn exact(digits: &str) -> Option<(f64, Option<usize>)> {
    if digits.bytes().filter(u8::is_ascii_digit).count() > EXACT_DIGITS {
        return None;
    }
    let number: f64 = digits.parse().ok().filter(|number: &f64| number.is_finite())?;
    let places = match digits.split_once('.') {
        _ if digits.contains(['e', 'E']) => None,
        Some((_, places)) => Some(places.len()),
        None => Some(0),
    };
    Some((number, places))
}

impl Kinds {
    fn on(base: &Format) -> Kinds {
        let with = |number_format: &str| base.clone().set_num_format(number_format);
        Kinds {
            general: base.clone(),
            // A text that a person mends in place stays text: 0042 does not become 42.
            text: with("@"),
            date: with("yyyy-mm-dd"),
            time: with("hh:mm:ss"),
            date_time: with("yyyy-mm-dd hh:mm:ss"),
            percent: (0..=EXACT_DIGITS).map(|places| with(&format!("{}%", decimal(places)))).collect(),
        }
    }

    fn percent(&self, places: usize) -> &Format {
        self.percent.get(places).or(self.percent.last()).unwrap_or(&self.general)
    }
}

/// The number format that shows so many decimals.
fn decimal(places: usize) -> String {
    match places {
        0 => "0".to_owned(),
        places => format!("0.{}", "0".repeat(places)),
    }
}

/// The decimals that a percentage has, as it is shown.
fn percent_decimals(cell: &Cell<'_>) -> usize {
    cell.shown().split_once('.').map_or(0, |(_, decimals)| decimals.len() - 1)
}

/// Writes one cell; without a format it looks as its column does. Text is never a formula; a date or number that Excel
/// has no value for is written as text. Answers whether the text was too long and is cut.
pub fn write(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    cell: &Cell<'_>,
    format: Option<&Format>,
) -> Result<bool, XlsxError> {
    let text = |sheet: &mut Worksheet, text: &str| {
        let text = cut(text);
        let is_cut = matches!(text, Cow::Owned(_));
        match format {
            Some(format) => sheet.write_string_with_format(row, column, text, format)?,
            None => sheet.write_string(row, column, text)?,
        };
        Ok(is_cut)
    };
    match (cell, format) {
        (Cell::Blank, None) => sheet,
        (Cell::Blank, Some(format)) => sheet.write_blank(row, column, format)?,
        (Cell::Boolean(boolean), None) => sheet.write_boolean(row, column, *boolean)?,
        (Cell::Boolean(boolean), Some(format)) => sheet.write_boolean_with_format(row, column, *boolean, format)?,
        (Cell::Number(number) | Cell::Percent(number), None) if number.is_finite() => {
            sheet.write_number(row, column, *number)?
        }
        (Cell::Number(number) | Cell::Percent(number), Some(format)) if number.is_finite() => {
            sheet.write_number_with_format(row, column, *number, format)?
        }
        (Cell::Date(_) | Cell::Time(_) | Cell::DateTime(_), format) => match (serial(cell), format) {
            (Some(at), None) => sheet.write_datetime(row, column, at)?,
            (Some(at), Some(format)) => sheet.write_datetime_with_format(row, column, at, format)?,
            (None, _) => return text(sheet, &cell.shown()),
        },
        (Cell::Text(said), _) => return text(sheet, &kept(said)),
        (Cell::Error(_) | Cell::Number(_) | Cell::Percent(_), _) => return text(sheet, &cell.shown()),
    };
    Ok(false)
}

/// Nothing for what Excel can't count: before 1900 and past 9999.
fn serial(cell: &Cell<'_>) -> Option<ExcelDateTime> {
    let (date, time) = match cell {
        Cell::Date(date) => (Some(*date), None),
        Cell::Time(time) => (None, Some(*time)),
        Cell::DateTime(at) => (Some(at.date()), Some(at.time())),
        _ => return None,
    };
    let clock = time.map(|time| {
        let (hour, minute, second) = (time.hour() as u16, time.minute() as u8, time.second() as u8);
        (hour, minute, second, (time.subsec_nanosecond() / 1_000_000) as u16)
    });
    match (date, clock) {
        (Some(date), clock) => {
            let year = u16::try_from(date.year()).ok()?;
            let day = ExcelDateTime::from_ymd(year, date.month() as u8, date.day() as u8).ok()?;
            match clock {
                Some((hour, minute, second, milli)) => day.and_hms_milli(hour, minute, second, milli).ok(),
                None => Some(day),
            }
        }
        (None, Some((hour, minute, second, milli))) => ExcelDateTime::from_hms_milli(hour, minute, second, milli).ok(),
        (None, None) => None,
    }
}

/// Text that a spreadsheet would run is harmless in a workbook. Only an apostrophe of its own before it would be taken for
/// ours when the file is read again: it gets another one, as [`restore`](super::defuse::restore) wants it.
fn kept(text: &str) -> Cow<'_, str> {
    if text.starts_with('\'') { defuse(text) } else { Cow::Borrowed(text) }
}

/// `text`, or its beginning and a mark where it is longer than a cell can be.
pub fn cut(text: &str) -> Cow<'_, str> {
    cut_to(text, MAX_TEXT, CUT)
}

/// Whether a text bears the mark of one that was cut.
pub fn is_cut(text: &str) -> bool {
    text.len() >= CUT_FROM && text.ends_with(CUT) && units(text) >= CUT_FROM
}

/// What a cell of a workbook has of a text that is too long for it; nothing for any other.
pub fn cut_text(text: &str) -> Option<String> {
    if text.len() < MAX_TEXT {
        return None;
    }
    match cut(&kept(text)) {
        Cow::Owned(cut) => Some(cut),
        Cow::Borrowed(_) => None,
    }
}

pub fn note(text: &str) -> Note {
    let text = cut_to(text, MAX_NOTE, CUT);
    let lines = 2 + text.lines().map(|line| 1 + line.chars().count() / 40).sum::<usize>();
    let height = (lines * 16).clamp(40, 320) as u32;
    Note::new(text).set_author("sheetport").add_author_prefix(false).set_width(280).set_height(height)
}

/// The characters that a header shows, with its filter's button.
pub fn title_width(title: &str) -> usize {
    title.chars().count() + 3
}

/// The characters that a cell shows. A date or number in too narrow a column is shown as ####.
pub fn cell_width(cell: &Cell<'_>) -> usize {
    match cell {
        Cell::Blank => 0,
        Cell::Text(text) => text.lines().next().unwrap_or_default().chars().take(MAX_WIDTH).count(),
        Cell::Date(_) => 11,
        Cell::Time(_) => 9,
        Cell::DateTime(_) => 20,
        cell => cell.shown().len() + 1,
    }
}

/// The same for a value.
pub fn value_width(value: &Value<'_>) -> usize {
    match value {
        Value::Blank => 0,
        Value::Text(text) => cell_width(&Cell::Text(text)),
        Value::Number(digits) => digits.len() + 1,
        Value::Digits(digits) => digits.len() + 1,
        Value::Boolean(_) => 6,
        Value::DateTime { .. } => 24,
    }
}

/// A column's width for so many characters: never so narrow that it is lost, or so wide that it hides the others.
pub fn width(characters: usize) -> f64 {
    characters.clamp(8, MAX_WIDTH) as f64
}

/// The format of a table's header.
pub fn header() -> Format {
    Format::new().set_bold().set_background_color(Color::RGB(0xD9_E2_F3)).set_align(FormatAlign::Top)
}

/// The states of rows, each with the colour that it has everywhere.
pub const TONES: [(&str, Color); 7] = [
    ("sent", Color::RGB(0xC6_EF_CE)),
    ("unchanged", Color::RGB(0xED_ED_ED)),
    ("skipped", Color::RGB(0xED_ED_ED)),
    ("rejected", Color::RGB(0xFF_C7_CE)),
    ("failed", Color::RGB(0xFF_C7_CE)),
    ("unknown", Color::RGB(0xFF_EB_9C)),
    ("pending", Color::RGB(0xDD_EB_F7)),
];

pub fn tone(state: &str) -> Option<Color> {
    TONES.into_iter().find(|(name, _)| *name == state).map(|(_, tone)| tone)
}

pub fn sentence_width() -> f64 {
    SENTENCE_WIDTH
}

/// The height of a row with such a text in a column of that width, which breaks it into lines; nothing for one line.
pub fn height(text: &str, width: f64) -> Option<f64> {
    const LINE: f64 = 15.0;
    const HIGHEST: f64 = 400.0;
    // Lines end between words, so they are seldom full; letters are narrower than the digits by which widths are counted.
    let full = width;
    if (text.len() as f64) <= full && !text.contains('\n') {
        return None;
    }
    let lines: f64 = text.lines().map(|line| (line.chars().count() as f64 / full).ceil().max(1.0)).sum();
    (lines > 1.0).then(|| (lines * LINE).min(HIGHEST))
}

/// A name that Excel accepts, as near to `name` as can be.
pub fn sheet_name(name: &str) -> String {
    let allowed = |c: char| !matches!(c, '[' | ']' | ':' | '*' | '?' | '/' | '\\') && !c.is_control();
    let clean: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    let short = cut_to(clean.trim().trim_matches('\''), MAX_SHEET_NAME, "");
    let short = short.trim_matches(['\'', ' ']);
    // Excel keeps this name to itself.
    if short.is_empty() || short.eq_ignore_ascii_case("history") {
        format!("Sheet {short}").trim().to_owned()
    } else {
        short.to_owned()
    }
}

/// The name of the sheet at `number`, from 1, of those that a table of that name fills.
pub fn numbered_sheet_name(name: &str, number: usize) -> String {
    if number == 1 {
        return name.to_owned();
    }
    let suffix = format!(" {number}");
    let name = cut_to(name, MAX_SHEET_NAME - suffix.len(), "");
    format!("{name}{suffix}")
}

/// At most `max` UTF-16 units, which is how Excel counts, `mark` included.
fn cut_to<'a>(text: &'a str, max: usize, mark: &str) -> Cow<'a, str> {
    if text.len() <= max || units(text) <= max {
        return Cow::Borrowed(text);
    }
    let room = max - units(mark);
    let mut used = 0;
    let kept: String = text
        .chars()
        .take_while(|c| {
            used += c.len_utf16();
            used <= room
        })
        .collect();
    Cow::Owned(kept + mark)
}

/// The length of a text as Excel counts it.
fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheet_names_are_what_excel_accepts() {
        for (name, accepted) in [
            ("Items", "Items"),
            ("a/b:c[d]", "a_b_c_d_"),
            ("'quoted'", "quoted"),
            ("", "Sheet"),
            ("history", "Sheet history"),
            ("a very long name of a sheet that is cut", "a very long name of a sheet tha"),
        ] {
            assert_eq!(sheet_name(name), accepted);
        }
        assert_eq!(numbered_sheet_name("Items", 1), "Items");
        assert_eq!(numbered_sheet_name("a very long name of a sheet tha", 12), "a very long name of a sheet  12");
    }

    #[test]
    fn a_number_is_one_where_a_double_keeps_its_digits() {
        for (digits, read) in [
            ("0", Some((0.0, Some(0)))),
            ("-19.90", Some((-19.9, Some(2)))),
            ("4006381333931", Some((4_006_381_333_931.0, Some(0)))),
            ("1e5", Some((100_000.0, None))),
            ("123456789012345", Some((123_456_789_012_345.0, Some(0)))),
            ("1234567890123456", None),
            ("0.1234567890123456", None),
            ("1e999", None),
        ] {
            assert_eq!(exact(digits), read, "{digits}");
        }
    }

    #[test]
    fn long_text_is_cut_with_a_mark_counted_as_excel_counts() {
        assert_eq!(cut("short"), "short");
        let long = cut(&"😀".repeat(20_000)).into_owned();
        assert!(long.ends_with(CUT));
        assert!(long.encode_utf16().count() <= MAX_TEXT);
        assert_eq!(cut(&"a".repeat(MAX_TEXT)).len(), MAX_TEXT);
        assert!(is_cut(&long) && !is_cut(&"a".repeat(MAX_TEXT)) && !is_cut("as he wrote … [cut]"));
        assert_eq!(
            (cut_text(&"a".repeat(MAX_TEXT)), cut_text(&"'=a".repeat(MAX_TEXT / 3 + 1)).is_some()),
            (None, true)
        );
    }
}
