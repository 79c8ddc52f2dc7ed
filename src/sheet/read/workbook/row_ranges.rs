//! Sets of rows, as ranges.

use serde::{Deserialize, Serialize};

/// Maximum number of ranges. Further rows are left out.
const MAX_RANGES: usize = 10_000;

/// Row numbers from 1, as the first and last rows of ranges.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(in crate::sheet::read) struct RowRanges(pub Vec<(u64, u64)>);

impl RowRanges {
    /// Adds `count` rows from `first` on. Rows come in order.
    pub(super) fn add(&mut self, first: u64, count: u64) {
        if count == 0 {
            return;
        }
        let last = first.saturating_add(count - 1);
        if let Some((_, end)) = self.0.last_mut().filter(|(_, end)| *end + 1 == first) {
            *end = last;
        } else if self.0.len() < MAX_RANGES {
            self.0.push((first, last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_order_become_ranges() {
        let mut rows = RowRanges::default();
        [(3, 1), (4, 2), (7, 0), (9, 1)].iter().for_each(|(first, count)| rows.add(*first, *count));
        assert_eq!(rows.0, [(3, 5), (9, 9)]);
    }
}
