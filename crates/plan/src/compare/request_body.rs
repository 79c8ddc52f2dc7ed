//! The bodies of requests: the record in them, and what names it.

use sheetport_client::pages::{object_fields, unescaped};
use sheetport_records::Input;

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
