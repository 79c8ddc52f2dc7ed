//! Misleading lists: changes the requested page, or the returned one.

use std::collections::HashMap;

use axum::http::Uri;
use serde_json::{Value, json};

use super::plan::Paging;

/// The last entry of the most recently listed page, by workspace and path.
pub(super) type LastEntries = HashMap<(String, String), Value>;

/// The parameters of the page size.
const SIZES: [&str; 2] = ["limit", "amount"];

/// Changes the requested page.
pub(super) fn redirect(uri: &Uri, paging: Option<Paging>, max_page: Option<u64>) -> Uri {
    let changed = |(name, value): (&str, &str)| match (paging, max_page) {
        (Some(Paging::PageIgnored), _) if name == "page" => "page=1".to_owned(),
        (_, Some(most)) if SIZES.contains(&name) => {
            format!("{name}={}", value.parse().map_or(most, |size: u64| size.min(most)))
        }
        _ => format!("{name}={value}"),
    };
    let query = uri.query().unwrap_or_default();
    let mut parts: Vec<String> = query
        .split('&')
        .filter(|part| !part.is_empty())
        .map(|part| changed(part.split_once('=').unwrap_or((part, ""))))
        .collect();
    if let Some(most) = max_page
        && !SIZES.iter().any(|name| query.contains(name))
    {
        parts.extend(SIZES.map(|name| format!("{name}={most}")));
    }
    if parts.is_empty() {
        return uri.clone();
    }
    let target = format!("{}?{}", uri.path(), parts.join("&"));
    // Falls back to the original address.
    target.parse().unwrap_or_else(|_| uri.clone())
}

/// Changes a page. Returns `page` unchanged if it is not a list.
pub(super) fn mislead(workspace: &str, uri: &Uri, paging: Paging, page: Value, last: &mut LastEntries) -> Value {
    let number = uri.query().unwrap_or_default().split('&').find_map(|part| part.strip_prefix("page=")?.parse().ok());
    let is_first = number.unwrap_or(1_u64) <= 1;
    let mut page = page;
    let is_bare = page.is_array();
    let entries = match if is_bare { Some(&mut page) } else { page.get_mut("data") } {
        Some(Value::Array(entries)) => entries,
        _ => return page,
    };
    match paging {
        Paging::Repeats => {
            let list = (workspace.to_owned(), uri.path().to_owned());
            let before = last.get(&list).filter(|_| !is_first).cloned();
            if let Some(entry) = entries.last() {
                last.insert(list, entry.clone());
            }
            if let Some(before) = before.filter(|_| !entries.is_empty()) {
                entries.insert(0, before);
            }
        }
        Paging::Moves if !is_first && !entries.is_empty() => drop(entries.remove(0)),
        _ => {}
    }
    let count = entries.len();
    if is_bare {
        return page;
    }
    match paging {
        Paging::CountLies => page["count"] = json!(count),
        Paging::TotalLies => page["total"] = json!(count),
        Paging::NoTotal => {
            for name in ["total", "count"] {
                page.as_object_mut().and_then(|page| page.remove(name));
            }
        }
        Paging::BareArray => return page["data"].take(),
        Paging::PageIgnored | Paging::Repeats | Paging::Moves => {}
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_changed() {
        let redirected = |text: &'static str, paging, most| redirect(&Uri::from_static(text), paging, most).to_string();
        assert_eq!(redirected("/a?page=3&limit=100", Some(Paging::PageIgnored), None), "/a?page=1&limit=100");
        assert_eq!(redirected("/a?page=3&limit=100", None, Some(20)), "/a?page=3&limit=20");
        assert_eq!(redirected("/a?page=3&amount=10", None, Some(20)), "/a?page=3&amount=10");
        assert_eq!(redirected("/a?page=3", None, Some(20)), "/a?page=3&limit=20&amount=20");
    }

    #[test]
    fn pages_are_changed() {
        let page = || json!({"data": [1, 2, 3], "page": 2, "count": 100, "total": 203});
        let mut last = LastEntries::from([(("w".to_owned(), "/a".to_owned()), json!(0))]);
        let mut misled = |paging, page| mislead("w", &Uri::from_static("/a?page=2"), paging, page, &mut last);
        assert_eq!(misled(Paging::CountLies, page())["count"], 3);
        assert_eq!(misled(Paging::TotalLies, page())["total"], 3);
        assert_eq!(misled(Paging::Moves, page())["data"], json!([2, 3]));
        assert_eq!(misled(Paging::BareArray, page()), json!([1, 2, 3]));
        assert_eq!(misled(Paging::NoTotal, page()), json!({"data": [1, 2, 3], "page": 2}));
        assert_eq!(misled(Paging::Repeats, page())["data"], json!([0, 1, 2, 3]));
        assert_eq!(misled(Paging::Repeats, json!([7])), json!([3, 7]), "a list without an envelope");
        assert_eq!(misled(Paging::Moves, json!({"id": "a"})), json!({"id": "a"}), "a record is no list");
    }
}
