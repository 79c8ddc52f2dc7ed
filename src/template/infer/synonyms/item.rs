//! What items' columns are called.

use super::Language::{Dutch, English, French, German, Italian, Japanese, Portuguese, Spanish};
use super::shared::{CURRENCY, ITEM_ID, ITEM_NAME, PRICE, PRICE_KIN, STATUS, TAX_RATE};
use super::{Names, Synonyms, Vocabulary};

pub static VOCABULARY: Vocabulary = Vocabulary {
    fields: FIELDS,
    lines: &[],
    group: None,
    own: "\
",
};

const FIELDS: &[Synonyms] = &[
    Synonyms {
        field: "externalId",
        sets: &[EXTERNAL_ID, ITEM_ID, WEAK_ID],
        kin: "code, number, no, nr, sku, ref, reference, unique",
    },
    Synonyms { field: "name", sets: &[ITEM_NAME], kin: "name, title, text, 1" },
    Synonyms {
        field: "description",
        sets: &[DESCRIPTION],
        kin: "html, text, sales, body, detail, long, detailed, web",
    },
    Synonyms { field: "currency", sets: &[CURRENCY], kin: "price, code, sales, list" },
    Synonyms { field: "price", sets: &[PRICE], kin: PRICE_KIN },
    Synonyms { field: "purchasePrice", sets: &[PURCHASE_PRICE], kin: PRICE_KIN },
    Synonyms { field: "tax", sets: &[TAX_RATE], kin: "rate, percent, percentage, sales, satz, standard" },
    Synonyms {
        field: "status", sets: &[STATUS, SHOWN], kin: "name, web, online, catalog, lifecycle, 名称, is, shop"
    },
];

const EXTERNAL_ID: &[Names] = &[Names::of(1.0, English, "external id, external reference, external key")];

/// What names an item where nothing better does.
const WEAK_ID: &[Names] = &[
    Names::of(0.65, English, "handle, handle id, id, code, key, uid, uuid, number, no, asset number, model"),
    Names::of(0.62, English, "order number"),
    Names::of(0.55, English, "slug, url key, serial number, serial, permalink, row id"),
    Names::of(0.7, German, "nummer, nr, bestellnummer, ordernummer, kennung, kurzname"),
    Names::of(0.7, French, "code, numero, identifiant"),
    Names::of(0.7, Spanish, "codigo, clave, numero, identificador"),
    Names::of(0.7, Japanese, "コード, 番号"),
    Names::of(0.7, Portuguese, "codigo, referencia"),
];

const DESCRIPTION: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        description, product description, item description, long description, full description, \
        detailed description, body html, body, sales description, main description",
    ),
    Names::of(
        0.75,
        English,
        "\
        short description, detail, content, long text, summary, note, remark, comment, \
        additional information, specification, product detail, asset note, model note, information",
    ),
    Names::of(0.5, English, "quantity per unit"),
    Names::of(1.0, German, "beschreibung, artikelbeschreibung, produktbeschreibung, langtext, langbeschreibung"),
    Names::of(0.75, German, "kurzbeschreibung, zusatztext, bemerkung, anmerkung, hinweis, notiz"),
    Names::of(1.0, French, "description, descriptif, description longue, description produit"),
    Names::of(0.75, French, "description courte, remarque, commentaire, resume"),
    Names::of(
        1.0,
        Spanish,
        "descripcion, descripcion larga, descripcion del producto, descripcion producto, descripcion del articulo",
    ),
    Names::of(0.75, Spanish, "descripcion corta, observaciones, nota, detalle, comentario"),
    Names::of(1.0, Japanese, "商品説明, 商品説明文, 説明, 説明文, 商品詳細, 商品説明詳細"),
    Names::of(0.75, Japanese, "備考, 商品説明一覧, 詳細, 概要, コメント"),
    Names::of(1.0, Italian, "descrizione, descrizione lunga, descrizione articolo, descrizione prodotto"),
    Names::of(1.0, Portuguese, "descricao, descricao do produto, descricao longa"),
    Names::of(1.0, Dutch, "beschrijving, lange omschrijving, productbeschrijving"),
];

const PURCHASE_PRICE: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        purchase price, purchase cost, cost, cost price, unit cost, buying price, buy price, cost per item, \
        item cost, product cost, wholesale price, purchase rate, purchase unit price, supply price, \
        supplier price, vendor price, landed cost, standard cost, average cost, cost of good, cogs, \
        valuation rate, net cost, last cost, cost net, trade price, last purchase price, variant cost, \
        purchase price net, price cost",
    ),
    Names::of(0.65, English, "net, dealer price, contract price, acquisition cost, purchase value, net purchase"),
    Names::of(
        1.0,
        German,
        "einkaufspreis, ek, ek preis, ek netto, ek brutto, einstandspreis, bezugspreis, ekp, beschaffungspreis",
    ),
    Names::of(0.8, German, "selbstkosten, kosten, herstellkosten, handlerpreis, lieferantenpreis"),
    Names::of(
        1.0,
        French,
        "\
        prix d achat, prix achat, cout, cout unitaire, cout de revient, prix de revient, pa ht, pa, \
        prix fournisseur",
    ),
    Names::of(
        1.0,
        Spanish,
        "\
        precio de compra, precio compra, coste, costo, precio de costo, precio de coste, precio costo, \
        precio coste, costo unitario, precio proveedor",
    ),
    Names::of(1.0, Japanese, "仕入価格, 仕入単価, 仕入れ価格, 仕入値, 原価, 原単価, 下代, 購入単価, 購入価格"),
    Names::of(1.0, Italian, "prezzo di acquisto, prezzo acquisto, costo, prezzo di costo, costo unitario"),
    Names::of(1.0, Portuguese, "preco de compra, preco de custo, preco custo, custo, preco compra, custo unitario"),
    Names::of(1.0, Dutch, "inkoopprijs, kostprijs, inkoop"),
];

/// Whether an item is on offer: it says of the status that it is active or not.
const SHOWN: &[Names] = &[
    Names::of(
        0.8,
        English,
        "\
        active, enabled, is active, published, visible, product visible, online, product online, \
        is published, publish, sale ok, can be sold, for sale, lifecycle, lifecycle status, is enabled, \
        is visible, display",
    ),
    Names::of(
        0.75,
        English,
        "\
        discontinued, archived, disabled, inactive, hidden, is archived, is disabled, deleted, obsolete, \
        is discontinued",
    ),
    Names::of(0.65, English, "visibility, visibility in catalog, manufacturing status, discontinue status"),
    Names::of(0.55, English, "availability, available"),
    Names::of(
        0.8,
        German,
        "aktiv, sichtbar, freigegeben, veroffentlicht, artikelstatus, produktstatus, ist aktiv, im shop",
    ),
    Names::of(0.75, German, "gesperrt, inaktiv, ausgelaufen, auslauf, auslaufartikel"),
    Names::of(0.6, German, "verfugbarkeit, verfugbar"),
    Names::of(0.8, French, "actif, publie, visible, en ligne, en vente"),
    Names::of(0.75, French, "inactif, archive, arrete"),
    Names::of(0.8, Spanish, "activo, publicado, visible, habilitado"),
    Names::of(0.75, Spanish, "inactivo, descatalogado"),
    Names::of(
        0.9,
        Japanese,
        "公開ステータス, 公開状態, 商品ステータス, 販売ステータス, 公開, 公開区分, 販売区分, 表示, 公開フラグ, 公開ステータスid",
    ),
    Names::of(0.75, Japanese, "非公開, 廃番, 販売終了"),
    Names::of(0.8, Italian, "attivo, pubblicato, visibile"),
    Names::of(0.8, Portuguese, "ativo, publicado"),
    Names::of(0.8, Dutch, "actief, zichtbaar, gepubliceerd"),
];

/// Of the names above those by which yes means that an item is no longer on offer.
pub const WITHDRAWN: &str = "\
    discontinued, archived, disabled, inactive, hidden, deleted, obsolete, gesperrt, inaktiv, ausgelaufen, \
    auslauf, auslaufartikel, inactif, archive, arrete, inactivo, descatalogado, 非公開, 廃番, 販売終了";
