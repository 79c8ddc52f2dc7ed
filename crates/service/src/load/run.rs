//! [`Loader::load`].

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::app::App;
use crate::auth::is_workspace_name;
use crate::error::Error;
use crate::request::Errors;
use crate::server::Service;
use crate::store::Stored;

use super::batch::Batch;
use super::model::{LoadRecord, Nulls};
use super::prepare::prepare;

/// Maximum number of records per transaction. Other writes wait meanwhile.
const BATCH: usize = 250;

/// Direct access to the data of a service, which may be running.
#[derive(Clone)]
pub struct Loader {
    app: Arc<App>,
}

impl Service {
    /// Returns access for loading records while the service is running.
    pub fn loader(&self) -> Loader {
        Loader { app: Arc::clone(&self.app) }
    }

    /// Loads records before the service is running, like [`Loader::load`].
    pub fn load<'a>(
        &'a self,
        workspace: &'a str,
        records: Vec<LoadRecord>,
    ) -> BoxFuture<'a, Result<Vec<Result<Stored, Errors>>, Error>> {
        Box::pin(async move { self.loader().load(workspace, records).await })
    }
}

impl Loader {
    /// Returns the stored records of all kinds in the order of creation, each with the name of its kind.
    #[cfg(any(test, feature = "testing"))]
    pub fn stored<'a>(&'a self, workspace: &'a str) -> BoxFuture<'a, Vec<(String, serde_json::Value)>> {
        Box::pin(async move {
            use crate::store::Kind::{Company, Contact, Inventory, Invoice, Item, Order, Subscription, Transaction};
            let mut stored = Vec::new();
            for kind in [Company, Contact, Item, Inventory, Order, Transaction, Subscription, Invoice] {
                let page = self.app.store.page(workspace, kind, 1, 1000).await.expect("a page");
                let records: Vec<serde_json::Value> =
                    serde_json::from_str(&format!("[{}]", page.entries)).expect("JSON");
                stored.extend(records.into_iter().map(|record| (format!("{kind:?}"), record)));
            }
            stored
        })
    }

    /// Creates or changes records. Returns for each record, in order, the result or its errors by field. Records without
    /// errors are stored even if others have errors.
    ///
    /// A record is matched by `id`, then by its number (`order_id`, `inventory_id`), then by `external_id`. It is rejected
    /// if its keys belong to different records. An absent field stays as it is, null clears it. Ids and times in the
    /// record are kept, missing ones are generated. Loading the same records twice changes nothing.
    pub fn load<'a>(
        &'a self,
        workspace: &'a str,
        records: Vec<LoadRecord>,
    ) -> BoxFuture<'a, Result<Vec<Result<Stored, Errors>>, Error>> {
        self.load_with(workspace, records, Nulls::Clear)
    }

    /// As [`Self::load`], with another meaning of null.
    pub fn load_with<'a>(
        &'a self,
        workspace: &'a str,
        records: Vec<LoadRecord>,
        nulls: Nulls,
    ) -> BoxFuture<'a, Result<Vec<Result<Stored, Errors>>, Error>> {
        Box::pin(async move {
            if !is_workspace_name(workspace) {
                return Err(Error::WorkspaceName { name: workspace.to_owned() });
            }
            let mut results = Vec::with_capacity(records.len());
            let mut entries = records.into_iter().map(prepare).peekable();
            while entries.peek().is_some() {
                let batch = Batch { entries: entries.by_ref().take(BATCH).collect(), nulls };
                let stored = self.app.store.write(workspace, batch).await;
                results.append(&mut stored.map_err(|_| Error::NotStored)?);
            }
            Ok(results)
        })
    }
}
