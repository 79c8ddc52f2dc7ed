//! Every operation of the service: what it is called, what it takes and what it answers.

use utoipa::openapi::path::{HttpMethod, Parameter};
use utoipa::openapi::{Components, RefOr, Schema};

use crate::records::answer::Health;
use crate::records::invoice::{self, Invoice};
use crate::records::item::{self, ItemListed, ItemResult};
use crate::records::order::{self, OrderUpdateResult};
use crate::records::subscription::{self, Subscription};
use crate::records::token::{self, RefreshInput, RefreshResult};
use crate::records::transaction::{self, Transaction, TransactionResult};
use crate::records::{company, contact, inventory};

use super::super::{billing, items, orders, transactions};
use super::parameters;
use super::schema::{self, of};

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
    /// An input as JSON that is good in a workspace that `--demo` filled; empty where there is none.
    pub example: &'static str,
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
    ("Orders", "Orders of a workspace's customers."),
    ("Companies and contacts", "Whom the workspace deals with."),
    ("Inventories", "What is in stock, and the transactions that move it."),
    ("Subscriptions and invoices", "For a contact or a company, of items. They can be created, and not read."),
    ("Tokens", "Access tokens live for minutes and are renewed with a refresh token."),
    ("Service", "The service itself."),
];

/// What most operations are: to be changed where one is not.
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
    answer: of::<Health>,
};

const OLDER: &str = "The older family's list. Its page size is called `amount`.";

const TRANSACTION: &str = r#"{"transactionType":"in","inventoryExternalId":"L-01","transactionAmount":12,
    "transactionDate":"2026-01-31T09:30:00Z","inventoryType":"available","useUnitValue":true,"price":15.40}"#;

const ORDER: &str = r#"{"order":{"companyExternalId":"C-1001","deliveryStatus":"shipped",
    "items":[{"itemExternalId":"0042","quantity":3,"price":24.90,"tax_rate":19}]},
    "createMissingItems":false,"triggerWorkflows":false}"#;

const SUBSCRIPTION: &str = r#"{"cid":"019a3c00-0002-7000-8000-000000000001","subscription_status":"active",
    "items":[{"id":"019a3c00-0001-7000-8000-000000000024","amount":2}],"currency":"EUR"}"#;

const INVOICE: &str = r#"{"cid":"019a3c00-0003-7000-8000-000000000005","status":"scheduled",
    "items":[{"id":"019a3c00-0001-7000-8000-000000000001","amount":10}],"currency":"EUR"}"#;

pub const ALL: &[Operation] = &[
    Operation {
        path: item::PATH,
        id: "listItems",
        tag: "Items",
        summary: "List items",
        description: "In the order in which they were created.",
        parameters: parameters::PAGE,
        answer: items_page,
        ..GET
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
        input: Some(|components| schema::input(components, "ItemInput", item::INPUT_FIELDS, &items::RULES)),
        example: r#"{"externalId":"0045","name":"Hex bolt M10 × 40","currency":"EUR","price":31.90,"tax":19}"#,
        answer: of::<ItemResult>,
        ..GET
    },
    Operation {
        path: item::OLDER_PATH,
        id: "listItemsOlder",
        tag: "Items",
        summary: "List items, older family",
        description: OLDER,
        parameters: parameters::OLDER_PAGE,
        answer: items_page,
        ..GET
    },
    Operation {
        path: order::PATH,
        id: "listOrders",
        tag: "Orders",
        summary: "List orders",
        parameters: parameters::PAGE,
        answer: orders_page,
        ..GET
    },
    Operation {
        path: order::ONE_PATH,
        id: "getOrder",
        tag: "Orders",
        summary: "Read an order",
        parameters: parameters::ORDER_OR_EXTERNAL,
        answer: one_order,
        ..GET
    },
    Operation {
        method: HttpMethod::Put,
        path: order::ONE_PATH,
        id: "updateOrder",
        tag: "Orders",
        summary: "Change an order",
        description: "All of it or nothing: `results` says what became of the order, and lists one error a line that \
            is wrong. Lines replace all lines that the order had; a field that is absent is left as it is.",
        access: Access::Full,
        parameters: parameters::ORDER,
        input: Some(|components| schema::input(components, "OrderUpdate", order::INPUT_FIELDS, &orders::RULES)),
        example: ORDER,
        answer: of::<OrderUpdateResult>,
    },
    Operation {
        path: order::OLDER_PATH,
        id: "listOrdersOlder",
        tag: "Orders",
        summary: "List orders, older family",
        description: OLDER,
        parameters: parameters::OLDER_PAGE,
        answer: orders_page,
        ..GET
    },
    Operation {
        path: company::PATH,
        id: "listCompanies",
        tag: "Companies and contacts",
        summary: "List companies",
        description: "A company may have more fields than these.",
        parameters: parameters::PAGE,
        answer: |components| {
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
        description: "A list of the older family: its page size is called `amount`. A contact may have more fields \
            than these.",
        parameters: parameters::OLDER_PAGE,
        answer: |components| {
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
        description: "An array without an envelope; the header `x-total-count` says how many there are.",
        parameters: parameters::BARE_PAGE,
        answer: |components| schema::array(one_inventory(components)),
        ..GET
    },
    Operation {
        path: inventory::ONE_PATH,
        id: "getInventory",
        tag: "Inventories",
        summary: "Read an inventory",
        parameters: parameters::INVENTORY,
        answer: one_inventory,
        ..GET
    },
    Operation {
        method: HttpMethod::Post,
        path: transaction::PATH,
        id: "createTransaction",
        tag: "Inventories",
        summary: "Create a transaction",
        description: "Moves the figures of the inventory that `inventoryId` or `inventoryExternalId` names.",
        access: Access::Full,
        input: Some(transaction_input),
        example: TRANSACTION,
        answer: of::<TransactionResult>,
        ..GET
    },
    Operation {
        method: HttpMethod::Put,
        path: transaction::ONE_PATH,
        id: "updateTransaction",
        tag: "Inventories",
        summary: "Change a transaction",
        description: "What it has done to its inventory is taken back and done anew. A field that is absent is left \
            as it is; null clears it.",
        access: Access::Full,
        parameters: parameters::TRANSACTION,
        input: Some(transaction_input),
        example: TRANSACTION,
        answer: of::<TransactionResult>,
    },
    Operation {
        path: transaction::ONE_PATH,
        id: "getTransaction",
        tag: "Inventories",
        summary: "Read a transaction",
        parameters: parameters::TRANSACTION,
        answer: of::<Transaction>,
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
            schema::input(components, "SubscriptionInput", subscription::INPUT_FIELDS, &billing::RULES)
        }),
        example: SUBSCRIPTION,
        answer: of::<Subscription>,
        ..GET
    },
    Operation {
        method: HttpMethod::Post,
        path: invoice::CREATE_PATH,
        id: "createInvoice",
        tag: "Subscriptions and invoices",
        summary: "Create a sales invoice record",
        access: Access::Full,
        input: Some(|components| schema::input(components, "InvoiceInput", invoice::INPUT_FIELDS, &billing::RULES)),
        example: INVOICE,
        answer: of::<Invoice>,
        ..GET
    },
    Operation {
        method: HttpMethod::Post,
        path: token::REFRESH_PATH,
        id: "refreshToken",
        tag: "Tokens",
        summary: "Renew an access token",
        description: "The new token has the workspace and the permission level of the refresh token.",
        access: Access::TokenInBody,
        input: Some(of::<RefreshInput>),
        example: r#"{"refresh":"<REFRESH_TOKEN>"}"#,
        answer: of::<RefreshResult>,
        ..GET
    },
    Operation {
        path: "/healthz",
        id: "health",
        tag: "Service",
        summary: "Whether the service runs",
        access: Access::Open,
        ..GET
    },
];

fn items_page(components: &mut Components) -> RefOr<Schema> {
    let entry = of::<ItemListed>(components);
    schema::page(components, "ItemPage", entry)
}

fn orders_page(components: &mut Components) -> RefOr<Schema> {
    let entry = one_order(components);
    schema::page(components, "OrderPage", entry)
}

fn one_order(components: &mut Components) -> RefOr<Schema> {
    schema::record(components, "Order", order::READ_FIELDS)
}

fn one_inventory(components: &mut Components) -> RefOr<Schema> {
    schema::record(components, "Inventory", inventory::READ_FIELDS)
}

fn transaction_input(components: &mut Components) -> RefOr<Schema> {
    schema::input(components, "TransactionInput", transaction::INPUT_FIELDS, &transactions::RULES)
}

/// What the operation may answer when it is not carried out: status, the name of the answer, and when.
pub fn refusals(operation: &Operation) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let access = operation.access;
    let open = access == Access::Open;
    let has_body = operation.input.is_some();
    let has_id = operation.path.contains('{');
    let checks_input = has_body || !operation.parameters.is_empty();
    let all = [
        (checks_input, "400", "BadRequest", "The body is no JSON object, or the query can't be read"),
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
