//! Learned request rates of services.

use sheetport_sql as sql;

use super::super::database::Ledger;
use super::super::error::Error;

impl Ledger {
    /// Returns the learned request rate per second for a service and workspace, if known.
    pub async fn learned_rate(&self, base_url: &str, workspace: &str) -> Result<Option<f64>, Error> {
        let query = "SELECT millirate FROM rate WHERE base_url = $1 AND workspace = $2";
        let rate: Option<i64> =
            sql::query_scalar(query).bind(base_url).bind(workspace).fetch_optional(&self.reader).await?;
        Ok(rate.map(|rate| rate as f64 / 1000.0))
    }

    /// Stores the request rate per second accepted by a service for a workspace.
    pub async fn store_rate(&self, base_url: &str, workspace: &str, rate: f64, now: i64) -> Result<(), Error> {
        let query = "INSERT INTO rate (base_url, workspace, millirate, at) VALUES ($1, $2, $3, $4) \
                     ON CONFLICT (base_url, workspace) DO UPDATE SET millirate = excluded.millirate, at = excluded.at";
        // The clamp keeps the conversion exact; real rates are far below the upper end.
        let millirate = (rate.clamp(0.001, 1e9) * 1000.0).round() as i64;
        let mut transaction = self.begin_writing().await?;
        let query = sql::query(query).bind(base_url).bind(workspace).bind(millirate).bind(now);
        query.execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(())
    }
}
