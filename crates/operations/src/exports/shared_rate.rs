//! The rate that an export shares with the uploads and workers of the same ledger, by service and workspace.

use std::sync::Arc;
use std::time::Instant;

use sheetport_client::{self as client, Pace, Permits, Speed};
use sheetport_ledger::Ledger;
use sheetport_send::Supply;

use super::super::context::Context;
use super::super::error::Error;

/// Access to the shared rate.
pub(super) struct SharedRate {
    ledger: Ledger,
    base_url: String,
    workspace: String,
    speed: Speed,
    /// Of a ledger on a server. Processes on one machine share a file instead.
    permits: Option<Arc<Permits>>,
}

impl SharedRate {
    /// Returns `None` without a ledger. An unusable ledger does not stop the export.
    pub(super) async fn of(context: &Context, base_url: &str, speed: Speed) -> Option<SharedRate> {
        SharedRate::open(context, base_url, speed).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the rate is not shared with uploads");
            None
        })
    }

    async fn open(context: &Context, base_url: &str, speed: Speed) -> Result<Option<SharedRate>, Error> {
        let Some(ledger) = context.existing_ledger().await? else { return Ok(None) };
        let (base_url, workspace) = (client::normal_address(base_url)?, context.workspace());
        let permits = ledger.has_gates().then(|| Arc::new(Permits::default()));
        Ok(Some(SharedRate { ledger, base_url, workspace, speed, permits }))
    }

    /// Returns the limiter with the shared rate.
    pub(super) fn of_pace(&self, pace: Pace) -> Pace {
        match &self.permits {
            Some(permits) => pace.supplied_by(Arc::clone(permits)),
            None => pace.shared(&self.ledger.rate_file(&self.base_url, &self.workspace), Instant::now()),
        }
    }

    /// Returns what supplies the permits, if the ledger is on a server.
    pub(super) fn supply(&self, concurrency: u16) -> Option<Supply<'_>> {
        let SharedRate { ledger, base_url, workspace, speed, permits } = self;
        let permits = permits.as_deref()?;
        Some(Supply { ledger, base_url, workspace, speed: *speed, permits, most: u32::from(concurrency) })
    }

    pub(super) async fn close(self) {
        self.ledger.close().await;
    }
}
