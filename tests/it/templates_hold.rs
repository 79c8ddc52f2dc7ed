//! Property test: random sheets with random templates give records or problems, and never a panic.

use std::fmt::Write;

use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;
use sheetport_mapping::load::{load, no_tables};
use sheetport_plan::Source;
use sheetport_plan::plan::{ReadMode, read};
use sheetport_records::{JsonType, RecordKind};
use sheetport_sheet::Options;

const COLUMNS: [&str; 6] = ["A1", "No.", "Name", "Betrag", "日付", "x y"];

/// Lines of TOML with keys that change or check a value. Templates with keys that don't fit a field are rejected.
fn key() -> impl Strategy<Value = String> {
    let fixed = select(vec![
        "trim = true",
        "optional = true",
        "on_blank = \"null\"",
        "on_blank = \"error\"",
        "default = \"x\"",
        "default = 7",
        "clear = \"-\"",
        "replace = { pattern = '\\d', with = '$0$0' }",
        "split = { at = \"/\", take = -1 }",
        "map = { a = \"b\", ja = \"nein\" }",
        "locale = \"de\"",
        "percent = \"fraction\"",
        "scale = 0.01",
        "round = 2",
        "format = [\"DD.MM.YYYY\", \"YYYYMMDD\"]",
        "time_zone = \"Europe/Berlin\"",
        "allowed = [\"a\", \"1\"]",
        "pattern = '^.{1,5}$'",
        "minimum = 0",
        "maximum = \"9.5\"",
        "damaged = \"accept\"",
    ]);
    prop_oneof![4 => fixed.prop_map(str::to_owned), 1 => Just(String::new())]
}

fn source() -> impl Strategy<Value = String> {
    let column = select(COLUMNS.to_vec());
    prop_oneof![
        4 => column.clone().prop_map(|name| format!("column = \"{name}\"")),
        1 => (column.clone(), column.clone()).prop_map(|(one, two)| format!("columns = [\"{one}\", \"{two}\"]\njoin = \"-\"")),
        1 => (column, select(vec!["upper", "number(\"de\")", "times(\"1.19\")", "left(3)", "date(\"DD.MM.YYYY\")"]))
            .prop_map(|(name, filter)| format!("text = '{{{{ row[\"{name}\"] | {filter} }}}}'")),
        1 => Just("value = 5".to_owned()),
    ]
}

fn table() -> impl Strategy<Value = (String, Vec<String>)> {
    (source(), proptest::collection::vec(key(), 0..3))
}

fn template() -> impl Strategy<Value = String> {
    let kind = select(RecordKind::ALL.to_vec());
    let group = select(vec![
        "",
        "[group]\nby = \"No.\"\n",
        "[group]\nby = [\"No.\", \"Name\"]\nrows = \"together\"\non_blank = \"above\"\n",
    ]);
    let duplicates = select(vec!["", "duplicates = \"first\"\n", "duplicates = \"last\"\n"]);
    (kind, group, duplicates, proptest::collection::vec(table(), 24)).prop_map(|(kind, group, duplicates, tables)| {
        let input = kind.input();
        let mut text = format!("record = \"{kind}\"\n{duplicates}");
        text.push_str(if input.lines().is_some() { group } else { "" });
        let fields = input.mappable().map(|field| ("fields", field));
        let lines = input.lines().into_iter().flat_map(|(_, fields)| fields).map(|field| ("lines", field));
        for ((table, field), (source, keys)) in fields.chain(lines).zip(tables) {
            if keys.is_empty() && !field.required {
                continue;
            }
            write!(text, "[{table}.{}]\n{source}\n", field.name).unwrap();
            let fits = |key: &&String| match field.json {
                JsonType::Number | JsonType::Integer => !key.contains("format") && !key.contains("time_zone"),
                JsonType::DateTime => !["scale", "round", "percent", "m"].iter().any(|word| key.starts_with(word)),
                _ => !["scale", "round", "percent", "minimum", "maximum", "format", "time_zone"]
                    .iter()
                    .any(|word| key.starts_with(word)),
            };
            let mut seen = Vec::new();
            for key in keys.iter().filter(fits) {
                let name = key.split(' ').next().unwrap_or_default().to_owned();
                if !seen.contains(&name) {
                    writeln!(text, "{key}").unwrap();
                    seen.push(name);
                }
            }
        }
        text
    })
}

fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(vec!["", "1", "1.234,50", "12.5%", "31.12.2025", "2025-12-31T10:00", "a/b", "ja", "..", "-", "4,01E+12", "１２"]).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => any::<i64>().prop_map(|number| number.to_string()),
    ]
}

proptest! {
    #[test]
    fn every_row_is_counted_for_every_template(
        template in template(),
        rows in proptest::collection::vec(proptest::collection::vec(cell(), 0..8), 1..24),
    ) {
        let Ok(template) = load("t", &template, &no_tables) else { return Ok(()) };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sheet.csv");
        let mut writer = csv::WriterBuilder::new().flexible(true).from_path(&path).unwrap();
        writer.write_record(COLUMNS).unwrap();
        for row in &rows {
            writer.write_record(row.iter().chain(row.is_empty().then(|| &rows[0][0..0]).into_iter().flatten())).unwrap();
        }
        writer.flush().unwrap();
        drop(writer);
        let options = Options { delimiter: Some(b','), quote: Some(Some(b'"')), ..Options::default() };
        let Ok(source) = Source::open(&path, &template, None, &options) else { return Ok(()) };
        let (mut rows_read, mut records, mut late) = (0, 0, 0);
        let Ok(tally) = read(&source, &template, ReadMode::Records, |batch| {
            rows_read += batch.rows.len() as u64;
            records += batch.records.len() as u64;
            late += batch.withdrawn.len() as u64;
            for record in &batch.records {
                if let sheetport_ledger::Disposition::Send(body) = &record.disposition {
                    assert!(serde_json::from_str::<serde_json::Value>(body).unwrap().is_object());
                }
            }
            true
        }) else { return Ok(()) };
        prop_assert_eq!(tally.rows, rows_read);
        prop_assert_eq!(tally.to_send + tally.skipped + tally.rejected, records);
        let counted = read(&source, &template, ReadMode::TallyOnly, |_| true).unwrap();
        prop_assert_eq!((counted.to_send, counted.skipped, counted.rejected), (tally.to_send, tally.skipped, tally.rejected));
        prop_assert!(late <= records);
    }
}
