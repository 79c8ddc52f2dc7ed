//! The standard environment variables of OpenTelemetry that its libraries don't apply themselves.

use std::time::Duration;

use reqwest::Url;

/// Time for an export if the environment has none.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The encoding of exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Protobuf,
    Json,
}

/// Where traces and metrics go.
#[cfg_attr(
    not(feature = "otel"),
    allow(dead_code, reason = "without the feature it only matters whether something is exported")
)]
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// `None`: no traces.
    pub traces: Option<Protocol>,
    /// `None`: no metrics.
    pub metrics: Option<Protocol>,
    /// Whether requests to the service carry the trace.
    pub propagates: bool,
    pub timeout: Duration,
    /// The trace that a command continues: `traceparent` and `tracestate`.
    pub parent: (Option<String>, Option<String>),
    /// Whether the size of the queue is the default.
    pub has_default_queue: bool,
}

/// Reads the settings from variables. Returns `None` if nothing is exported. Like all programs with OpenTelemetry, treats an empty
/// variable like a missing one.
///
/// # Errors
/// A sentence about a variable, without its value if that may contain a secret.
pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Settings>, String> {
    let variable = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    let traces = signal("TRACES", &variable)?;
    let metrics = signal("METRICS", &variable)?;
    if traces.is_none() && metrics.is_none() {
        return Ok(None);
    }
    let propagators = variable("OTEL_PROPAGATORS");
    let is_trace_context = |name: &str| name.trim().eq_ignore_ascii_case("tracecontext");
    let millis = variable("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|millis| millis.parse().ok());
    Ok(Some(Settings {
        traces,
        metrics,
        propagates: propagators.is_none_or(|names| names.split(',').any(is_trace_context)),
        timeout: millis.map_or(TIMEOUT, Duration::from_millis),
        parent: (variable("TRACEPARENT"), variable("TRACESTATE")),
        has_default_queue: variable("OTEL_BSP_MAX_QUEUE_SIZE").is_none(),
    }))
}

/// Returns the protocol of a signal, or `None` if the signal is not exported.
fn signal(name: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Protocol>, String> {
    let either =
        |own: &str, general: &str| [own, general].into_iter().find_map(|name| Some((name.to_owned(), variable(name)?)));
    let own_endpoint = format!("OTEL_EXPORTER_OTLP_{name}_ENDPOINT");
    let Some((from, endpoint)) = either(&own_endpoint, "OTEL_EXPORTER_OTLP_ENDPOINT") else { return Ok(None) };
    let exporter = format!("OTEL_{name}_EXPORTER");
    match variable(&exporter).as_deref() {
        Some("none") => return Ok(None),
        None | Some("otlp") => {}
        Some(_) => return Err(format!("{exporter} must be otlp or none")),
    }
    if !Url::parse(&endpoint).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
        return Err(format!("{from} is not a valid http or https address"));
    }
    let own_protocol = format!("OTEL_EXPORTER_OTLP_{name}_PROTOCOL");
    match either(&own_protocol, "OTEL_EXPORTER_OTLP_PROTOCOL") {
        None => Ok(Some(Protocol::Protobuf)),
        Some((from, protocol)) => match protocol.as_str() {
            "http/protobuf" => Ok(Some(Protocol::Protobuf)),
            "http/json" => Ok(Some(Protocol::Json)),
            _ => Err(format!("{from} must be http/protobuf or http/json, which collectors accept on port 4318")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<Option<Settings>, String> {
        read(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");

    #[test]
    fn nothing_is_exported_without_an_endpoint() {
        assert_eq!(settings(&[]), Ok(None));
        assert_eq!(settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]), Ok(None));
        assert_eq!(settings(&[("OTEL_TRACES_EXPORTER", "otlp"), ("OTEL_SERVICE_NAME", "x")]), Ok(None));
    }

    #[test]
    fn variables_switch_signals_off() {
        let signals = |more: &[(&str, &str)]| {
            let found = settings(&[&[ENDPOINT], more].concat()).expect("valid");
            found.map(|found| (found.traces.is_some(), found.metrics.is_some(), found.propagates))
        };
        assert_eq!(signals(&[]), Some((true, true, true)));
        assert_eq!(signals(&[("OTEL_SDK_DISABLED", "True")]), None);
        assert_eq!(signals(&[("OTEL_SDK_DISABLED", "false")]), Some((true, true, true)));
        assert_eq!(signals(&[("OTEL_TRACES_EXPORTER", "none")]), Some((false, true, true)));
        assert_eq!(signals(&[("OTEL_METRICS_EXPORTER", "none")]), Some((true, false, true)));
        assert_eq!(signals(&[("OTEL_PROPAGATORS", "none")]), Some((true, true, false)));
        assert_eq!(signals(&[("OTEL_PROPAGATORS", "baggage, tracecontext")]), Some((true, true, true)));
        let both = [("OTEL_TRACES_EXPORTER", "none"), ("OTEL_METRICS_EXPORTER", "none")];
        assert_eq!(signals(&both), None);
        let only_traces = settings(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://x/v1/traces")]).expect("valid");
        assert_eq!(only_traces.map(|found| found.metrics), Some(None));
    }

    #[test]
    fn the_protocol_is_protobuf_unless_json_is_named() {
        let protocol = |more: &[(&str, &str)]| {
            settings(&[&[ENDPOINT], more].concat()).map(|found| found.and_then(|found| found.traces))
        };
        assert_eq!(protocol(&[]), Ok(Some(Protocol::Protobuf)));
        assert_eq!(protocol(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")]), Ok(Some(Protocol::Json)));
        let own = [("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json")];
        let refused = protocol(&own).expect_err("metrics have no protocol of their own");
        assert!(refused.starts_with("OTEL_EXPORTER_OTLP_PROTOCOL must be"), "{refused}");
    }

    #[test]
    fn a_wrong_endpoint_is_refused_without_its_value() {
        for endpoint in ["localhost:4318", "user:secret@host", "grpc://secret"] {
            let refused = settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)]).expect_err(endpoint);
            assert_eq!(refused, "OTEL_EXPORTER_OTLP_ENDPOINT is not a valid http or https address");
        }
    }
}
