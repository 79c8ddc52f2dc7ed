//! A ledger that is older than what this machine has written into it, such as a restored backup or a copy without the log. It does not
//! know what was sent since, so records that must not be repeated wait until a person has confirmed it.

use sheetport_ledger::{Ledger, Older};

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
        let older = ledger.older().await?;
        ledger.close().await;
        Ok(older.as_ref().map(described))
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

/// Refuses to send records that must not be repeated from an older ledger, unless that was confirmed. `go_on` is the command that
/// sends them.
pub fn refuse_older<'a>(context: &'a Context, ledger: &'a Ledger, go_on: &'a str) -> Operation<'a, ()> {
    Box::pin(async move {
        let Some(older) = ledger.older().await? else { return Ok(()) };
        if context.accepts_older_ledger {
            return Ok(ledger.accept_older().await?);
        }
        let hint = format!(
            "restore a newer copy, or look up in the service what was sent since; if it may be sent: {go_on} --accept-older-ledger"
        );
        Err(Error::invalid(format!("{}, so nothing was sent that would be created twice", described(&older)), hint))
    })
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
