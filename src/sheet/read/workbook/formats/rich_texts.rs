//! Texts of which parts are set differently, apart from how the formats store them.

use std::collections::HashMap;

use crate::sheet::cell::{Setting, TextPart};

/// Maximum length of a text in bytes.
pub(super) const MAX_TEXT: usize = 200;
/// Maximum number of texts, far more than a price list has footnotes.
const MAX_TEXTS: usize = 1 << 17;

/// The parts of texts by the whole text.
#[derive(Clone, Debug, Default)]
pub(in crate::sheet::read::workbook) struct RichTexts(HashMap<String, Vec<(Setting, String)>>);

impl RichTexts {
    /// Returns the parts of a text. Empty for all others.
    pub(in crate::sheet::read::workbook) fn parts(&self, text: &str) -> impl Iterator<Item = TextPart<'_>> {
        let parts = if self.0.is_empty() { None } else { self.0.get(text) };
        parts.into_iter().flatten().map(|(setting, text)| TextPart { setting: *setting, text })
    }

    /// Adds a text in parts, if the setting of a part matters.
    pub(super) fn add(&mut self, parts: Vec<(Setting, String)>) {
        let whole: String = parts.iter().map(|(_, text)| text.as_str()).collect();
        let is_set = |(setting, text): &(Setting, String)| *setting != Setting::Plain && !text.trim().is_empty();
        // A text that is raised as a whole has no part beside it, but one that is struck no longer holds.
        let is_whole = parts.iter().all(|(setting, _)| *setting != Setting::Plain);
        let matters = parts.iter().any(|part| is_set(part) && (!is_whole || part.0 == Setting::Struck));
        if matters && whole.len() <= MAX_TEXT && self.0.len() < MAX_TEXTS {
            self.0.insert(whole, parts);
        }
    }
}
