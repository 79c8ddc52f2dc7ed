//! Every operation of the service: what it is called, what it takes and what it answers.

use utoipa::openapi::path::{HttpMethod, Parameter};
use utoipa::openapi::{Components, RefOr, Schema};

use crate::records::answer::Health;
use crate::records::item::{self, ItemListed, ItemResult};
use crate::records::token::{self, RefreshInput, RefreshResult};

use super::super::items;
use super::parameters;
use super::schema::{self, of, page_of};

/// Puts a schema among the components and answers a reference to it.
type Describe = fn(&mut Components) -> RefOr<Schema>;

pub struct Operation {
    pub method: HttpMethod,
    pub path: &'static str,
    pub id: &'static str,
    pub tag: &'static str,
    pub summary: &'static str,
    pub description: &'static str,
    pub access: Access,
    pub parameters: &'static [fn() -> Parameter],
    pub input: Option<Describe>,
    pub answer: Describe,
}

/// Who may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody, at any time.
    Open,
    /// Whoever has a token that is sent in the body.
    TokenInBody,
    Regular,
    Full,
}

pub const TAGS: &[(&str, &str)] = &[
    ("Items", "Products, found again by your own identifier."),
    ("Tokens", "Access tokens live for minutes and are renewed with a refresh token."),
    ("Service", "The service itself."),
];

pub const ALL: &[Operation] = &[
    Operation {
        method: HttpMethod::Get,
        path: item::PATH,
        id: "listItems",
        tag: "Items",
        summary: "List items",
        description: "In the order in which they were created.",
        access: Access::Regular,
        parameters: parameters::PAGE,
        input: None,
        answer: page_of::<ItemListed>,
    },
    Operation {
        method: HttpMethod::Post,
        path: item::PATH,
        id: "upsertItem",
        tag: "Items",
        summary: "Create or change an item",
        description: "The item with this `externalId` is changed, or created if there is none. A field that is absent \
            is left as it is; null clears it.",
        access: Access::Full,
        parameters: &[],
        input: Some(|components| schema::input(components, "ItemInput", &item::INPUT, items::LONGEST)),
        answer: of::<ItemResult>,
    },
    Operation {
        method: HttpMethod::Post,
        path: token::REFRESH_PATH,
        id: "refreshToken",
        tag: "Tokens",
        summary: "Renew an access token",
        description: "The new token has the workspace and the permission level of the refresh token.",
        access: Access::TokenInBody,
        parameters: &[],
        input: Some(of::<RefreshInput>),
        answer: of::<RefreshResult>,
    },
    Operation {
        method: HttpMethod::Get,
        path: "/healthz",
        id: "health",
        tag: "Service",
        summary: "Whether the service runs",
        description: "",
        access: Access::Open,
        parameters: &[],
        input: None,
        answer: of::<Health>,
    },
];

/// What the operation may answer when it is not carried out: status, the name of the answer, and when.
pub fn refusals(operation: &Operation) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let access = operation.access;
    let open = access == Access::Open;
    let has_body = operation.input.is_some();
    let has_id = operation.path.contains('{');
    let checks_input = has_body || !operation.parameters.is_empty();
    let all = [
        (has_body || checks_input, "400", "BadRequest", "The body is no JSON object, or the query can't be read"),
        (!open, "401", "Unauthorized", "No valid token"),
        (access == Access::Full, "403", "Forbidden", "A Regular token only reads"),
        (has_id, "404", "NotFound", "There is no such record in this workspace"),
        (has_body, "408", "RequestTimeout", "The body came too slowly"),
        (has_body, "413", "ContentTooLarge", "The body is over 1 MiB"),
        (has_body, "415", "UnsupportedMediaType", "The body is not `application/json`"),
        (checks_input, "422", "Invalid", "`errors` says what is wrong with each field"),
        (!open, "429", "TooManyRequests", "The workspace is over its limit"),
        (!open, "500", "InternalError", "A fault of the service, never of the input"),
    ];
    all.into_iter().filter(|(applies, ..)| *applies).map(|(_, status, name, when)| (status, name, when))
}
