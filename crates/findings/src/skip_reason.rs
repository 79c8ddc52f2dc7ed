//! Why a record is skipped. The ledger stores the reasons.

use serde::{Deserialize, Serialize};

/// Why a valid record is skipped. New reasons are added at the end: the ledger stores their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SkipReason {
    /// `skip_where` of the template holds.
    SkipWhere,
    /// `keep_where` of the template does not hold.
    KeepWhere,
    RepeatedHeader,
    /// Sent before, according to the status column of a report.
    AlreadySent,
    /// Not among the rows given with `--rows`.
    NotChosen,
    /// All cells of the row that could be records are blank.
    BlankCells,
    /// Skipped in the run of the retried report.
    SkippedBefore,
    /// Left out by a person in a review.
    LeftOut,
    /// The row says so in the column of commands.
    Command,
}
