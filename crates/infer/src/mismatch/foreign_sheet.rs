//! Sheets about something else than the records of a template, such as lists of people, of reviews and of returns.

use sheetport_mapping::bind::{Columns, Layout};
use sheetport_mapping::builtin;
use sheetport_mapping::model::{FieldRule, Place, Source, Template};
use sheetport_records::RecordKind;
use sheetport_words::topics::Topic;

use super::super::headers::Header;
use super::sheet_topics::topics_of;

/// The fields that describe an item.
const DESCRIPTIONS: [&str; 2] = ["name", "description"];
/// Minimum number of unused columns per status column, in a sheet about another topic.
const UNUSED_BESIDE_STATUS: usize = 3;

/// The probable topic of a sheet that does not fit the template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignSheet {
    /// The kind of rows, and the indexes of the columns that suggest it. `None` if unknown.
    pub topic: Option<(&'static str, Vec<usize>)>,
}

/// Returns the probable topic of a sheet that a built-in template fits, if the sheet is probably not about the records of the
/// template:
/// - At least half of the unused columns, or the share required by a topic, belong to other topics. One of them belongs to a topic
///   that never occurs beside these fields, or so many to a single topic that they outweigh these fields. And they are at least as
///   many as the amounts to be sent.
/// - Or items would be sent without an amount, and at least as many columns are unused as used beside the identifier. In addition,
///   either the identifiers could belong to any kind of record, or no field such as the name describes an item and most columns
///   are unused.
pub fn foreign_sheet(template: &Template, layout: &Layout) -> Option<ForeignSheet> {
    if builtin::find(&template.name).is_none() || layout.is_export() {
        return None;
    }
    let bound = || {
        let rules = template.rules().zip(&layout.columns);
        rules.filter(|(rule, columns)| {
            matches!(rule.source, Source::Column(_) | Source::Joined { .. }) && **columns != Columns::None
        })
    };
    let unused = layout.unused.len();
    let amounts = bound().filter(|(rule, _)| rule.field.json.is_number()).count();
    let has_field = |name: &str| bound().any(|(rule, _)| rule.field.name == name);
    let topics: Vec<(usize, Vec<&Topic>)> = (layout.unused.iter())
        .filter_map(|column| {
            let mut topics = topics_of(&Header::new(layout.header.names.get(*column)?));
            topics.retain(|topic| topic.is_about_other_than(template.record));
            (!topics.is_empty()).then_some((*column, topics))
        })
        .collect();
    let is_foreign = |topic: &&Topic| {
        let columns = || topics.iter().flat_map(|(_, topics)| topics).filter(|other| std::ptr::eq(**other, *topic));
        let is_certain = template.record == RecordKind::Item
            && topics.len() * 2 >= unused
            && topic.certain.is_some_and(|certain| columns().count() >= certain);
        (is_certain || topic.is_foreign_to(template.record, has_field)) && topics.len() * topic.share >= unused
    };
    if topics.iter().flat_map(|(_, topics)| topics).any(is_foreign) && topics.len() >= amounts {
        return Some(ForeignSheet { topic: most_frequent(&topics) });
    }
    if template.record != RecordKind::Item || amounts > 0 {
        return None;
    }
    let is_key = |rule: &FieldRule| rule.place == Place::Id || template.record.input().key.contains(&rule.field.name);
    let names_items = |columns: &Columns| {
        let name = columns.first().and_then(|column| layout.header.names.get(column));
        name.is_some_and(|name| !Header::new(name).is_any_code())
    };
    let others = bound().filter(|(rule, _)| !is_key(rule)).count();
    let has_code_of_anything = !bound().any(|(rule, columns)| is_key(rule) && names_items(columns));
    let describes = bound().any(|(rule, _)| DESCRIPTIONS.contains(&rule.field.name));
    let is_foreign =
        unused >= others && (has_code_of_anything || !describes && unused >= UNUSED_BESIDE_STATUS * others.max(1));
    is_foreign.then(ForeignSheet::default)
}

/// Returns the topic of most columns, and these columns.
fn most_frequent(topics: &[(usize, Vec<&'static Topic>)]) -> Option<(&'static str, Vec<usize>)> {
    let columns = |topic: &Topic| -> Vec<usize> {
        let is_of = |topics: &Vec<&Topic>| topics.iter().any(|other| std::ptr::eq(*other, topic));
        topics.iter().filter(|(_, topics)| is_of(topics)).map(|(column, _)| *column).collect()
    };
    // Among equally frequent topics, prefers the topic of the leftmost column.
    let all = topics.iter().flat_map(|(_, topics)| topics).rev();
    let most = all.max_by_key(|topic| columns(topic).len())?;
    Some((most.plural, columns(most)))
}
