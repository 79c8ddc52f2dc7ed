//! A page of a list, with entries as JSON text.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use serde_json::value::RawValue;

use super::json::{ListObject, object_field, object_fields, unescaped};

/// Maximum number of entries on a page. A service may return more than were asked for.
const MAX_ENTRIES: usize = 100_000;
/// Maximum size of an entry, in bytes.
const MAX_ENTRY: usize = 8 << 20;

/// The body of a list response and the position of each entry.
#[derive(Clone, Debug, Default)]
pub struct Page {
    text: String,
    entries: Vec<Range<usize>>,
    /// Number of entries in the whole list, according to the service.
    pub total: Option<u64>,
}

/// An entry of a page, split into its fields.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    json: &'a str,
    /// Split on first use. Empty unless the entry is an object.
    fields: OnceCell<Vec<(Cow<'a, str>, &'a str)>>,
}

impl Page {
    /// Parses the body of a list response: an object with the entries in its field `data`, or a bare array.
    pub fn parse(body: Vec<u8>) -> Result<Page, String> {
        let text = utf8(body)?;
        let (list, total) = list(&text).map_err(|error| error.to_string())?;
        let range = |entry: &RawValue| {
            let start = entry.get().as_ptr().addr() - text.as_ptr().addr();
            start..start + entry.get().len()
        };
        if list.len() > MAX_ENTRIES {
            return Err(format!("it has {} records, and a page can have at most {MAX_ENTRIES}", list.len()));
        }
        if let Some((nth, long)) = list.iter().enumerate().find(|(_, entry)| entry.get().len() > MAX_ENTRY) {
            let mebibytes = long.get().len().div_ceil(1 << 20);
            let most = MAX_ENTRY >> 20;
            return Err(format!("its record {} has {mebibytes} MiB, and a record can have at most {most}", nth + 1));
        }
        let entries = list.into_iter().map(range).collect();
        Ok(Page { text, entries, total })
    }

    /// Parses a single record into a page with one entry.
    pub fn parse_record(body: Vec<u8>) -> Result<Page, String> {
        let text = utf8(body)?;
        if !text.trim_start().starts_with('{') {
            return Err("expected a JSON object".to_owned());
        }
        Page::parse(format!("[{text}]").into_bytes())
    }

    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.entries.iter().map(|range| Entry::new(&self.text[range.clone()]))
    }

    /// Returns the response body.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<'a> Entry<'a> {
    pub fn new(json: &'a str) -> Entry<'a> {
        Entry { json, fields: OnceCell::new() }
    }

    /// Returns the entry as JSON.
    pub fn json(&self) -> &'a str {
        self.json
    }

    pub fn is_object(&self) -> bool {
        self.json.starts_with('{')
    }

    /// Returns the fields of an object in order: unescaped names and the JSON of the values.
    pub fn fields(&self) -> &[(Cow<'a, str>, &'a str)] {
        let split = || if self.is_object() { object_fields(self.json) } else { None };
        self.fields.get_or_init(|| split().unwrap_or_default())
    }

    /// Returns the JSON of the first field with this name.
    pub fn field(&self, name: &str) -> Option<&'a str> {
        self.fields().iter().find(|(known, _)| known == name).map(|(_, json)| *json)
    }

    /// Returns the text or number of the first field with this name, or `None` if missing or null.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.field(name).filter(|json| *json != "null").map(unescaped)
    }

    /// Returns the service's ID of the record, or `None` if missing or null.
    pub fn id(&self) -> Option<Cow<'a, str>> {
        let id = match self.fields.get() {
            Some(_) => self.field("id"),
            None => object_field(self.json, "id"),
        };
        id.filter(|json| *json != "null").map(unescaped)
    }
}

fn utf8(body: Vec<u8>) -> Result<String, String> {
    String::from_utf8(body).map_err(|_| "the response is not valid UTF-8".to_owned())
}

/// Returns the entries and the total of a list response.
fn list(text: &str) -> Result<(Vec<&RawValue>, Option<u64>), serde_json::Error> {
    if text.trim_start().starts_with('[') {
        return Ok((serde_json::from_str(text)?, None));
    }
    let ListObject { entries, total } = serde_json::from_str(text)?;
    Ok((entries, total))
}
