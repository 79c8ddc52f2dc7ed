//! The values of a planned request, for people.

use sheetport_client::pages::object_fields;
use sheetport_records::RecordKind;

use super::request_body::record_of_body;
use super::service_lines::shown;

/// Returns the values in the body of a request, by field in the order of the contract.
pub fn planned_values(kind: RecordKind, body: &str) -> Vec<(&'static str, String)> {
    let input = kind.input();
    let members = record_of_body(input, body).and_then(object_fields).unwrap_or_default();
    let value = |name: &str| members.iter().find(|(member, _)| *member == name).map(|(_, json)| shown(json));
    let fields = input.fields().chain(input.lines().map(|(field, _)| field));
    fields.filter_map(|field| Some((field.name, value(field.name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_record() {
        let body = r#"{"order":{"orderAt":"2026-01-01","externalId":"O","companyId":null}}"#;
        let values = planned_values(RecordKind::Order, body);
        let of = |name: &str| values.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_str());
        assert_eq!([of("externalId"), of("companyId"), of("orderAt")], [Some("O"), Some(""), Some("2026-01-01")]);
        assert_eq!(planned_values(RecordKind::Item, "no JSON"), []);
    }
}
