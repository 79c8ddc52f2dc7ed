//! The OpenAPI 3.1 document of the service, and a page to display the document. Schemas are generated from the types in
//! `records`, and from the fields and rules used for validation. `operations` lists the operations.

use std::sync::LazyLock;

use axum::Router;
use axum::http::Method;
use axum::routing::get;
use serde_json::Value;
use sheetport_records::inventory;
use sheetport_web::page;
use utoipa::PartialSchema;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{OperationBuilder, ParameterIn, PathItem};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    self, Components, ContentBuilder, Info, OpenApi, Paths, Ref, RefOr, Required, ResponseBuilder, Schema, Server,
};

use super::reading::Reading;
use super::response::json_text;
use operations::{Access, Operation};

mod literal;
mod operations;
mod parameters;
mod schema;
mod texts;

/// Returns the routes for the document and the page. They need no token.
pub(super) fn routes<S: Clone + Send + Sync + 'static>(reading: Reading) -> Router<S> {
    Router::new()
        .route("/openapi.json", get(async move || json_text(text(reading).clone())))
        .route("/docs", get(async || page(include_str!("page/index.html"), "text/html; charset=utf-8")))
        .route("/docs/page.js", get(async || page(include_str!("page/page.js"), "text/javascript; charset=utf-8")))
        .route("/docs/page.css", get(async || page(include_str!("page/page.css"), "text/css; charset=utf-8")))
}

/// Returns the path that differs from `path` only by a trailing slash, if the service has it. The ids of records are kept.
pub(super) fn similar_path(path: &str) -> Option<String> {
    fn without(path: &str) -> &str {
        path.strip_suffix('/').unwrap_or(path)
    }
    let is_same = |(known, given): (&str, &str)| known == given || known.starts_with('{') && !given.is_empty();
    let is_alike = |known: &&str| {
        let (known, given) = (without(known), without(path));
        known.split('/').count() == given.split('/').count() && known.split('/').zip(given.split('/')).all(is_same)
    };
    let known = operations::ALL.iter().map(|operation| operation.path).find(is_alike)?;
    Some(format!("{}{}", without(path), if known.ends_with('/') { "/" } else { "" }))
}

/// Returns the names of the query parameters of an operation, by its method and the path of its route.
pub(super) fn query_parameters(method: &Method, path: &str) -> Vec<String> {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let is_it = |operation: &&Operation| operation.path == path && operations::method(operation) == *method;
    let parameters = operations::ALL.iter().find(is_it).map_or(&[][..], |operation| operation.parameters);
    let parameters = parameters.iter().map(|parameter| parameter());
    let of_query = parameters.filter(|parameter| matches!(parameter.parameter_in, ParameterIn::Query));
    of_query.map(|parameter| parameter.name).collect()
}

static TOLERANT: LazyLock<String> = LazyLock::new(|| document(Reading::Tolerant).to_string());
static STRICT: LazyLock<String> = LazyLock::new(|| document(Reading::Strict).to_string());
static LITERAL: LazyLock<String> = LazyLock::new(|| document(Reading::Literal).to_string());

fn text(reading: Reading) -> &'static String {
    match reading {
        Reading::Tolerant => &TOLERANT,
        Reading::Strict => &STRICT,
        Reading::Literal => &LITERAL,
    }
}

/// Returns the document, which says how exactly the service takes the contract.
fn document(reading: Reading) -> Value {
    let mut document = serde_json::to_value(whole_document()).expect("a document has only string keys");
    match reading {
        Reading::Tolerant => document,
        Reading::Strict => {
            document["info"]["description"] = format!("{DESCRIPTION}\n\n{ABOUT_STRICT}").into();
            document
        }
        Reading::Literal => literal::cut(document),
    }
}

const BEARER: &str = "bearer";

const DESCRIPTION: &str = "Business records by workspace: orders, items, contacts, companies, inventories and their \
    transactions, subscriptions and invoices. The bearer token selects the workspace.\n\n\
    Paging: lists begin with `page` 1. While `page * count < total`, more pages exist, and the next one is fetched by raising \
    `page`; `count` is the page size in use, not the number of entries. The list of inventories is an array without these \
    fields. A page can have fewer entries than the requested `limit`, because larger values are reduced to the maximum, so a \
    short page is not the end of the list: fetch pages until one is empty, or until as many entries have come as the header \
    `x-total-count` says.\n\n\
    Errors have the body `{message, ctx_id, errors}`, where `errors` lists all errors of the input by field. Every response \
    has its context id in the header `x-ctx-id`.\n\n\
    Writes can be repeated safely with the header `Idempotency-Key`: the same key with the same body gets the stored response.";

const ABOUT_STRICT: &str = "This service is strict: unknown fields of bodies and unknown query parameters are refused.";

/// Headers of responses to authenticated calls, while there is a rate limit.
const LIMIT_HEADERS: &[(&str, &str)] = &[
    ("RateLimit-Limit", "Requests that an idle workspace may send at once; only with a rate limit"),
    ("RateLimit-Remaining", "Requests that the workspace may send now; only with a rate limit"),
    ("RateLimit-Reset", "Seconds until the full number is permitted again; only with a rate limit"),
];

fn whole_document() -> OpenApi {
    let mut components = Components::new();
    components.add_security_scheme(
        BEARER,
        SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build()),
    );
    let mut paths = Paths::new();
    for operation in operations::ALL {
        let item = PathItem::new(operation.method.clone(), describe(operation, &mut components));
        match paths.paths.get_mut(operation.path) {
            Some(earlier) => earlier.merge_operations(item),
            None => drop(paths.paths.insert(operation.path.to_owned(), item)),
        }
    }
    let mut info = Info::new("Workspace Business-Records API", env!("CARGO_PKG_VERSION"));
    info.description = Some(DESCRIPTION.to_owned());
    let mut document = OpenApi::new(info, paths);
    document.components = Some(components);
    // Relative, because the service does not know its public address.
    document.servers = Some(vec![Server::new("/")]);
    let tags = operations::TAGS.iter();
    document.tags =
        Some(tags.map(|(name, about)| TagBuilder::new().name(*name).description(Some(*about)).build()).collect());
    document
}

fn describe(operation: &Operation, components: &mut Components) -> OperationBuilder {
    let texts = texts::of(operation.id);
    let mut described = OperationBuilder::new()
        .tag(&texts.tag)
        .operation_id(Some(operation.id))
        .summary(Some(&texts.summary))
        .description(texts.description.as_ref())
        .response("200", success(operation, (operation.response)(components)));
    for parameter in operation.parameters {
        described = described.parameter(parameter());
    }
    if operation.access == Access::Full {
        described = described.parameter(parameters::idempotency_key());
    }
    if let Some(input) = operation.input {
        described =
            described.request_body(Some(body(input(components), texts::examples(operation.id).request.as_ref())));
    }
    if matches!(operation.access, Access::Regular | Access::Full) {
        described = described.security(SecurityRequirement::new::<_, [&str; 0], &str>(BEARER, []));
    }
    for (status, name, description) in operations::error_responses(operation) {
        let error = schema::of::<sheetport_records::answer::ErrorBody>(components);
        let mut response = response(description, error, texts::error(status));
        if status == "401" {
            let header = text_header("`Bearer`");
            response.headers.insert("WWW-Authenticate".to_owned(), header.into());
        }
        if status == "429" {
            response.headers.insert("Retry-After".to_owned(), number_header("Seconds to wait").into());
            for (name, description) in LIMIT_HEADERS {
                response.headers.insert((*name).to_owned(), number_header(description).into());
            }
        }
        components.responses.insert(name.to_owned(), response.into());
        described = described.response(status, RefOr::Ref(Ref::from_response_name(name)));
    }
    described
}

fn body(schema: RefOr<Schema>, example: Option<&Value>) -> RequestBody {
    let content = ContentBuilder::new().schema(Some(schema)).example(example.cloned()).build();
    RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True)).build()
}

/// Returns the response of a successful operation.
fn success(operation: &Operation, schema: RefOr<Schema>) -> openapi::Response {
    let mut success = response("OK", schema, texts::examples(operation.id).response.as_ref());
    if operation.access == Access::Full {
        let replayed = text_header("`true` if this is the stored response to an earlier request with the same key");
        success.headers.insert("Idempotency-Replayed".to_owned(), replayed.into());
    }
    if operation.path == inventory::PATH {
        let total = number_header("Number of all inventories");
        success.headers.insert("x-total-count".to_owned(), total.into());
    }
    if matches!(operation.access, Access::Regular | Access::Full) {
        for (name, description) in LIMIT_HEADERS {
            success.headers.insert((*name).to_owned(), number_header(description).into());
        }
    }
    success
}

fn response(description: &str, schema: RefOr<Schema>, example: Option<&Value>) -> openapi::Response {
    let ctx_id = HeaderBuilder::new()
        .schema(Some(String::schema()))
        .description(Some("Id of the request, also in the log of the service"));
    ResponseBuilder::new()
        .description(description)
        .content("application/json", ContentBuilder::new().schema(Some(schema)).example(example.cloned()).build())
        .header("x-ctx-id", ctx_id.build())
        .build()
}

fn text_header(description: &str) -> openapi::header::Header {
    HeaderBuilder::new().schema(Some(String::schema())).description(Some(description)).build()
}

fn number_header(description: &str) -> openapi::header::Header {
    HeaderBuilder::new().schema(Some(u64::schema())).description(Some(description)).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_inserts_no_markup_and_uses_no_other_origin() {
        let (html, script, style) =
            (include_str!("page/index.html"), include_str!("page/page.js"), include_str!("page/page.css"));
        for markup in [".innerHTML", ".outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!script.contains(markup), "{markup}");
        }
        for text in [html, script, style] {
            assert!(!text.contains("://") && !text.contains("\"//"), "uses another origin");
        }
        assert!(
            !html.contains("<script>") && !html.contains("<style") && !html.contains(" on"),
            "forbidden by the content security policy"
        );
    }

    #[test]
    fn a_wrong_trailing_slash_is_found() {
        for (path, known) in [
            ("/v1/public/items/", Some("/v1/public/items")),
            ("/v1/orders", Some("/v1/orders/")),
            ("/v1/public/orders/5001/", Some("/v1/public/orders/5001")),
            ("/v1/public/inventories/INV-1/", Some("/v1/public/inventories/INV-1")),
            ("/v1/public/inventory-transactions/x/", Some("/v1/public/inventory-transactions/x")),
            ("/v1/public/orders//", None),
            ("/v1/public/orders/5001/lines/", None),
            ("/v1/nothing", None),
        ] {
            assert_eq!(similar_path(path).as_deref(), known, "{path}");
        }
    }

    #[test]
    fn operations_have_unique_ids_examples_and_known_tags() {
        for (index, operation) in operations::ALL.iter().enumerate() {
            assert!(operations::ALL[..index].iter().all(|earlier| earlier.id != operation.id), "{}", operation.id);
            let examples = texts::examples(operation.id);
            assert_eq!(examples.request.is_some(), operation.input.is_some(), "{}: each input", operation.id);
            assert!(examples.response.is_some(), "{}: each response has an example", operation.id);
            for (status, ..) in operations::error_responses(operation) {
                assert!(texts::error(status).is_some(), "{status} has an example");
            }
            let tag = &texts::of(operation.id).tag;
            assert!(operations::TAGS.iter().any(|(known, _)| known == tag), "{tag}");
        }
    }
}
