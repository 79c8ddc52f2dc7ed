//! Finds the known name with the most similar spelling.

/// Minimum similarity of a suggestion, from 0 (different) to 1 (equal).
const MIN_SIMILARITY: f64 = 0.8;
/// Maximum length of compared names in bytes. Cells can have megabytes, and comparing long texts is slow.
const MAX_BYTES: usize = 200;

/// Returns the candidate most similar to `word`, if any is similar enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of([word], candidates)
}

/// Returns the candidate most similar to any of `words`, if any is similar enough.
pub fn nearest_of<'a, 'w>(
    words: impl IntoIterator<Item = &'w str>,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let words: Vec<String> = words.into_iter().filter(|word| word.len() <= MAX_BYTES).map(normalized).collect();
    let similarity = |candidate: &str| {
        let candidate = normalized(candidate);
        words.iter().map(|word| strsim::jaro_winkler(word, &candidate)).fold(0.0, f64::max)
    };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= MAX_BYTES)
        .map(|candidate| (similarity(candidate), candidate))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

fn normalized(word: &str) -> String {
    word.trim().to_lowercase()
}
