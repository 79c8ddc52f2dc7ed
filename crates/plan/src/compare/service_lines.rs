//! The lines of an order as the service shows them, or as they were sent to it, compared with those of the file. An update replaces all lines of an order, so
//! the service's other lines go unless they are sent, too.
//!
//! The contract shows lines in requests alone: a service need not show them, and a line has no name but its item (api.md, "Order line
//! object"). What is not shown exactly is never completed by a guess.

use serde_json::{Map, Value};
use sheetport_client::pages::unescaped;
use sheetport_mapping::NotKept;
use sheetport_values::decimal;

/// Lines named in a message. A person looks at the order in the service to see more.
const MAX_NAMED: usize = 5;

const ITEM_ID: &str = "item_id";
const ITEM_EXTERNAL_ID: &str = "itemExternalId";
/// Numbers that a line always has.
const NEEDED: [&str; 2] = ["quantity", "price"];
/// Numbers that a line may have or not. A line without both has no tax, but one that does not show them may have it.
const TAXES: [&str; 2] = ["tax", "tax_rate"];

/// A line of an order of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServiceLine {
    item_id: Option<String>,
    /// `None` if the service does not show external ids.
    external_id: Option<Option<String>>,
    quantity: Option<String>,
    /// The values of the line that a request can have and that are not zero, with their names.
    values: Vec<(&'static str, String)>,
    /// The line as it is sent, or why it can't be sent as it is.
    to_send: Result<String, NotKept>,
}

/// Returns the lines that an order shows, or `None` if it does not show them.
pub(super) fn shown_lines(order: &Value) -> Option<Vec<ServiceLine>> {
    parse_lines(order.get("items")?)
}

/// Returns the lines of a JSON array, or `None` if it is none.
pub(super) fn parse_lines(lines: &Value) -> Option<Vec<ServiceLine>> {
    lines.as_array()?.iter().map(|line| line.as_object().map(ServiceLine::parse)).collect()
}

impl ServiceLine {
    fn parse(line: &Map<String, Value>) -> ServiceLine {
        let text =
            |name: &str| line.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        ServiceLine {
            item_id: text(ITEM_ID),
            external_id: line.get(ITEM_EXTERNAL_ID).map(|_| text(ITEM_EXTERNAL_ID)),
            quantity: line.get("quantity").and_then(Value::as_number).map(ToString::to_string),
            values: NEEDED.into_iter().chain(TAXES).filter_map(|name| Some((name, value_of(line, name)?))).collect(),
            to_send: to_send(line),
        }
    }

    /// The item as people know it.
    fn item(&self) -> &str {
        self.external_id.as_ref().and_then(Option::as_deref).or(self.item_id.as_deref()).unwrap_or("?")
    }
}

/// Returns a number of a line, unless it is missing or zero.
fn value_of(line: &Map<String, Value>, name: &str) -> Option<String> {
    let number = line.get(name).and_then(Value::as_number)?;
    number.as_f64().is_none_or(|value| value != 0.0).then(|| number.to_string())
}

/// Returns a line of the service as a line of a request. Numbers keep their digits.
fn to_send(line: &Map<String, Value>) -> Result<String, NotKept> {
    let item = [ITEM_EXTERNAL_ID, ITEM_ID].iter().find_map(|name| line.get(*name)?.as_str()).unwrap_or("?");
    let inexact = |member: &str| NotKept::Inexact { item: item.to_owned(), member: member.to_owned() };
    let mut sent = Map::new();
    let id = [ITEM_ID, ITEM_EXTERNAL_ID]
        .into_iter()
        .find(|name| line.get(*name).and_then(Value::as_str).is_some_and(|text| !text.is_empty()));
    let id = id.ok_or_else(|| inexact(ITEM_ID))?;
    sent.insert(id.to_owned(), line[id].clone());
    for name in NEEDED.into_iter().chain(TAXES) {
        match line.get(name) {
            Some(Value::Number(number)) => {
                sent.insert(name.to_owned(), Value::Number(number.clone()));
            }
            // Absent in the request is the same as null.
            Some(Value::Null) if TAXES.contains(&name) => {}
            _ => return Err(inexact(name)),
        }
    }
    let is_known =
        |name: &str| [ITEM_ID, ITEM_EXTERNAL_ID].contains(&name) || NEEDED.contains(&name) || TAXES.contains(&name);
    match line.iter().find(|(name, value)| !is_known(name) && !value.is_null()) {
        // A request has no place for it, such as a discount.
        Some((name, _)) => Err(inexact(name)),
        None => Ok(Value::Object(sent).to_string()),
    }
}

/// Returns the values of the service's lines that the lines of the file lack, as a person names them: `A-1 (price 2.50)`. `file` are the
/// lines of the file, as JSON with commas between them. A line that may be one of several is not compared.
pub(super) fn lost_values(lines: &[ServiceLine], file: &str) -> String {
    // The mapping wrote them, so they can be parsed; if not, nothing is known about their items.
    let file = serde_json::from_str::<Vec<Map<String, Value>>>(&["[", file, "]"].concat()).unwrap_or_default();
    let has = |line: &Map<String, Value>, name: &str| line.get(name).is_some_and(|value| !value.is_null());
    let mut lost = Vec::new();
    for line in &file {
        let text = |name: &str| line.get(name).and_then(Value::as_str);
        let is_meant = |known: &&ServiceLine| match (text(ITEM_ID), text(ITEM_EXTERNAL_ID)) {
            (Some(id), _) => known.item_id.as_deref() == Some(id),
            (None, Some(id)) => known.external_id.as_ref().and_then(Option::as_deref) == Some(id),
            (None, None) => false,
        };
        let mut meant = lines.iter().filter(is_meant);
        let (Some(known), None) = (meant.next(), meant.next()) else { continue };
        // A tax is written in one of two ways.
        let has_tax = TAXES.iter().any(|tax| has(line, tax));
        let is_lost = |name: &str| !(has(line, name) || has_tax && TAXES.contains(&name));
        let values = known.values.iter().filter(|(name, _)| is_lost(name));
        let values: Vec<String> = values.map(|(name, value)| format!("{name} {value}")).collect();
        if !values.is_empty() {
            lost.push(format!("{} ({})", known.item(), values.join(", ")));
        }
    }
    let more = lost.len().saturating_sub(MAX_NAMED);
    lost.truncate(MAX_NAMED);
    if more > 0 {
        lost.push(format!("… (+{more})"));
    }
    lost.join(", ")
}

/// Returns the lines of the service that the file lacks. `file` are the lines of the file, as JSON with commas between them.
///
/// # Errors
/// If a line of the file may be one of several lines of the service.
pub(super) fn other_lines<'l>(lines: &'l [ServiceLine], file: &str) -> Result<Vec<&'l ServiceLine>, NotKept> {
    // The mapping wrote them, so they can be parsed; if not, nothing is known about their items.
    let file = serde_json::from_str::<Vec<Map<String, Value>>>(&["[", file, "]"].concat());
    let file = file.map_err(|_| NotKept::ItemsNotShown)?;
    let text = |line: &Map<String, Value>, name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut items = Vec::new();
    for line in &file {
        let (id, external_id) = (text(line, ITEM_ID), text(line, ITEM_EXTERNAL_ID));
        let shows = |known: &ServiceLine| match &id {
            Some(_) => known.item_id.is_some(),
            None => known.external_id.is_some(),
        };
        if (id.is_none() && external_id.is_none()) || !lines.iter().all(shows) {
            return Err(NotKept::ItemsNotShown);
        }
        items.push((id, external_id));
    }
    let is_of = |line: &ServiceLine, (id, external_id): &(Option<String>, Option<String>)| match id {
        Some(_) => line.item_id == *id,
        None => line.external_id.as_ref() == Some(external_id),
    };
    let mut others = Vec::new();
    for line in lines {
        let in_file = items.iter().filter(|item| is_of(line, item)).count();
        let in_service = lines.iter().filter(|other| other.is_same_item(line)).count();
        match in_file {
            0 => others.push(line),
            _ if in_file < in_service => return Err(NotKept::Several { item: line.item().to_owned() }),
            _ => {}
        }
    }
    Ok(others)
}

impl ServiceLine {
    fn is_same_item(&self, other: &ServiceLine) -> bool {
        match (&self.item_id, &other.item_id) {
            (Some(id), Some(other)) => id == other,
            _ => self.external_id == other.external_id,
        }
    }
}

/// Returns the lines as a person names them: `2 × A-1, 1 × B-7`.
pub(super) fn names(lines: &[&ServiceLine]) -> String {
    let mut names: Vec<String> = lines
        .iter()
        .take(MAX_NAMED)
        .map(|line| match &line.quantity {
            Some(quantity) => format!("{quantity} × {}", line.item()),
            None => line.item().to_owned(),
        })
        .collect();
    if lines.len() > MAX_NAMED {
        names.push(format!("… (+{})", lines.len() - MAX_NAMED));
    }
    names.join(", ")
}

/// Returns the lines that an order shows, as JSON, as they are sent: by the name of the item that people know, if there is one. `None` if
/// one of them can't be sent as it is.
pub(crate) fn sendable(shown: &str) -> Option<String> {
    let mut lines: Vec<Map<String, Value>> = serde_json::from_str(shown).ok()?;
    for line in &mut lines {
        if line.get(ITEM_EXTERNAL_ID).and_then(Value::as_str).is_some_and(|name| !name.is_empty()) {
            line.remove(ITEM_ID);
        }
    }
    let lines: Vec<ServiceLine> = lines.iter().map(ServiceLine::parse).collect();
    Some(format!("[{}]", sent(&lines.iter().collect::<Vec<_>>()).ok()?))
}

/// Whether an order shows the lines that were sent, both as JSON, in any order. What a sent line does not say, the service decides.
pub(crate) fn are_same_lines(sent: &str, shown: &str) -> bool {
    let lines = |json: &str| serde_json::from_str::<Vec<Map<String, Value>>>(json).ok();
    let (Some(sent), Some(mut shown)) = (lines(sent), lines(shown)) else { return false };
    let is_same = |sent: &Map<String, Value>, shown: &Map<String, Value>| {
        let number = |value: &Value| decimal::canonical(&value.to_string());
        sent.iter().filter(|(_, value)| !value.is_null()).all(|(name, value)| match value {
            // 0 and none are the same tax.
            Value::Number(_) if TAXES.contains(&name.as_str()) => {
                value_of(sent, name).map(|it| decimal::canonical(&it))
                    == value_of(shown, name).map(|it| decimal::canonical(&it))
            }
            Value::Number(_) => shown.get(name).is_some_and(|other| number(value) == number(other)),
            _ => shown.get(name) == Some(value),
        })
    };
    let is_found = |line: &Map<String, Value>, shown: &mut Vec<Map<String, Value>>| {
        let place = shown.iter().position(|other| is_same(line, other));
        place.map(|place| shown.swap_remove(place)).is_some()
    };
    sent.len() == shown.len() && sent.iter().all(|line| is_found(line, &mut shown))
}

/// Returns lines, as JSON, as a person names them: `2 × A-1 (price 5.00)`. `None` if they are no lines.
pub(crate) fn lines_in_words(json: &str) -> Option<String> {
    let lines = parse_lines(&serde_json::from_str(json).ok()?)?;
    let words = lines.iter().map(|line| {
        let quantity = line.quantity.as_deref().unwrap_or("?");
        let values = line.values.iter().filter(|(name, _)| *name != "quantity");
        let values: Vec<String> = values.map(|(name, value)| format!("{name} {value}")).collect();
        let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
        format!("{quantity} × {}{values}", line.item())
    });
    Some(words.collect::<Vec<_>>().join(", "))
}

/// Returns lines as JSON with commas between them.
///
/// # Errors
/// If one of them can't be sent as it is.
pub(super) fn sent(lines: &[&ServiceLine]) -> Result<String, NotKept> {
    let lines: Result<Vec<&str>, NotKept> =
        lines.iter().map(|line| line.to_send.as_deref().map_err(Clone::clone)).collect();
    Ok(lines?.join(","))
}

/// Returns a value for people.
pub(crate) fn shown(json: &str) -> String {
    match json {
        "null" => String::new(),
        json if json.starts_with('[') => lines_in_words(json).unwrap_or_else(|| json.to_owned()),
        json => unescaped(json).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(json: &str) -> Vec<ServiceLine> {
        let order: Value = serde_json::from_str(&format!(r#"{{"items": [{json}]}}"#)).expect("JSON");
        shown_lines(&order).expect("lines")
    }

    const A: &str =
        r#"{"item_id": "i1", "itemExternalId": "A", "quantity": 2, "price": 1.10, "tax": null, "tax_rate": 19.00}"#;
    const B: &str = r#"{"item_id": "i2", "itemExternalId": null, "quantity": 0.50, "price": 12345678901234567.890, "tax": 0.10, "tax_rate": null}"#;

    #[test]
    fn lines_that_the_file_lacks_are_named_and_sent_digit_by_digit() {
        let known = lines(&format!("{A},{B}"));
        let others = other_lines(&known, r#"{"itemExternalId":"A","quantity":5}"#).expect("one is meant");
        assert_eq!(names(&others), "0.50 × i2");
        assert_eq!(
            sent(&others).expect("exact"),
            r#"{"item_id":"i2","quantity":0.50,"price":12345678901234567.890,"tax":0.10}"#
        );
        let others = other_lines(&known, r#"{"item_id":"i2"},{"itemExternalId":"A"}"#).expect("both are meant");
        assert_eq!(others, Vec::<&ServiceLine>::new());
        let others = other_lines(&known, r#"{"itemExternalId":"NEW"}"#).expect("none is meant");
        assert_eq!(names(&others), "2 × A, 0.50 × i2");
        let many = lines(&[B; 7].join(","));
        assert_eq!(names(&many.iter().collect::<Vec<_>>()), format!("{}, … (+2)", ["0.50 × i2"; 5].join(", ")));
    }

    #[test]
    fn values_that_the_file_lacks_are_named() {
        let known = lines(&format!("{A},{B}"));
        for (file, lost) in [
            (r#"{"itemExternalId":"A","quantity":3}"#, "A (price 1.10, tax_rate 19.00)"),
            (r#"{"itemExternalId":"A","quantity":3,"price":1,"tax":0.2}"#, ""),
            (r#"{"itemExternalId":"A","quantity":3,"price":null,"tax_rate":19}"#, "A (price 1.10)"),
            (r#"{"item_id":"i2","quantity":1,"price":2},{"itemExternalId":"NEW"}"#, "i2 (tax 0.10)"),
        ] {
            assert_eq!(lost_values(&known, file), lost, "{file}");
        }
        assert_eq!(lost_values(&lines(&format!("{A},{A}")), r#"{"itemExternalId":"A"}"#), "", "one of two");
    }

    #[test]
    fn lines_are_the_same_if_the_service_shows_what_was_sent() {
        let same = |sent: &str, shown: &str| are_same_lines(&format!("[{sent}]"), &format!("[{shown}]"));
        let both = format!("{B},{A}");
        assert!(same(r#"{"itemExternalId":"A","quantity":2.0,"price":1.1,"tax_rate":19}"#, A));
        assert!(same(r#"{"itemExternalId":"A","quantity":2},{"item_id":"i2","quantity":0.5,"tax":null}"#, &both));
        assert!(same(r#"{"itemExternalId":"A","quantity":2,"tax":0}"#, A), "no tax");
        for other in [
            r#"{"itemExternalId":"A","quantity":3}"#,
            r#"{"itemExternalId":"A","quantity":2,"price":1.2}"#,
            r#"{"itemExternalId":"B","quantity":2}"#,
            r#"{"itemExternalId":"A","quantity":2},{"itemExternalId":"A","quantity":2}"#,
            "",
        ] {
            assert!(!same(other, A), "{other}");
        }
        assert_eq!(
            lines_in_words(&format!("[{both}]")).as_deref(),
            Some("0.50 × i2 (price 12345678901234567.890, tax 0.10), 2 × A (price 1.10, tax_rate 19.00)")
        );
        let sent = r#"[{"itemExternalId":"A","quantity":2,"price":1.10,"tax_rate":19.00}]"#;
        assert_eq!(sendable(&format!("[{A}]")).as_deref(), Some(sent));
    }

    #[test]
    fn what_is_not_shown_exactly_is_refused() {
        let order = serde_json::json!({"id": "o1", "number_item": 3});
        assert_eq!(shown_lines(&order), None);
        for (line, member) in [
            (r#"{"item_id": "i1", "quantity": 1, "tax": null, "tax_rate": null}"#, "price"),
            (r#"{"item_id": "i1", "quantity": "1", "price": 1, "tax": null, "tax_rate": null}"#, "quantity"),
            (r#"{"item_id": "i1", "quantity": 1, "price": 1}"#, "tax"),
            (r#"{"item_id": "i1", "quantity": 1, "price": 1, "tax": 1}"#, "tax_rate"),
            (r#"{"item_id": "i1", "quantity": 1, "price": 1, "tax": 1, "tax_rate": null, "discount": 5}"#, "discount"),
            (r#"{"item_id": "", "quantity": 1, "price": 1, "tax": 1, "tax_rate": null}"#, "item_id"),
        ] {
            let known = lines(line);
            let why = sent(&known.iter().collect::<Vec<_>>()).expect_err(line);
            assert!(matches!(&why, NotKept::Inexact { member: found, .. } if found == member), "{line} {why:?}");
        }
    }

    #[test]
    fn a_line_that_may_be_one_of_several_is_refused() {
        let twice = lines(&format!("{A},{A}"));
        let item = "A".to_owned();
        assert_eq!(other_lines(&twice, r#"{"itemExternalId":"A"}"#), Err(NotKept::Several { item }));
        let both = other_lines(&twice, r#"{"itemExternalId":"A"},{"itemExternalId":"A"}"#).expect("both are meant");
        assert!(both.is_empty());
        let unnamed = lines(r#"{"item_id": "i1", "quantity": 1, "price": 1, "tax": 1, "tax_rate": null}"#);
        assert_eq!(other_lines(&unnamed, r#"{"itemExternalId":"A"}"#), Err(NotKept::ItemsNotShown));
        assert_eq!(other_lines(&unnamed, r#"{"quantity":1}"#), Err(NotKept::ItemsNotShown));
    }
}
