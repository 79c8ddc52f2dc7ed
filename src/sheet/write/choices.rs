//! What the cells of a column can be chosen from: a drop-down in a workbook.
//!
//! The values stand on a hidden sheet. A list within the rule itself could hold 255 characters and no commas, and Excel
//! would compare it with regard to case. A value that is not in the list can still be typed: at most the program asks
//! whether it is meant.

use rust_xlsxwriter::{DataValidation, DataValidationErrorStyle, Formula, Workbook, Worksheet, XlsxError};

use super::look;
use crate::sheet::column_letters;

/// A list longer than this is no help to anybody, and a column with one gets none.
pub const MAX_CHOICES: usize = 10_000;

/// The values that a column knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// From 0.
    pub column: usize,
    /// How many there are.
    pub count: usize,
    /// In the order in which they are shown; none where they are more than [`MAX_CHOICES`].
    pub values: Vec<String>,
    /// Whether a cell can hold nothing else. Then the program asks before it takes another value.
    pub is_closed: bool,
}

impl Choices {
    fn is_shown(&self, columns: usize) -> bool {
        !self.values.is_empty() && self.values.len() <= MAX_CHOICES && self.column < columns
    }
}

/// Adds the drop-downs of a sheet whose last row is `last_row`, from 0; the values are on the sheet `lists`.
pub fn offer(
    sheet: &mut Worksheet,
    choices: &[Choices],
    columns: usize,
    last_row: u32,
    lists: &str,
) -> Result<(), XlsxError> {
    for (place, choices) in choices.iter().filter(|choices| choices.is_shown(columns)).enumerate() {
        let Ok(column) = u16::try_from(choices.column) else { continue };
        let letters = column_letters(place);
        let range = format!("='{lists}'!${letters}$1:${letters}${}", choices.values.len());
        // What is typed as a number or a yes is none of a list's texts.
        let is_text =
            |value: &String| value.parse::<f64>().is_err() && !["true", "false"].contains(&&*value.to_lowercase());
        let asks = choices.is_closed && choices.values.iter().all(is_text);
        let rule = DataValidation::new()
            .allow_list_formula(Formula::new(range))
            .show_error_message(asks)
            .set_error_style(DataValidationErrorStyle::Warning)
            .set_error_title("Not in the list")?
            .set_error_message("The template does not list this value, so the row may be refused. Keep it?")?;
        sheet.add_data_validation(1, column, last_row.max(1), column, &rule)?;
    }
    Ok(())
}

/// Adds the hidden sheet with the values, a column each, if there are any.
pub fn add_lists(workbook: &mut Workbook, choices: &[Choices], columns: usize, lists: &str) -> Result<(), XlsxError> {
    let shown: Vec<&Choices> = choices.iter().filter(|choices| choices.is_shown(columns)).collect();
    if shown.is_empty() {
        return Ok(());
    }
    let sheet = workbook.add_worksheet();
    sheet.set_name(lists)?.set_hidden(true);
    for (column, choices) in (0..).zip(shown) {
        for (row, value) in (0..).zip(&choices.values) {
            sheet.write_string(row, column, look::cut(value))?;
        }
    }
    Ok(())
}
