//! Sections of a number format. Up to three sections are for numbers, chosen by conditions or by sign.

/// A section with its parsed content.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Section<T> {
    pub condition: Option<Condition>,
    pub content: T,
}

impl<T> Section<T> {
    /// Chooses the section for a number as spreadsheet programs do: the first section whose condition is met. Without conditions,
    /// the second section is for negative numbers, the third for zero, and the first for all others.
    pub(super) fn choose(sections: &[Section<T>], number: f64) -> Option<&T> {
        let section = if sections.iter().any(|section| section.condition.is_some()) {
            sections.iter().find(|section| section.condition.is_none_or(|condition| condition.holds(number)))
        } else {
            match sections {
                [_, negative, ..] if number < 0.0 => Some(negative),
                [_, _, zero] if number == 0.0 => Some(zero),
                sections => sections.first(),
            }
        };
        section.map(|section| &section.content)
    }
}

/// The sections of a format for numbers, at most three, of which one or more have content.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sections<T>(Vec<Section<Option<T>>>);

impl<T> Sections<T> {
    /// Parses each section. Returns `None` if none has content.
    pub(super) fn parse(code: &str, section: impl Fn(&str) -> Section<Option<T>>) -> Option<Sections<T>> {
        let sections: Vec<_> = split(code).into_iter().take(3).map(section).collect();
        sections.iter().any(|section| section.content.is_some()).then_some(Sections(sections))
    }

    /// Returns the content of the section for a number, if it has any.
    pub(super) fn of(&self, number: f64) -> Option<&T> {
        Section::choose(&self.0, number)?.as_ref()
    }

    /// Whether a negative number has another section than the same number without its sign.
    pub(super) fn has_own_section(&self, number: f64) -> bool {
        let section = |number| Section::choose(&self.0, number).map(std::ptr::from_ref);
        section(number) != section(number.abs())
    }
}

impl<T> Section<Option<T>> {
    /// Turns the content into what a kind of formats needs of it.
    pub(super) fn and_then<U>(self, content: impl FnOnce(T) -> Option<U>) -> Section<Option<U>> {
        Section { condition: self.condition, content: self.content.and_then(content) }
    }
}

/// A condition such as `[<=9999999]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Condition {
    comparison: Comparison,
    limit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

impl Condition {
    /// Parses the text between brackets. Returns `None` unless it compares with a number.
    pub(super) fn parse(text: &str) -> Option<Condition> {
        let operators = [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<>", Comparison::NotEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
            ("=", Comparison::Equal),
        ];
        let (operator, comparison) = operators.into_iter().find(|(operator, _)| text.starts_with(operator))?;
        Some(Condition { comparison, limit: text[operator.len()..].trim().parse().ok()? })
    }

    fn holds(self, number: f64) -> bool {
        match self.comparison {
            Comparison::Less => number < self.limit,
            Comparison::LessOrEqual => number <= self.limit,
            Comparison::Equal => number == self.limit,
            Comparison::NotEqual => number != self.limit,
            Comparison::GreaterOrEqual => number >= self.limit,
            Comparison::Greater => number > self.limit,
        }
    }
}

/// Returns the code after the word `General`, given the text after its first letter.
pub(super) fn after_general(code: &str) -> Option<&str> {
    let (word, rest) = code.split_at_checked("eneral".len())?;
    word.eq_ignore_ascii_case("eneral").then_some(rest)
}

/// Splits a format at its unquoted semicolons.
pub(super) fn split(format: &str) -> Vec<&str> {
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
