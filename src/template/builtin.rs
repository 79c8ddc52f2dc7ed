//! The templates that come with the program.

/// Name and TOML of each, in the order in which they are listed.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("items", include_str!("../../templates/items.toml")),
    ("orders", include_str!("../../templates/orders.toml")),
    ("transactions", include_str!("../../templates/transactions.toml")),
    ("subscriptions", include_str!("../../templates/subscriptions.toml")),
    ("invoices", include_str!("../../templates/invoices.toml")),
    ("exported-items", include_str!("../../templates/exported-items.toml")),
    ("shopify-products", include_str!("../../templates/shopify-products.toml")),
    ("shopify-orders", include_str!("../../templates/shopify-orders.toml")),
    ("woocommerce-products", include_str!("../../templates/woocommerce-products.toml")),
    ("square-catalog", include_str!("../../templates/square-catalog.toml")),
    ("odoo-products", include_str!("../../templates/odoo-products.toml")),
    ("german-price-list", include_str!("../../templates/german-price-list.toml")),
    ("japanese-price-list", include_str!("../../templates/japanese-price-list.toml")),
    ("stock-count", include_str!("../../templates/stock-count.toml")),
];

pub fn find(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}
