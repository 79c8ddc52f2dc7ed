//! With the feature `otel`: spans and metrics for the collector in the environment.

mod collector;
mod counts;
mod http;
mod instruments;
mod rate_wait;
mod record;
mod span;
mod state;

pub use counts::{ReportedTotals, count_repetition, observe};
pub use http::{HttpSpan, inject};
pub use rate_wait::RateWait;
pub use record::RecordSpan;
pub use span::{Scope, Span, attempt};
pub use state::{finish, start};
