//! Splits JSON objects and arrays without converting the values, so numbers keep all digits.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Returns the fields of a JSON object in order: unescaped names and the JSON of the values. Returns `None` for other JSON.
pub fn object_fields(json: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    serde_json::from_str(json).ok().map(|Fields(fields)| fields)
}

/// Returns the JSON of the first field with this name, or `None` for a missing field and for JSON other than objects. Does not
/// read on after the field.
pub(super) fn object_field<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let mut found = None;
    let visitor = FieldVisitor { name, found: &mut found };
    // The visitor ends at a found field, which the rest of the object turns into an error.
    let _ = serde_json::Deserializer::from_str(json).deserialize_map(visitor);
    found
}

/// Returns the JSON of an array's elements, or `None` for other JSON.
pub fn array_elements(json: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// Returns the text of a JSON string; other JSON is returned unchanged.
pub fn unescaped(json: &str) -> Cow<'_, str> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if memchr::memchr(b'\\', plain.as_bytes()).is_none() => Cow::Borrowed(plain),
        // An escaped lone surrogate is valid JSON, but not valid text.
        Some(_) => serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned),
        None => Cow::Borrowed(json),
    }
}

/// The fields of a JSON object in order: unescaped names and the JSON of the values.
struct Fields<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields<'de>, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::with_capacity(8);
        while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            fields.push((unescaped(name.get()), value.get()));
        }
        Ok(Fields(fields))
    }
}

/// Finds the first field with this name.
struct FieldVisitor<'f, 'de> {
    name: &'f str,
    found: &'f mut Option<&'de str>,
}

impl<'de> Visitor<'de> for FieldVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    /// Ends once the field is found, without an error of its own: its text and position would take longer than the search.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<&RawValue>()? {
            if unescaped(name.get()) == self.name {
                *self.found = Some(map.next_value::<&RawValue>()?.get());
                return Ok(());
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// The entries and the total of a list response that is an object.
pub(super) struct ListObject<'a> {
    pub entries: Vec<&'a RawValue>,
    /// `None` unless the last of the totals is a whole number.
    pub total: Option<u64>,
}

impl<'de> Deserialize<'de> for ListObject<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ListObject<'de>, D::Error> {
        deserializer.deserialize_map(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = ListObject<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array, or an object with an array in its field 'data'")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ListObject<'de>, A::Error> {
        let (mut entries, mut total) = (None, None);
        while let Some(name) = map.next_key::<&RawValue>()? {
            match unescaped(name.get()).as_ref() {
                "data" if entries.is_some() => return Err(A::Error::duplicate_field("data")),
                // Some services write an empty list as null.
                "data" => entries = Some(map.next_value::<Option<_>>()?.unwrap_or_default()),
                "total" => total = map.next_value::<&RawValue>()?.get().parse().ok(),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(ListObject { entries: entries.ok_or_else(|| A::Error::missing_field("data"))?, total })
    }
}
