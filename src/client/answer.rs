//! What the service's words mean for the record that was sent.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::records::RecordKind;

/// A successful call's answer, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// False when the answer says that the record was not accepted, whatever the HTTP status says.
    pub ok: bool,
    pub status: Option<String>,
    pub service_id: Option<String>,
    pub ctx_id: Option<String>,
    pub job_id: Option<String>,
    /// Everything that the service says is wrong.
    pub errors: Vec<Said>,
}

/// Something the service said about a record or one of its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub field: Option<String>,
    pub message: String,
}

impl Said {
    /// About the record as a whole.
    fn whole(message: String) -> Said {
        Said { field: None, message }
    }
}

/// What was sent: an answer is only understood as the answer to something.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    pub kind: RecordKind,
    /// What the path named.
    pub target: Option<&'a str>,
    /// What identifies the record across runs.
    pub key: Option<&'a str>,
    pub body: &'a [u8],
}

impl Sent<'_> {
    /// Whether the same bytes may be sent again after a lost answer.
    pub fn is_repeatable(&self) -> bool {
        self.kind.input().call(self.target.is_some()).is_some_and(|call| call.repeatable)
    }
}

/// An accepted item, as nearly all answers are. Contract: "Item upsert result".
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AcceptedItem<'a> {
    ok: bool,
    status: String,
    #[serde(borrow)]
    external_id: Cow<'a, str>,
    item_id: String,
    ctx_id: Option<String>,
}

/// Reads the answer to a write of one record. Nothing: it is not what the contract says, or is about another record.
pub fn read(sent: &Sent<'_>, body: &[u8]) -> Option<Read> {
    if sent.kind == RecordKind::Item
        && let Ok(item) = serde_json::from_slice::<AcceptedItem<'_>>(body)
        && Some(&*item.external_id) == sent.key
    {
        let AcceptedItem { ok, status, item_id, ctx_id, .. } = item;
        let (status, service_id) = (Some(status), Some(item_id));
        return Some(Read { ok, status, service_id, ctx_id, job_id: None, errors: Vec::new() });
    }
    read_any(sent, body)
}

/// The same, from any shape that an answer may have.
fn read_any(sent: &Sent<'_>, body: &[u8]) -> Option<Read> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let ok = body.get("ok").map(Value::as_bool);
    let text = |name: &str| body.get(name).and_then(as_text);
    let read = Read {
        ok: ok.flatten().unwrap_or_default(),
        status: text("status"),
        service_id: text(sent.kind.input().answer_id),
        ctx_id: text("ctx_id"),
        job_id: text("job_id").filter(|id| !id.is_empty()),
        errors: errors(&body),
    };
    match sent.kind {
        RecordKind::Item => {
            ok??;
            let is_another = body.get("external_id").is_some_and(|id| id.as_str() != sent.key);
            (!is_another).then_some(read)
        }
        RecordKind::Order => {
            ok??;
            order_result(sent, &body, read)
        }
        RecordKind::InventoryTransaction => {
            ok??;
            Some(read)
        }
        // The contract shows no answer of these: any object that does not say otherwise is a yes.
        RecordKind::Subscription | RecordKind::Invoice => {
            body.as_object()?;
            Some(Read { ok: ok.map_or(Some(true), |ok| ok)? && read.errors.is_empty(), ..read })
        }
    }
}

/// The one result that is about the order that was sent, found by its external id or its id and never by its place.
/// Contract: "Order update result".
fn order_result(sent: &Sent<'_>, body: &Value, read: Read) -> Option<Read> {
    let results = body.get("results")?.as_array()?;
    let asked: Value = serde_json::from_slice(sent.body).unwrap_or(Value::Null);
    let external_id = asked.pointer("/order/externalId").and_then(Value::as_str);
    let is_ours = |result: &&Value| match external_id {
        Some(id) => result.get("external_id").and_then(Value::as_str) == Some(id),
        None => result.get("order_id").and_then(as_text).as_deref() == sent.target || results.len() == 1,
    };
    let ours: Vec<&Value> = results.iter().filter(is_ours).collect();
    let about = external_id.or(sent.target).unwrap_or_default();
    let failed = |message: String, read: Read| {
        let mut errors = read.errors;
        errors.push(Said { field: None, message });
        Some(Read { ok: false, errors, ..read })
    };
    let [result] = ours.as_slice() else {
        let found = if ours.is_empty() { "no result" } else { "more than one result" };
        return failed(format!("the answer has {found} for the order {about}"), read);
    };
    if results.len() > 1 {
        return failed(format!("the answer has results for other orders than {about}"), read);
    }
    let mut said: Vec<Said> =
        result.get("errors").map(words).unwrap_or_default().into_iter().map(Said::whole).collect();
    said.extend(read.errors);
    Some(Read {
        ok: read.ok && said.is_empty(),
        status: result.get("status").and_then(as_text).or(read.status),
        service_id: result.get("order_id").and_then(as_text).filter(|id| !id.is_empty()),
        errors: said,
        ctx_id: read.ctx_id,
        job_id: read.job_id,
    })
}

/// An id is text or a number, depending on where it stands.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Everything that an answer outside 2xx says, read from whatever shape it has.
pub fn refusal(status: u16, body: &[u8]) -> Read {
    let value: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let mut said = errors(&value);
    if said.is_empty() {
        said.push(Said {
            field: None,
            message: message(body).unwrap_or_else(|| format!("the service answered {status} without a reason")),
        });
    }
    let ctx_id = value.get("ctx_id").and_then(Value::as_str).map(str::to_owned);
    Read { ok: false, ctx_id, errors: said, ..Read::default() }
}

/// The one sentence that an error's body holds, if it holds one.
pub fn message(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    ["message", "detail", "error"].iter().find_map(|name| value.get(name)?.as_str()).map(str::to_owned)
}

/// `errors` as an object of lists by field, as a list of strings, or as one string.
fn errors(body: &Value) -> Vec<Said> {
    match body.get("errors") {
        Some(Value::Object(fields)) => {
            let fields = fields.iter().map(|(field, messages)| (Some(field.clone()), words(messages)));
            fields
                .flat_map(|(field, messages)| {
                    messages.into_iter().map(move |message| Said { field: field.clone(), message })
                })
                .collect()
        }
        Some(messages) => words(messages).into_iter().map(|message| Said { field: None, message }).collect(),
        None => Vec::new(),
    }
}

fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Null | Value::Bool(false) => Vec::new(),
        Value::String(text) if text.trim().is_empty() => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(words).collect(),
        other => vec![other.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_item(key: &str, body: &[u8]) -> Option<Read> {
        read(&Sent { kind: RecordKind::Item, target: None, key: Some(key), body: b"{}" }, body)
    }

    #[test]
    fn the_result_of_an_order_is_found_by_its_external_id() {
        let asked = r#"{"order": {"externalId": "SO-1"}}"#;
        let sent = Sent { kind: RecordKind::Order, target: Some("SO-1"), key: Some("SO-1"), body: asked.as_bytes() };
        let result = |id: &str, errors: &str| {
            format!(r#"{{"external_id": "{id}", "status": "updated", "order_id": "o-1", "errors": {errors}}}"#)
        };
        let answer = |results: &[String]| {
            let results = results.join(",");
            let body = format!(r#"{{"ok": true, "results": [{results}], "job_id": "j-1", "ctx_id": "c-1"}}"#);
            read(&sent, body.as_bytes()).expect("an answer")
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
        assert_eq!(read(&sent, br#"{"ok": true}"#), None, "an answer without results is none");
    }

    #[test]
    fn a_created_record_whose_answer_the_contract_does_not_show_counts_unless_it_says_otherwise() {
        let sent = Sent { kind: RecordKind::Invoice, target: None, key: None, body: b"{}" };
        let ok = |body: &str| read(&sent, body.as_bytes()).map(|read| read.ok);
        assert_eq!(ok(r#"{"id": 7}"#), Some(true));
        assert_eq!(ok(r#"{"ok": false, "message": "no"}"#), Some(false));
        assert_eq!(ok(r#"{"id": "1", "errors": ["no such item"]}"#), Some(false));
        assert_eq!(ok("[]"), None);
        assert_eq!(ok("<html>"), None);
    }

    #[test]
    fn an_item_result_is_read() {
        let body = br#"{"ok": true, "status": "created", "external_id": "0042", "item_id": "i-1", "ctx_id": "c-1"}"#;
        let read = read_item("0042", body).expect("a result");
        assert!(read.ok);
        assert_eq!(read.service_id.as_deref(), Some("i-1"));
        assert_eq!(read.ctx_id.as_deref(), Some("c-1"));
    }

    #[test]
    fn the_usual_answer_is_read_as_any_other() {
        let sent = Sent { kind: RecordKind::Item, target: None, key: Some("0042"), body: b"{}" };
        for (ok, id, more) in [
            ("true", "\"i-1\"", ""),
            ("false", "\"i-1\"", ""),
            ("true", "\"\"", ""),
            ("true", "null", ""),
            ("true", "7", ""),
            ("true", "\"i-1\"", r#", "errors": ["no"]"#),
            ("true", "\"i-1\"", r#", "job_id": "j-1""#),
            ("null", "\"i-1\"", ""),
            ("true", r#""i\u00e9""#, r#", "ok": false"#),
        ] {
            for (external, ctx) in [("0042", "null"), ("0042", "\"c\""), ("43", "null"), ("0042", "1")] {
                let body = format!(
                    r#"{{"ok": {ok}, "status": "created", "external_id": "{external}", "item_id": {id}, "ctx_id": {ctx}{more}}}"#
                );
                assert_eq!(read(&sent, body.as_bytes()), read_any(&sent, body.as_bytes()), "{body}");
            }
        }
    }

    #[test]
    fn what_is_no_result_for_this_record_is_not_taken_for_one() {
        for body in
            ["", "<html>", "[]", "{}", r#"{"ok": "yes"}"#, r#"{"ok": true, "status": "created", "external_id": "43"}"#]
        {
            assert_eq!(read_item("42", body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn errors_that_say_nothing_are_none() {
        for errors in ["null", "[]", "{}", "\"\"", "false", "[\"\"]", "{\"name\": []}"] {
            let body = format!(r#"{{"ok": true, "status": "created", "external_id": "1", "errors": {errors}}}"#);
            let read = read_item("1", body.as_bytes()).expect("a result");
            assert!(read.ok && read.errors.is_empty(), "{errors}");
        }
    }

    #[test]
    fn every_message_of_a_refusal_is_kept() {
        let said = |body: &str| {
            refusal(422, body.as_bytes())
                .errors
                .into_iter()
                .map(|said| (said.field.unwrap_or_default(), said.message))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            said(r#"{"message": "invalid", "errors": {"name": ["a", "b"], "price": "c"}}"#),
            [("name".into(), "a".into()), ("name".into(), "b".into()), ("price".into(), "c".into())]
        );
        assert_eq!(said(r#"{"errors": ["a"]}"#), [("".into(), "a".into())]);
        assert_eq!(said(r#"{"detail": "no"}"#), [("".into(), "no".into())]);
        assert_eq!(said("<html>"), [("".into(), "the service answered 422 without a reason".into())]);
    }
}
