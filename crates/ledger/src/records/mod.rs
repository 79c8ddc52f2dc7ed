//! Rows, planned records and problems as stored, in blocks, and problems grouped by cause.

mod block;
mod causes;
mod model;
mod seen;
mod stored;

pub(super) use block::{
    BLOCK_BYTES, RecordCounts, block_of, bodies_checksum, encode, encode_bodies, encode_records, record_bytes,
    selecting_block, source_checksum,
};
pub use block::{BLOCK_LEN, RecordBlock, SourceBlock};
pub use causes::{Causes, FIRST_ROWS, Group};
pub use model::{AcceptedEarlier, Disposition, Origin, Outcome, PlannedRecord, Problem, SourceRow};
pub(super) use seen::erase_seen;
pub use seen::{Seen, SeenField};
