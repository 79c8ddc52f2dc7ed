//! The rate of a run: as stored with it, or of the context.

use sheetport_client::{Rate, Speed};
use sheetport_ledger::{self as ledger, RunRate, RunSettings};

use super::context::Context;
use super::error::Error;

pub(super) fn run_rate(speed: Speed) -> RunRate {
    match speed {
        Speed::Auto(_) => RunRate::Auto,
        Speed::Fixed(rate) => {
            let (requests, seconds) = rate.parts();
            RunRate::Fixed { requests, seconds }
        }
    }
}

/// Returns the rate of a run, or the rate of the context if the run has none.
pub(super) fn speed(settings: &RunSettings, context: &Context) -> Result<Option<Speed>, Error> {
    match settings.rate {
        None => Ok(context.base_url.as_deref().and_then(|url| context.speed(None, url))),
        Some(RunRate::Auto) => Ok(Some(Speed::Auto(None))),
        Some(RunRate::Fixed { requests, seconds }) => {
            let rate = Rate::new(requests, seconds).map_err(ledger::Error::Corrupt)?;
            Ok(Some(Speed::Fixed(rate)))
        }
    }
}
