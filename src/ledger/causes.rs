//! Problems grouped by cause, so that a thousand rows with one mistake are one line to read.

use std::collections::BTreeMap;

use super::block::Problem;

/// Groups past this are counted together, so that a file full of different mistakes can't fill the memory.
const MAX_GROUPS: usize = 1_000;
/// Rows named for a group.
const FIRST_ROWS: usize = 5;

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
        let value = if problem.code == "unknown-value" { problem.value.clone() } else { String::new() };
        let cause = (problem.message.clone(), problem.column, problem.field.clone(), value, problem.sheet.clone());
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
