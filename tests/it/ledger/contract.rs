//! What the ledger must do in both of its databases: incomplete plans are not sent, every record is counted once, and locks
//! exclude other processes.

use std::collections::BTreeSet;
use std::path::Path;

use sheetport_findings::{Code, SkipReason};
use sheetport_ledger::{
    AcceptedEarlier, Accounting, Action, AllowRepeat, Claim, Disposition, Error, KeyScope, Ledger, NewRun, NewerKeys,
    OtherRequest, Outcome, PageSizes, Part, PlannedRecord, Problem, RecordState, Resolution, RunId, RunSettings,
    SendingChanges, Seq,
};
use sheetport_records::RecordKind;
use tempfile::TempDir;

use crate::faults::{about, assert_adds_up, client_of, record, row, work};
use crate::postgres::Cluster;

/// A new database for a ledger.
pub struct Place {
    folder: TempDir,
    server: Option<Cluster>,
}

impl Place {
    pub fn file() -> Place {
        Place { folder: tempfile::tempdir().unwrap(), server: None }
    }

    /// Returns a database on a server, or `None` with a message if PostgreSQL is not installed.
    pub fn server() -> Option<Place> {
        let server = Cluster::start()?;
        server.database("ledger");
        Some(Place { server: Some(server), ..Place::file() })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub async fn open(&self) -> Ledger {
        self.opening().await.unwrap()
    }

    fn opening(&self) -> impl Future<Output = Result<Ledger, Error>> + Send + use<> {
        let (path, address) = (self.path().to_owned(), self.server.as_ref().map(|server| server.address("ledger")));
        async move {
            match address {
                Some(address) => Ledger::connect(&address.parse().unwrap(), &path).await,
                None => Ledger::open(&path).await,
            }
        }
    }

    /// Changes the database behind the back of the ledger.
    async fn execute(&self, sql: &str) {
        match &self.server {
            Some(server) => {
                server.query("ledger", sql);
            }
            None => super::execute(self.path(), sql).await,
        }
    }
}

/// Declares a test of each function for each database.
macro_rules! in_both_databases {
    ($($name:ident)+) => {
        mod sqlite {
            $(
                #[tokio::test]
                async fn $name() {
                    super::$name(super::Place::file()).await;
                }
            )+
        }

        mod postgresql {
            $(
                #[tokio::test]
                async fn $name() {
                    if let Some(place) = super::Place::server() {
                        super::$name(place).await;
                    }
                }
            )+
        }
    };
}

in_both_databases! {
    an_unfinished_plan_is_not_sent
    records_keep_their_order_across_blocks
    states_always_add_up_to_the_total
    a_second_outcome_for_a_record_rolls_back_the_whole_batch
    withdrawn_records_are_counted_once_and_not_sent
    a_record_that_is_claimed_again_is_seen_by_runs_that_were_compared_before
    a_lock_excludes_other_processes
    only_the_run_that_a_process_has_is_worked_on
    concurrent_runs_get_distinct_numbers
    a_new_ledger_can_be_opened_concurrently
    records_accepted_earlier_count_as_unchanged_and_are_not_sent
    outcomes_are_read_back_exactly
    more_outcomes_than_records_are_an_error
    unknown_records_are_resolved_and_refused_ones_retried
    records_in_flight_become_unknown_unless_their_keys_are_remembered
    newer_uploads_are_waited_for_and_seen
    an_older_upload_sees_what_a_newer_one_found_unchanged
    the_last_bodies_of_keys_are_found
    an_unchanged_file_leaves_only_its_counts
    learned_rates_and_page_sizes_are_stored
    altered_rows_are_noticed
    who_did_what_is_kept_and_bounded
}

pub fn problem() -> Problem {
    Problem::of_record(Code::Duplicate, "twice")
}

/// Plans `count` records: of every ten, the first is skipped and the second is rejected.
pub async fn planned(place: &Place, count: usize) -> (Ledger, RunId) {
    let ledger = place.open().await;
    let mut plan = ledger.begin_plan(&about(), 1).await.unwrap();
    for seq in 0..count {
        plan.add_row(row(seq)).await.unwrap();
        let planned = record(seq, &seq.to_string());
        let disposition = match seq % 10 {
            0 => Disposition::Skipped(SkipReason::SkipWhere),
            1 => Disposition::Rejected(vec![problem()]),
            _ => planned.disposition,
        };
        plan.add_record(PlannedRecord { disposition, ..planned }).await.unwrap();
    }
    let run = plan.finish(1).await.unwrap();
    (ledger, run)
}

async fn accounting(ledger: &Ledger, run: RunId) -> Accounting {
    let accounting = ledger.accounting(run).await.unwrap();
    assert_adds_up(&accounting);
    accounting
}

pub fn outcomes(seqs: impl IntoIterator<Item = Seq>, state: RecordState) -> Vec<Outcome> {
    seqs.into_iter().map(|seq| Outcome { attempts: 1, ..Outcome::new(seq, state, 2) }).collect()
}

async fn an_unfinished_plan_is_not_sent(place: Place) {
    let ledger = place.open().await;
    let mut plan = ledger.begin_plan(&about(), 1).await.unwrap();
    for seq in 0..1_000 {
        plan.add_record(record(seq, &seq.to_string())).await.unwrap();
    }
    let locked = ledger.lock_run(1).await.unwrap();
    let client = client_of("http://127.0.0.1:1", Some("a"), None, 1);
    let work = work(&ledger, client, &locked, RecordKind::Item, 1);
    let ended = sheetport_send::send(&work, None, Box::pin(std::future::pending()), &|_| {}).await.unwrap();
    assert_eq!(ended.stopped, None);
    assert!(matches!(ledger.run_or_newest(None).await, Err(Error::NoRuns)));
    assert_eq!(accounting(&ledger, 1).await.sent, 0);
}

async fn records_keep_their_order_across_blocks(place: Place) {
    for count in [1, 511, 512, 513, 1_025] {
        let (ledger, run) = planned(&place, count).await;
        let mut from = 0;
        let mut keys = Vec::new();
        while let Some(block) = ledger.record_block(run, from).await.unwrap() {
            assert_eq!(block.first, from);
            from += block.records.len() as Seq;
            keys.extend(block.records.into_iter().map(|record| record.key.unwrap()));
        }
        assert!(keys.iter().map(|key| key.parse::<usize>().unwrap()).eq(0..count), "{count}");
        let last = ledger.record_block_of(run, count as Seq - 1).await.unwrap().unwrap();
        assert_eq!(last.first as usize, (count - 1) / 512 * 512);
        assert_eq!(accounting(&ledger, run).await.rows as usize, count);
    }
}

async fn states_always_add_up_to_the_total(place: Place) {
    let (ledger, run) = planned(&place, 1_000).await;
    let now = accounting(&ledger, run).await;
    assert_eq!((now.total, now.skipped, now.rejected, now.pending), (1_000, 100, 100, 800));
    ledger.settle(run, &outcomes((0..100).filter(|seq| seq % 10 > 1), RecordState::Sent)).await.unwrap();
    ledger.settle(run, &outcomes([102, 103], RecordState::Failed)).await.unwrap();
    ledger.settle(run, &outcomes([104], RecordState::Unknown)).await.unwrap();
    ledger.settle(run, &outcomes([105], RecordState::Unchanged)).await.unwrap();
    let now = accounting(&ledger, run).await;
    assert_eq!((now.sent, now.failed, now.unknown, now.unchanged, now.pending), (80, 2, 1, 1, 716));
    let changes = SendingChanges { requests: 84, retries: 3, ..SendingChanges::default() };
    ledger.store(run, &changes).await.unwrap();
    ledger.store(run, &SendingChanges { requests: 1, ..SendingChanges::default() }).await.unwrap();
    let now = accounting(&ledger, run).await;
    assert_eq!((now.requests, now.retries), (85, 3), "of all attempts, with and without an outcome");
}

async fn a_second_outcome_for_a_record_rolls_back_the_whole_batch(place: Place) {
    let (ledger, run) = planned(&place, 2_000).await;
    ledger.settle(run, &outcomes([1_999], RecordState::Failed)).await.unwrap();
    let all = outcomes((0..2_000).filter(|seq| seq % 10 > 1), RecordState::Sent);
    assert!(matches!(ledger.settle(run, &all).await, Err(Error::Database(_))));
    let now = accounting(&ledger, run).await;
    assert_eq!((now.sent, now.failed, now.pending), (0, 1, 1_599));
    assert_eq!(ledger.settled(run, 0..=5_000).await.unwrap(), BTreeSet::from([1_999]));
}

async fn withdrawn_records_are_counted_once_and_not_sent(place: Place) {
    let ledger = place.open().await;
    let mut plan = ledger.begin_plan(&about(), 1).await.unwrap();
    for seq in 0..3_000 {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(record(seq, &seq.to_string())).await.unwrap();
    }
    for seq in (0..3_000).filter(|seq| seq % 2 == 0) {
        plan.withdraw(seq, RecordState::Rejected, problem(), 1);
    }
    plan.withdraw(4, RecordState::Rejected, Problem { message: "thrice".into(), ..problem() }, 1);
    let run = plan.finish(1).await.unwrap();
    let now = accounting(&ledger, run).await;
    assert_eq!((now.rejected, now.pending), (1_500, 1_500));
    assert!(ledger.settled(run, 0..=2_999).await.unwrap().into_iter().eq((0..3_000).step_by(2)));
    assert_eq!(ledger.outcomes(run, 4..=4).await.unwrap()[&4].problems, [problem()]);
}

/// A paused or refused request is made again later. A run that was compared with the others in the meantime took its claim
/// for that of a request that was not applied.
async fn a_record_that_is_claimed_again_is_seen_by_runs_that_were_compared_before(place: Place) {
    let (ledger, one) = planned(&place, 10).await;
    let two = ledger.begin_plan(&about(), 1).await.unwrap().finish(1).await.unwrap();
    let claim = Claim { seq: 2, name: None, body: [7; 16] };
    let nothing = SendingChanges::default;
    let start = async |run: RunId| {
        let run = ledger.run(run).await.unwrap();
        ledger.start(&run, &[], &nothing(), std::slice::from_ref(&claim), false, 1).await.unwrap()
    };
    assert_eq!(start(one).await, []);
    ledger.store(one, &SendingChanges { finished: vec![2], ..nothing() }).await.unwrap();
    ledger.set_compared(two, ledger.last_claim(&ledger.run(two).await.unwrap()).await.unwrap()).await.unwrap();
    assert_eq!(start(one).await, []);
    let repeated = start(two).await;
    assert_eq!(repeated.iter().map(|(seq, earlier)| (*seq, earlier.run)).collect::<Vec<_>>(), [(2, one)]);
    ledger.lock_checked_run(one).await.unwrap();
}

async fn a_lock_excludes_other_processes(place: Place) {
    let (one, other) = (place.open().await, place.open().await);
    let other_file = NewRun { file_hash: "other".into(), ..about() };
    let lock = one.lock_upload(&about()).await.unwrap();
    assert!(matches!(other.lock_upload(&about()).await, Err(Error::Busy { .. })));
    other.lock_upload(&other_file).await.unwrap();
    drop(lock);
    other.lock_upload(&about()).await.unwrap();
}

async fn only_the_run_that_a_process_has_is_worked_on(place: Place) {
    let (ledger, other_process) = (place.open().await, place.open().await);
    let other_file = NewRun { file_hash: "other".into(), ..about() };
    let plan = async |about: &NewRun, now| ledger.begin_plan(about, now).await.unwrap().finish(1).await.unwrap();
    let runs = [plan(&about(), 1).await, plan(&about(), 2).await, plan(&other_file, 3).await];
    let worked_on = async || {
        let mut found = Vec::new();
        for run in runs {
            if other_process.is_worked_on(run).await.unwrap() {
                found.push(run);
            }
        }
        found
    };
    assert!(worked_on().await.is_empty());
    // Both uploads of the file share the lock: the later one is meant, until the first is resumed.
    let lock = ledger.lock_upload(&about()).await.unwrap();
    assert_eq!(worked_on().await, runs[1..2]);
    drop(lock);
    assert!(worked_on().await.is_empty());
    let _other = ledger.lock_run(runs[2]).await.unwrap();
    assert_eq!(worked_on().await, runs[2..]);
}

async fn concurrent_runs_get_distinct_numbers(place: Place) {
    let (one, other) = (place.open().await, place.open().await);
    let about = about();
    for _ in 0..10 {
        let (a, b, c) =
            tokio::join!(one.begin_plan(&about, 1), other.begin_plan(&about, 1), other.begin_plan(&about, 1));
        a.and(b).and(c).unwrap();
    }
    let ids: BTreeSet<RunId> = one.runs(100).await.unwrap().into_iter().map(|run| run.id).collect();
    assert!(ids.into_iter().eq(1..=30));
}

async fn a_new_ledger_can_be_opened_concurrently(place: Place) {
    {
        let tasks: Vec<_> = (0..6)
            .map(|_| {
                let opening = place.opening();
                tokio::spawn(async move { opening.await.map(|_| ()) })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
    }
}

async fn records_accepted_earlier_count_as_unchanged_and_are_not_sent(place: Place) {
    let (ledger, run) = planned(&place, 20).await;
    let about = NewRun { retry_of: Some(run), ..about() };
    let mut plan = ledger.begin_plan(&about, 1).await.unwrap();
    let dispositions = [
        Disposition::AcceptedEarlier(AcceptedEarlier { run, seq: 2, service_id: Some("i".into()) }),
        Disposition::Skipped(SkipReason::SkipWhere),
        record(2, "c").disposition,
    ];
    for (seq, disposition) in dispositions.into_iter().enumerate() {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(PlannedRecord { disposition, ..record(seq, &seq.to_string()) }).await.unwrap();
    }
    let again = plan.finish(1).await.unwrap();
    let counted = accounting(&ledger, again).await;
    assert_eq!((counted.total, counted.unchanged, counted.skipped, counted.pending), (3, 1, 1, 1));
}

async fn outcomes_are_read_back_exactly(place: Place) {
    let (ledger, run) = planned(&place, 20).await;
    let said = Problem { value: "0 1 2".to_owned(), ..Problem::of_record(Code::Service, "ä \"quoted\" \u{0} \n 7") };
    let odd = Outcome {
        http_status: Some(422),
        service_status: Some(String::new()),
        service_id: Some("12 sent -1 \u{0}é\n".to_owned()),
        ctx_id: Some(" 5 ".to_owned()),
        job_id: None,
        problems: vec![said.clone(), said],
        attempts: 3,
        ..Outcome::new(5, RecordState::Failed, i64::MAX)
    };
    let plain = Outcome { job_id: Some("job".to_owned()), ..Outcome::new(12, RecordState::Sent, -7) };
    ledger.settle(run, &[plain.clone(), odd.clone()]).await.unwrap();
    let found = ledger.outcomes(run, 0..=19).await.unwrap();
    // The databases store every character but one.
    let odd = Outcome { service_id: odd.service_id.map(|id| id.replace('\0', "\u{FFFD}")), ..odd };
    assert_eq!(found.into_values().collect::<Vec<_>>(), [odd, plain]);
    assert!(ledger.outcomes(run, 6..=11).await.unwrap().is_empty());
}

async fn more_outcomes_than_records_are_an_error(place: Place) {
    let (ledger, run) = planned(&place, 20).await;
    ledger.settle(run, &outcomes(0..30, RecordState::Sent)).await.unwrap();
    assert!(matches!(ledger.accounting(run).await, Err(Error::Corrupt(_))));
}

async fn unknown_records_are_resolved_and_refused_ones_retried(place: Place) {
    let (ledger, run) = planned(&place, 600).await;
    let mut sent = outcomes((0..600).filter(|seq| seq % 10 > 1 && *seq > 13), RecordState::Sent);
    sent[0].service_id = Some("i-1".into());
    ledger.settle(run, &sent).await.unwrap();
    ledger.settle(run, &outcomes([2, 3, 4], RecordState::Unknown)).await.unwrap();
    ledger.settle(run, &outcomes([5, 12], RecordState::Failed)).await.unwrap();
    let unknown = ledger.unknown_records(run, 0).await.unwrap();
    assert_eq!(unknown.iter().map(|record| record.seq).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!(ledger.resolve(run, &[2, 2, 7], Resolution::Sent, "anna", 3).await.unwrap(), 1);
    assert_eq!(ledger.resolve(run, &[3], Resolution::Failed, "anna", 3).await.unwrap(), 1);
    let now = accounting(&ledger, run).await;
    assert_eq!((now.sent, now.failed, now.unknown, now.pending), (471, 3, 1, 5));
    assert_eq!(ledger.outcomes(run, 2..=3).await.unwrap()[&2].state, RecordState::Sent);

    ledger.settle(run, &outcomes([6, 7, 8, 9, 13], RecordState::Sent)).await.unwrap();
    let locked = ledger.lock_checked_run(run).await.unwrap();
    let family = ledger.family(locked.run()).await.unwrap();
    let failed = ledger.still_failed(locked.run(), &family, false, true).await.unwrap();
    assert_eq!(failed, [3, 5, 12]);
    let settings = RunSettings { allow_repeat: AllowRepeat::Named(vec!["ä".into()]), ..RunSettings::default() };
    let again = ledger.plan_retry(locked.run(), settings.clone(), &failed, 4).await.unwrap();
    let locked = ledger.lock_run_with(locked.into_lock(), again).await.unwrap();
    assert_eq!((locked.run().about.retry_of, &locked.run().about.settings), (Some(run), &settings));
    ledger.settle(again, &outcomes([0, 2], RecordState::Sent)).await.unwrap();
    ledger.settle(again, &outcomes([1], RecordState::Failed)).await.unwrap();
    let family = ledger.family(locked.run()).await.unwrap();
    assert_eq!(family.runs.iter().map(|member| member.id).collect::<Vec<_>>(), [run, again]);
    let first = ledger.run(run).await.unwrap();
    assert_eq!(ledger.still_failed(&first, &family, false, false).await.unwrap(), [5]);
    assert_eq!(ledger.retried_by(run).await.unwrap(), Some(again));
    ledger.end_sending(again, 1, Some("stopped"), 7, 8).await.unwrap();
    assert_eq!(ledger.unfinished().await.unwrap(), [again, run]);
    let mut known = [PlannedRecord {
        disposition: Disposition::AcceptedEarlier(AcceptedEarlier { run, seq: sent[0].seq, service_id: None }),
        ..record(0, "a")
    }];
    ledger.fill_service_ids(&mut known).await.unwrap();
    let Disposition::AcceptedEarlier(earlier) = &known[0].disposition else { panic!("{known:?}") };
    assert_eq!(earlier.service_id.as_deref(), Some("i-1"));
    drop(locked);
    assert!(ledger.inspect_file().await.unwrap().is_empty());
    for run in [run, again] {
        assert!(ledger.inspect(run).await.unwrap().damage.is_empty());
    }
    ledger.remove(again, None).await.unwrap();
    assert!(ledger.erase_deleted().await.unwrap());
    assert!(matches!(ledger.run(again).await, Err(Error::NoSuchRun(_))));
}

async fn records_in_flight_become_unknown_unless_their_keys_are_remembered(place: Place) {
    let (ledger, run) = planned(&place, 700).await;
    let run = ledger.run(run).await.unwrap();
    let claims: Vec<Claim> = (2..10).map(|seq| Claim { seq, name: None, body: [seq as u8; 16] }).collect();
    let changes = SendingChanges::default();
    assert_eq!(ledger.start(&run, &[], &changes, &claims, true, 5).await.unwrap(), []);
    let finished = SendingChanges {
        outcomes: outcomes([2], RecordState::Sent),
        finished: vec![2, 3],
        requests: 2,
        ..SendingChanges::default()
    };
    ledger.store(run.id, &finished).await.unwrap();
    let later = [Claim { seq: 3, name: None, body: [3; 16] }];
    ledger.start(&run, &[], &changes, &later, true, 9).await.unwrap();
    let found = ledger.settle_in_flight(Part::whole(run.id), Some(7..=20)).await.unwrap();
    assert_eq!((found.unknown, found.repeatable.into_iter().collect::<Vec<_>>()), (6, vec![(3, 9)]));
    let now = accounting(&ledger, run.id).await;
    assert_eq!((now.sent, now.unknown, now.requests), (1, 6, 2));
    assert_eq!(ledger.earlier_claims(&claims).await.unwrap().len(), 8);
    ledger.lock_checked_run(run.id).await.unwrap();
}

async fn newer_uploads_are_waited_for_and_seen(place: Place) {
    let (ledger, old) = planned(&place, 30).await;
    let newer = NewRun { file_hash: "newer".into(), ..about() };
    let mut plan = ledger.begin_plan(&newer, 1).await.unwrap();
    for seq in 0..30 {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(record(seq, &seq.to_string())).await.unwrap();
    }
    let new = plan.finish(1).await.unwrap();
    let (old, new) = (ledger.run(old).await.unwrap(), ledger.run(new).await.unwrap());
    let lock = ledger.lock_run(old.id).await.unwrap();
    ledger.enter_sender(Part::whole(old.id), 1).await.unwrap();
    let mut keys = NewerKeys::since(0, old.id);
    assert!(ledger.update_newer_keys(&old, &mut keys, 1).await.unwrap().is_empty());
    ledger.store_intent(new.id, 0, 9, 5).await.unwrap();
    let intents = ledger.update_newer_keys(&old, &mut keys, 2).await.unwrap();
    assert_eq!((intents.len(), keys.get("7").map(|request| request.run), keys.get("17")), (1, Some(new.id), None));
    assert_eq!(ledger.not_yielded(&new, intents[0], &["none", "7"]).await.unwrap(), [old.id]);
    assert!(ledger.not_yielded(&new, intents[0], &["none"]).await.unwrap().is_empty(), "it sends other keys");
    ledger.yield_to(Part::whole(old.id), &intents).await.unwrap();
    assert!(ledger.not_yielded(&new, intents[0], &["7"]).await.unwrap().is_empty());
    ledger.reduce_intents(Part::whole(new.id), 0, &[4, 6], 6).await.unwrap();
    ledger.settle(new.id, &outcomes([2, 3], RecordState::Sent)).await.unwrap();
    let requests = ledger.enter_and_find_newer(&old, Part::whole(old.id), 6).await.unwrap();
    assert_eq!(requests.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [2, 3, 4, 6]);
    ledger.leave_sender(Part::whole(old.id)).await.unwrap();
    drop(lock);
    // The same after the newer run was removed.
    ledger.update_accepted(KeyScope::of(&new), None).await.unwrap();
    ledger.update_accepted(KeyScope::of(&new), None).await.unwrap();
    let last = NewRun { file_hash: "last".into(), ..about() };
    ledger.begin_plan(&last, 1).await.unwrap().finish(1).await.unwrap();
    ledger.remove(new.id, None).await.unwrap();
    ledger.begin_plan(&last, 1).await.unwrap().abandon().await.unwrap();
    let requests = ledger.enter_and_find_newer(&old, Part::whole(old.id), 6).await.unwrap();
    assert_eq!(requests.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [2, 3, 4, 6]);
}

async fn an_older_upload_sees_what_a_newer_one_found_unchanged(place: Place) {
    // The service has the values of the first run. The second has other ones, of which nothing was sent yet.
    let (ledger, first) = planned(&place, 30).await;
    ledger.settle(first, &outcomes((0..30).filter(|seq| seq % 10 > 1), RecordState::Sent)).await.unwrap();
    ledger.end_sending(first, 0, None, 1, 9).await.unwrap();
    let mut plan = ledger.begin_plan(&NewRun { file_hash: "older".into(), ..about() }, 1).await.unwrap();
    for seq in 0..30 {
        plan.add_row(row(seq)).await.unwrap();
        let body = format!("{{\"externalId\":\"{seq}\",\"name\":\"older\"}}");
        plan.add_record(PlannedRecord { disposition: Disposition::Send(body.into()), ..record(seq, &seq.to_string()) })
            .await
            .unwrap();
    }
    let older = ledger.run(plan.finish(1).await.unwrap()).await.unwrap();
    let (ledger, newer) = planned(&place, 30).await;
    let newer = ledger.run(newer).await.unwrap();
    // It begins to send the first ten before the newer upload looks, and the next ten afterwards.
    ledger.store_intent(older.id, 0, 9, 10).await.unwrap();
    assert_eq!(ledger.mark_unchanged(&newer, 11).await.unwrap(), 16, "what may be in flight has to be sent again");
    let settled = ledger.settled(newer.id, 0..=29).await.unwrap();
    assert!((2..10).all(|seq| !settled.contains(&seq)) && settled.contains(&12) && settled.contains(&22));
    ledger.store_intent(older.id, 10, 19, 12).await.unwrap();
    let mut keys = NewerKeys::since(0, older.id);
    assert!(ledger.update_newer_keys(&older, &mut keys, 13).await.unwrap().is_empty(), "nothing was declared");
    ledger.find_confirmed(&older, &mut keys, &["2", "12", "none"]).await.unwrap();
    let confirmed = ["2", "12", "22"].map(|key| keys.get(key).map(|request| (request.run, request.is_accepted)));
    assert_eq!(confirmed, [None, Some((newer.id, true)), None]);
    // Also after the newer run was removed, and the first one was read again.
    ledger.update_accepted(KeyScope::of(&newer), None).await.unwrap();
    ledger.remove(newer.id, Some(20)).await.unwrap();
    let requests = ledger.enter_and_find_newer(&older, Part::whole(older.id), 21).await.unwrap();
    let seqs: Vec<Seq> = requests.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(seqs, (12..20).chain(22..30).collect::<Vec<_>>());
}

async fn the_last_bodies_of_keys_are_found(place: Place) {
    let (ledger, first) = planned(&place, 30).await;
    ledger.settle(first, &outcomes(2..8, RecordState::Sent)).await.unwrap();
    ledger.end_sending(first, 0, None, 1, 9).await.unwrap();
    let (ledger, second) = planned(&place, 30).await;
    ledger.store_intent(second, 0, 5, 10).await.unwrap();
    for (seq, state) in [(2, RecordState::Sent), (3, RecordState::Failed), (4, RecordState::Unknown)] {
        ledger.settle(second, &outcomes([seq], state)).await.unwrap();
    }
    let run = ledger.run(second).await.unwrap();
    let scope = KeyScope::of(&run);
    let keys = ["0", "2", "3", "4", "5", "6", "9", "none"];
    let found = async |is_enough: &dyn Fn(RunId) -> bool| {
        let mut found = Vec::new();
        let take = |place: usize, request: OtherRequest, _: Option<&str>, body: &str| {
            assert!(body.contains(&format!("\"externalId\":\"{}\"", keys[place])), "{body}");
            found.push((keys[place], request.run, request.is_accepted));
            is_enough(request.run)
        };
        ledger.last_bodies(scope, &keys, take).await.unwrap();
        found.sort_unstable();
        found
    };
    // Record 5 has an intent, but no outcome.
    let last =
        [("2", second, true), ("3", first, true), ("4", second, false), ("5", second, false), ("6", first, true)];
    let mut all = [&last[..], &[("2", first, true), ("4", first, true), ("5", first, true)]].concat();
    all.sort_unstable();
    // The same with and without the table of accepted requests.
    for is_noted in [false, true] {
        if is_noted {
            ledger.end_sending(second, 0, None, 1, 11).await.unwrap();
            ledger.update_accepted(scope, None).await.unwrap();
        }
        assert_eq!(found(&|_| true).await, last, "{is_noted}");
        assert_eq!(found(&|run| run == first).await, all, "{is_noted}");
    }
}

async fn an_unchanged_file_leaves_only_its_counts(place: Place) {
    let (ledger, first) = planned(&place, 600).await;
    ledger.settle(first, &outcomes((0..600).filter(|seq| seq % 10 > 1), RecordState::Sent)).await.unwrap();
    ledger.end_sending(first, 0, None, 1, 9).await.unwrap();
    let (ledger, second) = planned(&place, 600).await;
    let run = ledger.run(second).await.unwrap();
    assert_eq!(ledger.mark_unchanged(&run, 10).await.unwrap(), 480);
    ledger.end_sending(second, 0, None, 1, 11).await.unwrap();
    assert!(!ledger.drop_unsent_plan(second).await.unwrap(), "some of its rows were rejected");
    assert_eq!(accounting(&ledger, second).await.unchanged, 480);
    assert!(ledger.latest_profiles("none", about().record, 3).await.unwrap().is_empty());
}

async fn learned_rates_and_page_sizes_are_stored(place: Place) {
    let ledger = place.open().await;
    let sizes = PageSizes { granted: Some(1_000), refused: None, at: 7 };
    for at in [3, 7] {
        ledger.store_page_sizes("u", "w", "/p", PageSizes { at, ..sizes }).await.unwrap();
        ledger.store_rate("u", "w", 12.5, at).await.unwrap();
    }
    assert_eq!(ledger.page_sizes("u", "w", "/p").await.unwrap(), Some(sizes));
    assert_eq!(ledger.learned_rate("u", "w").await.unwrap(), Some(12.5));
    assert_eq!(ledger.learned_rate("u", "").await.unwrap(), None);
    let unnamed = NewRun { workspace: String::new(), ..about() };
    let run = ledger.begin_plan(&unnamed, 1).await.unwrap().finish(1).await.unwrap();
    assert!(ledger.bind_workspace(run, "w").await.unwrap());
    assert!(!ledger.bind_workspace(run, "v").await.unwrap());
    ledger.withhold(run, 1).await.unwrap();
    assert_eq!(ledger.warned(run, 5).await.unwrap().len(), 0);
}

async fn altered_rows_are_noticed(place: Place) {
    for (change, words) in [
        ("UPDATE outcome SET checksum = checksum + 1 WHERE seq = 2", "the outcome of its record 2 was altered"),
        ("DELETE FROM outcome WHERE seq = 3", "7 of its 8 outcomes"),
        ("UPDATE run SET base_url = 'http://other' WHERE id = (SELECT MAX(id) FROM run)", "its row was altered"),
        ("UPDATE record_block SET skipped = 5", "records from 0 on were altered"),
        ("UPDATE total SET outcomes = 5", "totals were altered"),
        ("DELETE FROM source_block", "other counts"),
    ] {
        let (ledger, run) = planned(&place, 10).await;
        ledger.settle(run, &outcomes(2..10, RecordState::Sent)).await.unwrap();
        place.execute(change).await;
        let damage = ledger.inspect(run).await.unwrap().damage;
        assert!(damage.iter().any(|what| what.contains(words)), "{change}: {damage:?}");
        assert!(ledger.lock_checked_run(run).await.is_err_and(|error| error.is_damage()), "{change}");
        place.execute("DELETE FROM run").await;
        for table in ["outcome", "record_block", "source_block", "total"] {
            place.execute(&format!("DELETE FROM {table}")).await;
        }
        ledger.close().await;
    }
}

async fn who_did_what_is_kept_and_bounded(place: Place) {
    let (ledger, run) = planned(&place, 30).await;
    let deeds = async |run| -> Vec<(Action, i64)> {
        ledger.history(run).await.unwrap().iter().map(|event| (event.action, event.count)).collect()
    };
    ledger.note_sending(run, 2_000).await.unwrap();
    ledger.settle(run, &outcomes([2, 3, 4], RecordState::Unknown)).await.unwrap();
    ledger.end_sending(run, 21, Some("the service is gone"), 5, 3_000).await.unwrap();
    ledger.note_sending(run, 4_000).await.unwrap();
    // One by one, and nothing that was decided before.
    for seq in [2, 3, 3] {
        ledger.resolve(run, &[seq], Resolution::Sent, "anna", 5_000 + seq).await.unwrap();
    }
    ledger.resolve(run, &[4], Resolution::Failed, "ben", 6_000).await.unwrap();
    let expected = [
        (Action::Planned, 30),
        (Action::Sent, 0),
        (Action::Stopped, 0),
        (Action::Resumed, 0),
        (Action::ResolvedSent, 2),
        (Action::ResolvedFailed, 1),
    ];
    assert_eq!(deeds(run).await, expected);
    let history = ledger.history(run).await.unwrap();
    assert_eq!(history[2].note.as_deref(), Some("the service is gone"));
    assert_eq!((history[4].who.as_str(), history[4].at, history[4].until), ("anna", 5_002, 5_003));
    let machine = history[0].process.clone();
    assert!(machine.ends_with(&format!(":{}", std::process::id())) && history.iter().all(|it| it.process == machine));

    // What a process does again after somebody has gone on is told again.
    for at in [6_100, 6_200] {
        ledger.note_set_aside(run, "no tokens", at).await.unwrap();
    }
    ledger.note_sending(run, 6_300).await.unwrap();
    ledger.note_set_aside(run, "no tokens", 6_400).await.unwrap();
    let aside = (Action::SetAside, 0);
    assert_eq!(deeds(run).await[expected.len()..], [aside, (Action::Resumed, 0), aside]);

    // A retry is in the history of the run that it retries.
    let again = NewRun { retry_of: Some(run), ..about() };
    let again = ledger.begin_plan(&again, 7_000).await.unwrap().finish(1).await.unwrap();
    let last = ledger.history(run).await.unwrap().pop().unwrap();
    assert_eq!((last.action, last.other_run), (Action::Retried, Some(again)));

    // A process that stops again and again, for other reasons each time, leaves a bounded history, with what people did.
    for nth in 0..600 {
        ledger.end_sending(run, 1, Some(&format!("reason {nth}")), 1, 8_000).await.unwrap();
    }
    let history = deeds(run).await;
    assert!((400..=520).contains(&history.len()), "{}", history.len());
    assert!(history.starts_with(&[(Action::Planned, 30)]) && history.contains(&(Action::ResolvedSent, 2)));

    // Of a removed run, the removal is kept.
    ledger.remove(run, Some(9_000)).await.unwrap();
    assert_eq!(deeds(run).await, [(Action::Removed, 0)]);
    assert_eq!(deeds(again).await, [(Action::Planned, 0)]);
}
