//! Problems grouped by cause, so that a thousand rows with one mistake are one line to read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::block::Problem;

/// Groups past this are counted together, so that a file full of different mistakes can't fill the memory.
const MAX_GROUPS: usize = 1_000;
/// Rows named for a group.
pub const FIRST_ROWS: usize = 5;
/// A record's own value is looked for in words from this many characters on; a shorter one could be part of the rule
/// that the words state, unless it stands in quotes.
const TELLING: usize = 4;
/// What stands for a record's own value where problems are compared.
const OWN: &str = "…";

/// Problems grouped by cause.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    groups: BTreeMap<Cause, Group>,
    /// Problems that no group took.
    pub ungrouped: u64,
}

/// What makes two problems the same: the words, the column or field, the sheet where there are several, and for values that the template does not know
/// the value, because each of them needs a line of its own there.
type Cause = (String, Option<usize>, String, String, String);

/// Problems with one cause.
#[derive(Clone, Debug)]
pub struct Group {
    pub count: u64,
    /// The first few rows that have it.
    pub rows: Vec<u64>,
    /// The first of them, whose words stand for all.
    pub problem: Problem,
    /// Of the groups in the order in which they were found, from 0.
    pub place: usize,
}

impl Causes {
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The groups, the largest first.
    pub fn groups(&self) -> Vec<&Group> {
        let mut groups: Vec<&Group> = self.groups.values().collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(group.count), group.rows.first().copied()));
        groups
    }

    /// Adds a problem of the row at `number`, and answers the place of the group that it belongs to, if one took it.
    pub fn add(&mut self, number: u64, problem: &Problem) -> Option<usize> {
        self.add_of(number, problem, &[])
    }

    /// The same for a problem of a record whose own names and values are `own`: problems that differ in them alone have
    /// one cause.
    pub fn add_of(&mut self, number: u64, problem: &Problem, own: &[&str]) -> Option<usize> {
        let value = if problem.code == "unknown-value" { problem.value.clone() } else { String::new() };
        let words = without_own(&problem.message, own).into_owned();
        let cause = (words, problem.column, problem.field.clone(), value, problem.sheet.clone());
        let place = self.groups.len();
        match self.groups.get_mut(&cause) {
            Some(group) => {
                group.count += 1;
                if group.rows.len() < FIRST_ROWS {
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
                self.groups.insert(cause, Group { count: 1, rows: vec![number], problem: problem.clone(), place });
                Some(place)
            }
        }
    }
}

/// The words with a mark in the place of each of the record's own names and values that stands in them as a whole: 42 is
/// not in 420, and a short one counts in quotes alone.
fn without_own<'w>(words: &'w str, own: &[&str]) -> Cow<'w, str> {
    let mut own: Vec<&str> = own.iter().map(|own| own.trim()).filter(|own| !own.is_empty()).collect();
    // The longest first: a name may be part of another.
    own.sort_by_key(|own| std::cmp::Reverse(own.len()));
    let mut words = Cow::Borrowed(words);
    for own in own {
        if let Some(without) = without(&words, own) {
            words = Cow::Owned(without);
        }
    }
    words
}

fn without(words: &str, own: &str) -> Option<String> {
    let is_telling = own.chars().nth(TELLING - 1).is_some();
    let mut kept = String::new();
    let mut from = 0;
    for (at, _) in words.match_indices(own) {
        let before = words[..at].chars().next_back();
        let after = words[at + own.len()..].chars().next();
        let is_quote = |c: Option<char>| c.is_some_and(|c| "'\"`´‘’“”„«»".contains(c));
        let goes_on = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_whole = !goes_on(before) && !goes_on(after);
        if is_whole && (is_telling || is_quote(before) && is_quote(after)) {
            kept.push_str(&words[from..at]);
            kept.push_str(OWN);
            from = at + own.len();
        }
    }
    (from > 0).then(|| kept + &words[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_records_own_value_is_no_part_of_the_cause() {
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
            assert_eq!(without_own(words, own), cause, "{words}");
        }
    }

    #[test]
    fn problems_that_differ_in_their_records_alone_are_one_cause_in_the_first_ones_words() {
        let mut causes = Causes::default();
        for key in ["SKU-0001", "SKU-0002", "SKU-0003"] {
            let problem = Problem::of_record("service", format!("the item {key} is locked"));
            assert_eq!(causes.add_of(7, &problem, &[key]), Some(0));
        }
        assert_eq!(causes.add(9, &Problem::of_record("service", "the item SKU-0004 is locked")), Some(1));
        let groups = causes.groups();
        assert_eq!((groups[0].count, groups[0].problem.message.as_str()), (3, "the item SKU-0001 is locked"));
    }

    #[test]
    fn causes_past_the_bound_are_counted() {
        let mut causes = Causes::default();
        for number in 0..MAX_GROUPS as u64 + 7 {
            causes.add(number, &Problem::of_record("service", format!("wrong in its own way: {number}")));
        }
        assert_eq!((causes.groups().len(), causes.ungrouped), (MAX_GROUPS, 7));
    }
}
