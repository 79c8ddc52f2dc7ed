//! Drop-down lists for columns of a workbook.
//!
//! The values are on a hidden sheet: a list within the validation rule is limited to 255 characters, cannot contain
//! commas, and is case-sensitive. Other values can still be typed; at most the program asks for confirmation.

use rust_xlsxwriter::{DataValidation, DataValidationErrorStyle, Formula, Workbook, Worksheet, XlsxError};
use sheetport_language::Language;
use sheetport_sheet::column_letters;
use sheetport_sheet::write::xlsx::text::cut;

use crate::options::Choices;

/// The question about a typed value.
const NOT_LISTED: &str = "Not in the list";
const KEEP_IT: &str = "The template does not list this value, so the row may be refused. Keep it?";

/// Adds drop-downs to the rows of `sheet` up to `last_row`. The values are on the sheet `lists`.
pub(super) fn add_drop_downs(
    sheet: &mut Worksheet,
    choices: &[Choices],
    columns: usize,
    last_row: u32,
    lists: &str,
    language: Language,
) -> Result<(), XlsxError> {
    for (place, choices) in choices.iter().filter(|choices| choices.is_shown(columns)).enumerate() {
        let Ok(column) = u16::try_from(choices.column) else { continue };
        let letters = column_letters(place);
        let range = format!("='{lists}'!${letters}$1:${letters}${}", choices.values.len());
        // Typed numbers and booleans never match a list of texts.
        let is_text =
            |value: &String| value.parse::<f64>().is_err() && !["true", "false"].contains(&&*value.to_lowercase());
        let asks = choices.is_closed && choices.values.iter().all(is_text);
        let rule = DataValidation::new()
            .allow_list_formula(Formula::new(range))
            .show_error_message(asks)
            .set_error_style(DataValidationErrorStyle::Warning)
            .set_error_title(language.label(NOT_LISTED))?
            .set_error_message(language.label(KEEP_IT))?;
        sheet.add_data_validation(1, column, last_row.max(1), column, &rule)?;
    }
    Ok(())
}

/// Adds the hidden sheet with a column of values for each drop-down list, if there are any.
pub(super) fn add_lists(
    workbook: &mut Workbook,
    choices: &[Choices],
    columns: usize,
    lists: &str,
) -> Result<(), XlsxError> {
    let shown: Vec<&Choices> = choices.iter().filter(|choices| choices.is_shown(columns)).collect();
    if shown.is_empty() {
        return Ok(());
    }
    let sheet = workbook.add_worksheet();
    sheet.set_name(lists)?.set_hidden(true);
    for (column, choices) in (0..).zip(shown) {
        for (row, value) in (0..).zip(&choices.values) {
            sheet.write_string(row, column, cut(value))?;
        }
    }
    Ok(())
}
