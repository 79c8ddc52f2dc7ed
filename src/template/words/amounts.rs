//! What the headers of amounts say besides the name of the amount.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer};

use super::normalize;
use super::vocabulary;

/// `amounts.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Amounts {
    #[serde(deserialize_with = "normalized")]
    measures: HashSet<String>,
    #[serde(deserialize_with = "normalized")]
    not_measures: HashSet<String>,
}

static AMOUNTS: LazyLock<Amounts> = LazyLock::new(|| {
    toml::from_str(include_str!("amounts.toml")).expect("the file is compiled in, and tests parse it")
});

/// Reads words as they are compared with those of headers.
fn normalized<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HashSet<String>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    Ok(words.iter().map(|word| normalize::words(word).concat()).collect())
}

/// Shorter words are not searched for at the end of a compound.
const MIN_OF_COMPOUND: usize = 5;

/// Returns whether the numbers below a header are certainly amounts, such as prices and weights, and neither codes nor dates.
pub(in crate::template) fn is_measure(header: &str) -> bool {
    let normalize::HeaderWords { words, bracketed } = normalize::header(header);
    let joined = words.concat();
    let is_code = |word: &String| AMOUNTS.not_measures.contains(word) || vocabulary().is_code_word(word);
    let is_other = |word: &&String| normalize::is_unspaced(word) && joined.contains(word.as_str());
    if words.iter().chain(bracketed.iter().flatten()).any(is_code)
        || AMOUNTS.not_measures.iter().any(|word| is_other(&word))
    {
        return false;
    }
    let ends_with = |word: &String, measure: &String| {
        measure.len() >= MIN_OF_COMPOUND && word.ends_with(measure.as_str())
            || normalize::is_unspaced(measure) && word.contains(measure.as_str())
    };
    words.iter().any(|word| AMOUNTS.measures.iter().any(|measure| word == measure || ends_with(word, measure)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_amounts_are_told_from_codes() {
        for header in [
            "Weight (kg)",
            "Nettogewicht",
            "Discount %",
            "Cost",
            "Poids",
            "重量(kg)",
            "Цена",
            "List price",
            "ListPrice",
        ] {
            assert!(is_measure(header), "{header}");
        }
        for header in
            ["HS code", "Price group", "Preisgruppe", "Version", "Tax code", "Zolltarifnummer", "Date", "単価区分"]
        {
            assert!(!is_measure(header), "{header}");
        }
    }
}
