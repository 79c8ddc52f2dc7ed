//! Fields of inputs and responses as data, for templates, mapping, validation and the docs.

use std::fmt;

/// A field of an input or a response (section "Resources and their fields" of the contract).
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub json: JsonType,
    pub required: bool,
    pub nullable: bool,
    /// Whether the number can have a currency. Counts and rates have no currency.
    pub is_money: bool,
    pub doc: &'static str,
}

impl Field {
    /// Returns a field that must be present and not null.
    pub const fn required(name: &'static str, json: JsonType, doc: &'static str) -> Field {
        Field { name, json, required: true, nullable: false, is_money: false, doc }
    }

    /// Returns a field that may be absent but not null.
    pub const fn optional(name: &'static str, json: JsonType, doc: &'static str) -> Field {
        Field { name, json, required: false, nullable: false, is_money: false, doc }
    }

    /// Returns a field that may be absent or null.
    pub const fn nullable(name: &'static str, json: JsonType, doc: &'static str) -> Field {
        Field { name, json, required: false, nullable: true, is_money: false, doc }
    }

    /// Whether the value is an ISO 4217 code.
    pub fn is_currency(&self) -> bool {
        self.name == "currency"
    }

    /// Whether the value is a tax, which may be a rate.
    pub fn is_tax(&self) -> bool {
        matches!(self.name, "tax" | "tax_rate")
    }

    /// Whether the value is a name or a description for people. True and false are neither.
    pub fn is_label(&self) -> bool {
        matches!(self.name, "name" | "description")
    }

    /// Whether the value is what people call the record.
    pub fn is_title(&self) -> bool {
        self.name == "name"
    }

    /// Returns the same field as an amount of money.
    pub const fn money(self) -> Field {
        Field { is_money: true, ..self }
    }

    /// Whether the value identifies a record. Spreadsheet programs damage identifiers that look like numbers.
    pub fn is_name(&self) -> bool {
        let endings = ["Id", "_id"];
        matches!(self.json, JsonType::String)
            && (matches!(self.name, "id" | "cid") || endings.iter().any(|ending| self.name.ends_with(ending)))
    }
}

/// Returns the name of an input field in lists: `purchase_price` for `purchasePrice`.
pub fn listed_name(name: &str) -> String {
    // The inventory's short name has the name of the field in answers.
    if name == "inventoryId" {
        return "inventory_uuid".to_owned();
    }
    name.chars().fold(String::new(), |mut listed, c| {
        if c.is_ascii_uppercase() {
            listed.push('_');
        }
        listed.push(c.to_ascii_lowercase());
        listed
    })
}

/// The JSON type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    String,
    /// A string with an ISO 8601 date or date-time.
    DateTime,
    Number,
    /// A number without a fraction, such as `5` or `5.0`.
    Integer,
    Boolean,
    /// An array of strings.
    Strings,
    Object(&'static [Field]),
    /// An array of objects with these fields.
    Objects(&'static [Field]),
}

impl JsonType {
    /// Returns whether values are JSON numbers.
    pub fn is_number(self) -> bool {
        matches!(self, JsonType::Number | JsonType::Integer)
    }
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

/// A list of records, read page by page (section "Endpoints" of the contract).
#[derive(Debug)]
pub struct List {
    /// Name on the command line.
    pub name: &'static str,
    pub family: Family,
    /// Relative to the base address, with a leading slash.
    pub path: &'static str,
    /// Query parameter of the page size (section "Limits", points 1 and 3).
    pub size: &'static str,
    /// The specified fields of each entry, in order. Entries may have further fields.
    pub fields: &'static [ListedField],
    /// The members of an entry, besides its id, by which people know the record. A service need not show them.
    pub known_by: &'static [&'static str],
}

/// The two families of endpoints.
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

/// A record read by id (section "Endpoints" of the contract).
#[derive(Debug)]
pub struct Single {
    /// Name on the command line.
    pub name: &'static str,
    /// Relative to the base address, with a leading slash. The id follows.
    pub path: &'static str,
    /// Whether the query parameter `external_id` is supported.
    pub has_external_id: bool,
    /// Fields with an id that this record can be read by.
    pub id_fields: &'static [&'static str],
    pub fields: &'static [ListedField],
}

/// A field of a listed record.
#[derive(Debug)]
pub struct ListedField {
    pub name: &'static str,
    /// The type in the contract, but [`JsonType::String`] for every identifier: nobody calculates with them, and a service may give them
    /// letters.
    pub json: JsonType,
}

impl ListedField {
    pub const fn text(name: &'static str) -> ListedField {
        ListedField { name, json: JsonType::String }
    }

    pub const fn number(name: &'static str) -> ListedField {
        ListedField { name, json: JsonType::Number }
    }

    pub const fn integer(name: &'static str) -> ListedField {
        ListedField { name, json: JsonType::Integer }
    }

    pub const fn date_time(name: &'static str) -> ListedField {
        ListedField { name, json: JsonType::DateTime }
    }

    pub const fn boolean(name: &'static str) -> ListedField {
        ListedField { name, json: JsonType::Boolean }
    }

    pub const fn texts(name: &'static str) -> ListedField {
        ListedField { name, json: JsonType::Strings }
    }

    /// Whether values are date-times in UTC.
    pub fn is_date_time(&self) -> bool {
        self.json == JsonType::DateTime
    }
}
