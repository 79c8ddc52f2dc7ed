//! What spans and metrics are about, in plain values.

/// Records of a run to be sent by one process.
#[derive(Clone, Copy, Debug)]
pub struct SentRecords<'a> {
    pub run: i64,
    /// Positions of the first and the last record, or `None` for all records of the run.
    pub part: Option<(i64, i64)>,
    pub kind: &'static str,
    pub template: &'a str,
    pub workspace: &'a str,
    pub base_url: &'a str,
}

/// Counts since sending began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub sent: u64,
    pub failed: u64,
    pub unknown: u64,
    pub retries: u64,
    pub throttled: u64,
}

/// The current value of a metric.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Name without the prefix of the program.
    pub name: &'static str,
    pub kind: ReadingKind,
    pub help: &'static str,
    pub value: u64,
}

/// Whether the values of a metric may decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingKind {
    Gauge,
    Counter,
}

impl ReadingKind {
    /// Returns the name of the type in the text format of Prometheus.
    pub fn name(self) -> &'static str {
        match self {
            ReadingKind::Gauge => "gauge",
            ReadingKind::Counter => "counter",
        }
    }
}
