//! Columns of taxes with words: yes and no, names of taxes, and names with a rate.

use sheetport_records::RecordKind::Item;

use super::{check, says};

#[test]
fn words_are_no_rates() {
    for words in [["Yes", "No"], ["Taxable", "Exempt"], ["20%, 5%", "Reduced"]] {
        let [one, other] = words;
        for name in ["Tax", "VAT", "Tax rate", "MwSt", "TVA"] {
            let sheet = format!("SKU|{name}|Price\nA1|{one}|1.50\nA2|{other}|2.50\nA3|{one}|3.50");
            let found = check(Item, &sheet, &["externalId=SKU", "price=Price"]);
            let expected = format!("add [fields.tax] with column = \"{name}\", map = {{ \"{one}\" = 19 }}");
            assert!(found.warnings.iter().any(|warning| warning.contains(&expected)), "{:?}", found.warnings);
        }
    }
}

#[test]
fn the_rate_is_taken_from_the_name_of_a_tax() {
    let sheet = "SKU|Tax|Price\nA1|20% (VAT on Income)|1.50\nA2|IVA 5,5 % (bienes)|2.50\nA3|20% (VAT on Income)|3.50";
    let found = check(Item, sheet, &["externalId=SKU", "price=Price", "tax=Tax"]);
    let replace = r#"replace = { pattern = '^[^%]*?(\d+(?:[.,]\d+)?)\s*%[^%]*$', with = "$1%" }"#;
    says(&found, &[replace, "percent = \"whole\"", "tax = 20", "tax = 5.5"]);
    assert_eq!(found.warnings, [""; 0]);
}
