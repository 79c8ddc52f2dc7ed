//! What an input is made of, as data. Template checking, mapping, the service's validation and the docs all read it.

use std::fmt;

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

    /// Whether the value names a record, here or there: a spreadsheet program that takes it for a number damages it.
    pub fn is_name(&self) -> bool {
        let endings = ["Id", "_id"];
        matches!(self.json, JsonType::String)
            && (matches!(self.name, "id" | "cid") || endings.iter().any(|ending| self.name.ends_with(ending)))
    }
}

/// The JSON type that the contract gives a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    String,
    /// A string that holds an ISO 8601 date or date-time.
    DateTime,
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
            JsonType::String | JsonType::DateTime => "string",
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
