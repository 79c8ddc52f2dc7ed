//! Formats of dates and times, as displayed in English.

use jiff::civil::Date;

use super::section::split;
use crate::Cell;

/// Milliseconds per day.
const DAY: u64 = 86_400_000;
/// Maximum number of decimals of seconds.
const MAX_DECIMALS: usize = 3;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/// The language number of English, in the lower bits of a format's language.
const ENGLISH: u32 = 0x09;
/// Language numbers of the system formats for long dates and for times.
const SYSTEM: [u32; 2] = [0xF800, 0xF400];

/// What a format makes of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Number,
    /// A date, a time of day, or both.
    Date,
    /// A time that may be longer than a day.
    Elapsed,
}

impl Meaning {
    /// Returns the meaning of a format by its first section, as spreadsheet programs take it for the type of the cell.
    pub(crate) fn of(code: &str) -> Meaning {
        let text = split(code).first().and_then(|section| DateText::parse(section));
        let is_elapsed =
            |token: &Token| matches!(token, Token::Field(Field::Hours | Field::Minutes | Field::Seconds, _));
        match text {
            None => Meaning::Number,
            Some(text) if text.tokens.iter().any(is_elapsed) => Meaning::Elapsed,
            Some(_) => Meaning::Date,
        }
    }
}

/// A section with the letters of dates or times.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DateText {
    tokens: Vec<Token>,
    language: Language,
}

/// The source of the language for names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Language {
    /// The format.
    English,
    /// The program.
    #[default]
    Open,
    /// Another language, or the settings of the computer decide about everything.
    Other,
    System,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Literal(char),
    /// A field with the number of its letters.
    Field(Field, usize),
    /// Decimals of the seconds, with a point.
    Decimals(usize),
    /// `AM` or `A`, and the same for the afternoon.
    HalfOfDay {
        letters: usize,
        is_lower: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    /// All hours, minutes or seconds of an elapsed time.
    Hours,
    Minutes,
    Seconds,
}

/// Rounding of a second's hidden part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounding {
    Nearest,
    Down,
}

/// The displayed text of a date or time.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The same in every program.
    Certain(String),
    /// In English, but other programs may use another language, or round differently.
    InEnglish(String),
    Unknown,
}

impl DateText {
    /// Parses a section. Returns `None` if it contains no dates or times.
    pub(super) fn parse(code: &str) -> Option<DateText> {
        let mut text = DateText { tokens: Vec::new(), language: Language::Open };
        let mut is_known = true;
        let mut rest = code;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            rest = after;
            match c.to_ascii_lowercase() {
                '"' => {
                    let (literal, after) = after.split_once('"').unwrap_or((after, ""));
                    text.tokens.extend(literal.chars().map(Token::Literal));
                    rest = after;
                }
                '\\' | '_' | '*' => {
                    let Some(next) = after.chars().next() else { break };
                    rest = &after[next.len_utf8()..];
                    match c {
                        '\\' => text.tokens.push(Token::Literal(next)),
                        '_' => text.tokens.push(Token::Literal(' ')),
                        _ => {}
                    }
                }
                '[' => {
                    let (inner, after) = after.split_once(']').unwrap_or((after, ""));
                    text.bracket(inner);
                    rest = after;
                }
                'a' => match half_of_day(after) {
                    Some(letters) => {
                        text.tokens.push(Token::HalfOfDay { letters, is_lower: c == 'a' });
                        rest = &after[2 * letters..];
                    }
                    None => is_known = false,
                },
                letter @ ('y' | 'm' | 'd' | 'h' | 's') => {
                    let count = after.chars().take_while(|next| next.to_ascii_lowercase() == letter).count();
                    text.tokens.push(Token::Field(field(letter), count + 1));
                    rest = &after[count..];
                }
                '.' if text.is_after_seconds() && after.starts_with('0') => {
                    let count = after.chars().take_while(|next| *next == '0').count();
                    text.tokens.push(Token::Decimals(count.min(MAX_DECIMALS)));
                    rest = &after[count..];
                }
                '0' | '#' | '?' | '%' | '@' => return None,
                letter if letter.is_alphabetic() => is_known = false,
                _ => text.tokens.push(Token::Literal(c)),
            }
        }
        let has_fields = text.tokens.iter().any(|token| !matches!(token, Token::Literal(_)));
        if !is_known {
            text.language = Language::System;
        }
        text.find_minutes();
        has_fields.then_some(text)
    }

    fn bracket(&mut self, inner: &str) {
        let letter = inner.chars().next().map(|letter| letter.to_ascii_lowercase());
        let elapsed = match letter {
            Some('h') => Some(Field::Hours),
            Some('m') => Some(Field::Minutes),
            Some('s') => Some(Field::Seconds),
            _ => None,
        };
        if let Some(field) = elapsed
            && inner.chars().all(|other| Some(other.to_ascii_lowercase()) == letter)
        {
            self.tokens.push(Token::Field(field, inner.len()));
        } else if let Some((_, language)) = inner.strip_prefix('$').and_then(|inner| inner.rsplit_once('-')) {
            // Further digits are a calendar and the shapes of digits.
            self.language = match u32::from_str_radix(language, 16) {
                Ok(system) if SYSTEM.contains(&system) => Language::System,
                Ok(language) if language > 0xFFFF => Language::System,
                Ok(language) if language & 0x3FF == ENGLISH => Language::English,
                Ok(_) => Language::Other,
                Err(_) => Language::System,
            };
        }
    }

    fn is_after_seconds(&self) -> bool {
        matches!(self.tokens.last(), Some(Token::Field(Field::Second | Field::Seconds, _)))
    }

    /// Turns one or two letters `m` after hours or before seconds into minutes.
    fn find_minutes(&mut self) {
        let fields: Vec<(usize, Field, usize)> = (self.tokens.iter().enumerate())
            .filter_map(|(at, token)| match token {
                Token::Field(field, letters) => Some((at, *field, *letters)),
                _ => None,
            })
            .collect();
        for (nth, (at, field, letters)) in fields.iter().enumerate() {
            let before = nth.checked_sub(1).map(|before| fields[before].1);
            let after = fields.get(nth + 1).map(|after| after.1);
            let is_time = matches!(before, Some(Field::Hour | Field::Hours))
                || matches!(after, Some(Field::Second | Field::Seconds));
            if *field == Field::Month && *letters <= 2 && is_time {
                self.tokens[*at] = Token::Field(Field::Minute, *letters);
            }
        }
    }

    /// Writes a date or time. `days` is the stored number, `cell` its value: a date, time or both, or the text of an elapsed
    /// time.
    pub(super) fn show(&self, cell: &Cell<'_>, days: f64) -> Written {
        let date = match cell {
            Cell::Date(date) => Some(*date),
            Cell::DateTime(at) => Some(at.date()),
            Cell::Time(_) | Cell::Text(_) => None,
            _ => return Written::Unknown,
        };
        let names = |token: &Token| matches!(token, Token::Field(Field::Month | Field::Day, 3..));
        let has_names = self.tokens.iter().any(names);
        if self.language == Language::System || self.language == Language::Other && has_names {
            return Written::Unknown;
        }
        let Some(shown) = self.write(date, days, Rounding::Nearest) else { return Written::Unknown };
        // Programs either round or cut hidden parts, such as 9:29:59.97 without seconds.
        let depends = || self.write(date, days, Rounding::Down).is_none_or(|cut| cut != shown);
        // LibreOffice counts earlier days from another epoch.
        let is_early = date.is_some_and(|date| date < jiff::civil::date(1900, 3, 1));
        if has_names && self.language == Language::Open || is_early || depends() {
            Written::InEnglish(shown)
        } else {
            Written::Certain(shown)
        }
    }

    fn write(&self, date: Option<Date>, days: f64, rounding: Rounding) -> Option<String> {
        let decimals = self.tokens.iter().find_map(|token| match token {
            Token::Decimals(decimals) => Some(*decimals),
            _ => None,
        });
        let unit = 10_u64.pow((MAX_DECIMALS - decimals.unwrap_or(0)) as u32);
        let exact = (days.abs() * DAY as f64).round() as u64;
        let rounded = match rounding {
            Rounding::Nearest => (exact + unit / 2) / unit * unit,
            Rounding::Down => exact / unit * unit,
        };
        // Rounding a time up to midnight would make the date wrong.
        let total = if date.is_some() && rounded / DAY != exact / DAY { exact / unit * unit } else { rounded };
        let (hour, minute, second) = (total / 3_600_000 % 24, total / 60_000 % 60, total / 1000 % 60);
        let is_short = self.tokens.iter().any(|token| matches!(token, Token::HalfOfDay { .. }));
        let mut shown = String::new();
        if days < 0.0 {
            shown.push('-');
        }
        for token in &self.tokens {
            match *token {
                Token::Literal(literal) => shown.push(literal),
                Token::HalfOfDay { letters, is_lower } => {
                    let name = if hour < 12 { "AM" } else { "PM" };
                    let name = &name[..letters];
                    shown.push_str(&if is_lower { name.to_lowercase() } else { name.to_owned() });
                }
                Token::Decimals(decimals) => {
                    shown.push_str(&format!(".{:03}", total % 1000)[..=decimals]);
                }
                Token::Field(field, letters) => {
                    let hour = if is_short { (hour + 11) % 12 + 1 } else { hour };
                    let number = match field {
                        Field::Year if letters <= 2 => date?.year().unsigned_abs().into(),
                        Field::Year => {
                            shown.push_str(&date?.year().to_string());
                            continue;
                        }
                        Field::Month | Field::Day if letters >= 3 => {
                            shown.push_str(name(field, letters, date?));
                            continue;
                        }
                        Field::Month => date?.month().unsigned_abs().into(),
                        Field::Day => date?.day().unsigned_abs().into(),
                        Field::Hour => hour,
                        Field::Minute => minute,
                        Field::Second => second,
                        Field::Hours => total / 3_600_000,
                        Field::Minutes => total / 60_000,
                        Field::Seconds => total / 1000,
                    };
                    match field {
                        Field::Year => shown.push_str(&format!("{:02}", number % 100)),
                        _ => shown.push_str(&format!("{number:0width$}", width = letters.min(9))),
                    }
                }
            }
        }
        Some(shown)
    }
}

/// Returns the name of a month or of a day of the week: short with three letters, an initial with five.
fn name(field: Field, letters: usize, date: Date) -> &'static str {
    let name = match field {
        Field::Month => MONTHS[usize::from(date.month().unsigned_abs()) - 1],
        _ => DAYS[date.weekday().to_sunday_zero_offset().unsigned_abs() as usize],
    };
    match (field, letters) {
        (_, 3) => &name[..3],
        (Field::Month, 5) => &name[..1],
        _ => name,
    }
}

fn field(letter: char) -> Field {
    match letter {
        'y' => Field::Year,
        'm' => Field::Month,
        'd' => Field::Day,
        'h' => Field::Hour,
        _ => Field::Second,
    }
}

/// Returns the number of letters in the rest of `AM/PM` or `A/P`, after the first letter.
fn half_of_day(code: &str) -> Option<usize> {
    let is = |word: &str| code.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if is("M/PM") { Some(2) } else { is("/P").then_some(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::workbook::dates;

    #[track_caller]
    fn check(code: &str, days: f64, expected: Written) {
        let elapsed;
        let cell = if code.starts_with("[h") || code.starts_with("[m") || code.starts_with("[s") {
            elapsed = dates::from_elapsed_days(days);
            elapsed.as_ref().map_or_else(|text| Cell::Text(text), |cell| *cell)
        } else {
            dates::from_serial(days, false)
        };
        let shown = DateText::parse(code).expect("a date").show(&cell, days);
        assert_eq!(shown, expected, "{code} {days}");
    }

    const MORNING: f64 = 46_082.395_833_333_336;

    #[test]
    fn dates_and_times_are_shown_by_their_letters() {
        for (code, shown) in [
            ("yyyy-mm-dd", "2026-03-01"),
            ("dd.mm.yyyy", "01.03.2026"),
            ("d.m.yy", "1.3.26"),
            ("MM/DD/YYYY", "03/01/2026"),
            ("dd/mm/yyyy hh:mm", "01/03/2026 09:30"),
            ("yyyy-mm-dd hh:mm:ss", "2026-03-01 09:30:00"),
            ("h:mm AM/PM", "9:30 AM"),
            ("hh:mm:ss am/pm", "09:30:00 am"),
            ("h A/P", "9 A"),
            ("mm:ss", "30:00"),
            ("hh:mm:ss.000", "09:30:00.000"),
            ("yyyy\\-mm\\-dd\\Thh:mm:ss", "2026-03-01T09:30:00"),
            ("\"Q\"mm", "Q03"),
            ("[Red][$-407]dd.mm.yyyy", "01.03.2026"),
            ("[$-409]d-mmm-yy", "1-Mar-26"),
            ("[$-809]dddd, d mmmm yyyy", "Sunday, 1 March 2026"),
            ("[h]:mm", "1105977:30"),
        ] {
            check(code, MORNING, Written::Certain(shown.to_owned()));
        }
        check("hh:mm:ss AM/PM", 0.878_553_240_740_740_7, Written::Certain("09:05:07 PM".to_owned()));
        check("h AM/PM", 0.5, Written::Certain("12 PM".to_owned()));
        check("h AM/PM", 0.0, Written::Certain("12 AM".to_owned()));
        check("[h]:mm:ss", 1.520_833_333_333_333_3, Written::Certain("36:30:00".to_owned()));
        check("[mm]:ss", 1.520_833_333_333_333_3, Written::Certain("2190:00".to_owned()));
        check("[h]:mm", -0.25, Written::Certain("-6:00".to_owned()));
    }

    #[test]
    fn seconds_are_rounded_but_not_to_the_next_day() {
        check("hh:mm:ss", 0.5 + 59.6 / 86_400.0, Written::InEnglish("12:01:00".to_owned()));
        check("hh:mm:ss.0", 0.5 + 59.66 / 86_400.0, Written::InEnglish("12:00:59.7".to_owned()));
        check("hh:mm", 0.5 + 59.0 / 86_400.0, Written::Certain("12:00".to_owned()));
        check("hh:mm", 0.5 + 59.97 / 86_400.0, Written::InEnglish("12:01".to_owned()));
        check("dd.mm.yyyy", 59.0, Written::InEnglish("28.02.1900".to_owned()));
        let end = Written::Certain("2026-03-01 23:59:59".to_owned());
        check("yyyy-mm-dd hh:mm:ss", 46_082.999_999, end);
    }

    #[test]
    fn names_without_a_language_depend_on_the_program() {
        for (code, shown) in [("d-mmm", "1-Mar"), ("mmmm yyyy", "March 2026"), ("mmmmm", "M"), ("ddd d", "Sun 1")] {
            check(code, MORNING, Written::InEnglish(shown.to_owned()));
        }
        for code in ["[$-407]d. mmmm", "[$-F800]dddd, mmmm dd, yyyy", "[$-F400]h:mm:ss AM/PM", "ggge d", "dd.mm.jjjj"] {
            check(code, MORNING, Written::Unknown);
        }
        check("dd.mm.yyyy", 0.5, Written::Unknown);
    }

    #[test]
    fn numbers_and_texts_are_not_dates() {
        for code in ["0.00", "General", "@", "#,##0", "\"d\"", "[Red]", "0\" d\"", "", "d\\"] {
            assert!(code == "d\\" || code == "General" || DateText::parse(code).is_none(), "{code}");
        }
    }
}
