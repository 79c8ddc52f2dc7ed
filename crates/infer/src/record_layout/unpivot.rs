//! Columns with sizes or months as headers, and a number in each cell: each cell is a separate record.

use std::sync::LazyLock;

use regex::Regex;
use sheetport_documents::write::quoted;
use sheetport_mapping::model::{ColumnName, Place};
use sheetport_records::{Field, RecordKind};
use sheetport_values::date::DateFormat;

use super::super::proposal::{Confidence, FieldProposal, ProposedSource};
use super::super::sample::{Column, ColumnProfile, Sample};
use super::super::toml_text::column;

/// Fewer columns may have such names by chance.
const MIN_COLUMNS: usize = 3;

static SIZE: LazyLock<Regex> = LazyLock::new(|| {
    let sizes =
        r"(?:[2-9]?X{0,3}[SL]|[2-9]XL|M|(?:1[6-9]|[2-5][0-9])(?:[.,/]5|/[0-9]{2})?|(?:EU|UK|US) ?[0-9]{1,2}(?:[.,]5)?)";
    Regex::new(&format!(
        r"^(?i:(?:size|gr(?:ö|oe|o)(?:ß|ss)e|gr\.|taille|talla|taglia|maat|rozmiar|velikost|storlek|beden) ?)?{sizes}$"
    ))
    .expect("a constant pattern")
});

/// Texts around a header that complete it to a date, and the format of the date.
const PERIODS: [(&str, &str, &str); 6] = [
    ("", "-01", "YYYY-MM-DD"),
    ("", "/01", "YYYY/MM/DD"),
    ("", ".01", "YYYY.MM.DD"),
    ("1/", "", "D/M/YYYY"),
    ("1.", "", "D.M.YYYY"),
    ("1 ", "", "D MMMM YYYY"),
];

/// The meaning of the headers.
enum Headers {
    Sizes,
    Periods { before: &'static str, after: &'static str, format: &'static str },
}

/// The columns to unpivot, with the names for fields.
pub(crate) struct UnpivotProposal<'a> {
    pub columns: Vec<&'a Column>,
    pub header_as: &'static str,
    pub value_as: &'static str,
}

/// Proposes a separate record for each size or month, and changes the fields accordingly. All these proposals are guesses that
/// must be confirmed. Fields with another column for their value stay unchanged.
pub(crate) fn propose<'a>(
    kind: RecordKind,
    sample: &'a Sample,
    fields: &mut Vec<FieldProposal>,
) -> Option<UnpivotProposal<'a>> {
    let (identifier, value, other_values) = match kind {
        RecordKind::Item => ("externalId", "price", &[][..]),
        RecordKind::InventoryTransaction => ("inventoryExternalId", "transactionAmount", &["amount"][..]),
        RecordKind::Order | RecordKind::Subscription | RecordKind::Invoice => return None,
    };
    let place = Place::Record;
    let (headers, columns) = found(sample)?;
    // Whole numbers under sizes may as well be the stock.
    let is_money = |column: &&Column| {
        !column.profile.currencies.is_empty() || column.profile.share(column.profile.decimals) >= 0.4
    };
    if kind == RecordKind::Item && !columns.iter().any(is_money) {
        return None;
    }
    let is_of_cells = |field: &FieldProposal| columns.iter().any(|column| field.is_from_column(column.index));
    let is_known = |field: &FieldProposal| is_of_cells(field) && field.confidence != Confidence::Guess;
    let is_value =
        |field: &FieldProposal| field.is(place, value) || other_values.iter().any(|other| field.is(place, other));
    if fields.iter().any(|field| is_known(field) || (is_value(field) && !is_of_cells(field))) {
        return None;
    }
    let (header_as, value_as) = match headers {
        Headers::Sizes => ("Size", "Value by size"),
        Headers::Periods { .. } => ("Month", "Value by month"),
    };
    let is_taken =
        |column: &Column| [header_as, value_as].iter().any(|name| column.label.trim().eq_ignore_ascii_case(name));
    if sample.columns.iter().any(is_taken) {
        return None;
    }
    let mut new = Vec::new();
    match headers {
        Headers::Sizes => {
            let proposal = fields.iter().find(|field| field.is(place, identifier))?;
            let ProposedSource::Column { index, label, name } = &proposal.source else { return None };
            if !proposal.keys.is_empty() {
                return None;
            }
            let source = ProposedSource::Computed {
                columns: vec![*index],
                label: format!("{label}-{header_as}"),
                line: format!("columns = [{}, {}]", column(name), quoted(header_as)),
            };
            let reason = "each size is a record of its own".to_owned();
            let mut joined = guess(kind.input().field(identifier)?, place, source, reason);
            joined.keys.push("join = \"-\"".to_owned());
            joined.trim = proposal.trim;
            new.push(joined);
        }
        Headers::Periods { before, after, format } if kind == RecordKind::InventoryTransaction => {
            if fields.iter().any(|field| field.is(place, "transactionDate")) {
                return None;
            }
            let source = ProposedSource::Computed {
                columns: Vec::new(),
                label: header_as.to_owned(),
                line: format!("text = {}", quoted(&format!("{before}{{{{ {header_as} }}}}{after}"))),
            };
            let reason = "the first day of the month in the header".to_owned();
            let mut date = guess(kind.input().field("transactionDate")?, place, source, reason);
            date.keys.push(format!("format = {}", quoted(format)));
            new.push(date);
        }
        // Prices of items do not differ by month.
        Headers::Periods { .. } => return None,
    }
    let source = ProposedSource::Computed {
        columns: columns.iter().map(|column| column.index).collect(),
        label: value_as.to_owned(),
        line: format!("column = {}", quoted(value_as)),
    };
    new.push(guess(kind.input().field(value)?, place, source, "the number in each of these columns".to_owned()));
    fields.retain(|field| !is_of_cells(field) && !new.iter().any(|added| field.is(added.place, added.name)));
    fields.extend(new);
    let position = |name: &str| kind.input().mappable().position(|field| field.name == name);
    fields.sort_by_key(|field| position(field.name));
    Some(UnpivotProposal { columns, header_as, value_as })
}

/// Finds the columns of numbers whose headers are all sizes, or all months.
fn found(sample: &Sample) -> Option<(Headers, Vec<&Column>)> {
    let is_number = |profile: &ColumnProfile| profile.filled == 0 || profile.is_numeric();
    let with = |is_wanted: &dyn Fn(&str) -> bool| -> Vec<&Column> {
        let is_named = |column: &&Column| matches!(&column.name, ColumnName::Named(name) if *name == column.label);
        let columns = sample.columns.iter().filter(is_named);
        columns.filter(|column| is_number(&column.profile) && is_wanted(column.label.trim())).collect()
    };
    let is_enough =
        |columns: &Vec<&Column>| columns.len() >= MIN_COLUMNS && columns.iter().any(|column| column.profile.filled > 0);
    let sizes = with(&|label| SIZE.is_match(label));
    if is_enough(&sizes) && are_close(sample) {
        return Some((Headers::Sizes, sizes));
    }
    PERIODS.into_iter().find_map(|(before, after, format)| {
        let parsed = DateFormat::parse(format).expect("a constant pattern");
        let columns = with(&|label| parsed.parse_date(&format!("{before}{label}{after}")).is_ok());
        is_enough(&columns).then_some((Headers::Periods { before, after, format }, columns))
    })
}

/// Whether the numeric headers can be sizes of one row: all with two digits, and at most two apart. This excludes days of a month
/// and quantities of price breaks.
fn are_close(sample: &Sample) -> bool {
    let labels = sample.columns.iter().map(|column| column.label.trim());
    let mut numbers: Vec<u32> = labels.filter_map(|label| label.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.iter().all(|number| (16..60).contains(number)) && numbers.windows(2).all(|pair| pair[1] - pair[0] <= 2)
}

fn guess(field: &'static Field, place: Place, source: ProposedSource, reason: String) -> FieldProposal {
    FieldProposal::new(field, place, source, reason, Confidence::Guess)
}
