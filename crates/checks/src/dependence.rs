//! Columns of few different values of which one decides another: a country the currency, the letters of a number the direction of the movement,
//! a status whether there is a date. A row that has another value is in doubt.

use sheetport_sheet::Row;
use sheetport_values::normalize::trimmed;
use twox_hash::XxHash3_64;

use super::finding::Finding;
use super::roles::{Meaning, Quantity, Roles};
use super::sample::{Column, Part, Sample};

/// Most columns that are compared with each other.
const MAX_COLUMNS: usize = 12;
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

/// The values of a part of a column.
struct Values<'s> {
    column: usize,
    part: Part,
    different: Vec<Value<'s>>,
    /// By row: the place of its value, from 1; 0 for none.
    rows: Vec<u16>,
}

struct Value<'s> {
    hash: u64,
    text: &'s str,
    rows: u32,
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

pub(super) fn dependences(roles: &Roles, sample: &Sample) -> Vec<Dependence> {
    // Prices, quantities and dates differ honestly, and what a record repeats on its rows is compared with it.
    let is_number = |column: usize| {
        let is_amount = |(other, it): &(usize, Quantity)| *other == column && it.meaning != Meaning::TaxRate;
        roles.numbers.iter().any(is_amount) || roles.dates.iter().any(|(date, _)| *date == column)
    };
    let of_part = |part: Part| {
        let columns = sample.columns.iter().filter(move |column| match part {
            Part::Whole => !is_number(column.index) && !roles.group.contains(&column.index),
            _ => part == Part::Filled || !is_number(column.index),
        });
        columns.filter_map(move |column| Values::of(column, part))
    };
    // Exports with a column for everything leave most of them blank.
    let is_wide = roles.mapped.len() + roles.unmapped.len() > sample.columns.len();
    let parts = [Part::Whole, Part::Letters, Part::Filled].into_iter().take(if is_wide { 2 } else { 3 });
    let values: Vec<Values<'_>> = parts.flat_map(of_part).collect();
    let compared: Vec<&Values<'_>> =
        values.iter().filter(|values| values.different.len() > 1).take(MAX_COLUMNS).collect();
    let pairs = compared.iter().flat_map(|from| compared.iter().map(move |to| (*from, *to)));
    let pairs: Vec<_> =
        pairs.filter(|(from, to)| from.column != to.column && from.decides() && to.is_decided(roles)).collect();
    let tried = (pairs.len().max(1) as f64).log10();
    pairs.iter().flat_map(|(from, to)| dependence(from, to, (tried, &sample.records), roles)).collect()
}

impl<'s> Values<'s> {
    /// Returns the values of a part of a column, if they are few and short.
    fn of(column: &'s Column, part: Part) -> Option<Values<'s>> {
        let texts = column.texts(part)?;
        let mut different: Vec<Value<'_>> =
            texts.first.iter().map(|(hash, text)| Value { hash: *hash, text, rows: 0 }).collect();
        let are_few = texts.different <= MAX_VALUES && different.iter().all(|value| value.text.len() <= MAX_BYTES);
        let places = || texts.ids.iter().filter_map(|id| usize::from(*id).checked_sub(1));
        places().filter(|_| are_few).for_each(|place| different[place].rows += 1);
        are_few.then(|| Values { column: column.index, part, different, rows: texts.ids.clone() })
    }
}

impl Values<'_> {
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

/// Returns the rows that have another value than all others with the same one.
fn dependence(from: &Values<'_>, to: &Values<'_>, (tried, records): (f64, &[u64]), roles: &Roles) -> Vec<Dependence> {
    let field = |values: &Values<'_>| roles.mapped_at(values.column);
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
    let dependence = |(value, usual, other, _): (&Value<'_>, &Value<'_>, &Value<'_>, u32)| Dependence {
        from: (from.column, from.part, value.hash),
        to: (to.column, to.part, other.hash),
        column,
        field,
        message: {
            let (from_name, to_name) = (roles.name_of(from.column), roles.name_of(to.column));
            let (text, beside) = (other.text, value.text);
            match (to.part, text.is_empty()) {
                (Part::Filled, true) => format!(
                    "has nothing under {to_name} beside '{beside}' under {from_name}, and all other rows with it have a value"
                ),
                (Part::Filled, false) => {
                    format!(
                        "has a value under {to_name} beside '{beside}' under {from_name}, and no other row with it has one"
                    )
                }
                _ => format!(
                    "has '{text}' under {to_name} beside '{beside}' under {from_name}, and all other rows with it have '{}'",
                    usual.text
                ),
            }
        },
    };
    odd.into_iter().map(dependence).collect()
}

/// Whether all rows with these pairs of values are of one record, which repeats its values.
fn are_of_one_record(
    from: &Values<'_>,
    to: &Values<'_>,
    odd: &[(&Value<'_>, &Value<'_>, &Value<'_>, u32)],
    records: &[u64],
) -> bool {
    let hash = |values: &Values<'_>, place: u16| {
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
            part.of(trimmed(&shown)).is_some_and(|text| XxHash3_64::oneshot(text.as_bytes()) == hash)
        };
        (has(self.from) && has(self.to)).then(|| {
            Finding::unlike_others(
                (self.column, self.field),
                row.get(self.column).shown().trim().to_owned(),
                self.message.clone(),
            )
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
        let mut sample = Sample::new(&roles);
        rows.iter().for_each(|row| sample.row(&roles, row));
        let found = dependences(&roles, &sample);
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
