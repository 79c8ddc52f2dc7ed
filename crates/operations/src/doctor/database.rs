//! Checks whether the server of a ledger keeps what was committed.

use sheetport_ledger::{Ledger, Loss};

use super::super::context::Context;
use super::finding::Finding;
use crate::operation::Operation;

const NAME: &str = "database";

/// Returns a warning for each way in which the server of the ledger may lose commits.
pub(super) async fn keeps(context: &Context) -> Vec<Finding> {
    if context.server.is_none() {
        return Vec::new();
    }
    let Ok(ledger) = context.ledger().await else {
        // The check of the ledger says why.
        return Vec::new();
    };
    let found = database_risks(&ledger).await;
    ledger.close().await;
    match found {
        Ok(risks) if risks.is_empty() => {
            vec![Finding::ok(NAME, "what is committed survives a crash, as far as its settings say")]
        }
        Ok(risks) => risks,
        Err(error) => vec![Finding::failed(NAME, &error)],
    }
}

/// Returns a warning for each way in which the server of a ledger may lose commits.
pub fn database_risks(ledger: &Ledger) -> Operation<'_, Vec<Finding>> {
    Box::pin(async move { Ok(ledger.losses().await?.into_iter().map(warning).collect()) })
}

fn warning(loss: Loss) -> Finding {
    match loss {
        Loss::NoSync => Finding::warning(
            NAME,
            "fsync is off: a crash of the database server may damage the ledger or lose what was sent",
            "set fsync = on in postgresql.conf",
        ),
        Loss::EarlyCommit => Finding::warning(
            NAME,
            "synchronous_commit is off: a crash of the database server loses what was sent last",
            "set synchronous_commit = on for the server, the database or the role",
        ),
        Loss::Asynchronous => Finding::warning(
            NAME,
            "the standby of the database is asynchronous: if it is promoted, what was sent last may be missing, and the records that must \
             not be sent twice become unknown",
            "set synchronous_standby_names, as docs/scale.md describes",
        ),
        Loss::HiddenTimeline => Finding::warning(
            NAME,
            "the database does not tell its timeline: after a standby was promoted or a backup restored, only machines that have \
             written more recognise it",
            "grant the role EXECUTE on pg_control_system(), pg_walfile_name(pg_lsn) and pg_current_wal_lsn()",
        ),
    }
}
