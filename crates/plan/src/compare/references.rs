//! The records that a file refers to, such as companies and items, found before sending.
//!
//! A field with `resolve` in the template may have any identifier or the name of a record, and gets its id. `check --online` also
//! finds references of all other fields to records that the service does not have.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::future::BoxFuture;
use futures_util::{StreamExt, TryStreamExt, stream};
use sheetport_client::{self as client, fetch};
use sheetport_mapping::map::Resolved;
use sheetport_mapping::model::{Constant, Source as FieldSource};
use sheetport_mapping::{Cause, Template};
use sheetport_records::{List, Lookup, Reference, Single};

use super::named_values::NamedValues;
use super::not_checkable::NotCheckable;
use super::record_index::{MAX_REQUESTS, Meaning, Members, RecordIndex, Sure, Wanted, meaning, nearest};
use super::service_list::Connection;

/// Which references are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Fields with `resolve`, if a value is not an id already.
    Resolve,
    /// As [`Scope::Resolve`], but values that are not found stay as they are: a rehearsal makes up the records of its file, and its
    /// service refuses those that the exports should have.
    Rehearse,
    /// All references.
    All,
}

/// A field that refers to other records.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReferringField<'t> {
    /// The index of its rule, as in `Template::rules`.
    pub rule: usize,
    reference: &'static Reference,
    /// The lists of `resolve`.
    resolve: &'t [&'static List],
}

/// What the references of a file stand for.
#[derive(Debug, Default)]
pub struct References {
    pub resolved: Resolved,
    /// The fields that could not be compared.
    pub not_compared: Vec<(&'static str, NotCheckable)>,
}

/// Returns whether a value has the form of the service's ids, so that it need not be looked up. Names don't have this form, and
/// numbers of customers or items don't either.
pub(super) fn is_id(value: &str) -> bool {
    let value = value.trim().as_bytes();
    value.len() == 36
        && value.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns the fields of a template whose values are looked up, except those of records that the service creates itself.
pub(super) fn referring_fields(template: &Template, scope: Scope) -> Vec<ReferringField<'_>> {
    let is_on = |option: &str| {
        let rule = template.fields.iter().find(|rule| rule.field.name == option);
        rule.is_some_and(|rule| !matches!(rule.source, FieldSource::Constant(Constant::Boolean(false))))
    };
    let references = template.record.input().references;
    let rules = template.rules().enumerate().filter_map(|(rule, of)| {
        let reference = references.iter().find(|reference| reference.field == of.field.name)?;
        let is_wanted = !of.resolve.is_empty() || scope == Scope::All && !reference.created_with.is_some_and(is_on);
        is_wanted.then_some(ReferringField { rule, reference, resolve: &of.resolve })
    });
    rules.collect()
}

/// Finds what the references of a file stand for. Every list is read once, and only if a value is not an id already.
///
/// # Errors
/// If the service can't be asked about a field with `resolve`.
pub fn find_references<'a>(
    values: &'a NamedValues,
    template: &'a Template,
    connection: &'a Connection<'a>,
    scope: Scope,
) -> BoxFuture<'a, Result<References, client::Error>> {
    Box::pin(async move {
        let fields = referring_fields(template, scope);
        let fields = fields.iter().filter_map(|field| {
            let values = values.of(field.rule);
            let is_wanted = scope == Scope::All || values.keys().any(|value| !is_id(value));
            (!values.is_empty() && is_wanted).then_some((*field, values))
        });
        let fields: Vec<(ReferringField<'_>, &BTreeMap<String, u64>)> = fields.collect();
        let mut indexes: BTreeMap<&str, RecordIndex> = BTreeMap::new();
        let mut references = References::default();
        for (at, (field, values)) in fields.iter().enumerate() {
            if let Lookup::ExternalId(single) = field.reference.found_by {
                match missing_records(single, values, connection).await {
                    Ok(missing) => field.mark_unknown(missing.iter(), &mut references.resolved),
                    Err(why) => references.not_compared.push((field.reference.field, why)),
                }
                continue;
            }
            let mut failed = None;
            for list in field.lists() {
                if indexes.contains_key(list.path) || field.are_found(values, &field.read(&indexes)) {
                    continue;
                }
                let wanted = wanted_of(list, &fields[at..]);
                match RecordIndex::read(list, wanted, connection).await {
                    Ok(index) => drop(indexes.insert(list.path, index)),
                    Err(error) if field.resolves() => return Err(error),
                    Err(error) => failed = Some(NotCheckable::Failed(error)),
                }
            }
            let read = field.read(&indexes);
            match (failed, field.resolves()) {
                (Some(why), _) => references.not_compared.push((field.reference.field, why)),
                // A service without a single record shows none, or keeps them elsewhere: nothing can be compared.
                (None, true) if read.iter().all(|index| index.is_empty()) => {
                    let list = field.lists().first().map_or("records", |list| list.name);
                    references.not_compared.push((field.reference.field, NotCheckable::Empty { list }));
                }
                (None, true) => {
                    let mut resolved = field.resolved(values, &read);
                    if scope == Scope::Rehearse {
                        let is_not_found =
                            |found: &_| matches!(found, Err(Cause::NotResolved { .. } | Cause::NotLookedUp { .. }));
                        resolved.retain(|_, found| !is_not_found(found));
                    }
                    references.resolved.insert(field.rule, resolved);
                }
                (None, false) => match field.unknown(values, &read) {
                    Ok(unknown) => field.mark_unknown(unknown, &mut references.resolved),
                    Err(why) => references.not_compared.push((field.reference.field, why)),
                },
            }
        }
        Ok(references)
    })
}

/// Returns what fields want of a list.
fn wanted_of(list: &'static List, fields: &[(ReferringField<'_>, &BTreeMap<String, u64>)]) -> Wanted {
    let mut wanted = Wanted::default();
    for (field, values) in fields.iter().filter(|(field, _)| field.lists().iter().any(|of| of.path == list.path)) {
        for member in field.members() {
            if !wanted.members.contains(&member) {
                wanted.members.push(member);
            }
        }
        wanted.suggests |= field.resolves();
        values.keys().for_each(|value| wanted.insert(value, field.sure()));
    }
    wanted
}

impl ReferringField<'_> {
    fn resolves(&self) -> bool {
        !self.resolve.is_empty()
    }

    fn lists(&self) -> &[&'static List] {
        match self.reference.found_by {
            _ if self.resolves() => self.resolve,
            Lookup::Lists(lists, _) => lists,
            Lookup::ExternalId(_) => &[],
        }
    }

    /// The lists of the field that were read.
    fn read<'i>(&self, indexes: &'i BTreeMap<&str, RecordIndex>) -> Vec<&'i RecordIndex> {
        self.lists().iter().filter_map(|list| indexes.get(list.path)).collect()
    }

    /// The members that identify a record beyond doubt.
    fn sure(&self) -> Sure {
        self.reference.found_by.members()
    }

    /// The members with which values are compared.
    fn members(&self) -> Members {
        let mut members = self.sure().to_vec();
        if self.resolves() {
            let known_by = self.resolve.iter().flat_map(|list| list.known_by);
            known_by.for_each(|member| {
                if !members.contains(member) {
                    members.push(member);
                }
            });
        }
        members
    }

    /// Whether each value is found beyond doubt in what was read.
    fn are_found(&self, values: &BTreeMap<String, u64>, read: &[&RecordIndex]) -> bool {
        let members = self.members();
        values.keys().all(|value| meaning(value, self.sure(), &members, read) == Meaning::Id)
    }

    /// Returns the ids of the records that the values stand for, and the problems of other values.
    fn resolved(
        &self,
        values: &BTreeMap<String, u64>,
        read: &[&RecordIndex],
    ) -> HashMap<String, Result<String, Cause>> {
        let members = self.members();
        let what = self.reference.what;
        let incomplete = read.iter().find_map(|index| index.incomplete.as_ref());
        let searched: Vec<&str> =
            members.iter().copied().filter(|member| read.iter().any(|index| index.shown().contains(member))).collect();
        let searched = if searched.is_empty() { members.join(", ") } else { searched.join(", ") };
        let meaning_of = |value: &str| -> Option<Result<String, Cause>> {
            match (meaning(value, self.sure(), &members, read), incomplete) {
                (Meaning::Id, _) => None,
                // The rest of a list may have the name, too.
                (_, Some(_)) if is_id(value) => None,
                (_, Some(why)) => Some(Err(Cause::NotLookedUp { what, reason: why.to_string() })),
                (Meaning::Record(id), None) => Some(Ok(id)),
                (Meaning::Several(first, second), None) => Some(Err(Cause::ResolvedTwice { what, first, second })),
                (Meaning::None, None) => {
                    let (searched, nearest) = (searched.clone(), nearest(value, read));
                    Some(Err(Cause::NotResolved { what, searched, nearest }))
                }
            }
        };
        values.keys().filter_map(|value| Some((value.clone(), meaning_of(value)?))).collect()
    }

    /// Returns the values that no record has.
    fn unknown<'v>(
        &self,
        values: &'v BTreeMap<String, u64>,
        read: &[&RecordIndex],
    ) -> Result<impl Iterator<Item = &'v String>, NotCheckable> {
        let members = self.sure();
        let missing: Vec<&String> =
            values.keys().filter(|value| meaning(value, members, members, read) != Meaning::Id).collect();
        if !missing.is_empty() {
            for (list, index) in self.lists().iter().zip(read) {
                if index.has_entries && !members.iter().any(|member| index.shown().contains(member)) {
                    return Err(NotCheckable::NoMember { list: list.name, member: members[0] });
                }
                match &index.incomplete {
                    Some(NotCheckable::Incomplete { list, reason }) => {
                        return Err(NotCheckable::Incomplete { list, reason: reason.clone() });
                    }
                    Some(NotCheckable::TooLong { list, requests }) => {
                        return Err(NotCheckable::TooLong { list, requests: *requests });
                    }
                    Some(_) => return Err(NotCheckable::NoList { list: list.name }),
                    None => {}
                }
            }
        }
        Ok(missing.into_iter())
    }

    fn mark_unknown<'v>(&self, values: impl Iterator<Item = &'v String>, resolved: &mut Resolved) {
        let Reference { what, created_with, .. } = *self.reference;
        let cause = || Cause::UnknownReference { what, created_with };
        resolved.insert(self.rule, values.map(|value| (value.clone(), Err(cause()))).collect());
    }
}

/// Requests each record. Returns the values without a record.
async fn missing_records(
    single: &Single,
    values: &BTreeMap<String, u64>,
    connection: &Connection<'_>,
) -> Result<BTreeSet<String>, NotCheckable> {
    if values.len() as u64 > MAX_REQUESTS {
        return Err(NotCheckable::TooMany { count: values.len() });
    }
    let requests = stream::iter(values.keys().cloned()).map(|value| async move {
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
