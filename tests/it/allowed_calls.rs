//! README.md says which kinds of records can be created, updated, read and listed.

use std::fs;
use std::path::Path;

use sheetport_records::{
    Exported, Input, List, RecordKind, Single, company, contact, inventory, item, order, transaction,
};

const UPDATE: &str = "SHEETPORT_UPDATE_DOCS";
const BEGIN: &str = "<!-- Generated from crates/records; a test compares it: SHEETPORT_UPDATE_DOCS=1 cargo test --test it allowed_calls -->\n";
const END: &str = "<!-- End of the generated table. -->\n";

/// Records of the API, with the calls that it has for them.
struct Kind {
    plural: &'static str,
    input: Option<&'static Input>,
    list: Option<&'static List>,
    single: Option<&'static Single>,
}

fn kinds() -> Vec<Kind> {
    let sent = RecordKind::ALL.iter().map(|kind| {
        let (list, single): (Option<&List>, Option<&Single>) = match kind {
            RecordKind::Item => (Some(&item::LIST), None),
            RecordKind::Order => (Some(&order::LIST), Some(&order::SINGLE)),
            RecordKind::InventoryTransaction => (None, Some(&transaction::SINGLE)),
            RecordKind::Subscription | RecordKind::Invoice => (None, None),
        };
        Kind { plural: kind.input().plural, input: Some(kind.input()), list, single }
    });
    let only_read = [(&inventory::LIST, Some(&inventory::SINGLE)), (&company::LIST, None), (&contact::LIST, None)]
        .map(|(list, single)| Kind { plural: list.name, input: None, list: Some(list), single });
    sent.chain(only_read).collect()
}

fn row(kind: &Kind) -> String {
    // A call to create that may be repeated finds the record by its key, and updates it.
    let upserts = |input: &Input| input.create.as_ref().is_some_and(|call| call.repeatable) && !input.key.is_empty();
    let create = match kind.input {
        Some(input) if input.create.is_some() => "yes",
        Some(_) => "no: it must be there",
        None => "no",
    };
    let update = match kind.input {
        Some(input) if upserts(input) || input.update.is_some() => "yes",
        _ => "no",
    };
    let read = match kind.single {
        Some(single) if single.has_external_id => "yes, also by your own identifier",
        Some(_) => "yes",
        None => "no",
    };
    let list = if kind.list.is_some() { "yes" } else { "no" };
    let key = match kind.input.map_or(&[][..], |input| input.key) {
        [] => "none".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "),
    };
    format!("| {} | {create} | {update} | no | {read} | {list} | {key} |\n", kind.plural)
}

#[test]
fn readme_says_what_the_api_allows() {
    let kinds = kinds();
    for name in ["items", "orders", "inventories", "companies", "contacts"] {
        assert!(
            Exported::named(name).is_some() && kinds.iter().any(|kind| kind.list.is_some_and(|list| list.name == name))
        );
    }
    let rows: String = kinds.iter().map(row).collect();
    let table = format!(
        "| records | create | update | delete | read by id | list | key |\n|---|---|---|---|---|---|---|\n{rows}"
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let page = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let (before, from) = page.split_once(BEGIN).unwrap();
    let (_, after) = from.split_once(END).unwrap();
    let updated = [before, BEGIN, &table, END, after].concat();
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, updated).unwrap();
    } else {
        assert!(page == updated, "rewrite the table with {UPDATE}=1; it must be:\n{table}");
    }
}
