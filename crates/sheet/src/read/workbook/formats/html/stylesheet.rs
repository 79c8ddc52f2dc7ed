//! Excel's number formats in style sheets: `.xl24 {mso-number-format:"0\.00";}`.

use std::collections::HashMap;

use crate::read::workbook::styles::Display;

const PROPERTY: &str = "mso-number-format";
/// Maximum number of classes.
const MAX_CLASSES: usize = 1 << 16;

/// Number formats by class.
#[derive(Debug, Default)]
pub(super) struct Stylesheet {
    classes: HashMap<String, Display>,
}

impl Stylesheet {
    /// Reads the text of a style element.
    pub(super) fn read(&mut self, css: &str) {
        for rule in css.split('}') {
            let Some((selectors, properties)) = rule.split_once('{') else { continue };
            let Some(display) = number_format(properties) else { continue };
            for selector in selectors.rsplit(['>', '/']).next().unwrap_or_default().split(',') {
                let class = selector.rsplit_once('.').map(|(_, class)| class.trim());
                if let Some(class) = class.filter(|class| !class.is_empty() && self.classes.len() < MAX_CLASSES) {
                    self.classes.insert(class.to_owned(), display.clone());
                }
            }
        }
    }

    /// Returns the number format of a cell with these classes.
    pub(super) fn of_classes(&self, classes: &str) -> Option<&Display> {
        classes.split_ascii_whitespace().rev().find_map(|class| self.classes.get(class))
    }
}

/// Returns the number format among the properties of a style.
pub(super) fn number_format(properties: &str) -> Option<Display> {
    let at = properties.to_ascii_lowercase().find(PROPERTY)?;
    let value = properties[at + PROPERTY.len()..].trim_start().strip_prefix(':')?;
    Some(Display::parse(&unescaped(value.trim_start())))
}

/// Returns the first value of a style without its quotes and escapes.
fn unescaped(value: &str) -> String {
    let (quote, value) = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => (Some(quote), &value[1..]),
        _ => (None, value),
    };
    let (mut text, mut chars) = (String::new(), value.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let mut digits = String::new();
                while let Some(digit) = chars.next_if(|c| c.is_ascii_hexdigit() && digits.len() < 6) {
                    digits.push(digit);
                    // Excel writes four digits, so further digits belong to the format.
                    if digits.len() == 4 {
                        break;
                    }
                }
                // An escape such as `\0` before a non-digit stands for the digit itself.
                match u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4).and_then(char::from_u32) {
                    Some(c) => text.push(c),
                    None if digits.is_empty() => text.extend(chars.next()),
                    None => text.push_str(&digits),
                }
            }
            c if Some(c) == quote || quote.is_none() && c == ';' => break,
            c => text.push(c),
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_unescaped() {
        for (value, code) in [
            ("\"\\@\";mso-x:1", "@"),
            ("\\@", "@"),
            ("General;", "General"),
            ("\"0\\.00\"", "0.00"),
            ("0%;", "0%"),
            ("\"Short Date\"", "Short Date"),
            ("\"\\[$-409\\]d\\\\-mmm\\\\-yy\\;\\@\"", "[$-409]d\\-mmm\\-yy;@"),
            ("\"\\#\\,\\#\\#0\\.00\\\\ \\0022€\\0022\"", "#,##0.00\\ \"€\""),
            ("'00000'", "00000"),
        ] {
            assert_eq!(unescaped(value), code, "{value}");
        }
    }

    #[test]
    fn classes_have_the_format_of_their_rule() {
        let mut sheet = Stylesheet::default();
        sheet.read("<!-- .xl24, td.xl25\n\t{color:red; mso-number-format:\"Short Date\"}\n.xl26{color:blue} -->");
        assert_eq!(sheet.of_classes("a xl24"), Some(&Display::Date));
        assert_eq!(sheet.of_classes("xl25"), Some(&Display::Date));
        assert_eq!(sheet.of_classes("xl26"), None);
    }
}
