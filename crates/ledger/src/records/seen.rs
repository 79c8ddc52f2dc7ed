//! What the service had of planned records when they were compared with it: whether they were there, and which values differed from the
//! planned ones. The others were the same, so that this is all that a later comparison needs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sheetport_sql::{self as sql, Transaction};

use super::super::checksums::{Checksum, seal};
use super::super::database::Ledger;
use super::super::error::{Error, damaged};
use super::super::ids::{RunId, Seq};
use super::block::{BLOCK_LEN, decode, encode};

/// A planned record in the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Seen {
    Absent,
    /// With other values than the planned ones in these fields.
    There(Vec<SeenField>),
}

/// A field of a record in the service that differs from the planned one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenField {
    pub field: String,
    /// The value, as JSON.
    pub value: Box<str>,
    /// Whether the service did not show the field, and the value is what this machine had sent last.
    pub is_as_sent: bool,
}

impl Ledger {
    /// Stores what the service had of the records of a run. `looked_at`: the time of the look for a plan, `None` for a run that is sent
    /// without being a plan.
    pub async fn store_seen(
        &self,
        run: RunId,
        seen: impl IntoIterator<Item = (Seq, Seen), IntoIter: Send>,
        looked_at: Option<i64>,
    ) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        let mut seen = seen.into_iter().peekable();
        while seen.peek().is_some() {
            let block: Vec<(Seq, Seen)> = seen.by_ref().take(BLOCK_LEN).collect();
            let first = block.first().map_or(0, |(seq, _)| *seq);
            let (records, body) = (block.len() as i64, encode(&block)?);
            let insert = "INSERT INTO seen_block (run, first, records, body, checksum) VALUES ($1, $2, $3, $4, $5)";
            let insert = sql::query(insert).bind(run).bind(first).bind(records);
            let checksum = checksum(run, first, records, &body);
            insert.bind(body).bind(checksum).execute(&mut transaction).await?;
        }
        if let Some(looked_at) = looked_at {
            let update = sql::query("UPDATE run SET looked_at = $2 WHERE id = $1").bind(run).bind(looked_at);
            seal::change(&mut transaction, run, update).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Returns what the service had of the records of a run when they were planned. Those that could not be compared are missing.
    pub async fn seen(&self, run: RunId) -> Result<BTreeMap<Seq, Seen>, Error> {
        let mut seen = BTreeMap::new();
        let mut from: Seq = 0;
        while let Some((first, block)) = self.seen_block(run, from).await? {
            from = block.last().map_or(first, |(last, _)| *last) + 1;
            seen.extend(block);
        }
        Ok(seen)
    }

    /// Whether anything is known of what the service had of the records of a run.
    pub async fn has_seen(&self, run: RunId) -> Result<bool, Error> {
        Ok(self.seen_block(run, 0).await?.is_some())
    }

    /// Returns the first block whose first record is `from` or a later one, with the position of that.
    async fn seen_block(&self, run: RunId, from: Seq) -> Result<Option<(Seq, Vec<(Seq, Seen)>)>, Error> {
        let query = "SELECT first, records, body, checksum FROM seen_block WHERE run = $1 AND first >= $2 \
                     ORDER BY first LIMIT 1";
        let row = sql::query(query).bind(run).bind(from).fetch_optional(&self.reader).await?;
        let Some(row) = row else { return Ok(None) };
        let (first, records, body): (Seq, i64, _) = (row.try_get(0)?, row.try_get(1)?, row.bytes(2)?);
        if checksum(run, first, records, &body) != row.try_get::<i64, _>(3)? {
            return Err(damaged(run, format_args!("what the service had of its records from {first} on was altered")));
        }
        Ok(Some((first, decode(&body, records)?)))
    }
}

/// Erases what the service had of these records.
pub(crate) async fn erase_seen(
    ledger: &Ledger,
    transaction: &mut Transaction,
    run: RunId,
    erased: &BTreeSet<Seq>,
) -> Result<(), Error> {
    let mut from: Seq = 0;
    while let Some((first, mut block)) = ledger.seen_block(run, from).await? {
        from = block.last().map_or(first, |(last, _)| *last) + 1;
        let all = block.len();
        block.retain(|(seq, _)| !erased.contains(seq));
        if block.len() == all {
            continue;
        }
        let (records, body) = (block.len() as i64, encode(&block)?);
        let update = "UPDATE seen_block SET records = $3, body = $4, checksum = $5 WHERE run = $1 AND first = $2";
        let update = sql::query(update).bind(run).bind(first).bind(records);
        let checksum = checksum(run, first, records, &body);
        update.bind(body).bind(checksum).execute(&mut *transaction).await?;
    }
    Ok(())
}

fn checksum(run: RunId, first: Seq, records: i64, body: &[u8]) -> i64 {
    Checksum::of("seen_block").number(run).number(first).number(records).bytes(body).long()
}
