//! Which values of a file are looked up in the service.

use sheetport_mapping::Template;
use sheetport_records::List;

use super::find_orders::order_rules;
use super::named_values::NamedValues;
use super::references::{Scope, is_id, referring_fields};
use crate::error::Error;
use crate::plan::Source;

/// Reads the values of all fields that are looked up: of orders, and of references. The file is read only if there are any, and once
/// for all of them.
///
/// # Errors
/// If the file can't be read.
pub fn named_values(source: &Source, template: &Template, scope: Scope) -> Result<NamedValues, Error> {
    let orders = order_rules(template).map(|(rule, _)| rule);
    let referring = referring_fields(template, scope).into_iter().map(|field| field.rule);
    NamedValues::of_rules(source, template, orders.chain(referring))
}

/// Whether rows of a template name orders, or records that are looked up.
pub fn looks_up(template: &Template) -> bool {
    order_rules(template).next().is_some() || !referring_fields(template, Scope::Resolve).is_empty()
}

/// Returns the fields with values that are looked up when the file is sent, and the lists.
///
/// # Errors
/// If the file can't be read.
pub fn to_be_resolved<'t>(
    source: &Source,
    template: &'t Template,
) -> Result<Vec<(&'static str, &'t [&'static List])>, Error> {
    let resolving = || template.rules().enumerate().filter(|(_, rule)| !rule.resolve.is_empty());
    let values = NamedValues::of_rules(source, template, resolving().map(|(rule, _)| rule))?;
    let is_wanted = |rule: usize| values.of(rule).keys().any(|value| !is_id(value));
    let found = resolving().filter(|(rule, _)| is_wanted(*rule));
    Ok(found.map(|(_, rule)| (rule.field.name, rule.resolve.as_slice())).collect())
}
