//! Requests of newer uploads for the same keys, so that an old run does not overwrite newer values.
//!
//! The values of a run are as old as the first run of its family, because a retry sends the values of its upload. A newer upload
//! counts if its request was or may have been applied. Pruned runs are looked up in the table `accepted`. Pending records are compared before
//! a run is sent, and with new intents meanwhile. The hashes of a million keys take 16 MB; without newer runs, nothing is read.
//!
//! A key is the identity of a record here ([`identity`](crate::PlannedRecord::identity)).

use std::collections::{BTreeSet, HashMap, HashSet};

use sheetport_findings::Code;
use sheetport_records::RecordKind;
use sheetport_sql::{self as sql, Query, Row};

use super::super::database::Ledger;
use super::super::error::Error;
use super::super::ids::{Part, RunId, Seq};
use super::super::records::{Outcome, Problem};
use super::super::runs::{Run, with_root};
use super::super::state::RecordState;
use super::accepted::{KeyScope, hash, scope};
use super::decide::{Fact, Policy, decide};
use super::handshake::{Intent, entering};
use super::identities::{AGE, sent_keys};
use super::known::{Begun, Effect, LastRequest};

/// Blocks loaded together.
const BLOCKS: u32 = 16;
/// Overlap between two searches for intents, in milliseconds: other processes may have slower clocks.
const OVERLAP: i64 = 60_000;

/// Selects the first run of the family of the run $1, how many runs with their plan have come since, the newest of all, and the newest with an
/// event: of a run that was removed, an event stays.
const PRUNED: &str = with_root!(
    " SELECT root.id, COALESCE(CAST(SUM(run.has_plan) AS BIGINT), 0), COALESCE(MAX(run.id), 0), \
     (SELECT COALESCE(MAX(run), 0) FROM event) FROM root LEFT JOIN run ON run.id > root.id GROUP BY root.id"
);

/// A request of another upload for the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherRequest {
    pub run: RunId,
    /// The time of the outcome, or of the intent without an outcome. Milliseconds since 1970, UTC.
    pub at: i64,
    /// True if the service accepted the request, false if the request may have been applied.
    pub is_accepted: bool,
}

/// A request of another upload, with its record.
pub(super) struct FoundRequest {
    pub(super) seq: Seq,
    pub(super) request: OtherRequest,
    /// The id of the record in the service, from the answer.
    pub(super) service_id: Option<String>,
}

/// The keys that newer uploads start to send while a run is being sent.
#[derive(Debug)]
pub struct NewerKeys {
    since: i64,
    /// Age of the values of the run being sent.
    age: RunId,
    seen: HashSet<Intent>,
    /// By hash of the key.
    keys: HashMap<i64, OtherRequest>,
}

impl OtherRequest {
    /// Returns what a request of a newer upload shows about a record with its key.
    fn fact(&self) -> Fact {
        if self.is_accepted { Fact::NewerAccepted } else { Fact::NewerBegun }
    }

    /// Returns the outcome of a record withheld because of this request. `date` is the local date of the request.
    pub fn outcome(&self, seq: Seq, key: &str, of: RunId, date: &str, now: i64) -> Outcome {
        let run = self.run;
        let sent = if self.is_accepted { "was sent" } else { "was or may have been sent" };
        let message = format!("{sent} by the newer run {run} on {date}, so the older values are not sent");
        let remedy = format!("`sheetport retry {of} --overwrite-newer` sends them");
        let problem = Problem { value: key.to_owned(), remedy, ..Problem::of_record(Code::NewerRun, message) };
        let decision = decide(0, &self.fact().into(), Policy::default());
        Outcome { problems: vec![problem], ..Outcome::new(seq, decision.state(), now) }
    }
}

impl From<&LastRequest> for OtherRequest {
    fn from(last: &LastRequest) -> OtherRequest {
        OtherRequest { run: last.family, at: last.at, is_accepted: last.request.is_some() }
    }
}

impl Outcome {
    /// Whether the record was withheld because of a newer request for its key.
    pub fn is_superseded(&self) -> bool {
        self.state == RecordState::Skipped && self.problems.iter().any(|problem| problem.code == Code::NewerRun)
    }
}

impl NewerKeys {
    /// Finds the keys of requests begun after `since`, for a run with values of this age.
    pub fn since(since: i64, age: RunId) -> NewerKeys {
        NewerKeys { since, age, seen: HashSet::new(), keys: HashMap::new() }
    }

    /// Returns the start of the next search for intents, and moves the start on.
    pub fn look(&mut self, now: i64) -> i64 {
        std::mem::replace(&mut self.since, now.saturating_sub(OVERLAP))
    }

    /// Adds the possible keys of a request.
    pub fn add<'k>(&mut self, request: OtherRequest, keys: impl Iterator<Item = &'k str>) {
        self.keys.extend(keys.map(|key| (hash(&[key]), request)));
    }

    /// Moves the keys that another search has found here.
    pub fn take_keys(&mut self, search: &mut NewerKeys) {
        self.keys.extend(search.keys.drain());
    }

    /// Returns the newer request for a key, if any.
    pub fn get(&self, key: &str) -> Option<OtherRequest> {
        if self.keys.is_empty() { None } else { self.keys.get(&hash(&[key])).copied() }
    }
}

impl Ledger {
    /// Registers a part of `run` as a sender, as [`Ledger::enter_sender`] does, and returns its pending records that newer uploads have or may have
    /// sent, in order. Compares idempotent requests only; non-idempotent requests have claims.
    pub async fn enter_and_find_newer(
        &self,
        run: &Run,
        part: Part,
        now: i64,
    ) -> Result<Vec<(Seq, OtherRequest)>, Error> {
        let reads = vec![selecting_ages(KeyScope::of(run)), sql::query(PRUNED).bind(run.id)];
        let results = self.write_and_read(entering(part, now), reads).await?;
        let [.., ages, pruned] = results.as_slice() else { return Err(sqlx::Error::RowNotFound.into()) };
        let ages = ages_of(ages.rows())?;
        let age = age_of(&ages, run.id);
        let mut newer: Vec<(RunId, RunId)> =
            ages.iter().filter(|(_, it)| it.is_sent && it.age > age).map(|(id, it)| (it.age, *id)).collect();
        newer.sort_unstable_by(|one, other| other.cmp(one));
        let pruned = pruned.rows().first().ok_or(sqlx::Error::RowNotFound)?;
        let (since, count): (RunId, i64) = (pruned.try_get(0)?, pruned.try_get(1)?);
        let last = pruned.try_get::<RunId, _>(2)?.max(pruned.try_get(3)?);
        let may_be_pruned = last > since && count < last - since;
        if newer.is_empty() && !may_be_pruned {
            return Ok(Vec::new());
        }
        let mut pending = self.pending_keys(run, part).await?;
        let mut found = Vec::new();
        for (_, other) in newer {
            if pending.is_empty() {
                break;
            }
            self.find_requests(other, run.about.record, &mut pending, &mut found).await?;
        }
        if may_be_pruned {
            self.find_accepted(scope(run), age, &pending, &mut found).await?;
        }
        found.sort_unstable_by_key(|(seq, _)| *seq);
        Ok(found)
    }

    /// Adds the keys of requests begun by uploads newer than `run` since the last search. Returns the intents. After an error,
    /// the next search finds them again.
    ///
    /// An intent is a range, and can have records that its run has left out, such as those that were not approved. They do not count: their
    /// outcome is final, and no request was made.
    pub async fn update_newer_keys(&self, run: &Run, keys: &mut NewerKeys, now: i64) -> Result<Vec<Intent>, Error> {
        let age = keys.age;
        let query = "SELECT intent.run, intent.first, intent.last, intent.at, \
                     COALESCE((SELECT total.skipped + total.rejected + CASE WHEN run.fill_blank IS NULL THEN 0 ELSE total.unchanged END \
                     FROM total WHERE total.run = run.id), 0) \
                     FROM run JOIN intent ON intent.run = run.id \
                     WHERE run.id > $1 AND (run.state IN ('planned', 'queued') OR run.finished_at >= $2) AND intent.at >= $2";
        let begun: Vec<(RunId, Seq, Seq, i64, i64)> =
            sql::query_as(query).bind(age).bind(keys.since).fetch_all(&self.reader).await?;
        let begun =
            begun.into_iter().map(|(run, first, last, at, left_out)| (Intent { run, first, at }, last, left_out > 0));
        let new: Vec<(Intent, Seq, bool)> = begun.filter(|(intent, ..)| !keys.seen.contains(intent)).collect();
        if new.is_empty() {
            keys.look(now);
            return Ok(Vec::new());
        }
        let ages = self.ages(KeyScope::of(run)).await?;
        let (mut found, mut seen) = (Vec::new(), Vec::new());
        for (intent, last, has_left_out) in new {
            seen.push(intent);
            if ages.get(&intent.run).is_none_or(|it| it.age <= age) {
                continue;
            }
            found.push(intent);
            let request = OtherRequest { run: intent.run, at: intent.at, is_accepted: false };
            let left_out = match has_left_out {
                true => self.never_sent(intent.run, intent.first..=last, intent.at).await?,
                false => BTreeSet::new(),
            };
            let mut from = intent.first;
            while let Some(block) =
                self.records_without_bodies(intent.run, from, BLOCKS).await?.filter(|it| it.end() > from)
            {
                from = block.end();
                let range = intent.first..=last;
                let is_sent = |seq: &Seq| range.contains(seq) && !left_out.contains(seq);
                let sent = sent_keys(&block, run.about.record).filter(|(seq, _)| is_sent(seq));
                keys.add(request, sent.map(|(_, key)| key));
                if from > last {
                    break;
                }
            }
        }
        keys.look(now);
        keys.seen.extend(seen);
        Ok(found)
    }

    /// Adds those of `keys` whose value in the service is the one of an upload newer than `run` that sends nothing for them, because
    /// the service has the value.
    pub async fn find_confirmed(&self, run: &Run, newer: &mut NewerKeys, keys: &[&str]) -> Result<(), Error> {
        let age = newer.age;
        let known = self.known(scope(run), age, keys.iter().map(|key| hash(&[key]))).await?;
        newer.keys.extend(known.iter().map(|(key, last)| (*key, OtherRequest::from(last))));
        Ok(())
    }

    /// Returns the records of `run` withheld because of newer requests.
    pub(crate) async fn superseded(&self, run: RunId) -> Result<Vec<Seq>, Error> {
        self.skipped_as(run, Code::NewerRun).await
    }

    /// Returns the records of `run` that were left out for this reason after the plan.
    pub async fn skipped_as(&self, run: RunId, code: Code) -> Result<Vec<Seq>, Error> {
        let query = "SELECT seq FROM outcome WHERE run = $1 AND state = 'skipped' AND problems LIKE $2 ORDER BY seq";
        let pattern = format!("%\"code\":\"{code}\"%");
        Ok(sql::query_scalar(query).bind(run).bind(pattern).fetch_all(&self.reader).await?)
    }

    /// Returns the runs with the same service, workspace and kind.
    pub(super) async fn ages(&self, scope: KeyScope<'_>) -> Result<HashMap<RunId, Age>, Error> {
        ages_of(&selecting_ages(scope).fetch_all(&self.reader).await?)
    }

    /// Returns the hashes of the keys of pending records, sorted. A million need 16 MB.
    async fn pending_keys(&self, run: &Run, part: Part) -> Result<Vec<(i64, Seq)>, Error> {
        let mut pending = Vec::new();
        let mut from = part.first;
        while from <= part.last
            && let Some(block) = self.records_without_bodies(run.id, from, BLOCKS).await?.filter(|it| it.end() > from)
        {
            from = block.end();
            let settled = self.settled(run.id, block.first..=from - 1).await?;
            let is_pending = |seq: Seq| part.records().contains(&seq) && !settled.contains(&seq);
            let keys = sent_keys(&block, run.about.record).filter(|(seq, _)| is_pending(*seq));
            pending.extend(keys.map(|(seq, key)| (hash(&[key]), seq)));
        }
        pending.sort_unstable();
        Ok(pending)
    }

    /// Moves pending records to `found` if `other` has or may have sent their key.
    async fn find_requests(
        &self,
        other: RunId,
        kind: RecordKind,
        pending: &mut Vec<(i64, Seq)>,
        found: &mut Vec<(Seq, OtherRequest)>,
    ) -> Result<(), Error> {
        let requests = self.requests_of(other, kind, pending).await?;
        if !requests.is_empty() {
            pending.retain(|(key, seq)| match requests.get(key) {
                Some(FoundRequest { request, .. }) => {
                    found.push((*seq, *request));
                    false
                }
                None => true,
            });
        }
        Ok(())
    }

    /// Returns the requests that `other` has or may have sent for keys in `wanted`, which is sorted: by key.
    pub(super) async fn requests_of(
        &self,
        other: RunId,
        kind: RecordKind,
        wanted: &[(i64, Seq)],
    ) -> Result<HashMap<i64, FoundRequest>, Error> {
        let query = "SELECT first, last, at FROM intent WHERE run = $1 ORDER BY at";
        let intents: Vec<(Seq, Seq, i64)> = sql::query_as(query).bind(other).fetch_all(&self.reader).await?;
        let mut requests: HashMap<i64, FoundRequest> = HashMap::new();
        let mut from: Seq = 0;
        while let Some(block) = self.records_without_bodies(other, from, BLOCKS).await?.filter(|it| it.end() > from) {
            from = block.end();
            let keys = sent_keys(&block, kind).map(|(seq, key)| (seq, hash(&[key])));
            let equal: Vec<(Seq, i64)> = keys.filter(|(_, key)| !range_of(wanted, *key).is_empty()).collect();
            if equal.is_empty() {
                continue;
            }
            let outcomes = self.outcomes(other, block.first..=from - 1).await?;
            for (seq, key) in equal {
                let outcome = outcomes.get(&seq);
                let begun = Begun::of(&intents, seq);
                // Its fields had values, which need not be those of the other run.
                if outcome.is_some_and(|outcome| outcome.problems.iter().any(|problem| problem.code == Code::Filled)) {
                    continue;
                }
                let is_accepted = match Effect::of_record(outcome, begun.map(|begun| begun.first)) {
                    Some(Effect::Accepted | Effect::NotNeeded) => true,
                    Some(Effect::Uncertain) => false,
                    Some(Effect::Refused) if outcome.is_some_and(Outcome::may_be_applied) => false,
                    // The service does not have the value of the other run.
                    Some(Effect::Refused) | None => continue,
                };
                let at = outcome.map(|outcome| outcome.at).or(begun.map(|begun| begun.last));
                let Some(at) = at else { continue };
                let request = OtherRequest { run: other, at, is_accepted };
                let service_id = outcome.and_then(|outcome| outcome.service_id.clone());
                requests.insert(key, FoundRequest { seq, request, service_id });
            }
        }
        Ok(requests)
    }

    /// Adds pending records to `found` if a pruned run has or may have sent their key.
    async fn find_accepted(
        &self,
        scope: i64,
        age: RunId,
        pending: &[(i64, Seq)],
        found: &mut Vec<(Seq, OtherRequest)>,
    ) -> Result<(), Error> {
        let known = self.known(scope, age, pending.iter().map(|(key, _)| *key)).await?;
        found.extend(pending.iter().filter_map(|(key, seq)| Some((*seq, OtherRequest::from(known.get(key)?)))));
        Ok(())
    }

    /// Returns the age of a run's values: the number of the first run of its family.
    pub(super) async fn age(&self, run: &Run) -> Result<RunId, Error> {
        let age: Option<RunId> = sql::query_scalar(AGE).bind(run.id).fetch_one(&self.reader).await?;
        Ok(age.unwrap_or(run.id))
    }
}

fn selecting_ages(scope: KeyScope<'_>) -> Query<Row> {
    let query = "SELECT id, retry_of, CAST(CASE WHEN state IN ('planned', 'queued', 'finished') \
                 AND (EXISTS (SELECT 1 FROM intent WHERE intent.run = run.id) \
                 OR EXISTS (SELECT 1 FROM outcome WHERE outcome.run = run.id)) THEN 1 ELSE 0 END AS BIGINT) \
                 FROM run WHERE base_url = $1 AND workspace = $2 AND record = $3 ORDER BY id";
    sql::query(query).bind(scope.base_url).bind(scope.workspace).bind(scope.record.name())
}

/// Returns the ages in the rows of [`selecting_ages`].
fn ages_of(rows: &[Row]) -> Result<HashMap<RunId, Age>, Error> {
    let mut ages = HashMap::with_capacity(rows.len());
    for row in rows {
        let (id, retry_of, is_sent): (RunId, Option<RunId>, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let age = retry_of.map_or(id, |retried| age_of(&ages, retried));
        ages.insert(id, Age { age, is_sent: is_sent != 0 });
    }
    Ok(ages)
}

/// The age of the values of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Age {
    /// The number of the first run of the family. The first run may have been pruned.
    pub(super) age: RunId,
    /// Whether some records of the run may have been sent. A thousand queued runs of which nothing was begun need not be looked through.
    pub(super) is_sent: bool,
}

fn age_of(ages: &HashMap<RunId, Age>, run: RunId) -> RunId {
    ages.get(&run).map_or(run, |it| it.age)
}

/// Returns the records with a key hash.
pub(super) fn range_of(sorted: &[(i64, Seq)], key: i64) -> &[(i64, Seq)] {
    let first = sorted.partition_point(|(other, _)| *other < key);
    let len = sorted[first..].iter().take_while(|(other, _)| *other == key).count();
    &sorted[first..first + len]
}
