//! What the columns of subscriptions and of invoices are called. Both have lines, and a number that groups them and is
//! no field of theirs.

use super::Language::{Dutch, English, French, German, Italian, Japanese, Portuguese, Spanish};
use super::shared::{CURRENCY, CUSTOMER, ITEM_ID, QUANTITY, STATUS};
use super::{Names, Synonyms, Vocabulary};

pub static SUBSCRIPTION: Vocabulary = Vocabulary {
    fields: &[CID, Synonyms { field: "subscription_status", sets: &[SUBSCRIBED, STATUS], kin: &["status"] }, MONEY],
    lines: LINES,
    group: Some(&Synonyms { field: "group", sets: &[CONTRACT], kin: &["id", "number", "no", "nr"] }),
    own: &["subscription", "abo", "abonnement", "contract", "suscripcion", "plan"],
};

pub static INVOICE: Vocabulary = Vocabulary {
    fields: &[CID, Synonyms { field: "status", sets: &[INVOICED, STATUS], kin: &["status", "payment"] }, MONEY],
    lines: LINES,
    group: Some(&Synonyms { field: "group", sets: &[INVOICE_NUMBER], kin: &["id", "number", "no", "nr"] }),
    own: &["invoice", "invoiced", "rechnung", "rechnungs", "facture", "factura", "fattura", "bill", "billing"],
};

const CID: Synonyms = Synonyms { field: "cid", sets: &[CONTACT, CUSTOMER], kin: &["id", "number", "no", "nr", "code"] };

const MONEY: Synonyms = Synonyms { field: "currency", sets: &[CURRENCY], kin: &["code"] };

const LINES: &[Synonyms] = &[
    Synonyms { field: "id", sets: &[ITEM_ID, LINE_ITEM], kin: &["code", "number", "no", "nr", "sku", "id"] },
    Synonyms { field: "amount", sets: &[QUANTITY], kin: &["total", "number", "unit"] },
];

const CONTACT: &[Names] =
    &[Names { weight: 1.0, language: English, names: &["contact id", "company id", "contact number"] }];

const LINE_ITEM: &[Names] = &[
    Names { weight: 0.8, language: English, names: &["item", "product", "article", "plan id", "service id", "plan"] },
    Names { weight: 0.5, language: English, names: &["item name", "product name", "description", "plan name"] },
    Names { weight: 0.6, language: German, names: &["artikel", "produkt", "leistung", "position", "bezeichnung"] },
    Names { weight: 0.6, language: French, names: &["article", "produit", "designation"] },
    Names { weight: 0.6, language: Spanish, names: &["articulo", "producto"] },
    Names { weight: 0.6, language: Japanese, names: &["商品名", "品名", "商品", "品目"] },
];

const INVOICED: &[Names] = &[
    Names { weight: 1.0, language: English, names: &["invoice status"] },
    Names { weight: 0.7, language: English, names: &["payment status", "paid"] },
    Names { weight: 1.0, language: German, names: &["rechnungsstatus"] },
    Names { weight: 0.7, language: German, names: &["zahlungsstatus", "bezahlt"] },
    Names { weight: 1.0, language: French, names: &["statut facture", "statut de la facture"] },
    Names { weight: 1.0, language: Spanish, names: &["estado factura", "estado de la factura"] },
    Names { weight: 1.0, language: Japanese, names: &["請求ステータス", "請求状況", "請求状態"] },
];

const SUBSCRIBED: &[Names] = &[
    Names { weight: 1.0, language: English, names: &["subscription status", "subscription state"] },
    Names { weight: 0.75, language: English, names: &["active", "is active", "enabled"] },
    Names { weight: 1.0, language: German, names: &["abostatus", "abo status", "vertragsstatus"] },
    Names { weight: 0.75, language: German, names: &["aktiv"] },
    Names { weight: 1.0, language: Japanese, names: &["契約状態", "契約ステータス", "契約状況"] },
];

const INVOICE_NUMBER: &[Names] = &[
    Names {
        weight: 1.0,
        language: English,
        names: &[
            "invoice number",
            "invoice no",
            "invoice id",
            "invoice nr",
            "invoice code",
            "inv no",
            "invoice ref",
            "invoice reference",
            "invoice num",
            "bill number",
            "bill no",
        ],
    },
    Names {
        weight: 0.8,
        language: English,
        names: &[
            "invoice",
            "document number",
            "document no",
            "doc no",
            "order number",
            "order id",
            "order no",
            "external id",
        ],
    },
    Names { weight: 0.6, language: English, names: &["number", "no", "id", "reference", "ref", "name"] },
    Names {
        weight: 1.0,
        language: German,
        names: &["rechnungsnummer", "rechnungsnr", "rechnung nr", "re nr", "rg nr", "rechnungs nr"],
    },
    Names { weight: 0.8, language: German, names: &["rechnung", "belegnummer", "belegnr", "beleg nr"] },
    Names {
        weight: 1.0,
        language: French,
        names: &["numero de facture", "numero facture", "no facture", "n facture", "n de facture"],
    },
    Names { weight: 0.8, language: French, names: &["facture"] },
    Names {
        weight: 1.0,
        language: Spanish,
        names: &["numero de factura", "numero factura", "n factura", "no factura"],
    },
    Names { weight: 0.8, language: Spanish, names: &["factura"] },
    Names { weight: 1.0, language: Japanese, names: &["請求書番号", "請求番号", "請求no"] },
    Names { weight: 1.0, language: Italian, names: &["numero fattura"] },
    Names { weight: 0.8, language: Italian, names: &["fattura"] },
    Names { weight: 1.0, language: Portuguese, names: &["numero da fatura", "numero fatura"] },
    Names { weight: 1.0, language: Dutch, names: &["factuurnummer", "factuurnr"] },
];

const CONTRACT: &[Names] = &[
    Names {
        weight: 1.0,
        language: English,
        names: &[
            "subscription id",
            "subscription number",
            "subscription no",
            "contract number",
            "contract id",
            "contract no",
            "agreement number",
        ],
    },
    Names {
        weight: 0.8,
        language: English,
        names: &["subscription", "contract", "agreement", "external id", "order number", "order id"],
    },
    Names { weight: 0.6, language: English, names: &["number", "no", "id", "reference", "ref"] },
    Names {
        weight: 1.0,
        language: German,
        names: &["vertragsnummer", "vertragsnr", "abonummer", "abo nr", "vertrag nr"],
    },
    Names { weight: 0.8, language: German, names: &["vertrag", "abo", "abonnement"] },
    Names { weight: 1.0, language: French, names: &["numero d abonnement", "numero abonnement", "numero de contrat"] },
    Names { weight: 1.0, language: Spanish, names: &["numero de contrato", "numero de suscripcion"] },
    Names { weight: 1.0, language: Japanese, names: &["契約番号", "契約id"] },
    Names { weight: 1.0, language: Dutch, names: &["contractnummer", "abonnementsnummer"] },
];
