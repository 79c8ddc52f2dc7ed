//! Splits JSON objects and arrays without converting the values, so numbers keep all digits.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Returns the fields of a JSON object in their order: unescaped names and the JSON of the values. Returns `None` for
/// other JSON.
pub(crate) fn object_fields(json: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    serde_json::from_str(json).ok().map(|Fields(fields)| fields)
}

/// Returns the JSON of an array's elements, or `None` for other JSON.
pub(crate) fn array_elements(json: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// Returns the text of a JSON string; other JSON is returned unchanged.
pub(crate) fn unescaped(json: &str) -> Cow<'_, str> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if memchr::memchr(b'\\', plain.as_bytes()).is_none() => Cow::Borrowed(plain),
        // An escaped lone surrogate is valid JSON, but not valid text.
        Some(_) => serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned),
        None => Cow::Borrowed(json),
    }
}

/// The fields of a JSON object in their order: unescaped names and the JSON of the values.
pub(super) struct Fields<'a>(pub Vec<(Cow<'a, str>, &'a str)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields<'de>, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array, or an object with an array in its field 'data'")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::with_capacity(8);
        while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            fields.push((unescaped(name.get()), value.get()));
        }
        Ok(Fields(fields))
    }
}
