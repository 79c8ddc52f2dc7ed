//! Columns of few different values of which one decides another: a country the currency, the letters of a number the direction of the movement,
//! a status whether there is a date. A row that has another value is in doubt.

use std::borrow::Cow;

use sheetport_findings::Code;
use sheetport_sheet::Row;
use sheetport_values::normalize::trimmed;
use twox_hash::XxHash3_64;

use super::finding::Finding;
use super::roles::{Meaning, Quantity, Roles, record_of};

/// Most columns that are compared with each other.
const MAX_COLUMNS: usize = 12;
/// Most rows that are compared.
const MAX_ROWS: usize = 4096;
/// Most different values of a column that decides another or is decided.
const MAX_VALUES: usize = 24;
/// Maximum length of a value in bytes. A longer one is a description.
const MAX_BYTES: usize = 60;
/// Fewest rows for each value of a column that decides another. With two, an honest list of drugs in two rooms has an exception.
const MIN_ROWS: usize = 3;
/// Fewest rows of a value by which another row with it is wrong.
const FEWEST: u32 = 3;
/// The evidence, in powers of ten, that the rows of one value agree by more than chance.
const OF_VALUE: f64 = 1.0;
/// The evidence of all rows, less what it costs to have tried all pairs of columns, and each row as the exception.
const OF_ROWS: f64 = 3.0;

/// What of a cell is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    /// The letters at the beginning of an identifier.
    Letters,
    /// Whether there is a value.
    Filled,
}

/// The values of a part of a column.
#[derive(Clone, Debug)]
struct Values {
    column: usize,
    part: Part,
    different: Vec<Value>,
    /// By row: the place of its value, from 1; 0 for none.
    rows: Vec<u8>,
    are_many: bool,
}

#[derive(Clone, Debug)]
struct Value {
    hash: u64,
    text: String,
    rows: u32,
}

/// Collects the values that stand beside each other.
#[derive(Clone, Debug)]
pub(super) struct DependenceCounts {
    values: Vec<Values>,
    /// The columns that identify the record of a row, and the record of each row.
    group: Vec<usize>,
    records: Vec<u64>,
}

/// A value beside which all other rows have another one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dependence {
    from: (usize, Part, u64),
    to: (usize, Part, u64),
    /// The column with a field, and the field.
    column: usize,
    field: &'static str,
    message: String,
}

impl DependenceCounts {
    pub(super) fn new(roles: &Roles) -> DependenceCounts {
        // The rows of a report are those with problems.
        let columns = roles.mapped.iter().map(|(column, _)| *column).chain(roles.unmapped.iter().copied());
        let columns: Vec<usize> = columns.filter(|_| roles.status.is_none()).collect();
        // Prices, quantities and dates differ honestly, and what a record repeats on its rows is compared with it.
        let is_number = |column: usize| {
            let is_amount = |(other, it): &(usize, Quantity)| *other == column && it.meaning != Meaning::TaxRate;
            roles.numbers.iter().any(is_amount) || roles.dates.iter().any(|(date, _)| *date == column)
        };
        let whole = columns.iter().filter(|column| !is_number(**column) && !roles.group.contains(column));
        let letters = columns.iter().copied().filter(|column| !is_number(*column));
        let parts = whole.map(|column| (*column, Part::Whole)).chain(letters.map(|column| (column, Part::Letters)));
        let values = parts.chain(columns.iter().map(|column| (*column, Part::Filled))).map(|(column, part)| Values {
            column,
            part,
            different: Vec::new(),
            rows: Vec::new(),
            are_many: false,
        });
        DependenceCounts { values: values.collect(), group: roles.group.clone(), records: Vec::new() }
    }

    pub(super) fn row(&mut self, row: &Row) {
        if self.values.iter().all(|values| values.are_many) || self.records.len() >= MAX_ROWS {
            return;
        }
        self.values.iter_mut().for_each(|values| values.row(row));
        let record =
            record_of(&self.group, row).or_else(|| self.records.last().copied().filter(|_| !self.group.is_empty()));
        let record = record.unwrap_or(row.number);
        self.records.push(record);
    }

    pub(super) fn dependences(&self, roles: &Roles) -> Vec<Dependence> {
        let compared = self.values.iter().filter(|values| !values.are_many && values.different.len() > 1);
        let compared: Vec<&Values> = compared.take(MAX_COLUMNS).collect();
        let pairs = compared.iter().flat_map(|from| compared.iter().map(move |to| (*from, *to)));
        let pairs: Vec<_> =
            pairs.filter(|(from, to)| from.column != to.column && from.decides() && to.is_decided(roles)).collect();
        let tried = (pairs.len().max(1) as f64).log10();
        pairs.iter().flat_map(|(from, to)| dependence(from, to, (tried, &self.records), roles)).collect()
    }
}

impl Values {
    fn row(&mut self, row: &Row) {
        if self.are_many || self.rows.len() >= MAX_ROWS {
            return;
        }
        let cell = row.get(self.column);
        let shown = cell.shown();
        let Some(text) = self.part.of(&shown) else {
            self.rows.push(0);
            return;
        };
        if text.len() > MAX_BYTES {
            (self.are_many, self.different, self.rows) = (true, Vec::new(), Vec::new());
            return;
        }
        let hash = XxHash3_64::oneshot(text.as_bytes());
        let known = self.different.iter().position(|value| value.hash == hash);
        let place = known.unwrap_or(self.different.len());
        if known.is_none() {
            if place >= MAX_VALUES {
                (self.are_many, self.different, self.rows) = (true, Vec::new(), Vec::new());
                return;
            }
            self.different.push(Value { hash, text: text.into_owned(), rows: 0 });
        }
        if let Some(value) = self.different.get_mut(place) {
            value.rows += 1;
        }
        self.rows.push(u8::try_from(place + 1).unwrap_or(0));
    }
}

impl Values {
    /// Whether rows with the same value can be expected to have something in common: the value is a word, and repeats.
    fn decides(&self) -> bool {
        self.part != Part::Filled && self.are_words() && self.different.len() * MIN_ROWS <= self.rows.len()
    }

    /// Whether the values are words, a rate, or there is one or none. Other numbers and dates differ honestly.
    fn is_decided(&self, roles: &Roles) -> bool {
        self.part == Part::Filled || self.are_words() || roles.numbers.iter().any(|(column, _)| *column == self.column)
    }

    fn are_words(&self) -> bool {
        self.different.iter().all(|value| value.text.chars().any(char::is_alphabetic))
    }
}

impl Part {
    fn of(self, shown: &str) -> Option<Cow<'_, str>> {
        let text = trimmed(shown);
        match self {
            Part::Filled => Some(Cow::Borrowed(if text.is_empty() { "" } else { "*" })),
            _ if text.is_empty() => None,
            Part::Whole => Some(Cow::Borrowed(text)),
            Part::Letters if text.len() > MAX_BYTES => None,
            Part::Letters => {
                let end = text.find(|c: char| !c.is_alphabetic()).filter(|end| *end > 0)?;
                Some(Cow::Borrowed(&text[..end]))
            }
        }
    }
}

/// Returns the rows that have another value than all others with the same one.
fn dependence(from: &Values, to: &Values, (tried, records): (f64, &[u64]), roles: &Roles) -> Vec<Dependence> {
    let field = |values: &Values| roles.mapped_at(values.column);
    let Some((column, field)) = field(to).or_else(|| field(from)) else { return Vec::new() };
    let mut beside = [[0_u32; MAX_VALUES]; MAX_VALUES];
    let mut both = 0_u32;
    for (from, to) in from.rows.iter().zip(&to.rows) {
        let places = (usize::from(*from).checked_sub(1), usize::from(*to).checked_sub(1));
        if let (Some(from), Some(to)) = places
            && let Some(count) = beside.get_mut(from).and_then(|row| row.get_mut(to))
        {
            *count += 1;
            both += 1;
        }
    }
    let (mut evidence, mut confirmed, mut others, mut odd) = (0.0, 0, 0, Vec::new());
    for (value, counts) in from.different.iter().zip(&beside) {
        let Some((usual, most)) = counts.iter().copied().enumerate().max_by_key(|(_, count)| *count) else { continue };
        let Some(usual) = to.different.get(usual).filter(|_| most > 0) else { continue };
        let share = f64::from(usual.rows) / f64::from(both.max(usual.rows));
        let of_value = f64::from(most - 1) * -share.log10();
        (evidence, confirmed) = (evidence + of_value, confirmed + most - 1);
        for (other, count) in
            to.different.iter().zip(counts).filter(|(other, count)| **count > 0 && other.hash != usual.hash)
        {
            others += count;
            if most >= FEWEST && most > 2 * count && of_value >= OF_VALUE {
                odd.push((value, usual, other, *count));
            }
        }
    }
    let few = (confirmed / 100).max(1);
    let is_few = others <= few || are_of_one_record(from, to, &odd, records);
    let is_sound = is_few && odd.iter().map(|(.., count)| count).sum::<u32>() == others;
    if !is_sound || evidence - tried - f64::from(both.max(1)).log10() < OF_ROWS {
        return Vec::new();
    }
    let dependence = |(value, usual, other, _): (&Value, &Value, &Value, u32)| Dependence {
        from: (from.column, from.part, value.hash),
        to: (to.column, to.part, other.hash),
        column,
        field,
        message: {
            let (from_name, to_name) = (roles.name_of(from.column), roles.name_of(to.column));
            let (text, beside) = (&other.text, &value.text);
            match (to.part, text.is_empty()) {
                (Part::Filled, true) => format!(
                    "has nothing under {to_name} beside '{beside}' under {from_name}, and all other rows with it have a value"
                ),
                (Part::Filled, false) => {
                    format!(
                        "has a value under {to_name} beside '{beside}' under {from_name}, and no other row with it has one"
                    )
                }
                (Part::Whole | Part::Letters, _) => format!(
                    "has '{text}' under {to_name} beside '{beside}' under {from_name}, and all other rows with it have '{}'",
                    usual.text
                ),
            }
        },
    };
    odd.into_iter().map(dependence).collect()
}

/// Whether all rows with these pairs of values are of one record, which repeats its values.
fn are_of_one_record(from: &Values, to: &Values, odd: &[(&Value, &Value, &Value, u32)], records: &[u64]) -> bool {
    let hash = |values: &Values, place: u8| {
        let value = usize::from(place).checked_sub(1).and_then(|place| values.different.get(place));
        value.map(|value| value.hash)
    };
    let is_odd = |one: Option<u64>, other: Option<u64>| {
        odd.iter().any(|(value, _, odd, _)| Some(value.hash) == one && Some(odd.hash) == other)
    };
    let pairs = from.rows.iter().zip(&to.rows).zip(records);
    let mut of = pairs.filter(|((one, other), _)| is_odd(hash(from, **one), hash(to, **other))).map(|(_, it)| *it);
    let first = of.next();
    of.all(|record| Some(record) == first)
}

impl Dependence {
    pub(super) fn judge(&self, row: &Row) -> Option<Finding> {
        let has = |(column, part, hash): (usize, Part, u64)| {
            let cell = row.get(column);
            let shown = cell.shown();
            part.of(&shown).is_some_and(|text| XxHash3_64::oneshot(text.as_bytes()) == hash)
        };
        (has(self.from) && has(self.to)).then(|| Finding {
            code: Code::UnlikeOthers,
            column: self.column,
            field: self.field,
            value: row.get(self.column).shown().trim().to_owned(),
            message: self.message.clone(),
            remedy: "correct the cell that is wrong; if both are right, send the row with --accept unlike-others"
                .to_owned(),
            is_warning: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::*;

    /// Returns the rows, from 2, with a value that another one contradicts.
    fn odd(header: &[&str], rows: &[Vec<&str>], group: &[usize]) -> Vec<u64> {
        let roles = Roles {
            mapped: vec![(0, "currency")],
            unmapped: (1..header.len()).collect(),
            group: group.to_vec(),
            names: header.iter().map(|name| (*name).to_owned()).collect(),
            ..Roles::default()
        };
        let rows: Vec<Row> = (2..).zip(rows).map(|(number, texts)| row(number, texts)).collect();
        let mut counts = DependenceCounts::new(&roles);
        rows.iter().for_each(|row| counts.row(row));
        let found = counts.dependences(&roles);
        let is_odd = |row: &&Row| found.iter().any(|dependence| dependence.judge(row).is_some());
        rows.iter().filter(is_odd).map(|row| row.number).collect()
    }

    #[test]
    fn a_value_that_contradicts_the_one_that_decides_it_is_found() {
        let countries = [["EUR", "DE"], ["CHF", "CH"], ["SEK", "SE"]];
        let mut rows: Vec<Vec<&str>> = (0..24).map(|n| countries[n % 3].to_vec()).collect();
        let check = |rows: &[Vec<&str>]| odd(&["Currency", "Country"], rows, &[]);
        assert!(check(&rows).is_empty());
        rows[7][0] = "EUR";
        assert_eq!(check(&rows), [9]);
        // Two are no mistake.
        rows[10][0] = "EUR";
        assert!(check(&rows).is_empty());
        // Nor is the only one that has another value than nearly all rows.
        let mut rows: Vec<Vec<&str>> = (0..24).map(|n| vec!["EUR", ["DE", "AT", "NL"][n % 3]]).collect();
        rows[7][0] = "USD";
        assert!(check(&rows).is_empty());
    }

    #[test]
    fn letters_of_numbers_and_blanks_decide_and_are_decided() {
        let numbers: Vec<String> = (0..24).map(|n| format!("{}-{n}", ["GI", "GR"][n % 2])).collect();
        let mut rows: Vec<Vec<&str>> =
            numbers.iter().enumerate().map(|(n, number)| vec![["out", "in"][n % 2], number.as_str()]).collect();
        rows[8][0] = "in";
        assert_eq!(odd(&["Type", "Document"], &rows, &[]), [10]);
        let paid = |n: usize| if n.is_multiple_of(2) { vec!["paid", "2026-09-01"] } else { vec!["open", ""] };
        let mut rows: Vec<Vec<&str>> = (0..24).map(paid).collect();
        rows[5][1] = "2026-09-02";
        assert_eq!(odd(&["Status", "Paid on"], &rows, &[]), [7]);
        // Both rows of one record.
        rows.iter_mut().enumerate().for_each(|(n, row)| row.push(["A", "B", "C", "D"][n / 6]));
        rows[5][1] = "2026-09-02";
        rows[3][1] = "2026-09-02";
        assert_eq!(odd(&["Status", "Paid on", "Invoice"], &rows, &[2]), [5, 7]);
    }
}
