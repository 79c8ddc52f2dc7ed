//! A page as it came: the places in its text at which its entries and their fields stand, found in one pass.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// What one page held.
#[derive(Clone, Debug, Default)]
pub struct Page {
    text: String,
    entries: Vec<EntryPlace>,
    fields: Vec<FieldPlace>,
    /// How many entries the service says the whole list has.
    pub total: Option<u64>,
}

/// One entry of a page, as the service sent it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    page: &'a Page,
    place: &'a EntryPlace,
}

#[derive(Clone, Debug)]
struct EntryPlace {
    text: Range<u32>,
    /// Of an object; nothing of anything else.
    fields: Option<Range<u32>>,
}

/// Where the name, with its quotes, and the value of a field stand.
#[derive(Clone, Debug)]
struct FieldPlace {
    name: Range<u32>,
    value: Range<u32>,
}

impl Page {
    /// A page without entries.
    pub fn empty() -> Page {
        Page::default()
    }

    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.entries.iter().map(|place| Entry { page: self, place })
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The whole answer.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn part(&self, place: &Range<u32>) -> &str {
        self.text.get(place.start as usize..place.end as usize).unwrap_or_default()
    }
}

impl<'a> Entry<'a> {
    /// The entry's JSON.
    pub fn text(&self) -> &'a str {
        self.page.part(&self.place.text)
    }

    pub fn is_object(&self) -> bool {
        self.place.fields.is_some()
    }

    /// The fields of an object: each name as JSON has it, in quotes, and the value's JSON.
    pub fn fields(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let page = self.page;
        let fields = self.place.fields.clone().unwrap_or_default();
        let fields = page.fields.get(fields.start as usize..fields.end as usize).unwrap_or_default();
        fields.iter().map(|field| (page.part(&field.name), page.part(&field.value)))
    }
}

/// Reads a page: an envelope with `data`, or a bare array.
pub fn read(body: Vec<u8>) -> Result<Page, String> {
    let text = String::from_utf8(body).map_err(|_| "it is not text in UTF-8".to_owned())?;
    if u32::try_from(text.len()).is_err() {
        return Err("it is too long".to_owned());
    }
    let mut found = Found::in_text(&text);
    let mut total = None;
    // Entries are objects but for a service's whim. Where one is not, the page is read once more, entry by entry.
    if deserialize(&text, Objects(&mut found), &mut total).is_err() {
        found = Found::in_text(&text);
        total = None;
        deserialize(&text, Anything(&mut found), &mut total).map_err(|error| error.to_string())?;
    }
    let Found { entries, fields, .. } = found;
    Ok(Page { text, entries, fields, total })
}

/// A single record as a page of one entry, as which it is kept and written like any other.
pub fn read_one(body: Vec<u8>) -> Result<Page, String> {
    let text = String::from_utf8(body).map_err(|_| "it is not text in UTF-8".to_owned())?;
    if !text.trim_start().starts_with('{') {
        return Err("it is no JSON object".to_owned());
    }
    read(format!("[{text}]").into_bytes())
}

/// The text of a JSON string without its quotes and escapes; of any other JSON the JSON.
pub fn unquoted(json: &str) -> std::borrow::Cow<'_, str> {
    use std::borrow::Cow;
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if memchr::memchr(b'\\', plain.as_bytes()).is_none() => Cow::Borrowed(plain),
        Some(_) => serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned),
        None => Cow::Borrowed(json),
    }
}

/// The fields of a JSON object, as [`Entry::fields`] gives them; nothing for other JSON.
pub fn fields_of(json: &str) -> Option<Vec<(&str, &str)>> {
    let mut found = Found::in_text(json);
    let mut deserializer = serde_json::Deserializer::from_str(json);
    ObjectEntry(&mut found).deserialize(&mut deserializer).ok()?;
    let part = |place: &Range<u32>| json.get(place.start as usize..place.end as usize).unwrap_or_default();
    Some(found.fields.iter().map(|field| (part(&field.name), part(&field.value))).collect())
}

/// The elements of a JSON array; nothing for other JSON.
pub fn elements_of(json: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

fn deserialize<S>(text: &str, entries: S, total: &mut Option<u64>) -> Result<(), serde_json::Error>
where
    S: for<'de> DeserializeSeed<'de, Value = ()>,
{
    let mut deserializer = serde_json::Deserializer::from_str(text);
    if text.trim_start().starts_with('[') {
        entries.deserialize(&mut deserializer)?;
    } else {
        deserializer.deserialize_map(Envelope { entries: Some(entries), total })?;
    }
    deserializer.end()
}

struct Found<'t> {
    text: &'t str,
    entries: Vec<EntryPlace>,
    fields: Vec<FieldPlace>,
}

impl<'t> Found<'t> {
    fn in_text(text: &'t str) -> Found<'t> {
        Found { text, entries: Vec::new(), fields: Vec::new() }
    }

    /// Where a part of the text stands.
    fn place(&self, part: &str) -> Range<u32> {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        place(start)..place(start.saturating_add(part.len()))
    }

    /// The place of the object whose fields stand at `inner`: with its braces.
    fn with_braces(&self, inner: Range<u32>) -> Range<u32> {
        let (before, after) = (self.text.get(..inner.start as usize), self.text.get(inner.end as usize..));
        let start = before.and_then(|text| text.rfind('{')).unwrap_or_default();
        let end = after.and_then(|text| text.find('}')).unwrap_or_default();
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        place(start)..place(inner.end as usize + end + 1)
    }

    fn field_count(&self) -> u32 {
        u32::try_from(self.fields.len()).unwrap_or(u32::MAX)
    }
}

struct Envelope<'a, S> {
    entries: Option<S>,
    total: &'a mut Option<u64>,
}

impl<'de, S: DeserializeSeed<'de, Value = ()>> Visitor<'de> for Envelope<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list, or an object with a list in its field data")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<&RawValue>()? {
            match &*unquoted(name.get()) {
                "data" => match self.entries.take() {
                    Some(entries) => map.next_value_seed(entries)?,
                    None => return Err(A::Error::custom("its field data stands twice")),
                },
                "total" => *self.total = map.next_value::<Value>()?.as_u64(),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        match self.entries {
            None => Ok(()),
            Some(_) => Err(A::Error::custom("it has no field data")),
        }
    }
}

/// A list of nothing but objects.
struct Objects<'a, 't>(&'a mut Found<'t>);

impl<'de> DeserializeSeed<'de> for Objects<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Objects<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut first = 0;
        while let Some(text) = list.next_element_seed(ObjectEntry(self.0))? {
            let end = self.0.field_count();
            self.0.entries.push(EntryPlace { text, fields: Some(first..end) });
            first = end;
        }
        Ok(())
    }
}

/// An object, whose own place is told from those of its first name and its last value.
struct ObjectEntry<'a, 't>(&'a mut Found<'t>);

impl<'de> DeserializeSeed<'de> for ObjectEntry<'_, '_> {
    type Value = Range<u32>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Range<u32>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObjectEntry<'_, '_> {
    type Value = Range<u32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Range<u32>, A::Error> {
        let mut around: Option<Range<u32>> = None;
        while let Some(name) = map.next_key::<&RawValue>()? {
            let value: &RawValue = map.next_value()?;
            let (name, value) = (self.0.place(name.get()), self.0.place(value.get()));
            around = Some(around.map_or(name.start, |around| around.start)..value.end);
            self.0.fields.push(FieldPlace { name, value });
        }
        // An object without fields stands nowhere that could be told; the other way of reading finds it.
        around.map(|inner| self.0.with_braces(inner)).ok_or_else(|| A::Error::custom("an object without fields"))
    }
}

/// A list of any JSON.
struct Anything<'a, 't>(&'a mut Found<'t>);

impl<'de> DeserializeSeed<'de> for Anything<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Anything<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(entry) = list.next_element::<&RawValue>()? {
            let text = self.0.place(entry.get());
            let first = self.0.field_count();
            let fields = match entry.get().starts_with('{') {
                true => {
                    let mut within = serde_json::Deserializer::from_str(entry.get());
                    // All that can be wrong with a value that was read before is that it has no fields.
                    let _ = ObjectEntry(self.0).deserialize(&mut within);
                    Some(first..self.0.field_count())
                }
                false => None,
            };
            self.0.entries.push(EntryPlace { text, fields });
        }
        Ok(())
    }
}
