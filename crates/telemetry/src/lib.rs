//! Traces and metrics for a collector of OpenTelemetry, with the feature `otel`.
//!
//! Both implementations have the same interface. Without the feature, all types are empty and all functions do nothing. With the
//! feature, they do nothing until [`start`] finds a collector in the environment.
//!
//! A span is the parent of all spans that begin within its [`Scope`]. Futures passed to `within` are boxed unless they are small: each
//! move of a future can double its size, and deep calls would not fit the stack of a thread.
//!
//! Tokens, bodies, keys of records and addresses with ids are never recorded.

// The tests of both builds include these two.
#[cfg(any(test, feature = "otel"))]
mod addresses;
mod described;
#[cfg(not(feature = "otel"))]
mod off;
#[cfg(feature = "otel")]
mod on;
#[cfg(any(test, feature = "otel"))]
mod settings;

pub use described::{Reading, ReadingKind, SentRecords, Totals};
#[cfg(not(feature = "otel"))]
pub use off::{
    HttpSpan, RateWait, RecordSpan, ReportedTotals, Scope, Span, attempt, count_repetition, finish, inject, observe,
    start,
};
#[cfg(feature = "otel")]
pub use on::{
    HttpSpan, RateWait, RecordSpan, ReportedTotals, Scope, Span, attempt, count_repetition, finish, inject, observe,
    start,
};
