//! A report as one page to look at: it needs nothing beside it, asks nothing of anybody, and whatever stands in a cell is
//! text in it.
//!
//! The rows come first in the file, as data that the page's script shows. So they are written as they are read, and what
//! is said of them as a whole can follow.

mod island;
mod page;
mod visible;

use std::io::Write;

use island::Island;

use super::error::Error;
use super::model::{Request, Written};
use super::row;
use crate::ledger::{Ledger, Run};
use crate::sheet;
use crate::sheet::write::WholeFile;

pub(super) async fn write(ledger: &Ledger, run: &Run, request: &Request<'_>) -> Result<Written, Error> {
    let accounting = ledger.accounting(run.id).await?;
    let mut file = WholeFile::create(request.path, request.existing)?;
    let failed = |source| sheet::Error::Write { path: request.path.to_owned(), source };
    file.write_all(page::head(run, &accounting)?.as_bytes()).map_err(failed)?;
    let mut island = Island::begin(&mut file, run).map_err(failed)?;
    row::each_row(ledger, run, request.rows, |row| Ok(island.row(row).map_err(failed)?)).await?;
    let shown = island.finish().map_err(failed)?;
    file.write_all(page::body(run, &accounting, request, &shown)?.as_bytes()).map_err(failed)?;
    Ok(Written { path: file.finish()?, rows: shown.rows, left_out: shown.left_out })
}
