//! Without the feature `otel`: nothing is recorded, and a collector in the environment is a warning.

use std::time::Instant;

use reqwest::header::HeaderMap;
use tokio::runtime::Handle;

use super::described::{Reading, SentRecords, Totals};
use super::settings;

/// Warns if the environment names a collector. No more than that, as for settings that can't be used: whoever set the variables for all
/// programs of a machine still wants the uploads.
pub fn start(_: &Handle) {
    let reason = match settings::read(|name| std::env::var(name).ok()) {
        Ok(None) => return,
        Ok(Some(_)) => {
            "this executable is built without them; build one with: cargo install --locked --path . --features \
             keyring --features otel --features parquet --features storage; or set OTEL_SDK_DISABLED=true"
                .to_owned()
        }
        Err(reason) => reason,
    };
    tracing::warn!(reason, "traces and metrics are not exported");
}

pub fn finish() {}

pub fn inject(_: &mut HeaderMap) {}

pub fn attempt(_resends: u32) -> Scope {
    Scope
}

pub fn count_repetition(_is_throttled: bool) {}

pub fn observe(_readings: impl Fn() -> Vec<Reading> + Clone + Send + Sync + 'static) {}

#[derive(Debug)]
pub struct Scope;

impl Scope {
    pub fn within<F: Future>(&self, future: F) -> F {
        future
    }
}

#[derive(Debug)]
pub struct Span;

impl Span {
    pub fn command(_name: &str) -> Span {
        Span
    }

    pub fn planning() -> Span {
        Span
    }

    pub fn sending(_: &SentRecords<'_>) -> Span {
        Span
    }

    pub fn export<'a>(_lists: impl Iterator<Item = &'a str>, _base_url: &str, _workspace: &str) -> Span {
        Span
    }

    pub fn reading(_path: &str) -> Span {
        Span
    }

    pub fn within<F: Future>(&self, future: F) -> F {
        future
    }

    pub fn exit(&self, _code: u8) {}

    pub fn planned(self, _rows: u64, _to_send: u64) {}

    pub fn sent(self, _: &Totals, _is_stopped: bool) {}

    pub fn exported(self, _records: u64, _is_complete: bool) {}

    pub fn failed(&self) {}
}

#[derive(Debug, Default)]
pub struct RecordSpan(());

impl RecordSpan {
    pub fn of(_sheet: &str, _rows: &[u64]) -> RecordSpan {
        RecordSpan(())
    }

    pub fn attempt(&mut self, _seq: i64, _kind: &'static str, _requests: u32, _is_once: bool) -> Scope {
        Scope
    }

    pub fn answered(&mut self) {}

    pub fn settle(&mut self, _outcome: &'static str, _status: Option<u16>, _requests: u32) {}
}

#[derive(Debug)]
pub struct HttpSpan;

impl HttpSpan {
    pub fn begin(_method: &str, _base_url: &str, _path: &str, _counts_resends: bool) -> HttpSpan {
        HttpSpan
    }

    pub fn within<F: Future>(&self, future: F) -> F {
        future
    }

    pub fn end(self, _status: Option<u16>, _error: Option<&'static str>) {}
}

#[derive(Debug, Default)]
pub struct ReportedTotals(());

impl ReportedTotals {
    pub fn report(&mut self, _kind: &'static str, _totals: Totals) {}
}

#[derive(Debug, Default)]
pub struct RateWait(());

impl RateWait {
    pub fn note(&mut self, _is_permitted: bool, _now: Instant) {}
}
