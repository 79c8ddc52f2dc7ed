//! Formats with a unit beside the number: a currency, or a percent sign, which multiplies the displayed number by a hundred.

use sheetport_values::currency::CurrencyMark;

use super::section::{Condition, Section, after_general, split};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnitFormat {
    sections: Vec<Section<Content>>,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unit {
    Percent,
    Money(CurrencyMark),
}

/// Content of a section.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Content {
    Unit(Unit),
    Number,
    /// A dash instead of the number.
    Dash,
    /// Words instead of the number.
    Words,
}

impl UnitFormat {
    /// Returns `None` for formats without a unit.
    pub(super) fn parse(code: &str) -> Option<UnitFormat> {
        let sections: Vec<_> = split(code).into_iter().take(3).map(section).collect();
        let unit = sections.iter().find_map(|section| match section.content {
            Content::Unit(unit) => Some(unit),
            Content::Number | Content::Dash | Content::Words => None,
        })?;
        Some(UnitFormat { sections, unit })
    }

    /// Returns the unit of a number. A dash for some numbers, such as zero, has the unit of the others.
    pub(super) fn unit_of(&self, number: f64) -> Option<Unit> {
        match Section::choose(&self.sections, number).copied().unwrap_or(Content::Dash) {
            _ if !number.is_finite() => None,
            Content::Unit(unit) => Some(unit),
            Content::Dash => Some(self.unit),
            Content::Number | Content::Words => None,
        }
    }
}

fn section(code: &str) -> Section<Content> {
    let mut section = Section { condition: None, content: Content::Dash };
    let (mut literal, mut currency) = (String::new(), None);
    let (mut has_digits, mut has_percent_sign) = (false, false);
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => literal.extend(chars.by_ref().take_while(|c| *c != '"')),
            '\\' => literal.extend(chars.next()),
            '_' | '*' => drop(chars.next()),
            '[' => {
                let inner: String = chars.by_ref().take_while(|c| *c != ']').collect();
                match inner.strip_prefix('$') {
                    // [$€-407]: the currency and the language.
                    Some(symbol) => currency = symbol.split('-').next().and_then(CurrencyMark::parse).or(currency),
                    None => section.condition = section.condition.or_else(|| Condition::parse(&inner)),
                }
            }
            '%' => has_percent_sign = true,
            '0' | '#' | '?' => has_digits = true,
            'G' | 'g' if let Some(rest) = after_general(chars.as_str()) => {
                has_digits = true;
                chars = rest.chars();
            }
            c => literal.push(c),
        }
    }
    if has_percent_sign {
        section.content = Content::Unit(Unit::Percent);
    } else if has_digits {
        let written = literal.trim_matches(|c: char| c.is_whitespace() || "-+(),.".contains(c));
        let currency = currency.or_else(|| CurrencyMark::parse(written));
        section.content = currency.map_or(Content::Number, |currency| Content::Unit(Unit::Money(currency)));
    } else if literal.contains(char::is_alphanumeric) {
        section.content = Content::Words;
    }
    section
}
