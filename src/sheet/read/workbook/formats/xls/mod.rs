//! Parts of XLS workbooks missing in calamine.

mod decrypt;
mod password;
mod records;

pub(super) use self::decrypt::decrypt_xls;
pub(super) use self::password::is_obfuscated;
pub(super) use self::records::XlsRecords;
