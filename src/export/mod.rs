//! Exports: the pages of a list, kept as they came in a spool, then written as a table that is whole or not there.

mod columns;
mod spool;

use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use futures_util::stream;

use crate::api::pages::{self, Completeness, Walk};
use crate::api::{self, Client, Pace, fetch};
use crate::records::List;
use crate::sheet;
use crate::sheet::write::{Existing, Format, Table};
use columns::Columns;
use spool::Spool;

/// Entries asked for on a page. The service may give fewer.
const PAGE_SIZE: u32 = 100;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Api(#[from] api::Error),
    #[error(transparent)]
    Sheet(#[from] sheet::Error),
    #[error("page {page} can't be understood: {reason}")]
    Page { page: u64, reason: String },
    #[error("the folder {path} can't be used: {source}", path = path.display())]
    Spool { path: PathBuf, source: std::io::Error },
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Api(error) => error.hint(),
            Error::Sheet(error) => error.hint(),
            Error::Page { .. } => {
                Some("check the base address; something else may have answered in the service's place".to_owned())
            }
            Error::Spool { .. } => {
                Some("check that the disk has room, or set SHEETPORT_HOME to another folder".to_owned())
            }
        }
    }
}

/// What an export brought.
#[derive(Debug)]
pub struct Exported {
    /// Where the table is: the name that was asked for, or that with `.incomplete` at its end.
    pub path: PathBuf,
    pub records: u64,
    pub pages: u64,
    pub duplicates: u64,
    /// What the service said at last.
    pub total: Option<u64>,
    pub completeness: Completeness,
}

/// How an export is made.
#[derive(Debug)]
pub struct Options<'a> {
    pub path: &'a Path,
    pub format: Format,
    pub concurrency: usize,
    /// For the spool.
    pub folder: &'a Path,
}

/// Reads the whole of `list` and writes it to a file. `progress` is told the records so far and their total, if known.
pub async fn export(
    client: &Client,
    pace: &Pace,
    list: &List,
    options: &Options<'_>,
    progress: &(dyn Fn(u64, Option<u64>) + Sync),
) -> Result<Exported, Error> {
    let mut spool = Spool::create(options.folder)?;
    let mut columns = Columns::new(list);
    let mut walk = Walk::default();
    let page = |number: u64| async move {
        let path = format!("{}?page={number}&limit={PAGE_SIZE}", list.path);
        match fetch::fetch(client, pace, &path, pages::read).await {
            // Some services have no page past the last one, where others have an empty one.
            Err(api::Error::Status { status: 404, .. }) if number > 1 => {
                Ok(pages::Page { entries: Vec::new(), total: None })
            }
            Err(api::Error::Unreadable(reason)) => Err(Error::Page { page: number, reason }),
            other => Ok(other?),
        }
    };
    take(&mut walk, &mut columns, &mut spool, page(1).await?)?;
    progress(walk.entries, walk.total);
    // What the first page says of the length is only used to fetch several pages at once; the walk decides when to end.
    let mut expected = stream::iter(2..=walk.pages_expected()).map(page).buffered(options.concurrency.max(1));
    let mut next = 2;
    while !walk.is_over() {
        let fetched = match expected.next().await {
            Some(fetched) => fetched?,
            None => page(next).await?,
        };
        next += 1;
        take(&mut walk, &mut columns, &mut spool, fetched)?;
        progress(walk.entries, walk.total);
    }
    let completeness = walk.completeness();
    let path = match completeness {
        Completeness::Unproven(_) => incomplete(options.path),
        Completeness::TotalReached | Completeness::ReadToTheEnd => options.path.to_owned(),
    };
    let names = columns.names();
    let header: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut table = Table::create(&path, options.format, Existing::Replace, list.name, &header)?;
    let mut entries = spool.read()?;
    while let Some(entry) = entries.next()? {
        columns.write(entry, options.format, &mut table)?;
    }
    let path = table.finish()?;
    Ok(Exported {
        path,
        records: walk.entries,
        pages: walk.pages,
        duplicates: walk.duplicates,
        total: walk.total,
        completeness,
    })
}

fn take(walk: &mut Walk, columns: &mut Columns, spool: &mut Spool, page: pages::Page) -> Result<(), Error> {
    let new = walk.take(&page);
    for (entry, is_new) in page.entries.iter().zip(new) {
        if is_new {
            columns.meet(entry);
            spool.add(entry)?;
        }
    }
    Ok(())
}

fn incomplete(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".incomplete");
    PathBuf::from(name)
}
