//! Columns that give orders about their row, and that the template does not read: `Command` with *DELETE*, `Type` with *Credit note*,
//! `Deleted` with *yes*, and remarks that call a row off or name another currency.

use sheetport_documents::write::quoted;
use sheetport_findings::Code;
use sheetport_mapping::words::amounts::{PriceUnit, is_price_unit_column, price_unit, unit_in_title};
use sheetport_sheet::{Cell, Row, column_letters};
use sheetport_values::currency::{CurrencyMark, strip_suffix};
use sheetport_values::normalize::trimmed;

use super::finding::Finding;
use super::roles::Roles;
use super::words::{is_flag, is_order, is_selector, is_yes};

/// Maximum number of different values of a column that selects rows.
const MAX_VALUES: usize = 6;
/// Maximum length of such a value in bytes.
const MAX_BYTES: usize = 40;
/// In a sheet with fewer rows, the commonest value need not be common.
const FEW_ROWS: u64 = 8;

/// Longest remark in bytes, and most remarks with orders.
const MAX_REMARK_BYTES: usize = 120;
const MAX_REMARKS: usize = 8;

/// The different values of a column with their counts.
#[derive(Clone, Debug, Default)]
pub(super) struct SelectorCounts {
    values: Vec<(String, u64)>,
    /// Whether the column has more different values than one that selects rows.
    is_free: bool,
    /// Texts with an order or a currency, and the number of cells with one.
    remarks: Vec<String>,
    remarked: u64,
    filled: u64,
    cells: u64,
}

/// A column that selects rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Selector {
    column: usize,
    /// The values of rows that are no ordinary records.
    values: Vec<String>,
}

impl SelectorCounts {
    pub(super) fn add(&mut self, cell: &Cell<'_>) {
        self.cells += 1;
        if cell.is_blank() {
            return;
        }
        self.filled += 1;
        let text = cell.shown();
        let text = trimmed(&text);
        // Columns that most rows fill have no remarks.
        let may_be_remark = self.filled <= FEW_ROWS || self.filled * 5 <= self.cells * 2;
        if may_be_remark && text.len() <= MAX_REMARK_BYTES && (is_order(text) || currency(text).is_some()) {
            self.remarked += 1;
            if self.remarks.len() < MAX_REMARKS && !self.remarks.iter().any(|known| known == text) {
                self.remarks.push(text.to_owned());
            }
        }
        if self.is_free {
            return;
        }
        if let Some((_, count)) = self.values.iter_mut().find(|(known, _)| known == text) {
            *count += 1;
        } else if self.values.len() < MAX_VALUES && text.len() <= MAX_BYTES {
            self.values.push((text.to_owned(), 1));
        } else {
            self.is_free = true;
        }
    }

    /// Returns the values that say that a row is no ordinary record. They are the exception among `rows` rows: a list of credit notes
    /// alone is what its user wants to send.
    pub(super) fn selector(&self, column: usize, roles: &Roles, rows: u64) -> Option<Selector> {
        let name = roles.name_of(column);
        let blank = rows - self.filled.min(rows);
        // Remarks are few, and those that call rows off are fewer.
        let are_remarks = rows >= FEW_ROWS && self.filled * 5 <= rows * 2 && self.remarked * 10 <= rows;
        if are_remarks && !self.remarks.is_empty() {
            let mut values = self.remarks.clone();
            values.extend(
                self.values
                    .iter()
                    .map(|(value, _)| value)
                    .filter(|value| is_selector(value) || has_unit(value) || is_flag(name) && is_yes(value))
                    .cloned(),
            );
            values.sort();
            values.dedup();
            return Some(Selector { column, values });
        }
        if roles.mapped_at(column).is_some() {
            return None;
        }
        if self.is_free {
            return None;
        }
        let commonest = self.values.iter().map(|(_, count)| *count).max()?.max(blank);
        let is_one_of_several = self.values.len() + usize::from(blank > 0) > 1;
        if !is_one_of_several || rows >= FEW_ROWS && commonest * 5 < rows * 3 {
            return None;
        }
        let is_flag = is_flag(name);
        // `100 pcs` among units without a number; sizes of packs have one in each row.
        let numbered = self.values.iter().filter(|(value, _)| value.contains(char::is_numeric)).count();
        let is_pack = |value: &str| numbered == 1 && is_several(price_unit(value));
        // The prices of rows are judged by such a column anyway.
        let are_judged = is_price_unit_column(name);
        let selects = |value: &str| {
            is_selector(value) || is_flag && is_yes(value) || !are_judged && (has_unit(value) || is_pack(value))
        };
        let mut values: Vec<String> =
            self.values.iter().map(|(value, _)| value).filter(|value| selects(value)).cloned().collect();
        values.sort();
        let are_all = blank == 0 && values.len() == self.values.len();
        (!values.is_empty() && !are_all).then_some(Selector { column, values })
    }
}

/// Returns the currency that a remark says the price is in: *price in USD!* It has no number of its own.
fn currency(text: &str) -> Option<CurrencyMark> {
    let text = text.trim_end_matches(['!', '.', '*', ')']);
    let is_plain = !text.contains(|c: char| c.is_ascii_digit());
    strip_suffix(text).map(|(currency, _)| currency).filter(|_| is_plain)
}

/// Whether a remark says that the price of its row is that of several pieces.
fn has_unit(text: &str) -> bool {
    is_several(unit_in_title(text))
}

fn is_several(unit: Option<PriceUnit>) -> bool {
    unit.is_some_and(|unit| unit.is_several())
}

impl Selector {
    pub(super) fn judge(&self, roles: &Roles, row: &Row) -> Option<Finding> {
        let cell = row.get(self.column);
        if cell.is_blank() {
            return None;
        }
        let text = cell.shown();
        let text = text.trim();
        let value = self.values.iter().find(|value| *value == text)?;
        let other = currency(text).filter(|_| !is_order(text));
        if other.is_some_and(|other| !roles.is_other_currency(other, row)) {
            return None;
        }
        let header = match roles.name_of(self.column) {
            "" => quoted(&column_letters(self.column)),
            name => quoted(name),
        };
        Some(Finding {
            code: Code::Selector,
            remedy: format!(
                "to leave such rows out, add skip_where = {{ column = {header}, matches = '^{}$' }} to [sheet] in the template; to send \
                 them like the others, add ignored = [{header}]",
                // An apostrophe would end the text of the template.
                regex::escape(value).replace('\'', ".")
            ),
            ..Finding::unlike_others(
                (self.column, ""),
                value.clone(),
                match (other.is_some(), is_several(price_unit(value)) || has_unit(value)) {
                    (true, _) => {
                        "names another currency than the one that is sent, and the template does not read it".to_owned()
                    }
                    (_, true) => {
                        "says that the price is one of several pieces, and the template does not read it".to_owned()
                    }
                    _ => "says that the row is no ordinary record, and the template does not read it".to_owned(),
                },
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the values of a column that select rows.
    fn selected(name: &str, values: &[&str]) -> Vec<String> {
        let roles = Roles { names: vec![name.to_owned()], ..Roles::default() };
        let mut counts = SelectorCounts::default();
        values.iter().for_each(|value| counts.add(&if value.is_empty() { Cell::Blank } else { Cell::Text(value) }));
        let rows = u64::try_from(values.len()).unwrap_or(u64::MAX);
        counts.selector(0, &roles, rows).map_or_else(Vec::new, |selector| selector.values)
    }

    #[test]
    fn columns_with_orders_are_found() {
        assert_eq!(selected("Command", &["MERGE", "DELETE", "MERGE", "IGNORE"]), ["DELETE", "IGNORE"]);
        assert_eq!(selected("Art", &["Rechnung", "Gutschrift", "Rechnung"]), ["Gutschrift"]);
        assert_eq!(selected("Cancelled", &["", "yes", "", ""]), ["yes"]);
        assert_eq!(selected("Unit", &["pc", "pc", "100 pcs", "set", "pc"]), ["100 pcs"]);
        assert!(selected("Unit", &["1 pcs", "1 pcs", "100 pcs", "10 pcs"]).is_empty());
        assert_eq!(selected("Notes", &["", "price per 100 pcs", "new", ""]), ["price per 100 pcs"]);
        let mostly_paid = ["paid", "paid", "paid", "paid", "paid", "paid", "refunded", "paid", "pending"];
        assert_eq!(selected("Financial Status", &mostly_paid), ["refunded"]);
    }

    #[test]
    fn what_all_rows_say_is_meant() {
        assert!(selected("Type", &["Credit note", "Credit note"]).is_empty());
        assert!(selected("Color", &["red", "blue", "red"]).is_empty());
        assert!(selected("Is stocked", &["yes", "no", "yes"]).is_empty());
        // A column of many words is no selector.
        assert!(selected("Brand", &["a", "b", "c", "d", "e", "f", "DRAFT", "DRAFT"]).is_empty());
        assert!(selected("Name", &["a", "b", "c", "d", "e", "f", "delete", "g"]).is_empty());
        let remarks = |text| [&[""; 20][..], &["new", text, "rush"]].concat();
        for text in ["cancelled by phone", "price in USD!", "STORNIERT"] {
            assert_eq!(selected("Notes", &remarks(text)), [text]);
        }
        assert!(selected("Notes", &remarks("USD price on request")).is_empty());
    }
}
