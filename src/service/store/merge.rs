//! What an upsert does to an item: pure, so that several upserts of one item in one group act on each other in order.

use std::sync::Arc;

use rust_decimal::Decimal;

/// The fields of an item that a body can change, each as a `T`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemFields<T> {
    pub name: T,
    pub description: T,
    pub currency: T,
    pub price: T,
    pub purchase_price: T,
    pub tax: T,
    pub status: T,
}

/// What a body says about a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// The field was absent.
    #[default]
    Keep,
    /// The field was null.
    Clear,
    Set(String),
}

#[derive(Clone, Debug)]
pub struct ItemUpsert {
    pub workspace: Arc<str>,
    /// The id that the item gets if it is created; None for one of our own.
    pub id: Option<String>,
    pub external_id: String,
    pub fields: ItemFields<Change>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Created,
    Updated,
    /// The item was there and had these values already.
    Unchanged,
}

/// What became of an upsert, and the item's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub outcome: Outcome,
    pub id: String,
}

/// An item as the database has it. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: String,
    pub position: i64,
    pub fields: ItemFields<Option<String>>,
    pub created_at: i64,
    pub updated_at: i64,
}

impl Item {
    pub fn new(id: String, position: i64, changes: &ItemFields<Change>, now: i64) -> Item {
        let mut item = Item { id, position, fields: ItemFields::default(), created_at: now, updated_at: now };
        item.fields.apply(changes);
        item
    }

    /// Whether anything changed. If so `updated_at` moves, by at least a millisecond, also if the clock went back:
    /// whoever compares it with an earlier one sees that there is something new.
    pub fn apply(&mut self, changes: &ItemFields<Change>, now: i64) -> bool {
        let changed = self.fields.apply(changes);
        if changed {
            self.updated_at = now.max(self.updated_at.saturating_add(1));
        }
        changed
    }
}

impl ItemFields<Option<String>> {
    fn apply(&mut self, changes: &ItemFields<Change>) -> bool {
        let pairs = [
            (&mut self.name, &changes.name, false),
            (&mut self.description, &changes.description, false),
            (&mut self.currency, &changes.currency, false),
            (&mut self.price, &changes.price, true),
            (&mut self.purchase_price, &changes.purchase_price, true),
            (&mut self.tax, &changes.tax, true),
            (&mut self.status, &changes.status, false),
        ];
        let mut changed = false;
        for (field, change, is_number) in pairs {
            let value = match change {
                Change::Keep => continue,
                Change::Clear => None,
                Change::Set(text) => Some(text.as_str()),
            };
            let is_same = match (field.as_deref(), value) {
                (Some(before), Some(now)) if is_number => before == now || is_equal(before, now),
                (before, now) => before == now,
            };
            if !is_same {
                *field = value.map(str::to_owned);
                changed = true;
            }
        }
        changed
    }
}

/// Whether two numbers have the same value: 1.50 is 1.5, and a program that can't tell them apart changes nothing.
fn is_equal(before: &str, now: &str) -> bool {
    let value = |text| Decimal::from_str_exact(text).ok();
    value(before).is_some_and(|before| Some(before) == value(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: Change) -> ItemFields<Change> {
        ItemFields { name, ..ItemFields::default() }
    }

    fn set(text: &str) -> Change {
        Change::Set(text.to_owned())
    }

    #[test]
    fn only_what_is_named_changes() {
        let fields = ItemFields { name: set("Bolt"), price: set("1.50"), ..ItemFields::default() };
        let mut item = Item::new("1".to_owned(), 1, &fields, 100);
        assert!(item.apply(&named(Change::Clear), 200));
        assert_eq!((item.fields.name.as_deref(), item.fields.price.as_deref()), (None, Some("1.50")));
        assert_eq!((item.created_at, item.updated_at), (100, 200));
    }

    #[test]
    fn updated_at_moves_if_and_only_if_something_changed() {
        let mut item = Item::new("1".to_owned(), 1, &named(set("Bolt")), 100);
        assert!(!item.apply(&named(set("Bolt")), 200));
        assert!(!item.apply(&named(Change::Keep), 200));
        assert_eq!(item.updated_at, 100);
        assert!(item.apply(&named(set("Nut")), 100), "within the same millisecond");
        assert_eq!(item.updated_at, 101);
        assert!(item.apply(&named(set("Bolt")), 50), "with a clock that went back");
        assert_eq!(item.updated_at, 102);
    }

    #[test]
    fn the_same_number_in_other_digits_is_no_change_and_the_same_digits_in_a_text_are_one() {
        let priced = |price: &str| ItemFields { price: set(price), name: set(price), ..ItemFields::default() };
        let mut item = Item::new("1".to_owned(), 1, &priced("1.50"), 100);
        assert!(!item.apply(&ItemFields { price: set("1.5"), ..ItemFields::default() }, 200));
        assert_eq!(item.fields.price.as_deref(), Some("1.50"));
        assert!(item.apply(&priced("1.5"), 300));
        assert_eq!((item.fields.name.as_deref(), item.fields.price.as_deref()), (Some("1.5"), Some("1.50")));
        assert!(item.apply(&ItemFields { price: set("1.51"), ..ItemFields::default() }, 400));
        assert_eq!(item.fields.price.as_deref(), Some("1.51"));
    }
}
