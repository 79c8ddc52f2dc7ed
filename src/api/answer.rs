//! What the service's words mean for the record that was sent.

use serde_json::Value;

use crate::records::{Input, RecordKind};

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

/// Reads the answer to a write of one record. Nothing: it is not what the contract says, or is about another record.
pub fn read(kind: RecordKind, key: &str, body: &[u8]) -> Option<Read> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let input: &Input = kind.input();
    let ok = body.get("ok")?.as_bool()?;
    match kind {
        RecordKind::Item if body.get("external_id").is_some_and(|id| id.as_str() != Some(key)) => return None,
        RecordKind::Item => {}
    }
    let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Read {
        ok,
        status: text("status"),
        service_id: text(input.answer_id),
        ctx_id: text("ctx_id"),
        job_id: text("job_id"),
        errors: errors(&body),
    })
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

    #[test]
    fn an_item_result_is_read() {
        let body = br#"{"ok": true, "status": "created", "external_id": "0042", "item_id": "i-1", "ctx_id": "c-1"}"#;
        let read = read(RecordKind::Item, "0042", body).expect("a result");
        assert!(read.ok);
        assert_eq!(read.service_id.as_deref(), Some("i-1"));
        assert_eq!(read.ctx_id.as_deref(), Some("c-1"));
    }

    #[test]
    fn what_is_no_result_for_this_record_is_not_taken_for_one() {
        for body in
            ["", "<html>", "[]", "{}", r#"{"ok": "yes"}"#, r#"{"ok": true, "status": "created", "external_id": "43"}"#]
        {
            assert_eq!(read(RecordKind::Item, "42", body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn errors_that_say_nothing_are_none() {
        for errors in ["null", "[]", "{}", "\"\"", "false", "[\"\"]", "{\"name\": []}"] {
            let body = format!(r#"{{"ok": true, "status": "created", "external_id": "1", "errors": {errors}}}"#);
            let read = read(RecordKind::Item, "1", body.as_bytes()).expect("a result");
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
