//! A record that was sent, and the ways to take it back.

use sheetport_findings::Code;
use sheetport_ledger::{Problem, RunId, Seen};
use sheetport_records::RecordKind;

/// A record that the service has accepted from a run.
#[derive(Clone, Copy, Debug)]
pub struct SentRecord<'a> {
    pub kind: RecordKind,
    pub run: RunId,
    /// The body of the request.
    pub body: &'a str,
    /// Whether the request named the record in its path.
    pub is_update: bool,
    /// What the service had before the run. `None` if nobody has looked.
    pub then: Option<&'a Seen>,
    pub now: Now<'a>,
    /// The body of the last accepted request for the record from this machine, of any run.
    pub last: Option<&'a str>,
    /// The same, of the runs before this one.
    pub earlier: Option<&'a str>,
    /// Whether `last` is of a newer run.
    pub is_sent_again: bool,
}

/// How a record is taken back.
#[derive(Debug, PartialEq, Eq)]
pub enum WayBack {
    /// By this request. The warnings name the fields that stay as they are.
    Return {
        body: Box<str>,
        warnings: Vec<Problem>,
    },
    /// It has the values from before the run already.
    AsBefore,
    /// Not, because somebody has edited it since. The request would overwrite that.
    Kept {
        body: Box<str>,
        problems: Vec<Problem>,
    },
    Cannot(Vec<Problem>),
}

/// What the service has of a record now.
#[derive(Clone, Copy, Debug)]
pub enum Now<'a> {
    /// The service did not show whether it has the record.
    NotCompared,
    Gone,
    /// A JSON object with the fields that it shows, by their names in the service.
    Shown(&'a str),
}

/// Returns that a record was created, and stays.
pub(super) fn created(kind: RecordKind, run: RunId) -> WayBack {
    let plural = kind.input().plural;
    let message = format!("was created by run {run}, and the service can't delete {plural}");
    let remedy = match kind {
        RecordKind::Item => "to put it out of use, upload it with the status that means inactive",
        _ => "cancel it in the service",
    };
    let problem = Problem { remedy: remedy.to_owned(), ..Problem::of_record(Code::CannotUndo, message) };
    WayBack::Cannot(vec![problem])
}
