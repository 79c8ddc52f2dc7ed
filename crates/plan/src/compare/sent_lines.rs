//! The lines with which an earlier upload sent an order, from its request body.

use serde::Deserialize;
use serde_json::value::RawValue;
use sheetport_ledger::RunId;

use super::service_lines::{ServiceLine, parse_lines};

/// The lines of an order in the last upload that sent lines of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SentLines {
    pub(super) run: RunId,
    /// The local date of the request.
    pub(super) date: String,
    /// False if the request may not have been applied.
    pub(super) is_accepted: bool,
    /// The lines as JSON, in brackets. They are compared only when their order is planned.
    pub(super) lines: Box<str>,
}

/// The part of a request body with the lines (api.md, "Order update input").
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    order: Option<Order<'a>>,
}

#[derive(Deserialize)]
struct Order<'a> {
    #[serde(borrow)]
    items: Option<&'a RawValue>,
}

impl SentLines {
    /// Returns the lines, or `None` if they can't be read.
    pub(super) fn lines(&self) -> Option<Vec<ServiceLine>> {
        parse_lines(&serde_json::from_str(&self.lines).ok()?)
    }
}

/// Returns the lines of a request body, if it has lines.
pub(super) fn lines_of(body: &str) -> Option<&str> {
    Some(serde_json::from_str::<Body<'_>>(body).ok()?.order?.items?.get())
}

#[cfg(test)]
mod tests {
    use super::lines_of;

    #[test]
    fn only_a_body_with_lines_has_lines() {
        for (body, lines) in [
            (
                r#"{"order":{"externalId":"A","items":[{"itemExternalId":"ä\"","quantity":2.50}]},"createMissingItems":true}"#,
                Some(r#"[{"itemExternalId":"ä\"","quantity":2.50}]"#),
            ),
            (r#"{"order":{"items":[]}}"#, Some("[]")),
            (r#"{"order":{"status":"open"}}"#, None),
            (r#"{"order":{"items":null}}"#, None),
            ("{}", None),
            ("erased", None),
        ] {
            assert_eq!(lines_of(body), lines, "{body}");
        }
    }
}
