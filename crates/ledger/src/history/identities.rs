//! The identities of the records that a run sends by idempotent requests, and the age of their values.

use sheetport_records::RecordKind;

use super::super::ids::Seq;
use super::super::records::{Disposition, PlannedRecord, RecordBlock};

/// Selects the age of the values of a run: the number of the first run of its family, of which all have the same service, workspace and
/// kind.
pub(crate) const AGE: &str = "WITH RECURSIVE up (id, retry_of, base_url, workspace, record) AS \
     (SELECT id, retry_of, base_url, workspace, record FROM run WHERE id = $1 UNION \
     SELECT run.id, run.retry_of, run.base_url, run.workspace, run.record FROM run JOIN up ON run.id = up.retry_of \
     AND run.base_url = up.base_url AND run.workspace = up.workspace AND run.record = up.record) \
     SELECT MIN(COALESCE(retry_of, id)) FROM up";

/// Iterates over the identities of the records of idempotent requests.
pub(super) fn sent_keys(block: &RecordBlock<()>, kind: RecordKind) -> impl Iterator<Item = (Seq, &str)> {
    let is_repeatable = move |record: &PlannedRecord<()>| {
        let call = kind.input().call(record.target.is_some());
        call.is_some_and(|call| call.repeatable) && matches!(record.disposition, Disposition::Send(()))
    };
    block
        .numbered()
        .filter(move |(_, record)| is_repeatable(record))
        .filter_map(|(seq, record)| Some((seq, record.identity()?)))
}
