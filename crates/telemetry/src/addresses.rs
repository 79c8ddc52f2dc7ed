//! Addresses without the ids of records and without secrets.

use reqwest::Url;
use sheetport_records::token::REFRESH_PATH;
use sheetport_records::{RecordKind, company, contact, inventory, item, order, transaction};

/// The paths that the client requests, from the contract.
const SINGLES: [&str; 3] = [order::ONE_PATH, inventory::ONE_PATH, transaction::ONE_PATH];
const LISTS: [&str; 8] = [
    item::PATH,
    item::OLDER_PATH,
    order::PATH,
    order::OLDER_PATH,
    company::PATH,
    contact::PATH,
    inventory::PATH,
    REFRESH_PATH,
];

/// Returns the template of a path, or `None` for a path outside the contract.
pub(super) fn url_template(path: &str) -> Option<&'static str> {
    let path = path.split('?').next().unwrap_or(path);
    let calls = RecordKind::ALL.iter().flat_map(|kind| [kind.input().create.as_ref(), kind.input().update.as_ref()]);
    let mut templates = LISTS.into_iter().chain(calls.flatten().map(|call| call.path)).chain(SINGLES);
    templates.find(|template| matches(template, path))
}

/// Whether a path has the segments of a template. Any text matches a segment in braces.
fn matches(template: &str, path: &str) -> bool {
    let (mut expected, mut found) = (template.split('/'), path.split('/'));
    loop {
        match (expected.next(), found.next()) {
            (None, None) => return true,
            (Some(name), Some(text)) if name == text || name.starts_with('{') && !text.is_empty() => {}
            _ => return false,
        }
    }
}

/// Returns the number of the page in a query.
pub(super) fn page_number(path: &str) -> Option<i64> {
    let (_, query) = path.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix("page="))?.parse().ok()
}

/// Returns an address without user information, query and fragment.
pub(super) fn without_secrets(base_url: &str) -> String {
    let Ok(url) = Url::parse(base_url) else { return String::new() };
    let path = url.path().trim_end_matches('/');
    format!("{}{path}", url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_queries_are_left_out() {
        for (path, template) in [
            ("/v1/public/items", Some("/v1/public/items")),
            ("/v1/public/items?page=2&limit=100", Some("/v1/public/items")),
            ("/v1/orders/?page=1&amount=100", Some("/v1/orders/")),
            ("/v1/public/orders/SO-1", Some("/v1/public/orders/{order_id}")),
            ("/v1/public/orders/a%2Fb?external_id=a%2Fb", Some("/v1/public/orders/{order_id}")),
            ("/v1/public/inventory-transactions/7", Some("/v1/public/inventory-transactions/{transaction_id}")),
            ("/v1/public/inventories/7", Some("/v1/public/inventories/{inventory_id}")),
            ("/v1/subscriptions/create", Some("/v1/subscriptions/create")),
            ("/api/token/refresh/", Some("/api/token/refresh/")),
            ("/v1/public/secrets/7", None),
            ("/v1/public/orders/7/lines", None),
        ] {
            assert_eq!(url_template(path), template, "{path}");
        }
    }

    #[test]
    fn pages_have_numbers() {
        assert_eq!(page_number("/v1/public/items?page=12&limit=100"), Some(12));
        assert_eq!(page_number("/v1/public/orders/7?external_id=7"), None);
        assert_eq!(page_number("/v1/public/items"), None);
    }

    #[test]
    fn addresses_have_no_secrets() {
        assert_eq!(
            without_secrets("https://user:secret@records.example/below/?key=1#x"),
            "https://records.example/below"
        );
        assert_eq!(without_secrets("http://[::1]:8787"), "http://[::1]:8787");
    }
}
