//! The kinds of record that can be written to the service: what each input is made of, what identifies the record, and
//! which call carries it.

use std::fmt;

use super::field::{Field, JsonType};
use super::{invoice, item, order, subscription, transaction};

/// The kinds of record that can be written to the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordKind {
    Item,
    Order,
    InventoryTransaction,
    Subscription,
    Invoice,
}

impl RecordKind {
    pub const ALL: &'static [RecordKind] = &[
        RecordKind::Item,
        RecordKind::Order,
        RecordKind::InventoryTransaction,
        RecordKind::Subscription,
        RecordKind::Invoice,
    ];

    /// The description of this record's input.
    pub fn input(self) -> &'static Input {
        match self {
            RecordKind::Item => &item::INPUT,
            RecordKind::Order => &order::INPUT,
            RecordKind::InventoryTransaction => &transaction::INPUT,
            RecordKind::Subscription => &subscription::INPUT,
            RecordKind::Invoice => &invoice::INPUT,
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

/// One record's input: its body, what identifies it, and the calls that carry it.
#[derive(Debug)]
pub struct Input {
    pub name: &'static str,
    pub plural: &'static str,
    /// The contract's section that says this.
    pub section: &'static str,
    /// The whole body in the contract's order. Where it holds an object, that object is the record and what stands
    /// beside it are options of the call.
    pub body: &'static [Field],
    /// The service's own id of the record, which goes into the path of [`Input::update`] and not into the body.
    pub id: Option<Field>,
    /// The fields that identify the record across runs, the first that has a value. Two records with the same key are
    /// never in flight together, and a sheet that has a key twice is asked which of them is right.
    pub key: &'static [&'static str],
    pub create: Option<Call>,
    /// For records that are there already: the path names them.
    pub update: Option<Call>,
    /// The field of a successful answer that names the record in the service.
    pub answer_id: &'static str,
}

impl Input {
    /// The member of the body that holds the record, where the record is not the body itself.
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

    /// The record's plain fields in the contract's order, without its lines.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> + Clone {
        self.record().iter().filter(|field| !matches!(field.json, JsonType::Objects(_)))
    }

    /// The field that holds the record's lines, and a line's fields.
    pub fn lines(&self) -> Option<(&'static Field, &'static [Field])> {
        self.record().iter().find_map(|field| match field.json {
            JsonType::Objects(fields) => Some((field, fields)),
            _ => None,
        })
    }

    /// What the call can be told beside the record.
    pub fn options(&self) -> impl Iterator<Item = &'static Field> + Clone {
        let beside = self.member().is_some();
        self.body.iter().filter(move |field| beside && !matches!(field.json, JsonType::Object(_)))
    }

    /// Everything that can be said once a record: its id, its fields and the options of the call.
    pub fn mappable(&'static self) -> impl Iterator<Item = &'static Field> + Clone {
        self.id.iter().chain(self.fields()).chain(self.options())
    }

    /// The field of that name among [`Input::mappable`].
    pub fn field(&'static self, name: &str) -> Option<&'static Field> {
        self.mappable().find(|field| field.name == name)
    }

    /// Whether a record that is made twice is there twice.
    pub fn must_not_repeat(&self) -> bool {
        self.create.as_ref().is_some_and(|call| !call.repeatable)
    }

    /// The call for a record that the path names, or for one that it does not. A kind of which nothing can be created is
    /// always named.
    pub fn call(&self, is_named: bool) -> Option<&Call> {
        match is_named {
            true => self.update.as_ref(),
            false => self.create.as_ref(),
        }
    }
}

/// HTTP method of a call that writes a record.
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

/// How a record is sent. `repeatable` says whether the same bytes may be sent again after a lost answer.
#[derive(Debug)]
pub struct Call {
    pub method: Method,
    /// Relative to the base address, with a leading slash; `{…}` stands for what names the record.
    pub path: &'static str,
    pub repeatable: bool,
}

impl Call {
    /// The path with `name` in the place that stands for the record's name. Everything but unreserved characters is
    /// written as `%…`, so that no name reaches beyond its place. None for the names that no address can hold: nothing
    /// at all, and those that mean a folder, however they are written.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(fields: impl Iterator<Item = &'static Field>) -> Vec<&'static str> {
        fields.map(|field| field.name).collect()
    }

    #[test]
    fn an_order_stands_within_its_body_and_has_lines() {
        let input = RecordKind::Order.input();
        assert_eq!(input.member(), Some("order"));
        assert_eq!(
            names(input.fields()),
            ["externalId", "companyId", "companyExternalId", "orderAt", "deliveryStatus"]
        );
        assert_eq!(names(input.options()), ["createMissingItems", "triggerWorkflows"]);
        assert_eq!(input.lines().map(|(field, _)| field.name), Some("items"));
        assert!(input.field("order_id").is_some());
    }

    #[test]
    fn an_item_is_its_body() {
        let input = RecordKind::Item.input();
        assert_eq!(input.member(), None);
        assert_eq!(input.fields().count(), 8);
        assert_eq!(input.options().count(), 0);
        assert!(input.lines().is_none());
    }

    #[test]
    fn every_kind_can_be_sent_and_says_what_identifies_it() {
        for kind in RecordKind::ALL {
            let input = kind.input();
            assert_eq!(RecordKind::from_name(input.name), Some(*kind));
            assert!(input.create.is_some() || input.update.is_some(), "{kind}");
            assert!(input.key.iter().all(|key| input.field(key).is_some()), "{kind}");
        }
    }

    #[test]
    fn a_name_stays_in_its_place_of_the_path() {
        let call = RecordKind::Order.input().call(true).expect("orders are updated");
        assert_eq!(call.path("SO-1").as_deref(), Some("/v1/public/orders/SO-1"));
        let odd = "/v1/public/orders/..%2Fa%20b%2F%C3%A4%3F%23%25";
        assert_eq!(call.path("../a b/ä?#%").as_deref(), Some(odd));
        assert_eq!(call.path(".."), None);
    }
}
