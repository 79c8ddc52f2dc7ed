//! Repetitions within a file. Single repetitions are warnings: possibly pasted twice, but also possible on purpose. A record with
//! all lines twice in the same order is a problem.

use std::collections::HashMap;

use sheetport_findings::Code;
use sheetport_ledger::Problem;
use twox_hash::XxHash3_64;

/// Minimum number of repeated lines for a warning about a record with other lines as well.
const MANY: usize = 2;

/// The lines of a record, as hashes.
#[derive(Debug, Default)]
pub(crate) struct RepeatedLines {
    /// Hashes of the lines with the number of the row, in order.
    lines: Vec<(u64, u64)>,
}

impl RepeatedLines {
    /// Adds the lines of a row, as JSON.
    pub(crate) fn add(&mut self, lines: &str, row: u64) {
        if !lines.is_empty() {
            self.lines.push((XxHash3_64::oneshot(lines.as_bytes()), row));
        }
    }

    /// Returns the problem of a record with all lines twice in the same order, unless all lines are equal.
    pub(crate) fn copied(&self) -> Option<Problem> {
        let (first, second) = self.lines.split_at(self.lines.len() / 2);
        let is_copied = first.len() == second.len()
            && first.iter().zip(second).all(|((line, _), (other, _))| line == other)
            && first.iter().any(|(line, _)| *line != first[0].0);
        let (row, original) = (second.first().filter(|_| is_copied)?.1, first.first()?.1);
        Some(Problem {
            row: Some(row),
            remedy: format!(
                "if the rows were copied, delete them; if they are right, `--rows {original}-{original} --allow-repeat` sends \
                 them; the first one is the same as row {original}"
            ),
            ..Problem::of_record(Code::CopiedRows, "begins a copy of all rows of the record, in the same order")
        })
    }

    /// Returns the warning about repeated lines: every line appears twice, or several do. A single repeated line among
    /// others is usual.
    pub(crate) fn problem(&self) -> Option<Problem> {
        let mut seen: HashMap<u64, u64> = HashMap::new();
        let mut repeated = Vec::new();
        for (line, row) in &self.lines {
            match seen.get(line) {
                Some(first) => repeated.push((*row, *first)),
                None => {
                    seen.insert(*line, *row);
                }
            }
        }
        let (row, first) = *repeated.first()?;
        let is_block = repeated.len() >= MANY || repeated.len() * 2 == self.lines.len();
        is_block.then(|| Problem {
            row: Some(row),
            remedy: format!("delete the rows if they were pasted twice; the first one is the same as row {first}"),
            ..Problem::of_record(Code::Repeated, "repeats rows of the same record, so their lines are sent twice")
        })
    }
}

/// Returns the warning about a record without a name that equals an earlier record.
pub(crate) fn repeated_record(row: u64, first: u64) -> Problem {
    Problem {
        row: Some(row),
        remedy: format!("delete the row if it was pasted twice; it is the same as row {first}"),
        ..Problem::of_record(Code::Repeated, "is the same as an earlier row, and both are sent")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the row of the warning for lines in the rows 2, 3, ….
    fn warned(lines: &[&str]) -> Option<u64> {
        let mut repeated = RepeatedLines::default();
        (2..).zip(lines).for_each(|(row, line)| repeated.add(line, row));
        repeated.problem().and_then(|problem| problem.row)
    }

    #[test]
    fn a_block_of_repeated_lines_is_a_warning_but_not_a_single_one_among_others() {
        assert_eq!(warned(&[]), None);
        assert_eq!(warned(&["a", "b", "c"]), None);
        assert_eq!(warned(&["a", "b", "a"]), None);
        assert_eq!(warned(&["a", "a"]), Some(3));
        assert_eq!(warned(&["a", "b", "a", "b"]), Some(4));
        assert_eq!(warned(&["a", "b", "c", "b", "c"]), Some(5));
    }

    #[test]
    fn all_lines_twice_in_the_same_order_are_a_problem() {
        let copied = |lines: &[&str]| {
            let mut repeated = RepeatedLines::default();
            (2..).zip(lines).for_each(|(row, line)| repeated.add(line, row));
            repeated.copied().and_then(|problem| problem.row)
        };
        assert_eq!(copied(&["a", "b", "a", "b"]), Some(4));
        for lines in [&[][..], &["a"], &["a", "a"], &["a", "a", "a", "a"], &["a", "b", "b", "a"], &["a", "b", "a"]] {
            assert_eq!(copied(lines), None, "{lines:?}");
        }
    }
}
