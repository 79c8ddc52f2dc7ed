//! Splits compounds, such as `unitprice` and `Verkaufspreisnetto`, into words that are known.

/// Parts of two letters; others of this length are in too many words.
const SHORT_PARTS: [&str; 8] = ["id", "no", "nr", "ek", "vk", "at", "in", "of"];
const MAX_PARTS: usize = 4;

/// Splits a word of a header into the words of which it is a compound. `is_part`: whether a word of three letters or more may be a
/// part.
pub(crate) fn split(word: String, is_part: impl Fn(&str) -> bool) -> Vec<String> {
    if word.len() < 4 || !word.is_ascii() || is_part(&word) {
        return vec![word];
    }
    match parts(&word, MAX_PARTS, &is_part) {
        Some(parts) => parts.into_iter().map(str::to_owned).collect(),
        None => vec![word],
    }
}

fn parts<'w>(rest: &'w str, max_parts: usize, is_part: &dyn Fn(&str) -> bool) -> Option<Vec<&'w str>> {
    if rest.is_empty() {
        return Some(Vec::new());
    }
    if max_parts == 0 {
        return None;
    }
    (2..=rest.len()).rev().find_map(|end| {
        let (part, tail) = rest.split_at(end);
        if !(end > 2 && is_part(part) || SHORT_PARTS.contains(&part)) {
            return None;
        }
        // German compounds can have an s between two parts.
        let without_s = tail.strip_prefix('s').filter(|tail| !tail.is_empty());
        let mut found =
            [Some(tail), without_s].into_iter().flatten().find_map(|tail| parts(tail, max_parts - 1, is_part))?;
        found.insert(0, part);
        Some(found)
    })
}
