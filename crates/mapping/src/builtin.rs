//! The built-in templates.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::model::ColumnName;

/// Name and TOML of each template, in the order of `template list`.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("items", include_str!("../../../templates/items.toml")),
    ("orders", include_str!("../../../templates/orders.toml")),
    ("transactions", include_str!("../../../templates/transactions.toml")),
    ("subscriptions", include_str!("../../../templates/subscriptions.toml")),
    ("invoices", include_str!("../../../templates/invoices.toml")),
    ("exported-items", include_str!("../../../templates/exported-items.toml")),
    ("exported-orders", include_str!("../../../templates/exported-orders.toml")),
    ("exported-transactions", include_str!("../../../templates/exported-transactions.toml")),
    ("shopify-products", include_str!("../../../templates/shopify-products.toml")),
    ("shopify-orders", include_str!("../../../templates/shopify-orders.toml")),
    ("woocommerce-products", include_str!("../../../templates/woocommerce-products.toml")),
    ("square-catalog", include_str!("../../../templates/square-catalog.toml")),
    ("odoo-products", include_str!("../../../templates/odoo-products.toml")),
    ("xero-items", include_str!("../../../templates/xero-items.toml")),
    ("xero-invoices", include_str!("../../../templates/xero-invoices.toml")),
    ("business-central-items", include_str!("../../../templates/business-central-items.toml")),
    ("german-price-list", include_str!("../../../templates/german-price-list.toml")),
    ("japanese-price-list", include_str!("../../../templates/japanese-price-list.toml")),
    ("stock-count", include_str!("../../../templates/stock-count.toml")),
];

/// Returns the TOML of a built-in template.
pub fn find(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

/// The templates with all usual column names of a kind of record, for any sheet. The others are for the sheets of one program or
/// language, whose columns they name in the order of preference.
const GENERAL: [&str; 5] = ["items", "orders", "transactions", "subscriptions", "invoices"];

/// Returns whether a name is that of a template for any sheet.
pub fn is_general(name: &str) -> bool {
    GENERAL.contains(&name)
}

/// The lists of column names in the general templates.
static USUAL_NAMES: LazyLock<HashSet<Vec<String>>> = LazyLock::new(|| {
    let mut lists = HashSet::new();
    for source in GENERAL.iter().filter_map(|name| find(name)) {
        let template: toml::Table = source.parse().expect("the template is compiled in, and tests parse it");
        let fields = ["fields", "lines"].iter().filter_map(|table| template.get(*table)?.as_table()).flatten();
        let columns = fields.filter_map(|(_, field)| field.get("column")?.as_array());
        lists.extend(columns.map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()));
    }
    lists
});

/// Returns whether the names of a column are all usual ones: the list of a template for any sheet, there or in a copy, such as the
/// template stored with a run.
pub(super) fn are_usual_names(names: &[ColumnName]) -> bool {
    let names: Vec<String> = names.iter().filter_map(|name| name.name().map(str::to_owned)).collect();
    USUAL_NAMES.contains(&names)
}
