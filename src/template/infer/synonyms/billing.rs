//! What the columns of subscriptions and of invoices are called. Both have lines, and a number that groups them and is
//! no field of theirs.

use super::Language::{Dutch, English, French, German, Italian, Japanese, Portuguese, Spanish};
use super::shared::{CURRENCY, CUSTOMER, ITEM_ID, QUANTITY, STATUS};
use super::{Names, Synonyms, Vocabulary};

pub static SUBSCRIPTION: Vocabulary = Vocabulary {
    fields: &[CID, Synonyms { field: "subscription_status", sets: &[SUBSCRIBED, STATUS], kin: "status" }, MONEY],
    lines: LINES,
    group: Some(&Synonyms { field: "group", sets: &[CONTRACT], kin: "id, number, no, nr" }),
    own: "subscription, abo, abonnement, contract, suscripcion, plan",
};

pub static INVOICE: Vocabulary = Vocabulary {
    fields: &[CID, Synonyms { field: "status", sets: &[INVOICED, STATUS], kin: "status, payment" }, MONEY],
    lines: LINES,
    group: Some(&Synonyms { field: "group", sets: &[INVOICE_NUMBER], kin: "id, number, no, nr" }),
    own: "invoice, invoiced, rechnung, rechnungs, facture, factura, fattura, bill, billing",
};

const CID: Synonyms = Synonyms { field: "cid", sets: &[CONTACT, CUSTOMER], kin: "id, number, no, nr, code" };

const MONEY: Synonyms = Synonyms { field: "currency", sets: &[CURRENCY], kin: "code" };

const LINES: &[Synonyms] = &[
    Synonyms { field: "id", sets: &[ITEM_ID, LINE_ITEM], kin: "code, number, no, nr, sku, id" },
    Synonyms { field: "amount", sets: &[QUANTITY], kin: "total, number, unit" },
];

const CONTACT: &[Names] = &[Names::of(1.0, English, "contact id, company id, contact number")];

const LINE_ITEM: &[Names] = &[
    Names::of(0.8, English, "item, product, article, plan id, service id, plan"),
    Names::of(0.5, English, "id, item name, product name, description, plan name"),
    Names::of(0.6, German, "artikel, produkt, leistung, position, bezeichnung"),
    Names::of(0.6, French, "article, produit, designation"),
    Names::of(0.6, Spanish, "articulo, producto"),
    Names::of(0.6, Japanese, "商品名, 品名, 商品, 品目"),
];

const INVOICED: &[Names] = &[
    Names::of(1.0, English, "invoice status"),
    Names::of(0.7, English, "payment status, paid"),
    Names::of(1.0, German, "rechnungsstatus"),
    Names::of(0.7, German, "zahlungsstatus, bezahlt"),
    Names::of(1.0, French, "statut facture, statut de la facture"),
    Names::of(1.0, Spanish, "estado factura, estado de la factura"),
    Names::of(1.0, Japanese, "請求ステータス, 請求状況, 請求状態"),
];

const SUBSCRIBED: &[Names] = &[
    Names::of(1.0, English, "subscription status, subscription state"),
    Names::of(0.75, English, "active, is active, enabled"),
    Names::of(1.0, German, "abostatus, abo status, vertragsstatus"),
    Names::of(0.75, German, "aktiv"),
    Names::of(1.0, Japanese, "契約状態, 契約ステータス, 契約状況"),
];

const INVOICE_NUMBER: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        invoice number, invoice no, invoice id, invoice nr, invoice code, inv no, invoice ref, \
        invoice reference, invoice num, bill number, bill no",
    ),
    Names::of(
        0.8,
        English,
        "invoice, document number, document no, doc no, order number, order id, order no, external id",
    ),
    Names::of(0.6, English, "number, no, id, reference, ref, name"),
    Names::of(1.0, German, "rechnungsnummer, rechnungsnr, rechnung nr, re nr, rg nr, rechnungs nr"),
    Names::of(0.8, German, "rechnung, belegnummer, belegnr, beleg nr"),
    Names::of(1.0, French, "numero de facture, numero facture, no facture, n facture, n de facture"),
    Names::of(0.8, French, "facture"),
    Names::of(1.0, Spanish, "numero de factura, numero factura, n factura, no factura"),
    Names::of(0.8, Spanish, "factura"),
    Names::of(1.0, Japanese, "請求書番号, 請求番号, 請求no"),
    Names::of(1.0, Italian, "numero fattura"),
    Names::of(0.8, Italian, "fattura"),
    Names::of(1.0, Portuguese, "numero da fatura, numero fatura"),
    Names::of(1.0, Dutch, "factuurnummer, factuurnr"),
];

const CONTRACT: &[Names] = &[
    Names::of(
        1.0,
        English,
        "\
        subscription id, subscription number, subscription no, contract number, contract id, contract no, \
        agreement number",
    ),
    Names::of(0.8, English, "subscription, contract, agreement, external id, order number, order id"),
    Names::of(0.6, English, "number, no, id, reference, ref"),
    Names::of(1.0, German, "vertragsnummer, vertragsnr, abonummer, abo nr, vertrag nr"),
    Names::of(0.8, German, "vertrag, abo, abonnement"),
    Names::of(1.0, French, "numero d abonnement, numero abonnement, numero de contrat"),
    Names::of(1.0, Spanish, "numero de contrato, numero de suscripcion"),
    Names::of(1.0, Japanese, "契約番号, 契約id"),
    Names::of(1.0, Dutch, "contractnummer, abonnementsnummer"),
];
