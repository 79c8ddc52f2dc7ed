//! Maps errors of the library to our errors.

use super::address::ObjectAddress;
use crate::error::Error;

/// The S3 error code for a missing bucket. The library does not distinguish this from other errors of listing.
const NO_BUCKET: &str = "NoSuchBucket";
/// Maximum length of a displayed reason, in characters.
const MAX_REASON: usize = 300;

/// Returns the error for an operation on an object.
pub(super) fn failure(address: &ObjectAddress, action: &'static str, error: &object_store::Error) -> Error {
    use object_store::Error as E;
    let address = address.clone();
    match error {
        E::NotFound { .. } => Error::NotFound { address },
        E::AlreadyExists { .. } => Error::Exists { address },
        E::Precondition { .. } => Error::Changed { address },
        E::PermissionDenied { .. } | E::Unauthenticated { .. } => {
            Error::Denied { address, action, reason: reason(error) }
        }
        _ => match reason(error) {
            missing if missing.starts_with(NO_BUCKET) => Error::NotFound { address },
            reason => Error::Failed { address, action, reason },
        },
    }
}

/// Returns the answer of the service, or the root cause.
pub(super) fn reason(error: &object_store::Error) -> String {
    let mut causes = vec![error.to_string()];
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    // Errors of S3 and Azure are XML.
    let answer = causes.iter().find_map(|cause| {
        let (code, message) = (element(cause, "Code")?, element(cause, "Message"));
        Some(message.map_or_else(|| code.to_owned(), |message| format!("{code}: {message}")))
    });
    let reason = answer.or_else(|| causes.pop()).unwrap_or_default();
    let reason = reason.trim_end().trim_end_matches(':');
    reason.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_REASON).collect()
}

/// Returns the text of the first element with this name.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (content, _) = rest.split_once('<')?;
    (!content.trim().is_empty()).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_the_service_is_shown() {
        let answer = "403 Forbidden: <?xml?><Error><Code>AccessDenied</Code><Message>Access\nDenied</Message>\
                      <AWSAccessKeyId>AKIA123</AWSAccessKeyId></Error>";
        let error = object_store::Error::Generic { store: "S3", source: answer.into() };
        assert_eq!(reason(&error), "AccessDenied: Access Denied");
        let error = object_store::Error::Generic { store: "S3", source: "connection refused".into() };
        assert_eq!(reason(&error), "connection refused");
    }
}
