//! Whether the fields that a template names exist: a misspelt name in a condition would select no record without a word.

use sheetport_client::pages::{Entry, array_elements};
use sheetport_documents::nearest;

use super::columns::Columns;
use crate::template::model::json_at;

/// Maximum number of elements of an array to look into.
const MAX_ELEMENTS: usize = 20;

/// The named fields that no record has had so far.
pub(super) struct NamedFields {
    missing: Vec<String>,
    /// The fields that were found.
    found: Vec<String>,
    /// The fields of all records while names are missing, for suggestions.
    seen: Columns,
    /// Whether there was a record to look into.
    has_records: bool,
}

impl NamedFields {
    pub(super) fn new(mut names: Vec<String>) -> NamedFields {
        names.sort();
        names.dedup();
        NamedFields { missing: names, found: Vec::new(), seen: Columns::new(&[], false), has_records: false }
    }

    /// Looks into a record. `explode` is the path of the array with a row for each element.
    pub(super) fn look_into(&mut self, entry: &Entry<'_>, explode: Option<&str>) {
        self.has_records = true;
        if self.missing.is_empty() {
            return;
        }
        let found = self.missing.extract_if(.., |path| {
            let within = explode.and_then(|explode| path.strip_prefix(explode)?.strip_prefix('.'));
            json_at(entry, path).is_some()
                || within.zip(explode).is_some_and(|(rest, explode)| is_in_elements(json_at(entry, explode), rest))
        });
        self.found.extend(found);
        if !self.missing.is_empty() {
            self.seen.row(entry);
        }
    }

    /// Returns the names that no record has, each with a similar one of `others` or of a field. Without records, nothing is known.
    pub(super) fn missing<'n>(&'n self, others: &[&'n str]) -> Vec<(&'n str, Option<&'n str>)> {
        let missing = self.missing.iter().filter(|_| self.has_records);
        missing.map(|path| (path.as_str(), nearest(path, self.seen.paths().chain(others.iter().copied())))).collect()
    }

    pub(super) fn found(&self) -> &[String] {
        &self.found
    }
}

/// Returns whether an element of an array has the field at this path.
fn is_in_elements(json: Option<&str>, path: &str) -> bool {
    let elements = json.and_then(array_elements).unwrap_or_default();
    let has_field = |element: &&str| json_at(&Entry::new(element), path).is_some();
    elements.iter().take(MAX_ELEMENTS).any(has_field)
}
