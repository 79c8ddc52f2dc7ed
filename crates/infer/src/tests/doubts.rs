//! Columns with a name that often means something else: balances of a stock, quantities delivered, and any status.

use sheetport_records::RecordKind::{self, InventoryTransaction, Item, Order};
use sheetport_sheet::{Cell, Row};

use super::super::{Confidence, Context, Proposal, ProposedSource, Sample, propose};

fn proposed(kind: RecordKind, header: &str, rows: &[&str]) -> Proposal {
    let lines = std::iter::once(&header).chain(rows);
    let rows = (1..).zip(lines).map(|(number, line)| {
        let mut row = Row::default();
        row.clear(number);
        line.split(';').for_each(|cell| row.push(if cell.is_empty() { Cell::Blank } else { Cell::Text(cell) }));
        row
    });
    let context = Context { file: "sheet.csv".to_owned(), ..Context::default() };
    propose(kind, &Sample::new(rows.collect(), kind), &context)
}

/// Returns the column of a field and how certain it is.
fn column(proposal: &Proposal, path: &str) -> Option<(String, Confidence)> {
    let field = proposal.fields.iter().find(|field| field.path() == path)?;
    match &field.source {
        ProposedSource::Column { label, .. } => Some((label.clone(), field.confidence.clone())),
        _ => None,
    }
}

#[test]
fn a_balance_is_no_movement() {
    for header in [
        "Datum;Artikelnummer;Buchungsart;Zugang;Abgang;Bestand",
        "Date;Réf. article;Type de mouvement;Entrée;Sortie;Stock",
        "Fecha;Código artículo;Tipo de movimiento;Entrada;Salida;Existencias",
        "Data;Codice articolo;Causale;Carico;Scarico;Giacenza",
        "Datum;Artikelcode;Mutatiesoort;In;Uit;Voorraad",
        "Data;Kod towaru;Typ ruchu;Przychód;Rozchód;Stan",
        "Дата;Номенклатура;Вид операции;Приход;Расход;Остаток",
        "日期;商品编码;业务类型;入库数量;出库数量;库存数量",
        "日付;商品コード;入出庫区分;入庫数;出庫数;在庫数",
        "일자;품목코드;입출고구분;입고수량;출고수량;재고수량",
        "Date;SKU;Movement type;In;Out;Balance",
        "Date;SKU;Movement type;Received;Issued;Stock on hand",
        "Tarih;Stok Kodu;Hareket Türü;Giriş;Çıkış;Bakiye",
        "Datum;Artikelnr;Transaktionstyp;In;Ut;Saldo",
        "Data;Código do produto;Tipo de movimento;Entrada;Saída;Estoque",
        "Datum;Kód zboží;Typ pohybu;Příjem;Výdej;Zásoba",
    ] {
        let rows = ["2026-01-05;A-1;x;20;0;120", "2026-01-06;A-2;y;0;3;57", "2026-01-07;A-3;x;7;0;64"];
        let found = proposed(InventoryTransaction, header, &rows);
        assert_eq!(column(&found, "transactionAmount"), None, "{header}");
    }
    for header in
        ["SKU;Type;Quantity;Balance", "Artikelnummer;Buchungsart;Menge;Lagerbestand", "商品编码;类型;变动数量;库存数量"]
    {
        let found = proposed(InventoryTransaction, header, &["A-1;x;20;120", "A-2;y;3;57", "A-3;x;7;64"]);
        let balance = header.rsplit_once(';').map(|(_, balance)| balance);
        let is_balance = |path: &str| column(&found, path).is_some_and(|(label, _)| Some(label.as_str()) == balance);
        assert!(!is_balance("amount") && !is_balance("transactionAmount"), "{header}");
    }
    for balance in ["Bestand", "Stock quantity", "Giacenza", "库存数量", "Остаток на складе", "Available"]
    {
        let found = proposed(InventoryTransaction, &format!("SKU;Type;{balance}"), &["A-1;x;20", "A-2;y;3", "A-3;x;7"]);
        let (label, confidence) = column(&found, "transactionAmount").expect("a quantity");
        assert_eq!((label.as_str(), confidence == Confidence::Sure), (balance, false));
    }
}

#[test]
fn any_status_is_not_surely_about_delivery() {
    for status in
        ["Status", "Statut", "Estado", "Stato", "Stav", "Статус", "ステータス", "状态", "상태", "Durum", "Situação"]
    {
        let header = format!("Order number;Order date;Customer;{status}");
        let of = |values: [&str; 2]| {
            let rows = values.map(|value| format!("{value}-1;2026-01-05;C1;{value}"));
            column(&proposed(Order, &header, &rows.each_ref().map(String::as_str)), "deliveryStatus")
        };
        assert_eq!(of(["paid", "refunded"]), Some((status.to_owned(), Confidence::Guess)));
        assert_ne!(of(["open", "sent"]).map(|(_, confidence)| confidence), Some(Confidence::Sure), "{status}");
    }
    let found = proposed(Order, "Order number;Status;Delivery status", &["1;open;sent", "2;done;new"]);
    assert_eq!(column(&found, "deliveryStatus"), Some(("Delivery status".to_owned(), Confidence::Sure)));
}

#[test]
fn the_ordered_quantity_is_preferred_to_the_delivered_one() {
    for (number, item, ordered, delivered) in [
        ("N° commande", "Réf. article", "Qté cdée", "Qté livrée"),
        ("Ordernummer", "Artikelnr", "Beställt", "Levererat antal"),
        ("주문번호", "품목코드", "주문량", "출고수량"),
        ("Auftragsnummer", "Artikelnummer", "Bestellt", "Geliefert"),
        ("Order number", "SKU", "Ordered", "Qty shipped"),
    ] {
        let header = format!("{number};{item};{delivered};{ordered}");
        let found = proposed(Order, &header, &["1;A1;2;3", "1;A2;1;1", "2;A1;0;5"]);
        let quantity = column(&found, "lines.quantity").map(|(label, _)| label);
        assert_eq!(quantity.as_deref(), Some(ordered), "{header}");
        let found = proposed(Order, &format!("{number};{item};{delivered}"), &["1;A1;2", "1;A2;1", "2;A1;0"]);
        let confidence = column(&found, "lines.quantity").map(|(_, confidence)| confidence);
        assert_ne!(confidence, Some(Confidence::Sure), "{delivered}");
    }
}

#[test]
fn values_that_cannot_be_read_leave_a_certain_name_in_place() {
    use RecordKind::Item;
    let check = |kind: RecordKind, header: &str, rows: &[&str], path: &str, expected: &str| {
        let found = proposed(kind, header, rows);
        let (label, confidence) = column(&found, path).unwrap_or_else(|| panic!("{path} has no column: {rows:?}"));
        assert_eq!((label.as_str(), confidence), (expected, Confidence::Guess), "{rows:?}");
        found
    };
    for rows in [
        ["A1;1250p", "A2;80p", "A3;95p"],
        ["A1;on request", "A2;on request", "A3;2.50"],
        ["A1;1.50 ?", "A2;2.50 ?", "A3;3.50"],
        ["A1;1", "A2;1", "A3;1"],
    ] {
        let rows: Vec<&str> = rows.iter().chain(&rows).copied().collect();
        check(Item, "SKU;Price", &rows, "price", "Price");
    }
    let found = check(Item, "SKU;Price", &["A1;on request", "A2;ask", "A3;2.50"], "price", "Price");
    assert!(found.warnings.iter().any(|warning| warning.contains("on request")), "{:?}", found.warnings);
    check(Item, "SKU;VAT", &["A1;A", "A2;B", "A3;19"], "tax", "VAT");
    check(Item, "SKU;Price;Currency", &["A1;1.50;978", "A2;2.50;978"], "currency", "Currency");
    for dates in [["46024", "46025"], ["Fri 02.01.2026", "Sat 03.01.2026"], ["KW 3", "KW 4"]] {
        let rows = dates.map(|date| format!("1;{date};A1;2"));
        let rows = rows.each_ref().map(String::as_str);
        let found = check(Order, "Order no;Order date;SKU;Qty", &rows, "orderAt", "Order date");
        assert!(found.warnings.iter().any(|warning| warning.contains("no dates")), "{:?}", found.warnings);
    }
    check(Order, "Order no;SKU;Qty;VAT", &["1;A1;2;A", "2;A2;1;B", "3;A2;1;19"], "lines.tax_rate", "VAT");
    // Another column with a name of the field is better, but not certain.
    let found = check(Item, "SKU;Price;List price", &["A1;ask;2", "A2;ask;3", "A3;4;5"], "price", "List price");
    assert!(found.fields.iter().any(|field| field.reason.contains("'Price' is possible, too")), "{}", found.toml);
}

#[test]
fn a_column_of_commands_is_neither_a_status_nor_anything_else() {
    for (kind, header, field) in [
        (Item, "Command", "SKU|Name|{}\nA-1|Bolt|NEW\nA-2|Nut|NEW\nA-3|Pin|SKIP"),
        (Item, "Aktion", "Artikelnr|Bezeichnung|{}\nA-1|Bolzen|neu\nA-2|Mutter|\nA-3|Stift|auslassen"),
        (Order, "Befehl", "Auftrag|Artikel|Menge|{}\n1|A-1|2|merge\n2|A-2|3|merge\n3|A-3|4|skip"),
    ] {
        let proposal = super::proposed(kind, &field.replace("{}", header), Vec::new());
        let of_column: Vec<String> =
            super::mapping(&proposal).into_iter().filter(|field| field.ends_with(&format!("={header}"))).collect();
        assert_eq!(of_column, [format!("command={header}")], "{}", proposal.toml);
    }
    // Other words below such a name are no commands.
    let proposal = super::proposed(Item, "SKU|Name|Aktion\nA-1|Bolt|rot\nA-2|Nut|neu", Vec::new());
    assert!(!proposal.toml.contains("[fields.command]"), "{}", proposal.toml);
}
