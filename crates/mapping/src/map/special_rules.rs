//! Rules and columns that identify a record or its currency. Determined once, not for each row.

use std::collections::BTreeMap;

use sheetport_values::currency::Currency;
use sheetport_values::locale::Locale;
use sheetport_words::{normalize, vocabulary};

use super::super::bind::{Columns, Layout};
use super::super::model::{FieldRule, Source, Template};
use super::super::words::amounts::is_price_unit_column;
use super::survey::rows::is_name_of_record;

/// Rules with a meaning beyond their field, as indexes of [`Template::fields`], and the columns of identifiers.
#[derive(Clone, Debug)]
pub(super) struct SpecialRules {
    /// The rules of the key's fields, in the order of [`sheetport_records::Input::key`].
    pub(super) keys: Vec<usize>,
    /// The rule of the service's id.
    pub(super) id: Option<usize>,
    pub(super) currency: CurrencyRule,
    /// The currency of records without one, if no column of the sheet has currencies.
    pub(super) default_currency: Option<Currency>,
    /// The rule of a record's name, if the name comes from a column.
    pub(super) name: Option<usize>,
    /// The unused columns with the number of pieces of a price.
    pub(super) price_units: Vec<usize>,
    /// The columns of all identifiers.
    pub(super) identifiers: Vec<usize>,
    /// The locales of number fields, by column, for the columns of the tests of rows.
    pub(super) locales: BTreeMap<usize, Option<Locale>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum CurrencyRule {
    /// Requests of this kind have no currency.
    NoField,
    NotMapped,
    Mapped(usize),
}

impl SpecialRules {
    pub(super) fn new(template: &Template, layout: &Layout) -> SpecialRules {
        let input = template.input();
        let rule = |name: &str| template.fields.iter().position(|rule| rule.field.name == name);
        let names = template.rules().zip(&layout.columns).filter(|(rule, _)| rule.is_name);
        let currency = input.fields().find(|field| field.is_currency());
        SpecialRules {
            keys: input.key.iter().filter_map(|name| rule(name)).collect(),
            id: input.id.as_ref().and_then(|id| rule(id.name)),
            name: template.fields.iter().position(|it| is_name_of_record(it) && matches!(it.source, Source::Column(_))),
            currency: match currency {
                None => CurrencyRule::NoField,
                Some(field) => rule(field.name).map_or(CurrencyRule::NotMapped, CurrencyRule::Mapped),
            },
            default_currency: template.sheet.currency.filter(|_| !has_currencies(template, layout)),
            price_units: layout
                .unused
                .iter()
                .copied()
                .filter(|column| is_price_unit_column(&layout.header.names[*column]))
                .collect(),
            identifiers: names.map(|(_, columns)| columns).flat_map(Columns::iter).collect(),
            locales: layout
                .tested()
                .filter_map(|column| Some((column, locale_of(template, layout, column)?)))
                .collect(),
        }
    }
}

/// Returns whether a column of the sheet has currencies, used or not: a default must not contradict it.
fn has_currencies(template: &Template, layout: &Layout) -> bool {
    let mut rules = template.rules().zip(&layout.columns);
    if rules.any(|(rule, columns)| rule.field.is_currency() && columns.first().is_some()) {
        return true;
    }
    let Some(words) = vocabulary().kind(template.record).field("currency") else { return false };
    layout.unused.iter().any(|column| {
        let name = normalize::header(&layout.header.names[*column]).words.concat();
        words.titles().any(|title| title.joined == name)
    })
}

/// Returns the locale that number fields use for a column, or `None` if no field reads the column or several fields disagree.
fn locale_of(template: &Template, layout: &Layout, column: usize) -> Option<Option<Locale>> {
    let reads = |(rule, columns): &(&FieldRule, &Columns)| rule.field.json.is_number() && columns.contains(column);
    let mut locales = template.rules().zip(&layout.columns).filter(reads).map(|(rule, _)| rule.number.locale);
    let first = locales.next()?;
    let name = |locale: Option<Locale>| locale.map(|locale| &locale.names);
    locales.all(|other| name(other) == name(first)).then_some(first)
}
