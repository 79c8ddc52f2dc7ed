//! The bodies of the last requests for records that a new file names again, so that it can be told what they would replace.
//!
//! The table `accepted` has hashes alone, but says which keys were ever sent, and by which run. So only the runs that can have a body are
//! read, the newest first. Runs that are not in the table yet are read, too: this changes nothing in the ledger.

use std::collections::HashMap;

use sheetport_sql as sql;

use super::super::database::{Ledger, to_json};
use super::super::error::Error;
use super::super::ids::{RunId, Seq};
use super::super::records::{Disposition, RecordBlock};
use super::accepted::{KeyScope, hash};
use super::newer::{KEYS, OtherRequest, range_of};

/// What the table `accepted` says about a key.
#[derive(Clone, Copy, Debug)]
struct LastSent {
    /// The first run of the family with the last request.
    family: RunId,
    /// Whether that request has the body that is looked for. Otherwise, older runs may have it.
    is_final: bool,
}

impl Ledger {
    /// Gives `each` the last request for each of `keys` that was or may have been applied, the position of the key, and the body. If it
    /// returns false, the request before that follows. Bodies of runs whose records were removed are not known any more.
    pub async fn last_bodies(
        &self,
        scope: KeyScope<'_>,
        keys: &[&str],
        mut each: impl FnMut(usize, OtherRequest, &str) -> bool,
    ) -> Result<(), Error> {
        let mut pending: Vec<(i64, Seq)> = (0..).zip(keys).map(|(place, key)| (hash(&[key]), place)).collect();
        pending.sort_unstable();
        let mut last_sent = self.last_sent(scope, &pending).await?;
        let ages = self.ages(scope).await?;
        let query = "SELECT id, is_indexed FROM run WHERE base_url = $1 AND workspace = $2 AND record = $3 AND has_plan = 1 \
                     ORDER BY id DESC";
        let runs: Vec<(RunId, i64)> = sql::query_as(query)
            .bind(scope.base_url)
            .bind(scope.workspace)
            .bind(scope.record.name())
            .fetch_all(&self.reader)
            .await?;
        for (run, is_indexed) in runs {
            let Some(age) = ages.get(&run).filter(|age| age.is_sent) else { continue };
            let may_have = |key: i64| match last_sent.get(&key) {
                Some(last) if last.is_final => is_indexed == 0 || last.family == age.age,
                Some(_) => true,
                None => is_indexed == 0,
            };
            let wanted: Vec<(i64, Seq)> = pending.iter().copied().filter(|(key, _)| may_have(*key)).collect();
            if wanted.is_empty() {
                continue;
            }
            let mut found: Vec<(Seq, i64, OtherRequest)> = self
                .requests_of(run, scope.record, &wanted)
                .await?
                .into_iter()
                .map(|(key, (seq, request))| (seq, key, request))
                .collect();
            found.sort_unstable_by_key(|(seq, ..)| *seq);
            let mut block: Option<RecordBlock> = None;
            for (seq, key, request) in found {
                if !block.as_ref().is_some_and(|block| (block.first..block.end()).contains(&seq)) {
                    block = self.record_block_of(run, seq).await?;
                }
                let mut records = block.iter().flat_map(RecordBlock::numbered);
                let Some((_, record)) = records.find(|(known, _)| *known == seq) else { continue };
                let Disposition::Send(body) = &record.disposition else { continue };
                let places = range_of(&pending, key).iter().filter_map(|(_, place)| usize::try_from(*place).ok());
                let mut is_over = true;
                for place in places {
                    is_over &= each(place, request, body);
                }
                match is_over {
                    true => {
                        let range = pending.partition_point(|(other, _)| *other < key);
                        pending.drain(range..range + range_of(&pending, key).len());
                    }
                    false => {
                        last_sent.insert(key, LastSent { family: age.age, is_final: false });
                    }
                }
            }
        }
        Ok(())
    }

    async fn last_sent(&self, scope: KeyScope<'_>, keys: &[(i64, Seq)]) -> Result<HashMap<i64, LastSent>, Error> {
        let query = format!(
            "SELECT key, run, body IS NOT NULL FROM accepted WHERE scope = $1 AND key {}",
            self.dialect().is_in("$2")
        );
        let mut found = HashMap::new();
        for keys in keys.chunks(KEYS) {
            let keys: Vec<i64> = keys.iter().map(|(key, _)| *key).collect();
            let rows: Vec<(i64, RunId, bool)> =
                sql::query_as(query.clone()).bind(scope.hash()).bind(to_json(&keys)?).fetch_all(&self.reader).await?;
            found.extend(rows.into_iter().map(|(key, family, is_final)| (key, LastSent { family, is_final })));
        }
        Ok(found)
    }
}
