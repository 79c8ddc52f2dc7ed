//! Inputs of calls that write a record: fields, keys and calls.

use std::fmt;

use super::field::{Field, JsonType, List, Single};

/// The input of a kind of record: body, keys and calls.
#[derive(Debug)]
pub struct Input {
    pub name: &'static str,
    pub plural: &'static str,
    /// Section of the contract.
    pub section: &'static str,
    /// The fields of the body, in the contract's order. A field of type object contains the record; the other fields are then
    /// options of the call.
    pub body: &'static [Field],
    /// The service's id of the record, part of the path of [`Input::update`].
    pub id: Option<Field>,
    /// The fields that identify a record across runs; the first with a value is the key. Records with the same key are never
    /// in flight at the same time, and a duplicate key in a sheet is an error.
    pub key: &'static [&'static str],
    pub create: Option<Call>,
    /// For existing records, identified in the path.
    pub update: Option<Call>,
    /// The field of a successful response with the id of the record.
    pub answer_id: &'static str,
    /// The fields that refer to other records of the service.
    pub references: &'static [Reference],
    /// Fields of which a line, or a new record without lines, needs at least one. The contract requires none of them, but without
    /// any the line has no subject.
    pub needs_one_of: &'static [&'static str],
    /// Fields of which a new record needs at least one to have an effect, although the contract requires none of them.
    pub quantities: &'static [&'static str],
}

/// A field with the identity of another record.
#[derive(Debug)]
pub struct Reference {
    pub field: &'static str,
    /// The kind of the other record, such as `company`.
    pub what: &'static str,
    pub found_by: Lookup,
    /// The option of the call that makes the service create unknown records.
    pub created_with: Option<&'static str>,
}

/// How a record is found by the value of a reference.
#[derive(Debug)]
pub enum Lookup {
    /// In these lists, by the value of these members.
    Lists(&'static [&'static List], &'static [&'static str]),
    /// By a request for the record with this external identifier. The list does not have external identifiers.
    ExternalId(&'static Single),
}

impl Lookup {
    /// Returns the names of the lists to search.
    pub fn lists(&self) -> impl Iterator<Item = &'static str> {
        let (lists, single): (&[&List], _) = match self {
            Lookup::Lists(lists, _) => (lists, None),
            Lookup::ExternalId(single) => (&[], Some(single.name)),
        };
        lists.iter().map(|list| list.name).chain(single)
    }

    /// Returns the members to compare with the value. Never empty.
    pub fn members(&self) -> &'static [&'static str] {
        match self {
            Lookup::Lists(_, members) => members,
            Lookup::ExternalId(_) => &["external_id"],
        }
    }
}

impl Input {
    /// Returns the lists in which the id for a field can be looked up, or none if it does not take the id of another record.
    pub fn lists_of(&self, field: &str) -> &'static [&'static List] {
        match self.references.iter().find(|reference| reference.field == field).map(|reference| &reference.found_by) {
            Some(Lookup::Lists(lists, members)) if members.contains(&"id") => lists,
            _ => &[],
        }
    }

    /// Returns the kind of record in the fields of [`Input::needs_one_of`], such as `item`.
    pub fn needed_reference(&self) -> Option<&'static str> {
        let is_needed = |reference: &&Reference| self.needs_one_of.contains(&reference.field);
        self.references.iter().find(is_needed).map(|reference| reference.what)
    }

    /// Returns the field of the body that contains the record, or `None` if the body is the record.
    pub fn member(&self) -> Option<&'static str> {
        self.body.iter().find(|field| matches!(field.json, JsonType::Object(_))).map(|field| field.name)
    }

    fn record(&self) -> &'static [Field] {
        self.body
            .iter()
            .find_map(|field| match field.json {
                JsonType::Object(fields) => Some(fields),
                _ => None,
            })
            .unwrap_or(self.body)
    }

    /// Returns the fields of the record without its lines, in the contract's order.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> + Clone {
        self.record().iter().filter(|field| !matches!(field.json, JsonType::Objects(_)))
    }

    /// Returns the field of the lines and the fields of a line, if the record has lines.
    pub fn lines(&self) -> Option<(&'static Field, &'static [Field])> {
        self.record().iter().find_map(|field| match field.json {
            JsonType::Objects(fields) => Some((field, fields)),
            _ => None,
        })
    }

    /// Returns the options of the call.
    pub fn options(&self) -> impl Iterator<Item = &'static Field> + Clone {
        let beside = self.member().is_some();
        self.body.iter().filter(move |field| beside && !matches!(field.json, JsonType::Object(_)))
    }

    /// Returns all fields with one value per record: the id, the fields and the options.
    pub fn mappable(&'static self) -> impl Iterator<Item = &'static Field> + Clone {
        self.id.iter().chain(self.fields()).chain(self.options())
    }

    /// Returns the field of [`Input::mappable`] with this name.
    pub fn field(&'static self, name: &str) -> Option<&'static Field> {
        self.mappable().find(|field| field.name == name)
    }

    /// Whether sending a record twice creates a duplicate.
    pub fn must_not_repeat(&self) -> bool {
        self.create.as_ref().is_some_and(|call| !call.repeatable)
    }

    /// Whether some records may be sent twice.
    pub fn may_be_repeated(&self) -> bool {
        [&self.create, &self.update].into_iter().flatten().any(|call| call.repeatable)
    }

    /// Returns the call that updates a record by its id in the path if `is_named`, or the call that creates a record. Returns
    /// `None` if the contract has no such call.
    pub fn call(&self, is_named: bool) -> Option<&Call> {
        match is_named {
            true => self.update.as_ref(),
            false => self.create.as_ref(),
        }
    }
}

/// HTTP method of a writing call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Post,
    Put,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::Post => "POST",
            Method::Put => "PUT",
        })
    }
}

/// A call that sends a record. `repeatable` means idempotent: the same body may be sent again after a lost response.
#[derive(Debug)]
pub struct Call {
    pub method: Method,
    /// Relative to the base address, with a leading slash. `{…}` is the placeholder of the id.
    pub path: &'static str,
    pub repeatable: bool,
}

impl Call {
    /// Returns the path with `name` as the id, percent-encoded except for unreserved characters. Returns `None` for an empty
    /// name, `.` and `..`: dots have a special meaning in paths even if encoded.
    pub fn path(&self, name: &str) -> Option<String> {
        let (Some(from), Some(to)) = (self.path.find('{'), self.path.find('}')) else {
            return Some(self.path.to_owned());
        };
        if matches!(name, "" | "." | "..") {
            return None;
        }
        let mut path = self.path[..from].to_owned();
        for byte in name.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => path.push(char::from(byte)),
                byte => path.push_str(&format!("%{byte:02X}")),
            }
        }
        path.push_str(&self.path[to + 1..]);
        Some(path)
    }
}
