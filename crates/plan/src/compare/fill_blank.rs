//! Requests that write only what is blank in the service.

use sheetport_client::pages::unescaped;
use sheetport_records::{Input, RecordKind};

use super::request_body::without_fields;

/// A field of a request, compared with the record of the service.
pub(super) enum Found {
    Same,
    Other { old: Box<str>, new: String, is_number: bool, is_as_sent: bool },
    NotShown,
}

/// The fields of a request that are not written, because only blank ones are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withheld {
    /// They have a value in the service.
    pub filled: Vec<&'static str>,
    /// The service does not show whether they have one.
    pub not_shown: Vec<&'static str>,
}

impl Withheld {
    /// Takes the fields out of a comparison that are not blank in the service. Those that name the record stay.
    pub(super) fn split_off(input: &Input, changes: &mut Vec<(usize, &'static str, Found)>) -> Withheld {
        let mut withheld = Withheld::default();
        changes.retain(|(_, field, found)| {
            match found {
                _ if input.key.contains(field) => return true,
                Found::Other { old, is_as_sent: false, .. } if is_blank(old) => return true,
                // What was sent last may have been changed since.
                Found::NotShown | Found::Other { is_as_sent: true, .. } => withheld.not_shown.push(field),
                Found::Same | Found::Other { .. } => withheld.filled.push(field),
            }
            false
        });
        withheld
    }

    /// Returns the body of a request without these fields. `None` if the service demands one of them.
    pub fn rest_of(&self, kind: RecordKind, body: &str) -> Option<Box<str>> {
        let fields: Vec<&str> = self.filled.iter().chain(&self.not_shown).copied().collect();
        if fields.is_empty() { Some(body.into()) } else { without_fields(kind, body, &fields) }
    }
}

/// Whether a value of the service, as JSON, is none: null, an empty list or object, or a text of white space alone, however it is escaped.
fn is_blank(json: &str) -> bool {
    let json = json.trim();
    matches!(json, "null" | "[]" | "{}") || json.starts_with('"') && unescaped(json).trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_values_are_recognized() {
        for (json, expected) in [
            ("null", true),
            ("\"\"", true),
            ("\"  \"", true),
            ("[]", true),
            ("0", false),
            ("false", false),
            ("\"a\"", false),
            (r#""\n""#, true),
            (r#""\r\n \t""#, true),
            (r#""\u0020""#, true),
            // A no-break space is white space, written either way.
            (r#""\u00a0""#, true),
            ("\"\u{a0}\"", true),
            (r#""\\n""#, false),
            (r#""\"""#, false),
            (r#""\n.""#, false),
            // A space of no width is no white space.
            (r#""\u200b""#, false),
            // What is no text is not taken for a blank one.
            (r#""\ud800""#, false),
        ] {
            assert_eq!(is_blank(json), expected, "{json}");
        }
    }

    #[test]
    fn only_blank_fields_stay_in_a_request() {
        let other =
            |old: &str, is_as_sent| Found::Other { old: old.into(), new: "n".to_owned(), is_number: false, is_as_sent };
        let mut changes = vec![
            (0, "externalId", Found::Same),
            (1, "name", other("\"Bolt\"", false)),
            (2, "status", other("null", false)),
            (3, "price", Found::Same),
            (4, "description", Found::NotShown),
            (5, "tax", other("null", true)),
        ];
        let withheld = Withheld::split_off(RecordKind::Item.input(), &mut changes);
        assert_eq!(withheld, Withheld { filled: vec!["name", "price"], not_shown: vec!["description", "tax"] });
        let body = r#"{"externalId":"A","name":"Nut","status":"active","price":1,"description":"d","tax":19}"#;
        assert_eq!(
            withheld.rest_of(RecordKind::Item, body).as_deref(),
            Some(r#"{"externalId":"A","status":"active"}"#)
        );
    }
}
