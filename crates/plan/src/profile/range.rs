//! The lowest, the median and the highest of any number of values, in bounded memory.

use std::borrow::Borrow;

use super::Range;

/// Maximum number of values kept for the median.
const MAX_KEPT: usize = 4_096;

/// Collects values. For the median, keeps every value up to [`MAX_KEPT`], then every second value, every fourth, and so on.
#[derive(Debug)]
pub(super) struct Values<T> {
    extremes: Option<(T, T)>,
    kept: Vec<T>,
    /// The distance between kept values.
    stride: u64,
    count: u64,
}

impl<T> Default for Values<T> {
    fn default() -> Values<T> {
        Values { extremes: None, kept: Vec::new(), stride: 1, count: 0 }
    }
}

impl<T: Ord + Clone + ToString> Values<T> {
    pub(super) fn add<V>(&mut self, value: &V)
    where
        T: Borrow<V>,
        V: Ord + ToOwned<Owned = T> + ?Sized,
    {
        match &mut self.extremes {
            None => self.extremes = Some((value.to_owned(), value.to_owned())),
            Some((lowest, _)) if value < (*lowest).borrow() => *lowest = value.to_owned(),
            Some((_, highest)) if value > (*highest).borrow() => *highest = value.to_owned(),
            Some(_) => {}
        }
        if self.count.is_multiple_of(self.stride) {
            if self.kept.len() == MAX_KEPT {
                let mut index = 0;
                self.kept.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.stride *= 2;
            }
            if self.count.is_multiple_of(self.stride) {
                self.kept.push(value.to_owned());
            }
        }
        self.count += 1;
    }

    /// Returns the range, or `None` without values. The median of an even number of values is the lower of the two middle values,
    /// so that the median occurs in the file.
    pub(super) fn range(&self) -> Option<Range> {
        let (lowest, highest) = self.extremes.as_ref()?;
        let mut kept = self.kept.clone();
        let middle = kept.len().checked_sub(1)? / 2;
        let (_, median, _) = kept.select_nth_unstable(middle);
        Some(Range { lowest: lowest.to_string(), median: median.to_string(), highest: highest.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(values: impl IntoIterator<Item = u64>) -> Option<(String, String, String)> {
        let mut all = Values::default();
        values.into_iter().for_each(|value| all.add(&value));
        all.range().map(|range| (range.lowest, range.median, range.highest))
    }

    #[test]
    fn ranges_of_few_values_are_exact() {
        let text = |(lowest, median, highest): (u64, u64, u64)| {
            Some((lowest.to_string(), median.to_string(), highest.to_string()))
        };
        assert_eq!(range([]), None);
        assert_eq!(range([7]), text((7, 7, 7)));
        assert_eq!(range([9, 1]), text((1, 1, 9)));
        assert_eq!(range([5, 3, 900]), text((3, 5, 900)));
        assert_eq!(range((0..4_096).rev()), text((0, 2_047, 4_095)));
    }

    #[test]
    fn the_median_of_many_values_is_near_the_middle() {
        let mut all = Values::default();
        for value in 0..1_000_000_u64 {
            all.add(&(value * 7_919 % 1_000_003));
        }
        assert!(all.kept.len() <= MAX_KEPT);
        let range = all.range().expect("values");
        let median: u64 = range.median.parse().expect("a number");
        assert!((450_000..550_000).contains(&median), "{median}");
        assert_eq!((range.lowest.as_str(), range.highest.as_str()), ("0", "1000002"));
    }
}
