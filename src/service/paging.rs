//! Which page of a list is asked for. Contract: "Limits"; the default and the largest page size are not shown there and
//! are ours.

use std::collections::BTreeMap;

use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;

use super::answer::Refusal;

pub const DEFAULT_LIMIT: u64 = 100;
pub const MAX_LIMIT: u64 = 1000;

/// A page of a list in the public family: `page` counts from 1, `limit` is the page size in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageQuery {
    pub page: u64,
    pub limit: u64,
}

/// A page of a list in the older family, which calls the page size `amount`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OlderQuery(pub PageQuery);

/// A page of a list without an envelope. Nothing in such an answer says that there is more, so the page size is the
/// largest one unless another is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareQuery(pub PageQuery);

impl<S: Sync> FromRequestParts<S> for PageQuery {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<PageQuery, Refusal> {
        page_query(&pairs(parts)?, "limit", DEFAULT_LIMIT).map_err(Refusal::invalid)
    }
}

impl<S: Sync> FromRequestParts<S> for OlderQuery {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<OlderQuery, Refusal> {
        page_query(&pairs(parts)?, "amount", DEFAULT_LIMIT).map(OlderQuery).map_err(Refusal::invalid)
    }
}

impl<S: Sync> FromRequestParts<S> for BareQuery {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<BareQuery, Refusal> {
        page_query(&pairs(parts)?, "limit", MAX_LIMIT).map(BareQuery).map_err(Refusal::invalid)
    }
}

/// The parameters of a query, in their order.
pub fn pairs(parts: &Parts) -> Result<Vec<(String, String)>, Refusal> {
    let Query(pairs) = Query::try_from_uri(&parts.uri)
        .map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "the query could not be read"))?;
    Ok(pairs)
}

/// `size` is what the parameter of the page size is called.
fn page_query(
    pairs: &[(String, String)],
    size: &str,
    default: u64,
) -> Result<PageQuery, BTreeMap<String, Vec<String>>> {
    let mut errors = BTreeMap::new();
    let mut take = |name: &str, default| {
        number(pairs, name)
            .unwrap_or_else(|message| {
                errors.insert(name.to_owned(), vec![message.to_owned()]);
                None
            })
            .unwrap_or(default)
    };
    let page = take("page", 1);
    let limit = take(size, default).min(MAX_LIMIT);
    if errors.is_empty() { Ok(PageQuery { page, limit }) } else { Err(errors) }
}

fn number(pairs: &[(String, String)], name: &str) -> Result<Option<u64>, &'static str> {
    let mut values = pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value);
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err("must be given once");
    }
    // Parsing alone would let a plus sign through.
    let digits_only = value.bytes().all(|b| b.is_ascii_digit());
    match value.parse() {
        Ok(number) if digits_only && number > 0 => Ok(Some(number)),
        Err(_) if digits_only && !value.is_empty() => Err("is too large"),
        _ => Err("must be a whole number from 1 on"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<PageQuery, Vec<(String, Vec<String>)>> {
        let pairs: Vec<_> = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        page_query(&pairs, "limit", DEFAULT_LIMIT).map_err(|errors| errors.into_iter().collect())
    }

    #[test]
    fn absent_parameters_have_defaults_and_large_limits_are_capped() {
        assert_eq!(of(&[]), Ok(PageQuery { page: 1, limit: 100 }));
        assert_eq!(of(&[("page", "7"), ("limit", "20"), ("sort", "x")]), Ok(PageQuery { page: 7, limit: 20 }));
        assert_eq!(of(&[("limit", "1001")]), Ok(PageQuery { page: 1, limit: 1000 }));
    }

    #[test]
    fn both_parameters_are_refused_at_once() {
        for bad in ["0", "-1", "+1", "1.0", "x", "", " 1", "1e3", "٣"] {
            let errors = of(&[("page", bad), ("limit", bad)]).expect_err(bad);
            let why = vec!["must be a whole number from 1 on".to_owned()];
            assert_eq!(errors, [("limit".to_owned(), why.clone()), ("page".to_owned(), why)], "{bad:?}");
        }
        assert_eq!(of(&[("page", "99999999999999999999")]).expect_err("large")[0].1, ["is too large"]);
        assert_eq!(of(&[("page", "1"), ("page", "2")]).expect_err("twice")[0].1, ["must be given once"]);
    }
}
