//! Exports that are to be uploaded.

use std::path::Path;

use super::super::error::Error;
use crate::export::Manifest;
use crate::records::Exported;
use crate::template::{Template, builtin};
use crate::upload::Source;

/// Returns the records that were exported to this file, as its manifest says, even if the file was edited since.
pub(super) fn exported_to(file: &Path) -> Option<&'static Exported> {
    Exported::named(&Manifest::beside(file)?.records)
}

/// Returns whether the contract has no call that writes such records.
pub(super) fn is_read_only(exported: &&'static Exported) -> bool {
    exported.record.is_none()
}

/// Refuses an export of records that nothing can write, unless the user has a template of their own for it.
pub(in crate::operations) fn check_exported(
    file: &Path,
    name: &Path,
    template: &Template,
    source: &Source,
) -> Result<(), Error> {
    if builtin::find(&template.name).is_none() {
        return Ok(());
    }
    let of_header = || source.parts.iter().find_map(|part| Exported::with_header(&part.layout.header.names));
    match of_header().or_else(|| exported_to(file)).filter(is_read_only) {
        Some(exported) => Err(not_writable(name, exported)),
        None => Ok(()),
    }
}

/// Returns the error for an export of records that nothing can write.
pub(super) fn not_writable(name: &Path, exported: &Exported) -> Error {
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
