//! The fields of a changed record, compared three ways: before the run, as the run sent them, and now.

use sheetport_client::pages::object_fields;
use sheetport_findings::Code;
use sheetport_ledger::{Problem, RunId, Seen, SeenField};
use sheetport_records::{Field, Input, JsonType, listed_name};

use super::way::{Now, SentRecord, WayBack, created};
use crate::compare::{are_same_lines, is_same, object, quoted, record_of_body, sendable, shown};

/// What becomes of a field.
enum Back<'a> {
    /// The run did not change it, or it has its value again.
    Nothing,
    /// This value, as JSON.
    Return(&'a str),
    /// Somebody has changed it since. The value before, and the one that it has now.
    Kept(&'a str, &'a str),
    /// A newer run has sent the same value.
    SentAgain,
    Cannot(String),
}

pub(super) fn way_back(record: &SentRecord<'_>) -> WayBack {
    let run = record.run;
    let cannot = |message: String| WayBack::Cannot(vec![Problem::of_record(Code::CannotUndo, message)]);
    let then = match record.then {
        None => {
            return cannot(format!(
                "what the service had of it before run {run} is not known any more, or was never read"
            ));
        }
        Some(Seen::Absent) => return created(record.kind, run),
        Some(Seen::There(fields)) => fields,
    };
    let now = match record.now {
        Now::NotCompared => return cannot("the service does not show what it has of it now".to_owned()),
        Now::Gone => return cannot("is not in the service any more".to_owned()),
        Now::Shown(json) => json,
    };
    let input = record.kind.input();
    let of_body = |body: &'_ str| record_of_body(input, body).map(str::to_owned);
    let (last, earlier) = (record.last.and_then(of_body), record.earlier.and_then(of_body));
    let Some(sent) = record_of_body(input, record.body).and_then(object_fields) else {
        return cannot("its request can't be read".to_owned());
    };
    let values = Values {
        input,
        run,
        then,
        now: object_fields(now).unwrap_or_default(),
        last: last.as_deref().and_then(object_fields).unwrap_or_default(),
        earlier: earlier.as_deref().and_then(object_fields).unwrap_or_default(),
        is_sent_again: record.is_sent_again,
    };
    let (mut back, mut overwriting) = (Vec::new(), Vec::new());
    let (mut kept, mut lost) = (Vec::new(), Vec::new());
    let of_field =
        |field: &Field, code, message| Problem { field: field.name.to_owned(), ..Problem::of_record(code, message) };
    let lines = input.lines().map(|(lines, _)| lines);
    let now_lines = lines.and_then(|lines| of(&values.now, lines.name)).and_then(sendable);
    for field in input.fields().filter(|field| !input.key.contains(&field.name)).chain(lines) {
        let Some((_, json)) = sent.iter().find(|(name, _)| *name == field.name) else { continue };
        let found = match matches!(field.json, JsonType::Objects(_)) {
            true => values.lines_back(field, json, of(&values.now, field.name).zip(now_lines.as_deref())),
            false => values.back(field, json),
        };
        match found {
            Back::Nothing => {}
            Back::Return(before) => back.push((field.name, before)),
            Back::Kept(before, now) => {
                overwriting.push((field.name, before));
                let (before, sent, now) = (quoted(&shown(before)), quoted(&shown(json)), quoted(&shown(now)));
                let message =
                    format!("was {before} before run {run}, which sent {sent}, and is {now} now, so it is kept");
                kept.push(of_field(field, Code::EditedSince, message));
            }
            Back::SentAgain => {
                let message = format!(
                    "was {} in run {run} and was sent again by a newer run, so it is kept",
                    quoted(&shown(json))
                );
                kept.push(of_field(field, Code::EditedSince, message));
            }
            Back::Cannot(message) => lost.push(of_field(field, Code::CannotUndo, message)),
        }
    }
    let body = |returned: &[(&str, &str)]| body(&values, &sent, record.body, returned);
    match (back.is_empty(), kept.is_empty(), lost.is_empty()) {
        (false, ..) => {
            kept.append(&mut lost);
            WayBack::Return { body: body(&back), warnings: kept }
        }
        (true, false, _) => {
            kept.append(&mut lost);
            WayBack::Kept { body: body(&overwriting), problems: kept }
        }
        (true, true, false) => WayBack::Cannot(lost),
        (true, true, true) => WayBack::AsBefore,
    }
}

type Members<'a> = Vec<(std::borrow::Cow<'a, str>, &'a str)>;

/// What is known of the fields of a record.
struct Values<'a> {
    input: &'static Input,
    run: RunId,
    /// The values before the run that differed from the sent ones.
    then: &'a [SeenField],
    now: Members<'a>,
    last: Members<'a>,
    earlier: Members<'a>,
    /// Whether the last request is of a newer run.
    is_sent_again: bool,
}

impl Values<'_> {
    fn back<'v>(&'v self, field: &Field, sent: &'v str) -> Back<'v> {
        let is_same = |one: &str, other: &str| is_same(self.input, field.name, one, other);
        let listed = listed_name(field.name);
        let now = of(&self.now, &listed);
        let before = match self.then.iter().find(|then| then.field == field.name) {
            Some(then) => &*then.value,
            // It had the sent value.
            None if now.is_some() => return Back::Nothing,
            // The service does not show it, but its last value came from here.
            None => match of(&self.earlier, field.name) {
                Some(earlier) if is_same(earlier, sent) => return Back::Nothing,
                // The service shows another record here by another name, so somebody may have named a third one.
                Some(_) if self.input.references.iter().any(|it| it.field == field.name) => {
                    return Back::Cannot(self.not_shown());
                }
                Some(earlier) => earlier,
                None => return Back::Cannot(self.not_shown()),
            },
        };
        // What the service does not show has the value that was sent last, as far as is known here.
        let now = now.or_else(|| of(&self.last, field.name)).unwrap_or(sent);
        if is_same(now, before) {
            Back::Nothing
        } else if !is_same(now, sent) {
            Back::Kept(before, now)
        } else if self.is_sent_again && of(&self.last, field.name).is_some_and(|last| is_same(last, sent)) {
            Back::SentAgain
        } else if before == "null" && !field.nullable {
            Back::Cannot(format!("was blank before run {}, and no request can make it blank", self.run))
        } else {
            Back::Return(before)
        }
    }

    /// Returns what becomes of the lines of an order. `now`: those that it has now, as they are shown and as they are sent.
    fn lines_back<'v>(&'v self, field: &Field, sent: &str, now: Option<(&str, &'v str)>) -> Back<'v> {
        let before = self.then.iter().find(|then| then.field == field.name).map(|then| &*then.value);
        match (before, now) {
            (None, Some(_)) => Back::Nothing,
            (None, None) | (Some(_), None) => Back::Cannot(self.not_shown()),
            (Some(before), Some((_, now))) if before == now => Back::Nothing,
            (Some(before), Some((shown, now))) if !are_same_lines(sent, shown) => Back::Kept(before, now),
            (Some(before), Some(_)) => Back::Return(before),
        }
    }

    fn not_shown(&self) -> String {
        format!("is not shown by the service, so what it was before run {} is not known", self.run)
    }
}

fn of<'a>(members: &'a Members<'_>, name: &str) -> Option<&'a str> {
    members.iter().find(|(found, _)| *found == name).map(|(_, json)| *json)
}

/// Returns a request with these fields, and with what names the record or is demanded of every request.
fn body(values: &Values<'_>, sent: &Members<'_>, whole: &str, returned: &[(&str, &str)]) -> Box<str> {
    let input = values.input;
    let lines = input.lines().map(|(lines, _)| lines);
    let members = input.fields().chain(lines).filter_map(|field| {
        let is_needed = field.required || input.key.contains(&field.name);
        let back = returned.iter().find(|(name, _)| *name == field.name).map(|(_, json)| *json);
        // What somebody has changed since stays so.
        let now = || of(&values.now, &listed_name(field.name)).filter(|json| field.required && *json != "null");
        let kept = || now().or_else(|| of(sent, field.name)).filter(|_| is_needed);
        Some((field.name, back.or_else(kept)?))
    });
    let record = object(members);
    match input.member() {
        // The request has a place of its own for the record; options of the call are not repeated.
        Some(member) if record_of_body(input, whole).is_some() => object([(member, &*record)].into_iter()),
        _ => record,
    }
}

#[cfg(test)]
mod tests {
    use sheetport_records::RecordKind;

    use super::*;
    use crate::compare::there;

    const SENT: &str = r#"{"externalId":"A","name":"Nut","price":2,"tax":7}"#;

    fn record<'a>(then: &'a Seen, now: &'a str) -> SentRecord<'a> {
        SentRecord {
            kind: RecordKind::Item,
            run: 3,
            body: SENT,
            is_update: false,
            then: Some(then),
            now: Now::Shown(now),
            last: Some(SENT),
            earlier: None,
            is_sent_again: false,
        }
    }

    /// Returns the request and the words about what stays.
    fn back(record: &SentRecord<'_>) -> (String, Vec<String>) {
        let words = |problems: Vec<Problem>| {
            problems.into_iter().map(|it| format!("{} {}", it.field, it.message)).collect::<Vec<_>>()
        };
        match way_back(record) {
            WayBack::Return { body, warnings } => (body.into_string(), words(warnings)),
            WayBack::AsBefore => ("as before".to_owned(), Vec::new()),
            WayBack::Kept { problems, .. } => ("kept".to_owned(), words(problems)),
            WayBack::Cannot(problems) => ("cannot".to_owned(), words(problems)),
        }
    }

    #[test]
    fn only_what_is_as_it_was_sent_is_returned() {
        let then = there(&[("name", "\"Bolt\""), ("price", "1.50")]);
        let shown = |name: &str, price: &str| format!(r#"{{"name":"{name}","price":{price},"tax":7.0}}"#);
        let nut = shown("Nut", "2");
        let both = r#"{"externalId":"A","name":"Bolt","price":1.50}"#;
        assert_eq!(back(&record(&then, &shown("Nut", "2.00"))), (both.to_owned(), vec![]), "with other digits");
        let kept = "price was '1.50' before run 3, which sent '2', and is '3' now, so it is kept".to_owned();
        let name = r#"{"externalId":"A","name":"Bolt"}"#.to_owned();
        assert_eq!(back(&record(&then, &shown("Nut", "3"))), (name.clone(), vec![kept.clone()]));
        assert_eq!(back(&record(&then, &shown("Nut", "1.5"))), (name, vec![]), "one is as before already");
        assert_eq!(back(&record(&then, &shown("Bolt", "3"))), ("kept".to_owned(), vec![kept]));
        assert_eq!(back(&record(&then, &shown("Bolt", "1.5"))), ("as before".to_owned(), vec![]));
        let again =
            SentRecord { last: Some(r#"{"externalId":"A","price":2.0}"#), is_sent_again: true, ..record(&then, &nut) };
        let kept = "price was '2' in run 3 and was sent again by a newer run, so it is kept".to_owned();
        assert_eq!(back(&again), (r#"{"externalId":"A","name":"Bolt"}"#.to_owned(), vec![kept]));
    }

    #[test]
    fn what_is_not_shown_is_returned_only_if_it_is_known() {
        let (then, now) = (there(&[("price", "null")]), r#"{"name":"Nut","price":2}"#);
        let price = r#"{"externalId":"A","price":null}"#.to_owned();
        let lost = "tax is not shown by the service, so what it was before run 3 is not known".to_owned();
        assert_eq!(back(&record(&then, now)), (price.clone(), vec![lost]));
        let same = SentRecord { earlier: Some(r#"{"externalId":"A","tax":7.00}"#), ..record(&then, now) };
        assert_eq!(back(&same), (price, vec![]), "it had the same value");
        let other = SentRecord { earlier: Some(r#"{"externalId":"A","tax":5}"#), ..record(&then, now) };
        assert_eq!(back(&other), (r#"{"externalId":"A","price":null,"tax":5}"#.to_owned(), vec![]));
        let newer = SentRecord { last: Some(r#"{"externalId":"A","tax":9}"#), ..other };
        let kept = "tax was '5' before run 3, which sent '7', and is '9' now, so it is kept".to_owned();
        assert_eq!(back(&newer), (r#"{"externalId":"A","price":null}"#.to_owned(), vec![kept]));
    }

    #[test]
    fn orders_keep_what_names_them_and_can_not_be_made_blank() {
        let body = r#"{"order":{"externalId":"O","items":[{"quantity":1}],"orderAt":"2026-01-01","deliveryStatus":"sent"},"triggerWorkflows":true}"#;
        let then = there(&[("orderAt", "\"2025-12-31T00:00:00.000Z\""), ("deliveryStatus", "null")]);
        let now = r#"{"order_at":"2026-01-01T00:00:00.000Z","delivery_status":"sent"}"#;
        let record = SentRecord { kind: RecordKind::Order, body, last: None, ..record(&then, now) };
        let (returned, words) = back(&record);
        assert_eq!(returned, r#"{"order":{"externalId":"O","orderAt":"2025-12-31T00:00:00.000Z"}}"#);
        assert_eq!(
            words,
            [
                "deliveryStatus was blank before run 3, and no request can make it blank",
                "items is not shown by the service, so what it was before run 3 is not known"
            ]
        );
    }

    #[test]
    fn lines_return_if_they_are_as_they_were_sent() {
        let body = r#"{"order":{"externalId":"O","items":[{"itemExternalId":"A","quantity":5}]}}"#;
        let before = r#"[{"itemExternalId":"A","quantity":2,"price":1.10}]"#;
        let then = there(&[("items", before)]);
        let now = |quantity: u32| {
            format!(
                r#"{{"items":[{{"item_id":"i1","itemExternalId":"A","quantity":{quantity},"price":1.10,"tax":null,"tax_rate":null}}]}}"#
            )
        };
        let of = |now: &str| back(&SentRecord { kind: RecordKind::Order, body, last: None, ..record(&then, now) });
        assert_eq!(of(&now(5)), (format!(r#"{{"order":{{"externalId":"O","items":{before}}}}}"#), vec![]));
        assert_eq!(of(&now(2)).0, "as before");
        let (kept, words) = of(&now(7));
        assert_eq!(kept, "kept");
        assert_eq!(
            words,
            [
                "items was '2 × A (price 1.10)' before run 3, which sent '5 × A', and is '7 × A (price 1.10)' now, so it is kept"
            ]
        );
    }

    #[test]
    fn records_without_a_way_back_say_why() {
        let words = |record: SentRecord<'_>| back(&record).1.join(", ");
        let then = there(&[]);
        let absent = SentRecord { then: Some(&Seen::Absent), ..record(&then, "{}") };
        assert_eq!(words(absent), " was created by run 3, and the service can't delete items");
        let unread = SentRecord { then: None, ..record(&then, "{}") };
        assert_eq!(words(unread), " what the service had of it before run 3 is not known any more, or was never read");
        assert_eq!(words(SentRecord { now: Now::Gone, ..record(&then, "{}") }), " is not in the service any more");
    }
}
