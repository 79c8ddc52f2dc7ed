//! What the cells of a column can hold by a template, for who offers it to a person: in the words that the sheet has, not
//! in those that are sent.

use super::model::{FieldRule, Source, Translate};
use crate::records::JsonType;

impl FieldRule {
    /// The values that a cell of this field's column can hold, as few as that they can be listed; nothing where there is
    /// no end to them, and where the cell is changed as text before it is looked at.
    pub fn listed_values(&self) -> Option<Box<dyn ExactSizeIterator<Item = &str> + '_>> {
        if !matches!(self.source, Source::Column(_)) || !self.replace.is_empty() || self.split.is_some() {
            return None;
        }
        match (&self.translate, self.field.json) {
            (Some(Translate::Map(map)), _) => Some(Box::new(map.entries.iter().map(|(from, _)| from.as_str()))),
            (Some(Translate::Lookup(lookup)), _) => Some(Box::new(lookup.keys())),
            (None, JsonType::Boolean) => Some(Box::new(["yes", "no"].into_iter())),
            (None, JsonType::String | JsonType::Strings) if !self.checks.allowed.is_empty() => {
                Some(Box::new(self.checks.allowed.iter().map(String::as_str)))
            }
            _ => None,
        }
    }

    /// Whether a cell can hold further ones: a yes is understood in several languages.
    pub fn listed_values_are_all(&self) -> bool {
        self.translate.is_some() || self.field.json != JsonType::Boolean
    }
}
