//! Traces and metrics for a collector of OpenTelemetry, with the feature `otel`.
//!
//! Both implementations have the same interface. Without the feature, all types are empty and all functions do nothing, so the default
//! executable is the same as without the calls, but [`start`] warns if the environment names a collector. With the feature, they do nothing
//! until [`start`] finds one.
//! Nothing else depends on the feature.
//!
//! | file or folder | purpose |
//! |---|---|
//! | `off.rs`, `on/` | the two implementations, with the same functions |
//! | `described.rs` | what spans and metrics are about, in plain values |
//! | `addresses.rs` | addresses without ids and secrets |
//! | `settings.rs` | environment variables not applied by the libraries |
//!
//! A span is the parent of all spans that begin within its [`Scope`]. Therefore no function passes spans on, except where a task is
//! spawned: `send` gives each attempt the scope of its record. A `Job` there owns the span of its record until the job is settled
//! or dropped. `Client::send` makes the span of a request, and the transport writes it into the header `traceparent`, only for the service
//! of the records. The counters of records are the differences of `send::Progress`; counts of a worker are read from the counters for
//! Prometheus. Futures passed to `within` are boxed unless they are small: each move of a future can double its size, and deep calls would
//! not fit the stack of a thread.
//!
//! The spans are made directly, not from the spans of `tracing`, to be absent in the log lines and in other builds. The
//! libraries export on own threads, through `on/collector.rs` and reqwest on our runtime, so no second HTTP client and
//! no gRPC are built. Only the first failure is a warning. The executable starts the exporter with the runtime, and ends the export within five
//! seconds.
//!
//! Tokens, bodies, keys of records and addresses with ids are never recorded.

// The tests of both builds include this one.
#[cfg(any(test, feature = "otel"))]
mod addresses;
mod described;
#[cfg(not(feature = "otel"))]
mod off;
#[cfg(feature = "otel")]
mod on;
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
