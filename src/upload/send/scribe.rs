//! Commits what the sender has to note, many together when it comes fast.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::ledger::{self, Ledger, Notes, Outcome, RunId, Seq};
use crate::upload::dispatch::Job;

/// Notes that share a commit.
const GROUP: usize = 4_096;
/// Outcomes that nobody waits for wait for each other this long. What a crash takes of them is sent once more.
const GATHER: Duration = Duration::from_millis(10);

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
    fn is_urgent(&self) -> bool {
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
    mut notes: mpsc::Receiver<Note>,
    durable: mpsc::UnboundedSender<Durable>,
) -> Result<(), ledger::Error> {
    let mut group = Vec::with_capacity(GROUP);
    let mut together = Notes::default();
    while notes.recv_many(&mut group, GROUP).await > 0 {
        gather(&mut notes, &mut group).await;
        let mut done = Durable::default();
        for note in group.drain(..) {
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

/// Waits a little for more, unless one of these is waited for or there are enough.
async fn gather(notes: &mut mpsc::Receiver<Note>, group: &mut Vec<Note>) {
    let more = async {
        let mut looked = 0;
        while group.len() < GROUP && !group[looked..].iter().any(Note::is_urgent) {
            looked = group.len();
            let room = GROUP - looked;
            if notes.recv_many(group, room).await == 0 {
                return;
            }
        }
    };
    // What has come until then is in the group.
    let _ = tokio::time::timeout(GATHER, more).await;
}
