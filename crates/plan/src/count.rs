//! Requests for counted stocks. Pure.
//!
//! A counted stock is planned as a transaction of which the moved units are not known: in their place, the body has [`COUNTED`] and perhaps
//! [`EXPECTED`]. A look at the stock in the service adds the difference. The count stays in the body, so that the record is recognized
//! whatever the stock was, and is left out of the request.

use std::borrow::Cow;

use sheetport_client::pages::{object_fields, unescaped};
use sheetport_records::transaction::{COUNTED, EXPECTED, TRANSACTION_AMOUNT};
use sheetport_values::decimal;

use crate::compare::object;

/// The members of a body that are not sent.
pub(crate) const NOT_SENT: [&str; 2] = [COUNTED, EXPECTED];

/// The types of transactions that move the stock in one direction only, in lower case.
const ONE_WAY: [&str; 2] = ["in", "out"];

/// What the body of a counted stock says, in units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    pub counted: i64,
    pub expected: Option<i64>,
    /// The difference from the stock in the service, after the look at it.
    pub difference: Option<i64>,
    pub inventory: InventoryName,
    /// The member of an inventory that was counted. `None` if the contract has none for the type of the count.
    pub figure: Option<&'static str>,
    pub is_one_way: bool,
}

/// How a request names an inventory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InventoryName {
    Id(String),
    ExternalId(String),
}

/// A count whose difference from the stock in the service is not known. It can't be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLookedUp;

type Members<'b> = Vec<(Cow<'b, str>, &'b str)>;

/// Returns the members of the body of a counted stock, or `None` for any other body.
fn members(body: &str) -> Option<Members<'_>> {
    // Most bodies are of other records.
    if !body.contains(COUNTED) {
        return None;
    }
    object_fields(body).filter(|members| of(members, COUNTED).is_some())
}

fn of<'b>(members: &Members<'b>, name: &str) -> Option<&'b str> {
    members.iter().find(|(known, _)| known == name).map(|(_, json)| *json).filter(|json| *json != "null")
}

/// Reads a number of units. Returns `None` for anything but a whole number.
pub(crate) fn units(json: &str) -> Option<i64> {
    let whole = decimal::to_integer(decimal::parse(json).ok()?)?;
    i64::try_from(whole).ok()
}

impl Count {
    /// Reads a body. Returns `None` if it is not of a counted stock.
    pub fn of(body: &str) -> Option<Count> {
        let members = members(body)?;
        let text = |name: &str| of(&members, name).map(|json| unescaped(json).into_owned());
        let name = text("inventoryId").map(InventoryName::Id);
        let name = name.or_else(|| text("inventoryExternalId").map(InventoryName::ExternalId));
        let kind = text("transactionType").unwrap_or_default().trim().to_lowercase();
        Some(Count {
            counted: of(&members, COUNTED).and_then(units)?,
            expected: of(&members, EXPECTED).and_then(units),
            difference: of(&members, TRANSACTION_AMOUNT).and_then(units),
            inventory: name?,
            figure: figure(text("inventoryType").as_deref()),
            is_one_way: ONE_WAY.contains(&kind.as_str()),
        })
    }
}

/// Returns the member of an inventory that transactions of a type move.
fn figure(inventory_type: Option<&str>) -> Option<&'static str> {
    match inventory_type.unwrap_or_default().trim().to_lowercase().as_str() {
        "" => Some("total_inventory"),
        "available" => Some("available"),
        "committed" => Some("committed"),
        "unavailable" => Some("unavailable"),
        _ => None,
    }
}

/// Whether a body is of a counted stock.
pub fn is_count(body: &str) -> bool {
    members(body).is_some()
}

/// Whether a body is of a counted stock whose difference from the service is not known.
pub fn needs_look(body: &str) -> bool {
    members(body).is_some_and(|members| of(&members, TRANSACTION_AMOUNT).is_none())
}

/// Returns the units from one stock to another. `None` if they are no stocks.
pub fn moved(from: &str, to: &str) -> Option<i64> {
    to.parse::<i64>().ok()?.checked_sub(from.parse().ok()?)
}

/// Returns the body with the difference from the stock in the service.
pub fn with_difference(body: &str, difference: i64) -> Box<str> {
    let members = object_fields(body).unwrap_or_default();
    let kept = members.iter().filter(|(name, _)| name != TRANSACTION_AMOUNT);
    let difference = difference.to_string();
    object(kept.map(|(name, json)| (&**name, *json)).chain([(TRANSACTION_AMOUNT, difference.as_str())]))
}

/// Returns the request for a body: without what was counted.
///
/// # Errors
/// If the difference from the stock in the service is not known.
pub fn request_of(body: Box<str>) -> Result<Box<str>, NotLookedUp> {
    let Some(members) = members(&body) else { return Ok(body) };
    if of(&members, TRANSACTION_AMOUNT).is_none() {
        return Err(NotLookedUp);
    }
    Ok(without(&members, &NOT_SENT))
}

/// Returns what was counted, where, and when: the same, whatever the stock in the service was or should have been. `None` for the body of
/// any other record.
pub(crate) fn identity(body: &str) -> Option<Box<str>> {
    members(body).map(|members| without(&members, &[EXPECTED, TRANSACTION_AMOUNT]))
}

fn without(members: &Members<'_>, names: &[&str]) -> Box<str> {
    let kept = members.iter().filter(|(name, _)| !names.contains(&&**name));
    object(kept.map(|(name, json)| (&**name, *json)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"transactionType":"adjust","inventoryExternalId":"KOL/\u00e4","counted":118,"expected":120.0,"transactionDate":"2026-09-29"}"#;

    #[test]
    fn a_count_is_sent_as_its_difference() {
        let count = Count::of(BODY).expect("a count");
        assert_eq!((count.counted, count.expected, count.difference), (118, Some(120), None));
        assert_eq!(count.inventory, InventoryName::ExternalId("KOL/ä".to_owned()));
        assert_eq!((count.figure, count.is_one_way), (Some("total_inventory"), false));
        assert_eq!(request_of(BODY.into()), Err(NotLookedUp));
        let looked_up = with_difference(BODY, -2);
        assert!(needs_look(BODY) && !needs_look(&looked_up) && is_count(&looked_up));
        assert_eq!(Count::of(&looked_up).and_then(|count| count.difference), Some(-2));
        assert_eq!(
            request_of(looked_up.clone()).as_deref(),
            Ok(
                r#"{"transactionType":"adjust","inventoryExternalId":"KOL/\u00e4","transactionDate":"2026-09-29","transactionAmount":-2}"#
            )
        );
        assert_eq!(with_difference(&looked_up, 3), with_difference(BODY, 3), "there is one difference");
        assert_eq!(identity(BODY), identity(&looked_up));
        let other = BODY.replace("118", "117");
        assert_ne!(identity(BODY), identity(&other));
        assert_eq!(identity(BODY), identity(&BODY.replace("120.0", "119")), "expected says nothing about the count");
    }

    #[test]
    fn other_bodies_are_sent_as_they_are() {
        for body in [
            r#"{"transactionType":"in","inventoryId":"counted","transactionAmount":2}"#,
            r#"{"transactionType":"in","counted":null}"#,
            r#"{"externalId":"A","name":"\"counted\":1"}"#,
            "",
        ] {
            assert_eq!(request_of(body.into()).as_deref(), Ok(body));
            assert!(Count::of(body).is_none() && !needs_look(body) && identity(body).is_none(), "{body}");
        }
    }

    #[test]
    fn the_type_of_a_count_chooses_the_figure() {
        for (kind, expected) in [
            ("null", Some("total_inventory")),
            ("\"\"", Some("total_inventory")),
            ("\"available\"", Some("available")),
            ("\" Unavailable \"", Some("unavailable")),
            ("\"committed\"", Some("committed")),
            ("\"damaged\"", None),
        ] {
            let body =
                format!(r#"{{"transactionType":"OUT","inventoryId":"i","counted":-1.00,"inventoryType":{kind}}}"#);
            let count = Count::of(&body).expect("a count");
            assert_eq!((count.figure, count.counted, count.is_one_way), (expected, -1, true), "{kind}");
        }
    }
}
