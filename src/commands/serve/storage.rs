//! The storage of the service, for `serve` and its subcommands.

use sheetport_service::Storage;

use crate::cli::Data;
use crate::error::{ErrorCode, Failure};

/// Returns the storage selected by flags or environment variables.
pub(super) fn storage(data: &Data) -> Result<Storage, Failure> {
    let hint = "name a database such as postgres://anna@db.example/service with SHEETPORT_STORE or --store, and set PGPASSWORD or \
                enter the password in the file .pgpass";
    data.storage().map_err(|why| Failure::new(ErrorCode::Usage, why, hint))
}
