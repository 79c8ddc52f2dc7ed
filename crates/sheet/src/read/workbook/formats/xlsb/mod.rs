//! XLSB sheets, read with calamine, and the parts missing in calamine.

mod records;
mod shared_texts;
mod sheet;
mod stream;

pub(super) use self::shared_texts::each_rich_text;
pub(super) use self::sheet::send_sheet;
