//! Comparison with the last accepted run of the same template.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Profile;
use super::change::changes;
use crate::ledger::{self, Ledger};
use crate::records::RecordKind;
use crate::upload::Tally;

/// Adds a warning for each change against the last run of the template that the service has accepted records of.
///
/// # Errors
/// [`ledger::Error::Corrupt`] for a profile that can't be read.
pub async fn warn_of_changes(
    ledger: &Ledger,
    template: &str,
    record: RecordKind,
    tally: &mut Tally,
) -> Result<(), ledger::Error> {
    let Some(stored) = ledger.latest_profile(template, record).await? else { return Ok(()) };
    let earlier: Profile = serde_json::from_str(&stored.profile)
        .map_err(|error| ledger::Error::Corrupt(format!("the profile of run {}: {error}", stored.run)))?;
    let day = Timestamp::from_millisecond(stored.at).map(|at| at.to_zoned(TimeZone::system()).date().to_string());
    let run = match day {
        Ok(day) => format!("run {} of {day}", stored.run),
        Err(_) => format!("run {}", stored.run),
    };
    for warning in changes(&tally.profile, &earlier, &run) {
        tally.warn_of_file(warning);
    }
    Ok(())
}
