//! Records that somebody has changed in the service since they were planned: found by comparing fields, not times.
//!
//! Only what would be overwritten counts: a field of the request that the service shows, with another value than at the plan, which is not
//! the planned one either.

use sheetport_findings::Code;
use sheetport_ledger::{Problem, Seen, SeenField};
use sheetport_records::{Input, RecordKind};

use super::change::{Change, ChangedField};
use super::server_diff::compared_text;
use super::service_lines::{are_same_lines, shown};

/// What a record had in the service when it was planned, has now, and would have after the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// The record was there, and is not any more.
    Gone,
    Field {
        field: &'static str,
        /// `None` if the record was not there.
        then: Option<String>,
        now: String,
        wanted: String,
    },
}

impl Change {
    /// Returns what is to be remembered of the service's record.
    pub fn seen(&self) -> Seen {
        match self {
            Change::New | Change::Missing => Seen::Absent,
            Change::Unchanged | Change::NotShown => Seen::There(Vec::new()),
            Change::Changed(fields) => Seen::There(fields.iter().map(ChangedField::seen).collect()),
        }
    }
}

impl ChangedField {
    fn seen(&self) -> SeenField {
        SeenField { field: self.field.to_owned(), value: self.old_json().into(), is_as_sent: self.is_as_sent }
    }
}

/// Returns what somebody has changed of a record since it was planned. Empty if nothing would be lost.
pub fn moved_on(kind: RecordKind, then: &Seen, now: &Change) -> Vec<Moved> {
    let input = kind.input();
    match (then, now) {
        (Seen::There(_), Change::New | Change::Missing) => vec![Moved::Gone],
        (_, Change::Changed(fields)) => fields.iter().filter_map(|field| moved_field(input, then, field)).collect(),
        (Seen::Absent, Change::New | Change::Missing) | (_, Change::Unchanged | Change::NotShown) => Vec::new(),
    }
}

fn moved_field(input: &Input, then: &Seen, now: &ChangedField) -> Option<Moved> {
    // What this machine has sent since is no change by somebody else.
    if now.is_as_sent {
        return None;
    }
    let then = match then {
        Seen::Absent => None,
        Seen::There(fields) => match fields.iter().find(|then| then.field == now.field) {
            Some(SeenField { is_as_sent: true, .. }) => return None,
            Some(then) if is_same(input, now.field, &then.value, now.old_json()) => return None,
            Some(then) => Some(shown(&then.value)),
            // It had the planned value.
            None => Some(now.planned().to_owned()),
        },
    };
    Some(Moved::Field { field: now.field, then, now: now.old(), wanted: now.planned().to_owned() })
}

/// Whether two values of a field, as JSON, are the same for the service: also lines in another order, or with other digits of the same numbers.
pub(crate) fn is_same(input: &Input, name: &str, one: &str, other: &str) -> bool {
    if input.lines().is_some_and(|(list, _)| list.name == name) {
        return one == other || are_same_lines(one, other) && are_same_lines(other, one);
    }
    let text =
        |json: &str| input.fields().find(|field| field.name == name).and_then(|field| compared_text(field, json));
    one == other || text(one).is_some_and(|one| Some(one) == text(other))
}

impl Moved {
    /// Returns the change as the reason why a record is left out.
    pub fn problem(&self) -> Problem {
        match self {
            Moved::Gone => Problem::of_record(
                Code::MovedOn,
                "was in the service when it was planned, and is not there any more, so it is not sent",
            ),
            Moved::Field { field, then, now, wanted } => {
                let (now, wanted) = (quoted(now), quoted(wanted));
                let message = match then {
                    Some(then) => {
                        let then = quoted(then);
                        format!(
                            "was {then} in the service when it was planned and is {now} now, so {wanted} is not sent"
                        )
                    }
                    None => {
                        format!("was not in the service when it was planned and is {now} now, so {wanted} is not sent")
                    }
                };
                Problem { field: (*field).to_owned(), ..Problem::of_record(Code::MovedOn, message) }
            }
        }
    }
}

/// Returns a value for a sentence.
pub(crate) fn quoted(text: &str) -> String {
    if text.is_empty() { "blank".to_owned() } else { format!("'{text}'") }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn changed(field: &'static str, old: &str, new: &str) -> ChangedField {
        let mut changed = ChangedField::new(field, old, new);
        changed.is_number = true;
        changed
    }

    /// What the service had of a record: fields with their values as JSON.
    pub(crate) fn there(fields: &[(&str, &str)]) -> Seen {
        let field = |(field, value): &(&str, &str)| SeenField {
            field: (*field).to_owned(),
            value: (*value).into(),
            is_as_sent: false,
        };
        Seen::There(fields.iter().map(field).collect())
    }

    #[test]
    fn only_what_would_be_lost_has_moved_on() {
        let moved = |then: &Seen, now: &Change| {
            let moved = moved_on(RecordKind::Item, then, now).into_iter().map(|moved| match moved {
                Moved::Gone => "gone".to_owned(),
                Moved::Field { field, then, now, wanted } => {
                    format!("{field}: {} {now} {wanted}", then.unwrap_or_else(|| "-".to_owned()))
                }
            });
            moved.collect::<Vec<_>>().join(", ")
        };
        let price = |old: &str| Change::Changed(Box::new([changed("price", old, "2")]));
        let planned = there(&[("price", "1.50")]);
        assert_eq!(moved(&planned, &price("1.5")), "", "the same value with other digits");
        assert_eq!(moved(&planned, &price("1.75")), "price: 1.50 1.75 2");
        assert_eq!(moved(&planned, &Change::Unchanged), "", "somebody has set the planned value");
        assert_eq!(moved(&planned, &Change::NotShown), "");
        assert_eq!(moved(&planned, &Change::New), "gone");
        assert_eq!(moved(&there(&[]), &price("3")), "price: 2 3 2", "it had the planned value");
        assert_eq!(moved(&Seen::Absent, &Change::New), "");
        assert_eq!(moved(&Seen::Absent, &Change::Unchanged), "", "created with the planned values");
        assert_eq!(moved(&Seen::Absent, &price("3")), "price: - 3 2");
        let name = Change::Changed(Box::new([changed("price", "1.50", "2"), changed("name", "\"Nut\"", "Bolt")]));
        assert_eq!(moved(&planned, &name), "name: Bolt Nut Bolt", "the other field is as it was");
        let mut tax = changed("tax", "1", "2");
        tax.is_as_sent = true;
        let sent = Change::Changed(Box::new([tax]));
        assert_eq!(moved(&there(&[("tax", "0")]), &sent), "", "only this machine has sent it");
    }

    #[test]
    fn lines_with_the_same_values_have_not_moved_on() {
        let then = r#"[{"itemExternalId":"A","quantity":1,"price":1.50},{"itemExternalId":"B","quantity":2}]"#;
        for (now, is_same_order) in [
            (then.replace("1.50", "1.5"), true),
            (
                r#"[{"itemExternalId":"B","quantity":2.0},{"itemExternalId":"A","quantity":1,"price":1.5}]"#.to_owned(),
                true,
            ),
            (then.replace("1.50", "1.51"), false),
            (then.replace(r#","price":1.50"#, ""), false),
            (then.replace(r#""quantity":2"#, r#""quantity":2,"price":3"#), false),
            (r#"[{"itemExternalId":"A","quantity":1,"price":1.50}]"#.to_owned(), false),
        ] {
            let now_changed = Change::Changed(Box::new([changed("items", &now, "[]")]));
            let moved = moved_on(RecordKind::Order, &there(&[("items", then)]), &now_changed);
            assert_eq!(moved.is_empty(), is_same_order, "{now}");
        }
    }

    #[test]
    fn a_reason_has_all_three_values() {
        let field = |then: Option<&str>, now: &str| {
            let then = then.map(str::to_owned);
            Moved::Field { field: "price", then, now: now.to_owned(), wanted: "2".to_owned() }.problem().message
        };
        assert_eq!(
            field(Some("1.50"), ""),
            "was '1.50' in the service when it was planned and is blank now, so '2' is not sent"
        );
        assert_eq!(field(None, "1"), "was not in the service when it was planned and is '1' now, so '2' is not sent");
    }
}
