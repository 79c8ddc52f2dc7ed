//! Page sizes granted by services.

use sheetport_sql as sql;

use super::super::database::Ledger;
use super::super::error::{Error, corrupt};

/// Known page sizes of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSizes {
    /// The largest number of entries granted.
    pub granted: Option<u64>,
    /// The smallest number of entries not granted.
    pub refused: Option<u64>,
    /// Time of the observation, in milliseconds since 1970.
    pub at: i64,
}

impl Ledger {
    /// Returns the known page sizes of the list at `path` of a service and workspace.
    pub async fn page_sizes(&self, base_url: &str, workspace: &str, path: &str) -> Result<Option<PageSizes>, Error> {
        let query = "SELECT granted, refused, at FROM page_size WHERE base_url = $1 AND workspace = $2 AND path = $3";
        let row: Option<(Option<i64>, Option<i64>, i64)> =
            sql::query_as(query).bind(base_url).bind(workspace).bind(path).fetch_optional(&self.reader).await?;
        let size = |size: Option<i64>| size.map(u64::try_from).transpose().map_err(corrupt);
        row.map(|(granted, refused, at)| Ok(PageSizes { granted: size(granted)?, refused: size(refused)?, at }))
            .transpose()
    }

    /// Stores the known page sizes of the list at `path`.
    pub async fn store_page_sizes(
        &self,
        base_url: &str,
        workspace: &str,
        path: &str,
        sizes: PageSizes,
    ) -> Result<(), Error> {
        let query = "INSERT INTO page_size (base_url, workspace, path, granted, refused, at) \
                     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (base_url, workspace, path) \
                     DO UPDATE SET granted = excluded.granted, refused = excluded.refused, at = excluded.at";
        // Page sizes are far below the limit.
        let size = |size: Option<u64>| size.and_then(|size| i64::try_from(size).ok());
        let query = sql::query(query).bind(base_url).bind(workspace).bind(path);
        let query = query.bind(size(sizes.granted)).bind(size(sizes.refused)).bind(sizes.at);
        let mut transaction = self.begin_writing().await?;
        query.execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(())
    }
}
