//! Walking a list page by page without trusting what it says of itself. Pure.

use std::collections::HashSet;

use serde_json::Value;
use serde_json::value::RawValue;

/// What one page held.
#[derive(Debug)]
pub struct Page {
    /// Each entry as the service sent it.
    pub entries: Vec<Box<RawValue>>,
    /// How many entries the service says the whole list has.
    pub total: Option<u64>,
}

/// Reads a page: an envelope with `data`, or a bare array.
pub fn read(body: &[u8]) -> Result<Page, String> {
    #[derive(serde::Deserialize)]
    struct Envelope {
        data: Vec<Box<RawValue>>,
        #[serde(default)]
        total: Option<Value>,
    }
    match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[') => {
            let entries = serde_json::from_slice(body).map_err(|error| error.to_string())?;
            Ok(Page { entries, total: None })
        }
        _ => {
            let envelope: Envelope = serde_json::from_slice(body).map_err(|error| error.to_string())?;
            Ok(Page { entries: envelope.data, total: envelope.total.and_then(|total| total.as_u64()) })
        }
    }
}

/// Keeps track of what the pages of one list brought.
#[derive(Debug, Default)]
pub struct Walk {
    ids: HashSet<Box<str>>,
    pub pages: u64,
    pub entries: u64,
    pub duplicates: u64,
    /// The newest that the service said.
    pub total: Option<u64>,
    /// Entries on the first page: the page size that is really in force.
    page_size: usize,
    ended: bool,
}

/// How a walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// As many distinct records as the service says there are.
    TotalReached,
    /// The service names no total; the page after the last record was empty.
    ReadToTheEnd,
    /// The reason why it can't be shown.
    Unproven(String),
}

impl Walk {
    /// Takes in the next page and tells which of its entries are new. `ids` are the entries' ids; one that has none
    /// counts as new.
    pub fn take(&mut self, total: Option<u64>, ids: Vec<Option<String>>) -> Vec<bool> {
        self.pages += 1;
        self.total = total.or(self.total);
        if self.pages == 1 {
            self.page_size = ids.len();
        }
        let count = ids.len();
        let new: Vec<bool> =
            ids.into_iter().map(|id| id.is_none_or(|id| self.ids.insert(id.into_boxed_str()))).collect();
        let fresh = new.iter().filter(|new| **new).count();
        self.entries += fresh as u64;
        self.duplicates += (count - fresh) as u64;
        // A page without anything new ends the walk: an empty one is the end, and a known one is the same for ever.
        self.ended =
            fresh == 0 || self.total.is_some_and(|total| self.entries >= total && count < self.page_size.max(1));
        new
    }

    /// Is there more to fetch?
    pub fn is_over(&self) -> bool {
        self.ended || self.total.is_some_and(|total| self.pages > 0 && self.entries >= total)
    }

    /// The pages that are sure to be needed after the first, by what it said.
    pub fn pages_expected(&self) -> u64 {
        match (self.total, self.page_size as u64) {
            (Some(total), size) if size > 0 => total.div_ceil(size),
            _ => 1,
        }
    }

    pub fn completeness(&self) -> Completeness {
        match self.total {
            Some(total) if total == self.entries => Completeness::TotalReached,
            Some(total) => Completeness::Unproven(format!(
                "the service says that there are {total} records, and its pages held {} different ones",
                self.entries
            )),
            None if self.duplicates > 0 => {
                Completeness::Unproven("the service names no total, and its pages repeat records".to_owned())
            }
            None => Completeness::ReadToTheEnd,
        }
    }
}
