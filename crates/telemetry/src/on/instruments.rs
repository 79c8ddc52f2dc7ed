//! The instruments of all metrics.

use opentelemetry::metrics::{Counter, Histogram, Meter};

/// The boundaries of the semantic conventions, in seconds.
const HTTP_BOUNDARIES: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];
const WAIT_BOUNDARIES: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0];

/// The metrics of requests and records.
#[derive(Debug)]
pub(super) struct Instruments {
    pub meter: Meter,
    pub http: Histogram<f64>,
    pub rate_wait: Histogram<f64>,
    pub records: Counter<u64>,
    pub retries: Counter<u64>,
    pub throttled: Counter<u64>,
}

impl Instruments {
    pub(super) fn new(meter: Meter) -> Instruments {
        let seconds = |name: &'static str, help: &'static str, boundaries: &[f64]| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(help);
            histogram.with_boundaries(boundaries.to_vec()).build()
        };
        let count = |name: &'static str, unit: &'static str, help: &'static str| {
            meter.u64_counter(name).with_unit(unit).with_description(help).build()
        };
        Instruments {
            http: seconds("http.client.request.duration", "Duration of requests to the service", &HTTP_BOUNDARIES),
            rate_wait: seconds("sheetport.rate.wait", "Times without a request because of the rate", &WAIT_BOUNDARIES),
            records: count("sheetport.records", "{record}", "Records sent, by outcome"),
            retries: count("sheetport.retries", "{request}", "Repetitions after a failure"),
            throttled: count("sheetport.throttled", "{request}", "Answers 429"),
            meter,
        }
    }
}
