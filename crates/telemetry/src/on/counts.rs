//! Counters of records, repetitions and workers.

use opentelemetry::KeyValue;

use super::instruments::Instruments;
use super::state::instruments;
use crate::described::{Reading, ReadingKind, Totals};

/// Counts a repetition of a read: after a 429, or after a failure.
pub fn count_repetition(is_throttled: bool) {
    if let Some(instruments) = instruments() {
        let counter = if is_throttled { &instruments.throttled } else { &instruments.retries };
        counter.add(1, &[KeyValue::new("sheetport.purpose", "read")]);
    }
}

/// The counts that are in the metrics already.
#[derive(Debug, Default)]
pub struct ReportedTotals(Totals);

impl ReportedTotals {
    /// Adds what is new in `totals` to the metrics.
    pub fn report(&mut self, kind: &'static str, totals: Totals) {
        let Some(instruments) = instruments() else { return };
        let before = std::mem::replace(&mut self.0, totals);
        let kind = KeyValue::new("sheetport.kind", kind);
        let outcomes = [
            ("sent", before.sent, totals.sent),
            ("failed", before.failed, totals.failed),
            ("unknown", before.unknown, totals.unknown),
        ];
        for (outcome, before, now) in outcomes.into_iter().filter(|(_, before, now)| now > before) {
            instruments.records.add(now - before, &[kind.clone(), KeyValue::new("sheetport.outcome", outcome)]);
        }
        let purpose = KeyValue::new("sheetport.purpose", "send");
        let repeated = [
            (&instruments.retries, before.retries, totals.retries),
            (&instruments.throttled, before.throttled, totals.throttled),
        ];
        for (counter, before, now) in repeated.into_iter().filter(|(_, before, now)| now > before) {
            counter.add(now - before, &[kind.clone(), purpose.clone()]);
        }
    }
}

/// Exports counters of a worker, which `readings` returns in the same order each time.
pub fn observe(readings: impl Fn() -> Vec<Reading> + Clone + Send + Sync + 'static) {
    let Some(Instruments { meter, .. }) = instruments() else { return };
    for (index, Reading { name, kind, help, .. }) in readings().into_iter().enumerate() {
        let name = format!("sheetport.worker.{}", name.trim_end_matches("_total"));
        let readings = readings.clone();
        let value = move || readings().get(index).map(|reading| reading.value);
        // The meter keeps the callbacks; the instruments themselves are not needed.
        match kind {
            ReadingKind::Gauge => {
                let gauge = meter.u64_observable_gauge(name).with_description(help);
                gauge
                    .with_callback(move |observer| value().into_iter().for_each(|value| observer.observe(value, &[])))
                    .build();
            }
            ReadingKind::Counter => {
                let counter = meter.u64_observable_counter(name).with_description(help);
                counter
                    .with_callback(move |observer| value().into_iter().for_each(|value| observer.observe(value, &[])))
                    .build();
            }
        }
    }
}
