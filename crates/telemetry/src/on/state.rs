//! The one exporter of the process: start, access, end.

use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracer, SdkTracerProvider};
use tokio::runtime::Handle;

use super::collector::Collector;
use super::instruments::Instruments;
use crate::settings::{self, Protocol, Settings};

/// Name of the program in traces and metrics.
const SCOPE: &str = "sheetport";
/// Maximum time at the end for traces and metrics that are not exported yet.
const FLUSH: Duration = Duration::from_secs(5);
/// Ended spans that wait for their export; further spans are lost. The default of the library is 2,048, which is less than a second
/// of a fast upload.
const QUEUE: usize = 16_384;

static STATE: OnceLock<State> = OnceLock::new();

/// The exporter.
#[derive(Debug)]
pub(super) struct State {
    pub tracer: Option<SdkTracer>,
    pub instruments: Option<Instruments>,
    /// Whether requests to the service carry the trace.
    pub propagates: bool,
    /// The trace that a command continues.
    pub parent: Context,
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
    collector: Collector,
}

/// Returns the exporter, or `None` if nothing is exported.
pub(super) fn state() -> Option<&'static State> {
    STATE.get()
}

/// Returns the metrics, or `None` if no metrics are exported.
pub(super) fn instruments() -> Option<&'static Instruments> {
    state()?.instruments.as_ref()
}

/// Returns what makes spans, or `None` if no traces are exported.
pub(super) fn tracer() -> Option<&'static SdkTracer> {
    state()?.tracer.as_ref()
}

/// Starts the export of traces and metrics, if the environment names a collector. Settings that can't be used are a warning.
pub fn start(runtime: &Handle) {
    let started = match settings::read(|name| std::env::var(name).ok()) {
        Ok(None) => return,
        Ok(Some(settings)) => State::new(&settings, runtime.clone()),
        Err(reason) => Err(reason),
    };
    match started {
        // Called once in a process.
        Ok(state) => drop(STATE.set(state)),
        Err(reason) => tracing::warn!(reason, "traces and metrics are not exported"),
    }
}

/// Exports what is left, within [`FLUSH`]. Nothing can be recorded any more. Needs a running runtime.
pub fn finish() {
    let Some(State { traces, metrics, collector, .. }) = state() else { return };
    let deadline = Instant::now() + FLUSH;
    let (done, ended) = channel();
    // Each waits for the collector on its own thread. A thread that is still waiting then ends with the process.
    if let Some(traces) = traces.clone() {
        let done = done.clone();
        thread::spawn(move || done.send(traces.shutdown_with_timeout(FLUSH).is_ok()));
    }
    if let Some(metrics) = metrics.clone() {
        let done = done.clone();
        thread::spawn(move || done.send(metrics.shutdown_with_timeout(FLUSH).is_ok()));
    }
    drop(done);
    while let Some(left) = deadline.checked_duration_since(Instant::now()) {
        match ended.recv_timeout(left) {
            Ok(true) => {}
            Ok(false) => collector.warn("not everything could be exported"),
            // Both have ended.
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => break,
        }
    }
    collector.warn("no answer in time");
}

impl State {
    fn new(settings: &Settings, runtime: Handle) -> Result<State, String> {
        let collector = Collector::new(runtime, settings.timeout).map_err(|_| "TLS can't be used".to_owned())?;
        // The error may quote the endpoint.
        let unusable = |_: ExporterBuildError| "check the variables that begin with OTEL_EXPORTER_OTLP".to_owned();
        let resource = resource();
        let mut traces = None;
        if let Some(protocol) = settings.traces {
            let exporter = SpanExporter::builder().with_http().with_protocol(otlp(protocol));
            let exporter = exporter.with_http_client(collector.clone()).build().map_err(unusable)?;
            let mut batches = BatchConfigBuilder::default();
            if settings.has_default_queue {
                batches = batches.with_max_queue_size(QUEUE);
            }
            let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches.build()).build();
            let provider = SdkTracerProvider::builder().with_span_processor(processor);
            traces = Some(provider.with_resource(resource.clone()).build());
        }
        let mut metrics = None;
        if let Some(protocol) = settings.metrics {
            let exporter = MetricExporter::builder().with_http().with_protocol(otlp(protocol));
            let exporter = exporter.with_http_client(collector.clone()).build().map_err(unusable)?;
            metrics =
                Some(SdkMeterProvider::builder().with_periodic_exporter(exporter).with_resource(resource).build());
        }
        Ok(State {
            tracer: traces.as_ref().map(|provider| provider.tracer(SCOPE)),
            instruments: metrics.as_ref().map(|provider| Instruments::new(provider.meter(SCOPE))),
            propagates: settings.propagates && traces.is_some(),
            parent: parent(settings),
            traces,
            metrics,
            collector,
        })
    }
}

fn otlp(protocol: Protocol) -> opentelemetry_otlp::Protocol {
    match protocol {
        Protocol::Protobuf => opentelemetry_otlp::Protocol::HttpBinary,
        Protocol::Json => opentelemetry_otlp::Protocol::HttpJson,
    }
}

/// Returns the context with the trace of the environment.
fn parent(settings: &Settings) -> Context {
    let (trace, state) = &settings.parent;
    let carrier = [("traceparent", trace), ("tracestate", state)].into_iter();
    let carrier = carrier.filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
    let carrier: std::collections::HashMap<String, String> = carrier.collect();
    TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier)
}

/// Returns what identifies this process. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` replace the defaults.
fn resource() -> Resource {
    let defaults = [
        KeyValue::new("service.name", SCOPE),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        // Counters of several workers must not be mixed up.
        KeyValue::new("service.instance.id", uuid::Uuid::now_v7().to_string()),
    ];
    let builder = Resource::builder_empty().with_attributes(defaults);
    let builder = builder.with_detector(Box::new(TelemetryResourceDetector));
    let builder = builder.with_detector(Box::new(EnvResourceDetector::new()));
    match std::env::var("OTEL_SERVICE_NAME").ok().filter(|name| !name.is_empty()) {
        Some(name) => builder.with_service_name(name).build(),
        None => builder.build(),
    }
}
