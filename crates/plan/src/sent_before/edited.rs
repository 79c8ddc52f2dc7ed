//! Corrected records: a record without a name that equals a sent record except for one value, such as a corrected price, or that
//! stands in its place with the same subject or date.
//!
//! Without a name, only the values identify a record, so a corrected record would be created beside the wrong one. The rest of
//! the file shows that the record was corrected: the file has other records of the earlier upload, but not this one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};
use sheetport_ledger::{self as ledger, ClaimDigest, EarlierClaim, EarlierState, Ledger, RecordState, Run, RunId, Seq};
use sheetport_records::{Input, JsonType, RecordKind};

use super::difference;
use super::identity::{Scope, canonical_name, creations};
use super::taken_back::TakenBack;

/// Maximum number of new records to compare. A correction changes few rows, and a larger index needs memory.
pub(super) const MAX_NEW: usize = 100_000;
/// Maximum number of missing records of an earlier run that new ones may replace. A new record replaces a single one; the others only
/// have its subject or its date.
const MAX_MISSING: usize = 2 * MAX_NEW;
/// Number of earlier runs whose records may be in the file, recorded in another way.
const MAX_RUNS: u32 = 50;

/// A record that replaces a record of an earlier run.
pub(super) struct Edited {
    pub seq: Seq,
    pub earlier: EarlierClaim,
    /// The differing value.
    pub difference: String,
}

/// New records of a plan, without those that were found to replace an earlier one.
pub(super) struct NewRecords<'s> {
    scope: &'s Scope,
    run: RunId,
    kind: RecordKind,
    bodies: BTreeMap<Seq, String>,
    taken_back: TakenBack,
}

/// A record of an earlier run that is not in the file, with its neighbours that are.
struct Missing {
    seq: Seq,
    body: String,
    before: Option<ClaimDigest>,
    after: Option<ClaimDigest>,
    /// Whether a new record differs from it in one field.
    is_alike: bool,
}

impl Missing {
    /// Returns the place of the record, if a neighbour is recognized.
    fn place(&self) -> Option<Place> {
        match (self.before, self.after) {
            (Some(before), Some(after)) => Some(Place::between(before, after)),
            (Some(beside), None) | (None, Some(beside)) => Some(Place::Beside(beside)),
            (None, None) => None,
        }
    }
}

/// The place of a record among recognized ones, in a list or its reverse.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Between(ClaimDigest, ClaimDigest),
    /// At the end of the earlier list.
    Beside(ClaimDigest),
}

impl Place {
    fn between(before: ClaimDigest, after: ClaimDigest) -> Place {
        Place::Between(before.min(after), before.max(after))
    }
}

/// New records by their place, and by what they have in common with the record they may replace.
type Places = HashMap<(Place, ClaimDigest), VecDeque<Seq>>;

impl<'s> NewRecords<'s> {
    /// Reads the records `new` of a run. They have no name.
    pub(super) async fn read(
        ledger: &Ledger,
        run: &Run,
        scope: &'s Scope,
        new: &BTreeSet<Seq>,
    ) -> Result<NewRecords<'s>, ledger::Error> {
        let mut bodies = BTreeMap::new();
        each_creation(ledger, scope, run.id, |seq, _, body| {
            if new.contains(&seq) {
                bodies.insert(seq, body.to_owned());
            }
        })
        .await?;
        let taken_back = TakenBack::default();
        Ok(NewRecords { scope, run: run.id, kind: run.about.record, bodies, taken_back })
    }

    pub(super) fn scope(&self) -> &'s Scope {
        self.scope
    }

    pub(super) fn input(&self) -> &'static Input {
        self.kind.input()
    }

    /// Returns the new records that have not replaced an earlier one yet.
    pub(super) fn bodies(&self) -> &BTreeMap<Seq, String> {
        &self.bodies
    }

    /// Returns a digest for each field that is not a date, of the body without the field. Empty for a body without dates: a
    /// corrected record would look like a record of another day.
    fn rests(&self, body: &str) -> Vec<ClaimDigest> {
        let Ok(Value::Object(body)) = serde_json::from_str::<Value>(body) else { return Vec::new() };
        let (dates, others): (Vec<_>, Vec<_>) =
            self.kind.input().body.iter().partition(|field| matches!(field.json, JsonType::DateTime));
        if !dates.iter().any(|date| body.get(date.name).is_some_and(|value| !value.is_null())) {
            return Vec::new();
        }
        let rest = |name: &str| {
            let kept = body.iter().filter(|(key, value)| *key != name && !value.is_null());
            let kept: Map<String, Value> = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
            self.scope.rest(name, &Value::Object(kept))
        };
        others.iter().map(|field| rest(field.name)).collect()
    }

    /// Finds the records that replace a record of `runs`. These runs sent other records of the same file. `family` are the runs
    /// of this upload.
    pub(super) async fn edited(
        &mut self,
        ledger: &Ledger,
        runs: BTreeSet<RunId>,
        family: &[RunId],
    ) -> Result<Vec<Edited>, ledger::Error> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let by_rest = self.by(|body| self.rests(body));
        let mut present: HashMap<ClaimDigest, u64> = HashMap::new();
        let mut places = Places::new();
        for run in family {
            // The new records since the last recognized one.
            let (mut before, mut gap) = (None, Vec::new());
            each_creation(ledger, self.scope, *run, |seq, digest, _| {
                *present.entry(digest).or_default() += 1;
                if *run != self.run {
                } else if self.bodies.contains_key(&seq) {
                    gap.push(seq);
                } else {
                    self.place(&mut places, &mut gap, before, Some(digest));
                    before = Some(digest);
                }
            })
            .await?;
            self.place(&mut places, &mut gap, before, None);
        }
        let commons: HashSet<ClaimDigest> = places.keys().map(|(_, common)| *common).collect();
        let mut found = Vec::new();
        for run in runs {
            // An earlier list may have a million records more than the file, so only those that a new record may replace are kept.
            let (mut missing, mut gap): (Vec<Missing>, Vec<Missing>) = (Vec::new(), Vec::new());
            let mut before = None;
            let close = |gap: &mut Vec<Missing>, after: Option<ClaimDigest>, missing: &mut Vec<Missing>| {
                let gap = gap.drain(..).map(|record| Missing { after, ..record });
                missing.extend(gap.filter(|record| record.is_alike || self.has_new_in_place(record, &places)));
            };
            each_creation(ledger, self.scope, run, |seq, digest, body| match present.get_mut(&digest) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    close(&mut gap, Some(digest), &mut missing);
                    before = Some(digest);
                }
                _ if missing.len() + gap.len() < MAX_MISSING => {
                    let is_alike = self.rests(body).iter().any(|rest| by_rest.contains_key(rest));
                    if is_alike || self.in_common(body).iter().any(|common| commons.contains(common)) {
                        gap.push(Missing { seq, body: body.to_owned(), before, after: None, is_alike });
                    }
                }
                _ => {}
            })
            .await?;
            close(&mut gap, None, &mut missing);
            let mut moved = Vec::new();
            for missing in missing {
                match self.take(&missing.body, &by_rest) {
                    Some(new) => found.extend(self.replaced(ledger, run, missing.seq, &missing.body, new).await?),
                    None => moved.push(missing),
                }
            }
            for missing in moved {
                let Some(new) = self.take_in_place(&missing, &mut places) else { continue };
                found.extend(self.replaced(ledger, run, missing.seq, &missing.body, new).await?);
            }
        }
        Ok(found)
    }

    /// Returns the replacement of the earlier record `seq` with this body by a new one, if the earlier one was sent.
    pub(super) async fn replaced(
        &mut self,
        ledger: &Ledger,
        run: RunId,
        seq: Seq,
        body: &str,
        new: Seq,
    ) -> Result<Option<Edited>, ledger::Error> {
        let Some(earlier) = sent(ledger, self.scope, run, seq, body).await? else { return Ok(None) };
        let standing = self.taken_back.standing(ledger, self.scope, vec![earlier]).await?;
        let Some(earlier) = standing.into_iter().next() else { return Ok(None) };
        let Some(now) = self.bodies.remove(&new) else { return Ok(None) };
        Ok(Some(Edited { seq: new, earlier, difference: difference::describe(body, &now) }))
    }

    /// Files the new records `gap` between two recognized ones.
    fn place(&self, places: &mut Places, gap: &mut Vec<Seq>, before: Option<ClaimDigest>, after: Option<ClaimDigest>) {
        let between = before.zip(after).map(|(before, after)| Place::between(before, after));
        let beside = before.into_iter().chain(after).map(Place::Beside);
        let all: Vec<Place> = between.into_iter().chain(beside).collect();
        for seq in gap.drain(..) {
            for common in self.bodies.get(&seq).map_or_else(Vec::new, |body| self.in_common(body)) {
                all.iter().for_each(|place| places.entry((*place, common)).or_default().push_back(seq));
            }
        }
    }

    /// Whether a new record in the place of a missing one has the same subject or the same date.
    fn has_new_in_place(&self, missing: &Missing, places: &Places) -> bool {
        let Some(place) = missing.place() else { return false };
        self.in_common(&missing.body).into_iter().any(|common| places.contains_key(&(place, common)))
    }

    /// Returns the first new record in the place of a missing one that has the same subject, or else the same date.
    fn take_in_place(&self, missing: &Missing, places: &mut Places) -> Option<Seq> {
        let place = missing.place()?;
        self.in_common(&missing.body).into_iter().find_map(|common| {
            let alike = places.get_mut(&(place, common))?;
            while alike.front().is_some_and(|seq| !self.bodies.contains_key(seq)) {
                alike.pop_front();
            }
            alike.front().copied()
        })
    }

    /// Returns digests of what a correction of several values leaves as it was: the kind and the subject, or else the kind and the
    /// date. Lists of the last days lose records of some days and get others, also within the rows of a subject, so that neither a
    /// place nor a kind is enough. Empty for a body without dates.
    fn in_common(&self, body: &str) -> Vec<ClaimDigest> {
        let Ok(Value::Object(body)) = serde_json::from_str::<Value>(body) else { return Vec::new() };
        let input = self.kind.input();
        let (mut kind, mut subject, mut dates) = (Map::new(), Map::new(), Map::new());
        for field in input.body {
            let Some(value) = body.get(field.name).filter(|value| !value.is_null()) else { continue };
            if matches!(field.json, JsonType::DateTime) {
                dates.insert(field.name.to_owned(), value.clone());
            } else if input.references.iter().any(|reference| reference.field == field.name) {
                let name = value.as_str().map(canonical_name);
                subject.insert(field.name.to_owned(), name.map_or_else(|| value.clone(), Value::String));
            } else if field.required && !input.quantities.contains(&field.name) {
                kind.insert(field.name.to_owned(), value.clone());
            }
        }
        if dates.is_empty() {
            return Vec::new();
        }
        let with_kind = |what: &str, mut values: Map<String, Value>| {
            values.extend(kind.clone());
            self.scope.rest(what, &Value::Object(values))
        };
        let subject = (!subject.is_empty()).then(|| with_kind("subject", subject));
        subject.into_iter().chain([with_kind("dates", dates)]).collect()
    }

    /// Indexes the records by digests of their bodies.
    fn by<D: IntoIterator<Item = ClaimDigest>>(&self, digests: impl Fn(&str) -> D) -> HashMap<ClaimDigest, Vec<Seq>> {
        let mut index: HashMap<ClaimDigest, Vec<Seq>> = HashMap::new();
        for (seq, body) in &self.bodies {
            digests(body).into_iter().for_each(|digest| index.entry(digest).or_default().push(*seq));
        }
        index
    }

    /// Returns the first new record that differs from a body in one field. `by_rest` has the records by [`Self::rests`].
    fn take(&self, body: &str, by_rest: &HashMap<ClaimDigest, Vec<Seq>>) -> Option<Seq> {
        let rests = self.rests(body);
        let alike = rests.iter().filter_map(|rest| by_rest.get(rest)).flatten();
        alike.filter(|seq| self.bodies.contains_key(seq)).min().copied()
    }
}

/// Calls `each` with the number, the digest and the body of each record that a run was to create.
async fn each_creation(
    ledger: &Ledger,
    scope: &Scope,
    run: RunId,
    mut each: impl FnMut(Seq, ClaimDigest, &str),
) -> Result<(), ledger::Error> {
    let mut from: Seq = 0;
    while let Some(block) = ledger.record_block(run, from).await? {
        from = block.end();
        creations(scope, &block).for_each(|(claim, _, body)| each(claim.seq, claim.body, body));
    }
    Ok(())
}

/// Returns the request of a record, if the service accepted it.
async fn sent(
    ledger: &Ledger,
    scope: &Scope,
    run: RunId,
    seq: Seq,
    body: &str,
) -> Result<Option<EarlierClaim>, ledger::Error> {
    let outcome = ledger.outcomes(run, seq..=seq).await?.remove(&seq);
    if outcome.as_ref().is_some_and(|outcome| outcome.state == RecordState::Unchanged) {
        // The run left the record out, because another one had sent it.
        let earlier = ledger.earlier_claims(&[scope.claim(seq, None, body)]).await?;
        return Ok(earlier.into_iter().find(|earlier| earlier.state == EarlierState::Sent));
    }
    let accepted = outcome.filter(|outcome| outcome.state == RecordState::Sent);
    Ok(accepted.map(|outcome| EarlierClaim {
        claim: scope.claim(seq, None, body),
        run,
        state: EarlierState::Sent,
        at: outcome.at,
        service_id: outcome.service_id,
    }))
}

/// Returns the latest other runs to the same service and workspace with the same kind of record.
pub(super) async fn earlier_lists(
    ledger: &Ledger,
    scope: &Scope,
    family: &[RunId],
) -> Result<Vec<RunId>, ledger::Error> {
    let runs = ledger.runs(MAX_RUNS).await?.into_iter();
    let others = runs
        .filter(|run| run.has_plan && run.about.undo_of.is_none() && !family.contains(&run.id) && scope.includes(run));
    Ok(others.map(|run| run.id).collect())
}

/// Returns the other runs that sent records of this family.
pub(super) async fn overlapping(
    ledger: &Ledger,
    scope: &Scope,
    family: &[RunId],
) -> Result<BTreeSet<RunId>, ledger::Error> {
    let mut runs = BTreeSet::new();
    for run in family {
        let mut from: Seq = 0;
        while let Some(block) = ledger.record_block(*run, from).await? {
            from = block.end();
            let claims: Vec<_> = creations(scope, &block).map(|(claim, ..)| claim).collect();
            let earlier = ledger.earlier_claims(&claims).await?;
            let others = earlier.iter().filter(|other| other.state == EarlierState::Sent);
            runs.extend(others.map(|other| other.run).filter(|run| !family.contains(run)));
        }
    }
    Ok(runs)
}

/// Returns those of `lists` that were to create a record of this family, too.
pub(super) async fn sharing(
    ledger: &Ledger,
    scope: &Scope,
    family: &[RunId],
    lists: &[RunId],
) -> Result<Vec<RunId>, ledger::Error> {
    let mut known: HashSet<ClaimDigest> = HashSet::new();
    for run in family {
        each_creation(ledger, scope, *run, |_, digest, _| known.extend([digest])).await?;
    }
    let mut sharing = Vec::new();
    for run in lists {
        let mut from: Seq = 0;
        while let Some(block) = ledger.record_block(*run, from).await? {
            from = block.end();
            if creations(scope, &block).any(|(claim, ..)| known.contains(&claim.body)) {
                sharing.push(*run);
                break;
            }
        }
    }
    Ok(sharing)
}

/// Adds the retries of runs, and what these retry.
pub(super) async fn with_families(ledger: &Ledger, runs: BTreeSet<RunId>) -> Result<BTreeSet<RunId>, ledger::Error> {
    let mut all = runs.clone();
    for run in runs {
        let run = match ledger.run(run).await {
            Ok(run) => run,
            // Pruned: nothing of it can be compared.
            Err(ledger::Error::NoSuchRun(_)) => continue,
            Err(error) => return Err(error),
        };
        all.extend(ledger.family(&run).await?.runs.iter().map(|member| member.id));
    }
    Ok(all)
}

/// Returns whether a kind has date fields, to distinguish records of different days.
pub(super) fn is_dated(kind: RecordKind) -> bool {
    kind.input().body.iter().any(|field| matches!(field.json, JsonType::DateTime))
}
