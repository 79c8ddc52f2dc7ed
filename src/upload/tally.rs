//! Counting a pass over a sheet: records by what was decided about them, and problems grouped by cause.

use std::collections::BTreeMap;

use crate::ledger::{Fate, Problem};

/// Groups past this are counted together, so that a file full of different mistakes can't fill the memory.
const MAX_GROUPS: usize = 1_000;
/// Rows named for a group.
const FIRST_ROWS: usize = 5;

#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub rows: u64,
    pub to_send: u64,
    pub skipped: u64,
    pub rejected: u64,
    /// Cells of the longest row.
    pub width: usize,
    groups: BTreeMap<(String, Option<usize>, String), Group>,
    /// Problems that no group took.
    pub ungrouped: u64,
}

/// Problems with one cause in one column.
#[derive(Clone, Debug)]
pub struct Group {
    pub count: u64,
    /// The first few rows that have it.
    pub rows: Vec<u64>,
    /// The first of them, whose words stand for all.
    pub problem: Problem,
}

impl Tally {
    /// Counts a record that the row at `number` began.
    pub fn count(&mut self, number: u64, fate: &Fate) {
        self.rows += 1;
        match fate {
            Fate::Send(_) => self.to_send += 1,
            Fate::Skipped => self.skipped += 1,
            Fate::Rejected(problems) => {
                self.rejected += 1;
                problems.iter().for_each(|problem| self.add(number, problem));
            }
        }
    }

    /// Counts a record as rejected that was counted as to be sent.
    pub fn take_back(&mut self, number: u64, problem: &Problem) {
        self.to_send -= 1;
        self.rejected += 1;
        self.add(number, problem);
    }

    /// The groups, the largest first.
    pub fn groups(&self) -> Vec<&Group> {
        let mut groups: Vec<&Group> = self.groups.values().collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(group.count), group.rows.first().copied()));
        groups
    }

    fn add(&mut self, number: u64, problem: &Problem) {
        // Unknown values are told apart, because each needs a line of its own in the template.
        let value = if problem.code == "unknown-value" { problem.value.clone() } else { String::new() };
        let place = (problem.code.clone(), problem.column, value);
        let is_full = self.groups.len() >= MAX_GROUPS;
        match self.groups.get_mut(&place) {
            Some(group) => {
                group.count += 1;
                if group.rows.len() < FIRST_ROWS {
                    group.rows.push(number);
                    group.rows.sort_unstable();
                }
            }
            None if is_full => self.ungrouped += 1,
            None => {
                self.groups.insert(place, Group { count: 1, rows: vec![number], problem: problem.clone() });
            }
        }
    }
}
