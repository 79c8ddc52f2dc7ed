//! The checksum of the row of a run, updated with each change of the row.

use sheetport_sql::{self as sql, Dialect, Query, Row, Transaction};

use super::super::database::Ledger;
use super::super::error::{Error, damaged};
use super::super::event::NewEvent;
use super::super::ids::RunId;
use super::row::Checksum;

/// All columns of the first step but the checksum, as JSON.
const SEALED: &str = "id, state, command, record, template, template_toml, lookups, file, \
    file_hash, readers, delimiter, has_bom, base_url, workspace, sheet, header, header_row, columns, name_columns, create_missing_items, \
    trigger_workflows, all_or_nothing, strict, changed_only, overwrite_newer, for_supplier, allow_repeat, ca_file, client_cert, client_key, proxy, insecure_http, profile_name, rate_requests, \
    rate_seconds, concurrency, max_errors, report, first_row, last_row, profile, retry_of, created_at, queued_at, finished_at, \
    stopped_why, millis, warnings, compared_to, is_indexed, source_rows, sheet_rows, records, skipped, rejected, \
    unchanged, warned, has_plan, damage";

/// Columns of later steps that decide about requests. They count only where they are not NULL, so that earlier checksums stay valid.
const SEALED_LATER: [&str; 7] =
    ["looked_at", "approved_at", "only_records", "undo_of", "undoable", "commands", "fill_blank"];

/// Returns the expression of the text with all columns that the checksum is made of.
pub(crate) fn sealed_columns(dialect: Dialect) -> String {
    let later = SEALED_LATER.map(|column| format!(" || COALESCE('{column}:' || {column}, '')"));
    format!("{}{}", dialect.json_array(SEALED), later.concat())
}

/// Returns the checksum of the sealed columns.
pub(crate) fn checksum(sealed: &str) -> i64 {
    Checksum::of("run").text(sealed).long()
}

/// Stores the checksum of the row of a run after a change.
pub(crate) async fn seal(transaction: &mut Transaction, run: RunId) -> Result<(), Error> {
    let row = selecting(transaction.dialect(), run).fetch_optional(&mut *transaction).await?;
    if let Some(row) = row {
        sealing(run, &row)?.execute(transaction).await?;
    }
    Ok(())
}

/// Changes the row of a run by an UPDATE, in a transaction, and returns whether the row was changed. A change of a row that was
/// altered would hide the damage.
///
/// # Errors
/// [`Error::Damaged`] if the row was altered.
pub(crate) async fn change(transaction: &mut Transaction, run: RunId, update: Query<Row>) -> Result<bool, Error> {
    if let Some(row) = selecting(transaction.dialect(), run).fetch_optional(&mut *transaction).await? {
        refuse_altered(run, &row)?;
    }
    let sealing = changing(transaction, run, update).await?;
    let changed = sealing.is_some();
    if let Some(seal) = sealing {
        seal.execute(transaction).await?;
    }
    Ok(changed)
}

/// Changes the row of a run by an UPDATE after [`refuse_altered`]. Returns the statement that seals the row, `None` if it was not changed.
pub(crate) async fn changing(
    transaction: &mut Transaction,
    run: RunId,
    update: Query<Row>,
) -> Result<Option<Query<Row>>, Error> {
    let select = selecting(transaction.dialect(), run);
    let results = transaction.run_all(vec![update, select]).await?;
    let is_changed = results.first().is_some_and(|updated| updated.changed() > 0);
    let row = results.get(1).and_then(|sealed| sealed.rows().first());
    row.filter(|_| is_changed).map(|row| sealing(run, row)).transpose()
}

/// Does the same as [`change`], and writes an event if the row was changed.
pub(crate) async fn change_with(
    transaction: &mut Transaction,
    run: RunId,
    update: Query<Row>,
    event: NewEvent<'_>,
    now: i64,
) -> Result<bool, Error> {
    let changed = change(transaction, run, update).await?;
    if changed {
        event.write(transaction, run, now).await?;
    }
    Ok(changed)
}

pub(crate) fn altered(run: RunId) -> Error {
    damaged(run, "its row was altered: address, workspace or another setting is not what was stored")
}

impl Ledger {
    /// Changes the row of a run by an UPDATE, and returns whether the row was changed.
    pub(crate) async fn change_run(&self, run: RunId, update: Query<Row>) -> Result<bool, Error> {
        let mut transaction = self.begin().await?;
        let changed = change(&mut transaction, run, update).await?;
        transaction.commit().await?;
        Ok(changed)
    }

    /// Does the same as [`Ledger::change_run`], and writes an event if the row was changed.
    pub(crate) async fn change_run_with(
        &self,
        run: RunId,
        update: Query<Row>,
        event: NewEvent<'_>,
        now: i64,
    ) -> Result<bool, Error> {
        let mut transaction = self.begin().await?;
        let changed = change_with(&mut transaction, run, update, event, now).await?;
        transaction.commit().await?;
        Ok(changed)
    }
}

/// Returns the query for [`refuse_altered`], which locks the row.
pub(crate) fn selecting(dialect: Dialect, run: RunId) -> Query<Row> {
    let (columns, end) = (sealed_columns(dialect), dialect.for_update());
    sql::query(format!("SELECT {columns}, checksum FROM run WHERE id = $1{end}")).bind(run)
}

/// # Errors
/// [`Error::Damaged`] if a row of [`selecting`] was altered.
pub(crate) fn refuse_altered(run: RunId, row: &Row) -> Result<(), Error> {
    let (sealed, stored): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
    if checksum(&sealed) == stored { Ok(()) } else { Err(altered(run)) }
}

/// Returns the statement that stores the checksum of a row of [`selecting`].
fn sealing(run: RunId, row: &Row) -> Result<Query<Row>, Error> {
    let sealed: String = row.try_get(0)?;
    Ok(sql::query("UPDATE run SET checksum = $2 WHERE id = $1").bind(run).bind(checksum(&sealed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::STEPS;

    #[test]
    fn every_column_of_a_run_is_sealed() {
        let (_, table) = STEPS[0].sql.split_once("CREATE TABLE run (\n").expect("the table of runs");
        let (table, _) = table.split_once(");").expect("an end of the table");
        let columns = table.lines().filter_map(|line| line.trim().split(' ').next()).filter(|name| *name != "--");
        let columns: Vec<&str> = columns.collect();
        let sealed: Vec<&str> = SEALED.split(',').map(str::trim).collect();
        assert!(columns.len() > 40 && columns.contains(&"base_url"), "{columns:?}");
        for column in columns.into_iter().filter(|name| *name != "checksum") {
            assert!(sealed.contains(&column), "{column}");
        }
    }
}
