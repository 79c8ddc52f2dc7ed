//! Query and path parameters. Contract: "Limits"; the default and the maximum page size are not specified there.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;

use crate::response::ErrorResponse;

use super::validation::{Errors, add_error};

/// Default page size.
pub(crate) const DEFAULT_LIMIT: u64 = 100;
/// Maximum page size.
pub(crate) const MAX_LIMIT: u64 = 1000;

/// A page of a list: the number, counted from 1, and the page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageQuery {
    pub page: u64,
    pub limit: u64,
}

/// The query parameters, in order.
pub(crate) struct QueryParameters(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for QueryParameters {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<QueryParameters, ErrorResponse> {
        let Query(pairs) = Query::try_from_uri(&parts.uri)
            .map_err(|_| ErrorResponse::new(StatusCode::BAD_REQUEST, "the query is malformed"))?;
        Ok(QueryParameters(pairs))
    }
}

impl QueryParameters {
    /// Returns the requested page. `size` names the parameter of the page size. Fails with the errors of both parameters.
    pub(crate) fn page(&self, size: &str, default_limit: u64) -> Result<PageQuery, Errors> {
        let mut errors = Errors::new();
        let mut take = |name, default| match self.positive_number(name) {
            Ok(number) => number.unwrap_or(default),
            Err(message) => {
                add_error(&mut errors, name, message);
                default
            }
        };
        let page = take("page", 1);
        let limit = take(size, default_limit).min(MAX_LIMIT);
        if errors.is_empty() { Ok(PageQuery { page, limit }) } else { Err(errors) }
    }

    fn positive_number(&self, name: &str) -> Result<Option<u64>, &'static str> {
        let Some(value) = self.single(name)? else { return Ok(None) };
        // `parse` accepts a plus sign.
        let digits_only = value.bytes().all(|b| b.is_ascii_digit());
        match value.parse() {
            Ok(number) if digits_only && number > 0 => Ok(Some(number)),
            Err(_) if digits_only && !value.is_empty() => Err("is too large"),
            _ => Err("must be a whole number of at least 1"),
        }
    }

    /// Returns the value of a parameter. Fails if the query repeats the parameter.
    fn single(&self, name: &str) -> Result<Option<&str>, &'static str> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let value = values.next();
        if values.next().is_some() { Err("must not be repeated") } else { Ok(value) }
    }
}

/// The query parameter `external_id`; `None` if absent or empty.
pub(crate) struct ExternalId(pub Option<String>);

impl<S: Sync> FromRequestParts<S> for ExternalId {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<ExternalId, ErrorResponse> {
        let query = QueryParameters::from_request_parts(parts, state).await?;
        let value = query.single("external_id").map_err(|message| {
            ErrorResponse::invalid(Errors::from([("external_id".to_owned(), vec![message.to_owned()])]))
        })?;
        Ok(ExternalId(value.filter(|value| !value.is_empty()).map(str::to_owned)))
    }
}

/// The id in the path. An id with invalid UTF-8 matches no record: 404.
pub(crate) struct RecordId(pub String);

impl<S: Send + Sync> FromRequestParts<S> for RecordId {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<RecordId, ErrorResponse> {
        let Path(id) = Path::from_request_parts(parts, state).await.map_err(|_| ErrorResponse::no_record())?;
        Ok(RecordId(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<PageQuery, Vec<(String, Vec<String>)>> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let page = QueryParameters(pairs.collect()).page("limit", DEFAULT_LIMIT);
        page.map_err(|errors| errors.into_iter().collect())
    }

    #[test]
    fn absent_parameters_have_defaults_and_large_limits_are_capped() {
        assert_eq!(parse(&[]), Ok(PageQuery { page: 1, limit: 100 }));
        assert_eq!(parse(&[("page", "7"), ("limit", "20"), ("sort", "x")]), Ok(PageQuery { page: 7, limit: 20 }));
        assert_eq!(parse(&[("limit", "1001")]), Ok(PageQuery { page: 1, limit: 1000 }));
    }

    #[test]
    fn errors_of_both_parameters_are_collected() {
        for bad in ["0", "-1", "+1", "1.0", "x", "", " 1", "1e3", "٣"] {
            let errors = parse(&[("page", bad), ("limit", bad)]).expect_err(bad);
            let message = vec!["must be a whole number of at least 1".to_owned()];
            assert_eq!(errors, [("limit".to_owned(), message.clone()), ("page".to_owned(), message)], "{bad:?}");
        }
        assert_eq!(parse(&[("page", "99999999999999999999")]).expect_err("large")[0].1, ["is too large"]);
        assert_eq!(parse(&[("page", "1"), ("page", "2")]).expect_err("twice")[0].1, ["must not be repeated"]);
    }
}
