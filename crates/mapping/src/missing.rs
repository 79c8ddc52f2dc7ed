//! `[missing]`: what is set in records of the service that a complete file lacks, and which records that may concern.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use sheetport_records::{Input, JsonType, RecordKind, listed_name};
use sheetport_values::currency::CurrencyMark;
use sheetport_values::decimal::{self, Decimal};
use sheetport_values::number::{self, Notation, Percent};

use super::language::Context;
use super::map::unquoted;
use super::row_test::Condition;
use crate::typed_value::Value;

/// The members of an entry of the service's list that no request has.
const ONLY_LISTED: [&str; 2] = ["id", "updated_at"];
/// Hundredths of a percent in the whole.
const WHOLE: u128 = 10_000;

/// The table `[missing]` of a template.
#[derive(Debug)]
pub struct Missing {
    /// The fields to set, each with its text. Empty: only what `--missing` says.
    pub set: Vec<SetField>,
    /// Selects the records of the service's list that the file is complete for.
    pub filter: Condition,
    pub at_most: Option<AtMost>,
}

/// A field with the text to set, written as `set:status=inactive` in the flag `--missing`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetField {
    pub field: String,
    pub value: String,
}

/// How many records may be missing before a person has to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtMost {
    Records(u64),
    /// Of the records that the filter selects, in hundredths of a percent.
    Share(u32),
}

impl AtMost {
    /// 5 %.
    pub const USUAL: AtMost = AtMost::Share(500);

    /// Whether `missing` of `selected` records are within the limit.
    pub fn allows(self, missing: u64, selected: u64) -> bool {
        match self {
            AtMost::Records(most) => missing <= most,
            AtMost::Share(share) => u128::from(missing) * WHOLE <= u128::from(selected) * u128::from(share),
        }
    }
}

impl FromStr for AtMost {
    type Err = String;

    fn from_str(text: &str) -> Result<AtMost, String> {
        let wrong = || format!("'{text}' is no limit; examples are 5% and 20");
        let Some(percent) = text.trim().strip_suffix('%') else {
            return text.trim().parse().map(AtMost::Records).map_err(|_| wrong());
        };
        let (whole, part) = percent.trim().split_once('.').unwrap_or((percent.trim(), ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(part) || part.len() > 2 {
            return Err(wrong());
        }
        let share = format!("{whole}{part:0<2}").parse().ok().filter(|share| u128::from(*share) <= WHOLE);
        share.map(AtMost::Share).ok_or_else(wrong)
    }
}

impl fmt::Display for AtMost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AtMost::Records(most) => write!(f, "{most}"),
            AtMost::Share(share) => match (share / 100, share % 100) {
                (whole, 0) => write!(f, "{whole}%"),
                (whole, part) => write!(f, "{whole}.{}%", format!("{part:02}").trim_end_matches('0')),
            },
        }
    }
}

impl FromStr for SetField {
    type Err = String;

    fn from_str(text: &str) -> Result<SetField, String> {
        let parts = text.strip_prefix("set:").and_then(|rest| rest.split_once('='));
        match parts.map(|(field, value)| (field.trim(), value.trim())) {
            Some((field, value)) if !field.is_empty() && !value.is_empty() => {
                Ok(SetField { field: field.to_owned(), value: value.to_owned() })
            }
            _ => Err(format!("'{text}' does not say what to set; an example is set:status=inactive")),
        }
    }
}

impl SetField {
    /// Returns why the field of a record can't be set to this text.
    pub fn why_not(&self, record: RecordKind) -> Option<String> {
        let (input, name) = (record.input(), self.field.as_str());
        if input.key.contains(&name) {
            return Some(format!("{name} identifies the record"));
        }
        match input.fields().find(|field| field.name == name) {
            None => Some(format!("{} have no field {name}", input.plural)),
            Some(field) if !matches!(field.json, JsonType::String) => Some(format!("{name} is no text")),
            Some(_) if self.value.trim().is_empty() => Some("the value is blank".to_owned()),
            Some(_) => None,
        }
    }
}

/// Returns the names that a filter can use: the fields of requests, and the members of the service's list.
pub(crate) fn filter_names(input: &'static Input) -> impl Iterator<Item = String> {
    let fields = || input.fields().map(|field| field.name);
    fields().map(str::to_owned).chain(fields().map(listed_name)).chain(ONLY_LISTED.map(str::to_owned))
}

impl Missing {
    /// Returns the members of the service's list that the filter uses, each with the name in the template.
    pub fn members(&self) -> impl Iterator<Item = (&str, String)> {
        self.filter.expression.columns().iter().map(|name| (name.as_str(), listed_name(name)))
    }

    /// Whether the filter selects a record. `values` are the JSON values of [`Missing::members`], `None` for those that the record does not
    /// have. `parameters` are those of the template.
    ///
    /// # Errors
    /// Why the filter can't be evaluated for this record.
    pub fn selects(
        &self,
        values: &[Option<&str>],
        parameters: &BTreeMap<String, Value<'static>>,
    ) -> Result<bool, String> {
        let entry = ListedEntry { values, parameters };
        self.filter.expression.holds(&entry).map_err(|error| error.message)
    }
}

/// An entry of the service's list as a row of an expression.
struct ListedEntry<'e> {
    values: &'e [Option<&'e str>],
    parameters: &'e BTreeMap<String, Value<'static>>,
}

impl Context for ListedEntry<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>, String> {
        let json = self.values.get(column).copied().flatten().unwrap_or("null");
        Ok(match json.as_bytes().first() {
            Some(b'"') => Value::Text(unquoted(json)),
            Some(b'-' | b'0'..=b'9') => Value::Number(decimal::parse(json).map_err(|error| error.to_string())?),
            Some(b't' | b'f') => Value::Boolean(json == "true"),
            _ => Value::Blank,
        })
    }

    fn amount(&self, column: usize) -> Result<(Decimal, Option<CurrencyMark>), String> {
        let value = self.value(column)?;
        let text = value.text();
        let amount = number::parse_in(&text, Notation::Canonical)
            .and_then(|parsed| Ok((parsed.resolve(Some(Percent::Fraction))?, parsed.currency)));
        amount.map_err(|error| format!("'{text}' {error}"))
    }

    fn parameter(&self, name: &str) -> Option<Value<'_>> {
        self.parameters.get(name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::language::Expression;
    use super::*;

    #[test]
    fn limits_are_numbers_or_shares() {
        for (text, limit) in [
            ("5%", Some(AtMost::Share(500))),
            ("2.5 %", Some(AtMost::Share(250))),
            ("0.25%", Some(AtMost::Share(25))),
            ("100%", Some(AtMost::Share(10_000))),
            ("12", Some(AtMost::Records(12))),
            ("0", Some(AtMost::Records(0))),
            ("101%", None),
            ("5.125%", None),
            ("-1", None),
            ("%", None),
            ("", None),
            ("five", None),
        ] {
            assert_eq!(text.parse::<AtMost>().ok(), limit, "{text}");
        }
        for text in ["5%", "2.5%", "0.25%", "12"] {
            assert_eq!(text.parse::<AtMost>().map(|limit| limit.to_string()).as_deref(), Ok(text));
        }
        for (limit, missing, selected, is_allowed) in [
            ("5%", 1, 20, true),
            ("5%", 1, 19, false),
            ("5%", 0, 0, true),
            ("100%", 3, 3, true),
            ("2", 2, 1_000, true),
            ("2", 3, 1_000, false),
        ] {
            let limit: AtMost = limit.parse().expect("a limit");
            assert_eq!(limit.allows(missing, selected), is_allowed, "{limit} {missing} {selected}");
        }
    }

    #[test]
    fn a_text_field_of_items_can_be_set() {
        for (text, why_not) in [
            ("set:status=inactive", None),
            ("set: status = not sold ", None),
            ("set:externalId=x", Some("externalId identifies the record")),
            ("set:price=0", Some("price is no text")),
            ("set:colour=red", Some("items have no field colour")),
        ] {
            let set: SetField = text.parse().expect("a field and a value");
            assert_eq!(set.why_not(RecordKind::Item).as_deref(), why_not, "{text}");
        }
        for text in ["status=inactive", "set:status", "set:=x", "set:status=", "delete"] {
            assert!(text.parse::<SetField>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_filter_reads_the_entries_of_the_list() {
        let values = |entry: &[(&str, &'static str)], missing: &Missing| -> Vec<Option<&'static str>> {
            let json = |name: &str| entry.iter().find(|(known, _)| *known == name).map(|(_, json)| *json);
            missing.members().map(|(_, member)| json(&member)).collect()
        };
        let entry = [("external_id", r#""ACME-7""#), ("status", r#""active""#), ("price", "1.50"), ("name", "null")];
        for (filter, selects) in [
            (r#"externalId | starts_with("ACME-")"#, true),
            (r#"external_id | starts_with("ACME-") and status == "active""#, true),
            (r#"external_id | starts_with("B-")"#, false),
            ("price > 1", true),
            ("price > 1.5", false),
            ("name", false),
            ("description", false),
        ] {
            let expression = Expression::parse_condition(filter).expect("a condition");
            let filter = Condition { expression, written: filter.to_owned() };
            let missing = Missing { set: Vec::new(), filter, at_most: None };
            let found = missing.selects(&values(&entry, &missing), &BTreeMap::new());
            assert_eq!(found, Ok(selects), "{}", missing.filter.written);
        }
    }
}
