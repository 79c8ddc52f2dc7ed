//! The bodies of the last requests for records that a new file names again, so that it can be told what they would replace.
//!
//! The table `accepted` has hashes alone, but says which keys were ever sent, and by which run. So only the runs that can have a body are
//! read, the newest first. Runs that are not in the table yet are read, too: this changes nothing in the ledger.

use sheetport_sql as sql;

use super::super::database::Ledger;
use super::super::error::Error;
use super::super::ids::{RunId, Seq};
use super::super::records::{Disposition, RecordBlock};
use super::accepted::{KeyScope, hash, least_index};
use super::known::LastRequest;
use super::newer::{FoundRequest, OtherRequest, range_of};

impl Ledger {
    /// Gives `each` the position of each of `identities`, the last request for it that was or may have been applied, the id in the service that
    /// was answered, and the body. If it returns false, the request before that follows. Bodies of runs whose records were removed are not
    /// known any more.
    pub async fn last_bodies(
        &self,
        scope: KeyScope<'_>,
        identities: &[&str],
        mut each: impl FnMut(usize, OtherRequest, Option<&str>, &str) -> bool,
    ) -> Result<(), Error> {
        let ages = self.ages(scope).await?;
        let query = "SELECT id, is_indexed FROM run WHERE base_url = $1 AND workspace = $2 AND record = $3 AND has_plan = 1 \
                     ORDER BY id DESC";
        let complete = least_index(scope.record);
        let runs: Vec<(RunId, i64)> = sql::query_as(query)
            .bind(scope.base_url)
            .bind(scope.workspace)
            .bind(scope.record.name())
            .fetch_all(&self.reader)
            .await?;
        let sent = runs.into_iter().filter_map(|(run, is_indexed)| Some((run, is_indexed, ages.get(&run)?)));
        let sent: Vec<_> = sent.filter(|(.., age)| age.is_sent).collect();
        if sent.is_empty() {
            return Ok(());
        }
        let mut pending: Vec<(i64, Seq)> = (0..).zip(identities).map(|(place, key)| (hash(&[key]), place)).collect();
        pending.sort_unstable();
        let mut known = self.known(scope.hash(), RunId::MIN, pending.iter().map(|(key, _)| *key)).await?;
        for (run, is_indexed, age) in sent {
            // A request without a certain result may have another body than the one looked for, and older runs may have that.
            let may_have = |key: i64| match known.get(&key) {
                Some(last) if last.request.is_some() => is_indexed < complete || last.family == age.age,
                Some(_) => true,
                None => is_indexed < complete,
            };
            let wanted: Vec<(i64, Seq)> = pending.iter().copied().filter(|(key, _)| may_have(*key)).collect();
            if wanted.is_empty() {
                continue;
            }
            let mut found: Vec<(i64, FoundRequest)> =
                self.requests_of(run, scope.record, &wanted).await?.into_iter().collect();
            found.sort_unstable_by_key(|(_, found)| found.seq);
            let mut block: Option<RecordBlock> = None;
            for (key, FoundRequest { seq, request, service_id }) in found {
                if !block.as_ref().is_some_and(|block| (block.first..block.end()).contains(&seq)) {
                    block = self.record_block_of(run, seq).await?;
                }
                let mut records = block.iter().flat_map(RecordBlock::numbered);
                let Some((_, record)) = records.find(|(known, _)| *known == seq) else { continue };
                let Disposition::Send(body) = &record.disposition else { continue };
                let places = range_of(&pending, key).iter().filter_map(|(_, place)| usize::try_from(*place).ok());
                let mut is_over = true;
                for place in places {
                    is_over &= each(place, request, service_id.as_deref(), body);
                }
                match is_over {
                    true => {
                        let range = pending.partition_point(|(other, _)| *other < key);
                        pending.drain(range..range + range_of(&pending, key).len());
                    }
                    false => {
                        known.insert(key, LastRequest { request: None, at: request.at, family: age.age });
                    }
                }
            }
        }
        Ok(())
    }
}
