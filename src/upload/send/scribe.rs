//! Commits what the sender has to note, many together when it comes fast.

use tokio::sync::mpsc;

use crate::ledger::{self, Ledger, Notes, Outcome, RunId, Seq};
use crate::upload::dispatch::Job;

/// Something to be noted.
pub(super) enum Note {
    Outcome(Outcome),
    /// The outcome of a record that was noted as under way.
    LastOutcome(Outcome),
    /// The record is to be sent once this is durable.
    Begin(Job),
    /// It was noted as under way, and is certain not to have been applied.
    NotSent(Seq),
}

impl Note {
    /// Whether a request waits until this is durable.
    pub(super) fn is_awaited(&self) -> bool {
        !matches!(self, Note::Outcome(_))
    }
}

/// What is durable now.
#[derive(Default)]
pub(super) struct Durable {
    /// These may be sent.
    pub begun: Vec<Job>,
    /// So many records are noted as under way no more.
    pub ended: usize,
}

/// Works until all senders of notes are gone. `durable` is only told of records that must not be sent twice.
pub(super) async fn write(
    ledger: Ledger,
    run: RunId,
    wall: fn() -> i64,
    mut notes: mpsc::Receiver<Vec<Note>>,
    durable: mpsc::UnboundedSender<Durable>,
) -> Result<(), ledger::Error> {
    let mut together = Notes::default();
    while let Some(group) = notes.recv().await {
        let mut done = Durable::default();
        for note in group {
            match note {
                Note::Outcome(outcome) => together.outcomes.push(outcome),
                Note::LastOutcome(outcome) => {
                    together.ended.push(outcome.seq);
                    together.outcomes.push(outcome);
                }
                Note::NotSent(seq) => together.ended.push(seq),
                Note::Begin(job) => {
                    together.begun.push(job.seq);
                    done.begun.push(job);
                }
            }
        }
        ledger.note(run, &together, wall()).await?;
        done.ended = together.ended.len();
        together.clear();
        if !done.begun.is_empty() || done.ended > 0 {
            // A sender that is gone sends nothing more.
            let _ = durable.send(done);
        }
    }
    Ok(())
}
