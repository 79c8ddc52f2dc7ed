//! Date patterns such as `DD.MM.YYYY HH:mm`.

use std::ops::Range;

use jiff::civil;
use jiff::tz::Offset;
use sheetport_documents::nearest;

use super::additions;
use super::count::Count;
use super::error::DateError;
use super::iso::{ParsedDate, is_placeholder};
use super::month;
use crate::normalize::{to_ascii, trim};

/// The parts of patterns. A fraction of a second can also have another number of `S`.
const TOKENS: &[(&str, Item)] = &[
    ("YYYY", Item::Number { part: Part::Year, min: 4, max: 4 }),
    ("YY", Item::Number { part: Part::ShortYear, min: 2, max: 2 }),
    ("MMMM", Item::MonthName),
    ("MMM", Item::MonthName),
    ("MM", Item::Number { part: Part::Month, min: 1, max: 2 }),
    ("M", Item::Number { part: Part::Month, min: 1, max: 2 }),
    ("DD", Item::Number { part: Part::Day, min: 1, max: 2 }),
    ("D", Item::Number { part: Part::Day, min: 1, max: 2 }),
    ("HH", Item::Number { part: Part::Hour, min: 1, max: 2 }),
    ("H", Item::Number { part: Part::Hour, min: 1, max: 2 }),
    ("hh", Item::Number { part: Part::Hour12, min: 1, max: 2 }),
    ("h", Item::Number { part: Part::Hour12, min: 1, max: 2 }),
    ("mm", Item::Number { part: Part::Minute, min: 2, max: 2 }),
    ("m", Item::Number { part: Part::Minute, min: 1, max: 2 }),
    ("ss", Item::Number { part: Part::Second, min: 2, max: 2 }),
    ("s", Item::Number { part: Part::Second, min: 1, max: 2 }),
    ("SSS", Item::Fraction),
    ("A", Item::Meridiem),
    ("a", Item::Meridiem),
    ("Z", Item::Offset),
    ("ZZ", Item::Offset),
];

/// A parsed pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFormat {
    pattern: String,
    items: Vec<Item>,
    /// For counts of time. They have no items.
    count: Option<Count>,
}

/// An error in a pattern, with a byte range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PatternError {
    pub message: String,
    pub range: Range<usize>,
}

/// An element of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Number { part: Part, min: usize, max: usize },
    MonthName,
    Fraction,
    Meridiem,
    Offset,
    Space { optional: bool },
    Char(char),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Year,
    ShortYear,
    Month,
    Day,
    Hour,
    Hour12,
    Minute,
    Second,
}

/// The numbers of a date, not yet checked against the calendar.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields {
    year: u32,
    month: u32,
    day: u32,
    hour: Option<u32>,
    minute: u32,
    second: u32,
    nanosecond: u32,
    afternoon: Option<bool>,
    offset: Option<i32>,
}

impl DateFormat {
    /// Parses a pattern of [`TOKENS`]. Other characters are literal; literal letters need brackets: `D [de] M`. Fails if
    /// a token is unknown, or if year, month, day or the hour of a time is missing.
    /// The names of [`Count`] stand for numbers that count time.
    pub fn parse(pattern: &str) -> Result<DateFormat, PatternError> {
        if let Some(count) = Count::named(pattern) {
            return Ok(DateFormat { pattern: pattern.to_owned(), items: Vec::new(), count: Some(count) });
        }
        let items = parse_items(pattern)?;
        let has = |wanted: &dyn Fn(&Item) -> bool| items.iter().any(wanted);
        let number = |parts: &[Part]| has(&|item| matches!(item, Item::Number { part, .. } if parts.contains(part)));
        let month = number(&[Part::Month]) || has(&|item| *item == Item::MonthName);
        let (hour12, meridiem) = (number(&[Part::Hour12]), has(&|item| *item == Item::Meridiem));
        let hour = hour12 || number(&[Part::Hour]);
        let below_hour =
            number(&[Part::Minute, Part::Second]) || has(&|item| matches!(item, Item::Fraction | Item::Offset));
        let rules = [
            (number(&[Part::Year, Part::ShortYear]), "the pattern has no year: YYYY or YY"),
            (month, "the pattern has no month: MM, M, MMM or MMMM"),
            (number(&[Part::Day]), "the pattern has no day: DD or D"),
            (meridiem || !hour12, "hours from 1 to 12 (hh, h) need A for AM or PM; hours from 0 to 23 are HH or H"),
            (hour12 || !meridiem, "A for AM or PM needs hours from 1 to 12: hh or h"),
            (hour || !below_hour, "the pattern has no hour: HH, H, hh or h; months are MM, minutes are mm"),
        ];
        match rules.into_iter().find(|(holds, _)| !holds) {
            Some((_, message)) => Err(PatternError { message: message.to_owned(), range: 0..pattern.len() }),
            None => Ok(DateFormat { pattern: pattern.to_owned(), items, count: None }),
        }
    }

    pub(super) fn from_items(pattern: String, items: Vec<Item>) -> DateFormat {
        DateFormat { pattern, items, count: None }
    }

    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Parses a date. Fails if the text does not fit the pattern or the date does not exist.
    pub fn parse_date(&self, text: &str) -> Result<ParsedDate, DateError> {
        let text = to_ascii(trim(text));
        if let Some(count) = self.count {
            let wrong = DateError::Format { pattern: self.pattern.clone() };
            return count.date(&text).unwrap_or(Err(wrong));
        }
        let parsed = |text: &str| match parse_fields(&self.items, text, Fields::default()) {
            Some((fields, "")) => Some(fields),
            _ => None,
        };
        match parsed(&text).or_else(|| additions::removed(&text).and_then(|text| parsed(&text))) {
            Some(fields) => fields.to_date(),
            None => Err(DateError::Format { pattern: self.pattern.clone() }),
        }
    }
}

impl Fields {
    pub(super) fn date(&self) -> Result<civil::Date, DateError> {
        if self.month == 0 && self.day == 0 {
            return Err(DateError::Placeholder);
        }
        let year = i16::try_from(self.year).expect("a year has four digits");
        let month = part("month", self.month, 1..13)?;
        let day = part("day", self.day, 1..32)?;
        let Ok(date) = civil::Date::new(year, month, day) else {
            let days = civil::Date::new(year, month, 1).map_or(0, civil::Date::days_in_month);
            return Err(DateError::NoSuchDay { year, month, days });
        };
        if is_placeholder(date) { Err(DateError::Placeholder) } else { Ok(date) }
    }

    /// Replaces the date by a valid date, to check the time alone.
    pub(super) fn with_valid_date(self) -> Fields {
        Fields { year: 2000, month: 1, day: 1, ..self }
    }

    pub(super) fn to_date(self) -> Result<ParsedDate, DateError> {
        let date = self.date()?;
        let Some(hour) = self.hour else { return Ok(ParsedDate::Date(date)) };
        let hour = match self.afternoon {
            None => part("hour", hour, 0..24)?,
            Some(afternoon) => part("hour", hour, 1..13)? % 12 + if afternoon { 12 } else { 0 },
        };
        let (minute, second) = (part("minute", self.minute, 0..60)?, part("second", self.second, 0..60)?);
        let nanosecond = i32::try_from(self.nanosecond).expect("a fraction has nine digits");
        let local = date.at(hour, minute, second, nanosecond);
        let Some(seconds) = self.offset else { return Ok(ParsedDate::Local(local)) };
        let instant = Offset::from_seconds(seconds).and_then(|offset| offset.to_timestamp(local));
        instant
            .map(ParsedDate::Instant)
            .map_err(|_| DateError::OutOfRange { part: "offset", value: seconds.unsigned_abs() / 3600 })
    }
}

/// Checks the range of a part of the date.
fn part(part: &'static str, value: u32, range: Range<u32>) -> Result<i8, DateError> {
    match i8::try_from(value) {
        Ok(small) if range.contains(&value) => Ok(small),
        _ => Err(DateError::OutOfRange { part, value }),
    }
}

/// Parses a pattern, or a part of a pattern, into elements.
pub(super) fn parse_items(pattern: &str) -> Result<Vec<Item>, PatternError> {
    let mut items: Vec<Item> = Vec::new();
    let mut tokens: Vec<(&str, Range<usize>)> = Vec::new();
    let mut at = 0;
    while let Some(c) = pattern[at..].chars().next() {
        let start = at;
        let error = |message: String, end: usize| Err(PatternError { message, range: start..end });
        if c == '[' {
            let Some(length) = pattern[at..].find(']') else {
                return error("this bracket is not closed".to_owned(), at + 1);
            };
            let literal = to_ascii(&pattern[at + 1..at + length]).into_owned();
            items.extend(literal.chars().map(Item::Char));
            at += length + 1;
        } else if c.is_ascii_alphabetic() {
            let run = pattern[at..].chars().take_while(|other| *other == c).count();
            let token = &pattern[at..at + run];
            at += run;
            // The separator between date and time in ISO 8601.
            if token == "T" {
                items.push(Item::Char('T'));
                continue;
            }
            let Some(item) = item(token) else {
                return error(unknown(token), at);
            };
            let same = |other: &Item| kind(other) == kind(&item);
            if items.iter().any(|other| kind(other).is_some() && same(other)) {
                return error(format!("'{token}' repeats another part of the pattern"), at);
            }
            tokens.push((token, start..at));
            items.push(item);
        } else if c.is_whitespace() {
            let after_mark = matches!(items.last(), Some(Item::Char('.' | ',')));
            if !matches!(items.last(), Some(Item::Space { .. })) {
                items.push(Item::Space { optional: after_mark });
            }
            at += c.len_utf8();
        } else {
            items.push(Item::Char(to_ascii(c.encode_utf8(&mut [0; 4])).chars().next().unwrap_or(c)));
            at += c.len_utf8();
        }
    }
    fix_widths(&mut items, &tokens)?;
    Ok(items)
}

/// Requires all digits of a number directly before or after another number: `2012026` is no YYYYMMDD.
fn fix_widths(items: &mut [Item], tokens: &[(&str, Range<usize>)]) -> Result<(), PatternError> {
    let mut names = tokens.iter();
    for index in 0..items.len() {
        let is_digit = |c: &char| c.is_ascii_digit();
        let before_digits = match items.get(index + 1) {
            Some(Item::Number { .. } | Item::Fraction) => true,
            Some(Item::Char(c)) => is_digit(c),
            _ => false,
        };
        let after_digits = match index.checked_sub(1).and_then(|before| items.get(before)) {
            Some(Item::Number { .. }) => true,
            Some(Item::Char(c)) => is_digit(c),
            _ => false,
        };
        if kind(&items[index]).is_none() {
            continue;
        }
        let Some((token, range)) = names.next() else { break };
        let Item::Number { min, max, .. } = &mut items[index] else { continue };
        if min == max || !(before_digits || after_digits && token.len() == 2) {
            continue;
        }
        if token.len() < 2 {
            let message = format!("'{token}' is directly followed by other digits; write '{token}{token}'");
            return Err(PatternError { message, range: range.clone() });
        }
        *min = *max;
    }
    Ok(())
}

fn item(token: &str) -> Option<Item> {
    if token.len() <= 9 && token.bytes().all(|b| b == b'S') {
        return Some(Item::Fraction);
    }
    TOKENS.iter().find(|(known, _)| *known == token).map(|(_, item)| item.clone())
}

/// The part of the date set by an element. Two elements of the same kind could contradict each other.
fn kind(item: &Item) -> Option<u8> {
    match item {
        Item::Number { part: Part::Year | Part::ShortYear, .. } => Some(0),
        Item::Number { part: Part::Month, .. } | Item::MonthName => Some(1),
        Item::Number { part: Part::Day, .. } => Some(2),
        Item::Number { part: Part::Hour | Part::Hour12, .. } => Some(3),
        Item::Number { part: Part::Minute, .. } => Some(4),
        Item::Number { part: Part::Second, .. } => Some(5),
        Item::Fraction => Some(6),
        Item::Meridiem => Some(7),
        Item::Offset => Some(8),
        Item::Space { .. } | Item::Char(_) => None,
    }
}

pub(super) fn unknown(token: &str) -> String {
    let known = TOKENS.iter().map(|(token, _)| *token);
    let upper = token.to_ascii_uppercase();
    let same = known.clone().find(|known| *known == upper || token.len() == 1 && known.starts_with(&upper));
    let list = known.clone().collect::<Vec<_>>().join(" ");
    match same.or_else(|| nearest(token, known)) {
        Some(meant) => {
            format!("'{token}' is not a known part of a date pattern; did you mean '{meant}'? The parts are {list}")
        }
        None => format!(
            "'{token}' is not a known part of a date pattern; the parts are {list}. Put other letters in brackets: [{token}]"
        ),
    }
}

/// Parses the start of `text`. Returns the fields and the rest of the text, or `None` if the text does not fit.
pub(super) fn parse_fields<'t>(items: &[Item], text: &'t str, mut fields: Fields) -> Option<(Fields, &'t str)> {
    let mut rest = text;
    for (index, item) in items.iter().enumerate() {
        match item {
            Item::Number { part, min, max } => {
                let length = rest.bytes().take(*max).take_while(u8::is_ascii_digit).count();
                if length < *min {
                    return None;
                }
                let value = rest.bytes().take(length).fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
                fields.set(*part, value);
                rest = &rest[length..];
            }
            Item::Char(wanted) => rest = rest.strip_prefix(*wanted)?,
            Item::Space { optional } => {
                let trimmed = rest.trim_start();
                if trimmed.len() == rest.len() && !optional {
                    return None;
                }
                rest = trimmed;
            }
            Item::MonthName => {
                let (month, length) = month::parse(rest)?;
                fields.month = u32::try_from(month).ok()?;
                rest = &rest[length..];
                if items.get(index + 1) != Some(&Item::Char('.')) {
                    rest = rest.strip_prefix('.').unwrap_or(rest);
                }
            }
            Item::Fraction => {
                let length = rest.bytes().take_while(u8::is_ascii_digit).count();
                if !(1..=9).contains(&length) {
                    return None;
                }
                let digits = rest.bytes().take(length).chain(std::iter::repeat(b'0')).take(9);
                fields.nanosecond = digits.fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
                rest = &rest[length..];
            }
            Item::Meridiem => {
                let (afternoon, length) = meridiem(rest)?;
                fields.afternoon = Some(afternoon);
                rest = &rest[length..];
            }
            Item::Offset => {
                let (seconds, length) = offset(rest)?;
                fields.offset = Some(seconds);
                rest = &rest[length..];
            }
        }
    }
    Some((fields, rest))
}

impl Fields {
    fn set(&mut self, part: Part, value: u32) {
        match part {
            Part::Year => self.year = value,
            Part::ShortYear => self.year = if value <= 68 { 2000 + value } else { 1900 + value },
            Part::Month => self.month = value,
            Part::Day => self.day = value,
            Part::Hour | Part::Hour12 => self.hour = Some(value),
            Part::Minute => self.minute = value,
            Part::Second => self.second = value,
        }
    }
}

/// Parses AM or PM, by the words in `meridiem.txt`. Returns `true` for PM, and the length in bytes.
fn meridiem(text: &str) -> Option<(bool, usize)> {
    let mut words = include_str!("meridiem.txt").lines().filter_map(|line| line.split_once(": "));
    let begins = |word: &str| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    words.find(|(_, word)| begins(word)).map(|(half, word)| (half == "PM", word.len()))
}

/// Parses an offset. Returns the seconds east of UTC, and the length in bytes.
fn offset(text: &str) -> Option<(i32, usize)> {
    for word in ["Z", "UTC", "GMT"] {
        if text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)) {
            return Some((0, word.len()));
        }
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let two = |from: usize| {
        let digits = text.get(from..from + 2).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        digits.and_then(|digits| digits.parse::<i32>().ok())
    };
    let hours = two(1)?;
    let minutes_from = if text.as_bytes().get(3) == Some(&b':') { 4 } else { 3 };
    let (minutes, length) = two(minutes_from).map_or((0, 3), |minutes| (minutes, minutes_from + 2));
    (hours <= 23 && minutes <= 59).then_some((sign * (hours * 3600 + minutes * 60), length))
}

#[cfg(test)]
pub(super) mod tests {
    use jiff::civil::{date, datetime};
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    /// Writes `local` by a format, with the offset +02:00.
    pub(crate) fn written(format: &DateFormat, local: civil::DateTime) -> String {
        let twelve = |hour: i8| if hour % 12 == 0 { 12 } else { hour % 12 };
        let write = |item: &Item| match item {
            Item::Number { part: Part::Year, .. } => format!("{:04}", local.year()),
            Item::Number { part: Part::ShortYear, .. } => format!("{:02}", local.year() % 100),
            Item::Number { part: Part::Month, .. } => format!("{:02}", local.month()),
            Item::Number { part: Part::Day, .. } => format!("{:02}", local.day()),
            Item::Number { part: Part::Hour, .. } => format!("{:02}", local.hour()),
            Item::Number { part: Part::Hour12, .. } => twelve(local.hour()).to_string(),
            Item::Number { part: Part::Minute, .. } => format!("{:02}", local.minute()),
            Item::Number { part: Part::Second, .. } => format!("{:02}", local.second()),
            Item::MonthName => month::english(local.month()).to_owned(),
            Item::Fraction => "000".to_owned(),
            Item::Meridiem => if local.hour() < 12 { "AM" } else { "PM" }.to_owned(),
            Item::Offset => "+02:00".to_owned(),
            Item::Space { .. } => " ".to_owned(),
            Item::Char(c) => c.to_string(),
        };
        format.items.iter().map(write).collect()
    }

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: Result<ParsedDate, DateError>) {
        assert_eq!(DateFormat::parse(pattern).expect("a pattern").parse_date(text), expected, "{text} by {pattern}");
    }

    #[test]
    fn dates_are_parsed_by_their_pattern() {
        let day = Ok(ParsedDate::Date(date(2025, 3, 5)));
        for (pattern, text) in [
            ("DD.MM.YYYY", "05.03.2025"),
            ("DD.MM.YYYY", " 5.3.2025 "),
            ("D/M/YY", "5/3/25"),
            ("YYYYMMDD", "20250305"),
            ("DD-MMM-YY", "05-Mar-25"),
            ("DDMMMYYYY", "05MAR2025"),
            ("D. MMMM YYYY", "5. März 2025"),
            ("D. MMMM YYYY", "5.\u{a0}Mrz. 2025"),
            ("D [de] MMMM [de] YYYY", "5 de marzo de 2025"),
            ("MMMM D, YYYY", "March 5, 2025"),
            ("YYYY年MM月DD日", "２０２５年３月５日"),
            ("DD.MMM.YYYY", "05.Mar.2025"),
        ] {
            check(pattern, text, day.clone());
        }
        check("DD/MM/YY", "01/01/68", Ok(ParsedDate::Date(date(2068, 1, 1))));
        check("DD/MM/YY", "01/01/69", Ok(ParsedDate::Date(date(1969, 1, 1))));
    }

    #[test]
    fn times_are_parsed_with_and_without_an_offset() {
        let local = |hour, minute, second, nanosecond| {
            Ok(ParsedDate::Local(datetime(2025, 3, 5, hour, minute, second, nanosecond)))
        };
        check("YYYY-MM-DD HH:mm:ss", "2025-03-05 09:08:07", local(9, 8, 7, 0));
        check("MM/DD/YYYY hh:mm A", "3/5/2025 12:05 am", local(0, 5, 0, 0));
        check("MM/DD/YYYY hh:mm A", "3/5/2025 12:05 p.m.", local(12, 5, 0, 0));
        check("YYYY/MM/DD Ahh:mm", "2025/03/05 午後1:05", local(13, 5, 0, 0));
        check("YYYY-MM-DDTHH:mm:ss.SSS", "2025-03-05T09:08:07.25", local(9, 8, 7, 250_000_000));
        check("YYYYMMDDHHmmss", "20250305090807", local(9, 8, 7, 0));
        for (text, instant) in [
            ("2025-03-05T09:00+02:00", "2025-03-05T07:00Z"),
            ("2025-03-05T09:00-0330", "2025-03-05T12:30Z"),
            ("2025-03-05T09:00Z", "2025-03-05T09:00Z"),
            ("2025-03-05T09:00+02", "2025-03-05T07:00Z"),
        ] {
            check("YYYY-MM-DDTHH:mmZ", text, Ok(ParsedDate::Instant(instant.parse().expect("a moment"))));
        }
    }

    #[test]
    fn impossible_dates_are_errors() {
        let message = |pattern: &str, text: &str| {
            DateFormat::parse(pattern).expect("a pattern").parse_date(text).expect_err("an error").to_string()
        };
        for (pattern, text, words) in [
            ("DD.MM.YYYY", "31.02.2025", "does not exist: February 2025 has 28 days"),
            ("DD.MM.YYYY", "00.00.0000", "is a placeholder for an unknown date, or has an impossible year"),
            ("DD.MM.YYYY", "31.12.9999", "is a placeholder for an unknown date, or has an impossible year"),
            ("DD.MM.YYYY", "12.31.2025", "has 31 as the month"),
            ("DD.MM.YYYY", "32.12.2025", "has 32 as the day"),
            ("DD.MM.YYYY HH:mm", "31.12.2025 24:00", "has 24 as the hour"),
            ("DD.MM.YYYY hh:mm A", "31.12.2025 13:00 PM", "has 13 as the hour"),
            ("DD.MM.YYYY", "31.12.25", "is not a date written as DD.MM.YYYY"),
            ("DD.MM.YYYY", "31.12.2025 x", "is not a date written as DD.MM.YYYY"),
            ("DD.MM.YY", "31.12.2025", "is not a date written as DD.MM.YY"),
            ("DD. MMMM YYYY", "5. Smarch 2025", "is not a date written as DD. MMMM YYYY"),
            ("YYYY-MM-DD HH:mmZ", "2025-01-01 10:00+99:00", "is not a date written as YYYY-MM-DD HH:mmZ"),
        ] {
            assert_eq!(message(pattern, text), words, "{text}");
        }
    }

    #[test]
    fn pattern_errors_have_a_range() {
        for (pattern, range, words) in [
            ("dd.MM.YYYY", 0..2, "'dd' is not a known part of a date pattern; did you mean 'DD'?"),
            ("DD.MM.yyyy", 6..10, "did you mean 'YYYY'?"),
            ("DD.MM.YYYY o", 11..12, "Put other letters in brackets: [o]"),
            ("%d.%m.%Y", 1..2, "did you mean 'DD'?"),
            ("DD.MM.YYYY YY", 11..13, "'YY' repeats"),
            ("DD.MM", 0..5, "has no year"),
            ("DD.mm.YYYY", 0..10, "has no month"),
            ("MM.YYYY", 0..7, "has no day"),
            ("DD.MM.YYYY hh:mm", 0..16, "need A for AM or PM"),
            ("DD.MM.YYYY HH:mm A", 0..18, "needs hours from 1 to 12"),
            ("DD.MM.YYYY :mm", 0..14, "has no hour"),
            ("DMMYYYY", 0..1, "write 'DD'"),
            ("DD [de MM YYYY", 3..4, "not closed"),
            ("", 0..0, "has no year"),
        ] {
            let error = DateFormat::parse(pattern).expect_err(pattern);
            assert!(error.message.contains(words), "{pattern}: {error}");
            assert_eq!(error.range, range, "{pattern}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_pattern_and_no_text_panics(pattern in "\\PC{0,12}|[YMDHhmsSAZT .:/\\[\\]年-]{0,16}", text in "\\PC{0,16}|[0-9./: +-]{0,16}") {
            if let Ok(format) = DateFormat::parse(&pattern) {
                let _ = format.parse_date(&text);
                let local = datetime(2025, 11, 22, 0, 0, 0, 0);
                let read = format.parse_date(&written(&format, local));
                let date = match read {
                    Ok(ParsedDate::Date(date)) => Some(date),
                    Ok(ParsedDate::Local(local)) => Some(local.date()),
                    _ => None,
                };
                if !pattern.contains(['[', 'Z']) && pattern.trim() == pattern {
                    prop_assert_eq!(date, Some(local.date()), "{}", pattern);
                }
            }
        }
    }
}
