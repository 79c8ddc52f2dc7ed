//! `POST /v1/public/items`. Contract: "Item"; the limits of the fields are not specified there.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value};
use sheetport_records::item::{INPUT_FIELDS, ItemResult, RENAMED_IN_LISTS};

use crate::app::App;
use crate::auth::Caller;
use crate::idempotency::{self, IdempotencyKey};
use crate::reading::Reading;
use crate::request::{self, Errors, ITEM_RULES, JsonObject};
use crate::response::{self, CtxId, ErrorResponse};
use crate::store::{ItemUpsert, Stored, Transaction, Work, WriteOutcome};

/// Creates an item or changes the fields in the body. Responds when the item is on disk.
pub(crate) async fn upsert(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    key: IdempotencyKey,
    body: JsonObject,
) -> Result<Response, ErrorResponse> {
    let upsert = parse_upsert(&body.fields, body.reading).map_err(ErrorResponse::invalid)?;
    let external_id = upsert.external_id.clone();
    let render = move |stored: Stored| {
        let status = match stored.outcome {
            WriteOutcome::Created => "created",
            WriteOutcome::Updated | WriteOutcome::Unchanged => "updated",
        };
        ItemResult {
            ok: true,
            status: status.to_owned(),
            external_id,
            item_id: Some(stored.id),
            ctx_id: Some(ctx_id.as_str().to_owned()),
        }
    };
    if !key.is_given() {
        // Without a key, the writer handles many upserts at once.
        return Ok(response::json(&render(app.store.upsert_item(caller.into(), upsert).await?)));
    }
    let render = |stored| Ok(response::text_of(&render(stored)));
    idempotency::write(&app.store, &app.keys_in_progress, caller.into(), key, body.content, upsert, render).await
}

impl Work for ItemUpsert {
    type Done = Stored;

    async fn run(self, tx: &mut Transaction<'_>) -> Result<Stored, sqlx::Error> {
        let mut stored = tx.upsert_items(vec![self]).await?;
        Ok(stored.pop().expect("one result per upsert"))
    }
}

/// Validates the body of an upsert. Fails with all errors.
pub(crate) fn parse_upsert(body: &Map<String, Value>, reading: Reading) -> Result<ItemUpsert, Errors> {
    let mut changes = request::validate(INPUT_FIELDS, &ITEM_RULES, body, reading)?;
    let external_id = request::take_text(&mut changes, "externalId").expect("a required field");
    for (input, listed) in RENAMED_IN_LISTS.iter() {
        if let Some(value) = changes.shift_remove(*input) {
            changes.insert(listed.clone(), value);
        }
    }
    Ok(ItemUpsert { external_id, changes })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::request::ITEM_RULES;

    fn parse(json: &str) -> Result<ItemUpsert, Errors> {
        parse_upsert(&serde_json::from_str(json).expect("a JSON object"), Reading::Tolerant)
    }

    #[test]
    fn absent_fields_are_kept_and_null_clears() {
        let upsert = parse(r#"{"externalId":" 0042 ","name":null,"price":1234.50,"purchasePrice":2e1,"colour":"red"}"#);
        let upsert = upsert.expect("valid");
        assert_eq!(upsert.external_id, " 0042 ");
        let changes = serde_json::to_string(&upsert.changes).expect("JSON");
        assert_eq!(changes, r#"{"name":null,"price":1234.50,"purchase_price":20}"#);
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let errors = parse(r#"{"externalId":" ","name":"a\u0000","currency":"eur","price":1e40,"tax":"5","status":7}"#);
        let errors = errors.expect_err("invalid");
        let errors: Vec<_> = errors.iter().map(|(field, messages)| (field.as_str(), messages[0].as_str())).collect();
        assert_eq!(
            errors,
            [
                ("currency", "must be a three-letter code such as EUR"),
                ("externalId", "must not be blank"),
                ("name", "must not contain NUL"),
                ("price", "has more than 28 digits"),
                ("status", "must be a string or null, not a number"),
                ("tax", "must be a number or null, not a string"),
            ]
        );
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        for (field, max_length) in [("externalId", 255), ("name", 500), ("description", 10_000), ("status", 50)] {
            assert_eq!(ITEM_RULES.max_length(field), max_length);
            for (length, is_valid) in [(max_length, true), (max_length + 1, false)] {
                let mut body = json!({"externalId": "A"});
                body[field] = "é".repeat(length).into();
                let upsert = parse_upsert(body.as_object().expect("an object"), Reading::Tolerant);
                assert_eq!(upsert.is_ok(), is_valid, "{field} of {length}");
            }
        }
    }
}
