//! The operations of the service: names, parameters, inputs and responses.

use axum::http::Method;
use sheetport_records::answer::Health;
use sheetport_records::invoice::{self, Invoice};
use sheetport_records::item::{self, ItemResult};
use sheetport_records::order::{self, OrderUpdateResult};
use sheetport_records::subscription::{self, Subscription};
use sheetport_records::token::{self, RefreshInput, RefreshResult};
use sheetport_records::transaction::{self, Transaction, TransactionResult};
use sheetport_records::{company, contact, inventory};
use utoipa::openapi::path::{HttpMethod, Parameter};
use utoipa::openapi::{Components, RefOr, Schema};

use super::examples;
use super::parameters;
use super::schema::{self, of};
use crate::request::{BILLING_RULES, ITEM_RULES, ORDER_RULES, TRANSACTION_RULES};

/// Registers a schema. Returns a reference.
type SchemaFn = fn(&mut Components) -> RefOr<Schema>;

pub(super) struct Operation {
    pub(super) method: HttpMethod,
    pub(super) path: &'static str,
    pub(super) id: &'static str,
    pub(super) tag: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    pub(super) access: Access,
    pub(super) parameters: &'static [fn() -> Parameter],
    pub(super) input: Option<SchemaFn>,
    /// An example input in JSON, valid in the demo workspace; empty without an input.
    pub(super) example: &'static str,
    /// An example response in JSON.
    pub(super) answer: &'static str,
    pub(super) response: SchemaFn,
}

/// The required authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// No token, and no rate limit.
    Open,
    /// A token in the body.
    TokenInBody,
    /// A bearer token of any access level.
    Regular,
    /// A bearer token with Full Access.
    Full,
}

pub(super) const TAGS: &[(&str, &str)] = &[
    ("Items", "Products, matched by your own identifier."),
    ("Orders", "Orders of the workspace's customers."),
    ("Companies and contacts", "Customers and suppliers of the workspace."),
    ("Inventories", "Stock, and the transactions that change it."),
    ("Subscriptions and invoices", "Billing of items to a contact or a company. They can be created but not read."),
    ("Tokens", "Access tokens expire after minutes and are renewed with a refresh token."),
    ("Service", "State of the service."),
];

/// Defaults of an operation.
const GET: Operation = Operation {
    method: HttpMethod::Get,
    path: "",
    id: "",
    tag: "",
    summary: "",
    description: "",
    access: Access::Regular,
    parameters: &[],
    input: None,
    example: "",
    answer: examples::HEALTH,
    response: of::<Health>,
};

const OLDER: &str = "List of the older family. The parameter of the page size is `amount`.";

pub(super) const ALL: &[Operation] = &[
    Operation {
        path: item::PATH,
        id: "listItems",
        tag: "Items",
        summary: "List items",
        description: "In the order of creation.",
        parameters: parameters::PAGE,
        answer: examples::ITEMS,
        response: items_page,
        ..GET
    },
    Operation {
        method: HttpMethod::Post,
        path: item::PATH,
        id: "upsertItem",
        tag: "Items",
        summary: "Create or change an item",
        description: "Changes the item with this `externalId`, or creates it. Absent fields stay as they are; null \
            clears a field.",
        access: Access::Full,
        input: Some(|components| schema::input(components, "ItemInput", item::INPUT_FIELDS, &ITEM_RULES)),
        example: examples::ITEM_INPUT,
        answer: examples::ITEM_RESULT,
        response: of::<ItemResult>,
        ..GET
    },
    Operation {
        path: item::OLDER_PATH,
        id: "listItemsOlder",
        tag: "Items",
        summary: "List items, older family",
        description: OLDER,
        parameters: parameters::OLDER_PAGE,
        answer: examples::ITEMS,
        response: items_page,
        ..GET
    },
    Operation {
        path: order::PATH,
        id: "listOrders",
        tag: "Orders",
        summary: "List orders",
        parameters: parameters::PAGE,
        answer: examples::ORDERS,
        response: orders_page,
        ..GET
    },
    Operation {
        path: order::ONE_PATH,
        id: "getOrder",
        tag: "Orders",
        summary: "Read an order",
        parameters: parameters::ORDER_OR_EXTERNAL,
        answer: examples::ORDER,
        response: one_order,
        ..GET
    },
    Operation {
        method: HttpMethod::Put,
        path: order::ONE_PATH,
        id: "updateOrder",
        tag: "Orders",
        summary: "Change an order",
        description: "Applies all changes or none. `results` contains the status of the order and one error per \
            invalid line. Lines replace all existing lines; absent fields stay as they are.",
        access: Access::Full,
        parameters: parameters::ORDER,
        input: Some(|components| schema::input(components, "OrderUpdate", order::INPUT_FIELDS, &ORDER_RULES)),
        example: examples::ORDER_INPUT,
        answer: examples::ORDER_RESULT,
        response: of::<OrderUpdateResult>,
    },
    Operation {
        path: order::OLDER_PATH,
        id: "listOrdersOlder",
        tag: "Orders",
        summary: "List orders, older family",
        description: OLDER,
        parameters: parameters::OLDER_PAGE,
        answer: examples::ORDERS,
        response: orders_page,
        ..GET
    },
    Operation {
        path: company::PATH,
        id: "listCompanies",
        tag: "Companies and contacts",
        summary: "List companies",
        description: "Companies may have further fields.",
        parameters: parameters::PAGE,
        answer: examples::COMPANIES,
        response: |components| {
            let entry = schema::record(components, "Company", company::READ_FIELDS);
            schema::page(components, "CompanyPage", entry)
        },
        ..GET
    },
    Operation {
        path: contact::PATH,
        id: "listContacts",
        tag: "Companies and contacts",
        summary: "List contacts",
        description: "List of the older family. The parameter of the page size is `amount`. Contacts may have further \
            fields.",
        parameters: parameters::OLDER_PAGE,
        answer: examples::CONTACTS,
        response: |components| {
            let entry = schema::record(components, "Contact", contact::READ_FIELDS);
            schema::page(components, "ContactPage", entry)
        },
        ..GET
    },
    Operation {
        path: inventory::PATH,
        id: "listInventories",
        tag: "Inventories",
        summary: "List inventories",
        description: "An array without an envelope. The header `x-total-count` has the total number.",
        parameters: parameters::BARE_PAGE,
        answer: examples::INVENTORIES,
        response: |components| schema::array(one_inventory(components)),
        ..GET
    },
    Operation {
        path: inventory::ONE_PATH,
        id: "getInventory",
        tag: "Inventories",
        summary: "Read an inventory",
        parameters: parameters::INVENTORY,
        answer: examples::INVENTORY,
        response: one_inventory,
        ..GET
    },
    Operation {
        method: HttpMethod::Post,
        path: transaction::PATH,
        id: "createTransaction",
        tag: "Inventories",
        summary: "Create a transaction",
        description: "Updates the figures of the inventory with this `inventoryId` or `inventoryExternalId`.",
        access: Access::Full,
        input: Some(|components| {
            let input = transaction_input(components);
            schema::with_one_of(components, "NewTransaction", input, transaction::NEEDS_ONE_OF)
        }),
        example: examples::TRANSACTION_INPUT,
        answer: examples::TRANSACTION_RESULT,
        response: of::<TransactionResult>,
        ..GET
    },
    Operation {
        method: HttpMethod::Put,
        path: transaction::ONE_PATH,
        id: "updateTransaction",
        tag: "Inventories",
        summary: "Change a transaction",
        description: "Reverts the previous effect on the inventory and applies the new one. Absent fields stay as they \
            are; null clears a field.",
        access: Access::Full,
        parameters: parameters::TRANSACTION,
        input: Some(transaction_input),
        example: examples::TRANSACTION_INPUT,
        answer: examples::TRANSACTION_RESULT,
        response: of::<TransactionResult>,
    },
    Operation {
        path: transaction::ONE_PATH,
        id: "getTransaction",
        tag: "Inventories",
        summary: "Read a transaction",
        parameters: parameters::TRANSACTION,
        answer: examples::TRANSACTION,
        response: of::<Transaction>,
        ..GET
    },
    Operation {
        method: HttpMethod::Post,
        path: subscription::CREATE_PATH,
        id: "createSubscription",
        tag: "Subscriptions and invoices",
        summary: "Create a subscription",
        access: Access::Full,
        input: Some(|components| {
            schema::input(components, "SubscriptionInput", subscription::INPUT_FIELDS, &BILLING_RULES)
        }),
        example: examples::SUBSCRIPTION_INPUT,
        answer: examples::SUBSCRIPTION,
        response: of::<Subscription>,
        ..GET
    },
    Operation {
        method: HttpMethod::Post,
        path: invoice::CREATE_PATH,
        id: "createInvoice",
        tag: "Subscriptions and invoices",
        summary: "Create a sales invoice record",
        access: Access::Full,
        input: Some(|components| schema::input(components, "InvoiceInput", invoice::INPUT_FIELDS, &BILLING_RULES)),
        example: examples::INVOICE_INPUT,
        answer: examples::INVOICE,
        response: of::<Invoice>,
        ..GET
    },
    Operation {
        method: HttpMethod::Post,
        path: token::REFRESH_PATH,
        id: "refreshToken",
        tag: "Tokens",
        summary: "Renew an access token",
        description: "The new token has the workspace and the access level of the refresh token.",
        access: Access::TokenInBody,
        input: Some(of::<RefreshInput>),
        example: examples::REFRESH_INPUT,
        answer: examples::REFRESH_RESULT,
        response: of::<RefreshResult>,
        ..GET
    },
    Operation {
        path: "/healthz",
        id: "health",
        tag: "Service",
        summary: "Check that the service is running",
        access: Access::Open,
        ..GET
    },
    Operation {
        path: "/readyz",
        id: "ready",
        tag: "Service",
        summary: "Check that the service can read and write its database",
        access: Access::Open,
        ..GET
    },
];

/// Returns the method of an operation.
pub(super) fn method(operation: &Operation) -> Method {
    match operation.method {
        HttpMethod::Post => Method::POST,
        HttpMethod::Put => Method::PUT,
        _ => Method::GET,
    }
}

fn items_page(components: &mut Components) -> RefOr<Schema> {
    let entry = schema::record(components, "Item", item::READ_FIELDS);
    schema::page(components, "ItemPage", entry)
}

fn orders_page(components: &mut Components) -> RefOr<Schema> {
    let entry = schema::record(components, "ListedOrder", order::READ_FIELDS);
    schema::page(components, "OrderPage", entry)
}

fn one_order(components: &mut Components) -> RefOr<Schema> {
    schema::record(components, "Order", order::READ_FIELDS.iter().chain(order::SINGLE_FIELDS))
}

fn one_inventory(components: &mut Components) -> RefOr<Schema> {
    schema::record(components, "Inventory", inventory::READ_FIELDS)
}

fn transaction_input(components: &mut Components) -> RefOr<Schema> {
    schema::input(components, "TransactionInput", transaction::INPUT_FIELDS, &TRANSACTION_RULES)
}

/// Returns the possible error responses of an operation: status, name and description.
pub(super) fn error_responses(
    operation: &Operation,
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let access = operation.access;
    let open = access == Access::Open;
    let has_body = operation.input.is_some();
    let has_id = operation.path.contains('{');
    let checks_input = has_body || !operation.parameters.is_empty();
    let all = [
        (checks_input, "400", "BadRequest", "The body is not a JSON object, or the query is malformed"),
        (!open, "401", "Unauthorized", "No valid token"),
        (access == Access::Full, "403", "Forbidden", "The token has Regular access, which is read-only"),
        (has_id, "404", "NotFound", "No such record in this workspace"),
        (has_body, "408", "RequestTimeout", "Timed out reading the body"),
        (access == Access::Full, "409", "Conflict", "A request with the same Idempotency-Key is in progress"),
        (has_body, "413", "ContentTooLarge", "The body is larger than 1 MiB"),
        (has_body, "415", "UnsupportedMediaType", "The body is not `application/json`"),
        (checks_input, "422", "Invalid", "Invalid input; `errors` lists the errors by field"),
        (!open, "429", "TooManyRequests", "The rate limit of the workspace is exceeded"),
        (operation.id == "ready", "503", "NotReady", "The database can't be read or written"),
        (!open, "500", "InternalError", "Internal error of the service"),
    ];
    all.into_iter().filter(|(applies, ..)| *applies).map(|(_, status, name, when)| (status, name, when))
}
