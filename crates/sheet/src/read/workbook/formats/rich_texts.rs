//! Texts of which parts are set differently, apart from how the formats store them.

use std::collections::HashMap;
use std::iter;
use std::ops::Range;

use crate::cell::{Setting, TextPart};

/// Maximum length of a text in bytes.
pub(super) const MAX_TEXT: usize = 200;
/// Maximum number of texts, far more than a price list has footnotes.
const MAX_TEXTS: usize = 1 << 17;

/// The parts of texts by the whole text.
#[derive(Clone, Debug, Default)]
pub(crate) struct RichTexts(HashMap<String, Vec<(Setting, String)>>);

impl RichTexts {
    /// Returns the parts of a text. Empty for all others.
    pub(crate) fn parts(&self, text: &str) -> impl Iterator<Item = TextPart<'_>> {
        let parts = if self.0.is_empty() { None } else { self.0.get(text) };
        parts.into_iter().flatten().map(|(setting, text)| TextPart { setting: *setting, text })
    }

    /// Adds a text in parts, if the setting of a part matters.
    pub(super) fn add(&mut self, parts: Vec<(Setting, String)>) {
        let whole: String = parts.iter().map(|(_, text)| text.as_str()).collect();
        if matter(&parts) && self.0.len() < MAX_TEXTS {
            self.0.insert(whole, parts);
        }
    }
}

/// Returns whether the settings of the parts of a text matter.
pub(crate) fn matter(parts: &[(Setting, String)]) -> bool {
    let is_set = |(setting, text): &(Setting, String)| *setting != Setting::Plain && !text.trim().is_empty();
    // A text that is raised as a whole has no part beside it, but one that is struck no longer holds.
    let is_whole = parts.iter().all(|(setting, _)| *setting != Setting::Plain);
    let len: usize = parts.iter().map(|(_, text)| text.len()).sum();
    len <= MAX_TEXT && parts.iter().any(|part| is_set(part) && (!is_whole || part.0 == Setting::Struck))
}

/// The parts of a text that is read piece by piece: where each begins, in bytes.
#[derive(Debug, Default)]
pub(crate) struct PartStarts(Vec<(usize, Setting)>);

impl PartStarts {
    /// Adds a piece that begins at `start`.
    pub(crate) fn piece(&mut self, start: usize, setting: Setting) {
        let last = self.0.last().map_or(Setting::Plain, |(_, setting)| *setting);
        if last != setting {
            self.0.push((start, setting));
        }
    }

    /// Returns the parts of the whole text if their settings matter.
    pub(crate) fn parts(self, text: &str) -> Vec<(Setting, String)> {
        if self.0.is_empty() || text.len() > MAX_TEXT {
            return Vec::new();
        }
        let parts = split(self.0.into_iter(), text.len(), |range| text.get(range).map(str::to_owned));
        if matter(&parts) { parts } else { Vec::new() }
    }
}

/// Splits a text where its font changes. `runs`: where each font begins, counted in UTF-16, and its number.
pub(super) fn parts_by_font(
    text: &[u16],
    runs: &[(u16, u16)],
    of_font: impl Fn(u16) -> Setting,
) -> Vec<(Setting, String)> {
    let starts = runs.iter().map(|(at, font)| (usize::from(*at), of_font(*font)));
    split(starts, text.len(), |range| text.get(range).map(String::from_utf16_lossy))
}

/// Splits a text of this length where its parts start. The text before the first of them is plain, and empty parts are left out.
fn split(
    starts: impl Iterator<Item = (usize, Setting)>,
    len: usize,
    text_of: impl Fn(Range<usize>) -> Option<String>,
) -> Vec<(Setting, String)> {
    let starts: Vec<(usize, Setting)> = iter::once((0, Setting::Plain)).chain(starts).collect();
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([len]);
    let part = |((start, setting), end): (&(usize, Setting), usize)| {
        let text = text_of(*start..end).filter(|text| !text.is_empty())?;
        Some((*setting, text))
    };
    starts.iter().zip(ends).filter_map(part).collect()
}
