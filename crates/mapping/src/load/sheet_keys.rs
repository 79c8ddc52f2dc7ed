//! Keys of `[sheet]` from flags and profiles, inserted into the merged tree of a template. The copy of a run has them like its own, so that
//! whatever continues the run uses the same.

use std::borrow::Cow;

use sheetport_records::{Input, JsonType, RecordKind, transaction};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::environment::SheetKeys;

/// Sets keys of the sheet.
pub(super) fn insert<'s>(table: &mut DeTable<'s>, keys: &[(&'static str, &'s str)]) {
    if keys.is_empty() {
        return;
    }
    let spanned = |text: &'s str| Spanned::new(0..0, Cow::Borrowed(text));
    let sheet = || Spanned::new(0..0, DeValue::Table(DeTable::new()));
    // Another value than a table is reported with the other mistakes.
    if let DeValue::Table(sheet) = table.entry(spanned("sheet")).or_insert_with(sheet).get_mut() {
        for (key, value) in keys {
            sheet.insert(spanned(key), Spanned::new(0..0, DeValue::String(Cow::Borrowed(value))));
        }
    }
}

/// Returns the defaults that the template needs: keys that it does not set itself, and that mean something for its kind of record. Others
/// would change the copies of runs without any effect.
pub(super) fn missing<'a>(table: &DeTable<'_>, defaults: &SheetKeys<'a>) -> Vec<(&'static str, &'a str)> {
    let Some(input) = input_of(table) else { return Vec::new() };
    let sheet = table_at(table, "sheet");
    let currency = table_at(table, "fields").and_then(|fields| table_at(fields, "currency"));
    let sets_currency = currency.is_some_and(|rule| rule.contains_key("value") || rule.contains_key("default"));
    let has_effect = |key: &str| match key {
        "time_zone" => {
            let lines = input.lines().into_iter().flat_map(|(_, fields)| fields);
            input.fields().chain(lines).any(|field| field.json == JsonType::DateTime)
        }
        "currency" => !sets_currency && input.fields().any(|field| field.is_currency()),
        _ => true,
    };
    let is_set = |key: &str| sheet.is_some_and(|sheet| sheet.contains_key(key));
    defaults.set().filter(|(key, _)| has_effect(key) && !is_set(key)).collect()
}

/// Returns the fields of the template's kind of record. `None` for a mistake, which is reported with the others.
fn input_of(table: &DeTable<'_>) -> Option<&'static Input> {
    let DeValue::String(name) = table.get("record")?.get_ref() else { return None };
    match &**name {
        name if name == transaction::COUNT.name => Some(&transaction::COUNT),
        name => RecordKind::from_name(name).map(RecordKind::input),
    }
}

fn table_at<'t, 's>(table: &'t DeTable<'s>, key: &str) -> Option<&'t DeTable<'s>> {
    match table.get(key)?.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::environment::Environment;
    use super::super::{load_in, no_tables};
    use super::*;
    use crate::{Template, examples};

    fn loaded(source: &str, overrides: SheetKeys<'_>, defaults: SheetKeys<'_>) -> Template {
        let templates = |_: &std::path::Path| Err("no folder".to_owned());
        let environment =
            Environment { tables: &no_tables, templates: &templates, parameters: &[], overrides, defaults };
        load_in("t.toml", source, &environment).expect("a template")
    }

    const DEFAULTS: SheetKeys<'_> =
        SheetKeys { locale: Some("de"), time_zone: Some("Europe/Berlin"), currency: Some("EUR") };

    #[test]
    fn defaults_are_for_what_a_template_does_not_say_and_its_records_have() {
        let item = "# mine\nrecord = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n";
        let order = "record = \"order\"\n[group]\nby = \"No\"\n[fields.externalId]\ncolumn = \"No\"\n";
        for (source, expected) in [
            (item.to_owned(), &["locale", "currency"][..]),
            (format!("{item}[fields.currency]\nvalue = \"USD\"\n"), &["locale"]),
            (format!("{item}[fields.currency]\ncolumn = \"C\"\ndefault = \"USD\"\n"), &["locale"]),
            (format!("{item}[fields.currency]\ncolumn = \"C\"\n"), &["locale", "currency"]),
            (format!("{item}[sheet]\nlocale = \"auto\"\ncurrency = \"SEK\"\n"), &[]),
            (order.to_owned(), &["locale", "time_zone"]),
            (format!("{order}[sheet]\ntime_zone = \"UTC\"\n"), &["locale"]),
        ] {
            let template = loaded(&source, SheetKeys::default(), DEFAULTS);
            let keys = template.defaulted.iter().flat_map(|defaulted| &defaulted.keys).map(|(key, _)| *key);
            assert_eq!(keys.collect::<Vec<_>>(), expected, "{source}");
            assert_eq!(template.own_source(), source);
            assert_eq!(template.source == source, expected.is_empty(), "comments stay where nothing is added");
            // The copy of a run has the defaults like its own keys.
            let copy = loaded(&template.source, SheetKeys::default(), SheetKeys { currency: Some("JPY"), ..DEFAULTS });
            assert_eq!((&copy.source, copy.sheet.currency), (&template.source, template.sheet.currency), "{source}");
        }
    }

    #[test]
    fn flags_come_before_the_template_and_the_profile() {
        let source = "record = \"order\"\n[sheet]\ntime_zone = \"UTC\"\n[group]\nby = \"No\"\n[fields.externalId]\ncolumn = \"No\"\n";
        let flags = SheetKeys { time_zone: Some("Asia/Tokyo"), ..SheetKeys::default() };
        let template = loaded(source, flags, DEFAULTS);
        let zone = template.sheet.time_zone.as_ref().and_then(|zone| zone.iana_name());
        assert_eq!((zone, template.sheet.locale.as_deref()), (Some("Asia/Tokyo"), Some("de")));
    }

    #[test]
    fn the_currency_of_the_sheet_is_for_amounts_that_say_none() {
        let head = "record = \"item\"\n[sheet]\ncurrency = \"AUD\"\n[fields.externalId]\ncolumn = \"SKU\"\n\
                    [fields.price]\ncolumn = [\"Price\", \"Price (USD)\"]\noptional = true\n\
                    [fields.purchasePrice]\ncolumn = \"Cost\"\noptional = true\n";
        let mapped = "[fields.currency]\ncolumn = \"Currency\"\noptional = true\n";
        for (row, sends) in [
            ("Price = \"1\"", "price = 1\ncurrency = \"AUD\""),
            ("Cost = \"1\"", "purchasePrice = 1\ncurrency = \"AUD\""),
            ("Price = \"\"", ""),
            ("Cost = \"\"", ""),
            ("Price = \"$ 1\"", "price = 1\ncurrency = \"AUD\""),
            ("Price = \"1 EUR\"", "price = 1\ncurrency = \"EUR\""),
            ("\"Price (USD)\" = \"1\"", "price = 1\ncurrency = \"USD\""),
            // The cost is in another currency, so the price may be as well.
            ("Price = \"1\"\nCost = \"2 EUR\"", "price = 1\npurchasePrice = 2"),
            ("Price = \"1\"\nCost = \"2 $\"", "price = 1\npurchasePrice = 2\ncurrency = \"AUD\""),
            // A column of currencies, blank or not, used or not.
            ("Price = \"1\"\nCurrency = \"\"", "price = 1"),
        ] {
            for fields in ["", mapped] {
                let example = format!(
                    "[[examples]]\n[examples.row]\nSKU = \"A\"\n{row}\n[examples.sends]\nexternalId = \"A\"\n{sends}\n"
                );
                let source = format!("{head}{fields}{example}");
                let template = loaded(&source, SheetKeys::default(), SheetKeys::default());
                assert_eq!(examples::run(&template).len(), 0, "{row}: {:?}", examples::run(&template));
            }
        }
        let invoice = "record = \"invoice\"\n[sheet]\ncurrency = \"AUD\"\n[group]\nby = \"No\"\n[fields.cid]\ncolumn = \"Customer\"\n\
                       [lines.id]\ncolumn = \"Item\"\n[lines.amount]\ncolumn = \"Qty\"\n[[examples]]\n[examples.row]\nNo = \"1\"\n\
                       Customer = \"c\"\nItem = \"i\"\nQty = \"2\"\n[examples.sends]\ncid = \"c\"\ncurrency = \"AUD\"\n\
                       items = [{ id = \"i\", amount = 2 }]\n";
        let template = loaded(invoice, SheetKeys::default(), SheetKeys::default());
        assert_eq!(examples::run(&template).len(), 0, "{:?}", examples::run(&template));
    }
}
