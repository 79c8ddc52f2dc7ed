//! The OpenAPI document matches the service, and its page works without other sites.

use boon::{Compiler, Schemas};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::{ITEMS, Running, answer, folder, start};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

async fn document(service: &Running) -> Value {
    let document = answer(service.request(Method::GET, "/openapi.json")).await;
    assert_eq!((document.status.as_u16(), document.header("content-type")), (200, "application/json"));
    document.json()
}

/// Returns why the body of a success differs from its schema in the document, if it does.
pub(super) async fn mismatches(service: &Running, path: &str, method: &str, body: &Value) -> Option<String> {
    let mut compiler = Compiler::new();
    compiler.add_resource("https://service.test/openapi.json", document(service).await).unwrap();
    let path = path.replace('~', "~0").replace('/', "~1");
    let pointer = format!("/paths/{path}/{method}/responses/200/content/application~1json/schema");
    let mut schemas = Schemas::new();
    let schema = compiler.compile(&format!("https://service.test/openapi.json#{pointer}"), &mut schemas).unwrap();
    schemas.validate(body, schema).err().map(|error| error.to_string())
}

/// Collects all values of `$ref` keys.
fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|value| references(value, found));
        }
        Value::Array(array) => array.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn all_references_resolve() {
    let data = folder();
    let service = start(data.path()).await;
    let document = document(&service).await;
    assert_eq!(document["openapi"], "3.1.0");
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let scheme = document.pointer("/components/securitySchemes/bearer").unwrap();
    assert_eq!((&scheme["type"], &scheme["scheme"]), (&"http".into(), &"bearer".into()));
    service.stop().await;
}

#[tokio::test]
async fn the_description_of_items_matches_the_contract() {
    let data = folder();
    let service = start(data.path()).await;
    let document = document(&service).await;
    let input = document.pointer("/components/schemas/ItemInput").unwrap();
    let names: Vec<_> = input["properties"].as_object().unwrap().keys().collect();
    let expected = ["externalId", "name", "description", "currency", "price", "purchasePrice", "tax", "status"];
    assert_eq!(names, expected);
    assert_eq!(input["required"], serde_json::json!(["externalId"]));
    assert_eq!(input["properties"]["price"]["type"], serde_json::json!(["number", "null"]));
    assert_eq!(input["properties"]["externalId"]["maxLength"], 255);
    let list = document["paths"][ITEMS]["get"].clone();
    let parameters = list["parameters"].as_array().unwrap();
    assert_eq!(parameters.iter().map(|p| p["name"].as_str().unwrap()).collect::<Vec<_>>(), ["page", "limit"]);
    assert!(parameters.iter().all(|parameter| parameter["schema"]["minimum"] == 1));
    let entry = document.pointer("/components/schemas/Item/properties/updated_at").unwrap();
    assert_eq!((&entry["type"], &entry["format"]), (&"string".into(), &"date-time".into()));
    service.stop().await;
}

#[tokio::test]
async fn exactly_the_described_methods_exist() {
    let data = folder();
    let service = start(data.path()).await;
    let document = document(&service).await;
    for (path, item) in document["paths"].as_object().unwrap() {
        let concrete = path.replace(['{', '}'], "");
        for method in METHODS {
            let request = service.request(method.to_uppercase().parse().unwrap(), &concrete);
            match item.get(method) {
                Some(operation) if operation.get("security").is_some() => {
                    answer(request).await.refused(401);
                }
                Some(_) => assert_ne!(answer(request).await.status, 404, "{method} {path}"),
                None => {
                    answer(request.bearer_auth(&service.token)).await.refused(405);
                }
            }
        }
    }
    service.stop().await;
}

#[tokio::test]
async fn the_page_has_a_strict_content_security_policy() {
    let data = folder();
    let service = start(data.path()).await;
    for (path, kind) in [("/docs", "text/html"), ("/docs/page.js", "text/javascript"), ("/docs/page.css", "text/css")] {
        let page = answer(service.request(Method::GET, path)).await;
        assert_eq!(page.status, 200);
        assert_eq!(page.header("content-type"), format!("{kind}; charset=utf-8"));
        assert!(page.header("content-security-policy").starts_with("default-src 'none'; script-src 'self';"));
        assert_eq!(page.header("x-content-type-options"), "nosniff");
    }
    let page = answer(service.request(Method::GET, "/docs")).await.text;
    for asset in ["docs/page.js", "docs/page.css", "openapi.json"] {
        assert!(page.contains(&format!("\"{asset}\"")), "{asset}");
    }
    service.stop().await;
}

#[tokio::test]
async fn examples_are_valid_in_the_demo_workspace() {
    let data = folder();
    let config = sheetport_service::Config::new(data.path());
    let filling = sheetport_service::Service::open(config).await.unwrap();
    filling.fill_demo("acme").await.unwrap();
    filling.close().await;
    let service = start(data.path()).await;
    let document = document(&service).await;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in METHODS.iter().filter(|method| item.get(**method).is_some()) {
            let operation = &item[method];
            let mut concrete = path.clone();
            for parameter in operation["parameters"].as_array().into_iter().flatten().filter(|p| p["in"] == "path") {
                let name = format!("{{{}}}", parameter["name"].as_str().unwrap());
                concrete = concrete.replace(&name, parameter["example"].as_str().unwrap());
            }
            let request = service.request(method.to_uppercase().parse().unwrap(), &concrete);
            let example = &operation["requestBody"]["content"]["application/json"]["example"];
            let body = if example.is_null() { String::new() } else { example.to_string() };
            let request = request.header("content-type", "application/json").body(body);
            // The token is a placeholder.
            let expected = if operation["operationId"] == "refreshToken" { 401 } else { 200 };
            let answer = answer(request.bearer_auth(&service.token)).await;
            assert_eq!(answer.status, expected, "{method} {concrete}: {}", answer.text);
            let example = |status: &str| {
                let mut response = &operation["responses"][status];
                if let Some(reference) = response.get("$ref") {
                    response = document.pointer(reference.as_str().unwrap().trim_start_matches('#')).unwrap();
                }
                response["content"]["application/json"]["example"].clone()
            };
            if expected == 200 {
                let body = answer.json();
                assert!(body["ok"] != false, "{method} {concrete}: {}", answer.text);
                assert_eq!(shape(&example("200")), shape(&body), "{method} {concrete}");
            }
            for status in operation["responses"].as_object().unwrap().keys() {
                assert!(!example(status).is_null(), "{method} {path}: no example of {status}");
            }
        }
    }
    service.stop().await;
}

#[tokio::test]
async fn the_schemas_say_which_inputs_need_one_of_two_ids() {
    let data = folder();
    let service = start(data.path()).await;
    let document = document(&service).await;
    let mut compiler = Compiler::new();
    compiler.add_resource("https://service.test/openapi.json", document).unwrap();
    let mut schemas = Schemas::new();
    let mut accepts = |name: &str, body: Value| {
        let schema = format!("https://service.test/openapi.json#/components/schemas/{name}");
        let schema = compiler.compile(&schema, &mut schemas).unwrap();
        schemas.validate(&body, schema).is_ok()
    };
    let transactions = [
        (json!({"transactionType": "in", "inventoryId": "INV-1"}), true),
        (json!({"transactionType": "in", "inventoryExternalId": "A", "inventoryId": null}), true),
        (json!({"transactionType": "in", "inventoryId": null}), false),
        (json!({"transactionType": "in"}), false),
        (json!({"inventoryId": "INV-1"}), false),
        (json!({"transactionType": "in", "inventoryId": 7}), false),
    ];
    for (body, is_valid) in transactions {
        assert_eq!(accepts("NewTransaction", body.clone()), is_valid, "{body}");
        let answer = service.post("/v1/public/inventory-transactions", body.to_string()).await;
        // The service has no inventories.
        assert_eq!(
            (answer.status, answer.text.contains("no such inventory")),
            (StatusCode::UNPROCESSABLE_ENTITY, is_valid),
            "{body}"
        );
    }
    assert!(accepts("TransactionInput", json!({"transactionType": "in"})), "of an update");
    for (line, is_valid) in [
        (json!({"item_id": "7", "quantity": 1}), true),
        (json!({"itemExternalId": "A"}), true),
        (json!({"quantity": 1}), false),
        (json!({"item_id": 7}), false),
    ] {
        assert_eq!(accepts("OrderUpdate", json!({"order": {"items": [line]}})), is_valid, "{line}");
    }
    service.stop().await;
}

/// Returns the names and types of a value; of an array, those of its first entry.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(object) => object.iter().map(|(name, value)| (name.clone(), shape(value))).collect(),
        Value::Array(array) => Value::Array(array.first().map(shape).into_iter().collect()),
        Value::String(_) => "string".into(),
        Value::Number(_) => "number".into(),
        Value::Bool(_) => "boolean".into(),
        Value::Null => Value::Null,
    }
}
