//! What the columns of inventory transactions are called: stock that moves, and stock that was counted.

use super::Language::{Dutch, English, French, German, Italian, Japanese, Portuguese, Spanish};
use super::shared::{ITEM_ID, PRICE, PRICE_KIN, QUANTITY, STATUS};
use super::{Names, Synonyms, Vocabulary};

pub static VOCABULARY: Vocabulary = Vocabulary { fields: FIELDS, lines: &[], group: None, own: OWN };

const OWN: &str = "inventory, stock, transaction, movement, lager, bestand, mouvement, movimiento, 在庫";

const FIELDS: &[Synonyms] = &[
    Synonyms { field: "transactionType", sets: &[TYPE], kin: "type, code, art" },
    Synonyms {
        field: "inventoryId",
        sets: &[],
        kin: "\
",
    },
    Synonyms {
        field: "inventoryExternalId",
        sets: &[INVENTORY, ITEM_ID, WEAK_ID],
        kin: "code, number, no, nr, sku, id",
    },
    Synonyms { field: "amount", sets: &[QUANTITY, STOCK], kin: "quantity, qty, total, physical, new, unit, level" },
    Synonyms { field: "transactionAmount", sets: &[MOVED], kin: "quantity, qty" },
    Synonyms { field: "transactionDate", sets: &[DATE], kin: "date, time, datum, at, timestamp" },
    Synonyms { field: "status", sets: &[STATUS], kin: "name" },
    Synonyms { field: "inventoryType", sets: &[INVENTORY_TYPE], kin: "type" },
    Synonyms {
        field: "useUnitValue",
        sets: &[],
        kin: "\
",
    },
    Synonyms { field: "price", sets: &[PRICE, VALUE], kin: PRICE_KIN },
];

const TYPE: &[Names] = &[
    Names::of(
        1.0,
        English,
        "transaction type, movement type, type of transaction, type of movement, adjustment type, operation type",
    ),
    Names::of(0.8, English, "type, movement, direction, in out, operation, transaction, kind, action"),
    Names::of(0.55, English, "reason, transaction code, adjustment reason"),
    Names::of(1.0, German, "buchungsart, bewegungsart, vorgangsart, buchungstyp, bewegungstyp"),
    Names::of(0.8, German, "art, typ, vorgang, buchung, bewegung"),
    Names::of(1.0, French, "type de mouvement, type mouvement, sens"),
    Names::of(0.8, French, "mouvement, type"),
    Names::of(1.0, Spanish, "tipo de movimiento, tipo movimiento"),
    Names::of(0.8, Spanish, "tipo, movimiento"),
    Names::of(1.0, Japanese, "取引区分, 入出庫区分, 取引種別, 入出庫, 移動区分"),
    Names::of(0.8, Japanese, "区分, 種別"),
    Names::of(1.0, Italian, "tipo movimento, causale"),
    Names::of(1.0, Portuguese, "tipo de movimento, tipo movimento"),
    Names::of(1.0, Dutch, "mutatietype, soort mutatie"),
];

const INVENTORY: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        inventory external id, inventory number, inventory no, inventory code, inventory item code, \
        inventory item id, inventory key",
    ),
    Names::of(0.8, English, "inventory, inventory item, stock item, external id"),
];

const WEAK_ID: &[Names] = &[
    Names::of(0.65, English, "item, product, code, id, article"),
    Names::of(0.5, English, "product name, item name, name, description"),
    Names::of(0.65, German, "artikel, produkt, nummer, nr"),
    Names::of(0.65, French, "code, article, produit"),
    Names::of(0.65, Spanish, "codigo, articulo, producto"),
];

const STOCK: &[Names] = &[
    Names::of(
        0.95,
        English,
        "\
        stock, stock on hand, on hand, quantity on hand, qty on hand, physical qoh, in stock, \
        inventory level, stock quantity, stock level, unit in stock, inventory qty, inventory quantity, \
        counted quantity, counted qty, physical count, stock count, soh",
    ),
    Names::of(
        0.8,
        English,
        "\
        qoh, available, available quantity, available qty, inventory, balance, quantity in stock, change, \
        adjustment, quantity change, qty change",
    ),
    Names::of(0.95, German, "bestand, lagerbestand, istbestand, ist bestand, lagermenge, verfugbarer bestand"),
    Names::of(0.95, French, "stock, stock disponible, quantite en stock, stock reel"),
    Names::of(0.95, Spanish, "existencias, stock, existencia, stock actual"),
    Names::of(0.95, Japanese, "在庫数, 在庫, 在庫数量, 棚卸数, 現在庫数"),
    Names::of(0.95, Italian, "giacenza, esistenza"),
    Names::of(0.95, Portuguese, "estoque, saldo"),
    Names::of(0.95, Dutch, "voorraad"),
];

const MOVED: &[Names] =
    &[Names::of(1.0, English, "transaction quantity, transaction qty, quantity moved, moved quantity")];

const DATE: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        transaction date, movement date, date of movement, transaction time, adjustment date, count date, \
        inventory date, stock date",
    ),
    Names::of(
        0.9,
        English,
        "date, posting date, timestamp, datetime, booked at, created at, date created, receipt date",
    ),
    Names::of(1.0, German, "buchungsdatum, bewegungsdatum, datum, inventurdatum"),
    Names::of(1.0, French, "date, date de mouvement, date mouvement"),
    Names::of(1.0, Spanish, "fecha, fecha de movimiento, fecha movimiento"),
    Names::of(1.0, Japanese, "日付, 取引日, 入出庫日, 棚卸日, 日時"),
    Names::of(1.0, Italian, "data movimento, data"),
    Names::of(1.0, Portuguese, "data do movimento, data"),
];

const INVENTORY_TYPE: &[Names] = &[
    Names::of(1.0, English, "inventory type, stock type, stock category"),
    Names::of(0.7, English, "stock status, inventory status"),
    Names::of(1.0, German, "bestandsart, bestandstyp, lagerart"),
];

const VALUE: &[Names] = &[
    Names::of(0.95, English, "unit cost, cost, cost price, purchase price, valuation rate, average cost"),
    Names::of(0.9, German, "einstandspreis, ek, einkaufspreis"),
    Names::of(0.9, Japanese, "原価, 仕入単価"),
];
