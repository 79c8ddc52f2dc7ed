//! Number formats of OpenDocument styles (ODF 1.3, part 3, chapter 16), as format codes of Excel.

use std::collections::HashMap;

use super::super::tag::Tag;
use crate::read::workbook::styles::{NumberFormat, SYSTEM_FORMAT};

/// Styles refer to parents, possibly in a circle.
const MAX_PARENTS: usize = 16;
/// Maximum number of styles.
const MAX_ENTRIES: usize = 1 << 16;
/// Excel's limit on the length of a format.
const MAX_CODE: usize = 255;
/// Styles of numbers, dates and times. A style of texts can refer to some, as formats with a fourth section do.
const NUMBER_STYLES: [&str; 6] = [
    "number:number-style",
    "number:percentage-style",
    "number:currency-style",
    "number:date-style",
    "number:time-style",
    "number:text-style",
];
/// Marks for the languages of formats, in Excel's notation: English, and any other language.
const ENGLISH: &str = "[$-409]";
const OTHER_LANGUAGE: &str = "[$-407]";
/// Letters of dates and times: the element, and the codes of its short and long forms.
const FIELDS: [(&str, &str, &str); 7] = [
    ("number:day", "d", "dd"),
    ("number:day-of-week", "ddd", "dddd"),
    ("number:year", "yy", "yyyy"),
    ("number:hours", "h", "hh"),
    ("number:minutes", "m", "mm"),
    ("number:seconds", "s", "ss"),
    ("number:am-pm", "AM/PM", "AM/PM"),
];

/// The styles of a document.
#[derive(Debug, Default)]
pub(super) struct Styles {
    /// Number styles by name.
    codes: HashMap<String, NumberStyle>,
    /// Styles of cells by name; the default style has an empty name.
    cells: HashMap<String, CellStyle>,
    open: Open,
}

#[derive(Debug, Default)]
struct NumberStyle {
    /// The code of a single section.
    code: String,
    /// Whether hours are counted beyond a day.
    is_elapsed: bool,
    /// Conditions, each with the name of the style for numbers that meet it.
    maps: Vec<(String, String)>,
}

#[derive(Debug, Default)]
struct CellStyle {
    number_style: Option<String>,
    parent: Option<String>,
}

/// The element being read.
#[derive(Debug, Default)]
enum Open {
    #[default]
    None,
    Number {
        name: String,
        style: NumberStyle,
        is_percentage: bool,
        digits: Option<Digits>,
    },
}

/// The digits of a number style, with texts between them.
#[derive(Debug)]
struct Digits {
    integer: usize,
    /// Maximum number of decimals, or `None` without a limit.
    decimals: Option<usize>,
    min_decimals: usize,
    is_grouped: bool,
    /// The number is shown divided by a thousand, this many times.
    thousands: usize,
    /// Texts, each with the number of digits to its right.
    embedded: Vec<(usize, String)>,
}

impl Styles {
    /// Reads a tag of a part with styles.
    pub(super) fn read(&mut self, tag: &Tag<'_>) {
        if matches!(tag.name, "style:style" | "style:default-style") {
            if tag.attribute("style:family").as_deref() == Some("table-cell") && self.cells.len() < MAX_ENTRIES {
                let text = |name: &str| tag.attribute(name).map(|value| value.into_owned());
                let style =
                    CellStyle { number_style: text("style:data-style-name"), parent: text("style:parent-style-name") };
                self.cells.insert(text("style:name").unwrap_or_default(), style);
            }
        } else if NUMBER_STYLES.contains(&tag.name) && !tag.is_empty {
            self.open = Open::Number {
                name: tag.attribute("style:name").unwrap_or_default().into_owned(),
                style: NumberStyle::of(tag),
                is_percentage: tag.name == "number:percentage-style",
                digits: None,
            };
        } else if let Open::Number { name, style, is_percentage, digits } = &mut self.open {
            if tag.name.strip_prefix('/').is_some_and(|name| NUMBER_STYLES.contains(&name)) {
                if self.codes.len() < MAX_ENTRIES {
                    self.codes.insert(std::mem::take(name), std::mem::take(style));
                }
                self.open = Open::None;
            } else {
                style.read(tag, *is_percentage, digits);
            }
        }
    }

    /// Returns the number format of a cell style.
    pub(super) fn format(&self, name: &str) -> Option<NumberFormat> {
        let mut style = self.cells.get(name);
        for _ in 0..MAX_PARENTS {
            let found = style?;
            if let Some(name) = &found.number_style {
                return NumberFormat::parse(&self.code(self.codes.get(name)?));
            }
            style = self.cells.get(found.parent.as_deref().unwrap_or_default());
        }
        None
    }

    /// Returns the format code of a number style, with its conditions.
    fn code(&self, style: &NumberStyle) -> String {
        let mut code = String::new();
        for (condition, name) in &style.maps {
            if let (Some(condition), Some(section)) = (condition.strip_prefix("value()"), self.codes.get(name)) {
                // Excel writes <> for !=.
                let condition = condition.replace("!=", "<>");
                code.push_str(&format!("[{}]{};", condition.trim(), section.code));
            }
        }
        code + &style.code
    }
}

impl NumberStyle {
    /// Returns the style at the start of its element.
    fn of(tag: &Tag<'_>) -> NumberStyle {
        let is_date = matches!(tag.name, "number:date-style" | "number:time-style");
        let language = match tag.attribute("number:language").as_deref() {
            _ if !is_date => "",
            _ if tag.attribute("number:format-source").as_deref() == Some("language") => SYSTEM_FORMAT,
            Some("en") => ENGLISH,
            None | Some("") => "",
            Some(_) => OTHER_LANGUAGE,
        };
        let is_elapsed = tag.attribute("number:truncate-on-overflow").as_deref() == Some("false");
        NumberStyle { code: language.to_owned(), maps: Vec::new(), is_elapsed }
    }

    fn read(&mut self, tag: &Tag<'_>, is_percentage: bool, digits: &mut Option<Digits>) {
        if self.code.len() > MAX_CODE {
            return;
        }
        match tag.name {
            "number:number" => {
                let count = |name: &str| tag.number(name).map(|count| count as usize);
                let decimals = count("number:decimal-places");
                let factor = tag.attribute("number:display-factor").unwrap_or_default();
                let read = Digits {
                    integer: count("number:min-integer-digits").unwrap_or(0),
                    decimals,
                    min_decimals: count("number:min-decimal-places").or(decimals).unwrap_or(0),
                    is_grouped: tag.attribute("number:grouping").as_deref() == Some("true"),
                    thousands: factor.bytes().filter(|byte| *byte == b'0').count() / 3,
                    embedded: Vec::new(),
                };
                if tag.is_empty { self.code.push_str(&read.code()) } else { *digits = Some(read) }
            }
            "number:embedded-text" => {
                if let (Some(digits), Some(at)) = (digits, tag.number("number:position")) {
                    digits.embedded.push((at as usize, tag.text().into_owned()));
                }
            }
            "/number:number" => {
                if let Some(digits) = digits.take() {
                    self.code.push_str(&digits.code());
                }
            }
            "number:scientific-number" => self.code.push_str("0E+00"),
            "number:fraction" => self.code.push_str("# ?/?"),
            "number:text" if is_percentage => {
                let text = tag.text();
                let parts: Vec<String> = text.split('%').map(quoted).collect();
                self.code.push_str(&parts.join("%"));
            }
            "number:text" => self.code.push_str(&quoted(&tag.text())),
            "number:month" if tag.attribute("number:textual").as_deref() == Some("true") => {
                self.code.push_str(if is_long(tag) { "mmmm" } else { "mmm" });
            }
            "number:month" => self.code.push_str(if is_long(tag) { "mm" } else { "m" }),
            "number:quarter" | "number:week-of-year" | "number:era" => self.code.push_str(SYSTEM_FORMAT),
            name if let Some((_, short, long)) = FIELDS.iter().find(|(field, _, _)| *field == name) => {
                let field = if is_long(tag) { *long } else { *short };
                // The first field of an elapsed time has no limit.
                match std::mem::take(&mut self.is_elapsed) {
                    true => self.code.push_str(&format!("[{field}]")),
                    false => self.code.push_str(field),
                }
                if let ("number:seconds", Some(decimals @ 1..)) = (name, tag.number("number:decimal-places")) {
                    self.code.push('.');
                    self.code.extend(std::iter::repeat_n('0', (decimals as usize).min(MAX_CODE)));
                }
            }
            "number:currency-symbol" => self.code.push_str(&format!("[${}]", tag.text())),
            "number:text-content" => self.code.push('@'),
            "style:map" => {
                let text = |name: &str| tag.attribute(name).map(|value| value.into_owned());
                self.maps.extend(text("style:condition").zip(text("style:apply-style-name")));
            }
            _ => {}
        }
    }
}

impl Digits {
    fn code(&self) -> String {
        let mut code = String::new();
        if self.decimals.is_none() && self.integer <= 1 && !self.is_grouped && self.embedded.is_empty() {
            return "General".to_owned();
        }
        let decimals = self.decimals.unwrap_or(0).min(MAX_CODE);
        if self.is_grouped {
            // At least one separator, between optional digits.
            for left in (1..=self.integer.clamp(4, MAX_CODE)).rev() {
                code.push(if left <= self.integer { '0' } else { '#' });
                code.extend((left > 1 && left % 3 == 1).then_some(','));
            }
        } else {
            let embedded = self.embedded.iter().map(|(at, _)| at.saturating_add(1)).max();
            let places = self.integer.max(embedded.unwrap_or(1)).min(MAX_CODE);
            for left in (1..=places).rev() {
                code.push(if left <= self.integer { '0' } else { '#' });
                let here = self.embedded.iter().filter(|(at, _)| *at == left - 1 && *at > 0);
                code.extend(here.map(|(_, text)| quoted(text)));
            }
        }
        if decimals > 0 {
            code.push('.');
            code.extend((0..decimals).map(|place| if place < self.min_decimals { '0' } else { '#' }));
        }
        code.extend(std::iter::repeat_n(',', self.thousands.min(MAX_CODE)));
        code
    }
}

/// Whether a field of a date or time has its long form.
fn is_long(tag: &Tag<'_>) -> bool {
    tag.attribute("number:style").as_deref() == Some("long")
}

/// Returns a literal text of a format code.
fn quoted(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\"{}\"", text.replace('"', "")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cell;

    fn shown(xml: &str, number: f64) -> Option<String> {
        let xml =
            format!("{xml}<style:style style:name=\"c\" style:family=\"table-cell\" style:data-style-name=\"n\"/>");
        let mut styles = Styles::default();
        xml.split_inclusive('<').filter_map(|piece| Tag::parse(piece.as_bytes())).for_each(|tag| styles.read(&tag));
        let mut text = String::new();
        let cell = styles.format("c")?.cell(number, &mut text);
        cell.filter(|cell| !matches!(cell, Cell::Rounded(..))).map(|cell| cell.shown().into_owned())
    }

    #[test]
    fn styles_are_read_like_format_codes() {
        for (style, number, expected) in [
            (
                "number:number-style|<number:number number:min-integer-digits=\"5\" number:decimal-places=\"0\"/>",
                42.0,
                Some("00042"),
            ),
            (
                "number:number-style|<number:number number:min-integer-digits=\"6\"><number:embedded-text number:position=\"3\">-\
                 </number:embedded-text></number:number>",
                1234.0,
                Some("001-234"),
            ),
            (
                "number:number-style|<number:text>SKU-</number:text><number:number number:min-integer-digits=\"4\"/>",
                7.0,
                Some("SKU-0007"),
            ),
            (
                "number:percentage-style|<number:number number:min-integer-digits=\"1\" number:decimal-places=\"1\"/><number:text> %</number:text>",
                0.195,
                Some("19.5%"),
            ),
            (
                "number:currency-style|<number:number number:grouping=\"true\" number:decimal-places=\"2\"/><number:text> </number:text>\
                 <number:currency-symbol number:language=\"de\" number:country=\"DE\">€</number:currency-symbol>",
                5.5,
                Some("5.5 €"),
            ),
            (
                "number:number-style|<number:number number:decimal-places=\"2\"/><number:text> EUR</number:text>",
                5.5,
                Some("5.5 EUR"),
            ),
            (
                "number:number-style|<number:number number:decimal-places=\"2\"/><number:text>%</number:text>",
                5.5,
                Some("5.50%"),
            ),
            ("number:number-style|<number:number number:min-integer-digits=\"1\"/>", 42.0, None),
            (
                "number:number-style|<number:number number:min-integer-digits=\"2\" number:decimal-places=\"2\"/>",
                4.0,
                None,
            ),
            (
                "number:number-style|<number:number number:min-integer-digits=\"1\" number:display-factor=\"1000\" \
                 number:decimal-places=\"1\"/>",
                4000.0,
                Some("4.0"),
            ),
            (
                "number:number-style|<number:text>R-</number:text><number:number number:min-integer-digits=\"1\"/>",
                5001.0,
                Some("R-5001"),
            ),
            (
                "number:number-style|<number:number number:decimal-places=\"3\" number:min-decimal-places=\"1\"/><number:text> kg</number:text>",
                5.0,
                Some("5.0 kg"),
            ),
            ("number:number-style|<number:text>on request</number:text>", 0.0, Some("on request")),
            (
                "number:number-style|<number:number number:decimal-places=\"0\" number:min-integer-digits=\"0\"><number:embedded-text \
                 number:position=\"4\">-</number:embedded-text></number:number>",
                5_551_234.0,
                Some("555-1234"),
            ),
        ] {
            let (element, content) = style.split_once('|').expect("an element");
            let xml = format!("<{element} style:name=\"n\">{content}</{element}>");
            assert_eq!(shown(&xml, number).as_deref(), expected, "{xml}");
        }
    }

    #[test]
    fn conditions_choose_the_style() {
        let part = |name: &str, digits: u32, more: &str| {
            format!(
                "<number:number-style style:name=\"{name}\"><number:number number:min-integer-digits=\"{digits}\"/>{more}\
                 </number:number-style>"
            )
        };
        let map = "<style:map style:condition=\"value()&lt;=99999\" style:apply-style-name=\"p\"/>";
        let xml = part("p", 5, "") + &part("n", 9, map);
        assert_eq!(shown(&xml, 501.0).as_deref(), Some("00501"));
        assert_eq!(shown(&xml, 12_345_678.0).as_deref(), Some("012345678"));
    }

    #[test]
    fn a_style_of_texts_refers_to_those_of_numbers() {
        let xml = "<number:currency-style style:name=\"p\"><number:number number:decimal-places=\"2\"/>\
                   <number:currency-symbol>€</number:currency-symbol></number:currency-style>\
                   <number:text-style style:name=\"n\"><number:text-content/>\
                   <style:map style:condition=\"value()&gt;0\" style:apply-style-name=\"p\"/></number:text-style>";
        assert_eq!(shown(xml, 5.5).as_deref(), Some("5.5 €"));
    }

    #[test]
    fn cycles_of_parent_styles_are_broken() {
        let mut styles = Styles::default();
        let xml = "<number:number-style style:name=\"n\"><number:number number:min-integer-digits=\"3\"/></number:number-style>\
                   <style:default-style style:family=\"table-cell\" style:data-style-name=\"n\"/>\
                   <style:style style:name=\"a\" style:family=\"table-cell\" style:parent-style-name=\"b\"/>\
                   <style:style style:name=\"b\" style:family=\"table-cell\" style:parent-style-name=\"a\"/>\
                   <style:style style:name=\"c\" style:family=\"table-cell\"/>";
        xml.split_inclusive('<').filter_map(|piece| Tag::parse(piece.as_bytes())).for_each(|tag| styles.read(&tag));
        assert_eq!(styles.format("a"), None);
        assert!(styles.format("c").is_some());
    }
}
