//! Results of writes, parsed from the service's answers.

use serde_json::Value;
use sheetport_records::RecordKind;

use super::super::policy::verdict::{Sign, Verdict, judge, says_failure};
use super::service_message::{self, ServiceMessage, bounded, errors, has_error_text, results};

/// The parsed answer to a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteResult {
    pub verdict: Verdict,
    pub status: Option<String>,
    pub service_id: Option<String>,
    pub ctx_id: Option<String>,
    pub job_id: Option<String>,
    pub errors: Vec<ServiceMessage>,
}

/// The record in a request, to match with the answer.
#[derive(Clone, Copy, Debug)]
pub struct RequestContext<'a> {
    pub kind: RecordKind,
    /// Name of the record in the path, if any: the record id, or the key where the service shows no records to find it by.
    pub target: Option<&'a str>,
    /// Identity of the record across runs.
    pub key: Option<&'a str>,
}

impl WriteResult {
    /// Parses the body of a 2xx response. Fails if the answer violates the contract, or is that to another item.
    pub fn parse(context: &RequestContext<'_>, body: &[u8]) -> Result<WriteResult, String> {
        let body: Value = serde_json::from_slice(body).map_err(|_| UNREADABLE)?;
        let (result, sign) = parse(context, &body).ok_or_else(|| UNREADABLE.to_owned())?;
        // The path of an item names no record, so the answers of two requests were mixed up on their way. A repetition of the upsert
        // gets the right one.
        if sign == Sign::OtherRecord && context.kind == RecordKind::Item {
            let messages: Vec<String> = result.errors.into_iter().map(|error| error.message).collect();
            return Err(messages.join("; "));
        }
        Ok(WriteResult { errors: bounded(result.errors), ..result })
    }

    /// Returns the refusal in a response outside 2xx, with all messages.
    pub fn refusal(status: u16, body: &[u8]) -> WriteResult {
        // Without JSON there are no messages.
        let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let mut errors = service_message::all(&body);
        if errors.is_empty() {
            let message = format!("the service answered {status} without a reason");
            errors.push(ServiceMessage::about_record(message));
        }
        let ctx_id = body.get("ctx_id").and_then(as_id);
        WriteResult { ctx_id, errors: bounded(errors), ..WriteResult::default() }
    }

    /// Adds a message about the record.
    pub fn add_error(&mut self, message: &str) {
        self.errors.push(ServiceMessage::about_record(message.to_owned()));
    }

    /// Returns a refusal with a single message.
    pub fn refused(message: String) -> WriteResult {
        WriteResult { errors: vec![ServiceMessage::about_record(message)], ..WriteResult::default() }
    }
}

/// Maximum number of characters kept of an id.
const MAX_ID: usize = 255;
const UNREADABLE: &str = "the answer can't be understood";

/// The record that was meant, by its names in answers.
struct Meant<'a> {
    /// The name in the path.
    id: Option<&'a str>,
    /// Of an order only if it was found by it. An order that is named by its id may be given a new external id.
    external_id: Option<&'a str>,
}

impl<'a> Meant<'a> {
    fn of(context: &RequestContext<'a>) -> Meant<'a> {
        let external_id = match context.kind {
            RecordKind::Item => context.key,
            RecordKind::Order => context.key.filter(|_| context.key != context.target),
            RecordKind::InventoryTransaction | RecordKind::Subscription | RecordKind::Invoice => None,
        };
        Meant { id: context.target, external_id }
    }

    /// The names of an order, for messages.
    fn name(&self) -> String {
        match (self.external_id, self.id) {
            (Some(external_id), Some(id)) => format!("{external_id} (id {id})"),
            (Some(name), None) | (None, Some(name)) => name.to_owned(),
            (None, None) => "that was sent".to_owned(),
        }
    }

    /// Returns the ids of another record in an answer, each as a message. An id that the answer does not have, or that was not
    /// sent, contradicts nothing.
    fn contradictions(&self, found: &Value, id_field: &'static str) -> Vec<ServiceMessage> {
        let external = found.get("external_id").and_then(as_text);
        // Where the order could not be looked up, as in a rehearsal, the name in the path may be its external id.
        let id = self.id.filter(|id| self.external_id.is_some() || external.as_deref() != Some(id));
        let pairs = [
            (id_field, id, found.get(id_field).and_then(as_text)),
            ("external_id", self.external_id, external.clone()),
        ];
        let named = pairs.into_iter().filter_map(|(field, meant, found)| Some((field, meant?, found?)));
        let other = named.filter(|(_, meant, found)| meant != found && !found.is_empty());
        let message = |(field, meant, found)| format!("the answer is about the {field} {found}, but {meant} was meant");
        other.map(message).map(ServiceMessage::about_record).collect()
    }
}

/// Returns the result in a body, and the sign that decided about it.
fn parse(context: &RequestContext<'_>, body: &Value) -> Option<(WriteResult, Sign)> {
    let object = body.as_object()?;
    let ok = object.get("ok").map(Value::as_bool);
    let id_field = context.kind.input().answer_id;
    let meant = Meant::of(context);
    // Of an order, its results; of other kinds, the body is the result.
    let (ours, odd) = match context.kind {
        RecordKind::Order => matching(&meant, results(body), id_field),
        _ => (vec![body], None),
    };
    let parts = || std::iter::once(body).chain(ours.iter().copied());
    let is_refused = ok == Some(Some(false)) || parts().any(|part| !errors(part).is_empty());
    let is_shown = match context.kind {
        RecordKind::Item | RecordKind::InventoryTransaction => matches!(ok, Some(Some(_))),
        RecordKind::Order => matches!(ok, Some(Some(_))) && body.get("results").is_some_and(Value::is_array),
        // The contract shows no answer here: any object without a sign of failure is a success.
        RecordKind::Subscription | RecordKind::Invoice => ok != Some(None),
    };
    // What is no answer of the contract may still be a refusal, with reasons.
    if !is_shown && !is_refused {
        return None;
    }
    let text = |part: &Value, name: &str| part.get(name).and_then(as_id).filter(|text| !text.is_empty());
    let contradictions: Vec<ServiceMessage> =
        ours.iter().flat_map(|found| meant.contradictions(found, id_field)).collect();
    let sign = if is_refused {
        Sign::Refusal
    } else if !contradictions.is_empty() {
        Sign::OtherRecord
    } else if odd.is_some() {
        Sign::NotOneResult
    } else if parts().any(fails) {
        Sign::Failure
    } else {
        Sign::Nothing
    };
    let service_id = ours.first().and_then(|found| text(found, id_field));
    let verdict = judge(sign, service_id.is_some());
    let mut messages = Vec::new();
    if verdict != Verdict::Accepted {
        messages = service_message::all(body);
        // A refusal speaks for itself.
        let is_needed = messages.is_empty() || sign == Sign::NotOneResult;
        messages.extend(odd.filter(|_| is_needed).map(ServiceMessage::about_record));
        messages.extend(contradictions.into_iter().filter(|_| sign == Sign::OtherRecord));
    }
    let result = WriteResult {
        verdict,
        status: ours.first().and_then(|found| text(found, "status")).or_else(|| text(body, "status")),
        // The id of another record would be taken for that of this one.
        service_id: service_id.filter(|_| sign != Sign::OtherRecord),
        ctx_id: text(body, "ctx_id"),
        job_id: text(body, "job_id"),
        errors: messages,
    };
    Some((result, sign))
}

/// Whether an answer or a result says failure in other words than `ok` and `errors`.
fn fails(part: &Value) -> bool {
    let status = part.get("status").and_then(as_text);
    has_error_text(part)
        || part.get("success") == Some(&Value::Bool(false))
        || status.is_some_and(|status| says_failure(&status))
}

/// Returns the results of the order that was meant: by its id, else by its external id, else the only one, and never by
/// position. The message says why they are not exactly one result of one order. Contract: "Order update result".
fn matching<'v>(meant: &Meant<'_>, results: &'v [Value], id_field: &str) -> (Vec<&'v Value>, Option<String>) {
    let by = |field: &str, name: Option<&str>| -> Vec<&'v Value> {
        let Some(name) = name else { return Vec::new() };
        results.iter().filter(|found| found.get(field).and_then(as_text).as_deref() == Some(name)).collect()
    };
    let mut ours = by(id_field, meant.id);
    if ours.is_empty() {
        ours = by("external_id", meant.external_id.or(meant.id));
    }
    if ours.is_empty() && results.len() == 1 {
        ours = results.iter().collect();
    }
    let id = meant.name();
    let odd = match (ours.len(), results.len()) {
        (1, 1) => None,
        (0, _) => Some(format!("the answer has no result for the order {id}")),
        (1, _) => Some(format!("the answer has results for other orders than {id}")),
        _ => Some(format!("the answer has more than one result for the order {id}")),
    };
    (ours, odd)
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
        let context = RequestContext { kind: RecordKind::Item, target: None, key: Some(key) };
        WriteResult::parse(&context, body.as_bytes())
    }

    fn parse_invoice(body: &str) -> Result<WriteResult, String> {
        let context = RequestContext { kind: RecordKind::Invoice, target: None, key: None };
        WriteResult::parse(&context, body.as_bytes())
    }

    /// Parses the answer to an order with the external id SO-1, sent to `target`.
    fn parse_order(target: &str, answer: &str) -> Result<WriteResult, String> {
        let context = RequestContext { kind: RecordKind::Order, target: Some(target), key: Some("SO-1") };
        WriteResult::parse(&context, answer.as_bytes())
    }

    fn texts(result: &WriteResult) -> Vec<&str> {
        result.errors.iter().map(|error| error.message.as_str()).collect()
    }

    #[test]
    fn an_answer_about_the_order_that_was_meant_is_accepted() {
        let result = parse_order(
            "o-1",
            r#"{"ok": true, "results": [{"external_id": "SO-1", "status": "updated", "order_id": "o-1", "errors": []}],
               "job_id": "j-1", "ctx_id": "c-1"}"#,
        )
        .expect("an answer");
        assert_eq!((result.verdict, result.errors.len()), (Verdict::Accepted, 0));
        assert_eq!((result.service_id.as_deref(), result.job_id.as_deref()), (Some("o-1"), Some("j-1")));
        // What is not named is not contradicted, and a number is the same as its text.
        for (target, answer) in [
            ("o-1", r#"{"ok": true, "results": [{"order_id": "o-1"}]}"#),
            // Where the order could not be looked up.
            ("SO-1", r#"{"ok": true, "results": [{"external_id": "SO-1", "order_id": "o-1"}]}"#),
            ("o-1", r#"{"ok": true, "results": [{"external_id": null, "order_id": "o-1"}]}"#),
            ("7", r#"{"ok": true, "results": [{"external_id": "SO-1", "order_id": 7}]}"#),
            ("o-1", r#"{"ok": true, "results": [{}]}"#),
        ] {
            assert_eq!(parse_order(target, answer).map(|result| result.verdict), Ok(Verdict::Accepted), "{answer}");
        }
        assert!(parse_order("SO-1", r#"{"ok": true}"#).is_err(), "an answer without results");
    }

    #[test]
    fn an_accepted_order_with_other_ids_is_in_doubt_and_both_are_named() {
        for (target, answer, named) in [
            ("o-1", r#"{"ok": true, "results": [{"external_id": "SO-2", "order_id": "o-1"}]}"#, ["SO-1", "SO-2"]),
            ("o-1", r#"{"ok": true, "results": [{"external_id": "SO-1", "order_id": "o-2"}]}"#, ["o-1", "o-2"]),
            // The external id of another order is the record id of the order that was meant.
            ("o-1", r#"{"ok": true, "results": [{"external_id": "o-1", "order_id": "o-2"}]}"#, ["o-1", "o-2"]),
            ("SO-1", r#"{"ok": true, "results": [{"order_id": "o-1", "external_id": "SO-2"}]}"#, ["SO-1", "o-1"]),
            ("SO-1", r#"{"ok": true, "results": [{"order_id": "o-1"}]}"#, ["SO-1", "o-1"]),
            ("o-1", r#"{"ok": true, "results": []}"#, ["SO-1", "o-1"]),
            ("SO-1", r#"{"ok": true, "results": []}"#, ["SO-1", "no result"]),
            (
                "SO-1",
                r#"{"ok": true, "results": [{"external_id": "SO-1"}, {"external_id": "SO-2"}]}"#,
                ["SO-1", "other"],
            ),
            (
                "SO-1",
                r#"{"ok": true, "results": [{"external_id": "SO-1"}, {"external_id": "SO-1"}]}"#,
                ["SO-1", "more"],
            ),
        ] {
            let result = parse_order(target, answer).expect("an answer");
            assert_eq!(result.verdict, Verdict::InDoubt, "{answer}");
            assert!(named.iter().all(|name| texts(&result).concat().contains(name)), "{result:?}");
        }
    }

    #[test]
    fn a_refused_order_keeps_every_text_whatever_ids_stand_beside_it() {
        for (answer, expected) in [
            (r#"{"ok": false, "results": [{"external_id": "SO-2", "errors": ["a"]}]}"#, vec!["a"]),
            (
                r#"{"ok": true, "results": [{"external_id": "SO-2", "order_id": "o-2", "errors": ["a", "b"]}]}"#,
                vec!["a", "b"],
            ),
            (
                r#"{"ok": true, "results": [{"external_id": "SO-1", "errors": ["a"]}, {"external_id": "SO-2", "errors": ["b"]}]}"#,
                vec!["a", "b"],
            ),
            (
                r#"{"ok": false, "results": [{"errors": ["a"]}, {"errors": ["b"]}], "message": "c"}"#,
                vec!["a", "b", "c"],
            ),
            (r#"{"ok": false, "message": "a"}"#, vec!["a"]),
            (r#"{"ok": false}"#, vec!["the answer has no result for the order SO-1 (id o-1)"]),
            (r#"{"results": [{"errors": ["a"]}]}"#, vec!["a"]),
            (r#"{"errors": ["a"]}"#, vec!["a"]),
        ] {
            let result = parse_order("o-1", answer).expect("an answer");
            assert_eq!((result.verdict, texts(&result)), (Verdict::Refused, expected), "{answer}");
        }
    }

    #[test]
    fn a_status_of_failure_is_never_an_acceptance() {
        let of = |kind, answer: &str| {
            // Items have no id in their path.
            let (target, key) = (Some("1").filter(|_| kind != Item), Some("1"));
            let result = WriteResult::parse(&RequestContext { kind, target, key }, answer.as_bytes());
            result.map(|result| result.verdict)
        };
        use RecordKind::{InventoryTransaction, Invoice, Item, Order, Subscription};
        for (kind, without_id, with_id) in [
            (
                Item,
                r#"{"ok": true, "status": "error", "external_id": "1"}"#,
                r#"{"ok": true, "status": "error", "item_id": "i"}"#,
            ),
            (
                InventoryTransaction,
                r#"{"ok": true, "status": "Failed", "transaction_id": null}"#,
                r#"{"ok": true, "status": "Failed", "transaction_id": "1"}"#,
            ),
            (
                Order,
                r#"{"ok": true, "results": [{"status": "not_found", "errors": null}]}"#,
                r#"{"ok": true, "results": [{"status": "not_found", "order_id": "1"}]}"#,
            ),
            (
                Order,
                r#"{"ok": true, "status": "rejected", "results": [{"external_id": "1"}]}"#,
                r#"{"ok": true, "status": "rejected", "results": [{"order_id": "1"}]}"#,
            ),
            (Invoice, r#"{"status": "invalid"}"#, r#"{"status": "invalid", "id": 7}"#),
            (Subscription, r#"{"success": false}"#, r#"{"success": false, "id": 7}"#),
            (Subscription, r#"{"error": "no such customer"}"#, r#"{"error": "no such customer", "id": 7}"#),
        ] {
            assert_eq!(of(kind, without_id), Ok(Verdict::Refused), "{without_id}");
            assert_eq!(of(kind, with_id), Ok(Verdict::InDoubt), "{with_id}");
        }
    }

    #[test]
    fn created_invoice_counts_as_accepted_unless_the_answer_reports_an_error() {
        let ok = |body: &str| parse_invoice(body).map(|result| result.verdict == Verdict::Accepted).ok();
        assert_eq!(ok(r#"{"id": 7}"#), Some(true));
        assert_eq!(ok(r#"{"error": null, "status": "created"}"#), Some(true));
        assert_eq!(ok("{}"), Some(true));
        assert_eq!(ok(r#"{"ok": false, "message": "no"}"#), Some(false));
        assert_eq!(ok(r#"{"id": "1", "errors": ["no such item"]}"#), Some(false));
        assert_eq!(ok("[]"), None);
        assert_eq!(ok("<html>"), None);
        let result = parse_invoice(r#"{"success": false, "message": "locked"}"#).expect("an answer");
        assert_eq!(texts(&result), ["locked"]);
    }

    #[test]
    fn item_result_is_parsed() {
        let body = r#"{"ok": true, "status": "created", "external_id": "0042", "item_id": "i-1", "ctx_id": "c-1"}"#;
        let result = parse_item("0042", body).expect("a result");
        assert_eq!(result.verdict, Verdict::Accepted);
        assert_eq!(result.service_id.as_deref(), Some("i-1"));
        assert_eq!(result.ctx_id.as_deref(), Some("c-1"));
    }

    #[test]
    fn body_that_is_no_result_for_the_record_is_refused() {
        for body in ["", "<html>", "[]", "{}", r#"{"ok": "yes"}"#, r#"{"ok": null}"#] {
            assert!(parse_item("42", body).is_err(), "{body}");
        }
        let other = parse_item("42", r#"{"ok": true, "status": "created", "external_id": "43", "item_id": "i-43"}"#);
        let reason = other.expect_err("the answer to another request");
        assert!(reason.contains("42") && reason.contains("43"), "{reason}");
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
            assert!(result.verdict == Verdict::Accepted && result.errors.is_empty(), "{errors}");
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
        assert_eq!(
            messages(r#"{"message": "blocked", "errors": ["a"]}"#),
            [("".into(), "a".into()), ("".into(), "blocked".into())]
        );
        assert_eq!(messages(r#"{"errors": ["a"]}"#), [("".into(), "a".into())]);
        assert_eq!(messages(r#"{"detail": "no"}"#), [("".into(), "no".into())]);
        assert_eq!(messages("<html>"), [("".into(), "the service answered 422 without a reason".into())]);
    }
}
