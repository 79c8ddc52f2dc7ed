//! Rows out of order: in a list that is sorted by date, numbered consecutively, or in which the rows of a record stand together, one row
//! that breaks this was probably mistyped.

use jiff::civil;
use sheetport_findings::Code;
use sheetport_sheet::{Cell, Row};
use sheetport_values::normalize::trimmed;

use super::finding::OddRows;
use super::roles::Roles;

/// Fewest values of a list whose order says something.
const FEWEST: u64 = 12;
/// Fewest steps to another value. A list of one day is in any order.
const FEWEST_STEPS: u64 = 8;
/// A date breaks the order from this distance on, in days: people enter what they find on their desk.
const FAR_DAYS: i64 = 7;
/// Most rows out of order that are remembered. A list with more of them is not sorted.
const MAX_ODD: usize = 64;
/// Longest text of an identifier in bytes.
const MAX_BYTES: usize = 64;

/// The sequences of a sheet.
#[derive(Clone, Debug)]
pub(super) struct Sequences {
    dates: Vec<DateSequence>,
    keys: Vec<KeySequence>,
    group: Option<GroupSequence>,
}

impl Sequences {
    /// Returns the sequences to look for. Rows of a report have the order that a person gave them.
    pub(super) fn new(roles: &Roles) -> Sequences {
        if roles.status.is_some() {
            return Sequences { dates: Vec::new(), keys: Vec::new(), group: None };
        }
        let keys = roles.formed.iter().filter(|formed| roles.keys.contains(&formed.column));
        Sequences {
            dates: roles.dates.iter().map(|(column, field)| DateSequence::new(*column, field)).collect(),
            keys: keys.map(|formed| KeySequence::new(formed.column, formed.field)).collect(),
            group: roles.group.first().map(|_| GroupSequence::default()),
        }
    }

    pub(super) fn row(&mut self, roles: &Roles, row: &Row) {
        self.dates.iter_mut().for_each(|dates| dates.row(row));
        self.keys.iter_mut().for_each(|keys| keys.row(row));
        self.group.iter_mut().for_each(|group| group.row(&roles.group, row));
    }

    pub(super) fn out_of_order(&self, roles: &Roles) -> Vec<OddRows> {
        let dates = self.dates.iter().filter_map(DateSequence::out_of_order);
        let keys = self.keys.iter().filter_map(KeySequence::out_of_order);
        let group = self.group.iter().filter_map(|group| group.out_of_order(roles));
        dates.chain(keys).chain(group).collect()
    }
}

/// A value that is not between its neighbours, although these are in order.
#[derive(Clone, Copy, Debug)]
struct Spike {
    row: u64,
    before: i64,
    after: i64,
    /// The distance from the nearer neighbour.
    distance: i64,
}

/// A column in ascending order, but for single values.
#[derive(Clone, Debug, Default)]
struct Ascending {
    /// The last two different values in order, with the first row of the second one.
    window: (Option<i64>, Option<(i64, u64)>),
    spikes: Vec<Spike>,
    values: u64,
    /// Steps to another value, and those to the next whole number.
    steps: u64,
    next: u64,
    is_unordered: bool,
}

impl Ascending {
    fn add(&mut self, value: i64, row: u64) {
        self.values += 1;
        // The rows of a record have one value.
        if self.is_unordered || self.window.1.is_some_and(|(last, _)| last == value) {
            return;
        }
        let (Some(first), Some((middle, place))) = self.window else {
            self.window = match self.window.1 {
                Some((middle, _)) => (Some(middle), Some((value, row))),
                None => (None, Some((value, row))),
            };
            return;
        };
        let is_between = (first..=value).contains(&middle);
        if first <= value && !is_between {
            let distance = if middle < first { first - middle } else { middle - value };
            self.spikes.push(Spike { row: place, before: first, after: value, distance });
            self.is_unordered = self.spikes.len() > MAX_ODD;
            self.window = (Some(first), Some((value, row)));
            return;
        }
        // The pair that leaves the window is not in order, and no single value is to blame.
        self.is_unordered = middle < first;
        self.steps += u64::from(middle != first);
        self.next += u64::from(middle == first + 1);
        self.window = (Some(middle), Some((value, row)));
    }

    /// Returns whether the values are in order but for single ones.
    fn is_ordered(&self) -> bool {
        let ends_in_order = match self.window {
            (Some(first), Some((last, _))) => first <= last,
            _ => true,
        };
        !self.is_unordered && ends_in_order && self.values >= FEWEST && self.steps >= FEWEST_STEPS
    }

    /// Returns the spikes for which `is_odd` holds, if they are few.
    fn few(&self, is_odd: impl Fn(&&Spike) -> bool) -> Vec<&Spike> {
        let odd: Vec<&Spike> = self.spikes.iter().filter(is_odd).collect();
        let few = (self.values / 100).max(1);
        if self.is_ordered() && odd.len() as u64 <= few { odd } else { Vec::new() }
    }
}

/// A column of dates. Of texts with two numbers that may be the month, both readings are tried, in both orders.
#[derive(Clone, Debug)]
struct DateSequence {
    column: usize,
    field: &'static str,
    /// By reading, then ascending and descending.
    orders: [[Ascending; 2]; 2],
    others: u64,
}

impl DateSequence {
    fn new(column: usize, field: &'static str) -> DateSequence {
        DateSequence { column, field, orders: Default::default(), others: 0 }
    }

    fn row(&mut self, row: &Row) {
        if self.orders.iter().flatten().all(|order| order.is_unordered) {
            return;
        }
        let cell = row.get(self.column);
        let days = days(&cell);
        if days.is_none() {
            self.others += u64::from(!cell.is_blank());
        }
        for (day, orders) in days.into_iter().flatten().zip(&mut self.orders) {
            orders[0].add(day, row.number);
            orders[1].add(-day, row.number);
        }
    }

    fn out_of_order(&self) -> Option<OddRows> {
        let all = self.orders[0][0].values;
        if self.others * 20 > all {
            return None;
        }
        let orders = || self.orders.iter().flatten();
        // Sorted in one of the readings, nothing is out of order.
        if orders().any(|order| order.is_ordered() && order.spikes.iter().all(|spike| spike.distance < FAR_DAYS)) {
            return None;
        }
        let is_odd = |spike: &&Spike| spike.distance >= FAR_DAYS && spike.distance > 2 * (spike.after - spike.before);
        let odd = orders().map(|order| order.few(is_odd)).filter(|odd| !odd.is_empty()).min_by_key(Vec::len)?;
        let message = |spike: &Spike| {
            let (one, other) = (shown(spike.before.abs()), shown(spike.after.abs()));
            match one == other {
                true => format!("stands between dates of {one} in a list in order of the dates"),
                false => format!("stands between {one} and {other} in a list in order of the dates"),
            }
        };
        let rows = odd.into_iter().map(|spike| (spike.row, message(spike))).collect();
        Some(OddRows::new(Code::ImplausibleDate, (self.column, self.field), rows))
    }
}

/// Returns the day of a date, counted from 0000-01-01: with the day before the month, and the other way round.
pub(super) fn days(cell: &Cell<'_>) -> Option<[i64; 2]> {
    let of = |date: civil::Date| {
        let days = (date - civil::Date::ZERO).get_days();
        i64::from(days)
    };
    let text = match cell {
        Cell::Date(date) => return Some([of(*date); 2]),
        Cell::DateTime(time) => return Some([of(time.date()); 2]),
        Cell::Text(text) if text.len() <= MAX_BYTES => trimmed(text),
        _ => return None,
    };
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let [first, second, third] = [numbers.next()?, numbers.next()?, numbers.next()?];
    let number = |digits: &str| digits.parse::<i16>().ok();
    let date = |year: &str, month: &str, day: &str| {
        let (month, day) = (i8::try_from(number(month)?).ok()?, i8::try_from(number(day)?).ok()?);
        civil::Date::new(number(year)?, month, day).ok().map(of)
    };
    if first.len() == 4 {
        return date(first, second, third).map(|day| [day; 2]);
    }
    if third.len() != 4 {
        return None;
    }
    let (one, other) = (date(third, second, first), date(third, first, second));
    Some([one.or(other)?, other.or(one)?])
}

pub(super) fn shown(days: i64) -> String {
    let date =
        i32::try_from(days).ok().and_then(|days| civil::Date::ZERO.checked_add(jiff::Span::new().days(days)).ok());
    date.map_or_else(String::new, |date| date.to_string())
}

/// A column of identifiers that are numbered consecutively, behind a common beginning.
#[derive(Clone, Debug)]
struct KeySequence {
    column: usize,
    field: &'static str,
    /// What stands before the number in the first identifier.
    beginning: Option<String>,
    /// Ascending and descending.
    orders: [Ascending; 2],
    others: u64,
}

impl KeySequence {
    fn new(column: usize, field: &'static str) -> KeySequence {
        KeySequence { column, field, beginning: None, orders: Default::default(), others: 0 }
    }

    fn row(&mut self, row: &Row) {
        if self.orders.iter().all(|order| order.is_unordered) {
            return;
        }
        let cell = row.get(self.column);
        let text = cell.shown();
        let text = trimmed(&text);
        if text.is_empty() {
            return;
        }
        let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (beginning, number) = text.split_at(text.len() - digits);
        let number = number.parse::<i64>().ok().filter(|_| text.len() <= MAX_BYTES && digits <= 15);
        let is_same = beginning == self.beginning.get_or_insert_with(|| beginning.to_owned());
        match number.filter(|_| is_same) {
            Some(number) => {
                self.orders[0].add(number, row.number);
                self.orders[1].add(-number, row.number);
            }
            None => self.others += 1,
        }
    }

    fn out_of_order(&self) -> Option<OddRows> {
        if self.others * 20 > self.orders[0].values {
            return None;
        }
        // A number is missing between the neighbours, which all others have not.
        let is_odd = |spike: &&Spike| spike.after - spike.before == 2;
        let is_consecutive = |order: &&Ascending| (order.next + order.spikes.len() as u64) * 20 >= order.steps * 19;
        let odd = self.orders.iter().filter(is_consecutive).find_map(|order| {
            Some(order.few(is_odd)).filter(|odd| odd.len() == order.spikes.len() && !odd.is_empty())
        })?;
        let beginning = self.beginning.as_deref().unwrap_or_default();
        let message = |spike: &Spike| {
            let [before, after] = [spike.before.abs(), spike.after.abs()];
            let missing = (before + after) / 2;
            format!("stands where the consecutive numbers of the others lack {beginning}{missing}")
        };
        let rows = odd.into_iter().map(|spike| (spike.row, message(spike))).collect();
        Some(OddRows::new(Code::UnlikeOthers, (self.column, self.field), rows))
    }
}

/// The texts that identify the record of each row, as far as rows of a record stand together.
#[derive(Clone, Debug, Default)]
struct GroupSequence {
    /// The text of the current row; reused.
    text: String,
    /// The texts of the last two rows, and the number of the last one.
    window: (Option<String>, Option<(String, u64)>),
    /// Rows with the same text as the row above, and those with another one.
    equal: u64,
    others: u64,
    /// Rows between two rows of the same record, with its text.
    between: Vec<(u64, String)>,
}

impl GroupSequence {
    fn row(&mut self, columns: &[usize], row: &Row) {
        let GroupSequence { text, window, .. } = self;
        text.clear();
        let mut is_blank = true;
        for (nth, column) in columns.iter().enumerate() {
            let cell = row.get(*column);
            let shown = cell.shown();
            if shown.len() > MAX_BYTES {
                return;
            }
            let part = trimmed(&shown);
            is_blank &= part.is_empty();
            text.push_str(if nth > 0 { " " } else { "" });
            text.push_str(part);
        }
        // A blank cell may mean the record above.
        if is_blank {
            return;
        }
        if let (Some(first), Some((middle, place))) = &*window
            && first == text
            && middle != text
            && self.between.len() < MAX_ODD
        {
            self.between.push((*place, text.clone()));
        }
        let last = window.1.take();
        match &last {
            Some((last, _)) if last == text => self.equal += 1,
            Some(_) => self.others += 1,
            None => {}
        }
        let spare = window.0.take().unwrap_or_default();
        *window = (last.map(|(text, _)| text), Some((std::mem::replace(text, spare), row.number)));
    }

    fn out_of_order(&self, roles: &Roles) -> Option<OddRows> {
        let column = *roles.group.first()?;
        let between = self.between.len() as u64;
        // Each record that stands apart from its rows is a step away and back.
        let few = (self.others / 100).max(1);
        if between == 0 || between > few || self.equal < FEWEST_STEPS || self.equal + self.others < FEWEST {
            return None;
        }
        let of_column = |formed: &&super::roles::Formed| formed.column == column;
        let field = roles.formed.iter().find(of_column).map_or("", |formed| formed.field);
        let message = |text: &str| {
            format!("stands between rows of {text}, in a list in which the rows of a record stand together")
        };
        let rows = self.between.iter().map(|(row, text)| (*row, message(text))).collect();
        Some(OddRows::new(Code::UnlikeOthers, (column, field), rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u64, text: &str) -> Row {
        let mut row = Row::default();
        row.clear(number);
        row.push(Cell::Text(text));
        row
    }

    fn numbered(texts: &[String]) -> Vec<Row> {
        (2..).zip(texts).map(|(number, text)| row(number, text)).collect()
    }

    fn odd(found: Option<OddRows>) -> Vec<u64> {
        found.map_or_else(Vec::new, |found| found.rows.into_iter().map(|(row, _)| row).collect())
    }

    /// Returns the rows of a list of the days of March and April 2026 that are out of order, with changed ones.
    fn dates(written: fn(i32) -> String, changed: &[(usize, &str)]) -> Vec<u64> {
        let mut texts: Vec<String> = (0..40).map(written).collect();
        for (at, text) in changed {
            texts[*at] = (*text).to_owned();
        }
        let mut sequence = DateSequence::new(0, "orderAt");
        numbered(&texts).iter().for_each(|row| sequence.row(row));
        odd(sequence.out_of_order())
    }

    #[test]
    fn a_date_far_from_its_neighbours_breaks_a_sorted_list() {
        let iso = |day: i32| (civil::date(2026, 3, 1) + jiff::Span::new().days(day)).to_string();
        let german =
            |day: i32| (civil::date(2026, 3, 1) + jiff::Span::new().days(day)).strftime("%d.%m.%Y").to_string();
        assert!(dates(iso, &[]).is_empty());
        assert_eq!(dates(iso, &[(10, "2026-11-03")]), [12]);
        assert_eq!(dates(iso, &[(10, "2026-01-11")]), [12]);
        assert_eq!(dates(german, &[(3, "03.04.2026")]), [5]);
        assert_eq!(
            dates(|day| (civil::date(2026, 3, 1) - jiff::Span::new().days(day)).to_string(), &[(9, "2026-04-20")]),
            [11]
        );
        // Entered a few days later, at either end, and two lists one below the other.
        assert!(dates(iso, &[(10, "2026-03-08")]).is_empty());
        assert!(dates(iso, &[(39, "2026-03-01")]).is_empty());
        assert!(dates(iso, &[(0, "2026-03-30")]).is_empty());
        let again: Vec<(usize, String)> = (20..40).map(|at| (at, iso(at as i32 - 20))).collect();
        let again: Vec<(usize, &str)> = again.iter().map(|(at, text)| (*at, text.as_str())).collect();
        assert!(dates(iso, &again).is_empty());
    }

    #[test]
    fn a_number_in_the_place_of_the_missing_one_breaks_consecutive_numbers() {
        let keys = |changed: &[(usize, &str)]| {
            let mut texts: Vec<String> = (0..30).map(|number| format!("RE-{}", 1001 + number)).collect();
            for (at, text) in changed {
                texts[*at] = (*text).to_owned();
            }
            let mut sequence = KeySequence::new(0, "externalId");
            numbered(&texts).iter().for_each(|row| sequence.row(row));
            sequence.out_of_order().map_or_else(Vec::new, |found| found.rows)
        };
        let (place, message) = keys(&[(5, "RE-1060")]).remove(0);
        assert_eq!((place, message.as_str()), (7, "stands where the consecutive numbers of the others lack RE-1006"));
        assert!(keys(&[]).is_empty());
        assert!(keys(&[(5, "RE-1060"), (9, "RE-900")]).is_empty(), "two of thirty");
        // Inserted: nothing is missing.
        assert!(keys(&[(5, "RE-1005")]).is_empty());
        assert!(keys(&[(5, "GS-1060")]).is_empty());
    }

    #[test]
    fn a_row_between_the_rows_of_a_record_stands_apart() {
        let groups = |changed: &[(usize, &str)]| {
            let mut texts: Vec<String> = (0..30).map(|line| format!("{}", 5001 + line / 3)).collect();
            for (at, text) in changed {
                texts[*at] = (*text).to_owned();
            }
            let mut sequence = GroupSequence::default();
            numbered(&texts).iter().for_each(|row| sequence.row(&[0], row));
            let roles = Roles { group: vec![0], ..Roles::default() };
            odd(sequence.out_of_order(&roles))
        };
        assert!(groups(&[]).is_empty());
        assert_eq!(groups(&[(13, "5007")]), [15]);
        assert_eq!(groups(&[(13, "5050")]), [15]);
        assert!(groups(&[(4, "5007"), (13, "5007")]).is_empty());
        // A blank cell means the record above.
        assert!(groups(&[(13, "")]).is_empty());
    }
}
