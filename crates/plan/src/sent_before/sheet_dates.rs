//! Dates in columns of the sheet that are not sent, such as the date of an invoice. They tell records with the same number apart
//! if the numbers begin again each year.

use std::collections::HashMap;
use std::fmt;

use jiff::civil::Date;
use sheetport_ledger::{self as ledger, Ledger, Run, RunId, Seq};
use sheetport_mapping::model::same_header;
use sheetport_sheet::{Cell, Row};

/// Maximum number of columns to compare. Lists have one or two dates besides the sent ones.
const MAX_COLUMNS: usize = 3;
/// Maximum number of dates of earlier runs in memory, 8 bytes each.
const MAX_DATES: usize = 4_000_000;

/// The dates of a run and of the earlier runs that sent its records.
#[derive(Debug, Default)]
pub(super) struct SheetDates {
    own: Option<DatesOfRun>,
    earlier: HashMap<RunId, DatesOfRun>,
}

/// The dates of the records of a run.
#[derive(Debug, Default)]
struct DatesOfRun {
    /// The names of the columns.
    titles: Vec<String>,
    /// For each record, the first date in each column.
    dates: Vec<Option<SheetDate>>,
}

/// A date, as written. Whether the day or the month comes first is not decided, and not needed for a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SheetDate {
    year: i16,
    first: u8,
    second: u8,
    /// The sign before the year, or none if the year comes first.
    sign: Option<Sign>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Dot,
    Slash,
    Dash,
}

impl SheetDates {
    /// Describes how the dates of the record `seq` of `run` differ from those of a record of an earlier run. `None` if a column has
    /// the same date in both, or no column has a date in both: a report of the same invoices may have the day of its making.
    pub(super) async fn difference(
        &mut self,
        ledger: &Ledger,
        run: &Run,
        seq: Seq,
        earlier: (RunId, Seq),
    ) -> Result<Option<String>, ledger::Error> {
        if self.own.is_none() {
            let titles = titles(ledger, run).await?;
            self.own = Some(DatesOfRun::read(ledger, run, titles).await?);
        }
        let Some(own) = self.own.as_ref().filter(|own| !own.titles.is_empty()) else { return Ok(None) };
        if !self.earlier.contains_key(&earlier.0) {
            let titles = own.titles.clone();
            let known: usize = self.earlier.values().map(|known| known.dates.len()).sum();
            if known > MAX_DATES {
                self.earlier.clear();
            }
            let dates = match ledger.run(earlier.0).await {
                Ok(other) => DatesOfRun::read(ledger, &other, titles).await?,
                // Of a pruned run, only the claims are kept.
                Err(ledger::Error::NoSuchRun(_)) => DatesOfRun::default(),
                Err(error) => return Err(error),
            };
            self.earlier.insert(earlier.0, dates);
        }
        let then = self.earlier.get(&earlier.0);
        let pairs = own.titles.iter().enumerate().filter_map(|(column, title)| {
            Some((title, then?.date(earlier.1, title)?, own.dates_of(seq)?.get(column).copied()??))
        });
        let mut differences = Vec::new();
        for (title, then, now) in pairs {
            if then.is_same(now) {
                return Ok(None);
            }
            differences.push(format!("{title}: {then} then, {now} now"));
        }
        Ok((!differences.is_empty()).then(|| differences.join("; ")))
    }
}

impl DatesOfRun {
    /// Reads the dates in the columns with these titles.
    async fn read(ledger: &Ledger, run: &Run, titles: Vec<String>) -> Result<DatesOfRun, ledger::Error> {
        let header = &run.about.header;
        let position = |title: &String| header.iter().position(|name| same_header(name, title));
        let columns: Vec<(String, usize)> =
            titles.into_iter().filter_map(|title| position(&title).map(|column| (title, column))).collect();
        let mut read =
            DatesOfRun { titles: columns.iter().map(|(title, _)| title.clone()).collect(), dates: Vec::new() };
        if columns.is_empty() {
            return Ok(read);
        }
        let (mut cells, mut from) = (Row::default(), 0);
        while let Some(block) = ledger.source_block(run.id, from).await? {
            from = block.end();
            for row in &block.rows {
                if cells.decode_one(&row.cells).is_none() {
                    continue;
                }
                let Ok(place) = usize::try_from(row.seq) else { continue };
                let first = place * columns.len();
                if read.dates.len() < first + columns.len() {
                    read.dates.resize(first + columns.len(), None);
                }
                for (date, (_, column)) in read.dates[first..].iter_mut().zip(&columns) {
                    *date = date.or_else(|| SheetDate::of(cells.get(*column)));
                }
            }
        }
        Ok(read)
    }

    fn dates_of(&self, seq: Seq) -> Option<&[Option<SheetDate>]> {
        let first = usize::try_from(seq).ok()? * self.titles.len();
        self.dates.get(first..first + self.titles.len())
    }

    pub(crate) fn date(&self, seq: Seq, title: &str) -> Option<SheetDate> {
        let column = self.titles.iter().position(|known| known == title)?;
        self.dates_of(seq)?.get(column).copied()?
    }
}

/// Returns the titles of the columns that are not sent and have dates in the first rows.
async fn titles(ledger: &Ledger, run: &Run) -> Result<Vec<String>, ledger::Error> {
    let about = &run.about;
    let is_mapped = |column: usize| about.columns.iter().any(|(_, mapped)| *mapped == column);
    let free: Vec<usize> = (0..about.header.len())
        .filter(|column| !is_mapped(*column) && !about.header[*column].trim().is_empty())
        .collect();
    let mut found = vec![false; free.len()];
    let Some(block) = ledger.source_block(run.id, 0).await?.filter(|_| !free.is_empty()) else { return Ok(Vec::new()) };
    let mut cells = Row::default();
    for row in &block.rows {
        if cells.decode_one(&row.cells).is_some() {
            for (found, column) in found.iter_mut().zip(&free) {
                *found |= SheetDate::of(cells.get(*column)).is_some();
            }
        }
    }
    let dated =
        free.iter().zip(found).filter(|(_, found)| *found).map(|(column, _)| about.header[*column].trim().to_owned());
    Ok(dated.take(MAX_COLUMNS).collect())
}

impl SheetDate {
    fn of(cell: Cell<'_>) -> Option<SheetDate> {
        match cell {
            Cell::Date(date) => Some(SheetDate::from(date)),
            Cell::DateTime(at) => Some(SheetDate::from(at.date())),
            Cell::Text(text) => SheetDate::parse(text),
            _ => None,
        }
    }

    /// Reads `2026-01-31`, `31.01.2026`, `1/31/26` and the like, with or without a time.
    fn parse(text: &str) -> Option<SheetDate> {
        let date = text.trim().split([' ', 'T', '\u{a0}']).next()?;
        let sign = date.chars().find(|c| !c.is_ascii_digit())?;
        let mut parts = date.split(sign);
        let (a, b, c) = (parts.next()?, parts.next()?, parts.next()?);
        let is_number = |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if parts.next().is_some() || ![a, b, c].iter().all(is_number) {
            return None;
        }
        let of_two = |part: &str| (part.len() <= 2).then(|| part.parse::<u8>().ok()).flatten();
        let (year, first, second, sign) = match (sign, a.len(), c.len()) {
            ('-' | '/' | '.', 4, 1 | 2) => (a.parse::<i16>().ok()?, of_two(b)?, of_two(c)?, None),
            ('-', _, 2 | 4) => (year(c)?, of_two(a)?, of_two(b)?, Some(Sign::Dash)),
            ('/', _, 2 | 4) => (year(c)?, of_two(a)?, of_two(b)?, Some(Sign::Slash)),
            ('.', _, 2 | 4) => (year(c)?, of_two(a)?, of_two(b)?, Some(Sign::Dot)),
            _ => return None,
        };
        let is_day = |part: u8| (1..=31).contains(&part);
        let is_date = (1900..2200).contains(&year) && is_day(first) && is_day(second) && first.min(second) <= 12;
        is_date.then_some(SheetDate { year, first, second, sign })
    }

    /// Whether both may be the same date. 03/04/2026 may be the day after 2026-03-03 or after 2026-04-02.
    fn is_same(self, other: SheetDate) -> bool {
        let is_equal = (self.first, self.second) == (other.first, other.second);
        let is_open = self.sign.is_some() || other.sign.is_some();
        self.year == other.year && (is_equal || is_open && (self.second, self.first) == (other.first, other.second))
    }
}

/// Returns a year of two or four digits.
fn year(part: &str) -> Option<i16> {
    let year = part.parse::<i16>().ok()?;
    Some(if part.len() == 2 { 2000 + year } else { year })
}

impl From<Date> for SheetDate {
    fn from(date: Date) -> SheetDate {
        let part = |part: i8| u8::try_from(part).expect("months and days are positive");
        SheetDate { year: date.year(), first: part(date.month()), second: part(date.day()), sign: None }
    }
}

impl fmt::Display for SheetDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SheetDate { year, first, second, sign } = self;
        match sign {
            None => write!(f, "{year:04}-{first:02}-{second:02}"),
            Some(Sign::Dot) => write!(f, "{first:02}.{second:02}.{year}"),
            Some(Sign::Slash) => write!(f, "{first}/{second}/{year}"),
            Some(Sign::Dash) => write!(f, "{first:02}-{second:02}-{year}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_compared_without_the_order_of_day_and_month() {
        let date = |text| SheetDate::parse(text).unwrap_or_else(|| panic!("{text}"));
        for (then, now, is_same) in [
            ("2025-01-10", "2026-01-10", false),
            ("2025-01-10", "2025-01-11", false),
            ("2025-01-10", "2025-10-01", false),
            ("2025-01-10", "10.01.2025", true),
            ("2025-01-10", "1/10/25", true),
            ("2025-01-10 14:05", "2025-01-10T00:00:00Z", true),
            ("03/04/2025", "04/03/2025", true),
            ("31.01.2025", "31.01.2026", false),
            ("10-01-2025", "2025/1/10", true),
        ] {
            assert_eq!(date(then).is_same(date(now)), is_same, "{then} {now}");
        }
        for text in [
            "",
            "2026",
            "1.2",
            "1.2.3",
            "127.0.0.1",
            "2026-101",
            "2026-13-32",
            "31.31.2026",
            "A-1-2026",
            "10.01.",
            "1-2-3-4",
        ] {
            assert_eq!(SheetDate::parse(text), None, "{text}");
        }
        assert_eq!(date("1.2.26").to_string(), "01.02.2026");
        assert_eq!(SheetDate::from(jiff::civil::date(2026, 1, 10)).to_string(), "2026-01-10");
    }
}
