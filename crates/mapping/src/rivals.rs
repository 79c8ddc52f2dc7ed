//! Columns that fit the same field of a built-in template for any sheet: `Price` and `New price`.

use sheetport_records::JsonType;
use sheetport_sheet::{Row, column_letters};
use sheetport_values::currency;
use sheetport_values::number::{self, Percent};

use super::columns::{Columns, MissingColumn, Reason};
use super::model::{ColumnName, FieldRule, Place, Source, Template};
use super::words::total_rows::is_total_row;
use sheetport_words::{normalize, vocabulary};

/// An unused column with a usual name for a field that is read from another column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rival {
    /// The rule of the field, as in [`Template::rules`].
    pub rule: usize,
    /// The column that is read, counted from 0.
    pub used: usize,
    /// The unused column.
    pub column: usize,
    /// Whether the field is a number or a date, which must not differ between the columns.
    pub is_measure: bool,
}

impl Rival {
    /// Returns whether the columns have different numbers or dates in a row.
    pub(super) fn differs(&self, row: &Row) -> bool {
        let texts = [self.used, self.column].map(|column| row.get(column).shown());
        let [used, other] = texts.each_ref().map(|text| text.trim());
        are_different(used, other)
    }

    /// Returns whether the unused column has a number or date in a row.
    pub(super) fn has_other(&self, row: &Row) -> bool {
        has_digits(&row.get(self.column).shown())
    }
}

/// Finds the unused columns with a usual name for a field that is read from another column. `columns` are those of the rules,
/// `names` the names of the header. Totals such as *Amount* beside *Quantity*, and *Value* beside *Unit cost*, are columns of their
/// own.
pub(super) fn find(template: &Template, columns: &[Columns], names: &[String], unused: &[usize]) -> Vec<Rival> {
    let joined = |name: &str| normalize::header(&name.replace('%', " ")).words.concat();
    // Also "Price (EUR)", "List-price" and "VAT (%)".
    let unused = unused.iter().map(|column| {
        let name = &names[*column];
        (*column, joined(currency::without_currency(name).as_deref().unwrap_or(name)))
    });
    let unused: Vec<(usize, String)> = unused.filter(|(_, name)| !name.is_empty()).collect();
    if unused.is_empty() {
        return Vec::new();
    }
    let of_rule = |(rule, (field, columns)): (usize, (&FieldRule, &Columns))| -> Vec<Rival> {
        let (Source::Column(wanted), Columns::One(used), true) = (&field.source, columns, field.has_usual_names) else {
            return Vec::new();
        };
        let wanted: Vec<String> = wanted.iter().filter_map(ColumnName::name).map(joined).collect();
        let is_total = |name: &str| {
            vocabulary().is_total_header(name) || field.field.is_money && vocabulary().is_value_header(name)
        };
        // "Posting date" is more exact than "Date", whose dates may be those of the documents.
        let is_measure = |name: &str| {
            field.field.json.is_number() || field.field.json == JsonType::DateTime && !vocabulary().is_date_header(name)
        };
        // A record that is looked up has an id, and a number and a name beside it. Two ids may be of two records.
        let is_beside = |column: usize| {
            !field.resolve.is_empty() && !normalize::header(&names[column]).words.iter().any(|word| word == "id")
        };
        let unused = unused.iter().filter(|(column, _)| !is_beside(*column));
        let rivals = unused.filter(|(_, name)| wanted.contains(name) && !is_total(name));
        rivals
            .map(|(column, name)| Rival { rule, used: *used, column: *column, is_measure: is_measure(name) })
            .collect()
    };
    template.rules().zip(columns).enumerate().flat_map(of_rule).collect()
}

/// Returns the first field for numbers or dates whose columns have different values in a row below the header. Further rows are
/// compared when they are mapped.
pub(super) fn conflict(
    template: &Template,
    rivals: &[Rival],
    (header_row, names): (u64, &[String]),
    top: &[Row],
) -> Option<MissingColumn> {
    rivals.iter().filter(|rival| rival.is_measure).find_map(|rival| {
        let rule = template.rule(rival.rule)?;
        let columns = [rival.used, rival.column];
        let differs = |row: &&Row| rival.differs(row) && !row.cells().any(|cell| is_total_row(&cell.shown()));
        let row = top.iter().filter(|row| row.number > header_row).find(differs)?;
        let (field, is_line) = (rule.field.name.to_owned(), rule.place == Place::Line);
        let wanted = columns.map(|column| ColumnName::Named(names[column].trim().to_owned())).to_vec();
        let reason = Reason::Several { letters: columns.map(column_letters), row: row.number, is_line };
        Some(MissingColumn { field, wanted, reason })
    })
}

/// Whether two texts are different numbers or dates. A date can have a time in one of them.
fn are_different(used: &str, other: &str) -> bool {
    let number = |text: &str| number::parse(text, None, Some(Percent::Whole));
    match (number(used), number(other)) {
        _ if !has_digits(used) || !has_digits(other) => false,
        (Ok(used), Ok(other)) => used != other,
        // A code such as the number of a document, *pièce* in French.
        (Ok(_), Err(_)) if other.starts_with(char::is_alphabetic) => false,
        _ => !used.starts_with(other) && !other.starts_with(used),
    }
}

fn has_digits(text: &str) -> bool {
    text.contains(char::is_numeric)
}
