//! Proposals for small sheets, and a property test: the template of any sheet loads, or names its missing fields.

mod doubts;
mod movements;
mod prices;
mod sheets;
mod taxes;

use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use sheetport_mapping::bind::bind;
use sheetport_mapping::load::{load, no_tables};
use sheetport_records::RecordKind::{self, InventoryTransaction, Invoice, Item, Order, Subscription};
use sheetport_sheet::{Cell, Row};

use super::{Context, PreviousTemplate, Proposal, ProposedSource, Sample, propose};

fn rows(text: &str) -> Vec<Row> {
    let row = |(index, line): (usize, &str)| {
        let mut row = Row::default();
        row.clear(index as u64 + 1);
        line.split('|').for_each(|cell| row.push(if cell.is_empty() { Cell::Blank } else { Cell::Text(cell) }));
        row
    };
    text.lines().enumerate().map(row).collect()
}

fn proposed(kind: RecordKind, text: &str, earlier: Vec<PreviousTemplate>) -> Proposal {
    let context = Context { file: "sheet.csv".to_owned(), previous: &earlier, ..Context::default() };
    propose(kind, &Sample::new(rows(text), kind), &context)
}

/// Returns `field=column` for each field in the order of the template, with `==` for constants.
fn mapping(proposal: &Proposal) -> Vec<String> {
    let pair = |it: &super::FieldProposal| match &it.source {
        ProposedSource::Column { label, .. } => format!("{}={label}", it.path()),
        _ => format!("{}=={}", it.path(), it.source.label()),
    };
    proposal.fields.iter().map(pair).collect()
}

#[track_caller]
fn check(kind: RecordKind, text: &str, expected: &[&str]) -> Proposal {
    let proposal = proposed(kind, text, Vec::new());
    assert_eq!(mapping(&proposal), expected, "{text}");
    let template = load("proposal", &proposal.toml, &no_tables);
    match template {
        Ok(template) => {
            assert!(proposal.missing.is_empty());
            assert!(bind(&template, &rows(text)).is_ok(), "{}", proposal.toml);
        }
        Err(error) => assert!(error.to_string().contains(proposal.missing[0].field.name), "{error}\n{}", proposal.toml),
    }
    proposal
}

/// Checks that the template has these lines.
#[track_caller]
fn says(proposal: &Proposal, lines: &[&str]) {
    for line in lines {
        assert!(proposal.toml.lines().any(|other| other == *line), "no {line} in\n{}", proposal.toml);
    }
}

#[test]
fn items_are_mapped_in_five_languages() {
    check(
        Item,
        "SKU|Product name|Sales Price|Cost|VAT rate|Active\nA1|Bolt|1.50|0.90|20|yes\nA2|Nut|0.50|0.20|5|no",
        &[
            "externalId=SKU",
            "name=Product name",
            "price=Sales Price",
            "purchasePrice=Cost",
            "tax=VAT rate",
            "status=Active",
        ],
    );
    check(
        Item,
        "Artikel-Nr.|Bezeichnung|Langtext|VK-Preis netto|EK-Preis|MwSt|Währung\n01|Mutter|Lang|1,50|0,90|19|EUR\n02|Bolzen|Kurz|0,50|0,20|7|EUR",
        &[
            "externalId=Artikel-Nr.",
            "name=Bezeichnung",
            "description=Langtext",
            "currency=Währung",
            "price=VK-Preis netto",
            "purchasePrice=EK-Preis",
            "tax=MwSt",
        ],
    );
    check(
        Item,
        "Réf.|Désignation|Prix de vente HT|Prix d'achat|Taux TVA\nR1|Vis|4,50|2,10|20\nR2|Écrou|3,00|1,00|5,5",
        &[
            "externalId=Réf.",
            "name=Désignation",
            "price=Prix de vente HT",
            "purchasePrice=Prix d'achat",
            "tax=Taux TVA",
        ],
    );
    check(
        Item,
        "Código de artículo|Nombre|Descripción|Precio de venta|Coste|IVA\nC1|Taza|Blanca|10,50|4,00|21\nC2|Plato|Azul|8,50|3,00|10",
        &[
            "externalId=Código de artículo",
            "name=Nombre",
            "description=Descripción",
            "price=Precio de venta",
            "purchasePrice=Coste",
            "tax=IVA",
        ],
    );
    check(
        Item,
        "商品コード|商品名|商品説明|販売価格(税込)|仕入価格|税率|公開\nc-1|皿|白い皿|1200|800|10|1\nc-2|箸|長い箸|300|100|8|0",
        &[
            "externalId=商品コード",
            "name=商品名",
            "description=商品説明",
            "price=販売価格(税込)",
            "purchasePrice=仕入価格",
            "tax=税率",
            "status=公開",
        ],
    );
}

#[test]
fn names_of_shop_exports_match_by_their_words() {
    for (header, field) in [
        ("Variant Price", "price"),
        ("Regular price", "price"),
        ("list_price", "price"),
        ("unitPrice", "price"),
        ("Price tax excluded", "price"),
        ("Bruttoverkaufspreis", "price"),
        ("Price (EUR)", "price"),
        ("Wholesale price", "purchasePrice"),
        ("Cost per item", "purchasePrice"),
        ("product_code", "externalId"),
        ("Reference #", "externalId"),
        ("Custom label (SKU)", "externalId"),
    ] {
        let value = if field == "externalId" { "AB-1" } else { "12.50" };
        let sheet = format!("{header}|Weight\n{value}|3\n{value}2|4");
        let found = mapping(&proposed(Item, &sheet, Vec::new()));
        assert!(found.contains(&format!("{field}={header}")), "{header}: {found:?}");
    }
}

#[test]
fn names_about_other_topics_are_not_matched() {
    for header in [
        "Supplier name",
        "Category name",
        "Compare at price",
        "Tax class",
        "Parent SKU",
        "Image alt text",
        "Meta description",
        "Shipping price",
        "Order status",
        "Manufacturer code",
        "カテゴリ名",
        "Lieferantenname",
        "Date created",
    ] {
        let found = proposed(Item, &format!("SKU|{header}\nA1|Some\nA2|Thing"), Vec::new());
        assert_eq!(mapping(&found), ["externalId=SKU"], "{header}");
        assert_eq!(found.unplaced, [header]);
    }
}

#[test]
fn a_misspelt_name_is_a_guess() {
    let found = check(
        Item,
        "SKU|Name|Discription\nA1|Bolt|Some\nA2|Nut|Thing",
        &["externalId=SKU", "name=Name", "description=Discription"],
    );
    assert_eq!(found.fields[2].confidence.to_string(), "a guess");
    assert!(found.fields[2].reason.contains("similar to 'description'"));
}

#[test]
fn a_field_gets_the_best_column_and_lists_the_others() {
    let text = "Name|Title|SKU|Part number\nBolt|Bolt M8|A1|P1\nNut|Nut M8|A2|P2";
    let found = check(Item, text, &["externalId=SKU", "name=Name"]);
    says(&found, &["# also possible: \"Title\"", "# also possible: \"Part number\""]);
    assert_eq!(found.unplaced, ["Title", "Part number"]);
}

#[test]
fn a_column_with_values_is_preferred_to_an_empty_one() {
    check(Item, "Variant SKU|Handle|Title\n|pot-1|Pot\n|pot-2|Pan", &["externalId=Handle", "name=Title"]);
    let alone = check(Item, "SKU|Title\n|Pot\n|Pan", &["externalId=SKU", "name=Title"]);
    assert!(alone.fields[0].reason.contains("no values yet"));
    check(Item, "SKU|Title", &["externalId=SKU", "name=Title"]);
}

#[test]
fn columns_without_names_are_matched_by_values() {
    let text = "Spalte1|Spalte2|Spalte3|Spalte4|Spalte5|Spalte6\n\
                A-001|Hex bolt M8|9.90|4.10|EUR|active\n\
                A-002|Hex nut M10|19.50|8.00|EUR|draft\n\
                A-003|Wing nut|3.20|1.15|EUR|active\n";
    let expected = [
        "externalId=Spalte1",
        "name=Spalte2",
        "currency=Spalte5",
        "price=Spalte3",
        "purchasePrice=Spalte4",
        "status=Spalte6",
    ];
    let found = check(Item, text, &expected);
    assert!(found.fields.iter().all(|proposed| proposed.confidence.to_string() == "a guess"));
}

#[test]
fn the_larger_of_two_amounts_is_the_selling_price() {
    check(
        Item,
        "SKU|Spalte1|Spalte2\nA1|4.10|9.90\nA2|8.05|19.50\nA3|5.00|4.50",
        &["externalId=SKU", "price=Spalte2", "purchasePrice=Spalte1"],
    );
    let odd = check(
        Item,
        "SKU|Price|Cost\nA1|4.10|9.90\nA2|8.05|19.50",
        &["externalId=SKU", "price=Price", "purchasePrice=Cost"],
    );
    assert!(odd.warnings[0].contains("less than the purchase price"), "{:?}", odd.warnings);
}

#[test]
fn usual_tax_rates_are_matched_to_tax() {
    for rates in [["7%", "19%"], ["5.5", "20"], ["7", "19"]] {
        let [one, other] = rates;
        let found =
            check(Item, &format!("SKU|Spalte\nA1|{one}\nA2|{other}\nA3|{other}"), &["externalId=SKU", "tax=Spalte"]);
        assert_eq!(found.toml.contains("percent = \"whole\""), one.contains('%'));
    }
    check(Item, "SKU|Zahl\nA1|3\nA2|41\nA3|17", &["externalId=SKU"]);
}

#[test]
fn a_column_with_unfit_values_is_a_guess_at_most() {
    let sheet = "SKU|Price|VAT|Currency\nA1|on request|standard|see list\nA2|ask|reduced|see list";
    let found = check(Item, sheet, &["externalId=SKU", "currency=Currency", "price=Price"]);
    assert!(found.fields[1..].iter().all(|field| field.confidence.to_string() == "a guess"));
    check(Item, "SKU|Rate\nA1|x\nA2|y", &["externalId=SKU"]);
    check(Item, "SKU|Price\nA1|5%\nA2|7%", &["externalId=SKU"]);
}

#[test]
fn status_values_become_a_map() {
    let found = check(Item, "SKU|Published\nA1|TRUE\nA2|FALSE", &["externalId=SKU", "status=Published"]);
    says(&found, &["map = { \"TRUE\" = \"active\", \"FALSE\" = \"archived\" }"]);
    let found = check(Item, "SKU|Discontinued\nA1|1\nA2|1", &["externalId=SKU", "status=Discontinued"]);
    says(&found, &["map = { \"1\" = \"archived\", \"0\" = \"active\" }"]);
    let found = check(Item, "SKU|Status\nA1|lost\nA2|on \"loan\"", &["externalId=SKU", "status=Status"]);
    says(&found, &["# map = { \"lost\" = \"…\", \"on \\\"loan\\\"\" = \"…\" }"]);
}

#[test]
fn currency_is_found_in_headers_cells_and_titles() {
    for (text, constant) in [
        ("SKU|Price (EUR)\nA1|12.50\nA2|3.00", "currency==EUR"),
        ("SKU|Price\nA1|$12.50\nA2|$3.00", "currency==USD"),
        ("SKU|Price\nA1|12.50 SEK\nA2|3.00 SEK", "currency==SEK"),
        ("Prices in CHF|\nSKU|Price\nA1|12.50\nA2|3.00", "currency==CHF"),
    ] {
        let found = proposed(Item, text, Vec::new());
        assert!(mapping(&found).contains(&constant.to_owned()), "{text}: {:?}", mapping(&found));
    }
    let mixed = proposed(Item, "SKU|Price\nA1|12.50 €\nA2|3.00 SEK", Vec::new());
    assert!(!mapping(&mixed).iter().any(|pair| pair.starts_with("currency")));
    assert!(mixed.warnings[0].contains("several currencies"), "{:?}", mixed.warnings);
    says(&mixed, &["# [fields.currency]"]);
}

#[test]
fn html_damaged_identifiers_totals_and_blanks_are_reported() {
    let text = "SKU|Name|Body (HTML)\nA1|Bolt|<p>One</p>\n1.23E+12|Nut|Two\n|Photo|\nA4|Total|";
    let found = check(Item, text, &["externalId=SKU", "name=Name", "description=Body (HTML)"]);
    assert!(found.toml.contains("1 of 2 texts have HTML"));
    assert!(found.toml.contains("such as 1.23E+12"));
    says(&found, &["# skip_where = { column = \"SKU\", matches = \"^\\\\s*$\" }"]);
    says(&found, &["# skip_where = { column = \"Name\", matches = \"^(Total)\" }"]);
}

#[test]
fn rows_are_grouped_into_orders() {
    let text = "Order no|Customer ID|Order date|SKU|Qty|Price|VAT\n\
                7|C1|31.12.2025|A1|2|1.50|20\n|||A2|1|3.00|5\n8|C2|01.02.2026|A1|1|1.50|20";
    let expected = [
        "externalId=Order no",
        "companyExternalId=Customer ID",
        "orderAt=Order date",
        "lines.itemExternalId=SKU",
        "lines.quantity=Qty",
        "lines.price=Price",
        "lines.tax_rate=VAT",
    ];
    let found = check(Order, text, &expected);
    says(&found, &["by = [\"Order no\"]", "on_blank = \"above\"", "format = \"DD.MM.YYYY\""]);
}

#[test]
fn a_column_that_repeats_on_consecutive_rows_groups_them() {
    let text = "Vorgang Z|SKU|Qty\nX7|A1|2\nX7|A2|1\nX8|A1|1\nX8|A3|5";
    let found = check(Order, text, &["externalId=Vorgang Z", "lines.itemExternalId=SKU", "lines.quantity=Qty"]);
    assert!(found.fields[0].reason.contains("repeats on consecutive rows"));
    let text = "Beleg|Kundennr|Artikelnr|Menge\nX7|C1|A1|2\nX7|C1|A2|1\nX8|C2|A1|1\nX8|C2|A3|5";
    let found = check(Invoice, text, &["cid=Kundennr", "lines.id=Artikelnr", "lines.amount=Menge"]);
    says(&found, &["by = [\"Beleg\"]"]);
    let found = check(
        Subscription,
        "Contract no|Customer|Plan|Seats|Status\nS1|C1|pro|5|active\nS2|C2|basic|1|paused",
        &["cid=Customer", "subscription_status=Status", "lines.id=Plan", "lines.amount=Seats"],
    );
    says(&found, &["by = [\"Contract no\"]"]);
}

#[test]
fn an_order_without_item_column_gets_no_lines() {
    check(
        Order,
        "Order ID|Date|Total\n1|2025-12-31|12.50\n2|2026-01-02|8.00",
        &["externalId=Order ID", "orderAt=Date"],
    );
}

#[test]
fn ambiguous_dates_are_left_to_the_user() {
    let found = check(Order, "Order ID|Date\n1|03/04/2025\n2|05/06/2025", &["externalId=Order ID", "orderAt=Date"]);
    says(&found, &["# format = \"DD/MM/YYYY\"", "# format = \"MM/DD/YYYY\""]);
    assert!(found.warnings[0].contains("are ambiguous"));
    let found =
        check(Order, "Order ID|Date\n1|2025-04-03 10:00\n2|2025-04-03 11:00", &["externalId=Order ID", "orderAt=Date"]);
    says(&found, &["# time_zone = \"Europe/Berlin\""]);
}

#[test]
fn missing_required_fields_are_listed() {
    let found =
        check(InventoryTransaction, "SKU|Qty\nA1|5\nA2|7", &["inventoryExternalId=SKU", "transactionAmount=Qty"]);
    assert_eq!(found.missing[0].path(), "transactionType");
    says(&found, &["# [fields.transactionType]", "#   transactionType: such as in, out or adjust"]);
    let found = check(Invoice, "Kunde|Betrag\nC1|5,50\nC2|7,10", &["cid=Kunde"]);
    let missing: Vec<String> = found.missing.iter().map(super::proposal::MissingField::path).collect();
    assert_eq!(missing, ["lines.id", "lines.amount"]);
}

#[test]
fn unused_columns_of_identifiers_are_suggested_for_a_missing_identifier() {
    let sheet =
        "Hersteller-Nr.|Warenbezeichnung|Preis|Regal\n00417-B|Kugelhahn|12,90|A\n00418-B|Klappe|7,40|B\n|Filter|1,50|A";
    let found = check(Item, sheet, &["name=Warenbezeichnung", "price=Preis"]);
    assert_eq!(found.missing[0].candidates().collect::<Vec<_>>(), ["Hersteller-Nr."]);
    says(
        &found,
        &["# [fields.externalId]", "# The values of this column differ in each row:", "# column = \"Hersteller-Nr.\""],
    );
}

#[test]
fn columns_with_duplicate_names_get_letters_or_numbers() {
    let found =
        check(Item, "SKU|Name|name|\nA1|Bolt|x|1.50\nA2|Nut|y|2.50", &["externalId=SKU", "name=Name", "price=D"]);
    says(&found, &["column = \"B\"  # Name", "column = \"D\""]);
    let found = check(Item, "SKU|Name|Name|B\nA1|Bolt|x|q\nA2|Nut|y|r", &["externalId=SKU", "name=Name"]);
    says(&found, &["column = 2  # Name"]);
}

#[test]
fn a_header_row_that_auto_does_not_find_is_written_as_a_number() {
    let found = check(Item, "Prices|\n|\nSKU|Price\nA1|1.50\nA2|2.50", &["externalId=SKU", "price=Price"]);
    says(&found, &["header = \"auto\""]);
    let grouped = "SKU|Price||Sum\n|Net|Gross|\nA1|1.50|1.80|3\nA2|2.50|3.00|4";
    let found = check(Item, grouped, &["externalId=SKU", "price=Price Net"]);
    says(&found, &["column = \"A\"  # SKU", "column = \"Net\"  # Price Net"]);
    let found = check(Item, "4711|Hex bolt|1.50\n4712|Hex nut|0.50", &["externalId=A", "name=B", "price=C"]);
    says(&found, &["header = 1"]);
    assert!(found.warnings.iter().any(|remark| remark.contains("no row names the columns")));
}

#[test]
fn the_header_of_a_report_is_used() {
    let found = check(Order, "Order no|sheetport_row\n|a|a\n|0,0\n|0.0", &["externalId=Order no"]);
    says(&found, &["header = \"auto\"", "column = \"Order no\""]);
}

#[test]
fn earlier_templates_take_precedence() {
    let toml = "record = \"item\"\n[fields.externalId]\ncolumn = [\"Matchcode\", \"Artikelnr\"]\n[fields.currency]\nvalue = \"CHF\"\n\
                [fields.status]\ncolumn = \"Flag\"\nmap = { A = \"active\" }\n";
    let template = load("mine.toml", toml, &no_tables).expect("a template");
    let earlier = vec![PreviousTemplate::new("mine.toml", &template, false)];
    let found = proposed(Item, "Artikelnr|Matchcode|Flag|Bezeichnung\n1|M1|A|Bolzen\n2|M2|A|Mutter", earlier.clone());
    assert_eq!(mapping(&found), ["externalId=Matchcode", "name=Bezeichnung", "currency==CHF", "status=Flag"]);
    assert_eq!(found.fields[0].confidence.to_string(), "as in mine.toml");
    says(&found, &["map = { A = \"active\" }"]);
    let other = proposed(Item, "SKU|Title\n1|Bolt\n2|Nut", earlier.clone());
    assert_eq!(mapping(&other), ["externalId=SKU", "name=Title"], "a template without matching columns is ignored");
    let order = proposed(Order, "Matchcode|Order no\n1|Bolt\n2|Nut", earlier);
    assert!(mapping(&order).contains(&"externalId=Order no".to_owned()), "a template for another kind is ignored");
}

#[test]
fn equal_names_go_to_the_fuller_and_more_distinct_column() {
    check(Item, "Product Code|SKU|Name\n|A1|Bolt\n|A2|Nut\nP|A3|Pin", &["externalId=SKU", "name=Name"]);
    check(
        Item,
        "REFERENCE|CODE|NAME\nX|A1|Bolt\nX|A2|Nut\nX|A3|Pin\nX|A4|Rod\n|A5|Cap",
        &["externalId=CODE", "name=NAME"],
    );
    check(
        Item,
        "Artikelcode|prijsPer|verkoopprijs\nA1|1|4,50\nA2|1|3,20\nA3|1|2,10",
        &["externalId=Artikelcode", "price=verkoopprijs"],
    );
}

#[test]
fn money_is_never_a_count() {
    let text = "Rechnungsnummer|Kunden-ID|Artikel-ID|Betrag|Menge\nN-1|c-1|i-1|25,00 €|2\nN-2|c-2|i-2|300,00 €|3";
    check(Invoice, text, &["cid=Kunden-ID", "lines.id=Artikel-ID", "lines.amount=Menge"]);
    let money = "Invoice no|Customer ID|Item ID|Amount\nN-1|c-1|i-1|25.00\nN-2|c-2|i-2|300.50";
    check(Invoice, money, &["cid=Customer ID", "lines.id=Item ID"]);
    let count = "Invoice no|Customer ID|Item ID|Amount\nN-1|c-1|i-1|2\nN-2|c-2|i-2|3";
    check(Invoice, count, &["cid=Customer ID", "lines.id=Item ID", "lines.amount=Amount"]);
}

#[test]
fn totals_and_amounts_of_the_order_are_not_of_a_line() {
    let lines = ["externalId=Order ID", "lines.itemExternalId=SKU", "lines.quantity=Quantity"];
    let text = "Order ID|SKU|Quantity|Sales|Order Sales Tax\n1|M-1|2|20.00|3.80\n1|M-2|1|5.00|3.80\n2|M-1|1|10.00|1.90";
    check(Order, text, &lines);
    let by_values = "Order ID|SKU|Quantity|Each|Price|Taxes\n1|M-1|2|10.00|20.00|3.80\n1|M-2|3|5.00|15.00|\n2|M-1|1|10.00|10.00|1.90";
    let found = proposed(Order, by_values, Vec::new());
    assert_eq!(mapping(&found)[..3], lines);
    assert!(!mapping(&found).iter().any(|pair| pair.ends_with("=Price") || pair.ends_with("=Taxes")));
    let of_line = "Order ID|SKU|Quantity|Line tax\n1|M-1|2|3.80\n1|M-2|1|0.95\n2|M-1|1|1.90";
    assert!(mapping(&proposed(Order, of_line, Vec::new())).contains(&"lines.tax=Line tax".to_owned()));
}

#[test]
fn an_order_file_without_lines_gets_none() {
    let text = "Order ID|Date|Product|Total\n1|2025-12-31|Bolt|12.50\n2|2026-01-02|Nut|8.00";
    check(Order, text, &["externalId=Order ID", "orderAt=Date"]);
    let count = "Order ID|Date|Items|Total\n1|2025-12-31|3|12.50\n2|2026-01-02|1|8.00";
    check(Order, count, &["externalId=Order ID", "orderAt=Date"]);
}

#[test]
fn one_bad_cell_does_not_lose_a_column() {
    let found = check(Item, "SKU|Price\nA1|1.50\nA2|on request\nA3|2.50", &["externalId=SKU", "price=Price"]);
    assert_eq!(found.fields[1].confidence.to_string(), "likely");
    assert!(found.warnings[0].contains("on request"), "{:?}", found.warnings);
}

#[test]
fn a_contradicted_column_is_never_sure() {
    let confidence = |found: &Proposal, index: usize| found.fields[index].confidence.to_string();
    let found = check(Item, "SKU|Item number|Name\nA1|1|Bolt\nA2|2|Nut", &["externalId=SKU", "name=Name"]);
    assert_eq!((confidence(&found, 0), confidence(&found, 1)), ("likely".to_owned(), "sure".to_owned()));
    assert!(found.fields[0].reason.contains("'Item number' is possible, too"));
    let same = check(Item, "SKU|Item number|Name\nA1|A1|Bolt\nA2|A2|Nut", &["externalId=SKU", "name=Name"]);
    assert_eq!(confidence(&same, 0), "sure");
    let text = "SKU|Price|Cost\nA1|4.10|9.90\nA2|8.05|19.50";
    let swapped = check(Item, text, &["externalId=SKU", "price=Price", "purchasePrice=Cost"]);
    assert_eq!((confidence(&swapped, 1), confidence(&swapped, 2)), ("likely".to_owned(), "likely".to_owned()));
}

#[test]
fn prices_without_tax_are_preferred() {
    let found = check(
        Item,
        "SKU|Price incl. VAT|Price excl. VAT\nA1|12.00|10.00\nA2|6.00|5.00",
        &["externalId=SKU", "price=Price excl. VAT"],
    );
    assert!(found.fields[1].reason.contains("without tax"), "{}", found.fields[1].reason);
    let order = "Order no|SKU|Qty|Price incl. VAT\n1|A1|2|12.00\n2|A2|1|6.00";
    let found = proposed(Order, order, Vec::new());
    assert!(found.warnings.iter().any(|words| words.contains("with tax")), "{:?}", found.warnings);
}

#[test]
fn totals_and_repeated_headers_are_skipped() {
    let text =
        "SKU|Name|Price\nA1|Bolt|1.00\nA2|Nut|2.00\nSubtotal||3.00\nSKU|Name|Price\nA3|Pin|3.00\nGrand total:||6.00";
    let found = check(Item, text, &["externalId=SKU", "name=Name", "price=Price"]);
    says(&found, &["skip_where = { column = \"SKU\", matches = \"(?i)^(Subtotal|Grand total:|SKU)$\" }"]);
    assert!(found.fields.iter().all(|field| field.confidence.to_string() == "sure"));
    let german = "Artikelnr|Bezeichnung|Preis\n1|Bolzen|1,00\n2|Mutter|2,00\n|Summe netto|3,00";
    let found = check(Item, german, &["externalId=Artikelnr", "name=Bezeichnung", "price=Preis"]);
    says(&found, &["skip_where = { column = \"Bezeichnung\", matches = \"(?i)^(Summe netto)$\" }"]);
    let product = "SKU|Name|Price\nA1|Total|1.00\nA2|Nut|2.00";
    let found = check(Item, product, &["externalId=SKU", "name=Name", "price=Price"]);
    says(&found, &["# skip_where = { column = \"Name\", matches = \"^(Total)\" }"]);
}

#[test]
fn names_in_the_first_row_of_a_product_are_filled_down() {
    let text = "Handle|Title|Variant SKU|Price\nmug|Mug|M-1|1.00\nmug||M-2|2.00\ncup|Cup|C-1|3.00\ncup||C-2|4.00";
    let found = check(Item, text, &["externalId=Variant SKU", "name=Title", "price=Price"]);
    says(&found, &["fill_down = { columns = [\"Title\"], within = \"Handle\" }"]);
    let alone = "name|assets|sku|price\nMug|a.png|M-1|1.00\n||M-2|2.00\nCup|b.png|C-1|3.00";
    let found = check(Item, alone, &["externalId=sku", "name=name", "price=price"]);
    says(&found, &["fill_down = [\"name\"]"]);
    let unknown = "SKU|Name|Price\nM-1|Mug|1.00\nM-2||2.00\nC-1|Cup|3.00";
    let found = check(Item, unknown, &["externalId=SKU", "name=Name", "price=Price"]);
    says(&found, &["# fill_down = [\"Name\"]"]);
}

#[test]
fn notes_below_a_list_get_no_name() {
    let list = "SKU|Name|Price\nA1|Bolt|1.50\nA2|Nut|2.50\n";
    for notes in ["As of: 01.01.2026||", "Tel. 030 12345||\nPage 1/1||\nwww.example.com||", "(2 rows affected)||"] {
        let found = proposed(Item, &format!("{list}{notes}"), Vec::new());
        assert!(!found.toml.contains("fill_down"), "{}", found.toml);
    }
    let variants = "SKU|Name|Photo|Price\nA1|Bolt|a.png|1.50\nA2|||2.50\nB1|Nut|b.png|3.00\nPage 1/1|||";
    let found = proposed(Item, variants, Vec::new());
    says(&found, &["# fill_down = [\"Name\"]"]);
}

fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[A-Z]{1,3}-?[0-9]{1,5}",
        "[0-9]{1,4}[.,][0-9]{1,3}",
        "[0-3][0-9][./-][01][0-9][./-]20[0-9]{2}( [0-9]{2}:[0-9]{2})?",
        "[a-z]{1,8}( [a-z]{1,8}){0,3}",
        any::<String>(),
    ]
}

fn name() -> impl Strategy<Value = String> {
    let known = [
        "SKU",
        "Name",
        "Price",
        "price",
        "Price (EUR)",
        "Order no",
        "Date",
        "Qty",
        "Status",
        "Customer ID",
        "Invoice no",
        "Type",
        "A",
        "B",
        "c",
        "",
        "sheetport_row",
        "商品コード",
        "MwSt",
        "Active",
        "externalId",
        "id",
    ];
    prop_oneof![3 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => cell()]
}

proptest! {
    #[test]
    fn any_sheet_gives_a_template_that_loads_or_lists_missing_fields(
        names in prop::collection::vec(name(), 0..7),
        values in prop::collection::vec(prop::collection::vec(cell(), 0..8), 0..12),
        titles in prop::collection::vec(cell(), 0..3),
        kind in prop::sample::select(RecordKind::ALL.to_vec()),
    ) {
        let lines = titles.into_iter().map(|title| vec![title]).chain([names]).chain(values);
        let rows: Vec<Row> = lines.enumerate().map(|(index, cells)| {
            let mut row = Row::default();
            row.clear(index as u64 + 1);
            cells.iter().for_each(|cell| row.push(Cell::Text(cell)));
            row
        }).collect();
        let sample = Sample::new(rows.clone(), kind);
        let found = propose(kind, &sample, &Context { file: "a\"\n\\.csv".to_owned(), ..Context::default() });
        match load("proposal", &found.toml, &no_tables) {
            Ok(template) => {
                // What a line is about is not required by the form of the template.
                let needed = kind.input().needs_one_of;
                prop_assert!(found.missing.iter().all(|missing| needed.contains(&missing.field.name)));
                let layout = bind(&template, &rows);
                prop_assert!(layout.is_ok(), "{:?}\n{}", layout.err(), found.toml);
                prop_assert_eq!(layout.ok().map(|layout| layout.header.row), sample.header_row);
            }
            Err(error) => {
                let named = found.missing.iter().any(|missing| error.to_string().contains(missing.field.name));
                prop_assert!(named, "{error}\n{}", found.toml);
            }
        }
    }
}
