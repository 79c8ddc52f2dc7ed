//! Edits made to spreadsheets before sending. Append-only, so that a crash loses no edit.

use sheetport_sql::{self as sql, Builder, Value};

use super::super::database::Ledger;
use super::super::error::{Error, corrupt};

/// The column number of edits to a whole row.
const WHOLE_ROW: i64 = -1;
/// The number of the lock of edits, for databases with several writers.
const EDITING: i64 = 0x0065_6469_7473;

/// An edit of a cell, or of a row as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Edits with the same step were made together. Set by the ledger.
    pub step: i64,
    /// The step undone by this edit.
    pub undoes: Option<i64>,
    /// The index of the sheet.
    pub sheet: usize,
    /// The row number as in a spreadsheet program.
    pub row: u64,
    /// The index of the column; `None` for the row as a whole.
    pub column: Option<usize>,
    /// The old text, or `None` for the cell as in the file.
    pub old: Option<String>,
    /// The new text, or `None` for the cell as in the file.
    pub new: Option<String>,
    /// The author. Set by the ledger.
    pub who: String,
    /// Milliseconds since 1970, UTC. Set by the ledger.
    pub at: i64,
}

impl Ledger {
    /// Returns the edits of the file with this hash after the first `known`, in order.
    pub async fn edits_after(&self, file_hash: &str, known: usize) -> Result<Vec<Edit>, Error> {
        let query = "SELECT step, undoes, sheet, row_number, column_index, old_text, new_text, who, at FROM edit \
                     WHERE file_hash = $1 AND seq > $2 ORDER BY seq";
        let known = i64::try_from(known).map_err(corrupt)?;
        let rows = sql::query(query).bind(file_hash).bind(known).fetch_all(&self.reader).await?;
        let edit = |row: sql::Row| -> Result<Edit, Error> {
            let (sheet, number, column): (i64, i64, i64) = (row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
            Ok(Edit {
                step: row.try_get(0)?,
                undoes: row.try_get(1)?,
                sheet: usize::try_from(sheet).map_err(corrupt)?,
                row: u64::try_from(number).map_err(corrupt)?,
                column: (column != WHOLE_ROW).then(|| usize::try_from(column)).transpose().map_err(corrupt)?,
                old: row.try_get(5)?,
                new: row.try_get(6)?,
                who: row.try_get(7)?,
                at: row.try_get(8)?,
            })
        };
        rows.into_iter().map(edit).collect()
    }

    /// Adds edits as one step. Returns the number of the step.
    pub async fn add_edits(&self, file_hash: &str, edits: &[Edit], who: &str, now: i64) -> Result<i64, Error> {
        let mut transaction = self.begin().await?;
        if let Some(statement) = transaction.dialect().one_at_a_time() {
            sql::query(statement).bind(EDITING).execute(&mut transaction).await?;
        }
        let last = "SELECT COALESCE(MAX(seq), 0), COALESCE(MAX(step), 0) FROM edit WHERE file_hash = $1";
        let (last, step): (i64, i64) = sql::query_as(last).bind(file_hash).fetch_one(&mut transaction).await?;
        let step = step + 1;
        let numbered: Vec<(i64, &Edit)> = (last + 1..).zip(edits).collect();
        for edits in numbered.chunks(self.dialect().rows_per_statement()) {
            let insert = "INSERT INTO edit (file_hash, seq, step, undoes, sheet, row_number, column_index, old_text, \
                          new_text, who, at) ";
            let mut query = Builder::new(self.dialect(), insert);
            let rows = edits.iter().map(|(seq, edit)| -> Result<[Value; 11], Error> {
                let column = edit.column.map_or(Ok(WHOLE_ROW), i64::try_from).map_err(corrupt)?;
                Ok([
                    Value::from(file_hash),
                    seq.into(),
                    step.into(),
                    edit.undoes.into(),
                    i64::try_from(edit.sheet).map_err(corrupt)?.into(),
                    i64::try_from(edit.row).map_err(corrupt)?.into(),
                    column.into(),
                    edit.old.clone().into(),
                    edit.new.clone().into(),
                    who.into(),
                    now.into(),
                ])
            });
            query.push_rows(rows.collect::<Result<Vec<_>, _>>()?);
            query.build_for(edits.len()).execute(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn edits_are_read_back_in_steps() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::open(folder.path()).await.expect("a ledger");
        let edit = |row: u64, new: Option<&str>| Edit {
            step: 0,
            undoes: None,
            sheet: 0,
            row,
            column: new.map(|_| 2),
            old: None,
            new: new.map(str::to_owned),
            who: String::new(),
            at: 0,
        };
        let many: Vec<Edit> = (2..1_204).map(|row| edit(row, Some("pcs"))).collect();
        assert_eq!(ledger.add_edits("one", &many, "anna", 1).await.expect("added"), 1);
        assert_eq!(ledger.add_edits("one", &[edit(7, None)], "ben", 2).await.expect("added"), 2);
        assert_eq!(ledger.add_edits("other", &many[..1], "anna", 3).await.expect("added"), 1);
        let read = ledger.edits_after("one", 0).await.expect("read");
        let stored = |edit: Edit, step: i64, who: &str| Edit { step, at: step, who: who.to_owned(), ..edit };
        let expected = many.into_iter().map(|edit| stored(edit, 1, "anna")).chain([stored(edit(7, None), 2, "ben")]);
        assert!(read.into_iter().eq(expected));
    }
}
