//! Finds the orders that the rows of a file mean, before anything is sent.
//!
//! The contract addresses an order by its record id, and finds it by `GET …/{order_id}?external_id=`. A service may take the text in a path
//! for a record id, an external id or its own running number, so a path never has anything but the record id of an order that was found.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use futures_util::future::BoxFuture;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::Value;
use sheetport_client::pages::{Completeness, Entry};
use sheetport_client::{self as client, fetch};
use sheetport_mapping::Template;
use sheetport_records::{RecordKind, order};

use super::named_values::NamedValues;
use super::not_checkable::NotCheckable;
use super::order_addresses::{FoundOrder, Identifier, Missing, OrderAddresses};
use super::service_lines::{ServiceLine, shown_lines};
use super::service_list::{Connection, ListReader};

/// Orders that a complete list does not have are asked for one by one up to this number: a list may leave orders out, such as archived ones.
/// A file with more of them is of another service.
const MAX_DOUBTED: usize = 2_000;

/// Orders asked for their lines, only to name those that would go: those with more lines than the file has first. Nobody reads more
/// warnings, and it takes a request for each.
const MAX_NAMED: usize = 500;

/// A rule of the template, and the member of a response with the same identifier.
pub(super) type RuleAndMember = (usize, &'static str);

/// What a response shows of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shown {
    id: String,
    /// `None` if the service does not show external ids at all.
    external_id: Option<Option<String>>,
    number: Option<String>,
    lines: Option<u64>,
    /// The lines themselves, which the contract does not show.
    shown: Option<Vec<ServiceLine>>,
}

/// Returns the rules that identify orders, none for other kinds of records.
pub(super) fn order_rules(template: &Template) -> impl Iterator<Item = RuleAndMember> {
    let rule_of = |field: &str| template.fields.iter().position(|rule| rule.field.name == field);
    let is_order = template.record == RecordKind::Order;
    let rules = [(rule_of("externalId"), "external_id"), (rule_of("order_id"), "id")];
    rules.into_iter().filter_map(move |(rule, member)| Some((rule.filter(|_| is_order)?, member)))
}

/// Looks up the orders that the rows of a file mean. Returns `None` for other kinds of records. `keeps_lines`: asks for the lines of
/// every order, to send the others with those of the file.
///
/// # Errors
/// If the service can't be asked.
pub fn find_orders<'a>(
    values: &'a NamedValues,
    template: &'a Template,
    connection: &'a Connection<'a>,
    keeps_lines: bool,
) -> BoxFuture<'a, Result<Option<OrderAddresses>, NotCheckable>> {
    Box::pin(async move {
        if template.record != RecordKind::Order {
            return Ok(None);
        }
        let wanted = order_rules(template).map(|rule| (rule, values.of(rule.0)));
        let wanted = wanted.filter(|(_, values)| !values.is_empty()).collect();
        look_up(wanted, connection, keeps_lines).await.map(Some)
    })
}

async fn look_up(
    wanted: Vec<(RuleAndMember, &BTreeMap<String, u64>)>,
    connection: &Connection<'_>,
    keeps_lines: bool,
) -> Result<OrderAddresses, NotCheckable> {
    let mut addresses = OrderAddresses { keeps_lines, ..OrderAddresses::default() };
    let count = wanted.iter().map(|(_, values)| values.len()).sum();
    if count == 0 {
        return Ok(addresses);
    }
    let listed = Listed::read(count, connection).await?;
    for ((rule, member), values) in wanted {
        let mut identifier = listed.identify(rule, member, values.keys().cloned(), connection).await?;
        identifier.ask_for_lines(values, keeps_lines, connection).await?;
        match member {
            "external_id" => addresses.external_id = Some(identifier),
            _ => addresses.id = Some(identifier),
        }
    }
    let identifiers = || [&addresses.external_id, &addresses.id].into_iter().flatten();
    addresses.shows_none =
        (listed.is_empty || listed.is_absent) && identifiers().all(|identifier| identifier.found.is_empty());
    Ok(addresses)
}

/// The service's list, as far as it was worth reading.
#[derive(Default)]
struct Listed {
    orders: Vec<Shown>,
    /// Whether the list has no entry.
    is_empty: bool,
    /// Whether the service does not have the list. Every service has it, so the address may be wrong.
    is_absent: bool,
    /// Whether all entries were read.
    is_complete: bool,
}

impl Listed {
    /// Reads the list if that takes fewer requests than asking for each of `count` orders, and if its entries name external ids.
    async fn read(count: usize, connection: &Connection<'_>) -> Result<Listed, NotCheckable> {
        let mut reader = ListReader::new(connection, &order::LIST);
        let mut listed = Listed::default();
        let mut is_worth_it = true;
        while is_worth_it && !reader.is_over() {
            let pages = match reader.pages().await {
                Ok(pages) => pages,
                // A service need not have the list: the orders are asked for one by one.
                Err(client::Error::Status { status: 404 | 405, .. }) => {
                    listed.is_absent = true;
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            for entry in pages.iter().flat_map(|page| page.entries()) {
                listed.orders.extend(Shown::of_entry(&entry));
            }
            let names_them = listed.orders.iter().any(|order| order.external_id.is_some());
            is_worth_it = names_them && usize::try_from(reader.pages_left()).is_ok_and(|left| left <= count);
        }
        reader.finish().await;
        listed.is_complete = reader.is_over()
            && !matches!(reader.walk.completeness(), Completeness::Moved(_) | Completeness::Unproven(_));
        listed.is_empty = listed.orders.is_empty() && reader.is_over();
        Ok(listed)
    }

    /// Finds the orders with these values of a field, in the list or one by one.
    async fn identify(
        &self,
        rule: usize,
        member: &'static str,
        values: impl Iterator<Item = String>,
        connection: &Connection<'_>,
    ) -> Result<Identifier, NotCheckable> {
        let mut identifier =
            Identifier { rule, member, found: HashMap::new(), missing: HashMap::new(), sent: HashMap::new() };
        let numbers: HashMap<&str, &Shown> =
            self.orders.iter().rev().filter_map(|order| Some((order.number.as_deref()?, order))).collect();
        let numbered =
            |value: &str| numbers.get(value).map_or(Missing::Unknown, |order| Missing::NumberOf(order.name()));
        // The first order with each value, and the second if any.
        let mut listed: HashMap<&str, (&Shown, Option<&Shown>)> = HashMap::new();
        for order in &self.orders {
            let Some(value) = order.value(member) else { continue };
            listed.entry(value).and_modify(|(_, other)| *other = other.or(Some(order))).or_insert((order, None));
        }
        let mut left = Vec::new();
        for value in values {
            match listed.get(value.as_str()) {
                Some((order, None)) if self.is_complete => {
                    identifier.found.insert(value, order.found());
                }
                // The service contradicts itself: no order is chosen for the user.
                Some((order, Some(other))) if order.id != other.id => {
                    identifier.missing.insert(value, Missing::Several(order.id.clone(), other.id.clone()));
                }
                _ => left.push(value),
            }
        }
        if self.is_complete && self.orders.iter().any(|order| order.external_id.is_some()) && left.len() > MAX_DOUBTED {
            for value in left.drain(..) {
                let why = numbered(&value);
                identifier.missing.insert(value, why);
            }
        }
        let asked = stream::iter(left).map(|value| async move {
            let found = ask(member, &value, connection).await?;
            Ok::<_, NotCheckable>((value, found))
        });
        let asked: Vec<(String, Result<FoundOrder, Missing>)> =
            asked.buffer_unordered(connection.concurrency.max(1)).try_collect().await?;
        for (value, found) in asked {
            match found {
                Ok(order) => {
                    identifier.found.insert(value, order);
                }
                Err(why) => {
                    let why = if why == Missing::Unknown { numbered(&value) } else { why };
                    identifier.missing.insert(value, why);
                }
            }
        }
        Ok(identifier)
    }
}

impl Identifier {
    /// Asks for the lines of all orders, or of some that may have lines which the file lacks, by its number of `rows` of each value.
    async fn ask_for_lines(
        &mut self,
        rows: &BTreeMap<String, u64>,
        of_all: bool,
        connection: &Connection<'_>,
    ) -> Result<(), NotCheckable> {
        let wanted = self
            .found
            .iter()
            .filter(|(_, order)| order.shown.is_none() && order.lines != Some(0) && (of_all || order.lines.is_some()));
        // As many lines as in the file may be other lines.
        let surplus = |value: &str, lines: Option<u64>| lines.unwrap_or(0).checked_sub(*rows.get(value).unwrap_or(&0));
        let mut wanted: Vec<(Reverse<Option<u64>>, String, String)> = wanted
            .map(|(value, order)| (Reverse(surplus(value, order.lines)), value.clone(), order.id.clone()))
            .collect();
        wanted.sort_unstable();
        if !of_all {
            wanted.truncate(MAX_NAMED);
        }
        // A service that shows no lines is asked once, unless they are needed: one order may show them and another not.
        let first = if of_all { wanted.len() } else { wanted.len().min(1) };
        let rest = wanted.split_off(first);
        for wanted in [wanted, rest] {
            let asked = stream::iter(wanted).map(|(_, value, id)| async move {
                let shown = get(&id, false, connection).await?.filter(|shown| shown.id == id);
                Ok::<_, NotCheckable>((value, shown.and_then(|shown| shown.shown)))
            });
            let asked: Vec<(String, Option<Vec<ServiceLine>>)> =
                asked.buffer_unordered(connection.concurrency.max(1)).try_collect().await?;
            let shows_none = asked.iter().all(|(_, shown)| shown.is_none());
            for (value, shown) in asked {
                self.found.entry(value).and_modify(|order| order.shown = shown);
            }
            if shows_none {
                break;
            }
        }
        Ok(())
    }
}

/// Asks for one order. Returns why there is none, if the service answers with another one.
async fn ask(
    member: &'static str,
    value: &str,
    connection: &Connection<'_>,
) -> Result<Result<FoundOrder, Missing>, NotCheckable> {
    let by_external_id = member == "external_id";
    let Some(shown) = get(value, by_external_id, connection).await? else { return Ok(Err(Missing::Unknown)) };
    if !by_external_id || shown.external_id.is_some() {
        return Ok(if shown.has(member, value) { Ok(shown.found()) } else { Err(shown.other_than(value)) });
    }
    // The service does not show external ids. If it finds the same order by the text in the path alone, it may not have looked at the
    // external id at all.
    let by_path = get(value, false, connection).await?;
    Ok(match by_path.is_some_and(|other| other.id == shown.id) {
        true if shown.id == value || shown.number.as_deref() == Some(value) => Err(shown.other_than(value)),
        _ => Ok(shown.found()),
    })
}

/// Requests an order, or returns `None` if there is none.
async fn get(value: &str, by_external_id: bool, connection: &Connection<'_>) -> Result<Option<Shown>, NotCheckable> {
    let Some(path) = fetch::record_path(order::PATH, value, by_external_id) else { return Ok(None) };
    let parse = |body: Vec<u8>| Shown::parse(&body).ok_or_else(|| "an answer that is no order".to_owned());
    match fetch::fetch(connection.client, &connection.pace, &path, parse).await {
        Ok(shown) => Ok(Some(shown)),
        // 400 and 422: the text can't be an identifier of this service, such as a text where it has numbers.
        Err(client::Error::Status { status: 400 | 404 | 410 | 422, .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Shown {
    /// Reads an order in the read shape (api.md, "Order").
    fn parse(body: &[u8]) -> Option<Shown> {
        let order: Value = serde_json::from_slice(body).ok()?;
        let text = |name: &str| match order.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        Some(Shown {
            id: text("id")?,
            external_id: order.get("external_id").map(|_| text("external_id")),
            number: text("order_id"),
            lines: order.get("number_item").and_then(Value::as_u64),
            shown: shown_lines(&order),
        })
    }

    fn of_entry(entry: &Entry<'_>) -> Option<Shown> {
        let text = |name: &str| entry.text(name).map(|text| text.into_owned());
        Some(Shown {
            id: text("id")?,
            external_id: entry.field("external_id").map(|_| text("external_id")),
            number: text("order_id"),
            lines: text("number_item").and_then(|lines| lines.parse().ok()),
            shown: None,
        })
    }

    /// Returns the value of the identifier `member`, if shown.
    fn value(&self, member: &str) -> Option<&str> {
        match member {
            "external_id" => self.external_id.as_ref()?.as_deref(),
            _ => Some(&self.id),
        }
    }

    fn has(&self, member: &str, value: &str) -> bool {
        self.value(member) == Some(value)
    }

    /// Returns why the order, which the service answered with, is not meant by the value.
    fn other_than(&self, value: &str) -> Missing {
        match self.number.as_deref() == Some(value) {
            true => Missing::NumberOf(self.name()),
            false => Missing::Unknown,
        }
    }

    fn found(&self) -> FoundOrder {
        FoundOrder { id: self.id.clone(), lines: self.lines, shown: self.shown.clone() }
    }

    /// The name by which people know the order.
    fn name(&self) -> String {
        self.external_id.clone().flatten().unwrap_or_else(|| self.id.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_with_and_without_external_id() {
        let parse = |json: &str| Shown::parse(json.as_bytes());
        let shown =
            parse(r#"{"id": "o1", "order_id": 5003, "number_item": 3, "external_id": "SO-1"}"#).expect("an order");
        assert!(shown.has("external_id", "SO-1") && shown.has("id", "o1") && !shown.has("external_id", "5003"));
        assert_eq!((shown.number.as_deref(), shown.lines, shown.name().as_str()), (Some("5003"), Some(3), "SO-1"));
        let without = parse(r#"{"id": "o1", "order_id": null}"#).expect("an order");
        assert_eq!((without.external_id.clone(), without.name().as_str()), (None, "o1"));
        let null = parse(r#"{"id": "o1", "external_id": null}"#).expect("an order");
        assert!(null.external_id == Some(None) && !null.has("external_id", ""));
        assert_eq!(parse("[]"), None);
        assert_eq!(parse(r#"{"ok": true}"#), None);
    }
}
