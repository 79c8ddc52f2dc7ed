//! Parts of XLS workbooks missing in calamine.

mod password;
mod records;

pub(super) use self::password::is_obfuscated;
pub(super) use self::records::XlsRecords;
