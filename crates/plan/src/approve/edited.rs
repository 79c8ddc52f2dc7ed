//! Edits of a file of changes: a planned value that was set back to the old one, and requests without the fields that were left out.

use std::borrow::Cow;

use sheetport_client::pages::object_fields;
use sheetport_records::RecordKind;
use sheetport_sheet::Cell;
use sheetport_sheet::write::cut_text;
use sheetport_values::decimal;

use crate::compare::object;
use crate::respelled::is_respelled_text;
use sheetport_files::text_file::normalize_line_ends;

/// What a person has done to a planned value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    None,
    /// It has the value of the service again.
    SetBack,
    NewValue,
}

/// Compares the cell of a planned value with the plan. A program may have read the value as another type.
pub(super) fn edit(cell: &str, planned: &str, old: &str) -> Edit {
    let is_exact = |value: &str| is_exact(cell, value);
    let is_read_as = |value: &str| is_respelled_text(value, &Cell::Text(cell));
    if is_exact(planned) {
        Edit::None
    } else if is_exact(old) {
        Edit::SetBack
    } else if is_read_as(planned) {
        Edit::None
    } else if is_read_as(old) {
        Edit::SetBack
    } else {
        Edit::NewValue
    }
}

fn is_exact(cell: &str, value: &str) -> bool {
    let (shown, value) = (cell.trim(), value.trim());
    let is_number = |text: &str| decimal::canonical(text);
    // Texts that begin like a formula get an apostrophe, and a workbook has no room for long ones.
    normalize_line_ends(shown) == normalize_line_ends(value)
        || shown.strip_prefix('\'') == Some(value)
        || is_number(shown).is_some_and(|number| Some(number) == is_number(value))
        || cut_text(value).is_some_and(|cut| cut.trim() == shown)
}

/// Whether a request without this field is possible.
pub fn can_leave_out(kind: RecordKind, field: &str) -> bool {
    let input = kind.input();
    let is_required = input.fields().any(|known| known.name == field && known.required);
    !is_required && !input.key.contains(&field)
}

/// Returns the body of a request without these fields. `None` if the service demands one of them, or the body has none of them.
pub(super) fn without_fields(kind: RecordKind, body: &str, fields: &[&str]) -> Option<Box<str>> {
    let input = kind.input();
    if fields.iter().any(|field| !can_leave_out(kind, field)) {
        return None;
    }
    let members = object_fields(body)?;
    match input.member() {
        None => without(&members, fields),
        Some(member) => {
            let rewritten = members.iter().map(|(name, json)| match *name == member {
                true => Some((&**name, without(&object_fields(json)?, fields)?)),
                false => Some((&**name, (*json).into())),
            });
            let rewritten: Vec<(&str, Box<str>)> = rewritten.collect::<Option<_>>()?;
            Some(object(rewritten.iter().map(|(name, json)| (*name, &**json))))
        }
    }
}

fn without(members: &[(Cow<'_, str>, &str)], fields: &[&str]) -> Option<Box<str>> {
    let kept: Vec<_> = members.iter().filter(|(name, _)| !fields.contains(&&**name)).collect();
    let is_each_there = kept.len() + fields.len() == members.len();
    is_each_there.then(|| object(kept.into_iter().map(|(name, json)| (&**name, *json))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_program_has_read_otherwise_are_not_edited() {
        let check = |shown: &str, planned: &str, old: &str, expected: Edit| {
            assert_eq!(edit(shown, planned, old), expected, "{shown} for {planned}, before {old}");
        };
        for (shown, planned) in [
            ("0.12", "0.12"),
            ("0.1200", "0.12"),
            ("0,12", "0.12"),
            ("42", "000042"),
            ("4.00638E+12", "4006381333948"),
            ("TRUE", "true"),
            ("2026-05-03", "2026-05-03"),
            ("03.05.2026", "2026-05-03"),
            ("a\nb", "a\r\nb"),
            ("'=1+1", "=1+1"),
            (" Bolt ", "Bolt"),
            ("", ""),
        ] {
            check(shown, planned, "something else", Edit::None);
        }
        check("12.99", "1299", "12.99", Edit::SetBack);
        check("12,99", "1299", "12.99", Edit::SetBack);
        check("", "5", "", Edit::SetBack);
        check("13.50", "1299", "12.99", Edit::NewValue);
        check("", "5", "4", Edit::NewValue);
        check("1.299", "1299", "1.299", Edit::SetBack);
    }

    #[test]
    fn fields_are_left_out_of_a_request() {
        let item = |body: &str, fields: &[&str]| without_fields(RecordKind::Item, body, fields);
        let body = r#"{"externalId":"A","name":"a \"b\"","price":1.50,"tax":null}"#;
        assert_eq!(item(body, &["price"]).as_deref(), Some(r#"{"externalId":"A","name":"a \"b\"","tax":null}"#));
        assert_eq!(item(body, &["name", "tax"]).as_deref(), Some(r#"{"externalId":"A","price":1.50}"#));
        assert_eq!(item(body, &["externalId"]), None, "the service demands it");
        assert_eq!(item(body, &["description"]), None, "it is not there");
        let order = r#"{"order":{"deliveryStatus":"sent","note":"x"},"triggerWorkflows":true}"#;
        assert_eq!(
            without_fields(RecordKind::Order, order, &["note"]).as_deref(),
            Some(r#"{"order":{"deliveryStatus":"sent"},"triggerWorkflows":true}"#)
        );
    }
}
