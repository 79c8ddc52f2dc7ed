//! Words in headers and cells of sheets, in all languages, beyond the names of columns: amounts, movements, totals, and rows that are no
//! records.

pub mod amounts;
pub mod movements;
pub(super) mod no_record;
pub mod total_rows;

use std::collections::HashSet;

use serde::{Deserialize, Deserializer};
use sheetport_words::{alternatives, normalize};

/// Reads words in the form used for comparing headers. Braces hold alternatives.
fn normalized<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HashSet<String>, D::Error> {
    let listed = Vec::<String>::deserialize(deserializer)?;
    Ok(listed.iter().flat_map(|word| alternatives::expand(word)).map(|word| normalize::words(&word).concat()).collect())
}
