//! The code of each error of the crates below.

use sheetport_client as client;
use sheetport_client::Stop;
use sheetport_client::auth::StoreError;
use sheetport_datasets as datasets;
use sheetport_export as export;
use sheetport_ledger as ledger;
use sheetport_operations as operations;
use sheetport_plan as plan;
use sheetport_report as report;
use sheetport_sheet as sheet;
use sheetport_storage as storage;

use super::ErrorCode;

pub(super) fn code_of(error: &operations::Error) -> ErrorCode {
    use operations::Error as E;
    match error {
        E::Sheet(error) => of_sheet(error),
        E::Ledger(error) => of_ledger(error),
        E::Upload(error) => of_upload(error),
        E::Client(error) => of_client(error),
        E::Export(error) => of_export(error),
        E::Storage(error) => of_storage(error),
        E::Report(report::Error::Ledger(error)) => of_ledger(error),
        E::Report(report::Error::Sheet(error)) => of_sheet(error),
        E::JobIsRunning { .. } | E::FileInUse { .. } => ErrorCode::Busy,
        E::WithHint { error, .. }
        | E::WithOtherHint { error, .. }
        | E::Reworded { error, .. }
        | E::InRun { error, .. } => code_of(error),
        E::ReadOnlyToken => ErrorCode::Forbidden,
        E::Template(_) => ErrorCode::Template,
        E::NoBaseUrl => ErrorCode::NoAddress,
        E::RunRefused { .. } => ErrorCode::RunRefused,
        E::Invalid { .. } => ErrorCode::Usage,
        E::BadInput { .. } => ErrorCode::Unreadable,
        E::Report(_) | E::Local { .. } => ErrorCode::Local,
    }
}

fn of_storage(error: &storage::Error) -> ErrorCode {
    use storage::Error as E;
    match error {
        E::NotFound { .. } => ErrorCode::Unreadable,
        E::Changed { .. } => ErrorCode::Changed,
        E::Address(_) | E::Settings { .. } => ErrorCode::Usage,
        E::Exists { .. } => ErrorCode::Exists,
        E::Denied { .. } => ErrorCode::Forbidden,
        E::Failed { .. } | E::Local { .. } => ErrorCode::Local,
    }
}

fn of_sheet(error: &sheet::Error) -> ErrorCode {
    use sheet::Error as E;
    match error {
        E::Open { .. }
        | E::NotASpreadsheet { .. }
        | E::SeveralFiles { .. }
        | E::Empty { .. }
        | E::Unreadable { .. }
        | E::Damaged { .. }
        | E::ReaderKilled { .. } => ErrorCode::Unreadable,
        E::PackedWithPassword { .. } | E::Encrypted { .. } | E::PasswordNeeded { .. } | E::WrongPassword { .. } => {
            ErrorCode::Password
        }
        E::NoSuchSheet { .. } | E::BadOptions { .. } => ErrorCode::Usage,
        E::Exists { .. } => ErrorCode::Exists,
        E::Write { .. } | E::Unwritable { .. } => ErrorCode::Local,
    }
}

fn of_ledger(error: &ledger::Error) -> ErrorCode {
    use ledger::Error as E;
    match error {
        E::Busy { .. } | E::Held { .. } | E::Unanswered | E::LockLost | E::HeldUp | E::Moved => ErrorCode::Busy,
        E::SharedFolder { .. } | E::OnlyForServers(_) => ErrorCode::Usage,
        E::NoSuchRun(_) | E::NoRuns => ErrorCode::NoSuchRun,
        E::Open { .. } | E::Connect { .. } | E::TooManyConnections(_) | E::Database(_) | E::WentBack { .. } => {
            ErrorCode::Ledger
        }
        E::NewerVersion { .. } | E::DevelopmentVersion { .. } => ErrorCode::LedgerVersion,
        E::Corrupt(_) | E::Damaged { .. } | E::DamagedFile { .. } => ErrorCode::LedgerDamaged,
    }
}

fn of_upload(error: &plan::Error) -> ErrorCode {
    use plan::Error as E;
    match error {
        E::Sheet(error) => of_sheet(error),
        E::Ledger(error) => of_ledger(error),
        E::Columns { .. } | E::SeveralColumns { .. } => ErrorCode::Columns,
        E::NoSuchIndex { .. } | E::NoChosenRows { .. } | E::NoSuchNumbers { .. } | E::TooMuchLost { .. } => {
            ErrorCode::Usage
        }
        E::NoRows { .. } | E::BlankColumn { .. } | E::Doubled { .. } => ErrorCode::Unreadable,
        E::Changed { .. } => ErrorCode::Changed,
        E::TooManyRows { .. } | E::TooScattered { .. } | E::FilledTooMuch { .. } => ErrorCode::TooLarge,
        E::NotKept { .. } => ErrorCode::Local,
        E::ReaderDied { .. } => ErrorCode::Internal,
    }
}

fn of_client(error: &client::Error) -> ErrorCode {
    use client::Error as E;
    match error {
        E::BaseUrl(_) | E::Language(_) | E::TwoWorkspaces { .. } | E::Store(StoreError::NoKeyring) | E::File { .. } => {
            ErrorCode::Usage
        }
        E::NoCredentials(_) => ErrorCode::NoTokens,
        E::Withheld(_) | E::Unencrypted(_) | E::Exposed(_) => ErrorCode::Insecure,
        E::Client(_) | E::Store(StoreError::Keyring { .. } | StoreError::File { .. }) => ErrorCode::Local,
        E::Stopped(stop) => of_stop(stop),
        E::Status { status: 403, .. } => ErrorCode::Forbidden,
        E::Status { .. } | E::TooLong(_) | E::Unreadable(_) => ErrorCode::Answer,
    }
}

/// Returns the code for the condition under which no further request is made.
pub(super) fn of_stop(stop: &Stop) -> ErrorCode {
    match stop {
        Stop::Unauthorized(_) => ErrorCode::Credentials,
        Stop::Forbidden(_) => ErrorCode::Forbidden,
        Stop::Redirected { .. } | Stop::WrongAddress => ErrorCode::WrongAddress,
        Stop::ProxyCredentials => ErrorCode::Proxy,
        Stop::Untrusted(_) => ErrorCode::Untrusted,
        Stop::Unreachable(_) => ErrorCode::Unreachable,
        Stop::Throttled | Stop::WaitTooLong(_) => ErrorCode::Throttled,
    }
}

fn of_dataset(error: &datasets::Error) -> ErrorCode {
    use datasets::Error as E;
    match error {
        E::Write(_) | E::Database(_) => ErrorCode::Local,
        E::Foreign | E::ForeignTable { .. } | E::ChangedColumn { .. } | E::OtherOrigin { .. } => ErrorCode::Exists,
        E::NotIncluded | E::TooManyColumns { .. } => ErrorCode::Usage,
        E::NoId { .. } | E::Value { .. } => ErrorCode::Answer,
        E::Locked => ErrorCode::Busy,
    }
}

fn of_export(error: &export::Error) -> ErrorCode {
    use export::Error as E;
    match error {
        E::Api(error) => of_client(error),
        E::Sheet(error) => of_sheet(error),
        E::Page { .. } => ErrorCode::Answer,
        E::Spool { .. } => ErrorCode::Local,
        E::Internal(_) => ErrorCode::Internal,
        E::Types { .. } => ErrorCode::Answer,
        E::Dataset { source, .. } => of_dataset(source),
        E::Busy => ErrorCode::Busy,
        E::Name(_) | E::Ids { .. } | E::Undecided { .. } | E::NotComputed { .. } => ErrorCode::Usage,
        E::NoField { .. } | E::SameColumns(_) => ErrorCode::Usage,
        E::NotOurs { .. } | E::ChangesKept { .. } | E::NotAppended { .. } | E::AppendedKept { .. } => ErrorCode::Exists,
        E::LatestTaken { .. } => ErrorCode::Exists,
        E::NoLink { .. } => ErrorCode::Local,
        E::OtherOrigin { .. } => ErrorCode::Incomplete,
    }
}
