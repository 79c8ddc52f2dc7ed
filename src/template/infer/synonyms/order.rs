//! What the columns of orders and of their lines are called.

use super::Language::{Dutch, English, French, German, Italian, Japanese, Portuguese, Spanish};
use super::shared::{CUSTOMER, ITEM_ID, ORDER_NUMBER, PRICE, PRICE_KIN, QUANTITY, STATUS, TAX_RATE};
use super::{Names, Synonyms, Vocabulary};

pub static VOCABULARY: Vocabulary = Vocabulary { fields: FIELDS, lines: LINES, group: None, own: OWN };

const OWN: &[&str] = &[
    "order",
    "sales",
    "sale",
    "auftrag",
    "auftrags",
    "bestell",
    "bestellung",
    "commande",
    "pedido",
    "ordine",
    "encomenda",
    "purchase",
    "purchased",
    "web",
    "shop",
];

const FIELDS: &[Synonyms] = &[
    Synonyms {
        field: "externalId",
        sets: &[ORDER_NUMBER, WEAK_NUMBER],
        kin: &["id", "number", "no", "nr", "reference", "name"],
    },
    Synonyms { field: "companyId", sets: &[], kin: &[] },
    Synonyms { field: "companyExternalId", sets: &[CUSTOMER], kin: &["id", "number", "no", "nr", "code", "billing"] },
    Synonyms {
        field: "orderAt",
        sets: &[ORDERED],
        kin: &["date", "time", "datum", "at", "timestamp", "utc", "local", "day"],
    },
    Synonyms { field: "deliveryStatus", sets: &[DELIVERED, STATUS], kin: &["status", "delivery", "state"] },
];

const LINES: &[Synonyms] = &[
    Synonyms { field: "item_id", sets: &[], kin: &[] },
    Synonyms {
        field: "itemExternalId",
        sets: &[ITEM_ID, LINE_ITEM, ITEM_NAME_AS_LAST_RESORT],
        kin: &["code", "number", "no", "nr", "sku", "id"],
    },
    Synonyms { field: "quantity", sets: &[QUANTITY], kin: &["total", "number", "ordered", "unit"] },
    Synonyms { field: "price", sets: &[PRICE, LINE_PRICE], kin: PRICE_KIN },
    Synonyms { field: "tax", sets: &[TAX_AMOUNT, TAX_RATE], kin: &["amount", "total", "betrag", "sales"] },
    Synonyms { field: "tax_rate", sets: &[TAX_RATE], kin: &["rate", "percent", "percentage", "satz"] },
];

const WEAK_NUMBER: &[Names] = &[
    Names { weight: 0.6, language: English, names: &["name", "number", "id", "no", "reference", "ref", "key", "code"] },
    Names { weight: 0.6, language: German, names: &["nummer", "nr"] },
    Names { weight: 0.6, language: French, names: &["numero"] },
];

const ORDERED: &[Names] = &[
    Names {
        weight: 1.0,
        language: English,
        names: &[
            "order date",
            "ordered at",
            "order time",
            "date ordered",
            "order placed",
            "order placed at",
            "order at",
            "purchase date",
            "order purchase timestamp",
            "order created",
            "order datetime",
            "date of order",
            "ordered on",
            "order date time",
            "placed at",
        ],
    },
    Names {
        weight: 0.9,
        language: English,
        names: &[
            "date",
            "created at",
            "date created",
            "created",
            "sale date",
            "sales date",
            "creation date",
            "created date",
            "datetime",
            "date added",
        ],
    },
    Names {
        weight: 0.75,
        language: English,
        names: &[
            "invoice date",
            "transaction date",
            "document date",
            "timestamp",
            "paid at",
            "time",
            "posting date",
            "paid on date",
            "date paid",
            "payment date",
        ],
    },
    Names {
        weight: 1.0,
        language: German,
        names: &["bestelldatum", "auftragsdatum", "bestellt am", "bestellzeitpunkt"],
    },
    Names { weight: 0.85, language: German, names: &["datum", "belegdatum", "erstellt am", "angelegt am"] },
    Names {
        weight: 1.0,
        language: French,
        names: &["date de commande", "date commande", "date de la commande", "commande le"],
    },
    Names { weight: 0.9, language: French, names: &["date", "date de creation"] },
    Names { weight: 1.0, language: Spanish, names: &["fecha de pedido", "fecha pedido", "fecha del pedido"] },
    Names { weight: 0.9, language: Spanish, names: &["fecha", "fecha de creacion"] },
    Names {
        weight: 1.0,
        language: Japanese,
        names: &["注文日", "注文日時", "受注日", "受注日時", "購入日", "購入日時", "オーダー日"],
    },
    Names { weight: 0.8, language: Japanese, names: &["日付", "日時", "伝票日付", "売上日"] },
    Names { weight: 1.0, language: Italian, names: &["data ordine", "data dell ordine"] },
    Names { weight: 0.85, language: Italian, names: &["data"] },
    Names { weight: 1.0, language: Portuguese, names: &["data do pedido", "data pedido", "data da encomenda"] },
    Names { weight: 1.0, language: Dutch, names: &["besteldatum", "orderdatum"] },
];

const DELIVERED: &[Names] = &[
    Names {
        weight: 1.0,
        language: English,
        names: &[
            "delivery status",
            "fulfillment status",
            "shipping status",
            "shipment status",
            "delivery state",
            "fulfilment status",
            "shipping state",
        ],
    },
    Names { weight: 0.85, language: English, names: &["order status", "order state"] },
    Names { weight: 1.0, language: German, names: &["lieferstatus", "versandstatus", "liefer status"] },
    Names { weight: 0.85, language: German, names: &["bestellstatus", "auftragsstatus"] },
    Names {
        weight: 1.0,
        language: French,
        names: &["statut de livraison", "statut livraison", "etat de livraison", "statut expedition"],
    },
    Names { weight: 0.85, language: French, names: &["statut de commande", "statut commande", "etat commande"] },
    Names {
        weight: 1.0,
        language: Spanish,
        names: &["estado de envio", "estado del envio", "estado de entrega", "estado envio", "estado entrega"],
    },
    Names { weight: 0.85, language: Spanish, names: &["estado del pedido", "estado pedido"] },
    Names {
        weight: 1.0,
        language: Japanese,
        names: &["配送状況", "発送状況", "出荷状況", "配送ステータス", "出荷ステータス", "発送ステータス"],
    },
    Names {
        weight: 0.85, language: Japanese, names: &["対応状況", "注文ステータス", "受注ステータス", "注文状況"]
    },
    Names { weight: 1.0, language: Italian, names: &["stato consegna", "stato spedizione"] },
    Names { weight: 1.0, language: Dutch, names: &["leverstatus", "verzendstatus"] },
];

const LINE_ITEM: &[Names] =
    &[Names { weight: 0.8, language: English, names: &["item", "product", "article", "lineitem sku"] }];

/// A line that names its item in no other way.
const ITEM_NAME_AS_LAST_RESORT: &[Names] = &[
    Names {
        weight: 0.5,
        language: English,
        names: &["item name", "product name", "lineitem name", "item title", "product title"],
    },
    Names {
        weight: 0.5,
        language: German,
        names: &["artikelbezeichnung", "bezeichnung", "produktname", "artikelname", "artikel", "produkt"],
    },
    Names { weight: 0.5, language: French, names: &["designation", "libelle", "article", "produit", "nom produit"] },
    Names { weight: 0.5, language: Spanish, names: &["producto", "articulo", "nombre producto"] },
    Names { weight: 0.5, language: Japanese, names: &["商品名", "品名", "商品"] },
];

const LINE_PRICE: &[Names] = &[
    Names {
        weight: 0.6,
        language: English,
        names: &[
            "sales",
            "line price",
            "line amount",
            "line total",
            "unit cost",
            "item total",
            "item subtotal",
            "sold for",
        ],
    },
    Names { weight: 0.55, language: English, names: &["price total", "total", "subtotal", "net amount"] },
    Names { weight: 0.55, language: German, names: &["gesamtpreis", "positionspreis", "summe", "gesamt"] },
];

const TAX_AMOUNT: &[Names] = &[
    Names {
        weight: 1.0,
        language: English,
        names: &[
            "tax amount",
            "vat amount",
            "item tax",
            "line tax",
            "tax total",
            "lineitem tax",
            "sales tax amount",
            "tax value",
            "gst amount",
        ],
    },
    Names { weight: 0.7, language: English, names: &["tax 1 value"] },
    Names { weight: 1.0, language: German, names: &["steuerbetrag", "mwst betrag", "ust betrag"] },
    Names { weight: 1.0, language: French, names: &["montant tva", "montant de la tva"] },
    Names { weight: 1.0, language: Spanish, names: &["importe iva", "cuota iva"] },
    Names { weight: 1.0, language: Japanese, names: &["税額", "消費税額"] },
];
