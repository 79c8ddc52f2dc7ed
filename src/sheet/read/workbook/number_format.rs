//! Number formats that say what a cell's number is, and not only how it is dressed: those that show an identifier's
//! leading zeros, and those of percentages.
//!
//! Up to three sections of a format are for numbers. Which one a number takes, its conditions or its sign decide.

use super::leading_zeros::LeadingZeros;
use crate::sheet::Cell;

/// A format that says something of a number.
#[derive(Clone, Debug, PartialEq)]
pub enum NumberFormat {
    LeadingZeros(LeadingZeros),
    Percent(Percent),
}

impl NumberFormat {
    /// Nothing for a format of which the bare number is as good.
    pub fn of(code: &str) -> Option<NumberFormat> {
        if code.len() > 255 {
            return None;
        }
        let leading_zeros = LeadingZeros::of(code).map(NumberFormat::LeadingZeros);
        leading_zeros.or_else(|| Percent::of(code).map(NumberFormat::Percent))
    }

    /// The number as a cell, where that is more than a plain number. A text is put into `text`.
    pub fn cell<'t>(&self, number: f64, text: &'t mut String) -> Option<Cell<'t>> {
        match self {
            NumberFormat::LeadingZeros(format) => {
                *text = format.shown(number)?;
                Some(Cell::Text(text))
            }
            NumberFormat::Percent(format) => format.takes(number).then_some(Cell::Percent(number)),
        }
    }
}

/// A format with a percent sign that is not quoted: it shows a hundred times the number.
#[derive(Clone, Debug, PartialEq)]
pub struct Percent {
    sections: Vec<Section<Shows>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    Percent,
    Number,
    /// Words or a dash in the number's place, which do not say what it is.
    Words,
}

impl Percent {
    fn of(code: &str) -> Option<Percent> {
        if !code.contains('%') {
            return None;
        }
        let sections: Vec<_> = split(code).into_iter().take(3).map(Percent::section).collect();
        sections.iter().any(|section| section.content == Shows::Percent).then_some(Percent { sections })
    }

    fn section(code: &str) -> Section<Shows> {
        let mut section = Section { condition: None, content: Shows::Words };
        let mut chars = code.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => drop(chars.by_ref().find(|c| *c == '"')),
                '\\' | '_' | '*' => drop(chars.next()),
                '[' => {
                    let inner: String = chars.by_ref().take_while(|c| *c != ']').collect();
                    section.condition = section.condition.or_else(|| Condition::parse(&inner));
                }
                '%' => section.content = Shows::Percent,
                '0' | '#' | '?' if section.content == Shows::Words => section.content = Shows::Number,
                _ => {}
            }
        }
        section
    }

    fn takes(&self, number: f64) -> bool {
        let shows = Section::choose(&self.sections, number).copied().unwrap_or(Shows::Words);
        number.is_finite() && shows != Shows::Number
    }
}

/// One of a format's sections, and what it is for its reader.
#[derive(Clone, Debug, PartialEq)]
pub struct Section<T> {
    pub condition: Option<Condition>,
    pub content: T,
}

impl<T> Section<T> {
    /// As spreadsheet programs choose: the first section whose condition holds; without conditions, the second is for
    /// what is below zero, the third for zero and the first for all others.
    pub fn choose(sections: &[Section<T>], number: f64) -> Option<&T> {
        let section = if sections.iter().any(|section| section.condition.is_some()) {
            sections.iter().find(|section| section.condition.is_none_or(|condition| condition.holds(number)))
        } else {
            match sections {
                [_, below, ..] if number < 0.0 => Some(below),
                [_, _, zero] if number == 0.0 => Some(zero),
                sections => sections.first(),
            }
        };
        section.map(|section| &section.content)
    }
}

/// `[<=9999999]`: which numbers a section is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    compare: Compare,
    limit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compare {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

impl Condition {
    /// What stands in brackets; nothing for what is no comparison with a number.
    pub fn parse(text: &str) -> Option<Condition> {
        let operators = [
            ("<=", Compare::LessOrEqual),
            (">=", Compare::GreaterOrEqual),
            ("<>", Compare::NotEqual),
            ("<", Compare::Less),
            (">", Compare::Greater),
            ("=", Compare::Equal),
        ];
        let (operator, compare) = operators.into_iter().find(|(operator, _)| text.starts_with(operator))?;
        Some(Condition { compare, limit: text[operator.len()..].trim().parse().ok()? })
    }

    fn holds(self, number: f64) -> bool {
        match self.compare {
            Compare::Less => number < self.limit,
            Compare::LessOrEqual => number <= self.limit,
            Compare::Equal => number == self.limit,
            Compare::NotEqual => number != self.limit,
            Compare::GreaterOrEqual => number >= self.limit,
            Compare::Greater => number > self.limit,
        }
    }
}

/// The sections of a format, which semicolons part where they are not quoted.
pub fn split(format: &str) -> Vec<&str> {
    let (mut sections, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in format.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if !quoted => escaped = true,
            '"' => quoted = !quoted,
            ';' if !quoted => {
                sections.push(&format[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    sections.push(&format[start..]);
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, number: f64, expected: Option<&str>) {
        let mut text = String::new();
        let cell = NumberFormat::of(code)
            .and_then(|format| format.cell(number, &mut text).map(|cell| cell.shown().into_owned()));
        assert_eq!(cell.as_deref(), expected, "{code} {number}");
    }

    #[test]
    fn a_percent_sign_that_is_not_quoted_makes_a_percentage() {
        for code in
            ["0%", "0.00%", "0.0##%", "#,##0.0 %", "0%;[Red]-0%", "00%", "%0", "0%_)", "[$-407]0,0%", "\"ca. \"0%"]
        {
            check(code, 0.195, Some("19.5%"));
            check(code, -0.195, Some("-19.5%"));
        }
        for code in ["0\\%", "0\"%\"", "0.00", "General", "0_%", "0*%", "@", "0\"% of\""] {
            check(code, 0.19, None);
        }
    }

    #[test]
    fn the_section_of_a_number_says_whether_it_is_a_percentage() {
        check("[<1]0%;0.00", 0.5, Some("50%"));
        check("[<1]0%;0.00", 1.5, None);
        check("0%;0", -0.5, None);
        check("0.00;-0%", -0.5, Some("-50%"));
        check("[<>0]0%;0", 0.0, None);
        // What is shown as a dash or a word is still a part of a whole.
        check("0%;-0%;\"-\"", 0.0, Some("0%"));
        check("0%;\"none\"", -0.5, Some("-50%"));
        // Text has a section of its own.
        check("0.00;0.00;0.00;@\"%\"", 0.5, None);
        check("0.00;0.00;0.00;@%", 0.5, None);
    }

    #[test]
    fn what_is_no_number_is_no_percentage() {
        check("0%", f64::INFINITY, None);
        check("0%", f64::NAN, None);
    }
}
