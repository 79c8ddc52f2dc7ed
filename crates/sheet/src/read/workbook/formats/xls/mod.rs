//! Parts of XLS workbooks missing in calamine.

mod code_page;
mod decrypt;
mod password;
mod records;
mod shared_texts;

pub(super) use self::code_page::unstated_code_page;
pub(super) use self::decrypt::decrypt_xls;
pub(super) use self::password::is_obfuscated;
pub(super) use self::records::XlsRecords;
pub(super) use self::shared_texts::each_rich_text;
