//! The texts of operations, and examples of their requests and responses in the demo workspace: by the id of the operation, and errors by
//! their status. A test sends the requests and compares the responses.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Texts {
    pub(super) tag: String,
    pub(super) summary: String,
    pub(super) description: Option<String>,
    pub(super) request: Option<Value>,
    pub(super) response: Option<Value>,
    /// The operation with the same request and response.
    same_as: Option<String>,
}

#[derive(Deserialize)]
struct TextsFile {
    operations: HashMap<String, Texts>,
    errors: HashMap<String, Value>,
}

static FILE: LazyLock<TextsFile> = LazyLock::new(|| {
    serde_json::from_str(include_str!("operations.json")).expect("the file is compiled in, and a test reads it")
});

/// Returns the texts of an operation.
pub(super) fn of(operation: &str) -> &'static Texts {
    &FILE.operations[operation]
}

/// Returns the texts with the examples of an operation.
pub(super) fn examples(operation: &str) -> &'static Texts {
    let texts = of(operation);
    texts.same_as.as_deref().map_or(texts, of)
}

/// Returns the body of an error response with this status.
pub(super) fn error(status: &str) -> Option<&'static Value> {
    FILE.errors.get(status)
}
