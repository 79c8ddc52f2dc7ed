//! Sheets about something else than items, such as lists of people and of bookings.

use super::super::bind::{Columns, Layout};
use super::super::builtin;
use super::super::model::{FieldRule, Place, Source, Template};
use super::header_match::Header;
use crate::records::RecordKind;

/// The fields that describe an item.
const DESCRIPTIONS: [&str; 2] = ["name", "description"];
/// How many columns are left out for each status that is sent, in a sheet about something else.
const UNUSED_BESIDE_STATUS: usize = 3;

/// Returns whether a built-in template fits a sheet that is probably about something else than items: no amount would be sent, as
/// many columns are left out as are used beside the identifier, and
/// - the identifiers could be those of anything, or
/// - most columns that are left out are about people or events, or
/// - nothing would be sent that describes an item, such as its name, and most columns are left out.
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
    let unused = layout.unused.len();
    if has_amount || unused < others {
        return false;
    }
    let is_of_people = |column: &&usize| {
        layout.header.names.get(**column).is_some_and(|name| Header::new(name).is_of_people_or_events())
    };
    let of_people = layout.unused.iter().filter(is_of_people).count();
    let describes = bound().any(|(rule, _)| DESCRIPTIONS.contains(&rule.field.name));
    !keys.any(|(_, columns)| names_items(columns))
        || of_people > 0 && of_people * 2 >= unused
        || !describes && unused >= UNUSED_BESIDE_STATUS * others.max(1)
}
