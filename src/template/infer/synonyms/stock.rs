//! What the columns of inventory transactions are called: stock that moves, and stock that was counted.

use super::Language::{Dutch, English, French, German, Italian, Japanese, Portuguese, Spanish};
use super::shared::{ITEM_ID, PRICE, PRICE_KIN, QUANTITY, STATUS};
use super::{Names, Synonyms, Vocabulary};

pub static VOCABULARY: Vocabulary = Vocabulary { fields: FIELDS, lines: &[], group: None, own: OWN };

const OWN: &[&str] =
    &["inventory", "stock", "transaction", "movement", "lager", "bestand", "mouvement", "movimiento", "在庫"];

const FIELDS: &[Synonyms] = &[
    Synonyms { field: "transactionType", sets: &[TYPE], kin: &["type", "code", "art"] },
    Synonyms { field: "inventoryId", sets: &[], kin: &[] },
    Synonyms {
        field: "inventoryExternalId",
        sets: &[INVENTORY, ITEM_ID, WEAK_ID],
        kin: &["code", "number", "no", "nr", "sku", "id"],
    },
    Synonyms {
        field: "amount",
        sets: &[QUANTITY, STOCK],
        kin: &["quantity", "qty", "total", "physical", "new", "unit", "level"],
    },
    Synonyms { field: "transactionAmount", sets: &[MOVED], kin: &["quantity", "qty"] },
    Synonyms { field: "transactionDate", sets: &[DATE], kin: &["date", "time", "datum", "at", "timestamp"] },
    Synonyms { field: "status", sets: &[STATUS], kin: &["name"] },
    Synonyms { field: "inventoryType", sets: &[INVENTORY_TYPE], kin: &["type"] },
    Synonyms { field: "useUnitValue", sets: &[], kin: &[] },
    Synonyms { field: "price", sets: &[PRICE, VALUE], kin: PRICE_KIN },
];

const TYPE: &[Names] = &[
    Names {
        weight: 1.0,
        language: English,
        names: &[
            "transaction type",
            "movement type",
            "type of transaction",
            "type of movement",
            "adjustment type",
            "operation type",
        ],
    },
    Names {
        weight: 0.8,
        language: English,
        names: &["type", "movement", "direction", "in out", "operation", "transaction", "kind", "action"],
    },
    Names { weight: 0.55, language: English, names: &["reason", "transaction code", "adjustment reason"] },
    Names {
        weight: 1.0,
        language: German,
        names: &["buchungsart", "bewegungsart", "vorgangsart", "buchungstyp", "bewegungstyp"],
    },
    Names { weight: 0.8, language: German, names: &["art", "typ", "vorgang", "buchung", "bewegung"] },
    Names { weight: 1.0, language: French, names: &["type de mouvement", "type mouvement", "sens"] },
    Names { weight: 0.8, language: French, names: &["mouvement", "type"] },
    Names { weight: 1.0, language: Spanish, names: &["tipo de movimiento", "tipo movimiento"] },
    Names { weight: 0.8, language: Spanish, names: &["tipo", "movimiento"] },
    Names {
        weight: 1.0, language: Japanese, names: &["取引区分", "入出庫区分", "取引種別", "入出庫", "移動区分"]
    },
    Names { weight: 0.8, language: Japanese, names: &["区分", "種別"] },
    Names { weight: 1.0, language: Italian, names: &["tipo movimento", "causale"] },
    Names { weight: 1.0, language: Portuguese, names: &["tipo de movimento", "tipo movimento"] },
    Names { weight: 1.0, language: Dutch, names: &["mutatietype", "soort mutatie"] },
];

const INVENTORY: &[Names] = &[
    Names {
        weight: 1.0,
        language: English,
        names: &[
            "inventory external id",
            "inventory number",
            "inventory no",
            "inventory code",
            "inventory item code",
            "inventory item id",
            "inventory key",
        ],
    },
    Names { weight: 0.8, language: English, names: &["inventory", "inventory item", "stock item", "external id"] },
];

const WEAK_ID: &[Names] = &[
    Names { weight: 0.65, language: English, names: &["item", "product", "code", "id", "article"] },
    Names { weight: 0.5, language: English, names: &["product name", "item name", "name", "description"] },
    Names { weight: 0.65, language: German, names: &["artikel", "produkt", "nummer", "nr"] },
    Names { weight: 0.65, language: French, names: &["code", "article", "produit"] },
    Names { weight: 0.65, language: Spanish, names: &["codigo", "articulo", "producto"] },
];

const STOCK: &[Names] = &[
    Names {
        weight: 0.95,
        language: English,
        names: &[
            "stock",
            "stock on hand",
            "on hand",
            "quantity on hand",
            "qty on hand",
            "physical qoh",
            "in stock",
            "inventory level",
            "stock quantity",
            "stock level",
            "unit in stock",
            "inventory qty",
            "inventory quantity",
            "counted quantity",
            "counted qty",
            "physical count",
            "stock count",
            "soh",
        ],
    },
    Names {
        weight: 0.8,
        language: English,
        names: &[
            "qoh",
            "available",
            "available quantity",
            "available qty",
            "inventory",
            "balance",
            "quantity in stock",
            "change",
            "adjustment",
            "quantity change",
            "qty change",
        ],
    },
    Names {
        weight: 0.95,
        language: German,
        names: &["bestand", "lagerbestand", "istbestand", "ist bestand", "lagermenge", "verfugbarer bestand"],
    },
    Names { weight: 0.95, language: French, names: &["stock", "stock disponible", "quantite en stock", "stock reel"] },
    Names { weight: 0.95, language: Spanish, names: &["existencias", "stock", "existencia", "stock actual"] },
    Names {
        weight: 0.95, language: Japanese, names: &["在庫数", "在庫", "在庫数量", "棚卸数", "現在庫数"]
    },
    Names { weight: 0.95, language: Italian, names: &["giacenza", "esistenza"] },
    Names { weight: 0.95, language: Portuguese, names: &["estoque", "saldo"] },
    Names { weight: 0.95, language: Dutch, names: &["voorraad"] },
];

const MOVED: &[Names] = &[Names {
    weight: 1.0,
    language: English,
    names: &["transaction quantity", "transaction qty", "quantity moved", "moved quantity"],
}];

const DATE: &[Names] = &[
    Names {
        weight: 1.0,
        language: English,
        names: &[
            "transaction date",
            "movement date",
            "date of movement",
            "transaction time",
            "adjustment date",
            "count date",
            "inventory date",
            "stock date",
        ],
    },
    Names {
        weight: 0.9,
        language: English,
        names: &[
            "date",
            "posting date",
            "timestamp",
            "datetime",
            "booked at",
            "created at",
            "date created",
            "receipt date",
        ],
    },
    Names { weight: 1.0, language: German, names: &["buchungsdatum", "bewegungsdatum", "datum", "inventurdatum"] },
    Names { weight: 1.0, language: French, names: &["date", "date de mouvement", "date mouvement"] },
    Names { weight: 1.0, language: Spanish, names: &["fecha", "fecha de movimiento", "fecha movimiento"] },
    Names { weight: 1.0, language: Japanese, names: &["日付", "取引日", "入出庫日", "棚卸日", "日時"] },
    Names { weight: 1.0, language: Italian, names: &["data movimento", "data"] },
    Names { weight: 1.0, language: Portuguese, names: &["data do movimento", "data"] },
];

const INVENTORY_TYPE: &[Names] = &[
    Names { weight: 1.0, language: English, names: &["inventory type", "stock type", "stock category"] },
    Names { weight: 0.7, language: English, names: &["stock status", "inventory status"] },
    Names { weight: 1.0, language: German, names: &["bestandsart", "bestandstyp", "lagerart"] },
];

const VALUE: &[Names] = &[
    Names {
        weight: 0.95,
        language: English,
        names: &["unit cost", "cost", "cost price", "purchase price", "valuation rate", "average cost"],
    },
    Names { weight: 0.9, language: German, names: &["einstandspreis", "ek", "einkaufspreis"] },
    Names { weight: 0.9, language: Japanese, names: &["原価", "仕入単価"] },
];
