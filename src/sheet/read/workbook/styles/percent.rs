//! Formats with an unquoted percent sign: programs show a hundred times the number.

use super::section::{Condition, Section, split};

#[derive(Clone, Debug, PartialEq)]
pub(in crate::sheet::read::workbook) struct Percent {
    sections: Vec<Section<Content>>,
}

/// Content of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Percent,
    Number,
    /// Words or a dash instead of the number.
    Words,
}

impl Percent {
    /// Returns `None` for formats without percentages.
    pub(crate) fn parse(code: &str) -> Option<Percent> {
        if !code.contains('%') {
            return None;
        }
        let sections: Vec<_> = split(code).into_iter().take(3).map(section).collect();
        sections.iter().any(|section| section.content == Content::Percent).then_some(Percent { sections })
    }

    pub(crate) fn applies_to(&self, number: f64) -> bool {
        let content = Section::choose(&self.sections, number).copied().unwrap_or(Content::Words);
        number.is_finite() && content != Content::Number
    }
}

fn section(code: &str) -> Section<Content> {
    let mut section = Section { condition: None, content: Content::Words };
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => drop(chars.by_ref().find(|c| *c == '"')),
            '\\' | '_' | '*' => drop(chars.next()),
            '[' => {
                let inner: String = chars.by_ref().take_while(|c| *c != ']').collect();
                section.condition = section.condition.or_else(|| Condition::parse(&inner));
            }
            '%' => section.content = Content::Percent,
            '0' | '#' | '?' if section.content == Content::Words => section.content = Content::Number,
            _ => {}
        }
    }
    section
}
