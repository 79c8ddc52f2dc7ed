//! Spans of operations, and the scopes in which they are parents.

use futures_util::future::Either;
use opentelemetry::context::FutureExt as _;
use opentelemetry::trace::{SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};

use super::state::{State, state, tracer};
use crate::addresses::{page_number, url_template, without_secrets};
use crate::described::{SentRecords, Totals};

/// Number of earlier requests for the same purpose, in the context of a request.
#[derive(Debug)]
pub(super) struct Resends(pub u32);

/// A span whose children begin in futures within the scope. Does not end the span.
#[derive(Clone, Debug)]
pub struct Scope(Option<Context>);

impl Scope {
    pub(super) fn new(context: Option<Context>) -> Scope {
        Scope(context)
    }

    pub(super) fn context(&self) -> Option<&Context> {
        self.0.as_ref()
    }

    /// Runs a future in the scope.
    pub fn within<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        match &self.0 {
            Some(context) => Either::Left(future.with_context(context.clone())),
            None => Either::Right(future),
        }
    }
}

/// Returns the scope of a request in the current span, after `resends` earlier requests for the same purpose.
pub fn attempt(resends: u32) -> Scope {
    Scope(tracer().map(|_| Context::current().with_value(Resends(resends))))
}

/// Starts a span, or returns `None` without traces.
pub(super) fn started(
    name: impl Into<std::borrow::Cow<'static, str>>,
    kind: SpanKind,
    attributes: Vec<KeyValue>,
    parent: &Context,
) -> Option<Context> {
    let tracer = tracer()?;
    let span = tracer.span_builder(name).with_kind(kind).with_attributes(attributes).start_with_context(tracer, parent);
    Some(parent.with_span(span))
}

/// An operation. Ends when dropped.
#[derive(Debug)]
pub struct Span(Scope);

impl Drop for Span {
    fn drop(&mut self) {
        if let Some(context) = self.0.context() {
            context.span().end();
        }
    }
}

impl Span {
    fn start(name: impl Into<std::borrow::Cow<'static, str>>, attributes: impl FnOnce() -> Vec<KeyValue>) -> Span {
        Span::child_of(&Context::current(), name, attributes)
    }

    fn child_of(
        parent: &Context,
        name: impl Into<std::borrow::Cow<'static, str>>,
        attributes: impl FnOnce() -> Vec<KeyValue>,
    ) -> Span {
        let has_traces = tracer().is_some();
        Span(Scope(if has_traces { started(name, SpanKind::Internal, attributes(), parent) } else { None }))
    }

    /// Starts the span of a command, in the trace of the environment if there is one.
    pub fn command(name: &str) -> Span {
        let Some(State { parent, .. }) = state() else { return Span(Scope(None)) };
        Span::child_of(parent, format!("sheetport {name}"), || {
            vec![KeyValue::new("sheetport.command", name.to_owned())]
        })
    }

    /// Starts the span of reading and checking a spreadsheet.
    pub fn planning() -> Span {
        Span::start("plan", Vec::new)
    }

    /// Starts the span of sending a run, or a part of a run.
    pub fn sending(records: &SentRecords<'_>) -> Span {
        let SentRecords { run, part, kind, template, workspace, base_url } = *records;
        Span::start(if part.is_some() { "send part" } else { "send run" }, || {
            let mut attributes = vec![
                KeyValue::new("sheetport.run", run),
                KeyValue::new("sheetport.kind", kind),
                KeyValue::new("sheetport.template", template.to_owned()),
                KeyValue::new("sheetport.workspace", workspace.to_owned()),
                KeyValue::new("sheetport.base_url", without_secrets(base_url)),
            ];
            if let Some((first, last)) = part {
                attributes.push(KeyValue::new("sheetport.part.first", first + 1));
                attributes.push(KeyValue::new("sheetport.part.last", last + 1));
            }
            attributes
        })
    }

    /// Starts the span of an export of lists.
    pub fn export<'a>(lists: impl Iterator<Item = &'a str>, base_url: &str, workspace: &str) -> Span {
        Span::start("export", || {
            let lists = lists.map(|name| StringValue::from(name.to_owned())).collect();
            vec![
                KeyValue::new("sheetport.lists", Value::Array(Array::String(lists))),
                KeyValue::new("sheetport.workspace", workspace.to_owned()),
                KeyValue::new("sheetport.base_url", without_secrets(base_url)),
            ]
        })
    }

    /// Starts the span of reading a page or a record, with all requests for it.
    pub fn reading(path: &str) -> Span {
        let template = url_template(path);
        let name = template.map_or_else(|| "read".to_owned(), |template| format!("read {template}"));
        Span::start(name, || {
            let template = template.map(|template| KeyValue::new("url.template", template));
            let page = page_number(path).map(|number| KeyValue::new("sheetport.page", number));
            template.into_iter().chain(page).collect()
        })
    }

    /// Runs a future in which the span is the parent.
    pub fn within<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        self.0.within(future)
    }

    /// Records the exit code of a command.
    pub fn exit(&self, code: u8) {
        self.set([KeyValue::new("process.exit.code", i64::from(code))]);
    }

    /// Ends with what was read: rows, and records to be sent.
    pub fn planned(self, rows: u64, to_send: u64) {
        self.set([("rows", rows), ("records", to_send)].map(|(name, count)| counted(name, count)));
    }

    /// Ends with how sending ended.
    pub fn sent(self, totals: &Totals, is_stopped: bool) {
        let Totals { sent, failed, unknown, retries, throttled } = *totals;
        let counts =
            [("sent", sent), ("failed", failed), ("unknown", unknown), ("retries", retries), ("throttled", throttled)];
        self.set(counts.map(|(name, count)| counted(name, count)));
        self.set([KeyValue::new("sheetport.stopped", is_stopped)]);
        if is_stopped {
            self.failed();
        }
    }

    /// Ends with how an export ended.
    pub fn exported(self, records: u64, is_complete: bool) {
        self.set([counted("records", records), KeyValue::new("sheetport.complete", is_complete)]);
    }

    /// Marks the operation as failed. Without a description, because messages quote the spreadsheet and the service.
    pub fn failed(&self) {
        if let Some(context) = self.0.context() {
            context.span().set_status(Status::error(""));
        }
    }

    fn set<const N: usize>(&self, attributes: [KeyValue; N]) {
        if let Some(context) = self.0.context() {
            context.span().set_attributes(attributes);
        }
    }
}

fn counted(name: &str, count: u64) -> KeyValue {
    KeyValue::new(format!("sheetport.{name}"), i64::try_from(count).unwrap_or(i64::MAX))
}
