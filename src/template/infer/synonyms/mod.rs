//! The names that people give to columns, by the field that they are meant for, as data. How a header is compared with
//! them is not said here.
//!
//! A name's weight says how surely a column of that name holds the field when the two are equal: 1 for what means
//! nothing else, less for what often does. Names are folded before they are compared, so they stand here in small
//! letters; plurals and diacritics don't matter.

mod billing;
mod item;
mod order;
mod shared;
mod stock;

pub use item::WITHDRAWN;

use crate::records::RecordKind;

/// Whose words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    English,
    German,
    French,
    Spanish,
    Japanese,
    Italian,
    Portuguese,
    Dutch,
}

/// Names of one language that say the same with the same weight.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    pub weight: f64,
    pub language: Language,
    /// One after the other, with commas between.
    names: &'static str,
}

impl Names {
    const fn of(weight: f64, language: Language, names: &'static str) -> Names {
        Names { weight, language, names }
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        listed(self.names)
    }
}

/// What a field is called.
#[derive(Clone, Copy, Debug)]
pub struct Synonyms {
    pub field: &'static str,
    /// Sets of names; a name that is in several counts as in the first.
    pub sets: &'static [&'static [Names]],
    /// Words that may stand beside any of the names and change little.
    pub kin: &'static str,
}

/// The words of a kind of record.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary {
    pub fields: &'static [Synonyms],
    pub lines: &'static [Synonyms],
    /// What names the record that a row belongs to, where that is no field.
    pub group: Option<&'static Synonyms>,
    /// Words for the record itself, which change nothing beside a name.
    pub own: &'static str,
}

pub fn of(kind: RecordKind) -> &'static Vocabulary {
    match kind {
        RecordKind::Item => &item::VOCABULARY,
        RecordKind::Order => &order::VOCABULARY,
        RecordKind::InventoryTransaction => &stock::VOCABULARY,
        RecordKind::Subscription => &billing::SUBSCRIPTION,
        RecordKind::Invoice => &billing::INVOICE,
    }
}

/// The members of a list that is written as one text.
pub fn listed(list: &'static str) -> impl Iterator<Item = &'static str> + use<> {
    list.split(", ").filter(|name| !name.is_empty())
}

/// Words that mean nothing by themselves.
pub const STOP: &str = "a, an, and, at, by, da, das, de, del, della, der, des, di, die, do, du, et, im, in, is, l, la, le, les, of, or, \
    per, the, to, und, van, y, の";

/// Of these those that a name may be written without.
pub const ARTICLES: &str = "a, an, da, das, de, del, della, der, des, di, die, do, du, l, la, le, les, of, the, van";

/// Words that change little wherever they stand: what is sold, and marks of languages and of shops' exports.
pub const NEUTRAL: &str = "\
    article, articolo, articulo, artigo, artikel, current, de, default, en, es, field, fr, full, gb, \
    global, item, ja, line, lineitem, listing, main, our, part, position, pos, prodotto, product, producto, \
    produit, produkt, produto, required, seller, service, translation, us, value, variant, variation, ware, \
    your, 商品, 製品";

/// Words of which each says that a column is about something else. Where one of a field's own names has such a word, it
/// does no harm there.
pub const ALIEN: &str = "\
    account, address, alt, alternative, associated, asset, attribute, backorder, batch, billing, bin, \
    birth, brand, bundle, buyer, cart, category, checkout, city, class, comment, company, compare, \
    condition, contact, count, country, created, cross, customer, date, day, delete, delivery, depth, \
    dimension, discount, download, due, duration, email, employee, expiry, expiration, family, fax, fee, \
    file, flag, footprint, freight, fulfillment, gallery, group, handling, height, hour, icon, image, \
    impact, invoice, keyword, label, legacy, length, level, link, list, location, lot, low, manage, \
    manager, manufacturer, margin, max, maximum, meta, min, minimum, minimal, month, old, option, order, \
    origin, package, page, parent, payment, percentage, phone, photo, picture, pickup, postal, pricelist, \
    primary, profit, qty, quantity, rank, rating, region, related, reorder, return, review, rounding, rule, \
    sale, schedule, season, section, seo, serial, shipment, shipping, ship, shop, show, size, sort, \
    special, start, end, stock, store, street, style, supplier, surcharge, surname, symbol, tag, telephone, \
    text, thumbnail, time, tracking, type, unit, updated, upsell, url, user, username, vendor, video, \
    volume, warehouse, warranty, website, weight, width, year, zip, first, last, anschrift, beschaffung, \
    bild, breite, datum, eigenschaft, einheit, farbe, firma, gewicht, gruppe, hersteller, hohe, kategorie, \
    kunde, kunden, lager, lagerort, lange, liefer, lieferant, lieferanten, lieferzeit, marke, menge, \
    mindest, ort, plz, rabatt, rechnung, strasse, telefon, verpackung, versand, waren, warengruppe, ean, \
    adresse, categorie, client, couleur, fabricant, famille, fournisseur, frais, hauteur, largeur, \
    livraison, longueur, marque, poid, port, quantite, remise, ville, altura, ancho, categoria, ciudad, \
    cliente, descuento, direccion, envio, fabricante, familia, fecha, imagen, marca, peso, proveedor, \
    fornitore, immagine, data, categorie, leverancier, merk, afbeelding, カテゴリ, ブランド, メーカー, 画像, 分類, 仕入先, タグ, \
    送料, 重量, サイズ, 住所, 電話, 郵便, 最小, 最大, 更新, 登録, 作成, 在庫, 関連, 販売種別, 配送, 担当, 顧客, 倉庫, 図片, 供应商, 类别";
