//! Exports to be uploaded.
//!
//! For an export, recognition offers only the template of this kind, and an export of read-only records is refused with any built-in template,
//! also if only the manifest identifies the export: the columns of companies and contacts would fit the template `items` well enough to create
//! items.

use std::path::Path;

use sheetport_export::Manifest;
use sheetport_mapping::bind::Missing;
use sheetport_mapping::{Template, builtin};
use sheetport_plan::{self as plan, Source};
use sheetport_records::{Exported, is_list_of_changes};

use super::super::error::Error;

/// Returns the records of an export according to the manifest next to the file. The file may have been edited since.
pub(crate) fn exported_to(file: &Path) -> Option<&'static Exported> {
    Exported::named(&Manifest::beside(file)?.records)
}

/// Returns whether the API has no call that writes these records.
pub(crate) fn is_read_only(exported: &&'static Exported) -> bool {
    exported.record.is_none()
}

/// Returns the error for a file that does not match a template. For a list of changes, explains the list instead.
pub(super) fn not_opened(error: plan::Error, name: &Path, template: &Template) -> Error {
    let is_list = |missing: &Missing| missing.header.as_ref().is_some_and(|header| is_list_of_changes(&header.names));
    match &error {
        plan::Error::Columns { missing, .. } if builtin::find(&template.name).is_some() && is_list(missing) => {
            changes_not_writable(name)
        }
        _ => error.into(),
    }
}

/// Refuses an export of read-only records, unless the user has a suitable template.
pub(super) fn check_exported(name: &Path, template: &Template, source: &Source) -> Result<(), Error> {
    if builtin::find(&template.name).is_none() {
        return Ok(());
    }
    if source.tables.iter().any(|part| is_list_of_changes(&part.layout.header.names)) {
        return Err(changes_not_writable(name));
    }
    let of_header = || source.tables.iter().find_map(|part| Exported::with_header(&part.layout.header.names));
    match of_header().or_else(|| exported_to(name)).filter(is_read_only) {
        Some(exported) => Err(not_writable(name, exported)),
        None => Ok(()),
    }
}

/// Returns the error for a list of the changes between two exports.
pub(crate) fn changes_not_writable(name: &Path) -> Error {
    let message =
        format!("{} is a list of changes, with a row for each changed field, and can't be uploaded", name.display());
    let hint = "edit and upload the export itself: --changed-only sends what differs from the service. To make records of the \
                list, write a template of your own: sheetport template infer";
    Error::invalid(message, hint)
}

/// Returns the error for an export of read-only records.
pub(crate) fn not_writable(name: &Path, exported: &Exported) -> Error {
    let records = exported.name;
    let message = format!("{} is an export of {records}, which can't be uploaded", name.display());
    let hint = match records {
        "inventories" => {
            "the service has no request that changes inventories; send transactions, which change their figures: \
             -t transactions"
                .to_owned()
        }
        _ => format!(
            "the service has no request that creates or changes {records}; change them in the service itself. To make other \
             records of them, write a template of your own: sheetport template infer"
        ),
    };
    Error::invalid(message, hint)
}
