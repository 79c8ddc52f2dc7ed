//! What all requests share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::access::Access;
use super::failure::Failure;
use super::session::Session;
use crate::operations::{Context, InputFile};

/// Files under review at a time. The oldest one is closed for another.
const MAX_SESSIONS: usize = 20;

pub(super) struct App {
    pub context: Context,
    /// The name of the person, for the ledger.
    pub who: String,
    pub access: Arc<Access>,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    last: u64,
    open: BTreeMap<u64, Arc<Session>>,
    /// The file named on the command line, until it is opened.
    given: Option<InputFile>,
}

impl App {
    pub(super) fn new(context: Context, who: String, access: Arc<Access>, given: Option<InputFile>) -> App {
        let sessions = Sessions { given, ..Sessions::default() };
        App { context, who, access, sessions: Mutex::new(sessions) }
    }

    /// Opens a file for review. Returns its number.
    pub(super) fn open(&self, file: InputFile) -> Result<u64, Failure> {
        let session = Session::open(&self.context, file)?;
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

    /// Opens the file named on the command line, if it was not opened before, and returns the number of the newest file.
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
}
