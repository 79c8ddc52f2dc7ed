//! README.md says which kinds of records can be created, updated, read and listed.

use sheetport_records::{Exported, Input, List, RecordKind, Single, company, contact, inventory};

const BEGIN: &str = "<!-- Generated from crates/records; a test compares it: SHEETPORT_UPDATE_DOCS=1 cargo test --test it allowed_calls -->\n";

/// Records of the API, with the calls that it has for them.
struct Kind {
    plural: &'static str,
    input: Option<&'static Input>,
    list: Option<&'static List>,
    single: Option<&'static Single>,
}

fn kinds() -> Vec<Kind> {
    let sent = RecordKind::ALL.iter().map(|kind| {
        let input = kind.input();
        Kind { plural: input.plural, input: Some(input), list: kind.list(), single: kind.single() }
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
    sheetport_testing::generated::assert_tables("README.md", BEGIN, &[table]);
}
