//! The name that was probably meant.

/// From 0, nothing alike, to 1, the same; what is less like than this is not worth saying.
const LIKE_ENOUGH: f64 = 0.8;
/// Bytes of a name that somebody may have meant. A cell can be megabytes long, and to compare such ones takes long.
const LONGEST: usize = 200;

/// The candidate most like `word`, if one is like it enough to be worth saying.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of([word], candidates)
}

/// The candidate most like any of `words`.
pub fn nearest_of<'a, 'w>(
    words: impl IntoIterator<Item = &'w str>,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let words: Vec<String> = words.into_iter().filter(|word| word.len() <= LONGEST).map(folded).collect();
    let likeness = |candidate: &str| {
        let candidate = folded(candidate);
        words.iter().map(|word| strsim::jaro_winkler(word, &candidate)).fold(0.0, f64::max)
    };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness >= LIKE_ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

fn folded(word: &str) -> String {
    word.trim().to_lowercase()
}
