//! Knowledge about a service from exports and comparisons, stored for later ones: its rate limit and its page sizes.

use std::time::Duration;

use sheetport_client::{KnownSizes, Speed};
use sheetport_ledger::{Ledger, PageSizes};
use sheetport_plan::compare::Connection;

use super::context::Context;
use super::error::Error;
use super::lists::LISTS;

/// Lifetime of stored page sizes: the service may allow larger pages later.
const VALID: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Knowledge about a list of a service.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Learned {
    /// Accepted requests per second.
    pub(super) rate: Option<f64>,
    pub(super) sizes: KnownSizes,
}

impl Learned {
    /// Returns the knowledge from earlier exports of the list at `path`. Returns the default if the ledger is unreadable: the
    /// export can do without.
    pub(super) async fn load(context: &Context, base_url: &str, path: &str) -> Learned {
        Learned::read(context, base_url, path).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "what is known about the limits of the service can't be read");
            Learned::default()
        })
    }

    async fn read(context: &Context, base_url: &str, path: &str) -> Result<Learned, Error> {
        let Some(ledger) = context.existing_ledger().await? else { return Ok(Learned::default()) };
        let workspace = context.workspace();
        let rate = ledger.learned_rate(base_url, &workspace).await?;
        let sizes = known_sizes(&ledger, base_url, &workspace, path).await?;
        ledger.close().await;
        Ok(Learned { rate, sizes })
    }

    /// Stores the changes since `before`. Errors are only logged, because the export is complete.
    pub(super) async fn store(self, before: Learned, context: &Context, base_url: &str, path: &str) {
        if self != before
            && let Err(error) = self.write(before, context, base_url, path).await
        {
            tracing::warn!(%error, "what is known about the limits of the service can't be stored");
        }
    }

    async fn write(self, before: Learned, context: &Context, base_url: &str, path: &str) -> Result<(), Error> {
        let ledger = context.ledger().await?;
        let workspace = context.workspace();
        if let Some(rate) = self.rate.filter(|_| self.rate != before.rate) {
            ledger.store_rate(base_url, &workspace, rate, ledger.now()).await?;
        }
        if self.sizes != before.sizes {
            store_sizes(&ledger, base_url, &workspace, path, self.sizes).await?;
        }
        ledger.close().await;
        Ok(())
    }
}

impl Learned {
    /// Returns the speed. An automatic rate starts with the rate measured before.
    pub(super) fn speed(self, speed: Option<Speed>) -> Option<Speed> {
        match speed {
            Some(Speed::Auto(_)) => Some(Speed::Auto(self.rate)),
            other => other,
        }
    }
}

/// Returns the stored page sizes of a list, unless they have expired.
async fn known_sizes(ledger: &Ledger, base_url: &str, workspace: &str, path: &str) -> Result<KnownSizes, Error> {
    let sizes = ledger.page_sizes(base_url, workspace, path).await?;
    let age = |at: i64| u128::try_from(ledger.now() - at).unwrap_or(u128::MAX);
    let sizes = sizes.filter(|sizes| age(sizes.at) < VALID.as_millis());
    let sizes = sizes.map(|PageSizes { granted, refused, at: _ }| KnownSizes { granted, refused });
    Ok(sizes.unwrap_or_default())
}

async fn store_sizes(
    ledger: &Ledger,
    base_url: &str,
    workspace: &str,
    path: &str,
    sizes: KnownSizes,
) -> Result<(), Error> {
    let KnownSizes { granted, refused } = sizes;
    Ok(ledger.store_page_sizes(base_url, workspace, path, PageSizes { granted, refused, at: ledger.now() }).await?)
}

/// Passes the stored page sizes of all lists to a connection. Ignores an unreadable ledger.
pub(super) async fn load_sizes(context: &Context, connection: &Connection<'_>, base_url: &str) {
    let read = async {
        let Some(ledger) = context.existing_ledger().await? else { return Ok(()) };
        for list in LISTS {
            connection.know(list.path, known_sizes(&ledger, base_url, &context.workspace(), list.path).await?);
        }
        ledger.close().await;
        Ok::<_, Error>(())
    };
    if let Err(error) = read.await {
        tracing::warn!(%error, "what is known about the limits of the service can't be read");
    }
}

/// Stores the page sizes that a connection has discovered. Errors are logged.
pub(super) async fn store_learned_sizes(context: &Context, connection: &Connection<'_>, base_url: &str) {
    let learned = connection.learned();
    if learned.is_empty() {
        return;
    }
    let write = async {
        let ledger = context.ledger().await?;
        for (path, sizes) in learned {
            store_sizes(&ledger, base_url, &context.workspace(), path, sizes).await?;
        }
        ledger.close().await;
        Ok::<_, Error>(())
    };
    if let Err(error) = write.await {
        tracing::warn!(%error, "what is known about the limits of the service can't be stored");
    }
}
