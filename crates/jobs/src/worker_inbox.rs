//! The inbox of a worker, as given by flags.

use std::path::{Path, PathBuf};

use sheetport_mapping::builtin;
use sheetport_operations::error::Error;
use sheetport_operations::files::{lasting, sibling};
use sheetport_operations::templates::load_template::{TemplateChanges, load_template};
use sheetport_storage::ObjectAddress;

use super::definition::{Folders, UploadStep};

/// Files to upload on arrival.
#[derive(Clone, Copy, Debug)]
pub struct InboxRequest<'a> {
    pub folder: &'a Path,
    /// Names of the files, with `*` and `?` as wildcards.
    pub files: &'a str,
    pub template: &'a str,
    pub set: &'a [(String, String)],
    /// Where the files go; beside the inbox if `None`.
    pub done: Option<&'a Path>,
    pub failed: Option<&'a Path>,
}

/// Returns the upload step of an inbox.
///
/// # Errors
/// If the template can't be loaded, the folder does not exist, or files would be uploaded again and again.
pub fn inbox(request: &InboxRequest<'_>) -> Result<UploadStep, Error> {
    let InboxRequest { folder, files, template, set, done, failed } = *request;
    let is_object = ObjectAddress::of(folder)?.is_some();
    if !is_object && !folder.is_dir() {
        let message = format!("the inbox {} is no folder", folder.display());
        return Err(Error::invalid(message, "create it, or check its name"));
    }
    let folder = match folder.to_str().filter(|_| is_object) {
        Some(address) => PathBuf::from(address.trim_end_matches('/')),
        None => lasting(folder),
    };
    load_template(template, TemplateChanges { parameters: set, ..TemplateChanges::default() })?;
    let place = |named: Option<&Path>, usual| named.map_or_else(|| sibling(&folder, usual), lasting);
    let folders = Folders { done: place(done, "done"), failed: place(failed, "failed") };
    if folders.done == folder || folders.failed == folder {
        let message = "files that were uploaded would come into the inbox again";
        return Err(Error::invalid(message, "name another folder with --done and --failed"));
    }
    let template = match builtin::find(template) {
        Some(_) => template.to_owned(),
        None => lasting(Path::new(template)).display().to_string(),
    };
    Ok(UploadStep { set: set.to_vec(), ..UploadStep::usual(folder, files.to_owned(), template, folders) })
}
