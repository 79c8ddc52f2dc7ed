//! Requests to the service: spans and durations by the semantic conventions for HTTP clients, and the trace in their headers.

use std::time::Instant;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{SpanKind, Status, TraceContextExt as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::HeaderInjector;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use reqwest::Url;
use reqwest::header::HeaderMap;

use super::span::{Resends, Scope, started};
use super::state::{instruments, state};
use crate::addresses::url_template;

/// Adds the current trace to the headers of a request, unless nothing is exported.
pub fn inject(headers: &mut HeaderMap) {
    if state().is_some_and(|state| state.propagates) {
        TraceContextPropagator::new().inject(&mut HeaderInjector(headers));
    }
}

/// A request. Ends as given up when dropped.
#[derive(Debug)]
pub struct HttpSpan(Option<Sent>);

#[derive(Debug)]
struct Sent {
    scope: Scope,
    began: Instant,
    /// Of the span and of the metric.
    attributes: Vec<KeyValue>,
}

impl HttpSpan {
    /// Starts a request in the current span. `counts_resends`: the request has the purpose of the scope.
    pub fn begin(method: &str, base_url: &str, path: &str, counts_resends: bool) -> HttpSpan {
        if state().is_none() {
            return HttpSpan(None);
        }
        let mut attributes = vec![KeyValue::new("http.request.method", method.to_owned())];
        if let Ok(url) = Url::parse(base_url) {
            attributes.push(KeyValue::new("url.scheme", url.scheme().to_owned()));
            if let Some(host) = url.host_str() {
                attributes.push(KeyValue::new("server.address", host.trim_matches(['[', ']']).to_owned()));
            }
            if let Some(port) = url.port_or_known_default() {
                attributes.push(KeyValue::new("server.port", i64::from(port)));
            }
        }
        let template = url_template(path);
        attributes.extend(template.map(|template| KeyValue::new("url.template", template)));
        let name = template.map_or_else(|| method.to_owned(), |template| format!("{method} {template}"));
        let parent = Context::current();
        let resends = parent.get::<Resends>().map(|Resends(resends)| *resends);
        let resends = resends.filter(|resends| counts_resends && *resends > 0);
        let resends = resends.map(|resends| KeyValue::new("http.request.resend_count", i64::from(resends)));
        let of_span = attributes.iter().cloned().chain(resends).collect();
        let scope = Scope::new(started(name, SpanKind::Client, of_span, &parent));
        HttpSpan(Some(Sent { scope, began: Instant::now(), attributes }))
    }

    /// Runs the request, in whose headers [`inject`] writes this span.
    pub fn within<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        let scope = self.0.as_ref().map_or_else(|| Scope::new(None), |sent| sent.scope.clone());
        scope.within(future)
    }

    /// Ends the request with the status of the answer, or the reason why there is no complete answer.
    pub fn end(mut self, status: Option<u16>, error: Option<&'static str>) {
        if let Some(sent) = self.0.take() {
            sent.end(status, error);
        }
    }
}

impl Drop for HttpSpan {
    fn drop(&mut self) {
        if let Some(sent) = self.0.take() {
            sent.end(None, Some("cancelled"));
        }
    }
}

impl Sent {
    fn end(self, status: Option<u16>, error: Option<&'static str>) {
        let Sent { scope, began, mut attributes } = self;
        let mut of_answer = Vec::new();
        if let Some(status) = status {
            of_answer.push(KeyValue::new("http.response.status_code", i64::from(status)));
        }
        let error =
            error.map(str::to_owned).or_else(|| status.filter(|status| *status >= 400).map(|code| code.to_string()));
        let is_error = error.is_some();
        of_answer.extend(error.map(|error| KeyValue::new("error.type", error)));
        if let Some(context) = scope.context() {
            let span = context.span();
            span.set_attributes(of_answer.iter().cloned());
            if is_error {
                span.set_status(Status::error(""));
            }
            span.end();
        }
        if let Some(instruments) = instruments() {
            attributes.append(&mut of_answer);
            instruments.http.record(began.elapsed().as_secs_f64(), &attributes);
        }
    }
}
