//! Profiles of uploaded files, kept for comparison with later files.

use sheetport_records::RecordKind;
use sheetport_sql as sql;

use super::super::database::Ledger;
use super::super::error::Error;
use super::super::ids::RunId;

/// The profile of an uploaded file.
#[derive(Debug)]
pub struct StoredProfile {
    pub run: RunId,
    /// When the run began, in milliseconds since 1970, UTC.
    pub at: i64,
    /// JSON.
    pub profile: String,
}

impl Ledger {
    /// Returns the profiles of the last `most` finished uploads with this template, newest first. Uploads without an accepted
    /// record are left out.
    pub async fn latest_profiles(
        &self,
        template: &str,
        record: RecordKind,
        most: u32,
    ) -> Result<Vec<StoredProfile>, Error> {
        let query = "SELECT id AS run, created_at AS at, profile FROM run \
                     WHERE template = $1 AND record = $2 AND state = 'finished' AND profile IS NOT NULL AND EXISTS \
                     (SELECT 1 FROM outcome WHERE outcome.run = run.id AND outcome.state = 'sent') \
                     ORDER BY id DESC LIMIT $3";
        let rows: Vec<(RunId, i64, String)> = sql::query_as(query)
            .bind(template)
            .bind(record.name())
            .bind(i64::from(most))
            .fetch_all(&self.reader)
            .await?;
        Ok(rows.into_iter().map(|(run, at, profile)| StoredProfile { run, at, profile }).collect())
    }
}
