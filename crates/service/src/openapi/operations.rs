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

use super::parameters::{BARE_PAGE, INVENTORY, OLDER_PAGE, ORDER, ORDER_OR_EXTERNAL, PAGE, TRANSACTION};
use super::schema::{self, of};
use crate::request::{BILLING_RULES, ITEM_RULES, ORDER_RULES, TRANSACTION_RULES};

/// Registers a schema. Returns a reference.
type SchemaFn = fn(&mut Components) -> RefOr<Schema>;

/// An operation. Its texts and examples are in `operations.json`.
pub(super) struct Operation {
    pub(super) method: HttpMethod,
    pub(super) path: &'static str,
    pub(super) id: &'static str,
    pub(super) access: Access,
    pub(super) parameters: &'static [fn() -> Parameter],
    pub(super) input: Option<SchemaFn>,
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

pub(super) const ALL: &[Operation] = &[
    read("listItems", item::PATH, PAGE, items_page),
    write(HttpMethod::Post, "upsertItem", item::PATH, &[], item_input, of::<ItemResult>),
    read("listItemsOlder", item::OLDER_PATH, OLDER_PAGE, items_page),
    read("listOrders", order::PATH, PAGE, orders_page),
    read("getOrder", order::ONE_PATH, ORDER_OR_EXTERNAL, one_order),
    write(HttpMethod::Put, "updateOrder", order::ONE_PATH, ORDER, order_update, of::<OrderUpdateResult>),
    read("listOrdersOlder", order::OLDER_PATH, OLDER_PAGE, orders_page),
    read("listCompanies", company::PATH, PAGE, companies_page),
    read("listContacts", contact::PATH, OLDER_PAGE, contacts_page),
    read("listInventories", inventory::PATH, BARE_PAGE, |components| schema::array(one_inventory(components))),
    read("getInventory", inventory::ONE_PATH, INVENTORY, one_inventory),
    write(HttpMethod::Post, "createTransaction", transaction::PATH, &[], new_transaction, of::<TransactionResult>),
    write(
        HttpMethod::Put,
        "updateTransaction",
        transaction::ONE_PATH,
        TRANSACTION,
        transaction_input,
        of::<TransactionResult>,
    ),
    read("getTransaction", transaction::ONE_PATH, TRANSACTION, of::<Transaction>),
    write(
        HttpMethod::Post,
        "createSubscription",
        subscription::CREATE_PATH,
        &[],
        subscription_input,
        of::<Subscription>,
    ),
    write(HttpMethod::Post, "createInvoice", invoice::CREATE_PATH, &[], invoice_input, of::<Invoice>),
    Operation {
        access: Access::TokenInBody,
        ..write(HttpMethod::Post, "refreshToken", token::REFRESH_PATH, &[], of::<RefreshInput>, of::<RefreshResult>)
    },
    Operation { access: Access::Open, ..read("health", "/healthz", &[], of::<Health>) },
    Operation { access: Access::Open, ..read("ready", "/readyz", &[], of::<Health>) },
];

const fn read(
    id: &'static str,
    path: &'static str,
    parameters: &'static [fn() -> Parameter],
    response: SchemaFn,
) -> Operation {
    Operation { method: HttpMethod::Get, path, id, access: Access::Regular, parameters, input: None, response }
}

const fn write(
    method: HttpMethod,
    id: &'static str,
    path: &'static str,
    parameters: &'static [fn() -> Parameter],
    input: SchemaFn,
    response: SchemaFn,
) -> Operation {
    Operation { method, path, id, access: Access::Full, parameters, input: Some(input), response }
}

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

fn companies_page(components: &mut Components) -> RefOr<Schema> {
    let entry = schema::record(components, "Company", company::READ_FIELDS);
    schema::page(components, "CompanyPage", entry)
}

fn contacts_page(components: &mut Components) -> RefOr<Schema> {
    let entry = schema::record(components, "Contact", contact::READ_FIELDS);
    schema::page(components, "ContactPage", entry)
}

fn one_order(components: &mut Components) -> RefOr<Schema> {
    schema::record(components, "Order", order::READ_FIELDS.iter().chain(order::SINGLE_FIELDS))
}

fn one_inventory(components: &mut Components) -> RefOr<Schema> {
    schema::record(components, "Inventory", inventory::READ_FIELDS)
}

fn item_input(components: &mut Components) -> RefOr<Schema> {
    schema::input(components, "ItemInput", item::INPUT_FIELDS, &ITEM_RULES)
}

fn order_update(components: &mut Components) -> RefOr<Schema> {
    schema::input(components, "OrderUpdate", order::INPUT_FIELDS, &ORDER_RULES)
}

fn subscription_input(components: &mut Components) -> RefOr<Schema> {
    schema::input(components, "SubscriptionInput", subscription::INPUT_FIELDS, &BILLING_RULES)
}

fn invoice_input(components: &mut Components) -> RefOr<Schema> {
    schema::input(components, "InvoiceInput", invoice::INPUT_FIELDS, &BILLING_RULES)
}

fn new_transaction(components: &mut Components) -> RefOr<Schema> {
    let input = transaction_input(components);
    schema::with_one_of(components, "NewTransaction", input, transaction::NEEDS_ONE_OF)
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
