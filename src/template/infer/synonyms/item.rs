//! What items' columns are called.

use super::Language::{Dutch, English, French, German, Italian, Japanese, Portuguese, Spanish};
use super::shared::{CURRENCY, ITEM_ID, ITEM_NAME, PRICE, PRICE_KIN, STATUS, TAX_RATE};
use super::{Names, Synonyms, Vocabulary};

pub static VOCABULARY: Vocabulary = Vocabulary { fields: FIELDS, lines: &[], group: None, own: &[] };

const FIELDS: &[Synonyms] = &[
    Synonyms {
        field: "externalId",
        sets: &[EXTERNAL_ID, ITEM_ID, WEAK_ID],
        kin: &["code", "number", "no", "nr", "sku", "ref", "reference", "unique"],
    },
    Synonyms { field: "name", sets: &[ITEM_NAME], kin: &["name", "title", "text", "1"] },
    Synonyms {
        field: "description",
        sets: &[DESCRIPTION],
        kin: &["html", "text", "sales", "body", "detail", "long", "detailed", "web"],
    },
    Synonyms { field: "currency", sets: &[CURRENCY], kin: &["price", "code", "sales", "list"] },
    Synonyms { field: "price", sets: &[PRICE], kin: PRICE_KIN },
    Synonyms { field: "purchasePrice", sets: &[PURCHASE_PRICE], kin: PRICE_KIN },
    Synonyms { field: "tax", sets: &[TAX_RATE], kin: &["rate", "percent", "percentage", "sales", "satz", "standard"] },
    Synonyms {
        field: "status",
        sets: &[STATUS, SHOWN],
        kin: &["name", "web", "online", "catalog", "lifecycle", "名称", "is", "shop"],
    },
];

const EXTERNAL_ID: &[Names] =
    &[Names { weight: 1.0, language: English, names: &["external id", "external reference", "external key"] }];

/// What names an item where nothing better does.
const WEAK_ID: &[Names] = &[
    Names {
        weight: 0.65,
        language: English,
        names: &["handle", "handle id", "id", "code", "key", "uid", "uuid", "number", "no", "asset number", "model"],
    },
    Names {
        weight: 0.55,
        language: English,
        names: &["slug", "url key", "serial number", "serial", "order number", "permalink", "row id"],
    },
    Names {
        weight: 0.7,
        language: German,
        names: &["nummer", "nr", "bestellnummer", "ordernummer", "kennung", "kurzname"],
    },
    Names { weight: 0.7, language: French, names: &["code", "numero", "identifiant"] },
    Names { weight: 0.7, language: Spanish, names: &["codigo", "clave", "numero", "identificador"] },
    Names { weight: 0.7, language: Japanese, names: &["コード", "番号"] },
    Names { weight: 0.7, language: Portuguese, names: &["codigo", "referencia"] },
];

const DESCRIPTION: &[Names] = &[
    Names {
        weight: 1.0,
        language: English,
        names: &[
            "description",
            "product description",
            "item description",
            "long description",
            "full description",
            "detailed description",
            "body html",
            "body",
            "sales description",
            "main description",
        ],
    },
    Names {
        weight: 0.75,
        language: English,
        names: &[
            "short description",
            "detail",
            "content",
            "long text",
            "summary",
            "note",
            "remark",
            "comment",
            "additional information",
            "specification",
            "product detail",
            "asset note",
            "model note",
            "information",
        ],
    },
    Names { weight: 0.5, language: English, names: &["quantity per unit", "purchase description", "meta description"] },
    Names {
        weight: 1.0,
        language: German,
        names: &["beschreibung", "artikelbeschreibung", "produktbeschreibung", "langtext", "langbeschreibung"],
    },
    Names {
        weight: 0.75,
        language: German,
        names: &["kurzbeschreibung", "zusatztext", "bemerkung", "anmerkung", "hinweis", "notiz"],
    },
    Names {
        weight: 1.0,
        language: French,
        names: &["description", "descriptif", "description longue", "description produit"],
    },
    Names { weight: 0.75, language: French, names: &["description courte", "remarque", "commentaire", "resume"] },
    Names {
        weight: 1.0,
        language: Spanish,
        names: &[
            "descripcion",
            "descripcion larga",
            "descripcion del producto",
            "descripcion producto",
            "descripcion del articulo",
        ],
    },
    Names {
        weight: 0.75,
        language: Spanish,
        names: &["descripcion corta", "observaciones", "nota", "detalle", "comentario"],
    },
    Names {
        weight: 1.0,
        language: Japanese,
        names: &["商品説明", "商品説明文", "説明", "説明文", "商品詳細", "商品説明詳細"],
    },
    Names {
        weight: 0.75, language: Japanese, names: &["備考", "商品説明一覧", "詳細", "概要", "コメント"]
    },
    Names {
        weight: 1.0,
        language: Italian,
        names: &["descrizione", "descrizione lunga", "descrizione articolo", "descrizione prodotto"],
    },
    Names { weight: 1.0, language: Portuguese, names: &["descricao", "descricao do produto", "descricao longa"] },
    Names { weight: 1.0, language: Dutch, names: &["beschrijving", "lange omschrijving", "productbeschrijving"] },
];

const PURCHASE_PRICE: &[Names] = &[
    Names {
        weight: 1.0,
        language: English,
        names: &[
            "purchase price",
            "purchase cost",
            "cost",
            "cost price",
            "unit cost",
            "buying price",
            "buy price",
            "cost per item",
            "item cost",
            "product cost",
            "wholesale price",
            "purchase rate",
            "purchase unit price",
            "supply price",
            "supplier price",
            "vendor price",
            "landed cost",
            "standard cost",
            "average cost",
            "cost of good",
            "cogs",
            "valuation rate",
            "net cost",
            "last cost",
            "cost net",
            "trade price",
            "last purchase price",
            "variant cost",
            "purchase price net",
            "price cost",
        ],
    },
    Names {
        weight: 0.65,
        language: English,
        names: &["dealer price", "contract price", "acquisition cost", "purchase value", "net purchase"],
    },
    Names {
        weight: 1.0,
        language: German,
        names: &[
            "einkaufspreis",
            "ek",
            "ek preis",
            "ek netto",
            "ek brutto",
            "einstandspreis",
            "bezugspreis",
            "ekp",
            "beschaffungspreis",
        ],
    },
    Names {
        weight: 0.8,
        language: German,
        names: &["selbstkosten", "kosten", "herstellkosten", "handlerpreis", "lieferantenpreis"],
    },
    Names {
        weight: 1.0,
        language: French,
        names: &[
            "prix d achat",
            "prix achat",
            "cout",
            "cout unitaire",
            "cout de revient",
            "prix de revient",
            "pa ht",
            "pa",
            "prix fournisseur",
        ],
    },
    Names {
        weight: 1.0,
        language: Spanish,
        names: &[
            "precio de compra",
            "precio compra",
            "coste",
            "costo",
            "precio de costo",
            "precio de coste",
            "precio costo",
            "precio coste",
            "costo unitario",
            "precio proveedor",
        ],
    },
    Names {
        weight: 1.0,
        language: Japanese,
        names: &["仕入価格", "仕入単価", "仕入れ価格", "仕入値", "原価", "原単価", "下代", "購入単価", "購入価格"],
    },
    Names {
        weight: 1.0,
        language: Italian,
        names: &["prezzo di acquisto", "prezzo acquisto", "costo", "prezzo di costo", "costo unitario"],
    },
    Names {
        weight: 1.0,
        language: Portuguese,
        names: &["preco de compra", "preco de custo", "preco custo", "custo", "preco compra", "custo unitario"],
    },
    Names { weight: 1.0, language: Dutch, names: &["inkoopprijs", "kostprijs", "inkoop"] },
];

/// Whether an item is on offer: it says of the status that it is active or not.
const SHOWN: &[Names] = &[
    Names {
        weight: 0.8,
        language: English,
        names: &[
            "active",
            "enabled",
            "is active",
            "published",
            "visible",
            "product visible",
            "online",
            "product online",
            "is published",
            "publish",
            "sale ok",
            "can be sold",
            "for sale",
            "lifecycle",
            "lifecycle status",
            "is enabled",
            "is visible",
            "display",
        ],
    },
    Names {
        weight: 0.75,
        language: English,
        names: &[
            "discontinued",
            "archived",
            "disabled",
            "inactive",
            "hidden",
            "is archived",
            "is disabled",
            "deleted",
            "obsolete",
            "is discontinued",
        ],
    },
    Names {
        weight: 0.65,
        language: English,
        names: &[
            "availability",
            "visibility",
            "visibility in catalog",
            "available",
            "manufacturing status",
            "discontinue status",
        ],
    },
    Names {
        weight: 0.8,
        language: German,
        names: &[
            "aktiv",
            "sichtbar",
            "freigegeben",
            "veroffentlicht",
            "artikelstatus",
            "produktstatus",
            "ist aktiv",
            "im shop",
        ],
    },
    Names {
        weight: 0.75,
        language: German,
        names: &["gesperrt", "inaktiv", "ausgelaufen", "auslauf", "auslaufartikel"],
    },
    Names { weight: 0.6, language: German, names: &["verfugbarkeit", "verfugbar"] },
    Names { weight: 0.8, language: French, names: &["actif", "publie", "visible", "en ligne", "en vente"] },
    Names { weight: 0.75, language: French, names: &["inactif", "archive", "arrete"] },
    Names { weight: 0.8, language: Spanish, names: &["activo", "publicado", "visible", "habilitado"] },
    Names { weight: 0.75, language: Spanish, names: &["inactivo", "descatalogado"] },
    Names {
        weight: 0.9,
        language: Japanese,
        names: &[
            "公開ステータス",
            "公開状態",
            "商品ステータス",
            "販売ステータス",
            "公開",
            "公開区分",
            "販売区分",
            "表示",
            "公開フラグ",
            "公開ステータスid",
        ],
    },
    Names { weight: 0.75, language: Japanese, names: &["非公開", "廃番", "販売終了"] },
    Names { weight: 0.8, language: Italian, names: &["attivo", "pubblicato", "visibile"] },
    Names { weight: 0.8, language: Portuguese, names: &["ativo", "publicado"] },
    Names { weight: 0.8, language: Dutch, names: &["actief", "zichtbaar", "gepubliceerd"] },
];

/// Of the names above those by which yes means that an item is no longer on offer.
pub const WITHDRAWN: &[&str] = &[
    "discontinued",
    "archived",
    "disabled",
    "inactive",
    "hidden",
    "deleted",
    "obsolete",
    "gesperrt",
    "inaktiv",
    "ausgelaufen",
    "auslauf",
    "auslaufartikel",
    "inactif",
    "archive",
    "arrete",
    "inactivo",
    "descatalogado",
    "非公開",
    "廃番",
    "販売終了",
];
