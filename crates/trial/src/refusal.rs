//! Errors of the service in this process, as errors of operations.

use sheetport_operations::Error;
use sheetport_service as service;

/// Returns the refusal of an operation by a service in this process, with the advice of the service.
pub fn refused(error: service::Error) -> Error {
    let (message, hint) = (error.to_string(), error.hint());
    match error {
        service::Error::InUse { .. } => Error::FileInUse { message, hint },
        service::Error::WorkspaceName { .. } | service::Error::NoData { .. } => Error::invalid(message, hint),
        _ => Error::Local { message, hint },
    }
}
