//! Currencies in headers above amounts: `Price (EUR)`.

use super::super::bind::{Columns, Layout};
use super::super::model::{FieldRule, Template};
use crate::currency::{self, CurrencyMark};

/// Returns the currencies in the headers above amounts, by rule, or nothing if no header names one.
pub(super) fn header_currencies(template: &Template, layout: &Layout) -> Vec<Option<CurrencyMark>> {
    let named = |(rule, columns): (&FieldRule, &Columns)| match columns {
        Columns::One(column) if rule.field.can_be_money() => currency::in_header(layout.header.names.get(*column)?),
        _ => None,
    };
    let found: Vec<_> = template.rules().zip(&layout.columns).map(named).collect();
    if found.iter().any(Option::is_some) { found } else { Vec::new() }
}
