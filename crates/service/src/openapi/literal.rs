//! The document of a literal service: the document of the tolerant service, cut down to what a literal service takes and returns.

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::{Value, json};

use crate::literal::{self, Fields, Shown};

const ABOUT: &str = "This service is literal: it takes and returns only what the contract shows, so that a client that works with it \
    does not depend on what other services add. Paths have record ids. Unknown fields and parameters are refused, and null where \
    the contract does not show it. Entries whose fields the contract does not show have an `id`. Errors have the body \
    `{message}`.\n\n\
    Paging: lists begin with `page` 1. Where there is a `total`, more pages exist while `page * count < total`; the end of other \
    lists is an empty page.";

/// The parameters of paths with a record id of the demo.
const IDS: [(&str, &str); 2] =
    [("order_id", "019a3c00-0005-7000-8000-000000000001"), ("inventory_id", "019a3c00-0004-7000-8000-000000000001")];

/// Cuts a document down.
pub(super) fn cut(mut document: Value) -> Value {
    document["info"]["description"] = ABOUT.into();
    let components = document["components"].take();
    if let Some(Value::Object(paths)) = document.get_mut("paths") {
        for (path, operations) in paths {
            for (method, operation) in operations.as_object_mut().into_iter().flatten() {
                if let Ok(method) = Method::from_bytes(method.to_uppercase().as_bytes()) {
                    cut_operation(operation, literal::shown(&method, path), &components);
                }
            }
        }
    }
    document["components"] = components;
    cut_components(&mut document);
    document
}

fn cut_operation(operation: &mut Value, shown: Shown, components: &Value) {
    // Sentences about headers that only the tolerant service sends.
    if let Some(text) = operation["description"].as_str().filter(|text| text.contains("`x-")) {
        let sentences = text.split_inclusive(". ").filter(|sentence| !sentence.contains("`x-"));
        operation["description"] = sentences.collect::<String>().trim_end().into();
    }
    if let Some(Value::Array(parameters)) = operation.get_mut("parameters") {
        parameters.retain(|parameter| parameter["name"] != "Idempotency-Key");
        for parameter in parameters {
            if let Some((_, example)) = IDS.iter().find(|(name, _)| parameter["name"] == *name) {
                parameter["description"] = "Id of the record".into();
                parameter["example"] = (*example).into();
            }
        }
    }
    let Some(Value::Object(responses)) = operation.get_mut("responses") else { return };
    responses.shift_remove("409");
    let Some(success) = responses.get_mut("200") else { return };
    cut_headers(success);
    let content = &mut success["content"]["application/json"];
    let example = content["example"].take();
    content["example"] = shown.cut(example);
    let schema = content["schema"].take();
    content["schema"] = cut_schema(schema, shown, components);
}

fn cut_headers(response: &mut Value) {
    if let Some(Value::Object(headers)) = response.get_mut("headers") {
        headers.retain(|name, _| !literal::is_extension(name));
    }
}

/// Returns the schema of the part of a response that the contract shows.
fn cut_schema(schema: Value, shown: Shown, components: &Value) -> Value {
    match shown {
        Shown::All => schema,
        Shown::Object(fields) => of_object(&schema, fields, components),
        Shown::Array(fields) => {
            json!({"type": "array", "items": of_object(&schema["items"], fields, components)})
        }
        Shown::Envelope(members, fields) => {
            let mut envelope = resolved(&schema, components).clone();
            let is_shown = |name: &str| name == "data" || members.contains(&name);
            retain(&mut envelope, is_shown, is_shown);
            let entry = of_object(&envelope["properties"]["data"]["items"], fields, components);
            envelope["properties"]["data"]["items"] = entry;
            envelope
        }
    }
}

fn of_object(schema: &Value, fields: Fields, components: &Value) -> Value {
    let mut object = resolved(schema, components).clone();
    // Of the entries whose fields may not be null, all but the id may be absent.
    let is_required =
        |name: &str| fields.contains(name) && (fields.may_be_null || ["id", "ok", "status"].contains(&name));
    retain(&mut object, |name| fields.contains(name), is_required);
    if !fields.may_be_null {
        without_null(&mut object);
    }
    object
}

/// Keeps the properties and the required properties with these names.
fn retain(object: &mut Value, is_shown: impl Fn(&str) -> bool, is_required: impl Fn(&str) -> bool) {
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.retain(|name, _| is_shown(name));
    }
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(&is_required));
    }
}

fn resolved<'a>(schema: &'a Value, components: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/components/schemas/"));
    name.map_or(schema, |name| &components["schemas"][name])
}

/// Removes null from all types.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
            }
            object.values_mut().for_each(without_null);
        }
        Value::Array(entries) => entries.iter_mut().for_each(without_null),
        _ => {}
    }
}

fn cut_components(document: &mut Value) {
    // Only an update of an order takes null where the contract does not show it.
    without_null(&mut document["components"]["schemas"]["OrderUpdate"]);
    if let Some(Value::Object(responses)) = document["components"].get_mut("responses") {
        responses.shift_remove("Conflict");
        for response in responses.values_mut() {
            cut_headers(response);
            let content = &mut response["content"]["application/json"];
            let message = content["example"]["message"].as_str().unwrap_or_default().to_owned();
            *content = json!({"example": literal::error(&message), "schema": {
                "type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"],
            }});
        }
    }
    remove_unused(document);
}

/// Removes the schemas that nothing refers to.
fn remove_unused(document: &mut Value) {
    loop {
        let mut used = BTreeSet::new();
        references(document, &mut used);
        let Some(Value::Object(schemas)) = document["components"].get_mut("schemas") else { return };
        let before = schemas.len();
        schemas.retain(|name, _| used.contains(name));
        if schemas.len() == before {
            return;
        }
    }
}

fn references(value: &Value, used: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            let name = object.get("$ref").and_then(Value::as_str).and_then(|reference| reference.rsplit('/').next());
            used.extend(name.map(str::to_owned));
            object.values().for_each(|value| references(value, used));
        }
        Value::Array(entries) => entries.iter().for_each(|value| references(value, used)),
        _ => {}
    }
}
