//! Exports of shops and accounting programs, in the languages of these programs, uploaded without naming a template. The column names
//! are those of the programs; the values are our own.

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{accounting, summary};

/// WooCommerce's columns ID, Type, SKU, Name, Published, Is featured?, Visibility in catalog, Short description, Description, Sale price,
/// Regular price and Parent, by language. The second value separates the decimals of a price.
const WOOCOMMERCE: [(&str, char, [&str; 12]); 12] = [
    (
        "en",
        '.',
        [
            "ID",
            "Type",
            "SKU",
            "Name",
            "Published",
            "Is featured?",
            "Visibility in catalog",
            "Short description",
            "Description",
            "Sale price",
            "Regular price",
            "Parent",
        ],
    ),
    (
        "de",
        ',',
        [
            "ID",
            "Typ",
            "Artikelnummer",
            "Name",
            "Veröffentlicht",
            "Ist hervorgehoben?",
            "Sichtbarkeit im Katalog",
            "Kurzbeschreibung",
            "Beschreibung",
            "Angebotspreis",
            "Regulärer Preis",
            "Übergeordnetes Produkt",
        ],
    ),
    (
        "fr",
        ',',
        [
            "ID",
            "Type",
            "UGS",
            "Nom",
            "Publié",
            "Mis en avant\u{a0}?",
            "Visibilité dans le catalogue",
            "Description courte",
            "Description",
            "Tarif promo",
            "Tarif régulier",
            "Parent",
        ],
    ),
    (
        "es",
        ',',
        [
            "ID",
            "Tipo",
            "SKU",
            "Nombre",
            "Publicado",
            "¿Está destacado?",
            "Visibilidad en el catálogo",
            "Descripción corta",
            "Descripción",
            "Precio rebajado",
            "Precio normal",
            "Superior",
        ],
    ),
    (
        "it",
        ',',
        [
            "ID",
            "Tipo",
            "COD",
            "Nome",
            "Pubblicato",
            "In primo piano?",
            "Visibilità nel catalogo",
            "Breve descrizione",
            "Descrizione",
            "Prezzo in offerta",
            "Prezzo di listino",
            "Genitore",
        ],
    ),
    (
        "nl",
        ',',
        [
            "ID",
            "Type",
            "Artikelnummer",
            "Naam",
            "Gepubliceerd",
            "Uitgelicht?",
            "Zichtbaarheid in catalogus",
            "Korte omschrijving",
            "Beschrijving",
            "Actieprijs",
            "Reguliere prijs",
            "Hoofd",
        ],
    ),
    (
        "ja",
        '.',
        [
            "ID",
            "タイプ",
            "SKU",
            "名前",
            "公開済み",
            "オススメですか ?",
            "カタログでの表示",
            "簡単な説明",
            "説明",
            "セール価格",
            "標準価格",
            "親",
        ],
    ),
    (
        "pt-BR",
        ',',
        [
            "ID",
            "Tipo",
            "REF",
            "Nome",
            "Publicado",
            "Em destaque?",
            "Visibilidade no catálogo",
            "Descrição curta",
            "Descrição",
            "Preço promocional",
            "Preço",
            "Ascendente",
        ],
    ),
    (
        "pt-PT",
        ',',
        [
            "ID",
            "Tipo",
            "REF",
            "Nome",
            "Publicado",
            "Em destaque?",
            "Visibilidade no catálogo",
            "Descrição breve",
            "Descrição",
            "Preço promocional",
            "Preço normal",
            "Pai",
        ],
    ),
    (
        "pl",
        ',',
        [
            "ID",
            "Typ",
            "SKU",
            "Nazwa",
            "Opublikowano",
            "Wyróżniony produkt?",
            "Widoczność w katalogu",
            "Krótki opis",
            "Opis",
            "Cena promocyjna",
            "Cena",
            "Element nadrzędny",
        ],
    ),
    (
        "sv",
        ',',
        [
            "ID",
            "Typ",
            "Artikelnummer",
            "Namn",
            "Publicerad",
            "Är utvald?",
            "Synlighet i katalog",
            "Kort beskrivning",
            "Beskrivning",
            "Reapris",
            "Ordinarie pris",
            "Överordnad",
        ],
    ),
    (
        "da",
        ',',
        [
            "ID",
            "Type",
            "Varenummer",
            "Navn",
            "Udgivet",
            "Er fremhævet (udvalgt)?",
            "Synlighed i katalog (shoppens frontend)",
            "Kort beskrivelse",
            "Beskrivelse",
            "Tilbudspris",
            "Normalpris",
            "Forældre",
        ],
    ),
];

/// Odoo's columns Internal Reference, Name, Sales Price, Cost, Sales Description, Customer Taxes and Active, by language.
const ODOO: [(&str, [&str; 7]); 8] = [
    ("en", ["Internal Reference", "Name", "Sales Price", "Cost", "Sales Description", "Customer Taxes", "Active"]),
    (
        "import-compatible",
        ["default_code", "name", "list_price", "standard_price", "description_sale", "taxes_id", "active"],
    ),
    ("de", ["Interne Referenz", "Name", "Verkaufspreis", "Kosten", "Verkaufsbeschreibung", "Kundensteuern", "Aktiv"]),
    (
        "fr",
        ["Référence interne", "Nom", "Prix de\u{a0}vente", "Coût", "Description vente", "Taxes à la vente", "Actif"],
    ),
    (
        "es",
        [
            "Referencia interna",
            "Nombre",
            "Precio de venta",
            "Coste",
            "Descripción de ventas",
            "Impuestos del cliente",
            "Activo",
        ],
    ),
    (
        "it",
        [
            "Riferimento interno",
            "Nome",
            "Prezzo di vendita",
            "Costo",
            "Descrizione vendite",
            "Imposte cliente",
            "Attivo",
        ],
    ),
    (
        "nl",
        ["Interne referentie", "Naam", "Verkoopprijs", "Kostprijs", "Omschrijving verkoop", "Verkoop BTW", "Actief"],
    ),
    ("ja", ["内部参照", "名称", "販売価格", "原価", "販売説明", "顧客税", "有効化"]),
];

/// Business Central's columns No., Description, Base Unit of Measure, Unit Cost, Unit Price and Blocked, by language.
const BUSINESS_CENTRAL: [(&str, [&str; 6]); 6] = [
    ("en", ["No.", "Description", "Base Unit of Measure", "Unit Cost", "Unit Price", "Blocked"]),
    ("de", ["Nr.", "Beschreibung", "Basiseinheit", "Einstandspreis", "VK-Preis", "Gesperrt"]),
    ("fr", ["N°", "Description", "Unité de base", "Coût unitaire", "Prix unitaire", "Bloqué"]),
    ("es", ["N.º", "Descripción", "Unidad medida base", "Coste unitario", "Precio venta", "Bloqueado"]),
    ("it", ["Nr.", "Descrizione", "Unità di misura base", "Costo unitario", "Prezzo unitario", "Bloccato"]),
    ("nl", ["Nr.", "Omschrijving", "Basiseenheid", "Kostprijs", "Eenheidsprijs", "Geblokkeerd"]),
];

/// A file, the template that it must be recognized by, how its records end, and the items that arrive: external id, name, price, cost,
/// tax and status.
struct Export {
    about: String,
    template: &'static str,
    csv: String,
    ends: &'static str,
    items: Vec<Value>,
}

fn woocommerce() -> impl Iterator<Item = Export> {
    WOOCOMMERCE.into_iter().map(|(language, point, names)| {
        let price = |text: &str| text.replace('.', &point.to_string());
        let (dear, cheap, sale) = (price("12.90"), price("7.50"), price("6.50"));
        // The page's numbers, the parent and the sale price are not sent. A draft is -1.
        let rows = [
            format!("10,variable,WOO-{language},T-Shirt,1,0,visible,,,,,"),
            format!("11,variation,WOO-{language}-S,T-Shirt - S,1,0,visible,Soft,,,\"{dear}\",WOO-{language}"),
            format!("13,\"simple, virtual\",WOO-{language}-M,Mug,-1,0,visible,,,\"{sale}\",\"{cheap}\","),
            "14,simple,,Nameless number,1,0,visible,,,,\"5\",".to_owned(),
        ];
        Export {
            about: format!("woocommerce {language}"),
            template: "woocommerce-products",
            csv: format!("{}\r\n{}\r\n", names.join(","), rows.join("\r\n")),
            ends: "4: sent 2, skipped 1, rejected 1",
            items: vec![
                json!([format!("WOO-{language}-M"), "Mug", 7.5, null, null, "draft"]),
                json!([format!("WOO-{language}-S"), "T-Shirt - S", 12.9, null, null, "active"]),
            ],
        }
    })
}

fn odoo() -> impl Iterator<Item = Export> {
    ODOO.into_iter().map(|(language, names)| {
        let rows = [
            format!("OD-{language}-1,Desk,100.0,50.0,False,VAT 21% (goods),True"),
            format!("OD-{language}-2,Lamp,20.0,10.0,LED,Exempt,False"),
            format!("OD-{language}-3,Chair,30.0,15.0,False,False,True"),
            "False,Shelf,30.0,15.0,False,,True".to_owned(),
        ];
        Export {
            about: format!("odoo {language}"),
            template: "odoo-products",
            csv: format!("{}\n{}\n", names.join(","), rows.join("\n")),
            ends: "4: sent 3, rejected 1",
            items: vec![
                json!([format!("OD-{language}-1"), "Desk", 100, 50, 21, "active"]),
                json!([format!("OD-{language}-2"), "Lamp", 20, 10, null, "archived"]),
                json!([format!("OD-{language}-3"), "Chair", 30, 15, null, "active"]),
            ],
        }
    })
}

fn business_central() -> impl Iterator<Item = Export> {
    BUSINESS_CENTRAL.into_iter().map(|(language, names)| {
        // A list of forty columns, of which most are about something else.
        let further: Vec<String> = (1..=34).map(|column| format!("Extra {column}")).collect();
        let cells = ",".repeat(further.len() - 1);
        let rows = [
            format!("BC-{language}-1,Desk,PCS,506.60,649.40,FALSE,{cells}"),
            format!("BC-{language}-2,Lamp,PCS,21.50,35.90,TRUE,{cells}"),
        ];
        Export {
            about: format!("business central {language}"),
            template: "business-central-items",
            csv: format!("{},{}\n{}\n", names.join(","), further.join(","), rows.join("\n")),
            ends: "2: sent 2",
            items: vec![
                json!([format!("BC-{language}-1"), "Desk", 649.4, 506.6, null, "active"]),
                json!([format!("BC-{language}-2"), "Lamp", 35.9, 21.5, null, "archived"]),
            ],
        }
    })
}

fn others() -> [Export; 6] {
    [
        Export {
            about: "shopify".to_owned(),
            template: "shopify-products",
            csv: "Title,URL handle,Description,Vendor,Status,SKU,Option1 name,Option1 value,Price,Cost per item,Charge tax\n\
                  Mug,mug,<p>0.35 l</p>,Acme,Active,SH-1,Colour,Blue,9.50,4.00,TRUE\n,mug,,,,SH-2,,Red,10.50,,TRUE\n"
                .to_owned(),
            ends: "2: sent 2",
            items: vec![
                json!(["SH-1", "Mug / Blue", 9.5, 4, null, "active"]),
                json!(["SH-2", "Mug / Red", 10.5, null, null, "active"]),
            ],
        },
        Export {
            about: "xero".to_owned(),
            template: "xero-items",
            csv: "*ItemCode,ItemName,Quantity,PurchasesDescription,PurchasesUnitPrice,PurchasesAccount,PurchasesTaxRate,SalesDescription,\
                  SalesUnitPrice,SalesAccount,SalesTaxRate\n\
                  XE-1,Hose,4,,11.20,300,20% (VAT on Expenses),Garden hose,24.50,200,20% (VAT on Income)\n\
                  XE-2,Seeds,9,,0.85,300,No VAT,,2.40,200,No VAT\n"
                .to_owned(),
            ends: "2: sent 2",
            items: vec![
                json!(["XE-1", "Hose", 24.5, 11.2, 20, null]),
                json!(["XE-2", "Seeds", 2.4, 0.85, null, null]),
            ],
        },
        Export {
            about: "square en".to_owned(),
            template: "square-catalog",
            csv: "Token,Item Name,Variation Name,SKU,Description,Categories,Price,Archived,Default Unit Cost\n\
                  T1,Tea,Cup,SQ-1,,Hot,2.60,N,0.40\nT2,Tea,Pot,SQ-2,,Hot,variable,Y,\n"
                .to_owned(),
            ends: "2: sent 2",
            items: vec![
                json!(["SQ-1", "Tea, Cup", 2.6, 0.4, null, "active"]),
                json!(["SQ-2", "Tea, Pot", null, null, null, "archived"]),
            ],
        },
        Export {
            about: "square ja".to_owned(),
            template: "square-catalog",
            csv: "トークン,商品名,説明,カテゴリ,SKU,バリエーション名,価格,在庫数\nT3,緑茶,,茶,SQ-3,大,450,10\n".to_owned(),
            ends: "1: sent 1",
            items: vec![json!(["SQ-3", "緑茶, 大", 450, null, null, null])],
        },
        Export {
            about: "square es".to_owned(),
            template: "square-catalog",
            csv: "Token,Nombre del artículo,Nombre de la variante,SKU,Descripción,Categoría,Precio\n\
                  T4,Aceite,1 l,SQ-4,Virgen extra,Cocina,\"9,50\"\nT5,Sal,1 kg,SQ-5,,Cocina,\"0,80\"\n"
                .to_owned(),
            ends: "2: sent 2",
            items: vec![
                json!(["SQ-4", "Aceite, 1 l", 9.5, null, null, null]),
                json!(["SQ-5", "Sal, 1 kg", 0.8, null, null, null]),
            ],
        },
        Export {
            about: "square fr".to_owned(),
            template: "square-catalog",
            csv: "Jeton,Nom de l’article,Nom de la variante,UGS,Description,Catégorie,Prix\n\
                  T6,Savon,Lavande,SQ-6,,Bain,\"4,20\"\nT7,Savon,Olive,SQ-7,,Bain,\"4,50\"\n"
                .to_owned(),
            ends: "2: sent 2",
            items: vec![
                json!(["SQ-6", "Savon, Lavande", 4.2, null, null, null]),
                json!(["SQ-7", "Savon, Olive", 4.5, null, null, null]),
            ],
        },
    ]
}

/// The items of the service with these external ids, each with its name, price, cost, tax and status.
fn arrived(served: &Served) -> Vec<Value> {
    let mut items = Vec::new();
    for page in 1.. {
        let answer = served.get(&format!("/v1/public/items?page={page}&limit=100"));
        let entries = answer["data"].as_array().unwrap();
        let fields = ["external_id", "name", "price", "purchase_price", "tax", "status"];
        items.extend(entries.iter().map(|item| fields.iter().map(|field| item[*field].clone()).collect::<Value>()));
        if entries.len() < 100 {
            break;
        }
    }
    items
}

fn is_same(wanted: &Value, item: &Value) -> bool {
    let cells = wanted.as_array().unwrap().iter().zip(item.as_array().unwrap());
    cells
        .into_iter()
        .all(|(wanted, cell)| wanted == cell || wanted.as_f64().is_some() && wanted.as_f64() == cell.as_f64())
}

#[test]
fn exports_are_known_in_the_language_of_their_program() {
    let place = Place::new();
    let served = Served::start(&place);
    let exports: Vec<Export> = woocommerce().chain(odoo()).chain(business_central()).chain(others()).collect();
    for Export { about, csv, template, ends, .. } in &exports {
        place.write("export.csv", csv);
        let uploaded = served.sheetport(&place, ["upload", "export.csv", "--yes", "--json"]).run();
        let seen = summary(&uploaded);
        assert_eq!(
            (seen["template"].as_str(), accounting(&seen).as_str()),
            (Some(*template), *ends),
            "{about}: {uploaded:?}"
        );
    }
    let found = arrived(&served);
    for Export { about, items, .. } in &exports {
        for wanted in items {
            assert!(found.iter().any(|item| is_same(wanted, item)), "{about}: {wanted} is not among {found:#?}");
        }
    }
    assert_eq!(found.len(), exports.iter().map(|export| export.items.len()).sum::<usize>());
}

const SHOPIFY_ORDERS: &str = "\
Name,Email,Financial Status,Fulfillment Status,Currency,Discount Amount,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Cancelled at,Refunded Amount,Lineitem discount
#1,a@x.example,paid,fulfilled,EUR,4.00,2026-03-25 10:00:00 +0100,2,Bolt,9.50,A-1,,0.00,4.00
#2,b@x.example,voided,unfulfilled,EUR,0.00,2026-03-25 11:00:00 +0100,1,Nut,5.00,A-2,2026-03-25 12:00:00 +0100,0.00,0.00
#2,b@x.example,,,,,2026-03-25 11:00:00 +0100,3,Bolt,9.50,A-1,,,0.00
#3,c@x.example,refunded,fulfilled,EUR,0.00,2026-03-25 12:00:00 +0100,1,Nut,5.00,A-2,,5.00,0.00
#4,d@x.example,partially_refunded,fulfilled,EUR,10.00,2026-03-25 13:00:00 +0100,3,Bolt,10.00,A-1,,5.00,1.00
#4,d@x.example,,,,,2026-03-25 13:00:00 +0100,1,Nut,5.00,A-2,,,0.00
";

#[test]
fn shopify_s_discounts_are_subtracted_and_its_cancelled_orders_left_out_aloud() {
    let place = Place::new();
    let orders = "order_id,external_id,currency\n1,#1,EUR\n2,#2,EUR\n3,#3,EUR\n4,#4,EUR\n";
    place.write("orders.csv", orders);
    place.write("items.csv", "id,external_id,name,price\nit-1,A-1,Bolt,10\nit-2,A-2,Nut,5\n");
    place.sheetport(["serve", "load", "--data", "service", "--workspace", "shop", "orders.csv", "items.csv"]).exits(0);
    let served = Served::start(&place);
    for american in [false, true] {
        let csv =
            if american { SHOPIFY_ORDERS.replace("Cancelled at", "Canceled at") } else { SHOPIFY_ORDERS.to_owned() };
        place.write("shop.csv", csv);
        let checked = served.sheetport(&place, ["check", "shop.csv"]).exits(0);
        checked.shows(&[
            "template shopify-orders",
            "is left out: the order was cancelled",
            "is left out: the payment was voided or refunded",
            "'5.00' was refunded, and the lines are sent as they were ordered",
            "only that of each line is subtracted",
        ]);
    }
    let uploaded = served.sheetport(&place, ["upload", "shop.csv", "--yes", "--json"]).exits(0);
    // The two lines of #2 and the line of #3 are left out.
    assert_eq!(accounting(&summary(&uploaded)), "5: sent 2, skipped 3", "{uploaded:?}");
    let order = |name: &str| served.get(&format!("/v1/public/orders/0?external_id=%23{name}"));
    assert_eq!(order("1")["total_price_without_tax"].as_f64(), Some(15.0), "{}", order("1"));
    assert_eq!(order("2")["number_item"], Value::Null, "{}", order("2"));
    assert_eq!(order("3")["number_item"], Value::Null, "{}", order("3"));
    // 3 × 10.00 - 1.00 + 5.00, to the cent.
    let total = order("4")["total_price_without_tax"].as_f64().unwrap();
    assert!((total - 34.0).abs() < 0.005, "{}", order("4"));
    served.sheetport(&place, ["report", "-o", "all.csv"]).exits(0);
    let report = std::fs::read_to_string(place.path("all.csv")).unwrap();
    assert!(report.contains("is left out: the order was cancelled"), "{report}");
}

/// A template that warns of rows and leaves rows out for several reasons, one of them without a column in the sheet.
const REASONS: &str = r#"
sheetport = 1
record = "item"
[sheet]
skip_where = [
    { column = "Name", matches = "^Sum", because = "a sum" },
    { column = "Deleted", matches = "yes", because = "deleted", optional = true },
    'Price == 0',
]
warn_where = [
    { condition = "Price > 100", because = "is dear" },
    { column = "Note", matches = "TBD", because = "has a note", optional = true },
]
[fields.externalId]
column = "SKU"
[fields.name]
column = "Name"
[fields.price]
column = "Price"
"#;

#[test]
fn reasons_of_a_template_are_said_for_its_rows() {
    let place = Place::new();
    place.write("t.toml", REASONS);
    place.write("items.csv", "SKU,Name,Price\nA,Bolt,1.50\nB,Sum,2.50\nC,Nut,0\nD,Gear,120.50\n");
    let checked = |flags: &[&str]| {
        let arguments = ["check", "items.csv", "-t", "t.toml", "--json"];
        summary(&place.sheetport(arguments.iter().chain(flags)).run())
    };
    let seen = checked(&[]);
    assert_eq!(accounting(&seen), "4: skipped 2, pending 2");
    let said = |seen: &Value| -> Vec<Value> {
        let warnings = seen["warnings"].as_array().unwrap();
        warnings.iter().map(|warning| json!([warning["code"], warning["message"], warning["rows"]])).collect()
    };
    assert_eq!(
        said(&seen),
        [json!(["skip-where", "is left out: a sum", [3]]), json!(["warn-where", "is dear", [5]])],
        "{seen}"
    );
    // A row that is left out on purpose does not hold back the others.
    let strict = checked(&["--strict"]);
    assert_eq!(accounting(&strict), "4: skipped 2, rejected 1, pending 1");
    place.write("items.csv", "SKU,Name,Price,Deleted,Note\nA,Bolt,1.50,yes,\nB,Nut,2.50,no,TBD\n");
    let seen = checked(&[]);
    assert_eq!(
        said(&seen),
        [json!(["skip-where", "is left out: deleted", [2]]), json!(["warn-where", "has a note", [3]])],
        "{seen}"
    );
    for (wrong, message) in [
        ("skip_where = { column = \"Name\" }", "skip_where needs a column and what it matches, or a condition"),
        ("warn_where = []", "a list of conditions can't be empty"),
        ("skip_where = [{ column = \"Nmae\", matches = \"x\" }]", "skip_where needs the column 'Nmae'"),
    ] {
        place.write(
            "wrong.toml",
            format!("record = \"item\"\n[sheet]\n{wrong}\n[fields.externalId]\ncolumn = \"SKU\"\n"),
        );
        place.sheetport(["check", "items.csv", "-t", "wrong.toml"]).exits(2).says(&[message]);
    }
}

#[test]
fn invoices_of_xero_arrive_with_the_ids_of_their_customers_and_items() {
    let place = Place::new();
    let served = Served::demo(&place);
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/xero-invoices.csv"), place.path("x.csv")).unwrap();
    let upload =
        || accounting(&summary(&served.sheetport(&place, "upload x.csv -t xero-invoices --json".split(' ')).exits(3)));
    assert_eq!(upload(), "11: sent 7, skipped 3, rejected 1");
    assert_eq!(upload(), "11: unchanged 7, skipped 3, rejected 1");
    let shown = place.sheetport("serve show invoices --limit all --data service --json".split(' ')).exits(0).json();
    let invoices = shown["records"].as_array().unwrap().iter().map(|stored| &stored["record"]);
    // O'Connell Hardware Ltd: 4 × 0042, 4 × 0051 and 8 × 0060.
    let customer = "019a3c00-0002-7000-8000-000000000006";
    let sent: Vec<&Value> = invoices.filter(|it| it["cid"] == customer && it["currency"] == "EUR").collect();
    let id = |number: u32| format!("019a3c00-0001-7000-8000-00000000000{number}");
    let lines = [(id(1), 4.0), (id(4), 4.0), (id(6), 8.0)];
    let line = |it: &Value| (it["id"].as_str().unwrap().to_owned(), it["amount"].as_f64().unwrap());
    let has_lines = |it: &&Value| it["items"].as_array().unwrap().iter().map(line).eq(lines.clone());
    assert!(sent.iter().any(has_lines), "{sent:?}");
}
