//! The real ledger, in a folder in memory or on a PostgreSQL server.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use sheetport_ledger::{
    Accounting, AllowRepeat, Begun, Claim, EarlierClaim, Error, Intent, KeyScope, Ledger, LockedRun, NewRun, NewerKeys,
    Part, RecordBlock, RecordState, Run, RunCommand, RunId, RunSettings, SendingChanges, Seq, SheetSelection,
};
use sheetport_plan::sent_before;
use sheetport_records::RecordKind;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::super::ports::Journal;
use super::model::planned;
use super::store::{Planned, Store};
use crate::superseded;

/// A workspace in a real ledger. Separate threads do the work.
pub(super) struct Real {
    shared: Arc<Shared>,
    workspace: String,
    /// The locks of living processes.
    alive: Mutex<BTreeMap<RunId, LockedRun>>,
    /// The number of plans, each of another file.
    plans: AtomicU64,
}

/// A ledger for several schedules.
pub(super) struct Shared {
    ledger: Ledger,
    runtime: Runtime,
    _folder: TempDir,
}

impl Shared {
    /// Creates a ledger in memory.
    pub(super) fn new() -> Shared {
        Shared::with(async |folder| Ledger::open(folder).await)
    }

    /// Creates a ledger in the empty database at `address`.
    pub(super) fn on_server(address: &str) -> Shared {
        let address = address.parse().expect("an address");
        Shared::with(async move |folder| Ledger::connect(&address, folder).await)
    }

    fn with(open: impl AsyncFnOnce(&Path) -> Result<Ledger, Error>) -> Shared {
        // Commits to memory are fast, and nothing has to survive the machine.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.expect("a folder");
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let ledger = runtime.block_on(open(folder.path())).expect("a ledger");
        Shared { ledger, runtime, _folder: folder }
    }
}

impl Real {
    /// Returns an empty workspace.
    pub(super) fn new(shared: &Arc<Shared>, workspace: String) -> Real {
        Real { shared: Arc::clone(shared), workspace, alive: Mutex::default(), plans: AtomicU64::new(0) }
    }

    /// Waits for the ledger without advancing the paused clock. Waiting within the runtime would advance it.
    fn wait<T: Send>(&self, work: impl AsyncFnOnce(&Ledger) -> T + Send) -> T {
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| self.shared.runtime.block_on(work(&self.shared.ledger)));
            waiting.join().expect("no panic")
        })
    }
}

/// Returns a description of a run.
fn about(kind: RecordKind, workspace: &str, file: String, retry_of: Option<RunId>) -> NewRun {
    NewRun {
        command: if retry_of.is_some() { RunCommand::Retry } else { RunCommand::Upload },
        record: kind,
        template: "t".to_owned(),
        template_toml: String::new(),
        lookups: None,
        file: "a.csv".to_owned(),
        file_hash: file,
        base_url: "http://localhost/".to_owned(),
        workspace: workspace.to_owned(),
        sheet: SheetSelection::One(String::new()),
        header: vec!["A".to_owned()],
        header_row: 1,
        columns: Vec::new(),
        name_columns: vec!["a".to_owned()],
        chosen: None,
        retry_of,
        undo_of: None,
        readers: Default::default(),
        text_form: None,
        options: Vec::new(),
        settings: RunSettings::default(),
    }
}

impl Store for Real {
    fn begin(
        &self,
        run: RunId,
        yields: bool,
        remembered: Option<RangeInclusive<i64>>,
        now: i64,
    ) -> Result<Begun, Error> {
        self.wait(async move |ledger| Journal::begin(ledger, Part::whole(run), yields, remembered, now).await)
    }

    fn record_block(&self, run: RunId, from: Seq) -> Result<Option<RecordBlock>, Error> {
        self.wait(async |ledger| Journal::record_block(ledger, run, from).await)
    }

    fn settled(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeSet<Seq>, Error> {
        self.wait(async |ledger| Journal::settled(ledger, run, range).await)
    }

    fn store_intent(&self, run: RunId, first: Seq, last: Seq, now: i64) -> Result<(), Error> {
        self.wait(async |ledger| Journal::store_intent(ledger, run, first, last, now).await)
    }

    fn update_newer_keys(&self, run: &Run, keys: &mut NewerKeys, now: i64) -> Result<Vec<Intent>, Error> {
        self.wait(async |ledger| Journal::update_newer_keys(ledger, run, keys, now).await)
    }

    fn find_confirmed(&self, run: &Run, newer: &mut NewerKeys, keys: &[&str]) -> Result<(), Error> {
        self.wait(async |ledger| Journal::find_confirmed(ledger, run, newer, keys).await)
    }

    fn leave(&self, run: RunId) -> Result<(), Error> {
        self.wait(async |ledger| Journal::leave(ledger, Part::whole(run)).await)
    }

    fn yield_to(&self, run: RunId, intents: &[Intent]) -> Result<(), Error> {
        self.wait(async |ledger| Journal::yield_to(ledger, Part::whole(run), intents).await)
    }

    fn not_yielded(&self, run: &Run, intent: Intent, keys: &[&str]) -> Result<Vec<RunId>, Error> {
        self.wait(async |ledger| Journal::not_yielded(ledger, run, intent, keys).await)
    }

    fn set_alive(&self, run: RunId, is_alive: bool) -> Result<(), Error> {
        let mut alive = self.alive.lock().expect("no panic");
        alive.remove(&run);
        if is_alive {
            alive.insert(run, self.wait(async |ledger| ledger.lock_run(run).await)?);
        }
        Ok(())
    }

    fn start(
        &self,
        run: &Run,
        family: &[RunId],
        changes: &SendingChanges,
        started: &[Claim],
        has_keys: bool,
        now: i64,
    ) -> Result<Vec<(Seq, EarlierClaim)>, Error> {
        self.wait(async |ledger| Journal::start(ledger, run, family, changes, started, has_keys, now).await)
    }

    fn store(&self, run: RunId, changes: &SendingChanges) -> Result<(), Error> {
        self.wait(async |ledger| Journal::store(ledger, run, changes).await)
    }

    fn reduce_intents(&self, run: RunId, since: i64, sent: &[Seq], now: i64) -> Result<(), Error> {
        self.wait(async |ledger| Journal::reduce_intents(ledger, Part::whole(run), since, sent, now).await)
    }

    fn plan(&self, kind: RecordKind, records: &[Planned], retry_of: Option<RunId>) -> Result<RunId, Error> {
        self.wait(async |ledger| {
            let file = self.plans.fetch_add(1, Ordering::Relaxed).to_string();
            let mut plan = ledger.begin_plan(&about(kind, &self.workspace, file, retry_of), 1).await?;
            for record in records {
                plan.add_record(planned(record)).await?;
            }
            plan.finish(1).await
        })
    }

    fn prepare(&self, run: RunId, changed_only: bool, now: i64) -> Result<(), Error> {
        self.wait(async |ledger| {
            let run = ledger.run(run).await?;
            if changed_only {
                ledger.mark_unchanged(&run, now).await?;
            }
            sent_before::compare(ledger, &run, &AllowRepeat::None, None, now)
                .await
                .expect("comparisons only read the ledger");
            superseded::leave_out(ledger, &run, Part::whole(run.id), now).await.map(drop)
        })
    }

    fn prune(&self, family: &[RunId], now: i64) -> Result<(), Error> {
        self.wait(async |ledger| {
            for run in family {
                let run = ledger.lock_run(*run).await?;
                ledger.update_accepted(KeyScope::of(run.run()), None).await?;
                ledger.remove(run.id(), Some(now)).await?;
            }
            Ok(())
        })
    }

    fn end(&self, run: RunId, now: i64) -> Result<(), Error> {
        self.wait(async |ledger| {
            let pending = ledger.accounting(run).await?.pending;
            ledger.end_sending(run, pending, None, 0, now).await
        })
    }

    fn accounting(&self, run: RunId) -> Result<Accounting, Error> {
        self.wait(async |ledger| ledger.accounting(run).await)
    }

    fn states(&self, run: RunId) -> Result<Vec<RecordState>, Error> {
        self.wait(async |ledger| {
            let total = Seq::try_from(ledger.accounting(run).await?.total).expect("a count");
            let outcomes = ledger.outcomes(run, 0..=total).await?;
            let state = |seq| outcomes.get(&seq).map_or(RecordState::Pending, |outcome| outcome.state);
            Ok((0..total).map(state).collect())
        })
    }

    fn has_intent(&self, _: RunId, _: Seq) -> Option<bool> {
        None
    }
}
