//! Problems grouped by cause, so a thousand rows with the same mistake take a single line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::model::Problem;

/// Maximum number of groups. Further problems are only counted, to bound the memory for files full of mistakes.
const MAX_GROUPS: usize = 1_000;
/// Maximum number of rows listed per group.
pub const FIRST_ROWS: usize = 5;
/// Minimum length, in characters, of an unquoted value ignored in comparisons. A shorter value may be part of the
/// rule in the message.
const MIN_UNQUOTED: usize = 4;
/// Replaces values of the record in compared messages.
const PLACEHOLDER: &str = "…";

/// Problems grouped by cause.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    groups: BTreeMap<Cause, Group>,
    /// The number of problems beyond the maximum number of groups.
    pub ungrouped: u64,
}

/// The attributes shared by equal problems.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cause {
    /// The message, without values of the record.
    message: String,
    column: Option<usize>,
    field: String,
    /// The value, if unknown to the template: each unknown value needs an entry there.
    value: String,
    sheet: String,
}

impl Cause {
    fn of(problem: &Problem, own: &[&str]) -> Cause {
        Cause {
            message: without_values(&problem.message, own).into_owned(),
            column: problem.column,
            field: problem.field.clone(),
            value: if problem.code.is_by_value() { problem.value.clone() } else { String::new() },
            sheet: problem.sheet.clone(),
        }
    }
}

/// Problems with the same cause.
#[derive(Clone, Debug)]
pub struct Group {
    pub count: u64,
    /// The first rows with the problem. Empty for problems of the whole file.
    pub rows: Vec<u64>,
    /// The first problem of the group.
    pub problem: Problem,
    /// The index of the group in order of discovery.
    pub place: usize,
}

impl Causes {
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the groups, largest first.
    pub fn groups(&self) -> Vec<&Group> {
        let mut groups: Vec<&Group> = self.groups.values().collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(group.count), group.rows.first().copied()));
        groups
    }

    /// Adds a problem of the row `number`, 0 for a whole file, and returns the index of the group, or `None` if there are too many groups.
    pub fn add(&mut self, number: u64, problem: &Problem) -> Option<usize> {
        self.add_of(number, problem, &[])
    }

    /// Returns the index of the group of a problem, or `None` if no group exists.
    pub fn place_of(&self, problem: &Problem) -> Option<usize> {
        self.groups.get(&Cause::of(problem, &[])).map(|group| group.place)
    }

    /// Adds a problem of `count` records, the first of them in `rows`.
    pub fn add_counted(&mut self, count: u64, rows: &[u64], problem: &Problem) {
        let (first, others) = rows.split_first().map_or((0, &[][..]), |(first, others)| (*first, others));
        self.add(first, problem);
        others.iter().for_each(|row| {
            self.add(*row, problem);
        });
        if let Some(group) = self.groups.get_mut(&Cause::of(problem, &[])) {
            group.count += count.saturating_sub(rows.len().max(1) as u64);
        }
    }

    /// Adds a problem of a record with the ids and values `own`. Problems differing only in these have the same cause.
    pub fn add_of(&mut self, number: u64, problem: &Problem, own: &[&str]) -> Option<usize> {
        let cause = Cause::of(problem, own);
        let place = self.groups.len();
        match self.groups.get_mut(&cause) {
            Some(group) => {
                group.count += 1;
                if number > 0 && group.rows.len() < FIRST_ROWS {
                    group.rows.push(number);
                    group.rows.sort_unstable();
                }
                Some(group.place)
            }
            None if place >= MAX_GROUPS => {
                self.ungrouped += 1;
                None
            }
            None => {
                let rows = if number == 0 { Vec::new() } else { vec![number] };
                self.groups.insert(cause, Group { count: 1, rows, problem: problem.clone(), place });
                Some(place)
            }
        }
    }
}

/// Returns the message with a placeholder for each of `values` found as a whole word: 42 is not replaced in 420, and a
/// short value only in quotes.
fn without_values<'m>(message: &'m str, values: &[&str]) -> Cow<'m, str> {
    let mut values: Vec<&str> = values.iter().map(|value| value.trim()).filter(|value| !value.is_empty()).collect();
    // Longest first, because a value may contain another.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let mut message = Cow::Borrowed(message);
    for value in values {
        if let Some(replaced) = without(&message, value) {
            message = Cow::Owned(replaced);
        }
    }
    message
}

fn without(message: &str, value: &str) -> Option<String> {
    let is_long = value.chars().nth(MIN_UNQUOTED - 1).is_some();
    let mut replaced = String::new();
    let mut from = 0;
    for (at, _) in message.match_indices(value) {
        let before = message[..at].chars().next_back();
        let after = message[at + value.len()..].chars().next();
        let is_quote = |c: Option<char>| c.is_some_and(|c| "'\"`´‘’“”„«»".contains(c));
        let is_in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_whole = !is_in_word(before) && !is_in_word(after);
        if is_whole && (is_long || is_quote(before) && is_quote(after)) {
            replaced.push_str(&message[from..at]);
            replaced.push_str(PLACEHOLDER);
            from = at + value.len();
        }
    }
    (from > 0).then(|| replaced + &message[from..])
}

#[cfg(test)]
mod tests {
    use sheetport_findings::Code;

    use super::*;

    #[test]
    fn values_of_the_record_do_not_affect_the_cause() {
        for (words, own, cause) in [
            ("item '42' is unknown", &["42"][..], "item '…' is unknown"),
            ("item 42 is unknown", &["42"], "item 42 is unknown"),
            ("item 4711 is unknown", &["4711"], "item … is unknown"),
            ("item 47110 is unknown", &["4711"], "item 47110 is unknown"),
            ("at most 4 characters, not 'bolts'", &["4", "bolts"], "at most 4 characters, not '…'"),
            ("A-1000 and A-1000-B", &["A-1000", "A-1000-B"], "… and …"),
            ("größer als Größe", &["Größe"], "größer als …"),
            ("no value", &["", "  "], "no value"),
        ] {
            assert_eq!(without_values(words, own), cause, "{words}");
        }
    }

    #[test]
    fn problems_that_differ_only_in_values_are_grouped_under_the_first_message() {
        let mut causes = Causes::default();
        for key in ["SKU-0001", "SKU-0002", "SKU-0003"] {
            let problem = Problem::of_record(Code::Service, format!("the item {key} is locked"));
            assert_eq!(causes.add_of(7, &problem, &[key]), Some(0));
        }
        assert_eq!(causes.add(9, &Problem::of_record(Code::Service, "the item SKU-0004 is locked")), Some(1));
        let groups = causes.groups();
        assert_eq!((groups[0].count, groups[0].problem.message.as_str()), (3, "the item SKU-0001 is locked"));
    }

    #[test]
    fn problems_beyond_the_maximum_number_of_groups_are_counted() {
        let mut causes = Causes::default();
        for number in 0..MAX_GROUPS as u64 + 7 {
            causes.add(number, &Problem::of_record(Code::Service, format!("problem number {number}")));
        }
        assert_eq!((causes.groups().len(), causes.ungrouped), (MAX_GROUPS, 7));
    }
}
