//! Proposals for sheets in all languages; `sheets.txt` has the sheets and the expected columns.

use std::collections::BTreeMap;

use sheetport_mapping::load::{load, no_tables};
use sheetport_records::RecordKind;
use sheetport_sheet::{Cell, Row};
use sheetport_words::vocabulary;

use super::super::{Confidence, Context, FieldProposal, Proposal, ProposedSource, Sample, propose};

/// A sheet with the expected column of each mapped field.
struct TestSheet {
    kind: RecordKind,
    language: &'static str,
    about: &'static str,
    rows: Vec<Row>,
    expected: BTreeMap<&'static str, String>,
}

fn test_sheets() -> Vec<TestSheet> {
    let blocks = include_str!("sheets.txt").split("\n== ").skip(1);
    blocks.map(test_sheet).collect()
}

fn test_sheet(block: &'static str) -> TestSheet {
    let mut lines = block.trim().lines();
    let title = lines.next().expect("a title");
    let (kind, rest) = title.split_once(' ').expect("a kind");
    let (language, about) = rest.split_once(' ').expect("a language");
    let (mut rows, mut expected) = (Vec::new(), BTreeMap::new());
    for (number, line) in (1..).zip(lines) {
        if let Some(pairs) = line.strip_prefix("-> ") {
            let pairs = pairs.split(' ').map(|pair| pair.split_once('=').expect("a field and its column"));
            expected = pairs.map(|(field, column)| (field, column.replace('_', " "))).collect();
            continue;
        }
        let mut row = Row::default();
        row.clear(number);
        line.split('|').for_each(|cell| row.push(if cell.is_empty() { Cell::Blank } else { Cell::Text(cell) }));
        rows.push(row);
    }
    let kind = RecordKind::ALL.iter().find(|known| known.name() == kind).copied().expect("a kind of record");
    TestSheet { kind, language, about, rows, expected }
}

fn proposed(sheet: &TestSheet) -> Proposal {
    let context = Context { file: "sheet.csv".to_owned(), ..Context::default() };
    propose(sheet.kind, &Sample::new(sheet.rows.clone(), sheet.kind), &context)
}

fn column(field: &FieldProposal) -> String {
    match &field.source {
        ProposedSource::Column { label, .. } => label.clone(),
        source => format!("={}", source.label()),
    }
}

#[test]
fn sheets_in_all_languages_are_mapped_as_a_person_would() {
    let mut wrong = Vec::new();
    for sheet in test_sheets() {
        let proposal = proposed(&sheet);
        let mapping = proposal.fields.iter().map(|field| (field.path(), column(field)));
        let found: BTreeMap<String, String> = mapping.collect();
        let expected: BTreeMap<String, String> =
            sheet.expected.iter().map(|(field, column)| ((*field).to_owned(), column.clone())).collect();
        if found != expected {
            wrong.push(format!("{} {} {}:\n  {found:?}\n  {expected:?}", sheet.kind, sheet.language, sheet.about));
        }
        if proposal.missing.is_empty() {
            assert!(load("proposal", &proposal.toml, &no_tables).is_ok(), "{}", proposal.toml);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_wrong_column_is_sure() {
    for sheet in test_sheets() {
        for field in proposed(&sheet).fields.iter().filter(|field| field.confidence == Confidence::Sure) {
            let expected = sheet.expected.get(field.path().as_str());
            assert_eq!(Some(&column(field)), expected, "{} {} {}", sheet.kind, sheet.language, sheet.about);
        }
    }
}

#[test]
fn every_language_has_sheets_of_the_main_kinds() {
    let sheets = test_sheets();
    for language in vocabulary().languages() {
        for kind in [RecordKind::Item, RecordKind::Order, RecordKind::Invoice, RecordKind::InventoryTransaction] {
            assert!(sheets.iter().any(|sheet| sheet.language == language && sheet.kind == kind), "{language} {kind}");
        }
    }
}
