//! References to records missing in the service, found before sending.

use std::collections::{BTreeSet, HashSet};

use futures_util::{StreamExt, TryStreamExt, stream};

use super::service_list::{Connection, ListReader};
use super::unknown_references::{UnknownReferences, UnknownValues};
use crate::client::pages::{Completeness, unescaped};
use crate::client::{self, fetch};
use crate::records::{List, Lookup, Reference, Single};
use crate::template::Template;
use crate::template::model::{Constant, Source as FieldSource};
use crate::upload::error::Error;
use crate::upload::plan::{Source, values_of_rules};

/// Maximum number of requests for single records.
const MAX_SINGLE: usize = 2_000;

/// Why the values of a field could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum NotCheckable {
    #[error(transparent)]
    Failed(#[from] client::Error),
    #[error("the service's list of {list} does not have {member}")]
    NoMember { list: &'static str, member: &'static str },
    #[error("the service's list of {list} may be incomplete: {reason}")]
    Incomplete { list: &'static str, reason: String },
    #[error("{count} values would take a request each")]
    TooMany { count: usize },
}

/// Compares the references of all rows with the service. Also returns the fields that could not be compared. Reads the file
/// twice.
///
/// # Errors
/// If the file can't be read.
pub async fn find_unknown(
    source: &Source,
    template: &Template,
    connection: &Connection<'_>,
) -> Result<(UnknownReferences, Vec<(&'static str, NotCheckable)>), Error> {
    let references = references_of(template);
    let rules: Vec<usize> = references.iter().map(|(rule, _)| *rule).collect();
    let (mut unknown, mut not_compared) = (UnknownReferences::default(), Vec::new());
    if rules.is_empty() {
        return Ok((unknown, not_compared));
    }
    let values = values_of_rules(source, template, &rules)?;
    for ((rule, reference), values) in references.into_iter().zip(values) {
        let values = values.into_keys().collect();
        let found = match reference.found_by {
            Lookup::Lists(lists, members) => missing_in_lists(lists, members, values, connection).await,
            Lookup::ExternalId(single) => missing_records(single, values, connection).await,
        };
        match found {
            Ok(values) if values.is_empty() => {}
            Ok(values) => unknown.fields.push(UnknownValues { rule, reference, values }),
            Err(why) => not_compared.push((reference.field, why)),
        }
    }
    Ok((unknown, not_compared))
}

/// Returns the references among the rules of a template, except to records that the service creates itself.
fn references_of(template: &Template) -> Vec<(usize, &'static Reference)> {
    let is_on = |option: &str| {
        let rule = template.fields.iter().find(|rule| rule.field.name == option);
        rule.is_some_and(|rule| !matches!(rule.source, FieldSource::Constant(Constant::Boolean(false))))
    };
    let references = template.record.input().references;
    let rules = template.rules().enumerate().filter_map(|(index, rule)| {
        let reference = references.iter().find(|reference| reference.field == rule.field.name)?;
        (!reference.created_with.is_some_and(is_on)).then_some((index, reference))
    });
    rules.collect()
}

/// Returns the values in none of the lists.
async fn missing_in_lists(
    lists: &[&'static List],
    members: &[&'static str],
    mut missing: BTreeSet<String>,
    connection: &Connection<'_>,
) -> Result<HashSet<String>, NotCheckable> {
    for list in lists {
        let mut reader = ListReader::new(connection, list);
        let (mut has_entries, mut has_members) = (false, false);
        while !reader.is_over() && !missing.is_empty() {
            for page in reader.pages().await? {
                for entry in page.entries() {
                    has_entries = true;
                    for json in members.iter().filter_map(|member| entry.field(member)) {
                        has_members = true;
                        missing.remove(unescaped(json).as_ref());
                    }
                }
            }
        }
        reader.finish().await;
        if missing.is_empty() {
            break;
        }
        if has_entries && !has_members {
            return Err(NotCheckable::NoMember { list: list.name, member: members[0] });
        }
        if let Completeness::Moved(reason) | Completeness::Unproven(reason) = reader.walk.completeness() {
            return Err(NotCheckable::Incomplete { list: list.name, reason });
        }
    }
    Ok(missing.into_iter().collect())
}

/// Requests each record. Returns the values without a record.
async fn missing_records(
    single: &Single,
    values: BTreeSet<String>,
    connection: &Connection<'_>,
) -> Result<HashSet<String>, NotCheckable> {
    if values.len() > MAX_SINGLE {
        return Err(NotCheckable::TooMany { count: values.len() });
    }
    let requests = stream::iter(values).map(|value| async move {
        let Some(path) = fetch::record_path(single.path, &value, single.has_external_id) else {
            return Ok(Some(value));
        };
        match fetch::fetch(connection.client, &connection.pace, &path, |_| Ok(())).await {
            Ok(()) => Ok(None),
            Err(client::Error::Status { status: 404, .. }) => Ok(Some(value)),
            Err(error) => Err(NotCheckable::from(error)),
        }
    });
    let found = requests.buffer_unordered(connection.concurrency.max(1));
    found.try_filter_map(|missing| async move { Ok(missing) }).try_collect().await
}
