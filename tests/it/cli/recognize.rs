//! Files without a template, and warnings before sending.

use super::process::Place;
use super::service::Served;
use super::{accounting, summary};

const ITEMS: &str = "SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,0.20\n";

#[test]
fn the_samples_are_recognized() {
    let place = Place::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");
    for (file, template) in [
        ("business-central-items.xlsx", "business-central-items"),
        ("exported-items.csv", "exported-items"),
        ("exported-orders.csv", "exported-orders"),
        ("exported-transactions.csv", "exported-transactions"),
        ("invoices.csv", "invoices"),
        ("items.csv", "items"),
        ("items.xlsx", "items"),
        ("odoo-products.xlsx", "odoo-products"),
        ("orders.csv", "orders"),
        ("shopify-orders.csv", "shopify-orders"),
        ("shopify-products.csv", "shopify-products"),
        ("square-catalog.csv", "square-catalog"),
        ("subscriptions.csv", "subscriptions"),
        ("transactions.csv", "transactions"),
        ("woocommerce-products.csv", "woocommerce-products"),
        ("xero-invoices.csv", "xero-invoices"),
        ("xero-items.csv", "xero-items"),
    ] {
        let ended = place.sheetport(["check", &format!("{samples}/{file}"), "--json"]).run();
        assert_eq!(summary(&ended)["template"], template, "{file}");
    }
    place
        .sheetport(["check", &format!("{samples}/items.csv")])
        .exits(0)
        .says(&["template items (built in, for items): uses 8 of 8 columns; 25 of the first 25 rows are valid"]);
}

#[test]
fn a_template_next_to_the_file_or_of_an_earlier_run_is_preferred() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", ITEMS);
    let toml = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n\
                [fields.price]\ncolumn = \"Price\"\nscale = 100\n";
    place.write("cents.toml", toml);
    let template = || summary(&place.sheetport(["check", "items.csv", "--json"]).exits(0))["template"].clone();
    assert_eq!(template(), "cents.toml");

    let elsewhere = place.path("templates");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::rename(place.path("cents.toml"), elsewhere.join("cents.toml")).unwrap();
    assert_eq!(template(), "items");
    served.sheetport(&place, ["upload", "items.csv", "-t", "templates/cents.toml"]).exits(0);
    assert_eq!(template(), "templates/cents.toml");
}

#[test]
fn recognized_templates_send_only_after_confirmation() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", ITEMS);
    let upload =
        |flags: &[&str]| served.sheetport(&place, ["upload", "items.csv", "--json"].iter().chain(flags).copied());
    let refused = upload(&[]).exits(2);
    assert!(
        refused.stderr.contains("name it: sheetport upload items.csv -t items, or accept it with --yes"),
        "{refused:?}"
    );
    assert_eq!(served.total(), 0);
    assert_eq!(accounting(&summary(&upload(&["--dry-run"]).exits(0))), "2: pending 2");
    assert_eq!(accounting(&summary(&upload(&["--yes"]).exits(0))), "2: sent 2");
    place.write("home/sheetport.toml", "[profiles.default]\naccept_recognized = true\n");
    assert_eq!(accounting(&summary(&upload(&[]).exits(0))), "2: sent 2");
}

#[test]
fn files_that_no_template_fits_are_refused_with_advice() {
    let place = Place::new();
    place.write("people.csv", "Who,Where\nAnna,Berlin\n");
    let refused = place.sheetport(["check", "people.csv"]).exits(2);
    assert!(refused.stderr.contains("no template fits people.csv"), "{refused:?}");
    assert!(refused.stderr.contains("sheetport template infer people.csv"), "{refused:?}");
}

#[test]
fn the_kind_of_a_proposal_is_left_to_a_person() {
    let place = Place::new();
    place.write("orders.csv", std::fs::read(super::sample("orders-in-rows.csv")).unwrap());
    let refused = place.sheetport(["check", "orders.csv"]).exits(2);
    refused.says(&["the nearest is orders", "sheetport template infer orders.csv -o"]);
}

#[test]
fn a_wrong_template_names_the_right_one() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("orders.csv", "Order,SKU,Quantity\nA,x,1\n");
    for command in [&["check"][..], &["upload"], &["upload", "--dry-run"]] {
        let arguments = command.iter().chain(&["orders.csv", "-t", "stock-count"]).copied();
        let refused = served.sheetport(&place, arguments).exits(2);
        assert!(refused.stderr.contains("use -t orders: template orders (built in, for orders)"), "{refused:?}");
    }
}

#[test]
fn strict_makes_warnings_problems() {
    let place = Place::new();
    let served = Served::start(&place);
    let rule = "[[rules]]\nrule = \"price < 1\"\nseverity = \"warning\"\n";
    let toml =
        format!("record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.price]\ncolumn = \"Price\"\n{rule}");
    place.write("t.toml", toml);
    place.write("items.csv", ITEMS);
    let checked =
        |flags: &[&str]| place.sheetport(["check", "items.csv", "-t", "t.toml", "--json"].iter().chain(flags));
    assert_eq!(accounting(&summary(&checked(&[]).exits(0))), "2: pending 2");
    assert_eq!(accounting(&summary(&checked(&["--strict"]).exits(3))), "2: rejected 1, pending 1");
    let upload = ["upload", "items.csv", "-t", "t.toml", "--strict", "--json"];
    assert_eq!(accounting(&summary(&served.sheetport(&place, upload).exits(3))), "2: sent 1, rejected 1");
}

#[test]
fn strict_sends_nothing_of_a_file_with_a_warning() {
    let place = Place::new();
    let served = Served::start(&place);
    let rows = |zeros: &str| (1..=9).map(|row| format!("A-{row},{row}{zeros}\n")).collect::<String>();
    place.write("items.csv", format!("SKU,Price\n{}", rows("")));
    place.write("thousand.csv", format!("SKU,Price\n{}", rows("000")));
    served.sheetport(&place, ["upload", "items.csv", "-t", "items"]).exits(0);
    let strict = |command| served.sheetport(&place, [command, "thousand.csv", "-t", "items", "--strict", "--json"]);
    strict("check").exits(3);
    let withheld = strict("upload").exits(3);
    assert_eq!(accounting(&summary(&withheld)), "9: pending 9");
    assert!(
        withheld.stderr.contains("nothing was sent: the file has warnings, and --strict was given"),
        "{withheld:?}"
    );
}

#[test]
fn a_template_for_another_kind_of_record_names_the_one_that_uses_more_columns() {
    let place = Place::new();
    let lines = "Order No,Customer,SKU,Product,Quantity,Unit price,Order date\n\
                 1001,Ann,A,Bolt,2,1.50,2026-01-03\n1002,Bob,B,Nut,3,2.50,2026-01-04\n";
    place.write("lines.csv", lines);
    let seen = summary(&place.sheetport(["check", "lines.csv", "-t", "items", "--json"]).exits(3));
    assert_eq!(seen["warnings"][0]["code"], "other-template", "{seen}");
    let message = "the sheet may be a list of orders: the template orders uses 5 of its 7 columns, items uses 3";
    assert_eq!(seen["warnings"][0]["message"], message);
    let seen = summary(&place.sheetport(["check", "lines.csv", "-t", "orders", "--json"]).exits(0));
    assert_eq!(seen["warnings"], serde_json::json!([]), "{seen}");
}

#[test]
fn names_of_prices_are_not_letters_of_columns_in_a_wide_sheet() {
    let place = Place::new();
    let extra: String = (1..700).map(|column| format!(",Extra{column}")).collect();
    let cells: String = (1..700).map(|column| format!(",{column}")).collect();
    place.write("wide.csv", format!("SKU,Name{extra}\nK-1,Bolt{cells}\nK-2,Nut{cells}\n"));
    let explained = place.sheetport(["explain", "wide.csv", "-t", "items", "--row", "2", "--json"]).exits(0).json();
    assert_eq!(explained["request"]["body"], serde_json::json!({"externalId": "K-1", "name": "Bolt"}));
    let letters = "record = \"item\"\n[fields.externalId]\ncolumn = \"A\"\n[fields.price]\ncolumn = \"VK\"\n";
    place.write("letters.toml", letters);
    let explained = place.sheetport(["explain", "wide.csv", "-t", "letters.toml", "--row", "2", "--json"]);
    assert_eq!(explained.exits(0).json()["request"]["body"]["price"], 581);
}

#[test]
fn rows_of_a_record_whose_numbers_differ_in_spaces_are_a_warning() {
    let place = Place::new();
    place.write("orders.csv", "Order No,SKU,Quantity,Unit price\n1001,A,2,1.50\n 1001 ,B,3,2.50\n1002,B,3,2.50\n");
    let seen = summary(&place.sheetport(["check", "orders.csv", "-t", "orders", "--json"]).exits(0));
    assert_eq!(
        (&seen["warnings"][0]["code"], &seen["warnings"][0]["rows"]),
        (&"nearly-the-same".into(), &serde_json::json!([3])),
        "{seen}"
    );
    assert_eq!(seen["warnings"].as_array().map(Vec::len), Some(1), "{seen}");
    place.write("items.csv", "SKU,Name\nA,Bolt\n A ,Nut\n");
    place.sheetport(["check", "items.csv", "-t", "items"]).exits(3).shows(&["the other is in row"]);
}

#[test]
fn lists_of_something_else_are_no_items() {
    let place = Place::new();
    for (about, text) in [
        ("people", "Ref.,Name,E-mail,Phone,Birthday\n1,Anna,a@x.de,0301,1990-01-01\n2,Bob,b@x.de,0302,1991-02-01\n"),
        ("customers", "Código,Nombre,Ciudad,Teléfono,Estado\nC1,Ana,Madrid,91,activo\nC2,Juan,Roma,92,activo\n"),
        (
            "bookings",
            "Ref.,Date,Description,Debit,Credit,Balance\nT1,2026-01-01,Rent,10.00,,110.00\nT2,2026-01-02,Fee,,2.00,90.00\n",
        ),
        ("employees", "SKU,Name,E-mail,Department,Start\n17,Anna,a@x.de,Sales,2020\n18,Bob,b@x.de,IT,2021\n"),
        ("Kunden", "Artikelnummer;Bezeichnung;Kundenname;Telefon\n1;Anna;A;0301\n2;Bob;B;0302\n"),
        (
            "shipments",
            "Tracking,Carrier,SKU,Weight,Status,Date\nT1,DHL,A,2,open,2026-01-01\nT2,UPS,B,3,sent,2026-01-02\n",
        ),
    ] {
        place.write("list.csv", text);
        place.sheetport(["check", "list.csv"]).exits(2).says(&["no template fits list.csv"]);
        let seen = summary(&place.sheetport(["check", "list.csv", "-t", "items", "--json"]).run());
        assert_eq!(seen["warnings"][0]["code"], "foreign-sheet", "{about}: {seen}");
    }
    // Plain lists of items are recognized without a warning.
    for text in [
        "SKU,Name,Category,Brand\nA,Bolt,x,y\nB,Nut,x,y\n",
        "Ref.,Name\nA,Bolt\nB,Nut\n",
        "Ref.,Name,Price,Date,Email\nA,Bolt,5,,\nB,Nut,6,,\n",
        "SKU,Name,Color,Size,Supplier e-mail\nA,Bolt,red,XL,a@x.de\nB,Nut,red,S,a@x.de\n",
        "SKU,Status,Brand,Color\nA,active,x,red\nB,active,x,red\n",
    ] {
        place.write("items.csv", text);
        let seen = summary(&place.sheetport(["check", "items.csv", "--json"]).exits(0));
        assert_eq!((&seen["template"], &seen["warnings"]), (&"items".into(), &serde_json::json!([])), "{text}");
    }
}

/// Sheets about something else than the records of a template, and what the warning says they are.
const OTHER_SHEETS: [(&str, &str, &str); 48] = [
    ("items", "SKU,Title,Rating,Review\nA,Great bolt,5,Holds\nB,Poor nut,2,Broke\n", "reviews instead of items"),
    ("items", "SKU,Title,Description,Status,Stars\nA,Great,Holds,new,5\nB,Poor,Broke,new,1\n", "reviews"),
    ("items", "Référence,Nom,Étoiles,Avis\nA,Boulon,5,Bien\nB,Écrou,2,Cassé\n", "reviews"),
    (
        "transactions",
        "Date,Type,SKU,Quantity,Rating,Review\n2026-01-01,in,A,5,5,ok\n2026-01-02,in,B,2,4,ok\n",
        "reviews",
    ),
    (
        "orders",
        "Order number,SKU,Quantity returned,Reason\n1001,A,1,small\n1002,B,2,broken\n",
        "returns instead of orders",
    ),
    (
        "orders",
        "RMA,Order no,SKU,Qty,Date,Status\nR1,1001,A,1,2026-01-03,open\nR2,1002,B,2,2026-01-04,open\n",
        "returns",
    ),
    (
        "orders",
        "Bestellnummer;Artikelnummer;Menge;Rücksendegrund;Eingang\n1001;A;1;klein;x\n1002;B;2;defekt;x\n",
        "returns",
    ),
    ("orders", "N° de commande;Référence;Quantité;Motif du retour\n1001;A;1;petit\n1002;B;2;cassé\n", "returns"),
    ("invoices", "Invoice no,Customer ID,Item ID,Quantity,Return reason\n1,c,i,1,broken\n2,c,i,2,late\n", "returns"),
    ("orders", "Order no,Employee,Date,Hours\n1001,Ann,2026-01-03,4.5\n1002,Bob,2026-01-04,8\n", "working hours"),
    (
        "orders",
        "Auftrag;Mitarbeiter;Datum;Stunden\n1001;Anna;03.01.2026;4,5\n1002;Bernd;04.01.2026;8\n",
        "working hours",
    ),
    (
        "orders",
        "Order no,Customer no,Date,Method,Transaction ID\n1,C,2026-01-03,card,c1\n2,D,2026-01-04,card,c2\n",
        "payments",
    ),
    (
        "orders",
        "Order no,Customer no,Date,Carrier,Tracking\n1,C,2026-01-05,DHL,J1\n2,D,2026-01-06,UPS,Z1\n",
        "shipments",
    ),
    ("items", "SKU,Product,Serial,Claim no,Fault\nA,Drill,S1,W1,motor\nB,Saw,S2,W2,blade\n", "claims"),
    (
        "items",
        "Ref.,Title,Description,Status,Priority\n1,Crash,It crashes,open,high\n2,Slow,It is slow,open,low\n",
        "claims",
    ),
    ("items", "Item no,Name,Serial number,Assigned to\nA,Laptop,S1,Ann\nB,Phone,S2,Bob\n", "single devices"),
    (
        "items",
        "Invoice no,SKU,Product,Qty,Price\n9001,A,Bolt,3,2.50\n9002,B,Nut,4,0.20\n",
        "sales or purchase documents",
    ),
    (
        "items",
        "Quote no,SKU,Name,Quantity,Price,Customer\n1,A,Bolt,5,1.00,X\n2,B,Nut,2,0.10,Y\n",
        "sales or purchase documents",
    ),
    ("items", "SKU,Product,Units sold,Revenue,Month\nA,Bolt,50,9.00,1\nB,Nut,20,4.00,1\n", "sales figures"),
    ("items", "SKU,Name,From,To,Quantity,Moved on\nA,Bolt,L1,L2,5,x\nB,Nut,L2,L3,7,x\n", "stock movements"),
    ("items", "SKU,Campaign,Clicks,Cost\nA,Spring,50,12.50\nB,Spring,40,8.00\n", "campaigns"),
    ("items", "SKU,Name,Expected,Counted,Difference\nA,Bolt,10,9,-1\nB,Nut,5,6,1\n", "stock counts"),
    ("items", "Artikelnummer;Name;Preis;Kontonummer;BIC\n1;REWE;23,40;123;X\n2;Shell;50,00;123;X\n", "payments"),
    ("items", "SKU,Title,Price,Fee type,Payout ID,Payout date\nA,Drill,9,F,P1,x\nB,Saw,5,F,P2,y\n", "payments"),
    ("orders", "Order no.,Customer no.,Call date,Duration\n1,C1,2026-01-01,5\n2,C2,2026-01-02,7\n", "working hours"),
    (
        "invoices",
        "Rechnungsnummer;Kunden-ID;Artikel-ID;Menge;Mahnstufe;Überfällig seit\n1;c;i;1;2;x\n2;c;j;2;1;y\n",
        "overdue payments",
    ),
    ("items", "SKU,Name,Jan,Feb,Mar\nA,Bolt,10,20,30\nB,Nut,5,6,7\n", "figures by month"),
    (
        "items",
        "Artikelnummer;Bezeichnung;Stückliste;Position;Menge\nA;Bolzen;ST-1;10;4\nB;Mutter;ST-1;20;4\n",
        "parts lists",
    ),
    ("items", "SKU,Name,Lent to,Lent on,Due back\nA,Drill,Ann,x,y\nB,Saw,Bob,x,y\n", "single devices"),
    (
        "items",
        "Referencia;Descripción;Cantidad;Precio;Descuento;Total;Presupuesto\nA;Perno;2;10,00;0;20,00;PR-1\nB;Tuerca;1;0,10;0;0,10;PR-1\n",
        "sales or purchase documents",
    ),
    (
        "invoices",
        "Invoice no,Customer ID,Item ID,Qty,0-30 days,31-60 days,61-90 days,Total due\n1,c,i,1,5.00,0.00,0.00,5.00\n2,c,i,2,0.00,7.00,0.00,7.00\n",
        "overdue payments",
    ),
    ("items", "Código,Nombre,Horas,Precio,Total\nE1,Ana,30,12.50,375.00\nE2,Bea,31,12.50,387.50\n", "wages"),
    (
        "items",
        "Código,Empleado,Puesto,Precio,Horas extra,Neto\nE1,Ana,Caja,12.50,2,1200.00\nE2,Bea,Caja,12.50,1,1300.00\n",
        "people",
    ),
    (
        "items",
        "Référence,Nom,Prix unitaire,Heures supplémentaires,Cotisations\nE1,Anne,12.50,2,3.00\nE2,Luc,12.50,1,4.00\n",
        "wages",
    ),
    (
        "transactions",
        "Date,Type,SKU,Quantity,Sensor,Temperature\n2026-01-01,in,S-1,5,T-1,20.5\n2026-01-02,in,S-1,6,T-1,21.0\n",
        "measurements",
    ),
    (
        "transactions",
        "Datum;Bewegung;Artikelnummer;Menge;Zeitstempel;Messwert\n2026-01-01;Zugang;S-1;5;10:00;20,5\n2026-01-02;Zugang;S-1;6;11:00;21,5\n",
        "measurements",
    ),
    (
        "items",
        "Ref.,Name,Room,Check-in,Check-out,Nights,Price\nB1,Smith,101,x,y,3,150.00\nB2,Jones,102,x,y,2,99.00\n",
        "bookings",
    ),
    ("items", "Bestellnummer;Name;Anreise;Abreise;Preis\nB1;Schmidt;x;y;150,00\nB2;Meier;x;y;99,00\n", "bookings"),
    (
        "items",
        "Ref.,Name,Result,Units,Reference range,Price\nS1,Glucose,5.1,mmol,4-6,9.00\nS2,Iron,12,umol,9-30,8.00\n",
        "measurements",
    ),
    (
        "items",
        "Ref.,Description,Km,Driver,Odometer,Price\nV1,To Bonn,100,Ann,20000,0.30\nV2,To Ulm,150,Bob,20150,0.30\n",
        "trips",
    ),
    (
        "items",
        "Référence,Nom,Adresse,Code postal,Ville,Prix\nC1,Dupont,Rue 1,75001,Paris,5.00\nC2,Petit,Rue 2,75002,Paris,6.00\n",
        "addresses",
    ),
    (
        "items",
        "Item no,Name,Straat,Postcode,Plaats\nC1,Jansen,Weg,1001AB,Utrecht\nC2,de Vries,Weg,1002AB,Utrecht\n",
        "addresses",
    ),
    ("items", "Código,Nombre,Pregunta 1,Pregunta 2\nR1,Ana,5,4\nR2,Bea,3,2\n", "survey answers"),
    (
        "items",
        "Ref.,Name,Shares,Price,Market value,Dividend\nX,Acme,10,100.00,1000.00,1.00\nY,Ajax,20,50.00,1000.00,2.00\n",
        "securities",
    ),
    (
        "items",
        "Lieferschein-Nr.;Artikelnummer;Bezeichnung;Paletten\nD1;A1;Schraube;1\nD2;A2;Mutter;2\n",
        "delivery notes",
    ),
    (
        "orders",
        "Delivery note no,Order no,Item no,Quantity,Weight kg,Pallets\nD1,O1,A1,5,2,1\nD2,O2,A2,6,3,1\n",
        "delivery notes",
    ),
    (
        "invoices",
        "Invoice no,Customer ID,Item ID,Qty,Expense type,Reimbursed\n1,c,i,1,Taxi,yes\n2,c,j,1,Train,no\n",
        "expenses",
    ),
    (
        "items",
        "SKU,Name,Price,Competitor price,Shop,URL\nA,Bolt,1.00,1.10,X,u\nB,Nut,0.10,0.20,X,u\n",
        "price comparisons",
    ),
];

#[test]
fn sheets_about_something_else_are_warned_of_and_not_recognized() {
    let place = Place::new();
    for (template, text, topic) in OTHER_SHEETS {
        place.write("list.csv", text);
        let seen = summary(&place.sheetport(["check", "list.csv", "-t", template, "--json"]).run());
        let warning = seen["warnings"].as_array().unwrap().iter().find(|warning| warning["code"] == "foreign-sheet");
        let warning = warning.unwrap_or_else(|| panic!("{text}: {seen}"));
        assert!(warning["message"].as_str().is_some_and(|message| message.contains(topic)), "{text}: {seen}");
        place.sheetport(["check", "list.csv"]).exits(2).says(&["no template fits list.csv"]);
    }
    // Prices of several days are those of the same items.
    place.write(
        "list.csv",
        "SKU,Date,Price\nA,2026-01-01,5.00\nA,2026-02-01,5.50\nB,2026-01-01,1.00\nB,2026-02-01,1.10\n",
    );
    place.sheetport(["check", "list.csv"]).exits(2).says(&["no template fits list.csv"]);
    place.sheetport(["check", "list.csv", "-t", "items"]).exits(3);
}

#[test]
fn columns_of_other_topics_beside_those_of_a_template_are_no_reason_for_a_warning() {
    let place = Place::new();
    for (template, text) in [
        ("items", "SKU,Title,Price,Rating,Reviews count\nA,Bolt,5.00,4.5,120\nB,Nut,0.20,4.1,33\n"),
        ("items", "SKU,Name,Description,Brand,Average rating,Number of reviews\nA,Bolt,x,y,4.5,12\nB,Nut,x,y,4.1,9\n"),
        (
            "items",
            "SKU,Name,Price,Returnable,Return policy,Warranty\nA,Bolt,1.00,yes,30 days,2 years\nB,Nut,0.10,no,,\n",
        ),
        ("items", "SKU,Name,Old price,New price,Valid from\nA,Bolt,1.00,1.10,2026-01-01\nB,Nut,0.10,0.20,2026-01-01\n"),
        ("items", "Item no,Item name,Supplier,Lead time,Purchase price\nA,Bolt,X,5,1.00\nB,Nut,Y,5,0.10\n"),
        (
            "items",
            "SKU,Name,Price,Supplier,Supplier e-mail,Supplier phone\nA,Bolt,1.00,X,x@x.de,1\nB,Nut,0.10,X,x@x.de,1\n",
        ),
        ("items", "SKU,Name,Price,Storage temperature,Voltage\nA,Lamp,1.00,20,230\nB,Fan,0.10,20,230\n"),
        ("items", "SKU,Name,Price,Mileage,Color\nA,Car,1000.00,20000,red\nB,Van,900.00,30000,red\n"),
        ("items", "SKU,Name,Stock,Location\nA,Bolt,5,L1\nB,Nut,7,L2\n"),
        ("orders", "Order no,Customer,SKU,Quantity,Note\n1001,X,A,5,a\n1002,Y,B,6,b\n"),
        ("orders", "Order no,SKU,Quantity,Qty shipped,Qty returned,Unit price\n1001,A,5,5,0,1.00\n1002,B,6,4,1,2.00\n"),
        ("orders", "Order no,Delivery status,Delivery date,Carrier\n1001,shipped,2026-01-05,DHL\n1002,pending,,UPS\n"),
        ("transactions", "Date,Type,SKU,Quantity,Reason,Employee\n2026-01-01,in,A,5,x,Ann\n2026-01-02,out,B,2,y,Bob\n"),
    ] {
        place.write("list.csv", text);
        let seen = summary(&place.sheetport(["check", "list.csv", "--json"]).exits(0));
        assert_eq!((&seen["template"], &seen["warnings"]), (&template.into(), &serde_json::json!([])), "{text}");
    }
    place.write("list.csv", "Location,SKU,Expected,Counted,Difference,Counted by\nL1,A,10,9,-1,Ann\nL1,B,5,6,1,Bob\n");
    let seen = summary(&place.sheetport(["check", "list.csv", "-t", "stock-count", "--json"]).exits(0));
    assert_eq!(seen["warnings"], serde_json::json!([]), "{seen}");
}

#[test]
fn templates_with_constants_are_named_and_never_chosen() {
    let place = Place::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");
    for (file, template, sets) in [
        ("german-price-list.csv", "german-price-list", "currency, status"),
        ("japanese-price-list.csv", "japanese-price-list", "currency"),
        ("stock-count.xlsx", "stock-count", "transactionType, inventoryType"),
    ] {
        let path = format!("{samples}/{file}");
        let says = format!("-t {template} fits, but it sets {sets} by itself");
        place.sheetport(["check", &path]).run().says(&[&says]);
        let named = place.sheetport(["check", &path, "-t", template, "--json"]).run();
        assert_eq!(summary(&named)["template"], template, "{file}");
    }
}

#[test]
fn headers_of_prices_may_name_the_currency() {
    let place = Place::new();
    for (header, currency) in [
        ("Price USD", "USD"),
        ("Net price EUR", "EUR"),
        ("Unit price (EUR)", "EUR"),
        ("Preis in €", "EUR"),
        ("Listenpreis [CHF]", "CHF"),
    ] {
        place.write("items.csv", format!("SKU,Name,{header}\nA,Bolt,5.50\nB,Nut,0.20\n"));
        let seen = summary(&place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(0));
        assert_eq!(seen["warnings"], serde_json::json!([]), "{header}");
        assert_eq!(seen["profile"]["currencies"][currency], 2, "{header}: {seen}");
    }
    for header in ["Price TEUR", "Price k€", "Price (cents)"] {
        place.write("items.csv", format!("SKU,Name,{header}\nA,Bolt,5.50\nB,Nut,0.20\n"));
        let seen = summary(&place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(0));
        assert_eq!(seen["warnings"][0]["code"], "unused-column", "{header}: {seen}");
    }
    // Two prices are not told apart by their currencies.
    place.write("items.csv", "SKU,Name,Price EUR,Price USD\nA,Bolt,5.50,6.00\n");
    let seen = summary(&place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(0));
    assert_eq!(seen["warnings"][0]["code"], "unused-column", "{seen}");
}
