//! Movements of stock: their directions, types and quantities.

use sheetport_mapping::load::{load, no_tables};
use sheetport_records::RecordKind::InventoryTransaction;

use super::super::Proposal;
use super::proposed;

/// Proposes a template, and checks that it has these texts and one of the warnings has the last.
#[track_caller]
fn check(sheet: &str, texts: &[&str], warning: &str) -> Proposal {
    let found = proposed(InventoryTransaction, sheet, Vec::new());
    for text in texts {
        assert!(found.toml.contains(text), "no {text} in\n{}", found.toml);
    }
    let has_warning = found.warnings.iter().any(|known| known.contains(warning));
    assert!(has_warning || warning.is_empty() && found.warnings.is_empty(), "{:?}", found.warnings);
    found
}

#[test]
fn quantities_in_two_columns_get_a_direction() {
    for header in ["SKU|Date|In|Out", "Artikelnummer|Datum|Zugang|Abgang", "Réf. article|Date|Qté entrée|Qté sortie"]
    {
        let sheet = format!("{header}\nA-1|2026-01-05|10|\nA-2|2026-01-06||4");
        let texts =
            ["[fields.transactionType]\ntext = ", "[fields.transactionAmount]\ntext = ", "guess = true", "[[rules]]"];
        let found = check(&sheet, &texts, "");
        load("proposal", &found.toml, &no_tables).expect("a complete template");
    }
    // A column of types decides, and its quantity is missing.
    let found = check("SKU|Type|In|Out\nA-1|in|10|\nA-2|out||4", &[], "no quantity");
    assert!(!found.toml.contains("[fields.transactionAmount]"), "{}", found.toml);
}

#[test]
fn types_become_the_words_of_the_service() {
    let map = "map = { \"Zugang\" = \"in\", \"Abgang\" = \"out\", \"Korrektur\" = \"adjust\" }";
    let sheet = "Artikelnummer|Typ|Menge\nA-1|Zugang|10\nA-2|Abgang|4\nA-3|Korrektur|-1";
    let found = check(sheet, &[map, "transactionAmount >= 0"], "");
    load("proposal", &found.toml, &no_tables).expect("a complete template");
    let some = "SKU|Type|Qty\nA-1|IN|10\nA-2|Swap|4";
    check(some, &["map = { \"IN\" = \"in\" }"], "'Swap', which are reported as problems");
    check("SKU|Type|Qty\nA-1|x|10\nA-2|y|4", &["guess = true"], "sent as they are");
}

#[test]
fn stock_is_not_surely_a_movement() {
    check("SKU|Stock\nA-1|10\nA-2|4", &["guess = true"], "'Stock' may be the stock");
    check("SKU|Type\nA-1|in\nA-2|out", &[], "no quantity");
}

#[test]
fn the_stock_after_a_movement_is_no_movement() {
    for (old, new) in [("Old qty", "New qty"), ("Menge alt", "Menge neu"), ("Ancienne quantité", "Nouvelle quantité")]
    {
        check(
            &format!("SKU|Type|{old}|{new}\nA-1|adjust|10|7\nA-2|adjust|5|9"),
            &["\n[fields.transactionAmount]", "\nguess = true"],
            "may be the stock",
        );
    }
    let sheet = "SKU|Type|Old qty|New qty|Change\nA-1|adjust|10|7|-3\nA-2|adjust|5|9|4";
    check(sheet, &["[fields.transactionAmount]\ncolumn = \"Change\""], "");
}

#[test]
fn types_as_signs_and_abbreviations_become_the_words_of_the_service() {
    for (sheet, map) in [
        ("SKU|Type|Qty\nA-1|+|10\nA-2|-|4", r#"map = { "+" = "in", "-" = "out" }"#),
        ("SKU|Type|Qty\nA-1|I|10\nA-2|O|4", r#"map = { "I" = "in", "O" = "out" }"#),
        ("Artikelnummer|Buchungsart|Menge\nA-1|E|10\nA-2|A|4", r#"map = { "E" = "in", "A" = "out" }"#),
        ("SKU|Type|Qty\nA-1|Purchase|10\nA-2|Sale|4", r#"map = { "Purchase" = "in", "Sale" = "out" }"#),
    ] {
        check(sheet, &[map], "");
    }
    for types in ["101|102", "E|X", "A|B"] {
        let (one, other) = types.split_once('|').expect("two types");
        let sheet = format!("SKU|Type|Qty\nA-1|{one}|10\nA-2|{other}|4");
        check(&sheet, &["\nguess = true"], "the service moves nothing");
    }
}

#[test]
fn a_sheet_of_movements_is_read_as_by_the_built_in_template() {
    let sheet = "When|Warehouse item|Direction|Units\n2026-01-07|L-1|in|5\n2026-01-25|L-2|out|3";
    let found = check(
        sheet,
        &[
            "[fields.inventoryExternalId]\ncolumn = \"Warehouse item\"",
            "[fields.transactionAmount]\ncolumn = \"Units\"",
        ],
        "",
    );
    load("proposal", &found.toml, &no_tables).expect("a complete template");
}
