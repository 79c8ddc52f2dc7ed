//! The counter-movement of a movement of stock.

use std::borrow::Cow;

use jiff::Timestamp;
use sheetport_client::pages::{object_fields, unescaped};
use sheetport_findings::Code;
use sheetport_ledger::Problem;
use sheetport_records::listed_name;
use sheetport_records::transaction::TRANSACTION_AMOUNT;

use super::way::{Now, SentRecord, WayBack};
use crate::compare::{is_same, object, quoted, shown as text_of};
use crate::count::{NOT_SENT, is_count};
use crate::sent_before::date;

const TYPE: &str = "transactionType";
const DATE: &str = "transactionDate";

/// Returns the counter-movement, unless the movement has been changed since, or is gone: then its counter-movement is another one.
pub(super) fn way_back(record: &SentRecord<'_>, now: i64) -> WayBack {
    let back = counter_movement(record.body, now);
    let WayBack::Return { body, .. } = &back else { return back };
    let shown = match record.now {
        Now::NotCompared => return back,
        Now::Gone => {
            let message = "is not in the service any more".to_owned();
            return WayBack::Cannot(vec![Problem::of_record(Code::CannotUndo, message)]);
        }
        Now::Shown(json) => object_fields(json).unwrap_or_default(),
    };
    let sent = object_fields(record.body).unwrap_or_default();
    let input = record.kind.input();
    let of = |members: &[(Cow<'_, str>, &'_ str)], name: &str| {
        members.iter().find(|(known, _)| known == name).map(|(_, json)| (*json).to_owned())
    };
    let changed = [TYPE].iter().chain(input.quantities).filter_map(|name| {
        let (then, now) = of(&sent, name).zip(of(&shown, &listed_name(name)))?;
        (!is_same(input, name, &now, &then)).then(|| {
            let (then, now) = (quoted(&text_of(&then)), quoted(&text_of(&now)));
            let message = format!("was {then} in run {}, and is {now} now, so it is not taken back", record.run);
            let remedy = "correct it in the service".to_owned();
            Problem { field: (*name).to_owned(), remedy, ..Problem::of_record(Code::EditedSince, message) }
        })
    });
    let problems: Vec<Problem> = changed.collect();
    if problems.is_empty() { back } else { WayBack::Kept { body: body.clone(), problems } }
}

/// Returns a whole number with the other sign, as JSON.
fn negated(json: &str) -> String {
    match json.strip_prefix('-') {
        Some(positive) => positive.to_owned(),
        None => format!("-{json}"),
    }
}

/// Returns the movement in the other direction, with the date of the undo: the stock of the days before it stays as it was counted and
/// reported. A movement without a date has that of its request.
fn counter_movement(body: &str, now: i64) -> WayBack {
    let Some(members) = object_fields(body).filter(|members| !members.is_empty()) else {
        let message = "its request is not known any more";
        return WayBack::Cannot(vec![Problem::of_record(Code::CannotUndo, message)]);
    };
    let kind = members.iter().find(|(name, _)| *name == TYPE).map(|(_, json)| unescaped(json).into_owned());
    let kind = kind.unwrap_or_default();
    let of_kind =
        members.iter().find(|(name, _)| *name == TYPE).map_or_else(String::new, |(_, json)| (*json).to_owned());
    let is_count = is_count(body);
    let opposite = match kind.as_str() {
        // Whatever the type is called, it has moved the stock by a difference with a sign.
        _ if is_count => of_kind.as_str(),
        "in" => "\"out\"",
        "out" => "\"in\"",
        _ => {
            let message = format!("is of the type '{kind}', and only 'in' and 'out' have a counter-movement");
            let remedy = "correct the stock by a movement of your own".to_owned();
            let problem = Problem { field: TYPE.to_owned(), remedy, ..Problem::of_record(Code::CannotUndo, message) };
            return WayBack::Cannot(vec![problem]);
        }
    };
    let today = |sent: &str| match unescaped(sent).len() {
        _ if sent == "null" => sent.to_owned(),
        // A date without a time.
        10 => format!("\"{}\"", date(now)),
        _ => format!("\"{}\"", Timestamp::from_second(now.div_euclid(1_000)).unwrap_or_default()),
    };
    let members: Vec<(&str, String)> = members
        .iter()
        .filter(|(name, _)| !is_count || !NOT_SENT.contains(&&**name))
        .map(|(name, json)| match &**name {
            TYPE => (TYPE, opposite.to_owned()),
            TRANSACTION_AMOUNT if is_count => (TRANSACTION_AMOUNT, negated(json)),
            DATE => (DATE, today(json)),
            name => (name, (*json).to_owned()),
        })
        .collect();
    let body = object(members.iter().map(|(name, json)| (*name, json.as_str())));
    WayBack::Return { body, warnings: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_direction_and_the_date_differ() {
        let now = 1_764_547_200_000;
        let counter = |body: &str| match counter_movement(body, now) {
            WayBack::Return { body, .. } => body.into_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            counter(r#"{"transactionType":"in","inventoryExternalId":"M \"1\"","amount":4,"price":1.50}"#),
            r#"{"transactionType":"out","inventoryExternalId":"M \"1\"","amount":4,"price":1.50}"#
        );
        assert_eq!(
            counter(r#"{"transactionType":"out","transactionDate":"2026-01-02T08:00:00.000Z"}"#),
            r#"{"transactionType":"in","transactionDate":"2025-12-01T00:00:00Z"}"#
        );
        let body = counter(r#"{"transactionType":"out","transactionDate":"2026-01-02"}"#);
        assert_eq!(body, format!(r#"{{"transactionType":"in","transactionDate":"{}"}}"#, date(now)));
        let count =
            r#"{"transactionType":"adjust","inventoryId":"i","counted":118,"expected":120,"transactionAmount":-2}"#;
        assert_eq!(counter(count), r#"{"transactionType":"adjust","inventoryId":"i","transactionAmount":2}"#);
        let WayBack::Cannot(problems) = counter_movement(r#"{"transactionType":"adjust","amount":4}"#, now) else {
            panic!("an adjustment has no opposite")
        };
        assert_eq!(problems[0].message, "is of the type 'adjust', and only 'in' and 'out' have a counter-movement");
    }
}
