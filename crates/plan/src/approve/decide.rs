//! What the marks of a file say about the records of its plan.

use sheetport_client::pages::object_fields;
use sheetport_findings::Code;
use sheetport_ledger::{Problem, Seen, SeenField};
use sheetport_records::RecordKind;

use super::edited::{Edit, edit};
use super::file::Mark;
use crate::compare::{record_of_body, shown, without_fields};

/// What counts for changes without a yes or a no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approve {
    All,
    None,
}

/// A decision about a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    Approved,
    /// Approved without some fields: the body without them, and their number.
    Partly(Box<str>, u64),
    No(Reason),
}

/// Why a record is not approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    No,
    /// Its rows are not in the file any more.
    Removed,
    Blank,
    /// All of its values were set back.
    SetBack,
}

/// Why a file of changes can't be applied.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Objection {
    #[error("the file has rows with yes, rows with no and blank ones, so what counts for the blank ones is not clear")]
    Mixed,
    #[error("row {row}: {field} was changed from '{planned}' to '{found}'")]
    NewValue { row: u64, field: String, planned: String, found: String },
    #[error("row {row} says no to what another row says yes to")]
    Conflict { row: u64 },
    #[error("row {row}: {field} can't be left out alone, because the service demands it")]
    Needed { row: u64, field: String },
}

impl Objection {
    /// Returns what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Objection::Mixed => "add --approve all or --approve none",
            Objection::NewValue { .. } => {
                "a new value is a new plan: correct it in the spreadsheet and plan that again; here a value can only be set back to the one in 'now'"
            }
            Objection::Conflict { .. } => "take one of the two rows away",
            Objection::Needed { .. } => "leave the whole record out: no in each of its rows",
        }
    }
}

impl Reason {
    /// Returns the reason for reports.
    pub fn problem(self) -> Problem {
        let message = match self {
            Reason::No => "was not approved",
            Reason::Removed => "was taken out of the file of changes, so it was not approved",
            Reason::Blank => "was not approved: its cell was left blank",
            Reason::SetBack => "was set back in the file of changes, so nothing is left to send",
        };
        Problem::of_record(Code::NotApproved, message)
    }
}

/// Returns whether changes with a blank cell are approved: as asked for, or else as the marks show what a person has looked for. Who marks
/// only what is wrong approves the rest, and who marks only what is right does not.
pub fn decide_unmarked<'m>(
    asked: Option<Approve>,
    marks: impl IntoIterator<Item = &'m Mark>,
) -> Result<bool, Objection> {
    if let Some(asked) = asked {
        return Ok(asked == Approve::All);
    }
    let (mut yes, mut no, mut blank) = (false, false, false);
    for mark in marks {
        match mark.approves {
            Some(true) => yes = true,
            Some(false) => no = true,
            None => blank = true,
        }
    }
    if yes && no && blank { Err(Objection::Mixed) } else { Ok(!yes || no) }
}

/// Decides about a record with the body of its request. `marks` are those of the record.
pub fn decide_record(
    kind: RecordKind,
    body: &str,
    seen: Option<&Seen>,
    marks: &[Mark],
    approves_unmarked: bool,
) -> Result<Decided, Objection> {
    if marks.is_empty() {
        return Ok(Decided::No(Reason::Removed));
    }
    let changed: &[SeenField] = match seen {
        Some(Seen::There(fields)) => fields,
        _ => &[],
    };
    if changed.is_empty() {
        let (approves, _) = joined(marks.iter(), approves_unmarked)?;
        return Ok(if approves { Decided::Approved } else { Decided::No(reason(marks)) });
    }
    let (mut left_out, mut is_set_back) = (Vec::new(), false);
    for SeenField { field, value, .. } in changed {
        let of_field = || marks.iter().filter(|mark| *mark.field == **field);
        let (approves, row) = joined(of_field(), approves_unmarked)?;
        let set_back = is_field_set_back(kind, body, field, value, of_field())?;
        is_set_back |= set_back && approves;
        if !approves || set_back {
            left_out.push((field.as_str(), row));
        }
    }
    if left_out.is_empty() {
        return Ok(Decided::Approved);
    }
    if left_out.len() == changed.len() {
        return Ok(Decided::No(if is_set_back { Reason::SetBack } else { reason(marks) }));
    }
    let fields: Vec<&str> = left_out.iter().map(|(field, _)| *field).collect();
    let needed = || {
        let (field, row) = left_out.first().map_or(("", None), |(field, row)| (*field, *row));
        let row = row.or_else(|| marks.first().map(|mark| mark.row)).unwrap_or_default();
        Objection::Needed { row, field: field.to_owned() }
    };
    let body = without_fields(kind, body, &fields).ok_or_else(needed)?;
    Ok(Decided::Partly(body, fields.len() as u64))
}

/// Returns what the rows of one change say together, and the first of them. A change without a row is not approved.
fn joined<'m>(
    marks: impl Iterator<Item = &'m Mark>,
    approves_unmarked: bool,
) -> Result<(bool, Option<u64>), Objection> {
    let (mut decided, mut first) = (None, None);
    for mark in marks {
        first = first.or(Some(mark.row));
        let approves = mark.approves.unwrap_or(approves_unmarked);
        if decided.is_some_and(|decided| decided != approves) {
            return Err(Objection::Conflict { row: mark.row });
        }
        decided = Some(approves);
    }
    Ok((decided.unwrap_or(false), first))
}

/// Whether a person has set the planned value of a field back to that of the service.
fn is_field_set_back<'m>(
    kind: RecordKind,
    body: &str,
    field: &str,
    old: &str,
    marks: impl Iterator<Item = &'m Mark>,
) -> Result<bool, Objection> {
    let members = record_of_body(kind.input(), body).and_then(object_fields).unwrap_or_default();
    let planned = members.iter().find(|(name, _)| *name == field).map(|(_, json)| shown(json)).unwrap_or_default();
    let mut is_set_back = false;
    for mark in marks {
        let Some(found) = &mark.planned else { continue };
        match edit(found, &planned, &shown(old)) {
            Edit::None => {}
            Edit::SetBack => is_set_back = true,
            Edit::NewValue => {
                let (row, found) = (mark.row, found.to_string());
                return Err(Objection::NewValue { row, field: field.to_owned(), planned, found });
            }
        }
    }
    Ok(is_set_back)
}

fn reason(marks: &[Mark]) -> Reason {
    match marks.iter().any(|mark| mark.approves == Some(false)) {
        true => Reason::No,
        false => Reason::Blank,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(field: &str, approves: Option<bool>, planned: &str) -> Mark {
        Mark { seq: 0, field: field.into(), row: 2, approves, planned: Some(planned.into()) }
    }

    fn seen(fields: &[(&str, &str)]) -> Seen {
        let seen = |(field, value): &(&str, &str)| SeenField {
            field: (*field).to_owned(),
            value: (*value).into(),
            is_as_sent: false,
        };
        Seen::There(fields.iter().map(seen).collect())
    }

    #[test]
    fn blank_cells_count_as_the_others_show() {
        let marks = |approves: &[Option<bool>]| approves.iter().map(|it| mark("", *it, "")).collect::<Vec<_>>();
        for (approves, expected) in [
            (&[None, None][..], Ok(true)),
            (&[], Ok(true)),
            (&[Some(false), None], Ok(true)),
            (&[Some(true), None], Ok(false)),
            (&[Some(true), Some(false), None], Err(Objection::Mixed)),
            (&[Some(true), Some(false)], Ok(true)),
        ] {
            assert_eq!(decide_unmarked(None, &marks(approves)), expected, "{approves:?}");
        }
        assert_eq!(decide_unmarked(Some(Approve::None), &marks(&[None])), Ok(false));
        assert_eq!(decide_unmarked(Some(Approve::All), &marks(&[Some(true), Some(false), None])), Ok(true));
    }

    #[test]
    fn a_file_can_only_take_away() {
        let body = r#"{"externalId":"A","name":"Nut","price":2}"#;
        let then = seen(&[("name", "\"Bolt\""), ("price", "1.50")]);
        let decide = |marks: &[Mark]| decide_record(RecordKind::Item, body, Some(&then), marks, true);
        let (name, price) = (mark("name", None, "Nut"), mark("price", None, "2"));
        assert_eq!(decide(&[name.clone(), price.clone()]), Ok(Decided::Approved));
        let without_price = || Ok(Decided::Partly(r#"{"externalId":"A","name":"Nut"}"#.into(), 1));
        assert_eq!(decide(&[name.clone(), mark("price", Some(false), "2")]), without_price());
        assert_eq!(decide(std::slice::from_ref(&name)), without_price(), "its row was removed");
        assert_eq!(decide(&[name.clone(), mark("price", None, "1.5")]), without_price(), "set back");
        assert_eq!(decide(&[]), Ok(Decided::No(Reason::Removed)));
        let no = |field: &str, planned: &str| mark(field, Some(false), planned);
        assert_eq!(decide(&[no("name", "Nut"), no("price", "2")]), Ok(Decided::No(Reason::No)));
        assert_eq!(
            decide(&[mark("name", None, "Bolt"), mark("price", Some(true), "1.50")]),
            Ok(Decided::No(Reason::SetBack))
        );
        let new =
            Objection::NewValue { row: 2, field: "price".to_owned(), planned: "2".to_owned(), found: "3".to_owned() };
        assert_eq!(decide(&[name.clone(), mark("price", None, "3")]), Err(new));
        let twice = [name, price, mark("price", Some(false), "2")];
        assert_eq!(decide(&twice), Err(Objection::Conflict { row: 2 }));
        let whole =
            |mark: Mark, unmarked| decide_record(RecordKind::Item, body, Some(&Seen::Absent), &[mark], unmarked);
        assert_eq!(whole(mark("", None, ""), false), Ok(Decided::No(Reason::Blank)));
        assert_eq!(whole(mark("", Some(true), ""), false), Ok(Decided::Approved));
    }
}
