//! Explanations on the terminal: a title, and named paragraphs.

use sheetport_language::word;

use crate::ui::{self, style};

pub(super) fn title(name: &str, kind: &str) {
    let strong = style::STRONG;
    ui::line(format_args!("{strong}{name}{strong:#}  {kind}"));
}

/// Prints a named text, unless it is blank.
pub(super) fn paragraph(name: &str, text: &str) {
    let strong = style::STRONG;
    for (index, line) in wrapped(text).into_iter().filter(|line| !line.is_empty()).enumerate() {
        let name = if index == 0 { word(name) } else { "" };
        ui::line(format_args!("  {strong}{name:<9}{strong:#}{line}"));
    }
}

/// Wraps a text at 80 characters. Longer words stay whole.
fn wrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 80;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        if let Some(line) = lines.last_mut().filter(|line| line.is_empty() || line.len() + word.len() < WIDTH) {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
