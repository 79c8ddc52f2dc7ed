//! Proposals for prices in other units, and for rates of tax.

use super::super::load::{load, no_tables};
use super::{Confidence, Context, FieldProposal, Proposal, Sample, propose};
use crate::records::RecordKind;
use crate::sheet::{Cell, Row};

fn proposed(text: &str) -> Proposal {
    let rows = (1..).zip(text.lines()).map(|(number, line)| {
        let mut row = Row::default();
        row.clear(number);
        line.split('|').for_each(|cell| row.push(Cell::Text(cell)));
        row
    });
    let context = Context { file: "sheet.csv".to_owned(), ..Context::default() };
    let found = propose(RecordKind::Item, &Sample::new(rows.collect(), RecordKind::Item), &context);
    load("proposal", &found.toml, &no_tables).expect("a template that loads");
    found
}

fn field<'p>(proposal: &'p Proposal, name: &str) -> &'p FieldProposal {
    proposal.fields.iter().find(|field| field.path() == name).expect("the field")
}

fn with_price(header: &str) -> Proposal {
    proposed(&format!("SKU|Name|{header}\nA1|Hex bolt|12.50\nA2|Wing nut|3.00"))
}

#[test]
fn known_units_of_prices_become_a_scale_that_is_told() {
    for (header, scale) in [
        ("Price (cents)", "0.01"),
        ("Preis in Cent", "0.01"),
        ("Price in k€", "1000"),
        ("Preis TEUR", "1000"),
        ("Price per 100", "0.01"),
        ("Preis je 1000 Stück", "0.001"),
    ] {
        let found = with_price(header);
        assert_ne!(field(&found, "price").confidence, Confidence::Sure, "{header}");
        assert!(found.toml.lines().any(|line| line == format!("scale = {scale}")), "{header}: {}", found.toml);
        assert!(found.warnings.iter().any(|warning| warning.contains("multiplied")), "{header}: {:?}", found.warnings);
    }
}

#[test]
fn prices_with_an_unknown_unit_are_never_sure() {
    for header in ["Price (per kg)", "Price/m2", "Price (dozen)", "Price 2026", "Price per 12"] {
        let found = with_price(header);
        assert_ne!(field(&found, "price").confidence, Confidence::Sure, "{header}");
        assert!(!found.toml.contains("scale"), "{header}: {}", found.toml);
    }
    for header in ["Price", "Price (EUR)", "Price (net)", "Price each", "Price per unit", "Price (net, EUR)"] {
        let found = with_price(header);
        assert_eq!(field(&found, "price").confidence, Confidence::Sure, "{header}");
        assert!(!found.toml.contains("scale"), "{header}: {}", found.toml);
    }
}

#[test]
fn prices_of_two_years_contradict_each_other() {
    let found = proposed("SKU|Name|Price 2025|Price 2026\nA1|Hex bolt|12.50|13.00\nA2|Wing nut|3.00|3.10");
    assert_ne!(field(&found, "price").confidence, Confidence::Sure);
    assert!(found.toml.contains("also possible"), "{}", found.toml);
}

#[test]
fn a_column_of_price_units_divides_the_price() {
    let found = proposed("Artikelnr|Bezeichnung|VK|PE\nA1|Bolzen|12,50|100\nA2|Mutter|3,00|1");
    assert_eq!(field(&found, "price").confidence, Confidence::Guess);
    assert!(found.toml.contains("text = \"{{ row['VK'] | divided_by(row['PE'], 4) }}\""), "{}", found.toml);
    assert!(found.toml.contains("price = 0.125"), "an example with the price of one: {}", found.toml);
    assert!(!found.toml.contains("Columns not used"), "{}", found.toml);
    let found = proposed("Artikelnr|Bezeichnung|VK|PE\nA1|Bolzen|12,50|1\nA2|Mutter|3,00|1");
    assert_eq!(field(&found, "price").confidence, Confidence::Sure, "the price of one");
    let found = proposed("Artikelnr|Bezeichnung|VK|Preiseinheit\nA1|Bolzen|12,50|100 Stück\nA2|Mutter|3,00|Stück");
    assert_eq!(field(&found, "price").confidence, Confidence::Guess, "texts can't be calculated with");
}

#[test]
fn rates_of_tax_as_fractions_must_be_confirmed() {
    let found = proposed("SKU|Name|Price|VAT\nA1|Hex bolt|12.50|0.19\nA2|Wing nut|3.00|0.07");
    assert_eq!(field(&found, "tax").confidence, Confidence::Guess);
    assert!(found.toml.contains("\nscale = 100\nguess = true"), "{}", found.toml);
    assert!(found.warnings.iter().any(|warning| warning.contains("fractions")), "{:?}", found.warnings);
}

#[test]
fn percent_signs_before_the_number_are_read() {
    let found = proposed("Stok Kodu|Ürün Adı|Fiyat|KDV Oranı\nA1|Cıvata|12,50|%20\nA2|Somun|3,00|%10");
    assert!(found.toml.contains("\npercent = \"whole\""), "{}", found.toml);
    assert!(found.toml.contains("\ntax = 20"), "an example: {}", found.toml);
}
