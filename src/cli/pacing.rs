//! Flags for the request rate.

use clap::Args;

use crate::client::Speed;

const DEFAULT_CONCURRENCY: u16 = 8;

#[derive(Args, Debug)]
pub struct Pacing {
    /// Maximum request rate, such as 10/s or 600/min, or "auto" to measure the service's limit
    #[arg(long, value_name = "RATE")]
    pub rate: Option<Speed>,
    /// Number of requests in flight at the same time
    #[arg(long, value_name = "N", default_value_t = DEFAULT_CONCURRENCY, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub concurrency: u16,
}

impl Default for Pacing {
    fn default() -> Pacing {
        Pacing { rate: None, concurrency: DEFAULT_CONCURRENCY }
    }
}
