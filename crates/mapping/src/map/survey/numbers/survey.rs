//! The notation of the numbers in each column, determined by its cells, the other columns, and the currency of its amounts.

use std::collections::BTreeMap;

use sheetport_sheet::{Cell, Row};
use sheetport_values::currency::CurrencyMark;
use sheetport_values::locale;
use sheetport_values::number::Mark;
use sheetport_values::number::style::{Amounts, ColumnStyle, Surroundings, common_decimal};

use super::currency_column::CurrencyColumn;
use super::header_currencies::header_currencies;
use super::unused::UnusedNumbers;
use crate::bind::{Columns, Layout};
use crate::model::{Constant, Source, Template};
use sheetport_words::language_of;

/// Collects the notation of the numbers of a sheet.
#[derive(Clone, Debug)]
pub(crate) struct NumberSurveyor {
    columns: BTreeMap<usize, NumberColumn>,
    /// The currency of each record.
    currency: Option<CurrencyColumn>,
    unused: UnusedNumbers,
    /// Whether Sheetport has written the numbers, without group separators.
    is_export: bool,
    header: Vec<String>,
    delimiter: Option<u8>,
}

#[derive(Clone, Debug, Default)]
struct NumberColumn {
    style: ColumnStyle,
    /// Whether a number field reads the column, so that its notation is evidence for other columns.
    is_evidence: bool,
    /// Whether a field for amounts of money reads the column. Counts rarely have three decimals, but prices may.
    is_money: bool,
    /// The currency in the header.
    currency: Option<CurrencyMark>,
}

impl NumberSurveyor {
    pub(crate) fn new(template: &Template, layout: &Layout) -> NumberSurveyor {
        let mut columns = BTreeMap::<usize, NumberColumn>::new();
        let of_headers = header_currencies(template, layout);
        let mut currency = None;
        for (index, rule) in template.rules().enumerate() {
            let is_number = rule.field.json.is_number();
            if is_number || matches!(rule.source, Source::Text { .. }) {
                for index in layout.columns_of(index) {
                    let column = columns.entry(index).or_default();
                    column.is_evidence |= is_number;
                    column.is_money |= rule.field.is_money;
                    column.currency = column.currency.or(of_headers.get(index).copied().flatten());
                }
            }
            if rule.field.is_currency() {
                currency = match (&rule.source, &layout.columns[index]) {
                    (Source::Constant(Constant::Text(code)), _) => Some(CurrencyColumn::constant(code)),
                    (Source::Column(_), Columns::One(column)) => Some(CurrencyColumn::new(*column)),
                    _ => None,
                };
            }
        }
        for column in layout.tested() {
            columns.entry(column).or_default();
        }
        let is_needed = columns.values().any(|column| column.is_evidence);
        NumberSurveyor {
            unused: if is_needed { UnusedNumbers::new(layout) } else { UnusedNumbers::default() },
            columns,
            currency,
            is_export: layout.is_export(),
            header: layout.header.names.clone(),
            delimiter: layout.facts.delimiter,
        }
    }

    /// Returns whether the sheet has any numbers.
    pub(crate) fn is_needed(&self) -> bool {
        !self.columns.is_empty()
    }

    pub(crate) fn row(&mut self, row: &Row) {
        for (column, numbers) in &mut self.columns {
            if let Cell::Text(text) = row.get(*column) {
                numbers.style.add(row.number, text);
            }
        }
        if let Some(currency) = &mut self.currency {
            currency.row(row);
        }
        self.unused.row(row);
    }

    /// Returns the style of each column according to the rows so far.
    pub(crate) fn styles(&self) -> BTreeMap<usize, ColumnStyle> {
        let is_open = |column: &NumberColumn| column.style.needs_other_evidence();
        if !self.columns.values().any(is_open) {
            return self.columns.iter().map(|(index, column)| (*index, column.style.clone())).collect();
        }
        let evidence = || self.columns.values().filter(|column| column.is_evidence).map(|column| &column.style);
        // Unused columns must not decide between columns that contradict each other.
        let is_silent = evidence().all(ColumnStyle::has_no_decimals);
        let sheet = if is_silent { self.unused.decimal() } else { common_decimal(evidence()) };
        let needs_usual = sheet.is_none() && self.columns.values().any(|column| !column.is_money && is_open(column));
        let usual = if needs_usual { self.usual_decimal() } else { None };
        let of_record = match &self.currency {
            Some(currency) => currency.decimals(),
            None => self.unused.currency_decimals(),
        };
        let with_surroundings = |column: &NumberColumn| {
            let amounts = column.is_money.then(|| self.amounts(column, of_record)).flatten();
            let usual = usual.filter(|_| !column.is_money);
            column.style.clone().with(Surroundings { sheet, usual, amounts })
        };
        self.columns.iter().map(|(index, column)| (*index, with_surroundings(column))).collect()
    }

    /// Returns the decimals of the amounts in a column. `of_record` are the decimals of the currency field.
    fn amounts(&self, column: &NumberColumn, of_record: Option<u32>) -> Option<Amounts> {
        if self.is_export {
            return Some(Amounts::Ungrouped);
        }
        match column.currency.map_or(of_record, CurrencyMark::decimals)? {
            0 => Some(Amounts::Whole),
            3 => Some(Amounts::Thousandths),
            _ => None,
        }
    }

    /// Returns the usual decimal separator for the language of the header, if the delimiter of the CSV agrees: spreadsheet
    /// programs write semicolons where the comma is the decimal separator.
    fn usual_decimal(&self) -> Option<Mark> {
        let decimal = locale::find(language_of(&self.header)?)?.decimal;
        let delimiter = if decimal == ',' { b';' } else { b',' };
        Mark::of(decimal).filter(|_| self.delimiter == Some(delimiter))
    }
}
