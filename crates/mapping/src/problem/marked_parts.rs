//! The parts of a cell's text that are set differently, such as a raised footnote beside a price.

use sheetport_sheet::Row;
use sheetport_sheet::cell::Setting;

use super::excerpt;

/// The first part that is not plain, and the text beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedParts {
    setting: Setting,
    pub(super) marked: String,
    pub(super) others: String,
}

impl MarkedParts {
    /// Returns the parts of a cell that has some.
    pub(crate) fn of(row: &Row, column: usize) -> MarkedParts {
        let first = row.parts(column).find(|part| part.setting != Setting::Plain);
        let (setting, marked) = first.map_or((Setting::Plain, ""), |part| (part.setting, part.text.trim()));
        let others = row.parts(column).filter(|part| part.setting != setting).map(|part| part.text.trim());
        MarkedParts { setting, marked: excerpt(marked), others: excerpt(&others.collect::<Vec<_>>().join(" ")) }
    }

    /// Returns how to fix the cell.
    pub(super) fn remedy(&self) -> String {
        let MarkedParts { setting, marked, others } = self;
        match setting {
            Setting::Struck if others.is_empty() => {
                format!("'{marked}' is struck through; write the value that holds, or delete the row")
            }
            Setting::Struck => {
                format!("'{marked}' is struck through, and '{others}' is not; write only the value that holds")
            }
            Setting::Lowered => {
                format!("'{marked}' is a subscript beside '{others}'; write the value alone, without any subscript")
            }
            Setting::Raised | Setting::Plain => {
                format!("'{marked}' is a superscript beside '{others}'; write the value alone, without the footnote")
            }
        }
    }
}
