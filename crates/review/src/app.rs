//! State shared by all requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use sheetport_client::auth::TokenFile;
use sheetport_ledger::RunId;
use sheetport_operations::{Context, InputFile};

use super::http::{Access, Failure};
use super::session::{Sending, Session};

/// Maximum number of open files. Opening another file closes the oldest one.
const MAX_SESSIONS: usize = 20;

pub(super) struct App {
    context: RwLock<Arc<Context>>,
    /// Where tokens that are entered on the page are stored.
    pub token_file: TokenFile,
    /// The name of the person, for the ledger.
    pub who: String,
    pub access: Arc<Access>,
    sessions: Mutex<Sessions>,
    /// The progress of continued and retried runs of the history.
    runs: Mutex<BTreeMap<RunId, Arc<Sending>>>,
    /// Held while unknown outcomes are listed or decided, because both lock the run.
    pub deciding: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Sessions {
    last: u64,
    open: BTreeMap<u64, Arc<Session>>,
    /// The file named on the command line, until the page opens it.
    given: Option<InputFile>,
}

impl App {
    pub(super) fn new(
        (context, token_file): (Context, TokenFile),
        who: String,
        access: Arc<Access>,
        given: Option<InputFile>,
    ) -> App {
        let sessions = Sessions { given, ..Sessions::default() };
        let sessions = Mutex::new(sessions);
        let context = RwLock::new(Arc::new(context));
        let (runs, deciding) = (Mutex::default(), tokio::sync::Mutex::default());
        App { context, token_file, who, access, sessions, runs, deciding }
    }

    /// Returns the service, the credentials and the folders, as they are now.
    pub(super) fn context(&self) -> Arc<Context> {
        Arc::clone(&self.context.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Uses another service or other credentials from now on. What is under way goes on with the old ones.
    pub(super) fn set_context(&self, context: Context) {
        *self.context.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(context);
    }

    /// Opens a file for review and returns its number.
    pub(super) fn open(&self, file: InputFile) -> Result<u64, Failure> {
        let session = Session::open(&self.context(), file, &self.who)?;
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.last += 1;
        let number = sessions.last;
        sessions.open.insert(number, Arc::new(session));
        if sessions.open.len() > MAX_SESSIONS {
            let idle = sessions.open.iter().find(|(_, session)| !session.is_sending()).map(|(number, _)| *number);
            idle.and_then(|number| sessions.open.remove(&number));
        }
        Ok(number)
    }

    /// Opens the file named on the command line unless it is already open, and returns the number of the newest file.
    pub(super) fn newest(&self) -> Result<Option<u64>, Failure> {
        let given = self.sessions.lock().unwrap_or_else(PoisonError::into_inner).given.take();
        if let Some(file) = given {
            return self.open(file).map(Some);
        }
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(sessions.open.keys().next_back().copied())
    }

    pub(super) fn session(&self, number: u64) -> Result<Arc<Session>, Failure> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions
            .open
            .get(&number)
            .cloned()
            .ok_or_else(|| Failure::not_found("this file is not open any more; drop it again"))
    }

    /// Returns the progress of a run of the history.
    pub(super) fn run(&self, run: RunId) -> Arc<Sending> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(runs.entry(run).or_default())
    }

    /// Returns the open files whose last run is `run`.
    pub(super) fn sessions_of(&self, run: RunId) -> Vec<Arc<Session>> {
        let mut all: Vec<Arc<Session>> = {
            let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.open.values().cloned().collect()
        };
        all.retain(|session| session.state().last_run == Some(run));
        all
    }
}
