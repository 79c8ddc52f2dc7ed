//! What an input is made of, as data. Template checking, mapping, the service's validation and the docs all read it.

use std::fmt;

/// The kinds of record that can be written to the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordKind {
    Item,
}

impl RecordKind {
    pub const ALL: &'static [RecordKind] = &[RecordKind::Item];

    /// The description of this record's input.
    pub fn input(self) -> &'static Input {
        match self {
            RecordKind::Item => &super::item::INPUT,
        }
    }

    /// The name used in templates, ledgers and messages: `item`.
    pub fn name(self) -> &'static str {
        self.input().name
    }

    pub fn from_name(name: &str) -> Option<RecordKind> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One record's input: the fields of the body, and the call that carries it.
#[derive(Debug)]
pub struct Input {
    pub name: &'static str,
    pub plural: &'static str,
    /// In the contract's order, which is also the order of the fields in a request's body.
    pub fields: &'static [Field],
    /// The field that identifies the record across runs. Two records with the same key are never in flight together.
    pub key: &'static str,
    pub call: Call,
    /// The field of a successful answer that names the record in the service.
    pub answer_id: &'static str,
}

impl Input {
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// How a record is sent. `repeatable` says whether the same bytes may be sent again after a lost answer.
#[derive(Debug)]
pub struct Call {
    pub method: &'static str,
    /// Relative to the base address, with a leading slash.
    pub path: &'static str,
    pub repeatable: bool,
}

/// One field of an input or of a record as it is read (section "Resources and their fields" of the contract).
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub json: JsonType,
    pub required: bool,
    pub nullable: bool,
    pub doc: &'static str,
}

impl Field {
    pub const fn required(name: &'static str, json: JsonType, doc: &'static str) -> Field {
        Field { name, json, required: true, nullable: false, doc }
    }

    /// May be absent, but not null.
    pub const fn optional(name: &'static str, json: JsonType, doc: &'static str) -> Field {
        Field { name, json, required: false, nullable: false, doc }
    }

    /// May be absent, and may be null.
    pub const fn nullable(name: &'static str, json: JsonType, doc: &'static str) -> Field {
        Field { name, json, required: false, nullable: true, doc }
    }
}

/// The JSON type that the contract gives a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    String,
    Number,
    /// A number without a fraction; `5.0` is one, too.
    Integer,
    Boolean,
    /// An array of strings.
    Strings,
    Object(&'static [Field]),
    /// An array of objects that all have these fields.
    Objects(&'static [Field]),
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JsonType::String => "string",
            JsonType::Number => "number",
            JsonType::Integer => "integer",
            JsonType::Boolean => "boolean",
            JsonType::Strings => "array of strings",
            JsonType::Object(_) => "object",
            JsonType::Objects(_) => "array of objects",
        })
    }
}

/// A list that can be read page by page (section "Endpoints" of the contract).
#[derive(Debug)]
pub struct List {
    /// What the command line calls it.
    pub name: &'static str,
    pub family: Family,
    /// Relative to the base address, with a leading slash.
    pub path: &'static str,
    /// What the query calls the page size (section "Limits", points 1 and 3).
    pub size: &'static str,
    /// What the contract says of each entry, in its order. Entries may hold more.
    pub fields: &'static [ListedField],
}

/// The two families of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Public,
    Legacy,
}

impl Family {
    pub fn name(self) -> &'static str {
        match self {
            Family::Public => "public",
            Family::Legacy => "legacy",
        }
    }
}

/// A record that is read by its id (section "Endpoints" of the contract).
#[derive(Debug)]
pub struct Single {
    /// What the command line calls such records.
    pub name: &'static str,
    /// Relative to the base address, with a leading slash; the id follows it.
    pub path: &'static str,
    /// Whether the query takes an `external_id`.
    pub has_external_id: bool,
    pub fields: &'static [ListedField],
}

#[derive(Debug)]
pub struct ListedField {
    pub name: &'static str,
    pub is_date_time: bool,
}

impl ListedField {
    pub const fn plain(name: &'static str) -> ListedField {
        ListedField { name, is_date_time: false }
    }

    pub const fn date_time(name: &'static str) -> ListedField {
        ListedField { name, is_date_time: true }
    }
}
