//! The value of a table's cell: its text, or the stored value that Excel, LibreOffice or SheetJS wrote beside it.

use html5gum::StartTag;

use super::attributes::attribute;
use super::stylesheet::{Stylesheet, number_format};
use crate::Cell;
use crate::read::workbook::styles::Display;

/// The attributes that determine the value of a cell.
#[derive(Debug, Default)]
pub(super) struct Stored {
    value: Option<Value>,
    /// The number format of the cell, if any.
    display: Option<Display>,
}

#[derive(Debug)]
enum Value {
    Text(String),
    /// The text of the cell.
    OwnText,
    Number(f64),
    /// The text of the cell as a number.
    OwnNumber,
    Boolean(bool),
    Error(String),
    /// A number stored by LibreOffice, with its format. Booleans and errors are also stored as numbers.
    Sd(f64, String),
}

impl Stored {
    pub(super) fn new(tag: &StartTag<()>, styles: &Stylesheet) -> Stored {
        let value_of = |name: &str| attribute(tag, name).map(|value| value.trim().to_owned());
        let number =
            |text: String| if text.is_empty() { Some(Value::OwnNumber) } else { plain(&text).map(Value::Number) };
        let excel = || {
            let text = || attribute(tag, "x:str").map(|text| text.into_owned());
            (value_of("x:err").map(Value::Error))
                .or_else(|| value_of("x:bool").map(|text| Value::Boolean(is_true(&text))))
                .or_else(|| text().map(|text| if text.is_empty() { Value::OwnText } else { Value::Text(text) }))
                .or_else(|| value_of("x:num").and_then(number))
        };
        let libre_office = || {
            let number = plain(&value_of("sdval")?)?;
            let format = value_of("sdnum").unwrap_or_default();
            Some(Value::Sd(number, format.splitn(3, ';').nth(2).unwrap_or_default().to_owned()))
        };
        let sheet_js = || match (value_of("data-t")?.as_str(), value_of("data-v")?) {
            ("n", text) => plain(&text).map(Value::Number),
            ("b", text) => Some(Value::Boolean(is_true(&text))),
            _ => None,
        };
        let value = excel().or_else(libre_office).or_else(sheet_js);
        let own = attribute(tag, "style").and_then(|style| number_format(&style));
        let by_class = || attribute(tag, "class").and_then(|class| styles.of_classes(&class).cloned());
        let sheet_js = || value_of("data-z").map(|code| Display::parse(&code));
        Stored { value, display: own.or_else(by_class).or_else(sheet_js) }
    }

    /// Returns the cell with this text, using `buffer` for a text made of a number.
    pub(super) fn cell<'t>(&'t self, text: &'t str, buffer: &'t mut String) -> Cell<'t> {
        let shown = if text.chars().all(char::is_whitespace) { Cell::Blank } else { Cell::Text(text) };
        let plain_display = Display::Number;
        let display = self.display.as_ref().unwrap_or(&plain_display);
        match &self.value {
            Some(Value::Text(text)) => Cell::Text(text),
            Some(Value::OwnText) => shown,
            Some(Value::Number(number)) => display.cell(*number, false, buffer),
            Some(Value::OwnNumber) => plain(text).map_or(shown, |number| display.cell(number, false, buffer)),
            Some(Value::Boolean(value)) => Cell::Boolean(*value),
            Some(Value::Error(error)) => Cell::Error(if error.is_empty() { text } else { error }),
            Some(Value::Sd(number, code)) => match Display::parse_localized(code) {
                _ if code.eq_ignore_ascii_case("boolean") => Cell::Boolean(*number != 0.0),
                // The number of an error or a word is 0, or a date's in another language.
                Some(display) if text.bytes().any(|byte| byte.is_ascii_digit()) && !text.starts_with('#') => {
                    display.cell(*number, false, buffer)
                }
                _ => shown,
            },
            None => self.display.as_ref().and_then(|display| by_format(display, text, buffer)).unwrap_or(shown),
        }
    }
}

impl Stored {
    /// Returns the displayed text of a cell with a stored value, if different from the text of its value.
    pub(super) fn shown<'t>(&self, cell: &Cell<'_>, text: &'t str) -> Option<&'t str> {
        let has_value = matches!(self.value, Some(Value::Number(_) | Value::Sd(..)));
        let has_no_value = matches!(cell, Cell::Blank | Cell::Error(_));
        // Excel writes # for numbers too long for their column.
        let is_hidden = !text.is_empty() && text.bytes().all(|byte| byte == b'#');
        (has_value && !has_no_value && !is_hidden && cell.shown() != text).then_some(text)
    }
}

/// Applies a number format to a text that is certainly a number. Some programs write formats but no values.
fn by_format<'t>(display: &Display, text: &str, buffer: &'t mut String) -> Option<Cell<'t>> {
    let Display::Format(format) = display else { return None };
    // Three digits after the point may be thousands.
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let number = plain(text).filter(|_| decimals != 3)?;
    format.cell(number, buffer)
}

/// Parses a number in stored form: with a point and without other separators.
fn plain(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    text.parse().ok().filter(|number: &f64| is_number && number.is_finite())
}

fn is_true(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text == "1"
}
