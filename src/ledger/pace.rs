//! How fast each service was found to take requests.

use super::error::Error;
use super::open::Ledger;

impl Ledger {
    /// Requests a second that this service took of this workspace before.
    pub async fn learnt_rate(&self, base_url: &str, workspace: &str) -> Result<Option<f64>, Error> {
        let query = "SELECT millirate FROM pace WHERE base_url = $1 AND workspace = $2";
        let rate: Option<i64> =
            sqlx::query_scalar(query).bind(base_url).bind(workspace).fetch_optional(&self.reader).await?;
        Ok(rate.map(|rate| rate as f64 / 1000.0))
    }

    pub async fn learn_rate(&self, base_url: &str, workspace: &str, rate: f64, now: i64) -> Result<(), Error> {
        let query = "INSERT INTO pace (base_url, workspace, millirate, at) VALUES ($1, $2, $3, $4) \
                     ON CONFLICT (base_url, workspace) DO UPDATE SET millirate = excluded.millirate, at = excluded.at";
        // Rates end far below what either type can hold.
        let millirate = (rate.clamp(0.001, 1e9) * 1000.0).round() as i64;
        sqlx::query(query).bind(base_url).bind(workspace).bind(millirate).bind(now).execute(&self.writer).await?;
        Ok(())
    }
}
