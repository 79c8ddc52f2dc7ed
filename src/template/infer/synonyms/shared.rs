//! Names that mean the same in records of several kinds.

use super::Language::{Dutch, English, French, German, Italian, Japanese, Portuguese, Spanish};
use super::Names;

/// What names an item.
pub const ITEM_ID: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        sku, sku code, item sku, product sku, variant sku, seller sku, sku number, sku id, stock code, \
        stock number, stock keeping unit, item number, item no, item code, item num, item nr, \
        article number, article no, article code, article nr, product code, product number, product no, \
        product code sku, part number, part no, part code, material number, material code, ipn, \
        internal part number, internal reference, custom label, merchant sku, inventory code",
    ),
    Names::of(
        0.85,
        English,
        "\
        product id, item id, article id, product ref, product reference, item reference, item ref, \
        reference number, reference, ref, default code, catalog number, catalogue number, cat no, item key, \
        product key, variant id, plu, material, product external id, item external id",
    ),
    Names::of(0.7, English, "model number, model no, asset tag, part"),
    Names::of(
        0.6,
        English,
        "mpn, isbn, asin, manufacturer part number, ean, ean code, gtin, upc, barcode, bar code, upc code",
    ),
    Names::of(
        1.0,
        German,
        "\
        artikelnummer, artikelnr, artikel nr, art nr, artnr, artikel nummer, produktnummer, materialnummer, \
        materialnr, teilenummer, sachnummer, warennummer, produktcode, artikelcode, identnummer, ident nr, \
        artikel no, art no",
    ),
    Names::of(0.85, German, "artikel id, produkt id, bestellnr, best nr, artikelkurzel"),
    Names::of(
        1.0,
        French,
        "\
        reference, reference produit, reference article, ref produit, ref article, code article, \
        code produit, numero article, no article, n article, numero d article, code de l article",
    ),
    Names::of(0.85, French, "id produit, id article, code barre"),
    Names::of(
        1.0,
        Spanish,
        "\
        referencia, codigo articulo, codigo producto, codigo de articulo, codigo del articulo, \
        codigo de producto, codigo del producto, numero de articulo, numero articulo, ref articulo, \
        clave producto, cod articulo, cod producto, cod art",
    ),
    Names::of(
        1.0,
        Japanese,
        "商品コード, 商品番号, 品番, 品目コード, 商品管理番号, 製品コード, 製品番号, 部品番号, 部番",
    ),
    Names::of(0.85, Japanese, "型番, 管理番号, 商品id, 型式"),
    Names::of(0.6, Japanese, "janコード, jan, バーコード"),
    Names::of(1.0, Italian, "codice articolo, codice prodotto, cod articolo, numero articolo"),
    Names::of(0.85, Italian, "codice, riferimento"),
    Names::of(1.0, Portuguese, "codigo do produto, codigo produto, codigo do artigo, codigo artigo"),
    Names::of(1.0, Dutch, "artikelnummer, artikelcode, productcode, productnummer, artikelnr"),
];

/// What an item is called.
pub const ITEM_NAME: &[Names] = &[
    Names::of(1.0, English, "name, item name, product name, article name, title, product title, item title, part name"),
    Names::of(
        0.75,
        English,
        "product, item, article, label, display name, short name, product service name, product service",
    ),
    Names::of(0.65, English, "model, model name, short description, material description, goods"),
    Names::of(
        1.0,
        German,
        "bezeichnung, artikelbezeichnung, artikelname, produktname, produktbezeichnung, titel, warenbezeichnung",
    ),
    Names::of(0.8, German, "artikel, produkt, kurztext, kurzbezeichnung, artikeltext, benennung"),
    Names::of(
        1.0,
        French,
        "nom, designation, libelle, nom produit, nom article, nom de l article, intitule, titre, libelle article",
    ),
    Names::of(0.75, French, "article, produit"),
    Names::of(
        1.0,
        Spanish,
        "nombre, nombre producto, nombre del producto, nombre articulo, nombre del articulo, denominacion, titulo",
    ),
    Names::of(0.75, Spanish, "articulo, producto"),
    Names::of(1.0, Japanese, "商品名, 品名, 名称, 商品名称, 製品名, 品目名, タイトル, 部品名"),
    Names::of(0.7, Japanese, "商品, 品目"),
    Names::of(1.0, Italian, "nome, nome prodotto, nome articolo, denominazione, titolo"),
    Names::of(0.75, Italian, "articolo, prodotto"),
    Names::of(1.0, Portuguese, "nome, nome do produto, nome produto, designacao"),
    Names::of(0.75, Portuguese, "artigo, produto"),
    Names::of(1.0, Dutch, "naam, productnaam, artikelnaam, omschrijving, artikelomschrijving"),
];

/// What something is sold for.
pub const PRICE: &[Names] = &[
    Names::of(1.0, English, "price, selling price, sales price, regular price, unit price, variant price"),
    Names::of(
        0.95,
        English,
        "\
        retail price, list price, base price, item price, product price, price each, price unit, net price, \
        gross price, sell price, sales unit price, msrp, rrp, srp, public price, standard price, \
        standard selling rate, selling rate, sales rate, sales price rate, start price, consumer price, \
        customer price, lst price, price gross, price net, price amount, price per unit, price per piece",
    ),
    Names::of(0.7, English, "rate, package price, contract price, unit value, catalog price"),
    Names::of(0.55, English, "list, sale price, amount, special price, discount price, discounted price"),
    Names::of(
        1.0,
        German,
        "\
        preis, verkaufspreis, vk, vk preis, listenpreis, einzelpreis, vk brutto, vk netto, stuckpreis, \
        artikelpreis",
    ),
    Names::of(0.9, German, "bruttopreis, nettopreis, ladenpreis, endpreis, uvp, vkp, e preis, shop preis"),
    Names::of(0.6, German, "grundpreis, betrag, katalogpreis"),
    Names::of(
        1.0,
        French,
        "\
        prix, prix de vente, prix unitaire, prix public, prix vente, pv, prix ttc, prix ht, pu, pu ht, \
        prix catalogue",
    ),
    Names::of(0.7, French, "tarif, tarif ht, tarif ttc, pvp, montant"),
    Names::of(
        1.0,
        Spanish,
        "precio, precio de venta, precio venta, precio unitario, pvp, precio publico, precio de lista",
    ),
    Names::of(0.6, Spanish, "tarifa, importe"),
    Names::of(1.0, Japanese, "販売価格, 価格, 単価, 売価, 販売単価, 売単価, 値段, 販売額"),
    Names::of(0.9, Japanese, "通常価格, 標準価格, 定価, 税込価格, 税抜価格, 上代"),
    Names::of(0.6, Japanese, "金額, メーカー希望小売価格"),
    Names::of(
        1.0,
        Italian,
        "prezzo, prezzo di vendita, prezzo vendita, prezzo unitario, prezzo listino, prezzo di listino",
    ),
    Names::of(1.0, Portuguese, "preco, preco de venda, preco venda, preco unitario, valor unitario"),
    Names::of(1.0, Dutch, "prijs, verkoopprijs, stukprijs, eenheidsprijs, adviesprijs, consumentenprijs"),
];

/// Words beside a price that say how it is meant, not that it is another.
pub const PRICE_KIN: &str = "\
    net, gross, netto, brutto, excl, incl, excluding, including, excluded, included, exclusive, inclusive, \
    ex, inc, vat, tax, mwst, ust, ttc, ht, hor, taxe, tva, iva, sin, con, each, euro, eur, usd, gbp, zzgl, \
    inkl, exkl, price, rate, amount, neto, bruto, moms, btw, 税込, 税抜, 税別, 円, unit, piece, stuck, unitario, \
    unitaire, sin impuesto, regular, retail";

/// Tax as a rate.
pub const TAX_RATE: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        tax rate, vat rate, tax percent, vat percent, tax percentage, vat percentage, gst rate, \
        gst percent, sales tax rate, vat code percent",
    ),
    Names::of(0.9, English, "tax, vat, sales tax, gst, hst"),
    Names::of(
        1.0,
        German,
        "\
        mwst, mehrwertsteuer, ust, umsatzsteuer, steuersatz, mwst satz, ust satz, mehrwertsteuersatz, \
        umsatzsteuersatz",
    ),
    Names::of(0.8, German, "steuer"),
    Names::of(1.0, French, "tva, taux de tva, taux tva, taux de taxe, taux taxe"),
    Names::of(0.8, French, "taxe"),
    Names::of(1.0, Spanish, "iva, tipo de iva, tipo iva, impuesto, porcentaje iva, tasa iva"),
    Names::of(1.0, Japanese, "税率, 消費税率, 消費税, 税"),
    Names::of(1.0, Italian, "iva, aliquota iva, aliquota"),
    Names::of(1.0, Portuguese, "iva, taxa de iva, taxa iva, imposto"),
    Names::of(1.0, Dutch, "btw, btw percentage, btw tarief"),
];

/// The code of a currency.
pub const CURRENCY: &[Names] = &[
    Names::of(
        1.0,
        English,
        "currency, currency code, ccy, curr, iso currency, currency iso, price currency, currency name",
    ),
    Names::of(1.0, German, "wahrung, waehrung, whg, wahrungscode, wkz"),
    Names::of(1.0, French, "devise, monnaie, code devise"),
    Names::of(1.0, Spanish, "moneda, divisa, codigo moneda"),
    Names::of(1.0, Japanese, "通貨, 通貨コード, 通貨単位"),
    Names::of(1.0, Italian, "valuta, divisa"),
    Names::of(1.0, Portuguese, "moeda"),
    Names::of(1.0, Dutch, "valuta, munt, muntsoort"),
];

/// How many.
pub const QUANTITY: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        quantity, qty, quantity ordered, qty ordered, ordered quantity, quantity purchased, order quantity, \
        order qty, item quantity, line quantity, quantity sold, item count",
    ),
    Names::of(0.75, English, "unit, piece, count, pcs, number of item, seat, license, hour"),
    Names::of(1.0, German, "menge, anzahl, bestellmenge, stuckzahl, auftragsmenge"),
    Names::of(0.8, German, "stuck, stk, stck"),
    Names::of(1.0, French, "quantite, qte, quantite commandee, nombre"),
    Names::of(1.0, Spanish, "cantidad, cant, unidades, cantidad pedida"),
    Names::of(1.0, Japanese, "数量, 個数, 注文数, 注文数量, 受注数, 購入数, 点数"),
    Names::of(1.0, Italian, "quantita, qta, q ta"),
    Names::of(1.0, Portuguese, "quantidade, qtd, qtde"),
    Names::of(1.0, Dutch, "aantal, hoeveelheid, besteld aantal"),
];

/// A customer, by what the sheet calls them.
pub const CUSTOMER: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        customer id, customer number, customer no, customer code, customer nr, client id, client code, \
        client number, customer account, buyer id, partner id, debtor number, customer external id, \
        company external id, debtor no, sold to party",
    ),
    Names::of(
        0.9,
        English,
        "customer, client, company, company id, company code, company number, cust id, cust no, bill to, sold to",
    ),
    Names::of(
        0.7,
        English,
        "\
        customer name, company name, client name, contact name, account number, buyer, \
        account name, billing company, partner, partner name, contact id, subscriber, subscriber id",
    ),
    Names::of(
        0.5,
        English,
        "account, customer email, email, buyer email, contact, user id, buyer username, buyer name",
    ),
    Names::of(
        1.0,
        German,
        "kundennummer, kundennr, kunden nr, kd nr, kdnr, kunden id, debitorennummer, debitor, debitorennr",
    ),
    Names::of(0.8, German, "kunde, firma, kundenname, besteller, auftraggeber, rechnungsempfanger"),
    Names::of(1.0, French, "code client, numero client, no client, n client, id client, numero de client, ref client"),
    Names::of(0.85, French, "client, societe, nom client, nom du client"),
    Names::of(
        1.0,
        Spanish,
        "codigo cliente, codigo de cliente, codigo del cliente, numero de cliente, id cliente, numero cliente",
    ),
    Names::of(0.85, Spanish, "cliente, empresa, nombre cliente"),
    Names::of(
        1.0,
        Japanese,
        "顧客コード, 顧客番号, 得意先コード, 会員id, 顧客id, 会員番号, 得意先番号, 取引先コード, お客様番号",
    ),
    Names::of(0.8, Japanese, "得意先, 顧客名, 会社名, 得意先名, 取引先, 取引先名, 注文者, 注文者名, 購入者"),
    Names::of(1.0, Italian, "codice cliente, id cliente, numero cliente"),
    Names::of(0.85, Italian, "cliente, ragione sociale"),
    Names::of(1.0, Portuguese, "codigo do cliente, codigo cliente, id do cliente"),
    Names::of(0.85, Portuguese, "cliente"),
    Names::of(1.0, Dutch, "klantnummer, klantcode, debiteurnummer, klantnr"),
    Names::of(0.85, Dutch, "klant, klantnaam, debiteur"),
];

/// The number of an order or another document.
pub const ORDER_NUMBER: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        order number, order no, order id, order nr, order ref, order reference, order code, order name, \
        sales order, sales order number, sales order no, sales order id, so number, so no, \
        external order id, order external id, order num, sales record number",
    ),
    Names::of(
        0.85,
        English,
        "\
        order, external id, document number, document no, doc no, increment id, purchase order, po number, \
        po no, sale id, sales id, receipt number, invoice number, invoice no, invoice id, transaction id, \
        web order",
    ),
    Names::of(
        1.0,
        German,
        "\
        bestellnummer, bestellnr, bestell nr, auftragsnummer, auftragsnr, auftrags nr, auftrag nr, \
        bestell id, auftrags id",
    ),
    Names::of(0.85, German, "bestellung, auftrag, belegnummer, belegnr, beleg nr, vorgangsnummer"),
    Names::of(
        1.0,
        French,
        "\
        numero de commande, numero commande, no commande, n commande, ref commande, reference commande, \
        id commande, n de commande",
    ),
    Names::of(0.85, French, "commande"),
    Names::of(1.0, Spanish, "numero de pedido, numero pedido, n pedido, no pedido, id pedido, codigo pedido, pedido n"),
    Names::of(0.85, Spanish, "pedido"),
    Names::of(1.0, Japanese, "注文番号, 受注番号, 注文id, 受注id, 受注no, 注文no, オーダー番号"),
    Names::of(0.85, Japanese, "伝票番号, 注文, 受注"),
    Names::of(1.0, Italian, "numero ordine, id ordine, n ordine"),
    Names::of(0.85, Italian, "ordine"),
    Names::of(1.0, Portuguese, "numero do pedido, numero pedido, numero da encomenda"),
    Names::of(0.85, Portuguese, "encomenda"),
    Names::of(1.0, Dutch, "ordernummer, bestelnummer, ordernr"),
    Names::of(0.85, Dutch, "bestelling"),
];

/// How a thing stands.
pub const STATUS: &[Names] = &[
    Names::of(1.0, English, "status, status name, status code"),
    Names::of(0.85, English, "state, stage"),
    Names::of(1.0, French, "statut, etat"),
    Names::of(1.0, German, "status, zustand"),
    Names::of(1.0, Spanish, "estado, estatus, situacion"),
    Names::of(1.0, Japanese, "ステータス, 状態, 状況"),
    Names::of(1.0, Italian, "stato"),
    Names::of(1.0, Portuguese, "estado, situacao"),
];
