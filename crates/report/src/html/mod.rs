//! Reports as a self-contained web page. The page loads nothing, and shows cells only as text.
//!
//! The rows come first in the file, as data for the script of the page, so that rows can be streamed before the totals are known.

mod cut;
mod data;
mod page;
mod texts;

use std::io::Write;

use sheetport_ledger::Ledger;
use sheetport_sheet as sheet;
use sheetport_sheet::write::WholeFile;

use super::error::Error;
use super::options::{Request, Written};
use super::rows::{Subject, each_row};
use data::PageData;

pub(super) async fn write(
    ledger: &Ledger,
    subject: &Subject<'_>,
    request: &Request<'_>,
    mut file: WholeFile,
) -> Result<Written, Error> {
    let (run, language) = (&*subject.run, subject.language);
    let accounting = ledger.accounting(run.id).await?;
    let failed = |source| sheet::Error::Write { path: request.path.to_owned(), source };
    file.write_all(page::head(run, &accounting, language)?.as_bytes()).map_err(failed)?;
    let mut data = PageData::begin(&mut file, run, &page::script_texts(language)).map_err(failed)?;
    each_row(ledger, subject, request.rows, |row| Ok(data.row(row).map_err(failed)?)).await?;
    let shown = data.finish().map_err(failed)?;
    file.write_all(page::body(run, &accounting, request, &shown, language)?.as_bytes()).map_err(failed)?;
    Ok(Written { path: file.finish()?, rows: shown.rows, left_out: shown.left_out })
}
