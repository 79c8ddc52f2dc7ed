//! What the columns of orders and of their lines are called.

use super::Language::{Dutch, English, French, German, Italian, Japanese, Portuguese, Spanish};
use super::shared::{CUSTOMER, ITEM_ID, ORDER_NUMBER, PRICE, PRICE_KIN, QUANTITY, STATUS, TAX_RATE};
use super::{Names, Synonyms, Vocabulary};

pub static VOCABULARY: Vocabulary = Vocabulary { fields: FIELDS, lines: LINES, group: None, own: OWN };

const OWN: &str = "\
    order, sales, sale, auftrag, auftrags, bestell, bestellung, commande, pedido, ordine, encomenda, \
    purchase, purchased, web, shop";

const FIELDS: &[Synonyms] = &[
    Synonyms { field: "externalId", sets: &[ORDER_NUMBER, WEAK_NUMBER], kin: "id, number, no, nr, reference, name" },
    Synonyms {
        field: "companyId",
        sets: &[],
        kin: "\
",
    },
    Synonyms { field: "companyExternalId", sets: &[CUSTOMER], kin: "id, number, no, nr, code, billing" },
    Synonyms { field: "orderAt", sets: &[ORDERED], kin: "date, time, datum, at, timestamp, utc, local, day" },
    Synonyms { field: "deliveryStatus", sets: &[DELIVERED, STATUS], kin: "status, delivery, state" },
];

const LINES: &[Synonyms] = &[
    Synonyms {
        field: "item_id",
        sets: &[],
        kin: "\
",
    },
    Synonyms {
        field: "itemExternalId",
        sets: &[ITEM_ID, LINE_ITEM, ITEM_NAME_AS_LAST_RESORT],
        kin: "code, number, no, nr, sku, id",
    },
    Synonyms { field: "quantity", sets: &[QUANTITY], kin: "total, number, ordered, unit" },
    Synonyms { field: "price", sets: &[PRICE, LINE_PRICE], kin: PRICE_KIN },
    Synonyms { field: "tax", sets: &[TAX_AMOUNT, TAX_RATE], kin: "amount, total, betrag, sales" },
    Synonyms { field: "tax_rate", sets: &[TAX_RATE], kin: "rate, percent, percentage, satz" },
];

const WEAK_NUMBER: &[Names] = &[
    Names::of(0.6, English, "name, number, id, no, reference, ref, key, code"),
    Names::of(0.6, German, "nummer, nr"),
    Names::of(0.6, French, "numero"),
];

const ORDERED: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        order date, ordered at, order time, date ordered, order placed, order placed at, order at, \
        purchase date, order purchase timestamp, order created, order datetime, date of order, ordered on, \
        order date time, placed at",
    ),
    Names::of(
        0.9,
        English,
        "\
        date, created at, date created, created, sale date, sales date, creation date, created date, \
        datetime, date added",
    ),
    Names::of(
        0.75,
        English,
        "\
        invoice date, transaction date, document date, timestamp, paid at, time, posting date, \
        paid on date, date paid, payment date",
    ),
    Names::of(1.0, German, "bestelldatum, auftragsdatum, bestellt am, bestellzeitpunkt"),
    Names::of(0.85, German, "datum, belegdatum, erstellt am, angelegt am"),
    Names::of(1.0, French, "date de commande, date commande, date de la commande, commande le"),
    Names::of(0.9, French, "date, date de creation"),
    Names::of(1.0, Spanish, "fecha de pedido, fecha pedido, fecha del pedido"),
    Names::of(0.9, Spanish, "fecha, fecha de creacion"),
    Names::of(1.0, Japanese, "注文日, 注文日時, 受注日, 受注日時, 購入日, 購入日時, オーダー日"),
    Names::of(0.8, Japanese, "日付, 日時, 伝票日付, 売上日"),
    Names::of(1.0, Italian, "data ordine, data dell ordine"),
    Names::of(0.85, Italian, "data"),
    Names::of(1.0, Portuguese, "data do pedido, data pedido, data da encomenda"),
    Names::of(1.0, Dutch, "besteldatum, orderdatum"),
];

const DELIVERED: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        delivery status, fulfillment status, shipping status, shipment status, delivery state, \
        fulfilment status, shipping state",
    ),
    Names::of(0.85, English, "order status, order state"),
    Names::of(1.0, German, "lieferstatus, versandstatus, liefer status"),
    Names::of(0.85, German, "bestellstatus, auftragsstatus"),
    Names::of(1.0, French, "statut de livraison, statut livraison, etat de livraison, statut expedition"),
    Names::of(0.85, French, "statut de commande, statut commande, etat commande"),
    Names::of(1.0, Spanish, "estado de envio, estado del envio, estado de entrega, estado envio, estado entrega"),
    Names::of(0.85, Spanish, "estado del pedido, estado pedido"),
    Names::of(1.0, Japanese, "配送状況, 発送状況, 出荷状況, 配送ステータス, 出荷ステータス, 発送ステータス"),
    Names::of(0.85, Japanese, "対応状況, 注文ステータス, 受注ステータス, 注文状況"),
    Names::of(1.0, Italian, "stato consegna, stato spedizione"),
    Names::of(1.0, Dutch, "leverstatus, verzendstatus"),
];

const LINE_ITEM: &[Names] = &[Names::of(0.8, English, "item, product, article, lineitem sku")];

/// A line that names its item in no other way.
const ITEM_NAME_AS_LAST_RESORT: &[Names] = &[
    Names::of(0.5, English, "item name, product name, lineitem name, item title, product title"),
    Names::of(0.5, German, "artikelbezeichnung, bezeichnung, produktname, artikelname, artikel, produkt"),
    Names::of(0.5, French, "designation, libelle, article, produit, nom produit"),
    Names::of(0.5, Spanish, "producto, articulo, nombre producto"),
    Names::of(0.5, Japanese, "商品名, 品名, 商品"),
];

const LINE_PRICE: &[Names] = &[
    Names::of(
        0.6,
        English,
        "sales, line price, line amount, line total, unit cost, item total, item subtotal, sold for",
    ),
    Names::of(0.55, English, "price total, total, subtotal, net amount"),
    Names::of(0.55, German, "gesamtpreis, positionspreis, summe, gesamt"),
];

const TAX_AMOUNT: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        tax amount, vat amount, item tax, line tax, tax total, lineitem tax, sales tax amount, tax value, \
        gst amount",
    ),
    Names::of(0.7, English, "tax 1 value"),
    Names::of(1.0, German, "steuerbetrag, mwst betrag, ust betrag"),
    Names::of(1.0, French, "montant tva, montant de la tva"),
    Names::of(1.0, Spanish, "importe iva, cuota iva"),
    Names::of(1.0, Japanese, "税額, 消費税額"),
];
