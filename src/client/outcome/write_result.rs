//! Results of writes, parsed from the service's answers.

use serde_json::Value;

use super::service_message::{ServiceMessage, bounded, errors, errors_of_results, summary_of, texts};
use crate::records::RecordKind;

/// The parsed answer to a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WriteResult {
    /// Whether the service accepted the record.
    pub ok: bool,
    pub status: Option<String>,
    pub service_id: Option<String>,
    pub ctx_id: Option<String>,
    pub job_id: Option<String>,
    pub errors: Vec<ServiceMessage>,
}

/// The record in a request, to match with the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestContext<'a> {
    pub kind: RecordKind,
    /// Name of the record in the path, if any.
    pub target: Option<&'a str>,
    /// Identity of the record across runs.
    pub key: Option<&'a str>,
    pub body: &'a [u8],
}

impl WriteResult {
    /// Parses the body of a 2xx response. Fails if the answer violates the contract or is about another record.
    pub(crate) fn parse(context: &RequestContext<'_>, body: &[u8]) -> Result<WriteResult, String> {
        let body: Value = serde_json::from_slice(body).map_err(|_| UNREADABLE)?;
        let result = parse(context, &body).ok_or_else(|| UNREADABLE.to_owned())?;
        Ok(WriteResult { errors: bounded(result.errors), ..result })
    }

    /// Returns the refusal in a response outside 2xx, with all messages.
    pub(crate) fn refusal(status: u16, body: &[u8]) -> WriteResult {
        // Without JSON there are no messages.
        let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let mut errors = errors(&body);
        if errors.is_empty() {
            errors = errors_of_results(&body);
        }
        if errors.is_empty() {
            let message = summary_of(&body);
            let message = message.unwrap_or_else(|| format!("the service answered {status} without a reason"));
            errors.push(ServiceMessage::about_record(message));
        }
        let ctx_id = body.get("ctx_id").and_then(as_id);
        WriteResult { ctx_id, errors: bounded(errors), ..WriteResult::default() }
    }

    /// Adds a message about the record.
    pub(crate) fn add_error(&mut self, message: &str) {
        self.errors.push(ServiceMessage::about_record(message.to_owned()));
    }

    /// Returns a refusal with a single message.
    pub(crate) fn refused(message: String) -> WriteResult {
        WriteResult { errors: vec![ServiceMessage::about_record(message)], ..WriteResult::default() }
    }
}

/// Maximum number of characters kept of an id.
const MAX_ID: usize = 255;
const UNREADABLE: &str = "the answer can't be understood";

fn parse(context: &RequestContext<'_>, body: &Value) -> Option<WriteResult> {
    let object = body.as_object()?;
    let text = |name: &str| object.get(name).and_then(as_id);
    let ok = match object.get("ok") {
        None => None,
        Some(ok) => Some(ok.as_bool()?),
    };
    let mut result = WriteResult {
        ok: ok == Some(true),
        status: text("status"),
        service_id: text(context.kind.input().answer_id),
        ctx_id: text("ctx_id"),
        job_id: text("job_id").filter(|id| !id.is_empty()),
        errors: errors(body),
    };
    match context.kind {
        RecordKind::Item => {
            ok?;
            let is_other = object.get("external_id").is_some_and(|id| id.as_str() != context.key);
            if is_other {
                return None;
            }
        }
        RecordKind::Order => {
            ok?;
            result = order_result(context, body, result)?;
        }
        RecordKind::InventoryTransaction => {
            ok?;
        }
        // The contract shows no answer here: any object without an error is a success.
        RecordKind::Subscription | RecordKind::Invoice => {
            result.ok = ok != Some(false) && result.errors.is_empty() && !reports_failure(body, &result);
        }
    }
    result.ok &= result.errors.is_empty();
    if !result.ok && result.errors.is_empty() {
        result.errors = errors_of_results(body);
    }
    if !result.ok && result.errors.is_empty() {
        result.errors.extend(summary_of(body).map(ServiceMessage::about_record));
    }
    Some(result)
}

/// The status of a refused record, in answers that the contract does not show.
const FAILURES: &[&str] = &["error", "failed", "failure", "invalid", "rejected", "refused"];

/// Whether an answer without an id and without `ok` reports a failure.
fn reports_failure(body: &Value, result: &WriteResult) -> bool {
    let has_error = body.get("error").is_some_and(|error| !texts(error).is_empty());
    let is_unsuccessful = body.get("success") == Some(&Value::Bool(false));
    let is_failure = |status: &str| FAILURES.iter().any(|failure| status.eq_ignore_ascii_case(failure));
    let is_error = result.status.as_deref().is_some_and(is_failure);
    result.service_id.is_none() && (has_error || is_unsuccessful || is_error)
}

/// Returns the result with the external id or id of the order in the request, never by position. Contract: "Order update
/// result".
fn order_result(context: &RequestContext<'_>, body: &Value, result: WriteResult) -> Option<WriteResult> {
    let results = body.get("results")?.as_array()?;
    let sent: Value = serde_json::from_slice(context.body).ok()?;
    let external_id = sent.pointer("/order/externalId").and_then(Value::as_str);
    let is_sent = |found: &&Value| match external_id {
        Some(id) => found.get("external_id").and_then(Value::as_str) == Some(id),
        None => found.get("order_id").and_then(as_text).as_deref() == context.target || results.len() == 1,
    };
    let matching: Vec<&Value> = results.iter().filter(is_sent).collect();
    let id = external_id.or(context.target).unwrap_or("that was sent");
    let contradiction = match matching.len() {
        0 => Some(format!("the answer has no result for the order {id}")),
        1 if results.len() > 1 => Some(format!("the answer has results for other orders than {id}")),
        1 => None,
        _ => Some(format!("the answer has more than one result for the order {id}")),
    };
    if let Some(message) = contradiction {
        let mut errors = result.errors;
        errors.push(ServiceMessage::about_record(message));
        return Some(WriteResult { ok: false, errors, ..result });
    }
    let [found] = matching.as_slice() else { return None };
    let messages = found.get("errors").map(texts).into_iter().flatten();
    let errors = messages.map(ServiceMessage::about_record).chain(result.errors).collect();
    Some(WriteResult {
        status: found.get("status").and_then(as_id).or(result.status),
        service_id: found.get("order_id").and_then(as_id).filter(|id| !id.is_empty()),
        errors,
        ..result
    })
}

/// Returns an id or a status to keep, cut after [`MAX_ID`] characters.
fn as_id(value: &Value) -> Option<String> {
    let text = as_text(value)?;
    Some(match text.char_indices().nth(MAX_ID) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    })
}

/// Returns the text of an id: a string or a number.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_item(key: &str, body: &str) -> Result<WriteResult, String> {
        let context = RequestContext { kind: RecordKind::Item, target: None, key: Some(key), body: b"{}" };
        WriteResult::parse(&context, body.as_bytes())
    }

    fn parse_invoice(body: &str) -> Result<WriteResult, String> {
        let context = RequestContext { kind: RecordKind::Invoice, target: None, key: None, body: b"{}" };
        WriteResult::parse(&context, body.as_bytes())
    }

    #[test]
    fn order_result_is_found_by_external_id() {
        let body = r#"{"order": {"externalId": "SO-1"}}"#;
        let (id, kind) = (Some("SO-1"), RecordKind::Order);
        let context = RequestContext { kind, target: id, key: id, body: body.as_bytes() };
        let result = |id: &str, errors: &str| {
            format!(r#"{{"external_id": "{id}", "status": "updated", "order_id": "o-1", "errors": {errors}}}"#)
        };
        let answer = |results: &[String]| {
            let results = results.join(",");
            let body = format!(r#"{{"ok": true, "results": [{results}], "job_id": "j-1", "ctx_id": "c-1"}}"#);
            WriteResult::parse(&context, body.as_bytes()).expect("an answer")
        };
        let good = answer(&[result("SO-1", "[]")]);
        assert!(good.ok && good.errors.is_empty(), "{good:?}");
        assert_eq!((good.service_id.as_deref(), good.job_id.as_deref()), (Some("o-1"), Some("j-1")));
        let bad = answer(&[result("SO-1", r#"["unknown item", "no company"]"#)]);
        assert!(!bad.ok);
        assert_eq!(bad.errors.len(), 2);
        for results in [vec![], vec![result("SO-2", "[]")], vec![result("SO-1", "[]"), result("SO-2", "[]")]] {
            let odd = answer(&results);
            assert!(!odd.ok && odd.errors[0].message.contains("SO-1"), "{odd:?}");
        }
        assert!(WriteResult::parse(&context, br#"{"ok": true}"#).is_err(), "an answer without results");
    }

    #[test]
    fn created_invoice_counts_as_accepted_unless_the_answer_reports_an_error() {
        let ok = |body: &str| parse_invoice(body).map(|result| result.ok).ok();
        assert_eq!(ok(r#"{"id": 7}"#), Some(true));
        assert_eq!(ok(r#"{"ok": false, "message": "no"}"#), Some(false));
        assert_eq!(ok(r#"{"id": "1", "errors": ["no such item"]}"#), Some(false));
        assert_eq!(ok("[]"), None);
        assert_eq!(ok("<html>"), None);
    }

    #[test]
    fn success_status_with_an_error_and_no_id_is_not_accepted() {
        for (body, message) in [
            (r#"{"error": "no such customer"}"#, Some("no such customer")),
            (r#"{"success": false, "message": "locked"}"#, Some("locked")),
            (r#"{"status": "Error"}"#, None),
        ] {
            let result = parse_invoice(body).expect("an answer");
            assert!(!result.ok, "{body}");
            assert_eq!(result.errors.first().map(|error| error.message.as_str()), message, "{body}");
        }
        for body in [r#"{"error": null, "status": "created"}"#, r#"{"id": 7, "error": "a warning"}"#, "{}"] {
            assert!(parse_invoice(body).expect("an answer").ok, "{body}");
        }
    }

    #[test]
    fn item_result_is_parsed() {
        let body = r#"{"ok": true, "status": "created", "external_id": "0042", "item_id": "i-1", "ctx_id": "c-1"}"#;
        let result = parse_item("0042", body).expect("a result");
        assert!(result.ok);
        assert_eq!(result.service_id.as_deref(), Some("i-1"));
        assert_eq!(result.ctx_id.as_deref(), Some("c-1"));
    }

    #[test]
    fn body_that_is_no_result_for_the_record_is_refused() {
        let other = r#"{"ok": true, "status": "created", "external_id": "43"}"#;
        for body in ["", "<html>", "[]", "{}", r#"{"ok": "yes"}"#, r#"{"ok": null}"#, other] {
            assert!(parse_item("42", body).is_err(), "{body}");
        }
    }

    #[test]
    fn ids_are_bounded() {
        let id = "x".repeat(1_000);
        let body =
            format!(r#"{{"ok": true, "status": "{id}", "external_id": "1", "item_id": "{id}", "ctx_id": "{id}"}}"#);
        let result = parse_item("1", &body).expect("a result");
        let kept = Some(format!("{}…", &id[..MAX_ID]));
        assert_eq!((result.service_id, result.ctx_id, result.status), (kept.clone(), kept.clone(), kept.clone()));
        assert_eq!(WriteResult::refusal(400, body.as_bytes()).ctx_id, kept);
    }

    #[test]
    fn empty_errors_are_no_errors() {
        for errors in ["null", "[]", "{}", "\"\"", "false", "[\"\"]", "{\"name\": []}"] {
            let body = format!(r#"{{"ok": true, "status": "created", "external_id": "1", "errors": {errors}}}"#);
            let result = parse_item("1", &body).expect("a result");
            assert!(result.ok && result.errors.is_empty(), "{errors}");
        }
    }

    #[test]
    fn refusal_keeps_every_message() {
        let messages = |body: &str| {
            WriteResult::refusal(422, body.as_bytes())
                .errors
                .into_iter()
                .map(|error| (error.field.unwrap_or_default(), error.message))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            messages(r#"{"message": "invalid", "errors": {"name": ["a", "b"], "price": "c"}}"#),
            [("name".into(), "a".into()), ("name".into(), "b".into()), ("price".into(), "c".into())]
        );
        assert_eq!(messages(r#"{"errors": ["a"]}"#), [("".into(), "a".into())]);
        assert_eq!(messages(r#"{"detail": "no"}"#), [("".into(), "no".into())]);
        assert_eq!(messages("<html>"), [("".into(), "the service answered 422 without a reason".into())]);
    }
}
