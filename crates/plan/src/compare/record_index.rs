//! Records of a list of the service, by the identifiers and names under which a file may know them.
//!
//! Only entries that a value of the file may mean are kept, so memory is bounded by the file and not by the list.

use std::collections::{BTreeSet, HashMap};

use icu_normalizer::ComposingNormalizerBorrowed;
use sheetport_client as client;
use sheetport_client::pages::{Completeness, Entry};
use sheetport_records::List;

use super::not_checkable::NotCheckable;
use super::service_list::{Connection, ListReader};

/// Maximum number of requests for a list, the same as for single records.
pub(super) const MAX_REQUESTS: u64 = 2_000;
/// Maximum number of names kept to suggest one. A person with more of them looks it up in the service.
const MAX_NAMES: usize = 20_000;
/// The member with a name for people, in which a letter may be wrong. In numbers, each letter means another record.
const NAME: &str = "name";

/// The members by which values are compared with a list, the ids first.
pub(super) type Members = Vec<&'static str>;

/// The members that identify a record beyond doubt.
pub(super) type Sure = &'static [&'static str];

/// What a file names in a list: values in their compared form, with the members that identify a record beyond doubt.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub members: Members,
    values: HashMap<String, Vec<Sure>>,
    /// Values that are not found by the members that identify them.
    open: usize,
    /// Whether names are kept for suggestions.
    pub suggests: bool,
}

/// The records of one list that the file may mean.
#[derive(Debug, Default)]
pub(super) struct RecordIndex {
    /// By compared value: the records that have it, with the member.
    found: HashMap<String, Vec<Record>>,
    /// The members that an entry has, in the order of the contract.
    shown: Vec<&'static str>,
    names: Vec<String>,
    pub has_entries: bool,
    /// Why a record that was not found may exist nevertheless.
    pub incomplete: Option<NotCheckable>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Record {
    /// The id to send, `None` if the entry does not have one.
    id: Option<String>,
    member: &'static str,
}

/// What a value stands for in one or several lists.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The value is an id, and sent as it is.
    Id,
    /// Another identifier or name of the record with this id.
    Record(String),
    /// Of two records.
    Several(String, String),
    None,
}

/// Returns the form in which texts are compared: without surrounding white space, and with composed characters. Case matters: a
/// name is never guessed.
pub(super) fn compared(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text.trim()).into_owned()
}

impl Wanted {
    pub(super) fn insert(&mut self, value: &str, sure: Sure) {
        let known = self.values.entry(compared(value)).or_default();
        if !known.contains(&sure) {
            known.push(sure);
            self.open += 1;
        }
    }

    /// Notes that a record has a value. Returns whether it is wanted.
    fn find(&mut self, value: &str, member: &str) -> bool {
        let Some(open) = self.values.get_mut(value) else { return false };
        let before = open.len();
        open.retain(|sure| !sure.contains(&member));
        self.open -= before - open.len();
        true
    }
}

impl RecordIndex {
    /// Whether the list was read to its end and has no entry.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_entries && self.incomplete.is_none()
    }

    /// Reads a list, until every value is found by a member that identifies it, or to the end.
    ///
    /// # Errors
    /// If the service can't be asked. A list that it does not have, or that is too long, is incomplete.
    pub(super) async fn read(
        list: &'static List,
        mut wanted: Wanted,
        connection: &Connection<'_>,
    ) -> Result<RecordIndex, client::Error> {
        let mut index = RecordIndex::default();
        let mut reader = ListReader::new(connection, list);
        while !reader.is_over() && wanted.open > 0 {
            let requests = reader.next + reader.pages_left();
            if requests > MAX_REQUESTS {
                index.incomplete = Some(NotCheckable::TooLong { list: list.name, requests });
                return Ok(index);
            }
            let pages = match reader.pages().await {
                Ok(pages) => pages,
                Err(client::Error::Status { status: 404 | 405, .. }) if reader.next == 1 => {
                    index.incomplete = Some(NotCheckable::NoList { list: list.name });
                    return Ok(index);
                }
                Err(error) => return Err(error),
            };
            for entry in pages.iter().flat_map(|page| page.entries()) {
                index.add(&entry, &mut wanted);
            }
        }
        reader.finish().await;
        if wanted.open > 0
            && let Completeness::Moved(reason) | Completeness::Unproven(reason) = reader.walk.completeness()
        {
            index.incomplete = Some(NotCheckable::Incomplete { list: list.name, reason });
        }
        Ok(index)
    }

    fn add(&mut self, entry: &Entry<'_>, wanted: &mut Wanted) {
        self.has_entries = true;
        for member in wanted.members.clone() {
            if entry.field(member).is_none() {
                continue;
            }
            if !self.shown.contains(&member) {
                self.shown.push(member);
            }
            let Some(text) = entry.text(member) else { continue };
            let value = compared(&text);
            if wanted.find(&value, member) {
                // An inventory need not have an id, but then has a short name, which stands for it.
                let id = ["id", "inventory_id"].iter().find_map(|id| entry.text(id)).map(|id| id.into_owned());
                let record = Record { id, member };
                let records = self.found.entry(value).or_default();
                if !records.contains(&record) {
                    records.push(record);
                }
            }
            if wanted.suggests && member == NAME && self.names.len() < MAX_NAMES {
                self.names.push(text.into_owned());
            }
        }
    }

    /// Returns the members that the entries have.
    pub(super) fn shown(&self) -> &[&'static str] {
        &self.shown
    }
}

/// Returns what a value stands for in these lists. An id comes first: it is what the service itself takes.
pub(super) fn meaning(value: &str, ids: &[&str], members: &[&str], indexes: &[&RecordIndex]) -> Meaning {
    let value = compared(value);
    let records = || indexes.iter().filter_map(|index| index.found.get(&value)).flatten();
    if records().any(|record| ids.contains(&record.member)) {
        return Meaning::Id;
    }
    // One record may have the value as its number and as its name.
    let named = records().filter(|record| members.contains(&record.member));
    let distinct: BTreeSet<&str> = named.map(|record| record.id.as_deref().unwrap_or_default()).collect();
    let mut distinct = distinct.into_iter().map(str::to_owned);
    match (distinct.next(), distinct.next()) {
        (None, _) => Meaning::None,
        (Some(id), None) if id.is_empty() => Meaning::None,
        (Some(id), None) => Meaning::Record(id),
        (Some(first), Some(second)) => Meaning::Several(first, second),
    }
}

/// Returns the only name that differs from a value in one letter, in any case.
pub(super) fn nearest(value: &str, indexes: &[&RecordIndex]) -> Option<String> {
    let folded = compared(value).to_lowercase();
    let length = folded.chars().count();
    let is_near = |name: &&String| {
        let name = compared(name).to_lowercase();
        name.chars().count().abs_diff(length) <= 1 && strsim::osa_distance(&folded, &name) <= 1
    };
    let mut near = indexes.iter().flat_map(|index| &index.names).filter(is_near);
    let first = near.next()?;
    near.all(|other| other == first).then(|| first.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMBERS: [&str; 4] = ["id", "external_id", "number", "name"];

    fn index(entries: &[&str], values: &[&str]) -> RecordIndex {
        let mut wanted = Wanted { members: MEMBERS.to_vec(), suggests: true, ..Wanted::default() };
        values.iter().for_each(|value| wanted.insert(value, &["id"]));
        let mut index = RecordIndex::default();
        for entry in entries {
            index.add(&Entry::new(entry), &mut wanted);
        }
        index
    }

    #[test]
    fn a_value_stands_for_the_one_record_that_has_it() {
        let entries = [
            r#"{"id": "c1", "external_id": "C-1", "number": 42, "name": "Bj\u00f6rk"}"#,
            r#"{"id": "c2", "external_id": "42x", "number": 43, "name": "Smith"}"#,
            r#"{"id": "c3", "external_id": "C-3", "number": "44", "name": "Smith"}"#,
            r#"{"id": "c4", "external_id": "Own", "name": "Own"}"#,
            r#"{"id": "c5", "external_id": "43", "name": "c1"}"#,
            r#"{"id": null, "name": "Nameless"}"#,
        ];
        let record = |id: &str| Meaning::Record(id.to_owned());
        let several = |first: &str, second: &str| Meaning::Several(first.to_owned(), second.to_owned());
        for (value, expected) in [
            ("C-1", record("c1")),
            (" C-3 ", record("c3")),
            ("42", record("c1")),
            ("44", record("c3")),
            // The name is composed in the service and decomposed in the file.
            ("Bjo\u{308}rk", record("c1")),
            ("Own", record("c4")),
            ("Smith", several("c2", "c3")),
            // The number of one record and the external id of another.
            ("43", several("c2", "c5")),
            // An id comes first, whatever else has the text.
            ("c1", Meaning::Id),
            ("smith", Meaning::None),
            ("Smit", Meaning::None),
            ("Nameless", Meaning::None),
        ] {
            let index = index(&entries, &[value]);
            assert_eq!(meaning(value, &["id"], &MEMBERS, &[&index]), expected, "{value}");
        }
    }

    #[test]
    fn lists_are_searched_together() {
        let contacts = index(&[r#"{"id": "p1", "name": "Miller"}"#], &["Miller", "x"]);
        let companies = index(&[r#"{"id": "c1", "name": "Miller"}"#, r#"{"id": "x", "name": "X"}"#], &["Miller", "x"]);
        let of = |value: &str| meaning(value, &["id"], &MEMBERS, &[&contacts, &companies]);
        assert_eq!(of("Miller"), Meaning::Several("c1".to_owned(), "p1".to_owned()));
        assert_eq!(of("x"), Meaning::Id);
        assert_eq!(contacts.shown(), ["id", "name"]);
    }

    #[test]
    fn only_a_single_name_that_is_one_letter_off_is_suggested() {
        let index = index(
            &[
                r#"{"id": "1", "name": "Miller GmbH", "external_id": "C-1"}"#,
                r#"{"id": "2", "name": "Smith"}"#,
                r#"{"id": "3", "name": "Smyth"}"#,
                r#"{"id": "4", "name": "Miller AG"}"#,
            ],
            &[],
        );
        for (value, expected) in [
            ("Miler GmbH", Some("Miller GmbH")),
            ("miller gmbh", Some("Miller GmbH")),
            ("Mlller AG", Some("Miller AG")),
            ("Milelr AG", Some("Miller AG")),
            ("Smzth", None),
            ("Miller", None),
            ("C-2", None),
        ] {
            assert_eq!(nearest(value, &[&index]).as_deref(), expected, "{value}");
        }
    }
}
