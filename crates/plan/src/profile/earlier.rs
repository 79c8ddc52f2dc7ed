//! Comparison with the last accepted runs of the same template.

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use sheetport_ledger::{self as ledger, Ledger, Problem, StoredProfile};
use sheetport_records::RecordKind;
use sheetport_values::date::local_zone;

use super::Profile;
use super::change::changes;
use crate::Tally;

/// Number of earlier runs. Several files may take turns, such as the lists of two suppliers, and the last run may be the
/// retry of a few rows.
const RUNS: u32 = 5;

/// Adds a warning for each change since the most similar of the template's last runs with accepted records.
///
/// # Errors
/// [`ledger::Error::Corrupt`] for an unreadable profile.
pub fn warn_of_changes<'a>(
    ledger: &'a Ledger,
    template: &'a str,
    record: RecordKind,
    tally: &'a mut Tally,
) -> BoxFuture<'a, Result<(), ledger::Error>> {
    Box::pin(async move {
        let mut least: Option<Vec<Problem>> = None;
        for stored in ledger.latest_profiles(template, record, RUNS).await? {
            let earlier: Profile = serde_json::from_str(&stored.profile)
                .map_err(|error| ledger::Error::Corrupt(format!("the profile of run {}: {error}", stored.run)))?;
            let found = changes(&tally.profile, &earlier, &name_of(&stored));
            // Of equally similar runs, the newest counts.
            if least.as_ref().is_none_or(|least| found.len() < least.len()) {
                least = Some(found);
            }
        }
        for warning in least.into_iter().flatten() {
            tally.warn_of_file(warning);
        }
        Ok(())
    })
}

/// Returns the number and date of a run.
fn name_of(stored: &StoredProfile) -> String {
    let day = Timestamp::from_millisecond(stored.at).map(|at| at.to_zoned(local_zone()).date().to_string());
    match day {
        Ok(day) => format!("run {} of {day}", stored.run),
        Err(_) => format!("run {}", stored.run),
    }
}
