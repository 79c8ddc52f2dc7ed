//! [`Service::load`].

use crate::service::auth::is_workspace_name;
use crate::service::error::Error;
use crate::service::request::Errors;
use crate::service::server::Service;
use crate::service::store::Stored;

use super::batch::Batch;
use super::model::LoadRecord;
use super::prepare::prepare;

/// Maximum number of records per transaction. Other writes wait for it.
const BATCH: usize = 250;

impl Service {
    /// Creates or changes records. Returns for each record, in order, the result or its errors by field. Records without
    /// errors are stored even if others have errors.
    ///
    /// A record is matched by `id`, then by its number (`order_id`, `inventory_id`), then by `external_id`. It is rejected
    /// if its keys belong to different records. An absent field stays as it is, null clears it. Ids and times in the
    /// record are kept, missing ones are generated. Loading the same records twice changes nothing.
    pub async fn load(&self, workspace: &str, records: Vec<LoadRecord>) -> Result<Vec<Result<Stored, Errors>>, Error> {
        if !is_workspace_name(workspace) {
            return Err(Error::WorkspaceName { name: workspace.to_owned() });
        }
        let mut results = Vec::with_capacity(records.len());
        let mut entries = records.into_iter().map(prepare).peekable();
        while entries.peek().is_some() {
            let batch = Batch { entries: entries.by_ref().take(BATCH).collect() };
            let stored = self.app.store.write(workspace.into(), batch).await;
            results.append(&mut stored.map_err(|_| Error::NotStored)?);
        }
        Ok(results)
    }
}
