//! Protection against duplicates: compares the records of non-idempotent calls with all sent records in the ledger.
//!
//! Records are compared by content, so that a file that was saved again, renamed, sorted or extended creates only its new
//! records. A record with a name, such as the number of an invoice, counts as sent if a record with the same name and values was
//! sent. Names from other columns, by another template, are compared in their common columns or values; without either, equal
//! values are a problem. A date in the sheet that differs from the date beside the sent record is a problem, too: the numbers have begun
//! again. Records without a name are compared by their values, and counted: of three equal rows, two are left out
//! if two were sent before. If the file has a record with a single changed value in place of a sent record, the record is a
//! problem. Requests started by other processes in the meantime are found by [`Ledger::start`] before each request.

mod as_counted;
mod brought_back;
mod difference;
mod edited;
mod identity;
mod rewritten;
mod sheet_dates;
mod taken_back;
mod verdict;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::future::BoxFuture;

use sheetport_ledger::{
    AllowRepeat, Causes, Claim, ClaimDigest, Decision, Disposition, EarlierClaim, EarlierState, FIRST_ROWS, Fact,
    Known, Ledger, Outcome, PlannedRecord, Policy, RecordBlock, RecordState, Run, RunId, RunState, Seq, decide,
};

use crate::count;
use crate::error::Error;
use brought_back::BroughtBack;
use edited::{Edited, NewRecords};
use identity::creations;
use sheet_dates::SheetDates;
use taken_back::TakenBack;

pub use identity::{NAME_SEPARATOR, Scope, canonical_name};
pub use verdict::LeftOut;
pub use verdict::date;
use verdict::{Subject, equals, judge, outcome};

/// The result of comparing a plan with earlier runs.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// Records left out, by the run that sent them.
    pub left_out: Vec<LeftOut>,
    /// Records rejected because of a problem.
    pub rejected: u64,
    /// The first earlier run with the unknown outcome of a rejected record, and the number of such records.
    pub in_doubt: Option<(RunId, u64)>,
    pub causes: Causes,
    /// Records sent again, as allowed.
    pub repeated: u64,
}

/// Asks a person whether to send edited records as further ones. The causes show both versions.
pub type AsksOfEdited<'a> = &'a (dyn Fn(&Causes, u64) -> bool + Sync);

/// Compares the pending records of a planned run with earlier runs. Stores the outcome of each record that is not to be sent.
/// Edited records are sent only if `asks` says so. Does nothing if already done, unless others sent records while the plan waited.
pub fn compare<'a>(
    ledger: &'a Ledger,
    run: &'a Run,
    allowed: &'a AllowRepeat,
    asks: Option<AsksOfEdited<'a>>,
    now: i64,
) -> BoxFuture<'a, Result<Compared, Error>> {
    Box::pin(async move {
        if !run.about.record.input().must_not_repeat() {
            return Ok(Compared::default());
        }
        let last_claim = ledger.last_claim(run).await?;
        if let Some(last) = run.compared_to {
            // Each request is compared with those of others again, but that finds no corrected ones.
            let waits = run.state == RunState::Planned && !ledger.is_begun(run.id).await?;
            if last == last_claim || !waits {
                return Ok(Compared::default());
            }
        }
        let mut comparison = Comparison {
            ledger,
            run,
            family: ledger.family(run).await?.runs.iter().map(|member| member.id).collect(),
            new: BTreeSet::new(),
            scope: Scope::of(run),
            allowed: Allowed::of(allowed),
            counts: HashMap::new(),
            unnamed: HashMap::new(),
            block: None,
            dates: SheetDates::default(),
            taken_back: TakenBack::default(),
            brought_back: BroughtBack::by(ledger, run).await?,
            left_out: BTreeMap::new(),
            compared: Compared::default(),
            now,
        };
        let mut from: Seq = 0;
        while let Some(block) = ledger.record_block(run.id, from).await? {
            from = block.end();
            let outcomes = comparison.outcomes(&block).await?;
            ledger.settle(run.id, &outcomes).await?;
        }
        let outcomes =
            as_counted::as_counted(ledger, &comparison.scope, &comparison.family, &comparison.counts, now).await?;
        ledger.settle(run.id, &outcomes).await?;
        let outcomes = comparison.edited(asks).await?;
        ledger.settle(run.id, &outcomes).await?;
        ledger.set_compared(run.id, last_claim).await?;
        let Comparison { left_out, mut compared, .. } = comparison;
        compared.left_out = left_out.into_values().collect();
        Ok(compared)
    })
}

/// Returns the outcome of a record that another run has claimed since the comparison.
pub fn claimed_meanwhile(run: &Run, claim: &Claim, name: Option<&str>, earlier: &EarlierClaim, now: i64) -> Outcome {
    let fact = claim.fact(earlier).expect("the claim is of the same record");
    let decision = decide(0, &fact.into(), Policy::default());
    outcome(claim, decision, earlier, &Subject::new(run, name), now)
}

/// The allowed names, in canonical form.
enum Allowed {
    All,
    Named(Vec<String>),
}

impl Allowed {
    fn of(allowed: &AllowRepeat) -> Allowed {
        match allowed {
            AllowRepeat::None => Allowed::Named(Vec::new()),
            AllowRepeat::All => Allowed::All,
            AllowRepeat::Named(names) => Allowed::Named(names.iter().map(|name| canonical_name(name)).collect()),
        }
    }

    /// Returns the policy for a record with this name.
    fn policy(&self, name: Option<&str>) -> Policy {
        let allow_repeat = match (self, name) {
            (Allowed::All, _) => true,
            (Allowed::Named(names), Some(name)) => !names.is_empty() && names.contains(&canonical_name(name)),
            (Allowed::Named(_), None) => false,
        };
        Policy { allow_repeat, ..Policy::default() }
    }
}

/// Earlier requests with a body, for records without a name.
struct EqualRequests {
    known: Known,
    /// The first sent request; with several, without the id of its record, because that of another equal record is unknown.
    first_sent: Option<EarlierClaim>,
    first_in_doubt: Option<EarlierClaim>,
    /// Records of this run with the body so far.
    seen: u64,
}

/// A record that was or may have been sent before.
struct Found {
    known: Known,
    /// The number of equal records before this one in the file, if it has no name.
    nth: u64,
    /// The request to mention in messages.
    earlier: EarlierClaim,
    /// How the record differs from it, if known already.
    difference: String,
    /// Whether it is of a record that an undo of an undo would bring back.
    is_anew: bool,
}

impl Found {
    /// Describes a record that was taken back and uploaded anew, by this request.
    fn anew(request: &EarlierClaim) -> Found {
        let fact = match request.state {
            EarlierState::Sent | EarlierState::Pruned => Fact::SameSent,
            EarlierState::Unknown | EarlierState::InFlight => Fact::MayBeSent,
        };
        Found { known: fact.into(), nth: 0, earlier: request.clone(), difference: String::new(), is_anew: true }
    }

    fn decide(&self, policy: Policy) -> Decision {
        decide(self.nth, &self.known, policy)
    }
}

struct Comparison<'a> {
    ledger: &'a Ledger,
    run: &'a Run,
    family: Vec<RunId>,
    scope: Scope,
    allowed: Allowed,
    /// Records without a name that no earlier run has sent, at most one more than the limit for comparing them.
    new: BTreeSet<Seq>,
    /// Counts that no earlier run has sent: the position and the first row, by what was counted.
    counts: HashMap<ClaimDigest, (Seq, Option<u64>)>,
    /// By body. Bodies of new records are not kept.
    unnamed: HashMap<ClaimDigest, EqualRequests>,
    /// The last block of an earlier run, read to show differences.
    block: Option<(RunId, RecordBlock)>,
    dates: SheetDates,
    taken_back: TakenBack,
    brought_back: Option<BroughtBack>,
    left_out: BTreeMap<RunId, LeftOut>,
    compared: Compared,
    now: i64,
}

impl Comparison<'_> {
    /// Returns the outcomes of the records in the block that are not to be sent.
    async fn outcomes(&mut self, block: &RecordBlock) -> Result<Vec<Outcome>, Error> {
        let scope = self.scope.clone();
        let claims: Vec<(Claim, &PlannedRecord, &str)> = creations(&scope, block).collect();
        let unknown: Vec<Claim> =
            claims.iter().map(|(claim, ..)| claim).filter(|claim| self.is_looked_up(claim)).cloned().collect();
        if claims.is_empty() {
            return Ok(Vec::new());
        }
        let earlier = self.ledger.earlier_claims(&unknown).await?;
        let earlier = self.taken_back.standing(self.ledger, &scope, earlier).await?;
        let sent_anew = match &mut self.brought_back {
            Some(brought_back) => brought_back.sent_anew(self.ledger, &mut self.taken_back, block).await?,
            None => HashMap::new(),
        };
        let mut by_name: HashMap<ClaimDigest, Vec<&EarlierClaim>> = HashMap::new();
        let mut by_body: HashMap<ClaimDigest, Vec<&EarlierClaim>> = HashMap::new();
        for other in &earlier {
            other.claim.name.iter().for_each(|name| by_name.entry(name.digest).or_default().push(other));
            by_body.entry(other.claim.body).or_default().push(other);
        }
        let settled = self.ledger.settled(self.run.id, block.first..=block.end() - 1).await?;
        let mut outcomes = Vec::new();
        for (claim, record, body) in claims {
            let found = match &claim.name {
                Some(name) => {
                    let has_other_name = |other: &&&EarlierClaim| {
                        other.claim.name.as_ref().is_none_or(|other| other.digest != name.digest)
                    };
                    let equal = by_body.get(&claim.body).into_iter().flatten().filter(has_other_name);
                    let known = by_name.get(&name.digest).into_iter().flatten().chain(equal).copied();
                    let is_shown = |other: &&EarlierClaim| claim.shown_by(other, self.run.id, &self.family).is_some();
                    let known: Vec<&EarlierClaim> = known.filter(is_shown).collect();
                    self.judge_named(&claim, &known, settled.contains(&claim.seq)).await?
                }
                None => self.judge_unnamed(&claim, by_body.get(&claim.body).map_or(&[][..], Vec::as_slice)),
            };
            if settled.contains(&claim.seq) {
                continue;
            }
            let found = found.or_else(|| sent_anew.get(&claim.seq).map(Found::anew));
            match found {
                Some(found) => outcomes.extend(self.decide(&claim, (record, body), found).await?),
                // A corrected count is compared with the stock, and sends the rest.
                None if count::is_count(body) && self.allowed.policy(None).heeds(Fact::Replaces) => {
                    self.counts.insert(claim.body, (claim.seq, record.rows.first().copied()));
                }
                None if claim.name.is_none() && self.new.len() <= edited::MAX_NEW => drop(self.new.insert(claim.seq)),
                None => {}
            }
        }
        Ok(outcomes)
    }

    /// Returns the outcomes of new records that replace sent records.
    async fn edited(&mut self, asks: Option<AsksOfEdited<'_>>) -> Result<Vec<Outcome>, Error> {
        if self.new.is_empty()
            || self.run.about.undo_of.is_some()
            || self.new.len() > edited::MAX_NEW
            || !self.allowed.policy(None).heeds(Fact::Replaces)
            || !edited::is_dated(self.run.about.record)
        {
            return Ok(Vec::new());
        }
        let mut runs: BTreeSet<RunId> = self.left_out.keys().copied().collect();
        let lists = edited::earlier_lists(self.ledger, &self.scope, &self.family).await?;
        if self.run.about.retry_of.is_some() {
            // The left-out records may be from an earlier round, and a later upload may have left out those of this one.
            runs.extend(edited::overlapping(self.ledger, &self.scope, &self.family).await?);
            runs.extend(edited::sharing(self.ledger, &self.scope, &self.family, &lists).await?);
        }
        // A record may have been corrected in the report of the run that sent the others.
        runs = edited::with_families(self.ledger, runs).await?;
        runs.retain(|run| !self.family.contains(run));
        if runs.is_empty() && lists.is_empty() {
            return Ok(Vec::new());
        }
        let mut new = NewRecords::read(self.ledger, self.run, &self.scope, &self.new).await?;
        let mut found = new.edited(self.ledger, runs, &self.family).await?;
        found.extend(new.rewritten(self.ledger, &lists).await?);
        let (mut outcomes, mut problems) = (Vec::new(), Vec::new());
        let decided = decide(0, &Fact::Replaces.into(), Policy::default());
        for Edited { seq, earlier, difference } in found {
            let Some(block) = self.ledger.record_block_of(self.run.id, seq).await? else { continue };
            let Some((_, record)) = block.numbered().find(|(known, _)| *known == seq) else { continue };
            let row = record.rows.first().copied();
            let subject = Subject { row, sheet: &record.sheet, difference, ..Subject::new(self.run, None) };
            let claim = Claim { seq, ..earlier.claim.clone() };
            let outcome = outcome(&claim, decided, &earlier, &subject, self.now);
            problems.extend(outcome.problems.iter().map(|problem| (row.unwrap_or_default(), problem.clone())));
            outcomes.push(outcome);
        }
        let add = |causes: &mut Causes| {
            problems.iter().for_each(|(row, problem)| {
                causes.add(*row, problem);
            });
        };
        let count = outcomes.len() as u64;
        if let Some(asks) = asks.filter(|_| count > 0) {
            let mut causes = Causes::default();
            add(&mut causes);
            if asks(&causes, count) {
                self.compared.repeated += count;
                return Ok(Vec::new());
            }
        }
        add(&mut self.compared.causes);
        self.compared.rejected += count;
        Ok(outcomes)
    }

    /// Returns the last request with the name and values of a record, and how its date in the sheet differs. `None` if one of the
    /// requests `known` has the same date, or none has one. Records without a name are identified by their values.
    async fn other_date(
        &mut self,
        claim: &Claim,
        known: &[&EarlierClaim],
    ) -> Result<Option<(EarlierClaim, String)>, Error> {
        let mut other = None;
        for earlier in equals(claim, known.iter().copied()) {
            let place = (earlier.run, earlier.claim.seq);
            match self.dates.difference(self.ledger, self.run, claim.seq, place).await? {
                Some(difference) => other = Some((earlier.clone(), difference)),
                None => return Ok(None),
            }
        }
        Ok(other)
    }

    fn is_looked_up(&self, claim: &Claim) -> bool {
        claim.name.is_some() || !self.unnamed.contains_key(&claim.body)
    }

    /// Compares a record with requests for the same record.
    async fn judge_named(
        &mut self,
        claim: &Claim,
        known: &[&EarlierClaim],
        is_settled: bool,
    ) -> Result<Option<Found>, Error> {
        let Some((facts, earlier)) = judge(claim, known.iter().copied()).filter(|_| !is_settled) else {
            return Ok(None);
        };
        let found = Found { known: facts, nth: 0, earlier: earlier.clone(), difference: String::new(), is_anew: false };
        if found.decide(Policy::default()) != Decision::SentBefore {
            return Ok(Some(found));
        }
        Ok(Some(match self.other_date(claim, known).await? {
            Some((earlier, difference)) => Found { known: Fact::SentOnOtherDate.into(), earlier, difference, ..found },
            None => found,
        }))
    }

    /// Compares a record without a name with the equal requests. `found` are the requests in the ledger, needed for the first of
    /// equal records only.
    fn judge_unnamed(&mut self, claim: &Claim, found: &[&EarlierClaim]) -> Option<Found> {
        if !self.unnamed.contains_key(&claim.body) {
            let shown =
                |other: &&EarlierClaim| Some((claim.shown_by(other, self.run.id, &self.family)?, (*other).clone()));
            let shown: Vec<(Fact, EarlierClaim)> = found.iter().filter_map(shown).collect();
            let first = |wanted: Fact| shown.iter().find(|(fact, _)| *fact == wanted).map(|(_, first)| first.clone());
            let is_single = shown.iter().filter(|(fact, _)| *fact == Fact::SameSent).count() == 1;
            let first_sent = first(Fact::SameSent)
                .map(|first| EarlierClaim { service_id: first.service_id.clone().filter(|_| is_single), ..first });
            let known: Known = shown.iter().map(|(fact, _)| *fact).collect();
            if known == Known::default() {
                return None;
            }
            let requests = EqualRequests { known, first_sent, first_in_doubt: first(Fact::MayBeSent), seen: 0 };
            self.unnamed.insert(claim.body, requests);
        }
        let requests = self.unnamed.get_mut(&claim.body)?;
        let (known, nth) = (requests.known, requests.seen);
        requests.seen += 1;
        let earlier = match decide(nth, &known, Policy::default()) {
            Decision::SentBefore => requests.first_sent.clone(),
            Decision::InDoubt => requests.first_in_doubt.clone(),
            _ => None,
        };
        Some(Found { known, nth, earlier: earlier?, difference: String::new(), is_anew: false })
    }

    /// Returns the outcome of a record that was or may have been sent before, or `None` to send it again.
    async fn decide(
        &mut self,
        claim: &Claim,
        (record, body): (&PlannedRecord, &str),
        found: Found,
    ) -> Result<Option<Outcome>, Error> {
        let name = record.key.as_deref();
        let decision = found.decide(self.allowed.policy(name));
        let Found { earlier, mut difference, is_anew, .. } = found;
        let mut other_name = None;
        match decision {
            Decision::Send => {
                self.compared.repeated += 1;
                return Ok(None);
            }
            Decision::OtherContent if difference.is_empty() => difference = self.difference(&earlier, body).await?,
            Decision::SameContent => {
                other_name = self.earlier_record(&earlier).await?.and_then(|record| record.key.clone());
            }
            _ => {}
        }
        let row = record.rows.first().copied();
        let subject = Subject::new(self.run, name);
        let is_undo = subject.is_undo && !is_anew;
        let subject = Subject { row, sheet: &record.sheet, difference, other_name, is_undo, ..subject };
        let outcome = outcome(claim, decision, &earlier, &subject, self.now);
        let row = row.unwrap_or_default();
        match outcome.state {
            RecordState::Unchanged => {
                let new =
                    || LeftOut { run: earlier.run, date: date(earlier.at), records: 0, rows: Vec::new(), is_undo };
                let left_out = self.left_out.entry(earlier.run).or_insert_with(new);
                left_out.records += 1;
                if left_out.rows.len() < FIRST_ROWS {
                    left_out.rows.push(row);
                }
            }
            _ => {
                self.compared.rejected += 1;
                if decision == Decision::InDoubt && earlier.state != EarlierState::InFlight {
                    self.compared.in_doubt.get_or_insert((earlier.run, 0)).1 += 1;
                }
                outcome.problems.iter().for_each(|problem| {
                    self.compared.causes.add(row, problem);
                });
            }
        }
        Ok(Some(outcome))
    }

    /// Describes the differences between a body and an earlier request. Empty if the earlier run was pruned.
    async fn difference(&mut self, earlier: &EarlierClaim, body: &str) -> Result<String, Error> {
        Ok(match self.earlier_record(earlier).await?.map(|record| &record.disposition) {
            Some(Disposition::Send(then)) => difference::describe(then, body),
            _ => String::new(),
        })
    }

    /// Returns the record of an earlier request, unless its run was pruned.
    async fn earlier_record(&mut self, earlier: &EarlierClaim) -> Result<Option<&PlannedRecord>, Error> {
        let (run, seq) = (earlier.run, earlier.claim.seq);
        let holds = |(known, block): &(RunId, RecordBlock)| *known == run && (block.first..block.end()).contains(&seq);
        if !self.block.as_ref().is_some_and(holds) {
            self.block = self.ledger.record_block_of(run, seq).await?.map(|block| (run, block));
        }
        let mut records = self.block.iter().flat_map(|(_, block)| block.numbered());
        Ok(records.find(|(known, _)| *known == seq).map(|(_, record)| record))
    }
}
