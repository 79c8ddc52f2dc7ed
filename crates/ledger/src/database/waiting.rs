//! Waiting for a ledger file that another program has locked, such as a browser of databases, a backup, or a stopped process.
//!
//! A statement that begins a transaction waits for a second at most, so that a process that is to stop need not wait for others. What
//! has to be written meanwhile stays in memory.

use std::time::Instant;

use sheetport_sql::Transaction;

use super::super::error::Error;
use super::ledger::Ledger;
use super::waits::Patience;

impl Ledger {
    /// Lets writes wait without limit, because something would be lost if they failed.
    pub fn wait_patiently(&self) -> Patience {
        Patience::new(&self.waits)
    }

    /// Ends all waits, now and later, with [`Error::Held`].
    pub fn give_up_waiting(&self) {
        self.waits.give_up();
    }

    /// Whether somebody waits for the file.
    pub fn is_waiting(&self) -> bool {
        self.waits.held_by().borrow().is_some()
    }

    /// Waits until a wait becomes long, or ends. Returns who holds the file, blank if that is not known, or `None` at the end of the
    /// wait.
    pub async fn next_wait(&self, last: &Option<String>) -> Option<String> {
        let mut held_by = self.waits.held_by();
        match held_by.wait_for(|now| now.is_some() != last.is_some()).await {
            Ok(now) => now.clone(),
            // The sender lives as long as this ledger.
            Err(_) => std::future::pending().await,
        }
    }

    /// Begins a transaction on the writing connection, after those of other programs.
    ///
    /// # Errors
    /// [`Error::Held`] if another program holds the file too long.
    pub(crate) async fn begin_writing(&self) -> Result<Transaction, Error> {
        let began = Instant::now();
        loop {
            let error = match self.writer.begin().await.map_err(Error::from) {
                Err(error) if error.is_busy() => error,
                begun => {
                    self.waits.end();
                    return begun;
                }
            };
            let Some(path) = &self.file else { return Err(error) };
            self.waits.go_on(path, began)?;
        }
    }
}
