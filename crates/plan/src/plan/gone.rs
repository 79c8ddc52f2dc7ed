//! A record of the service that the file lacks.

/// A record to plan that no row of the file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoneRecord {
    pub key: Box<str>,
    /// The body of the request: the key, and the fields to set.
    pub body: Box<str>,
}
