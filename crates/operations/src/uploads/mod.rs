//! Uploads of spreadsheets and reports, and everything that can be learned about them without sending.

pub(crate) mod changes_file;
pub mod check;
mod compare;
mod explain;
mod fate;
mod find_sample;
mod first_changes;
mod missing;
mod plan_changes;
mod preview;
mod rehearsal;
mod retry_report;
mod upload;
mod uploaded_report;

pub use check::{Check, CheckedFile, check};
pub use compare::ComparePace;
pub(super) use compare::{compare_keys, look_up_for_check};
pub use explain::{ColumnExplanation, ExplainedRecord, Explanation, PlannedOutcome, RowName, explain, explain_column};
pub use fate::Fate;
pub(super) use fate::{first_problem, is_sent_before};
pub use find_sample::{SAMPLE_NAME, Sample, find_sample};
pub use first_changes::FirstChange;
pub use missing::{MissingFlags, NotPlanned, PlannedMissing};
pub use plan_changes::{PlannedChanges, plan_changes};
pub(super) use preview::warn_of_changes;
pub use preview::{Preview, PreviewedRequest};
pub use rehearsal::{Forecast, Rehearsal, RehearsalRecords, Rehearsed};
pub(super) use retry_report::open_report;
pub use retry_report::{RetryReport, preview_retry, retry_report};
pub use upload::{Questions, Upload, preview_upload, rehearse_upload, upload};
pub(super) use uploaded_report::{UploadedReport, run_of_report, uploaded_report};
