//! Positions in texts and lists, counted from 0, or from the end if negative.

use std::ops::Range;

/// Returns the places from one position up to another, clipped to `length`.
pub(super) fn places(length: usize, from: Option<i64>, to: Option<i64>) -> Range<usize> {
    let place = |at: i64| match usize::try_from(at.unsigned_abs()) {
        Ok(distance) if at < 0 => length.saturating_sub(distance),
        Ok(place) => place.min(length),
        Err(_) if at < 0 => 0,
        Err(_) => length,
    };
    let (from, to) = (from.map_or(0, place), to.map_or(length, place));
    from..to.max(from)
}

/// Returns the place of a position, or `None` beyond the ends.
pub(super) fn place(length: usize, at: i64) -> Option<usize> {
    let distance = usize::try_from(at.unsigned_abs()).ok()?;
    if at < 0 { length.checked_sub(distance) } else { Some(distance).filter(|place| *place < length) }
}

/// Returns the characters from one position up to another.
pub(super) fn characters(text: &str, from: Option<i64>, to: Option<i64>) -> &str {
    let places = places(text.chars().count(), from, to);
    let byte = |place: usize| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    &text[byte(places.start)..byte(places.end)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_clipped_and_count_from_both_ends() {
        for (from, to, part) in [
            (Some(0), Some(2), "äb"),
            (Some(-2), None, "cd"),
            (None, Some(-1), "äbc"),
            (Some(3), Some(1), ""),
            (Some(-9), Some(9), "äbcd"),
            (Some(i64::MIN), Some(i64::MAX), "äbcd"),
        ] {
            assert_eq!(characters("äbcd", from, to), part);
        }
        assert_eq!(
            [0, 3, 4, -1, -4, -5, i64::MIN].map(|at| place(4, at)),
            [Some(0), Some(3), None, Some(3), Some(0), None, None]
        );
    }
}
