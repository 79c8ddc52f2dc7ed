//! The columns of a sheet by what evidence about them means.

use sheetport_mapping::bind::own_column;
use sheetport_mapping::model::{Damaged, FieldRule, OnBlank, Place, Source};
use sheetport_mapping::{Layout, Template};
use sheetport_records::JsonType;
use sheetport_sheet::Row;
use sheetport_values::currency::CurrencyMark;
use sheetport_values::normalize::trimmed;
use sheetport_values::number::Percent;
use twox_hash::XxHash3_64;

use super::features::Kind;

/// The columns that are judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Roles {
    /// Whether values are judged at all: not in our own exports, where the texts are the original ones.
    pub(super) are_judged: bool,
    /// The column with the result of each row, in a report.
    pub(super) status: Option<usize>,
    /// Columns whose texts have a form, where the template has no say about the texts: first those of identifiers, then that of names.
    pub(super) formed: Vec<Formed>,
    /// The columns of names, dates and currencies that each row should fill, because it is a record of its own.
    pub(super) leading: Vec<(usize, &'static str)>,
    /// The columns of the record's own identifier.
    pub(super) keys: Vec<usize>,
    /// Columns with a field whose odd values the template does not accept.
    pub(super) mapped: Vec<(usize, &'static str)>,
    /// Columns without a field.
    pub(super) unmapped: Vec<usize>,
    /// Columns without a field that may give orders, also those without a name, and descriptions, which may be remarks.
    pub(super) ordering: Vec<usize>,
    /// The columns that identify the record of a row, if it has several rows.
    pub(super) group: Vec<usize>,
    /// Columns of numbers with their fields.
    pub(super) numbers: Vec<(usize, Quantity)>,
    /// Columns of prices and quantities that may be blank, with their fields.
    pub(super) full: Vec<(usize, &'static str)>,
    /// Columns of dates, with their fields.
    pub(super) dates: Vec<(usize, &'static str)>,
    /// Columns of words that are neither identifiers nor names, with their fields.
    pub(super) words: Vec<(usize, &'static str)>,
    /// The currency that the template sends with each record, if it is a constant.
    pub(super) currency: Option<CurrencyMark>,
    /// The names of the columns.
    pub(super) names: Vec<String>,
}

/// A column whose texts have a form.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Formed {
    pub(super) column: usize,
    pub(super) field: &'static str,
    pub(super) kind: Kind,
    /// Whether each row has another text, or one of its own.
    pub(super) is_of_row: bool,
}

/// What the number of a field means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) field: &'static str,
    pub(super) meaning: Meaning,
    /// Whether the template says that a rate is a part of 1.
    pub(super) is_fraction: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The price of one.
    UnitPrice,
    /// How many.
    Count,
    /// A tax in percent.
    TaxRate,
    /// What an item costs.
    ItemPrice,
    /// Other money or number.
    Other,
}

/// Maximum number of unmapped columns that are judged. Wider sheets are exports with columns of every kind.
const MAX_UNMAPPED: usize = 64;

impl Roles {
    pub(super) fn of(template: &Template, layout: &Layout) -> Roles {
        let columns = |wanted: &dyn Fn(&FieldRule) -> bool| -> Vec<(usize, &'static str)> {
            let rules = template.rules().enumerate().filter(|(_, rule)| wanted(rule));
            let rules = rules.filter(|(_, rule)| matches!(rule.source, Source::Column(_)));
            let columns = rules.flat_map(|(index, rule)| {
                let columns = layout.columns_of(index).into_iter();
                columns.filter(|column| *column == own_column(*column)).map(|column| (column, rule.field.name))
            });
            let mut columns: Vec<_> = columns.collect();
            columns.sort_unstable();
            columns.dedup_by_key(|(column, _)| *column);
            columns
        };
        // A template that changes the text of an identifier has decided what the text means.
        let is_judged = |rule: &FieldRule| rule.is_name && rule.damaged != Damaged::Accept && !rule.changes_text();
        let key = template.record.input().key;
        let keys = columns(&|rule| rule.place == Place::Record && key.contains(&rule.field.name));
        // A template that says what a blank name means is not asked.
        let is_name =
            |rule: &FieldRule| rule.place == Place::Record && rule.field.is_title() && rule.damaged != Damaged::Accept;
        let names = columns(&|rule| is_name(rule) && matches!(rule.on_blank, OnBlank::Omit));
        let is_plain = |rule: &FieldRule| is_name(rule) && !rule.changes_text();
        let is_filled = |column: usize| layout.fill_down.contains(&column);
        let is_one_record = template.group.is_none() && template.unpivot.is_none() && !keys.is_empty();
        let mut numbers: Vec<(usize, Quantity)> = Vec::new();
        for rule in template.rules().filter(|rule| rule.field.json.is_number() && rule.number.scale.is_none()) {
            let of_rule = columns(&|other| std::ptr::eq(other, rule));
            let is_fraction = rule.number.percent == Some(Percent::Fraction);
            let quantity = Quantity { field: rule.field.name, meaning: Meaning::of(rule), is_fraction };
            numbers.extend(of_rule.into_iter().map(|(column, _)| (column, quantity)));
        }
        let full = columns(&|rule| {
            matches!(Meaning::of(rule), Meaning::UnitPrice | Meaning::ItemPrice | Meaning::Count)
                && matches!(rule.on_blank, OnBlank::Omit)
                && rule.damaged != Damaged::Accept
        });
        let keys: Vec<usize> = keys.into_iter().map(|(column, _)| column).collect();
        let identifiers = columns(&is_judged).into_iter().map(|(column, field)| {
            let is_of_row = layout.group.is_empty() && keys.contains(&column);
            Formed { column, field, kind: Kind::Identifier, is_of_row }
        });
        let name_texts = columns(&is_plain).into_iter().take(usize::from(is_one_record));
        let name_texts = name_texts.map(|(column, field)| Formed { column, field, kind: Kind::Name, is_of_row: true });
        let formed = identifiers.chain(name_texts).collect();
        let is_of_type = |rule: &FieldRule, json: JsonType| rule.field.json == json && rule.damaged != Damaged::Accept;
        let dates = columns(&|rule| is_of_type(rule, JsonType::DateTime));
        let is_single = template.group.is_none() && template.unpivot.is_none();
        let is_omitted = |rule: &FieldRule| rule.place == Place::Record && matches!(rule.on_blank, OnBlank::Omit);
        let of_each = columns(&|rule| {
            let is_leading = rule.field.json == JsonType::DateTime || rule.field.name == "currency";
            is_leading && is_omitted(rule) && rule.damaged != Damaged::Accept
        });
        let name = names.into_iter().take(1).filter(|_| is_one_record);
        let leading = name.chain(of_each.into_iter().filter(|_| is_single));
        let leading = leading.filter(|(column, _)| !is_filled(*column)).collect();
        let words = columns(&|rule| is_of_type(rule, JsonType::String) && !rule.is_name && !rule.field.is_title());
        let mapped = columns(&|rule| rule.damaged != Damaged::Accept);
        let remarks = columns(&|rule| rule.field.name == "description" && rule.damaged != Damaged::Accept);
        Roles {
            mapped,
            are_judged: !layout.is_export() && layout.header.row > 0,
            status: layout.status.filter(|_| layout.is_report),
            formed,
            leading,
            keys,
            unmapped: layout.unused.iter().copied().take(MAX_UNMAPPED).collect(),
            ordering: layout
                .unused
                .iter()
                .take(MAX_UNMAPPED)
                .chain(&layout.nameless)
                .copied()
                .take(MAX_UNMAPPED)
                .chain(remarks.into_iter().map(|(column, _)| column))
                .collect(),
            group: layout.group.clone(),
            numbers,
            full,
            dates,
            words,
            currency: template.rules().find(|rule| rule.field.name == "currency").and_then(|rule| match &rule.source {
                Source::Constant(constant) => constant.text().and_then(CurrencyMark::parse),
                _ => None,
            }),
            names: layout.header.names.iter().map(|name| name.trim().to_owned()).collect(),
        }
    }

    /// Whether a row is sent with another currency.
    pub(super) fn is_other_currency(&self, other: CurrencyMark, row: &Row) -> bool {
        let column = self.mapped.iter().find(|(_, field)| *field == "currency").map(|(column, _)| *column);
        let sent = column.map_or(self.currency, |column| CurrencyMark::parse(&row.get(column).shown()));
        sent.is_some_and(|sent| !sent.agrees_with(other))
    }

    /// Returns a column with its field, if the template judges it.
    pub(super) fn mapped_at(&self, column: usize) -> Option<(usize, &'static str)> {
        self.mapped.iter().find(|(mapped, _)| *mapped == column).copied()
    }

    /// Returns the column of a price of items, such as `purchasePrice`.
    pub(super) fn item_price(&self, field: &str) -> Option<usize> {
        let is_price = |quantity: &Quantity| quantity.meaning == Meaning::ItemPrice && quantity.field == field;
        self.numbers.iter().find(|(_, quantity)| is_price(quantity)).map(|(column, _)| *column)
    }

    /// Returns the name of a column.
    pub(super) fn name_of(&self, column: usize) -> &str {
        self.names.get(column).map_or("", String::as_str)
    }
}

/// Returns the hash of what identifies the record of a row. `None` for a row that continues the record above.
pub(super) fn record_of(group: &[usize], row: &Row) -> Option<u64> {
    /// What of an identifier is compared, in bytes: a cell can have megabytes, and be filled down.
    const MAX_BYTES: usize = 256;
    let (mut hash, mut is_there) = (0, false);
    for column in group {
        let cell = row.get(*column);
        let shown = cell.shown();
        let text = trimmed(&shown).as_bytes();
        is_there |= !text.is_empty();
        hash = XxHash3_64::oneshot_with_seed(hash, &text[..text.len().min(MAX_BYTES)]);
    }
    is_there.then_some(hash)
}

impl Meaning {
    fn of(rule: &FieldRule) -> Meaning {
        match (rule.field.name, rule.place) {
            // The contract has the price of one in lines and items; a transaction's may be that of all units.
            ("price", Place::Line) => Meaning::UnitPrice,
            ("price" | "purchasePrice", Place::Record) if !rule.field.required => Meaning::ItemPrice,
            ("quantity" | "amount" | "transactionAmount", _) => Meaning::Count,
            // An item's tax has no amount beside it to be the tax of.
            ("tax_rate", _) | ("tax", Place::Record) => Meaning::TaxRate,
            _ => Meaning::Other,
        }
    }
}
