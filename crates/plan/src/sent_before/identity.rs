//! The identity of a record of a non-idempotent call: its name, and its body, independent of the spelling in the file.

use icu_normalizer::ComposingNormalizerBorrowed;
use serde_json::Value;
use sheetport_client::service_name;
use sheetport_files::digest;
use sheetport_ledger::{
    Claim, ClaimDigest, ClaimName, Disposition, NamePart, PlannedRecord, RecordBlock, Run, RunId, Seq,
};
use sheetport_values::decimal;

use crate::count;

/// Separator between the columns of a name.
pub const NAME_SEPARATOR: &str = " / ";

/// The service, workspace and kind of record that identities belong to.
#[derive(Clone, Debug)]
pub struct Scope {
    /// A hash of service, workspace and kind.
    whole: [u8; 32],
    /// Hash of all columns of the name. `columns` has a hash of each.
    all_columns: i64,
    columns: Vec<i64>,
    /// The run that is taken back.
    undoes: Option<RunId>,
}

impl Scope {
    pub fn of(run: &Run) -> Scope {
        let about = &run.about;
        let service = service_name(&about.base_url);
        let parts = [service.as_str(), &about.workspace, about.record.name()];
        let columns = &about.name_columns;
        Scope {
            whole: digest::of_parts(parts.map(str::as_bytes)),
            all_columns: short(&digest::of_parts(columns.iter().map(String::as_bytes))),
            columns: columns.iter().map(|column| short(&digest::of_parts([column.as_bytes()]))).collect(),
            undoes: about.undo_of,
        }
    }

    /// Whether a run sent the same kind of record to the same service and workspace.
    pub(super) fn includes(&self, run: &Run) -> bool {
        Scope::of(run).whole == self.whole
    }

    /// Returns the claim of a record with this name, if any, and this request body.
    ///
    /// A counted stock has no name: the same inventory is counted again and again. The same count is recognized by what was counted, where and
    /// when.
    ///
    /// What takes a record back is identified by that record, which has the same position: it is sent once, whatever its values, and never
    /// counts as a record of a file with equal values.
    pub fn claim(&self, seq: Seq, name: Option<&str>, body: &str) -> Claim {
        if let Some(undone) = self.undoes {
            return self.taking_back(undone, seq);
        }
        if let Some(count) = count::identity(body) {
            return Claim { seq, name: None, body: self.digest("count", &canonical_body(&count)) };
        }
        Claim { seq, name: name.map(|name| self.name(name)), body: self.digest("body", &canonical_body(body)) }
    }

    /// Returns the claim of what takes the record of a run back.
    pub(super) fn taking_back(&self, run: RunId, seq: Seq) -> Claim {
        Claim { seq, name: None, body: self.digest("undo", &format!("{run} {seq}")) }
    }

    /// Returns a digest of a body without the field `name`.
    pub(super) fn rest(&self, name: &str, body: &Value) -> ClaimDigest {
        self.digest(name, &canonical(body))
    }

    fn name(&self, name: &str) -> ClaimName {
        let name = canonical_name(name);
        let values: Vec<&str> = name.split(NAME_SEPARATOR).collect();
        // A value with the separator can't be told from two values.
        let is_divisible = values.len() == self.columns.len();
        let part = |(column, value): (&i64, &str)| NamePart {
            column: *column,
            value: short(&digest::of_parts([&self.whole[..], value.as_bytes()])),
        };
        let parts = self.columns.iter().zip(values).filter(|_| is_divisible).map(part).collect();
        ClaimName { digest: self.digest("name", &name), columns: self.all_columns, parts }
    }

    fn digest(&self, what: &str, text: &str) -> ClaimDigest {
        let digest = digest::of_parts([&self.whole[..], what.as_bytes(), text.as_bytes()]);
        *digest.first_chunk().expect("a SHA-256 has 32 bytes")
    }
}

fn short(digest: &[u8; 32]) -> i64 {
    i64::from_le_bytes(*digest.first_chunk().expect("a SHA-256 has 32 bytes"))
}

/// Returns the same text for names that a person or a spreadsheet program may confuse: lower case, no leading zeros, and one `-`
/// for spaces, dashes and other signs between two words or two numbers. `#V-1` and `v 1` are equal, `1-11` and `11-1` are not.
pub fn canonical_name(name: &str) -> String {
    let name = ComposingNormalizerBorrowed::new_nfkc().normalize(name).to_lowercase();
    name.split(NAME_SEPARATOR).map(canonical_part).collect::<Vec<_>>().join(NAME_SEPARATOR)
}

fn canonical_part(part: &str) -> String {
    let mut canonical = String::with_capacity(part.len());
    let mut is_apart = false;
    for c in part.chars() {
        if !c.is_alphanumeric() {
            is_apart = true;
            continue;
        }
        let last = canonical.chars().next_back();
        if is_apart && last.is_some_and(|last: char| last.is_numeric() == c.is_numeric()) {
            canonical.push('-');
        }
        canonical.push(c);
        is_apart = false;
    }
    match canonical.bytes().all(|byte| byte.is_ascii_digit()) {
        // Only signs, which must stay different from each other.
        true if canonical.is_empty() => part.split_whitespace().collect::<Vec<_>>().join(" "),
        true => format!("{:0>1}", canonical.trim_start_matches('0')),
        false => canonical,
    }
}

/// Returns the same text for bodies with the same values, in any order of fields and lines, and with any number of digits.
fn canonical_body(body: &str) -> String {
    serde_json::from_str(body).map_or_else(|_| body.to_owned(), |value| canonical(&value))
}

fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (name, value) in fields {
                text.push_str(&format!("{name:?}:"));
                write_canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(values) => {
            let mut values: Vec<String> = values.iter().map(canonical).collect();
            // A sorted file has the lines of a record in another order.
            values.sort_unstable();
            text.push_str(&format!("[{}]", values.join(",")));
        }
        Value::Number(number) => {
            let number = number.to_string();
            text.push_str(&decimal::canonical(&number).unwrap_or(number));
        }
        Value::String(string) => text.push_str(&format!("{:?}", without_midnight(string))),
        value => text.push_str(&value.to_string()),
    }
}

/// Returns the date of a date-time at midnight in UTC, which the service takes a date for, or else the text.
pub(super) fn without_midnight(text: &str) -> &str {
    let zones = ["Z", "+00:00"];
    let local = zones.iter().find_map(|zone| text.strip_suffix(zone)).map(|local| local.trim_end_matches(".000"));
    let date = local.and_then(|local| local.strip_suffix("T00:00:00"));
    date.filter(|date| date.parse::<jiff::civil::Date>().is_ok()).unwrap_or(text)
}

/// Iterates over the records of a block that are to be created, with their bodies.
pub(super) fn creations<'b>(
    scope: &'b Scope,
    block: &'b RecordBlock,
) -> impl Iterator<Item = (Claim, &'b PlannedRecord, &'b str)> {
    block.numbered().filter_map(|(seq, record)| match (&record.disposition, &record.target) {
        (Disposition::Send(body), None) => Some((scope.claim(seq, record.key.as_deref(), body), record, &**body)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lost_their_zeros_or_changed_case_are_equal() {
        for (name, other) in [
            ("000101", "101"),
            ("0", "000"),
            ("INV-7 ", "inv-7"),
            ("ＡＢ１", "ab1"),
            ("a  b", "A b"),
            ("R-1", "R – 1"),
            ("#1001", "1001"),
            ("V1", "V-1"),
            ("2026/17", "2026-17"),
            ("A1.", "a1"),
        ] {
            assert_eq!(canonical_name(name), canonical_name(other), "{name}");
        }
        for (name, other) in
            [("2026-101", "2026-102"), ("INV-07", "INV-7"), ("101", "1010"), ("", "0"), ("1-11", "11-1"), ("+", "-")]
        {
            assert_ne!(canonical_name(name), canonical_name(other), "{name}");
        }
        assert_eq!(canonical_name("North / 007"), canonical_name("north / 7"));
    }

    #[test]
    fn bodies_with_equal_values_are_equal() {
        let body = r#"{"cid":"c","items":[{"id":"a","amount":2.50},{"id":"b","amount":1}]}"#;
        for (other, is_equal) in [
            (r#"{"items":[{"amount":2.5,"id":"a"},{"id":"b","amount":1.0}],"cid":"c"}"#, true),
            (r#"{"items":[{"id":"b","amount":1},{"id":"a","amount":2.5}],"cid":"c"}"#, true),
            (r#"{"cid":"c","items":[{"id":"b","amount":2.50},{"id":"a","amount":1}]}"#, false),
            (r#"{"cid":"c","items":[{"id":"a","amount":2.50},{"id":"b","amount":1}],"at":"2026-01-02"}"#, false),
            (r#"{"cid":"c","items":[{"id":"a","amount":"2.5"},{"id":"b","amount":1}]}"#, false),
            (r#"{"cid":"c","items":[{"id":"a","amount":2.50},{"id":"b","amount":1}],"currency":null}"#, false),
        ] {
            assert_eq!(canonical_body(body) == canonical_body(other), is_equal, "{other}");
        }
        let at = |date: &str| canonical_body(&format!(r#"{{"at":"{date}"}}"#));
        assert_eq!(at("2026-01-02"), at("2026-01-02T00:00:00Z"));
        assert_eq!(at("2026-01-02"), at("2026-01-02T00:00:00.000+00:00"));
        assert_ne!(at("2026-01-02"), at("2026-01-02T00:00:00+01:00"));
        assert_ne!(at("T00:00:00Z"), at(""));
    }
}
