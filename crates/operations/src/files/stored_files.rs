//! Spreadsheets and reports in object storage.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use sheetport_files::absolute_path::absolute;
use sheetport_files::readers::Readers;
use sheetport_ledger::{Ledger, Run};
use sheetport_report::{self as report, Request, Written};
use sheetport_sheet::write::{Existing, WholeFile};
use sheetport_sheet::{self as sheet, PrivateFile};
use sheetport_storage::{self as storage, Bucket, Object, ObjectAddress};

use super::super::context::Context;
use super::super::error::Error;
use super::input::InputFile;
use super::report_path::report_format;
use super::temporary_folder::TemporaryFolder;
use crate::operation::Operation;

/// Returns the spreadsheet at `path`. An object is copied to a temporary file, because files are read more than once.
///
/// # Errors
/// If the object does not exist, can't be read, or changes meanwhile.
pub fn open_input<'a>(context: &'a Context, path: &'a Path) -> Operation<'a, InputFile> {
    Box::pin(async move {
        let Some(address) = ObjectAddress::of(path)? else { return Ok(InputFile::at(path)) };
        let bucket = Bucket::open(&address, &context.connection)?;
        let copy = private_copy(&bucket, &bucket.get(&address).await?).await?;
        Ok(InputFile::of_copy(copy, &address.to_string()))
    })
}

/// Copies an object to a temporary file.
pub fn private_copy<'a>(bucket: &'a Bucket, object: &'a Object) -> Operation<'a, PrivateFile> {
    Box::pin(async move {
        let mut copy = PrivateFile::create().map_err(|error| Error::no_temporary_files(&error))?;
        bucket.read(object, &mut copy).await?;
        Ok(copy)
    })
}

/// Checks that a report can be written to `path`: the extension is known, the file does not exist, and the folder exists.
pub fn check_report_path<'a>(context: &'a Context, path: Option<&'a Path>) -> Operation<'a, ()> {
    Box::pin(async move {
        let Some(path) = path else { return Ok(()) };
        report_format(path)?;
        match ObjectAddress::of(path)? {
            None => {
                // The new file is removed on drop.
                WholeFile::create(path, Existing::Keep)?;
            }
            Some(address) => {
                let bucket = Bucket::open(&address, &context.connection)?;
                if bucket.find(&address).await?.is_some() {
                    return Err(storage::Error::Exists { address }.into());
                }
            }
        }
        Ok(())
    })
}

/// Returns whether there is a file or an object at `path`.
pub fn is_taken<'a>(context: &'a Context, path: &'a Path) -> Operation<'a, bool> {
    Box::pin(async move {
        Ok(match ObjectAddress::of(path)? {
            None => path.exists(),
            Some(address) => Bucket::open(&address, &context.connection)?.find(&address).await?.is_some(),
        })
    })
}

/// Writes a report to a file or an object.
pub fn write_report<'a>(
    context: &'a Context,
    ledger: &'a Ledger,
    run: &'a Run,
    request: &'a Request<'a>,
) -> Operation<'a, Written> {
    Box::pin(async move {
        let Some(address) = ObjectAddress::of(request.path)? else {
            return Ok(report::write(ledger, run, request).await?);
        };
        let folder = TemporaryFolder::create()?;
        let path = folder.path().join(format!("report.{}", request.format.extension()));
        let written =
            report::write(ledger, run, &Request { path: &path, existing: Existing::Keep, ..*request }).await?;
        let bucket = Bucket::open(&address, &context.connection)?;
        bucket.store(&path, &address, request.existing == Existing::Replace).await?;
        Ok(Written { path: address.path(), ..written })
    })
}

/// Writes a text to a new file for these readers, or to a new object.
pub fn write_text<'a>(context: &'a Context, path: &'a Path, readers: Readers, text: &'a str) -> Operation<'a, ()> {
    Box::pin(async move {
        let write = |path: &Path| {
            let mut file = WholeFile::create_for(readers, path, Existing::Keep)?;
            let written = file.write_all(text.as_bytes());
            written.map_err(|source| sheet::Error::Write { path: path.to_owned(), source })?;
            file.finish().map(drop)
        };
        let Some(address) = ObjectAddress::of(path)? else { return Ok(write(path)?) };
        let folder = TemporaryFolder::create()?;
        let copy = folder.path().join("text");
        write(&copy)?;
        Ok(Bucket::open(&address, &context.connection)?.store(&copy, &address, false).await?)
    })
}

/// Creates a folder. Prefixes of objects need not be created.
pub fn create_folder(folder: &Path) -> std::io::Result<()> {
    if ObjectAddress::is_meant(folder) { Ok(()) } else { std::fs::create_dir_all(folder) }
}

/// Returns whether the report was not written because its name is taken.
pub fn is_name_taken(error: &Error) -> bool {
    matches!(
        error,
        Error::Report(report::Error::Sheet(sheet::Error::Exists { .. }))
            | Error::Storage(storage::Error::Exists { .. })
    )
}

/// Returns a path relative to a folder. Addresses of objects are returned unchanged.
pub fn resolved(folder: &Path, path: &str) -> PathBuf {
    match ObjectAddress::is_meant(Path::new(path)) {
        true => PathBuf::from(path),
        false => folder.join(path),
    }
}

/// Returns the path of a file in a folder, or of an object below a prefix.
pub fn inside(folder: &Path, name: &str) -> PathBuf {
    match ObjectAddress::is_meant(folder) {
        true => PathBuf::from(format!("{}/{name}", folder.to_string_lossy().trim_end_matches('/'))),
        false => folder.join(name),
    }
}

/// Returns the folder `name` next to a folder, or inside the bucket if `folder` is a whole bucket.
pub fn sibling(folder: &Path, name: &str) -> PathBuf {
    let parent = folder.parent().unwrap_or(folder);
    let is_bucket = ObjectAddress::is_meant(folder) && !ObjectAddress::is_meant(&inside(parent, name));
    inside(if is_bucket { folder } else { parent }, name)
}

/// Returns the path for the ledger: absolute, or the address of an object.
pub fn lasting(path: &Path) -> PathBuf {
    match ObjectAddress::is_meant(path) {
        true => path.to_owned(),
        false => absolute(path),
    }
}
