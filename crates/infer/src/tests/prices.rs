//! Proposals for prices in other units, and for rates of tax.

use sheetport_mapping::load::{load, no_tables};
use sheetport_records::RecordKind;
use sheetport_sheet::{Cell, Row};

use super::super::{Confidence, Context, FieldProposal, Proposal, Sample, propose};

fn proposed(text: &str) -> Proposal {
    proposed_as(RecordKind::Item, text)
}

fn proposed_as(kind: RecordKind, text: &str) -> Proposal {
    let rows = (1..).zip(text.lines()).map(|(number, line)| {
        let mut row = Row::default();
        row.clear(number);
        line.split('|').for_each(|cell| row.push(if cell.is_empty() { Cell::Blank } else { Cell::Text(cell) }));
        row
    });
    let context = Context { file: "sheet.csv".to_owned(), ..Context::default() };
    let found = propose(kind, &Sample::new(rows.collect(), kind), &context);
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
fn known_price_units_become_a_scale_with_a_warning() {
    for (header, scale) in [
        ("Price (cents)", "0.01"),
        ("Preis in Cent", "0.01"),
        ("Price (p)", "0.01"),
        ("Price GBX", "0.01"),
        ("Price (paise)", "0.01"),
        ("Price minor units", "0.01"),
        ("Preis in Rappen", "0.01"),
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
fn a_second_price_makes_the_price_a_guess() {
    for header in [
        "Price|New price",
        "Price|List price",
        "Price|Special price",
        "VK|Listenpreis",
        "Preis|Neuer Preis",
        "Prix|Nouveau prix",
        "Precio|Nuevo precio",
        "Prezzo|Nuovo prezzo",
        "Prijs|Nieuwe prijs",
        "Preço|Novo preço",
        "Cena|Nowa cena",
        "Cena|Nová cena",
        "Pris|Nytt pris",
        "Fiyat|Yeni fiyat",
        "Цена|Новая цена",
        "価格|新価格",
        "价格|新价格",
        "가격|신규가격",
    ] {
        let found = proposed(&format!("SKU|Name|{header}\nA1|Hex bolt|12.50|13.00\nA2|Wing nut|3.00|3.10"));
        assert_eq!(field(&found, "price").confidence, Confidence::Guess, "{header}");
        assert!(found.toml.contains("\nguess = true"), "{header}: {}", found.toml);
    }
    for header in ["Price|Price per kg", "Price|Purchase price", "Price|Compare at price", "Price|Price unit"] {
        let found = proposed(&format!("SKU|Name|{header}\nA1|Hex bolt|12.50|1\nA2|Wing nut|3.00|1"));
        assert_eq!(field(&found, "price").confidence, Confidence::Sure, "{header}");
    }
    let found = proposed("SKU|Name|Price|New price\nA1|Hex bolt|12.50|12.50\nA2|Wing nut|3.00|3.00");
    assert_eq!(field(&found, "price").confidence, Confidence::Sure, "the same prices");
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
fn a_price_of_several_pieces_is_divided_once() {
    let found = proposed("Artikelnr|Bezeichnung|Preis/100|Preiseinheit\nA1|Bolzen|12,50|100\nA2|Mutter|3,00|100");
    assert!(found.toml.contains("divided_by(row['Preiseinheit'], 4)"), "{}", found.toml);
    assert!(!found.toml.contains("scale"), "{}", found.toml);
    assert!(found.toml.contains("price = 0.125"), "{}", found.toml);
    // Cents are a part of the currency, and not a number of pieces.
    let found = proposed("Artikelnr|Bezeichnung|Preis in Cent|PE\nA1|Bolzen|1250|100\nA2|Mutter|300|100");
    assert!(found.toml.contains("scale = 0.01") && found.toml.contains("divided_by"), "{}", found.toml);
    let found = proposed("Artikelnr|Bezeichnung|Preis/100|PE\nA1|Bolzen|12,50|1\nA2|Mutter|3,00|1");
    assert!(found.toml.contains("scale = 0.01") && !found.toml.contains("divided_by"), "{}", found.toml);
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

#[test]
fn sizes_and_months_in_columns_are_proposed_as_guesses() {
    let check = |kind: RecordKind, text: &str, lines: &[&str], guesses: &[&str]| {
        let found = proposed_as(kind, text);
        for line in lines {
            assert!(found.toml.lines().any(|other| other == *line), "no {line} in\n{}", found.toml);
        }
        for guess in guesses {
            assert_eq!(field(&found, guess).confidence, Confidence::Guess, "{guess}");
        }
    };
    check(
        RecordKind::Item,
        "SKU|Name|S|M|L\n100|T-shirt|12.90|12.90|14.90\n200|Cap||9.90|",
        &[
            "[unpivot]",
            "columns = [\"S\", \"M\", \"L\"]",
            "columns = [\"SKU\", \"Size\"]",
            "join = \"-\"",
            "column = \"Value by size\"",
            "row = { SKU = \"100\", Name = \"T-shirt\", S = \"12.90\", M = \"12.90\", L = \"14.90\" }",
            "    { externalId = \"100-M\", name = \"T-shirt\", price = 12.90 },",
        ],
        &["externalId", "price"],
    );
    check(
        RecordKind::InventoryTransaction,
        "SKU|Type|2026-01|2026-02|2026-03\nA1|in|5|7|9\nA2|in|1||2",
        &["[unpivot]", "text = \"{{ Month }}-01\"", "format = \"YYYY-MM-DD\"", "column = \"Value by month\""],
        &["transactionDate", "transactionAmount"],
    );
    let is_plain = |kind: RecordKind, text: &str| {
        let found = proposed_as(kind, text);
        assert!(!found.toml.contains("[unpivot]"), "{}", found.toml);
    };
    // Another column has the price, or the quantity.
    is_plain(RecordKind::Item, "SKU|Name|Price|S|M|L\n100|T-shirt|12.90|1|2|3\n200|Cap|9.90||4|5");
    is_plain(RecordKind::Item, "SKU|Name|Price|Purchase price\n100|T-shirt|12.90|5.10\n200|Cap|9.90|4.80");
    is_plain(RecordKind::InventoryTransaction, "SKU|Type|Qty|S|M|L\nA1|in|4|1|2|1\nA2|in|3|1|1|1");
    // Whole numbers are no certain prices; years, days and quantities are no sizes.
    is_plain(RecordKind::Item, "SKU|Name|S|M|L\n100|T-shirt|1|2|3\n200|Cap||4|5");
    is_plain(RecordKind::Item, "SKU|Name|2023|2024|2025\n100|T-shirt|9.10|9.20|9.30\n200|Cap|4.10|4.20|4.30");
    is_plain(RecordKind::Item, "SKU|Name|20|30|50\n100|T-shirt|9.10|8.20|7.30\n200|Cap|4.10|4.00|3.30");
    is_plain(
        RecordKind::Item,
        "SKU|Name|Remark|15|16|17|18\n100|T-shirt|blue|9.10|8.20|7.30|6.10\n200|Cap|red|4.10|4.00|3.30|2.10",
    );
}

#[test]
fn net_and_gross_are_both_selling_prices() {
    for (net, gross) in [("Net", "Gross"), ("Netto", "Brutto"), ("HT", "TTC"), ("税抜", "税込")] {
        let found = proposed(&format!("SKU|Name|{net}|{gross}\nA1|Hex bolt|10.50|12.50\nA2|Wing nut|3.10|3.70"));
        let price = field(&found, "price");
        assert_eq!((price.source.label().as_str(), &price.confidence), (net, &Confidence::Guess), "{net}");
        assert!(found.fields.iter().all(|field| field.path() != "purchasePrice"), "{}", found.toml);
    }
    let found = proposed("SKU|Name|Price|Net\nA1|Hex bolt|12.50|10.50\nA2|Wing nut|3.70|3.10");
    assert_eq!(field(&found, "purchasePrice").source.label(), "Net");
    let found = proposed("SKU|Name|Net\nA1|Hex bolt|12.50\nA2|Wing nut|3.70");
    assert_eq!(field(&found, "price").source.label(), "Net");
}

#[test]
fn gross_prices_of_a_line_are_guesses() {
    for header in ["Price incl. VAT", "Bruttopreis", "Prix TTC"] {
        let sheet = format!("Order no|SKU|Qty|{header}|VAT %\n1|A1|2|11.90|19\n2|A2|1|5.95|19");
        let found = proposed_as(RecordKind::Order, &sheet);
        assert_eq!(field(&found, "lines.price").confidence, Confidence::Guess, "{header}");
        assert!(found.warnings.iter().any(|warning| warning.contains("is with tax")), "{:?}", found.warnings);
    }
    let found = proposed_as(RecordKind::Order, "Order no|SKU|Qty|Net price\n1|A1|2|11.90\n2|A2|1|5.95");
    assert_eq!(field(&found, "lines.price").confidence, Confidence::Sure);
}
