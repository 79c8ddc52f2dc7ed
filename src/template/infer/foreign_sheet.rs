//! Sheets about something else than items, such as lists of people and of bookings.

use super::super::bind::{Columns, Layout};
use super::super::builtin;
use super::super::model::{FieldRule, Place, Source, Template};
use super::header_match::Header;
use crate::records::RecordKind;

/// Returns whether a built-in template fits a sheet that is probably about something else than items: its identifiers could
/// be those of anything, no amount would be sent, and as many columns are left out as are used beside the identifier.
pub fn is_foreign_sheet(template: &Template, layout: &Layout) -> bool {
    if template.record != RecordKind::Item || builtin::find(&template.name).is_none() || layout.is_defused {
        return false;
    }
    let bound = || {
        let rules = template.rules().zip(&layout.columns);
        rules.filter(|(rule, columns)| {
            matches!(rule.source, Source::Column(_) | Source::Joined { .. }) && **columns != Columns::None
        })
    };
    let is_key = |rule: &FieldRule| rule.place == Place::Id || template.record.input().key.contains(&rule.field.name);
    let names_items = |columns: &Columns| {
        let name = columns.first().and_then(|column| layout.header.names.get(column));
        name.is_some_and(|name| !Header::new(name).is_any_code())
    };
    let mut keys = bound().filter(|(rule, _)| is_key(rule));
    let others = bound().filter(|(rule, _)| !is_key(rule)).count();
    let has_amount = bound().any(|(rule, _)| rule.field.json.is_number());
    !has_amount && layout.unused.len() >= others && !keys.any(|(_, columns)| names_items(columns))
}
