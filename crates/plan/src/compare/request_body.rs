//! The bodies of requests: the record in them, and what names it.

use std::borrow::Cow;

use sheetport_client::pages::{object_fields, unescaped};
use sheetport_records::transaction::COUNTED;
use sheetport_records::{Input, RecordKind};

/// Returns the record in the body of a request.
pub(crate) fn record_of_body<'b>(input: &Input, body: &'b str) -> Option<&'b str> {
    match (input.member(), object_fields(body)) {
        (Some(member), Some(members)) => members.into_iter().find(|(name, _)| *name == member).map(|(_, json)| json),
        _ => Some(body),
    }
}

/// Writes members as a JSON object, with their values as they are.
pub(crate) fn object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> Box<str> {
    let members: Vec<String> = members.map(|(name, json)| format!("\"{name}\":{json}")).collect();
    format!("{{{}}}", members.join(",")).into()
}

/// Returns the external id in the body of a request.
pub(super) fn external_id(input: &Input, body: &str) -> Option<String> {
    let fields = object_fields(record_of_body(input, body)?)?;
    let (_, json) = fields.into_iter().find(|(name, _)| *name == "externalId")?;
    Some(unescaped(json).into_owned())
}

/// Whether a request without this field is possible.
pub fn can_leave_out(kind: RecordKind, field: &str) -> bool {
    let input = kind.input();
    // Its difference from the service would stay.
    if field == COUNTED {
        return false;
    }
    let is_required = input.fields().any(|known| known.name == field && known.required);
    !is_required && !input.key.contains(&field)
}

/// Returns the body of a request without these fields. `None` if the service demands one of them, or the body has none of them.
pub(crate) fn without_fields(kind: RecordKind, body: &str, fields: &[&str]) -> Option<Box<str>> {
    let input = kind.input();
    if fields.iter().any(|field| !can_leave_out(kind, field)) {
        return None;
    }
    let members = object_fields(body)?;
    match input.member() {
        None => without(&members, fields),
        Some(member) => {
            let rewritten = members.iter().map(|(name, json)| match *name == member {
                true => Some((&**name, without(&object_fields(json)?, fields)?)),
                false => Some((&**name, (*json).into())),
            });
            let rewritten: Vec<(&str, Box<str>)> = rewritten.collect::<Option<_>>()?;
            Some(object(rewritten.iter().map(|(name, json)| (*name, &**json))))
        }
    }
}

fn without(members: &[(Cow<'_, str>, &str)], fields: &[&str]) -> Option<Box<str>> {
    let kept: Vec<_> = members.iter().filter(|(name, _)| !fields.contains(&&**name)).collect();
    let is_each_there = kept.len() + fields.len() == members.len();
    is_each_there.then(|| object(kept.into_iter().map(|(name, json)| (&**name, *json))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_left_out_of_a_request() {
        let item = |body: &str, fields: &[&str]| without_fields(RecordKind::Item, body, fields);
        let body = r#"{"externalId":"A","name":"a \"b\"","price":1.50,"tax":null}"#;
        assert_eq!(item(body, &["price"]).as_deref(), Some(r#"{"externalId":"A","name":"a \"b\"","tax":null}"#));
        assert_eq!(item(body, &["name", "tax"]).as_deref(), Some(r#"{"externalId":"A","price":1.50}"#));
        assert_eq!(item(body, &["externalId"]), None, "the service demands it");
        assert_eq!(item(body, &["description"]), None, "it is not there");
        let order = r#"{"order":{"deliveryStatus":"sent","note":"x"},"triggerWorkflows":true}"#;
        assert_eq!(
            without_fields(RecordKind::Order, order, &["note"]).as_deref(),
            Some(r#"{"order":{"deliveryStatus":"sent"},"triggerWorkflows":true}"#)
        );
    }
}
