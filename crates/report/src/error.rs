//! Errors of writing a report.

use sheetport_ledger as ledger;
use sheetport_sheet as sheet;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    #[error(transparent)]
    Sheet(#[from] sheet::Error),
    #[error("row {0} in the ledger cannot be read by this version")]
    Corrupt(u64),
    #[error("the page cannot be rendered: {0}")]
    Page(#[from] minijinja::Error),
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Ledger(error) => error.hint(),
            Error::Sheet(error) => error.hint(),
            Error::Page(_) => Some("please report this".to_owned()),
            Error::Corrupt(_) => Some("use the version of sheetport that made the run".to_owned()),
        }
    }
}
