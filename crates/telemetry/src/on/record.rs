//! The span of a record: from the first request until the outcome.

use opentelemetry::trace::{SpanKind, Status, TraceContextExt as _};
use opentelemetry::{Context, KeyValue};

use super::span::{Resends, Scope, started};
use super::state::tracer;

/// A record to be sent. Its span begins with the first request, and ends when the record is settled or dropped.
#[derive(Debug, Default)]
pub struct RecordSpan(Option<Box<Traced>>);

#[derive(Debug)]
struct Traced {
    /// Empty unless the run reads several sheets.
    sheet: String,
    /// Number of the first row.
    row: Option<u64>,
    rows: usize,
    span: Option<Context>,
    /// Whether a call that must not be repeated is in flight.
    is_in_doubt: bool,
}

impl RecordSpan {
    /// Remembers where a record comes from.
    pub fn of(sheet: &str, rows: &[u64]) -> RecordSpan {
        let has_traces = tracer().is_some();
        RecordSpan(has_traces.then(|| {
            let (row, rows) = (rows.first().copied(), rows.len());
            Box::new(Traced { sheet: sheet.to_owned(), row, rows, span: None, is_in_doubt: false })
        }))
    }

    /// Returns the scope of a request, after `requests` earlier ones. The first request starts the span, in the current span. `seq` is
    /// the position in the run. `is_once`: the request must not be repeated.
    pub fn attempt(&mut self, seq: i64, kind: &'static str, requests: u32, is_once: bool) -> Scope {
        let Some(traced) = &mut self.0 else { return Scope::new(None) };
        traced.is_in_doubt = is_once;
        if traced.span.is_none() {
            let attributes = traced.attributes(seq, kind);
            traced.span = started("send record", SpanKind::Internal, attributes, &Context::current());
        }
        Scope::new(traced.span.as_ref().map(|span| span.with_value(Resends(requests))))
    }

    /// Notes that no request is in flight.
    pub fn answered(&mut self) {
        if let Some(traced) = &mut self.0 {
            traced.is_in_doubt = false;
        }
    }

    /// Ends the span with the outcome, the status of the last answer, and the number of requests.
    pub fn settle(&mut self, outcome: &'static str, status: Option<u16>, requests: u32) {
        let Some(traced) = self.0.take() else { return };
        let requests = Some(KeyValue::new("sheetport.requests", i64::from(requests)));
        let status = status.map(|status| KeyValue::new("http.response.status_code", i64::from(status)));
        traced.end(outcome, requests.into_iter().chain(status));
    }
}

impl Drop for RecordSpan {
    fn drop(&mut self) {
        if let Some(traced) = self.0.take() {
            let outcome = if traced.is_in_doubt { "unknown" } else { "pending" };
            traced.end(outcome, None);
        }
    }
}

impl Traced {
    fn attributes(&self, seq: i64, kind: &'static str) -> Vec<KeyValue> {
        let mut attributes = vec![KeyValue::new("sheetport.record", seq + 1), KeyValue::new("sheetport.kind", kind)];
        if let Some(row) = self.row.and_then(|row| i64::try_from(row).ok()) {
            attributes.push(KeyValue::new("sheetport.row", row));
        }
        if self.rows > 1 {
            attributes.push(KeyValue::new("sheetport.rows", i64::try_from(self.rows).unwrap_or(i64::MAX)));
        }
        if !self.sheet.is_empty() {
            attributes.push(KeyValue::new("sheetport.sheet", self.sheet.clone()));
        }
        attributes
    }

    fn end(self, outcome: &'static str, attributes: impl IntoIterator<Item = KeyValue>) {
        let Some(context) = self.span else { return };
        let span = context.span();
        span.set_attributes(attributes);
        span.set_attribute(KeyValue::new("sheetport.outcome", outcome));
        if matches!(outcome, "failed" | "unknown") {
            span.set_status(Status::error(""));
        }
        span.end();
    }
}
