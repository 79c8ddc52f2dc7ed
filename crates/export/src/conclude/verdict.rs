//! Whether an export is complete.

use sheetport_client::pages::{Completeness, Walk};

use crate::details::ListedRecords;
use crate::job::Job;

/// Whether the file gets the requested name, and the reason.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) is_complete: bool,
    pub(super) reason: String,
    /// `--min-ratio` was requested, but no earlier export is known.
    pub(super) lacks_baseline: bool,
}

/// How a list was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Number of readings, more than one if the list changed.
    pub(crate) times: u32,
    /// All IDs were read a second time.
    pub(crate) is_verified: bool,
}

impl Verdict {
    /// Returns the verdict about the details of the listed records.
    pub(crate) fn with_details(self, listed: &ListedRecords) -> Verdict {
        let unanswered = listed.unanswered.len();
        let mut reason = self.reason;
        if unanswered > 0 {
            reason = format!("{unanswered} listed records were not found when they were requested by their IDs");
        } else if listed.unnamed > 0 {
            reason = format!("{} listed records have no ID by which their lines could be requested", listed.unnamed);
        } else if listed.gone > 0 {
            reason.push_str(&format!("; {} were removed before their lines were requested", listed.gone));
        }
        let is_complete = self.is_complete && unanswered == 0 && listed.unnamed == 0;
        Verdict { is_complete, reason, ..self }
    }

    /// Judges a walk over a list. `records_before` is the number of records in the previous export.
    pub(crate) fn new(
        job: &Job,
        completeness: &Completeness,
        walk: &Walk,
        reading: Reading,
        records_before: Option<u64>,
    ) -> Verdict {
        let incomplete = |reason: String| Verdict { is_complete: false, reason, lacks_baseline: false };
        let mut reason = match completeness {
            Completeness::TotalReached => format!("all {} records that the service lists", walk.entries),
            Completeness::ReadToEnd => "read until a page was empty; the service reports no total".to_owned(),
            Completeness::RequestedById => "every ID was requested".to_owned(),
            Completeness::Unpaged => "the service answers with all records at once".to_owned(),
            Completeness::Moved(reason) if reading.times > 1 => {
                return incomplete(format!("{reason}; it was read {} times", reading.times));
            }
            Completeness::Moved(reason) | Completeness::Unproven(reason) => return incomplete(reason.clone()),
        };
        let is_list = *completeness != Completeness::RequestedById;
        if is_list && walk.entries == 0 && !job.options.allow_empty && records_before.is_some_and(|before| before > 0) {
            let before = records_before.unwrap_or_default();
            return incomplete(format!(
                "the list is empty, but the previous export had {before} records; the previous file is kept. If that is \
                 right, add --allow-empty"
            ));
        }
        if let (Some(ratio), Some(before)) = (job.options.min_ratio, records_before)
            && (walk.entries as f64) < ratio * before as f64
        {
            return incomplete(format!(
                "the list has {} records, but the previous export had {before}: less than --min-ratio {ratio} allows; \
                 the previous file is kept",
                walk.entries
            ));
        }
        if reading.times > 1 {
            let times = reading.times;
            reason.push_str(&format!("; it changed while it was being read, so it was read {times} times"));
        }
        if reading.is_verified {
            reason.push_str("; a second pass found the same IDs");
        }
        Verdict {
            is_complete: true,
            reason,
            lacks_baseline: job.options.min_ratio.is_some() && records_before.is_none(),
        }
    }
}
