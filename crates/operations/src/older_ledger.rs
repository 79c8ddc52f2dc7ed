//! A ledger that is older than what this machine has written into it, such as a restored backup or a copy without the log, or one on a server
//! that went back to an earlier state. It does not know what was sent since, so records that must not be repeated wait until a person has
//! confirmed it.

use futures_util::future::try_join;
use sheetport_ledger::{Ledger, LostEnd, Older, Run};

use super::context::Context;
use super::error::Error;
use crate::operation::Operation;

/// What a person is to do before the records are sent.
pub(super) const LOOK_UP: &str = "restore a newer copy, or look up in the service what was sent since; then add --accept-older-ledger \
                                  to the command that sends, and the ledger counts as it is from then on";

/// Describes what the ledger lacks of what this machine has written into it, if anything.
pub fn older_ledger(context: &Context) -> Operation<'_, Option<String>> {
    Box::pin(async move {
        let Some(ledger) = context.existing_ledger().await? else { return Ok(None) };
        let (older, lost) = (ledger.older().await?, ledger.lost_end().await?);
        ledger.close().await;
        Ok(older.as_ref().map(described).or(lost.as_ref().map(went_back)))
    })
}

/// Takes an older ledger for the ledger from now on.
pub fn accept_older_ledger(context: &Context) -> Operation<'_, ()> {
    Box::pin(async move {
        let ledger = context.ledger().await?;
        ledger.accept_older().await?;
        ledger.close().await;
        Ok(())
    })
}

/// Refuses to send records of `run` that must not be repeated from an older ledger, unless that was confirmed. `go_on` is the command that
/// sends them. Runs that a ledger on a server had before it lost its end are sent: their records in doubt become unknown.
pub fn refuse_older<'a>(context: &'a Context, ledger: &'a Ledger, run: &'a Run, go_on: &'a str) -> Operation<'a, ()> {
    Box::pin(async move {
        // At the same time: each takes as long as a round trip.
        let (older, mut lost) = try_join(ledger.older(), ledger.lost_end()).await?;
        let mut why = older.as_ref().map(described);
        if let Some(older) = why.as_ref().filter(|_| context.server.is_some()) {
            // On a server, others have to know it, too.
            ledger.note_lost_end(older).await?;
            lost = ledger.lost_end().await?;
            why = None;
        }
        if let Some(lost) = lost {
            let is_later = lost.last_run < run.id;
            why = (is_later || context.accepts_older_ledger).then(|| went_back(&lost));
        }
        let Some(why) = why else { return Ok(()) };
        if context.accepts_older_ledger {
            ledger.accept_older().await?;
            return Ok(ledger.remove_doubts(run.id).await?);
        }
        let hint = format!(
            "restore a newer copy, or look up in the service what was sent since; if it may be sent: {go_on} --accept-older-ledger"
        );
        Err(Error::invalid(format!("{why}, so nothing was sent that would be created twice"), hint))
    })
}

fn went_back(lost: &LostEnd) -> String {
    format!("the ledger may lack what was sent last: {}", lost.why)
}

fn described(older: &Older) -> String {
    let Older { written, found } = older;
    match older.lacks_claims() {
        true => format!(
            "the ledger is older than what this machine has written into it: {} of its requests are missing, which created something",
            written.claim.saturating_sub(found.claim)
        ),
        false => format!(
            "the ledger is older than what this machine has written into it: it ends with run {}, and this machine has written run {}",
            found.run, written.run
        ),
    }
}
