//! `GET` and `POST /v1/public/items`: the rules of an item's input, and its answers. Contract: "Item"; the limits of the
//! fields are not shown there and are ours.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value};

use crate::records::item::{INPUT_FIELDS, ItemResult};

use super::answer::{self, CtxId, Refusal};
use super::auth::Caller;
use super::body::JsonObject;
use super::input::{self, Errors, Rules};
use super::lists;
use super::paging::PageQuery;
use super::router::App;
use super::store::{Change, ItemFields, ItemUpsert, Outcome};

/// The most characters that each text may have.
pub const LONGEST: &[(&str, usize)] = &[("externalId", 255), ("name", 500), ("description", 10_000), ("status", 50)];

/// A page of the workspace's items, in the order in which they were created.
pub async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    query: PageQuery,
) -> Result<Response, Refusal> {
    let page = app.store.item_page(&caller.workspace, query.page, query.limit).await;
    lists::envelope(page, query, &ctx_id)
}

/// Creates the item or changes the fields that are there. The answer is given once the item is on disk.
pub async fn upsert(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    JsonObject(body): JsonObject,
) -> Result<Response, Refusal> {
    let (external_id, fields) = item_input(&body).map_err(Refusal::invalid)?;
    let upsert = ItemUpsert { workspace: caller.workspace, id: None, external_id: external_id.clone(), fields };
    // The writer has logged why.
    let stored = app.store.upsert_item(upsert).await.map_err(|_| Refusal::internal())?;
    Ok(answer::json(&ItemResult {
        ok: true,
        status: match stored.outcome {
            Outcome::Created => "created".to_owned(),
            Outcome::Updated | Outcome::Unchanged => "updated".to_owned(),
        },
        external_id,
        item_id: Some(stored.id),
        ctx_id: Some(ctx_id.as_str().to_owned()),
    }))
}

pub const RULES: Rules = Rules { longest: LONGEST, codes: &["currency"], not_blank: &["externalId"], date_times: &[] };

/// The external id and the changes that a body asks for, or everything that is wrong with it.
pub fn item_input(body: &Map<String, Value>) -> Result<(String, ItemFields<Change>), Errors> {
    let mut body = input::checked(INPUT_FIELDS, &RULES, body)?;
    let external_id = input::take_text(&mut body, "externalId").unwrap_or_default();
    let mut change = |name| match body.swap_remove(name) {
        None => Change::Keep,
        Some(Value::String(text)) => Change::Set(text),
        Some(Value::Number(number)) => Change::Set(number.to_string()),
        Some(_) => Change::Clear,
    };
    let fields = ItemFields {
        name: change("name"),
        description: change("description"),
        currency: change("currency"),
        price: change("price"),
        purchase_price: change("purchasePrice"),
        tax: change("tax"),
        status: change("status"),
    };
    Ok((external_id, fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(json: &str) -> Result<(String, ItemFields<Change>), Errors> {
        item_input(&serde_json::from_str(json).expect("a JSON object"))
    }

    #[test]
    fn absent_null_and_value_are_told_apart() {
        let (external_id, fields) =
            input(r#"{"externalId":" 0042 ","name":null,"price":1234.50,"tax":2e1,"colour":"red"}"#).expect("valid");
        assert_eq!(external_id, " 0042 ");
        assert_eq!(
            fields,
            ItemFields {
                name: Change::Clear,
                description: Change::Keep,
                currency: Change::Keep,
                price: Change::Set("1234.50".to_owned()),
                purchase_price: Change::Keep,
                tax: Change::Set("20".to_owned()),
                status: Change::Keep,
            }
        );
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let errors = input(r#"{"externalId":" ","name":"a\u0000","currency":"eur","price":1e40,"tax":"5","status":7}"#);
        let errors = errors.expect_err("invalid");
        let errors: Vec<_> = errors.iter().map(|(field, why)| (field.as_str(), why[0].as_str())).collect();
        assert_eq!(
            errors,
            [
                ("currency", "must be a three-letter code such as EUR"),
                ("externalId", "must not be blank"),
                ("name", "must not contain NUL"),
                ("price", "has more digits than can be kept"),
                ("status", "must be a string or null, not a number"),
                ("tax", "must be a number or null, not a string"),
            ]
        );
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        for &(field, longest) in LONGEST {
            for (length, valid) in [(longest, true), (longest + 1, false)] {
                let mut body = Map::from_iter([("externalId".to_owned(), Value::from("A"))]);
                body.insert(field.to_owned(), Value::from("é".repeat(length)));
                assert_eq!(item_input(&body).is_ok(), valid, "{field} of {length}");
            }
        }
    }
}
