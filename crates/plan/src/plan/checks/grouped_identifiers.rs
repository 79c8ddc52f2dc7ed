//! Identifiers such as `R-1.008` that may be numbers shown with group separators, judged by their column.

use std::collections::HashMap;

use sheetport_findings::Code;
use sheetport_ledger::Problem;
use sheetport_mapping::bind::own_column;
use sheetport_mapping::map::survey::Survey;
use sheetport_mapping::model::Damaged;
use sheetport_mapping::problem::excerpt;
use sheetport_mapping::{Layout, Template};
use sheetport_sheet::{Cell, Row};
use sheetport_values::identifier::{NumberForm, embedded_number};

use super::super::table::Table;

/// Maximum number of different surroundings of numbers per column.
const MAX_SURROUNDINGS: usize = 64;

/// The columns of identifiers of a sheet, with the numbers in them.
pub(crate) struct GroupedIdentifiers {
    columns: Vec<(usize, Numbers)>,
}

/// By the text before and after the number.
type Numbers = HashMap<(String, String), Forms>;

/// How the numbers with the same surroundings are written.
#[derive(Default)]
struct Forms {
    has_short: bool,
    has_long: bool,
    /// The first number with a separator: row, separator and text.
    grouped: Option<(u64, char, String)>,
    rows: u64,
}

impl GroupedIdentifiers {
    pub(crate) fn new(template: &Template, layout: &Layout) -> GroupedIdentifiers {
        let rules = template.rules().enumerate().filter(|(_, rule)| rule.is_name && rule.damaged != Damaged::Accept);
        let columns = rules.flat_map(|(index, _)| layout.columns_of(index));
        let mut columns: Vec<usize> = columns.filter(|column| *column == own_column(*column)).collect();
        columns.sort_unstable();
        columns.dedup();
        // Reports and exports have the original texts.
        let is_ours = layout.is_defused || layout.is_report;
        let columns = columns.into_iter().filter(|_| !is_ours).map(|column| (column, Numbers::new()));
        GroupedIdentifiers { columns: columns.collect() }
    }

    pub(crate) fn row(&mut self, row: &Row) {
        for (column, numbers) in &mut self.columns {
            let Cell::Text(text) = row.get(*column) else { continue };
            let Some(number) = embedded_number(text) else { continue };
            let surroundings = (number.before.to_owned(), number.after.to_owned());
            let is_full = numbers.len() >= MAX_SURROUNDINGS && !numbers.contains_key(&surroundings);
            if is_full {
                continue;
            }
            let forms = numbers.entry(surroundings).or_default();
            match number.form {
                NumberForm::Short => forms.has_short = true,
                NumberForm::Long => forms.has_long = true,
                NumberForm::Grouped(separator) => {
                    forms.rows += 1;
                    forms.grouped.get_or_insert_with(|| (row.number, separator, text.to_owned()));
                }
            }
        }
    }

    /// Returns a warning for each column in which longer numbers have a separator and short numbers have none: typical of a
    /// number format, and rarely typed. A point does not count if it separates decimals elsewhere in the sheet.
    pub(crate) fn warnings(&self, table: &Table, survey: &Survey) -> Vec<Problem> {
        let is_suspicious = |forms: &&Forms| {
            let separator = forms.grouped.as_ref().map(|(_, separator, _)| *separator);
            let is_decimal = separator == Some('.') && survey.has_decimal_point();
            separator.is_some() && forms.has_short && !forms.has_long && !is_decimal
        };
        let warning = |(column, numbers): &(usize, Numbers)| {
            let found: Vec<&Forms> = numbers.values().filter(is_suspicious).collect();
            let rows: u64 = found.iter().map(|forms| forms.rows).sum();
            let (row, separator, text) = found.iter().filter_map(|forms| forms.grouped.as_ref()).min()?;
            let plain: String = text.chars().filter(|c| c != separator).collect();
            let message = match rows {
                1 => format!("may be {plain}, shown with a group separator, and is sent with it"),
                rows => format!(
                    "may be {plain}, shown with a group separator, and is sent with it, like {} other rows",
                    rows - 1
                ),
            };
            let remedy =
                "if its number has a format, format the column in the spreadsheet program without separators and save \
                          the file again; otherwise set damaged = \"accept\" in the template"
                    .to_owned();
            let problem = Problem {
                row: Some(*row),
                value: excerpt(text),
                remedy,
                ..Problem::of_record(Code::MayBeGrouped, message)
            };
            Some(table.of_column(*column, problem))
        };
        self.columns.iter().filter_map(warning).collect()
    }
}
