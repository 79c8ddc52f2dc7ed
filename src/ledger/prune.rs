//! Taking old runs out of the ledger.

use super::RunId;
use super::error::Error;
use super::open::Ledger;

impl Ledger {
    /// Takes a run and all that is known of its records out of the ledger. Only for whoever holds the run's lock.
    pub async fn remove(&self, run: RunId) -> Result<(), Error> {
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        for statement in [
            "DELETE FROM source_block WHERE run = $1",
            "DELETE FROM record_block WHERE run = $1",
            "DELETE FROM intent WHERE run = $1",
            "DELETE FROM under_way WHERE run = $1",
            "DELETE FROM outcome WHERE run = $1",
            "DELETE FROM resolution WHERE run = $1",
            "DELETE FROM run WHERE id = $1",
        ] {
            sqlx::query(statement).bind(run).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Gives the room of what was removed back to the disk, which takes as much room once more meanwhile.
    pub async fn shrink(&self) -> Result<(), Error> {
        sqlx::query("VACUUM").execute(&self.writer).await?;
        Ok(())
    }
}
