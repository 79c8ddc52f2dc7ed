//! XLSB sheets, read with calamine, and the parts missing in calamine.

mod records;
mod sheet;

pub(super) use self::sheet::send_sheet;
