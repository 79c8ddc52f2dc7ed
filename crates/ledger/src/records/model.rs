//! Rows, planned records, problems and outcomes, as stored in the ledger.

use serde::{Deserialize, Serialize};
use sheetport_findings::{Code, Command, SkipReason};

use super::super::ids::{RunId, Seq};
use super::super::state::RecordState;

/// A row of the sheet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRow {
    /// The row number shown by spreadsheet programs, from 1.
    pub number: u64,
    /// The name of the column, if each cell of a row is a record. Such a row is stored once for each of its records, in a
    /// sequence.
    pub cell: Option<Box<str>>,
    /// The record made from the row.
    pub seq: Seq,
    /// The cells as encoded by the caller. Not interpreted by the ledger.
    #[serde(with = "bytes")]
    pub cells: Vec<u8>,
    /// The name of the sheet if the run reads several sheets, otherwise empty.
    pub sheet: String,
    pub origin: Origin,
}

/// The origin of a row in the retried run. Meaningless if the run is not a retry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// The row with the same number in the same sheet.
    #[default]
    Same,
    Row {
        number: u64,
        sheet: String,
    },
    /// Added to the report.
    New,
}

/// A record with the decision taken during planning. `B` is the type of the request body, `()` where only the decision
/// matters.
#[derive(Debug, PartialEq, Eq)]
pub struct PlannedRecord<B = Box<str>> {
    /// The identity of the record in the service, or its name in the sheet if the service has none, such as the number of an
    /// invoice. `None` for skipped rows and for records without identity and name.
    pub key: Option<String>,
    /// The id in the path of the request, for updates by id.
    pub target: Option<String>,
    /// The numbers of the rows of the record.
    pub rows: Vec<u64>,
    /// The sheet of the first row if the run reads several sheets, otherwise empty.
    pub sheet: String,
    pub disposition: Disposition<B>,
    /// What its rows say is to be done with a record that is to be sent. `None`: as the run does with all records.
    pub command: Option<Command>,
    /// Probable mistakes that do not hold the record back.
    pub warnings: Vec<Problem>,
}

/// The decision about a planned record.
#[derive(Debug, PartialEq, Eq)]
pub enum Disposition<B = Box<str>> {
    /// Send this request body, byte for byte.
    Send(B),
    Rejected(Vec<Problem>),
    Skipped(SkipReason),
    /// Never sent: the service accepted the record from an earlier run. Counts as unchanged.
    AcceptedEarlier(AcceptedEarlier),
}

/// The run and record of an earlier acceptance by the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedEarlier {
    pub run: RunId,
    pub seq: Seq,
    pub service_id: Option<String>,
}

/// A problem or a warning of a record, or a warning about a file, worded for reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What is wrong; [`Code::Service`] for messages of the service.
    pub code: Code,
    /// The row number; `None` if the problem concerns the whole record or file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// The index of the column, from 0; `None` if the problem is not in a single cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub header: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The sheet of the cell if the run reads several sheets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sheet: String,
    pub message: String,
    /// How to fix the problem.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    /// The quoted text is not from the sheet, but from a lookup table, a result, or an expression of the template.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_internal: bool,
}

/// The final result of a record planned to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub seq: Seq,
    /// Never [`RecordState::Pending`].
    pub state: RecordState,
    pub http_status: Option<u16>,
    pub service_status: Option<String>,
    pub service_id: Option<String>,
    pub ctx_id: Option<String>,
    pub job_id: Option<String>,
    pub problems: Vec<Problem>,
    /// The number of requests made for the record.
    pub attempts: u32,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
}

impl<B> PlannedRecord<B> {
    /// Whether the record is in the service, and no row of the file has it. The way back of such a record has no row, too, and no command.
    pub fn is_gone(&self) -> bool {
        self.rows.is_empty() && self.command == Some(Command::Update)
    }

    /// Returns the name by which requests for the record are compared with other requests: the id in the path, because rows can name the
    /// same order by its external id or by its id, otherwise the key.
    pub fn identity(&self) -> Option<&str> {
        self.target.as_deref().or(self.key.as_deref())
    }

    /// Whether the record will be sent despite a warning.
    pub fn is_warned(&self) -> bool {
        matches!(self.disposition, Disposition::Send(_)) && !self.warnings.is_empty()
    }

    /// Separates the body, if the record is to be sent, from the record.
    pub(crate) fn split_body(self) -> (PlannedRecord<()>, Option<B>) {
        let mut taken = None;
        let disposition = self.disposition.and_then(|body| {
            taken = Some(body);
            Disposition::Send(())
        });
        let body = taken;
        let PlannedRecord { key, target, rows, sheet, command, warnings, .. } = self;
        (PlannedRecord { key, target, rows, sheet, disposition, command, warnings }, body)
    }
}

impl PlannedRecord<()> {
    /// Returns the record with the next of `bodies` if the record is to be sent. Returns `None` if no body is left.
    pub(super) fn with_body(self, bodies: &mut impl Iterator<Item = Box<str>>) -> Option<PlannedRecord> {
        let PlannedRecord { key, target, rows, sheet, disposition, command, warnings } = self;
        let disposition = match disposition {
            Disposition::Send(()) => Disposition::Send(bodies.next()?),
            Disposition::Rejected(problems) => Disposition::Rejected(problems),
            Disposition::Skipped(reason) => Disposition::Skipped(reason),
            Disposition::AcceptedEarlier(earlier) => Disposition::AcceptedEarlier(earlier),
        };
        Some(PlannedRecord { key, target, rows, sheet, disposition, command, warnings })
    }
}

impl<B> Disposition<B> {
    /// Returns the disposition with `send` in place of sending.
    pub fn and_then<C>(self, send: impl FnOnce(B) -> Disposition<C>) -> Disposition<C> {
        match self {
            Disposition::Send(body) => send(body),
            Disposition::Rejected(problems) => Disposition::Rejected(problems),
            Disposition::Skipped(reason) => Disposition::Skipped(reason),
            Disposition::AcceptedEarlier(earlier) => Disposition::AcceptedEarlier(earlier),
        }
    }

    /// Returns the disposition after `problem` was found. Records not to be sent are unaffected.
    pub fn with_problem(self, problem: Problem) -> Disposition<B> {
        match self {
            Disposition::Send(_) => Disposition::Rejected(vec![problem]),
            Disposition::Rejected(mut problems) => {
                problems.push(problem);
                Disposition::Rejected(problems)
            }
            Disposition::Skipped(_) | Disposition::AcceptedEarlier(_) => self,
        }
    }

    /// The state of a record with this disposition and no outcome.
    pub fn state(&self) -> RecordState {
        match self {
            Disposition::Send(_) => RecordState::Pending,
            Disposition::Rejected(_) => RecordState::Rejected,
            Disposition::Skipped(_) => RecordState::Skipped,
            Disposition::AcceptedEarlier(_) => RecordState::Unchanged,
        }
    }
}

impl Problem {
    /// Returns the reason of a skipped record as a problem for reports.
    pub fn of_skipped(reason: SkipReason) -> Problem {
        let (code, message) = match reason {
            SkipReason::SkipWhere => (Code::SkipWhere, "is left out by skip_where of the template"),
            SkipReason::KeepWhere => (Code::KeepWhere, "is left out by keep_where of the template"),
            SkipReason::RepeatedHeader => (Code::RepeatedHeader, "repeats the header"),
            SkipReason::AlreadySent => (Code::AlreadySent, "was sent before, according to its status in the report"),
            SkipReason::NotChosen => (Code::NotChosen, "is not among the rows given with --rows"),
            SkipReason::BlankCells => (Code::BlankCells, "has no value in the columns of unpivot"),
            SkipReason::SkippedBefore => (Code::SkippedBefore, "was skipped in the run of this report, too"),
            SkipReason::LeftOut => (Code::LeftOut, "was left out in the review"),
            SkipReason::Command => (Code::SkipCommand, "is left out, as its row says"),
        };
        Problem::of_record(code, message)
    }

    /// Creates a problem of a record or file as a whole.
    pub fn of_record(code: Code, message: impl Into<String>) -> Problem {
        Problem {
            code,
            row: None,
            column: None,
            header: String::new(),
            field: String::new(),
            value: String::new(),
            sheet: String::new(),
            message: message.into(),
            remedy: String::new(),
            is_internal: false,
        }
    }
}

impl Outcome {
    /// Whether the service answered, so that a problem of the service is in its own words.
    pub fn is_answered(&self) -> bool {
        self.state != RecordState::Unknown || self.http_status.is_some()
    }

    /// Whether a refused request may have had an effect all the same: the service failed, rather than find something wrong in it.
    pub fn may_be_applied(&self) -> bool {
        self.http_status.is_some_and(|status| status >= 500)
    }

    pub fn new(seq: Seq, state: RecordState, at: i64) -> Outcome {
        Outcome {
            seq,
            state,
            http_status: None,
            service_status: None,
            service_id: None,
            ctx_id: None,
            job_id: None,
            problems: Vec::new(),
            attempts: 0,
            at,
        }
    }
}

/// Serializes bytes as a unit instead of a sequence of numbers.
mod bytes {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        <&[u8]>::deserialize(deserializer).map(<[u8]>::to_vec)
    }
}
