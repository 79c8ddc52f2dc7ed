//! Flags for the request rate.

use std::path::PathBuf;

use clap::Args;
use sheetport_client::Speed;
use sheetport_operations::DEFAULT_CONCURRENCY;

use super::titles::Titles;

#[derive(Args, Debug, Default)]
pub struct Pacing {
    /// Maximum request rate, such as 10/s or 600/min, or "auto" to measure the service's limit; a number alone is per
    /// second [default: that of the profile, or auto; no limit for a service on this machine]
    #[arg(long, value_name = "RATE")]
    pub rate: Option<Speed>,
    /// Number of requests in flight at the same time [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub concurrency: Option<u16>,
}

impl Pacing {
    /// Returns the number of requests in flight.
    pub fn concurrency(&self) -> u16 {
        self.concurrency.unwrap_or(DEFAULT_CONCURRENCY)
    }
}

/// How to send a run again. What is not given is as in the run.
#[derive(Args, Debug, Default)]
pub struct Sending {
    /// Maximum request rate, such as 10/s or 600/min, or "auto" to measure the service's limit; a number alone is per
    /// second [default: as in the run]
    #[arg(long, value_name = "RATE")]
    pub rate: Option<Speed>,
    /// Number of requests in flight at the same time [default: as in the run]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub concurrency: Option<u16>,
    /// Stop after more than N records were refused or are unknown [default: as in the run]
    #[arg(long, value_name = "N")]
    pub max_errors: Option<u64>,
    /// Stop after more than N records are unknown, instead of after twice as many as requests in flight in one outage [default: as in the run]
    #[arg(long, value_name = "N")]
    pub max_unknown: Option<u64>,
    /// Leave the records to `sheetport work`, on this or another machine
    #[arg(long)]
    pub queue: bool,
    /// With --queue: send the run before those of its workspace with a lower number, from -100 to 100 [default: as in the run]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i16).range(-100..=100))]
    pub priority: Option<i16>,
    /// Send records although a newer run has sent other values for the same keys
    #[arg(long)]
    pub overwrite_newer: bool,
    /// New file for the report: .xlsx, .csv or .html [default: the report of the run with a number, such as
    /// outcome-2.xlsx, or a workbook next to the file, if a row has a problem]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub titles: Titles,
    /// Leave out of the report what a supplier should not know [default: as in the run]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub for_supplier: Option<bool>,
}
