//! The runs that came of one upload by trying it again, and what they say together about each row of one of them.
//!
//! A row is followed through the runs by its origin. What the newest run says of it counts, but for two things: a run
//! that did not send a row says nothing of what the service has of it, and what was accepted of a kind that must not be
//! made twice stays accepted. A million rows take some 40 MB.

use std::collections::{BTreeMap, HashMap, HashSet};

use sqlx::{QueryBuilder, Row, Sqlite};

use super::accepted::hash;
use super::block::{Fate, Kept, Origin, PlannedRecord, SourceRow};
use super::error::Error;
use super::open::Ledger;
use super::outcomes::service_id;
use super::run::{Run, RunState};
use super::send::OutcomeState;
use super::{RunId, Seq};

/// A run, what it tried again, and what tried it again, and so on.
#[derive(Clone, Debug)]
pub struct Family {
    /// The first of them, which old ledgers may not hold any more.
    pub root: RunId,
    /// Those that the ledger holds, in their order.
    pub runs: Vec<Run>,
}

/// What is asked about the rows of a run.
pub struct RowQuestion<'a> {
    /// Its records are made again when they are sent again.
    pub is_once: bool,
    /// A number that is the same for two rows whose cells say the same; from the cells as the ledger has them.
    pub fingerprint: &'a (dyn Fn(&SourceRow<'_>) -> u32 + Sync),
    /// Codes of problems after which a row that is as it was is wrong still.
    pub suspicious: &'a [&'a str],
}

/// What became of the rows of a run, in that run and all of its family.
#[derive(Debug, Default)]
pub struct RowStates {
    sheets: Vec<String>,
    /// By sheet and number.
    places: Vec<Place>,
    /// What became of each row, whichever number it has in each run.
    slots: Vec<RowState>,
    /// Those that came with a report, and not with the first file.
    added: HashSet<u32>,
    /// The rows of each record.
    rows: Vec<u32>,
    /// Requests that were or may have been accepted, by their hash; the run and the row that each began on.
    bodies: HashMap<i64, (RunId, u32)>,
    /// Of records that somebody added to a report and that may be sent again, by the hash of their key: the hash of the
    /// request that was accepted last, and where.
    accepted: HashMap<i64, (i64, RunId, Seq)>,
}

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowState {
    /// It was not accepted: it is wrong, was refused, or was never sent.
    Open,
    /// It was left out.
    Skipped,
    /// Nobody knows. The run that knows of it.
    Unknown(RunId),
    /// In that run, as that record.
    Accepted(RunId, Seq),
}

/// A row of the run.
#[derive(Clone, Copy, Debug)]
pub struct PastRow<'a> {
    pub number: u64,
    pub sheet: &'a str,
    pub state: RowState,
    /// Somebody added it to a report.
    pub is_added: bool,
    /// The record that it was part of, and how many rows that had.
    pub record: Seq,
    pub rows_of_record: u32,
    pub fingerprint: u32,
    /// It had a problem after which it is wrong as long as it stays as it was.
    pub is_suspicious: bool,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    sheet: u32,
    number: u32,
    slot: u32,
    record: u32,
    fingerprint: u32,
    is_suspicious: bool,
}

/// What a run says of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Sent,
    Kept,
    Failed,
    Unknown,
    Skipped,
    /// Rejected, or never to be sent.
    Nothing,
}

impl Ledger {
    pub async fn family(&self, run: &Run) -> Result<Family, Error> {
        let mut root = run.id;
        let mut parent = run.about.retry_of;
        while let Some(earlier) = parent {
            if earlier >= root {
                return Err(Error::Corrupt(format!("run {root} is of an earlier time than run {earlier}")));
            }
            root = earlier;
            parent = match self.run(earlier).await {
                Ok(run) => run.about.retry_of,
                Err(Error::NoSuchRun(_)) => None,
                Err(error) => return Err(error),
            };
        }
        let query = "WITH RECURSIVE family (id) AS (SELECT CAST($1 AS BIGINT) UNION \
                     SELECT run.id FROM run JOIN family ON run.retry_of = family.id) \
                     SELECT run.id FROM run JOIN family ON run.id = family.id ORDER BY run.id";
        let ids: Vec<RunId> = sqlx::query_scalar(query).bind(root).fetch_all(&self.reader).await?;
        let mut runs = Vec::with_capacity(ids.len());
        for id in ids {
            runs.push(self.run(id).await?);
        }
        Ok(Family { root, runs })
    }

    /// What became of the rows of `run`. Only for whoever holds the family's lock, when nothing of it is pending.
    pub async fn row_states(
        &self,
        run: RunId,
        family: &Family,
        question: &RowQuestion<'_>,
    ) -> Result<RowStates, Error> {
        let mut states = RowStates::default();
        let mut gone: HashMap<(RunId, u32, u32), u32> = HashMap::new();
        let mut others: HashMap<RunId, Vec<Place>> = HashMap::new();
        for member in family.runs.iter().filter(|member| member.state != RunState::Planning) {
            let (said, suspicious) = self.said(member, question, &mut states.bodies).await?;
            let parent = member.about.retry_of;
            let mut places = Vec::new();
            let mut rows = vec![0; if member.id == run { said.len() } else { 0 }];
            let mut added = HashSet::new();
            let mut from = 0;
            while let Some(block) = self.source_block(member.id, from).await? {
                from = block.end();
                for row in block.rows() {
                    let slot = match (parent, came_from(&row)) {
                        (Some(parent), Some((sheet, number))) => {
                            let key = (states.sheet(sheet), narrow(number)?);
                            let known = others.get(&parent).map(|places| find(places, key));
                            match known {
                                Some(place) => place.map(|place| place.slot),
                                // The run is gone, but what two others made of a row of it still belongs together.
                                None => Some(*gone.entry((parent, key.0, key.1)).or_insert_with(|| states.new_slot())),
                            }
                        }
                        _ => None,
                    };
                    let slot = slot.unwrap_or_else(|| {
                        let slot = states.new_slot();
                        states.added.extend(parent.map(|_| slot));
                        added.extend(parent.map(|_| row.seq));
                        slot
                    });
                    let missing = || Error::Corrupt(format!("run {} has no record {}", member.id, row.seq));
                    let record = usize::try_from(row.seq).map_err(|_| missing())?;
                    let told = *said.get(record).ok_or_else(missing)?;
                    states.tell(slot, told, member.id, row.seq, question.is_once);
                    if let Some(rows) = rows.get_mut(record) {
                        *rows += 1;
                    }
                    places.push(Place {
                        sheet: states.sheet(&row.sheet),
                        number: narrow(row.number)?,
                        slot,
                        record: narrow(u64::try_from(row.seq).unwrap_or(u64::MAX))?,
                        fingerprint: if member.id == run { (question.fingerprint)(&row) } else { 0 },
                        is_suspicious: suspicious.contains(&(row.number, row.sheet.into_owned())),
                    });
                }
            }
            if !question.is_once && parent.is_some() {
                self.remember_added(member.id, &said, &added, &mut states.accepted).await?;
            }
            places.sort_unstable_by_key(|place| (place.sheet, place.number));
            if family.runs.iter().any(|other| other.about.retry_of == Some(member.id)) {
                others.insert(member.id, places.clone());
            }
            if member.id == run {
                (states.rows, states.places) = (rows, places);
            }
        }
        Ok(states)
    }

    /// What `run` says of each of its records, and the rows that had one of the suspicious problems.
    async fn said(
        &self,
        run: &Run,
        question: &RowQuestion<'_>,
        bodies: &mut HashMap<i64, (RunId, u32)>,
    ) -> Result<(Vec<Said>, HashSet<(u64, String)>), Error> {
        let mut all = Vec::new();
        let mut suspicious = HashSet::new();
        let mut from: Seq = 0;
        while let Some(block) = self.record_block(run.id, from).await? {
            let last = block.first + block.records.len() as Seq - 1;
            from = last + 1;
            let outcomes = self.outcome_states(run.id, block.first, last).await?;
            for (seq, record) in (block.first..).zip(&block.records) {
                let said = said(record, outcomes.get(&seq).copied(), run)?;
                if question.is_once
                    && record.target.is_none()
                    && matches!(said, Said::Sent | Said::Unknown)
                    && let Fate::Send(body) = &record.fate
                {
                    let row = narrow(record.rows.first().copied().unwrap_or_default())?;
                    bodies.entry(hash(&[body])).or_insert((run.id, row));
                }
                if let Fate::Rejected(problems) = &record.fate {
                    let is = |code: &str| question.suspicious.contains(&code);
                    let problems = problems.iter().filter(|problem| is(&problem.code));
                    suspicious.extend(problems.filter_map(|problem| Some((problem.row?, problem.sheet.clone()))));
                }
                all.push(said);
            }
        }
        Ok((all, suspicious))
    }

    /// Notes what `run` sent of records that were added to its report, and of those that are called like one.
    async fn remember_added(
        &self,
        run: RunId,
        said: &[Said],
        added: &HashSet<Seq>,
        accepted: &mut HashMap<i64, (i64, RunId, Seq)>,
    ) -> Result<(), Error> {
        let mut from: Seq = 0;
        while (!added.is_empty() || !accepted.is_empty())
            && let Some(block) = self.record_block(run, from).await?
        {
            from = block.first + block.records.len() as Seq;
            for (seq, record) in (block.first..).zip(&block.records) {
                let (Fate::Send(body), Some(key), None) = (&record.fate, &record.key, &record.target) else { continue };
                let is_sent = usize::try_from(seq).ok().and_then(|place| said.get(place)) == Some(&Said::Sent);
                let key = hash(&[key]);
                if !is_sent {
                    // A refused or lost call may have had an effect all the same.
                    accepted.remove(&key);
                } else if added.contains(&seq) || accepted.contains_key(&key) {
                    accepted.insert(key, (hash(&[body]), run, seq));
                }
            }
        }
        Ok(())
    }

    /// The outcomes' states alone; what a person said about one comes before what was noted.
    async fn outcome_states(&self, run: RunId, first: Seq, last: Seq) -> Result<BTreeMap<Seq, OutcomeState>, Error> {
        let mut states = BTreeMap::new();
        // A resolution is only ever of a record that has an outcome.
        for query in [
            "SELECT seq, state FROM outcome WHERE run = $1 AND seq BETWEEN $2 AND $3",
            "SELECT seq, state FROM resolution WHERE run = $1 AND seq BETWEEN $2 AND $3",
        ] {
            let rows = sqlx::query(query).bind(run).bind(first).bind(last).fetch_all(&self.reader).await?;
            for row in rows {
                let state: String = row.try_get(1)?;
                states.insert(row.try_get(0)?, OutcomeState::from_name(&state)?);
            }
        }
        Ok(states)
    }

    /// Adds to each what the service calls it.
    pub async fn name_kept(&self, records: &mut [PlannedRecord]) -> Result<(), Error> {
        let mut wanted: BTreeMap<RunId, Vec<&mut Kept>> = BTreeMap::new();
        for record in records {
            if let Fate::Kept(kept) = &mut record.fate {
                wanted.entry(kept.run).or_default().push(kept);
            }
        }
        for (run, mut wanted) in wanted {
            for wanted in wanted.chunks_mut(1_000) {
                let mut query = QueryBuilder::<Sqlite>::new("SELECT seq, said FROM outcome WHERE run = ");
                query.push_bind(run).push(" AND seq IN (");
                let mut list = query.separated(", ");
                for kept in wanted.iter() {
                    list.push_bind(kept.seq);
                }
                query.push(")");
                let mut names: HashMap<Seq, String> = HashMap::new();
                for row in query.build().fetch_all(&self.reader).await? {
                    let said: String = row.try_get(1)?;
                    names.extend(service_id(&said)?.map(|name| (row.get(0), name)));
                }
                for kept in wanted {
                    kept.service_id = match names.remove(&kept.seq) {
                        Some(name) => Some(name),
                        None => self.kept_name(run, kept.seq).await?,
                    };
                }
            }
        }
        Ok(())
    }

    /// What the service calls a record that the run itself kept from one that is gone.
    async fn kept_name(&self, run: RunId, seq: Seq) -> Result<Option<String>, Error> {
        let Some(block) = self.record_block_of(run, seq).await? else { return Ok(None) };
        let place = usize::try_from(seq - block.first).ok();
        Ok(match place.and_then(|place| block.records.into_iter().nth(place)).map(|record| record.fate) {
            Some(Fate::Kept(kept)) => kept.service_id,
            _ => None,
        })
    }
}

impl RowStates {
    /// The place here of the run's row of that number and sheet.
    pub fn find(&self, sheet: &str, number: u64) -> Option<usize> {
        let sheet = self.sheets.iter().position(|known| known == sheet)?;
        let key = (u32::try_from(sheet).ok()?, u32::try_from(number).ok()?);
        self.places.binary_search_by_key(&key, |place| (place.sheet, place.number)).ok()
    }

    pub fn row(&self, place: usize) -> Option<PastRow<'_>> {
        let place = self.places.get(place)?;
        Some(PastRow {
            number: u64::from(place.number),
            sheet: self.sheets.get(place.sheet as usize).map_or("", String::as_str),
            state: *self.slots.get(place.slot as usize)?,
            is_added: self.added.contains(&place.slot),
            record: Seq::from(place.record),
            rows_of_record: self.rows.get(place.record as usize).copied().unwrap_or_default(),
            fingerprint: place.fingerprint,
            is_suspicious: place.is_suspicious,
        })
    }

    /// How many rows the run has.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The run and the row of a request of the same bytes that was, or may have been, accepted.
    pub fn same_as(&self, body: &str) -> Option<(RunId, u64)> {
        self.bodies.get(&hash(&[body])).map(|(run, row)| (*run, u64::from(*row)))
    }

    /// The record of a request of the same key and bytes that somebody added to a report and that was accepted since, if
    /// nothing else was sent of that key after it.
    pub fn accepted_as(&self, key: &str, body: &str) -> Option<(RunId, Seq)> {
        let (accepted, run, seq) = self.accepted.get(&hash(&[key]))?;
        (*accepted == hash(&[body])).then_some((*run, *seq))
    }

    /// Of the run's records, those of which a row is not open any more.
    pub fn closed(&self) -> HashSet<Seq> {
        let is_closed = |place: &&Place| self.slots.get(place.slot as usize) != Some(&RowState::Open);
        self.places.iter().filter(is_closed).map(|place| Seq::from(place.record)).collect()
    }

    /// Of rows of one record each, in their order.
    #[cfg(test)]
    pub fn of(rows: &[(&str, u32, RowState)]) -> RowStates {
        let mut states = RowStates::default();
        for (record, (name, number, state)) in (0..).zip(rows) {
            let (sheet, slot) = (states.sheet(name), states.new_slot());
            states.slots[slot as usize] = *state;
            states.rows.push(1);
            states.places.push(Place { sheet, number: *number, slot, record, fingerprint: 0, is_suspicious: false });
        }
        states.places.sort_unstable_by_key(|place| (place.sheet, place.number));
        states
    }

    fn sheet(&mut self, name: &str) -> u32 {
        let place = self.sheets.iter().position(|known| known == name).unwrap_or_else(|| {
            self.sheets.push(name.to_owned());
            self.sheets.len() - 1
        });
        u32::try_from(place).unwrap_or(u32::MAX)
    }

    fn new_slot(&mut self) -> u32 {
        self.slots.push(RowState::Open);
        u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
    }

    fn tell(&mut self, slot: u32, said: Said, run: RunId, seq: Seq, is_once: bool) {
        if let Some(state) = self.slots.get_mut(slot as usize) {
            *state = after(*state, said, run, seq, is_once);
        }
    }
}

/// What is known of a row after a further run had its say.
fn after(state: RowState, said: Said, run: RunId, seq: Seq, is_once: bool) -> RowState {
    let is_accepted = matches!(state, RowState::Accepted(..));
    match said {
        Said::Sent => RowState::Accepted(run, seq),
        Said::Kept if is_accepted => state,
        Said::Kept => RowState::Accepted(run, seq),
        _ if is_accepted && is_once => state,
        Said::Unknown => RowState::Unknown(run),
        Said::Failed => RowState::Open,
        Said::Skipped | Said::Nothing if is_accepted || matches!(state, RowState::Unknown(_)) => state,
        Said::Skipped => RowState::Skipped,
        Said::Nothing => RowState::Open,
    }
}

fn said(record: &PlannedRecord, outcome: Option<OutcomeState>, run: &Run) -> Result<Said, Error> {
    Ok(match (outcome, &record.fate) {
        (Some(OutcomeState::Sent | OutcomeState::Unchanged), _) => Said::Sent,
        (Some(OutcomeState::Failed), _) => Said::Failed,
        (Some(OutcomeState::Unknown), _) => Said::Unknown,
        (Some(OutcomeState::Skipped), _) | (None, Fate::Skipped) => Said::Skipped,
        (Some(OutcomeState::Rejected), _) | (None, Fate::Rejected(_)) => Said::Nothing,
        (None, Fate::Kept(_)) => Said::Kept,
        (None, Fate::Send(_)) if run.state == RunState::Withheld => Said::Nothing,
        // Nobody may guess about what is still to be sent.
        (None, Fate::Send(_)) => Said::Unknown,
    })
}

/// The sheet and number of the row in the run that is tried again.
fn came_from<'r>(row: &'r SourceRow<'_>) -> Option<(&'r str, u64)> {
    match &row.origin {
        Origin::Same => Some((&row.sheet, row.number)),
        Origin::Row { number, sheet } => Some((sheet, *number)),
        Origin::New => None,
    }
}

fn find(places: &[Place], key: (u32, u32)) -> Option<Place> {
    let found = places.binary_search_by_key(&key, |place| (place.sheet, place.number)).ok()?;
    places.get(found).copied()
}

fn narrow(number: u64) -> Result<u32, Error> {
    u32::try_from(number).map_err(|_| Error::Corrupt(format!("a row or record of the number {number}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is known after runs 1, 2, 3 … said this, in their order.
    #[track_caller]
    fn check(said: &[Said], is_once: bool, expected: RowState) {
        let state = (1..).zip(said).fold(RowState::Open, |state, (run, said)| after(state, *said, run, 7, is_once));
        assert_eq!(state, expected, "{said:?}");
    }

    #[test]
    fn what_was_not_sent_says_nothing_of_what_the_service_has() {
        for is_once in [false, true] {
            check(&[Said::Sent, Said::Nothing], is_once, RowState::Accepted(1, 7));
            check(&[Said::Sent, Said::Kept, Said::Skipped], is_once, RowState::Accepted(1, 7));
            check(&[Said::Unknown, Said::Nothing], is_once, RowState::Unknown(1));
            check(&[Said::Nothing, Said::Failed, Said::Nothing], is_once, RowState::Open);
            check(&[Said::Failed, Said::Sent], is_once, RowState::Accepted(2, 7));
            check(&[Said::Skipped], is_once, RowState::Skipped);
            check(&[Said::Kept], is_once, RowState::Accepted(1, 7));
            check(&[], is_once, RowState::Open);
        }
    }

    #[test]
    fn only_what_may_be_made_again_is_open_after_it_was_accepted() {
        check(&[Said::Sent, Said::Failed], false, RowState::Open);
        check(&[Said::Sent, Said::Failed], true, RowState::Accepted(1, 7));
        check(&[Said::Sent, Said::Unknown], false, RowState::Unknown(2));
        check(&[Said::Sent, Said::Unknown], true, RowState::Accepted(1, 7));
    }
}
