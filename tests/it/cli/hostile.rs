//! Hostile text files given to the executable are refused quickly, with one line and in little memory, and so are templates that
//! make much of little. Hostile workbooks are in `sheet::hostile_workbooks`.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use super::process::{Ended, Place};
use crate::environment;

/// Maximum time per file, generous for busy machines.
const SECONDS: u64 = 30;
#[cfg(unix)]
const MEMORY: u64 = 512 << 20;
/// Size of sparse files.
const ENDLESS: u64 = 10 << 30;

const WAYS: [&[&str]; 2] = [&["check", "-t", "items"], &["view", "--csv", "--every-row"]];

/// Checks that every command refuses the file for this reason.
#[track_caller]
fn check_refused(place: &Place, file: &str, reason: &str) {
    for way in WAYS {
        let ended = place.sheetport(way).arg("--no-progress").arg(file).exits(7);
        check_bounds(&ended);
        let lines: Vec<&str> = ended.stderr.lines().filter(|line| !line.starts_with("hint: ")).collect();
        assert!(matches!(lines.as_slice(), [line] if line.starts_with("error: ") && line.contains(file)), "{ended:?}");
        assert!(lines[0].contains(reason), "{ended:?}");
    }
}

#[track_caller]
fn check_bounds(ended: &Ended) {
    let took = ended.took;
    // A machine with other work takes longer, but no more processor time.
    #[cfg(unix)]
    let took = environment::processor_time_of_children().map_or(took, |time| took.min(time));
    assert!(took < Duration::from_secs(SECONDS), "{took:?}");
    #[cfg(unix)]
    if let Some(peak) = environment::peak_memory_of_children() {
        assert!(peak < MEMORY, "{} MiB", peak >> 20);
    }
}

fn endless(place: &Place, name: &str, beginning: &[u8]) {
    let mut file = File::create(place.path(name)).unwrap();
    file.write_all(beginning).unwrap();
    file.set_len(ENDLESS).unwrap();
}

/// More rows than detection examines.
fn many_rows() -> Vec<u8> {
    [&b"SKU,Name\n"[..], &b"1,2\n".repeat(40_000)].concat()
}

#[test]
fn endless_nul_bytes_are_refused() {
    let place = Place::new();
    endless(&place, "nuls.csv", b"");
    check_refused(&place, "nuls.csv", "is not a spreadsheet: binary data");
    endless(&place, "begun.csv", b"SKU,Name\n1,2\n");
    check_refused(&place, "begun.csv", "is not a spreadsheet: binary data");
}

#[test]
fn a_line_of_ten_gibibytes_is_refused() {
    let place = Place::new();
    endless(&place, "nuls.csv", &many_rows());
    check_refused(&place, "nuls.csv", "at row 40002: it is longer than 16 MiB");
    endless(&place, "letters.csv", &[&b"SKU,Name\n1,2\n"[..], &b"a".repeat(20 << 20)].concat());
    check_refused(&place, "letters.csv", "at row 3: it is longer than 16 MiB");
    place.write("fields.csv", [&b"SKU,Name\n1,2\n"[..], &b",".repeat(20 << 20)].concat());
    check_refused(&place, "fields.csv", "at row 3: it has more than 16384 columns");
}

#[test]
fn an_unclosed_quote_is_refused() {
    let place = Place::new();
    let rows = [&many_rows()[..], b"3,\"4\n", &b"5,6\n".repeat(5 << 20)].concat();
    endless(&place, "quote.csv", &rows);
    check_refused(&place, "quote.csv", "at row 40002: it is longer than 16 MiB; a quote may not be closed");
    place.write("quote.csv", [&many_rows()[..], b"3,\"4\n", &b"5,6\n".repeat(1 << 20)].concat());
    check_refused(&place, "quote.csv", "at row 40002: a quote is opened here and never closed");
}

#[test]
fn decompression_bombs_are_refused() {
    let place = Place::new();
    let text = [&many_rows()[..], &[&b"x".repeat(65_000)[..], b",2\n"].concat().repeat(2000)].concat();
    place.write("bomb.csv.zst", zstd::bulk::compress(&text, 1).unwrap());
    check_refused(&place, "bomb.csv.zst", "expands to more than 64 MiB");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&text).unwrap();
    place.write("bomb.csv.gz", gzip.finish().unwrap());
    check_refused(&place, "bomb.csv.gz", "expands to more than 64 MiB");
    // A frame with the maximum window size.
    let mut frame = b"\x28\xB5\x2F\xFD\x00\xA8".to_vec();
    frame.extend([3, 0, 0, b'x'].repeat(64));
    place.write("window.csv.zst", &frame);
    check_refused(&place, "window.csv.zst", "can't be");
}

#[test]
fn rows_after_the_end_of_the_table_are_not_read() {
    let place = Place::new();
    endless(&place, "again.csv", &[&many_rows()[..], b"SKU,Name\n"].concat());
    // The rest belongs to another table.
    let view = place
        .sheetport(["view", "--csv", "again.csv"])
        .exits(0)
        .says(&["a second table begins at row 40002 and was not printed", "--every-row"]);
    check_bounds(&view);
    assert_eq!(view.stdout.lines().count(), 40_001);
    check_refused(&place, "again.csv", "at row 40003: it is longer than 16 MiB");
}

/// A cell of a mebibyte.
fn long() -> String {
    "x".repeat(1 << 20)
}

#[test]
fn huge_cells_near_the_header_are_handled() {
    let place = Place::new();
    let rows: String = (0..24).map(|row| format!("{row},{},1,EUR\n", long())).collect();
    place.write("long.csv", format!("SKU,Name,Price,Currency\n{rows}"));
    check_bounds(&place.sheetport(["check", "long.csv", "-t", "items", "-q"]).exits(0));
    // Also as a header, which messages shorten.
    place.write("header.csv", format!("{},{}\n1,x\n", long().repeat(3), long().repeat(3)));
    let ended =
        place.sheetport(["check", "header.csv", "-t", "items"]).exits(2).says(&["the header in row 1 has: 'xxx"]);
    check_bounds(&ended);
    assert!(ended.stderr.len() < 2_000, "{} bytes", ended.stderr.len());
}

const FILLED: &str = "record = \"item\"\n[sheet]\nfill_down = [\"Name\"]\nskip_where = { column = \"SKU\", matches = \"^T\" }\n\
    [fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n";
const ORDERS: &str = "record = \"order\"\n[group]\nby = \"No\"\n[fields.externalId]\ncolumn = \"No\"\n\
    [fields.companyExternalId]\ncolumn = \"Customer\"\n[lines.itemExternalId]\ncolumn = \"SKU\"\n\
    [lines.quantity]\ncolumn = \"Qty\"\n";

#[test]
fn filling_down_a_huge_cell_is_refused() {
    let place = Place::new();
    place.write("t.toml", FILLED);
    // Skipped rows are filled, too.
    let rows: String = (0..100_000).map(|row| format!("T{row},\n")).collect();
    place.write("filled.csv", format!("SKU,Name\n1,{}\n{rows}", long()));
    let ended = place.sheetport(["check", "filled.csv", "-t", "t.toml", "--no-progress", "-q"]).exits(7);
    check_bounds(&ended);
    ended.says(&[
        "fill_down repeats more than 4 GiB of text; the limit is exceeded at row 4099, in column B",
        "the repeated cell is extremely long",
    ]);
    // A long text for a few rows is accepted.
    let rows: String = (2..40).map(|row| format!("{row},\n")).collect();
    place.write("shared.csv", format!("SKU,Name\n1,{}\n{rows}", long()));
    check_bounds(&place.sheetport(["check", "shared.csv", "-t", "t.toml", "-q"]).exits(0));
}

#[test]
fn a_record_of_only_invalid_rows_is_handled() {
    let place = Place::new();
    place.write("t.toml", ORDERS);
    let rows: String = (0..100_000).map(|row| format!("A,c,{row},many\n")).collect();
    place.write("wrong.csv", format!("No,Customer,SKU,Qty\n{rows}"));
    let ended = place.sheetport(["check", "wrong.csv", "-t", "t.toml", "--json"]).exits(3);
    check_bounds(&ended);
    assert_eq!(ended.json()["problems"][0]["count"], 100_000);
    // Every row differs from a long value.
    let rows: String = (0..2_000).map(|row| format!("A,d,{row},1\n")).collect();
    place.write("differ.csv", format!("No,Customer,SKU,Qty\nA,{},a,1\n{rows}", long()));
    let ended = place.sheetport(["check", "differ.csv", "-t", "t.toml", "--json"]).exits(3);
    check_bounds(&ended);
    let problem = &ended.json()["problems"][0];
    assert_eq!((&problem["code"], &problem["count"]), (&"disagrees".into(), &2_000.into()));
    assert!(problem["remedy"].as_str().unwrap().len() < 11_000, "{} bytes", ended.stdout.len());
}

#[test]
fn messages_shorten_huge_values_and_headers() {
    let place = Place::new();
    place.write("t.toml", ITEMS_BY_NUMBER);
    place.write("wrong.csv", format!("SKU,Price{}\n1,{}\n", long(), long()));
    let problem = &place.sheetport(["check", "wrong.csv", "-t", "t.toml", "--json"]).exits(3).json()["problems"][0];
    for part in ["header", "value"] {
        let text = problem[part].as_str().unwrap();
        assert!(text.ends_with("xxx…") && text.len() < 11_000, "{part}: {} bytes", text.len());
    }
}

const ITEMS_BY_NUMBER: &str =
    "record = \"item\"\n[fields.externalId]\ncolumn = 1\n[fields.name]\nvalue = \"n\"\n[fields.price]\ncolumn = 2\n";

/// A template of items whose name passes some steps.
fn template_of(steps: &str) -> String {
    format!("record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n{steps}\n")
}

fn items(rows: usize, name: &str) -> String {
    (0..rows).fold("SKU,Name\n".to_owned(), |items, row| items + &format!("A-{row},{name}\n"))
}

#[test]
fn steps_of_a_template_share_one_budget() {
    let place = Place::new();
    place.write("items.csv", items(3, &"a".repeat(100)));
    let step = format!("{{ pattern = \"a\", with = \"{}\" }}", "a".repeat(8));
    for steps in [
        format!("replace = [{}]", [step.as_str()].repeat(12).join(", ")),
        format!("replace = {{ pattern = \"(.*)\", with = \"{}\" }}", "$1".repeat(300_000)),
    ] {
        place.write("mine.toml", template_of(&steps));
        let ended = place.sheetport(["check", "items.csv", "-t", "mine.toml", "--no-progress"]).exits(3);
        check_bounds(&ended);
        ended
            .shows(&["write more than 4 MiB of text for one row", "shorten the cell, or replace, split and join less"]);
    }
}

#[test]
fn rows_that_grow_within_the_budget_do_not_fill_the_memory() {
    let place = Place::new();
    // More than twice as much as the memory that is allowed.
    place.write("items.csv", items(400, "a"));
    let steps = format!("replace = {{ pattern = \"a\", with = \"{}\" }}", "b".repeat(700_000));
    place.write("mine.toml", template_of(&steps));
    let ended = place.sheetport(["check", "items.csv", "-t", "mine.toml", "--no-progress"]).exits(0);
    check_bounds(&ended);
}

#[test]
fn patterns_and_parameters_of_a_template_are_bounded() {
    let place = Place::new();
    place.write("items.csv", items(1, "a"));
    let many = |step: &str, count: usize| format!("replace = [{}]", [step].repeat(count).join(", "));
    let large = r"{ pattern = '[\w .]{100}', with = '' }";
    let parameters = format!(
        "map = {{ {} }}\n[parameters]\nlong = {{ default = \"{}\" }}",
        (0..100).map(|key| format!("k{key} = {{ parameter = \"long\" }}")).collect::<Vec<_>>().join(", "),
        "x".repeat(100_000),
    );
    for (steps, words) in [
        (many(large, 20), "the patterns of this template need too much memory together"),
        (many("{ pattern = 'a', with = '' }", 101), "replace has 101 entries, and can have at most 100"),
        (many(r"{ pattern = '(\w{1000}){1000}', with = '' }", 1), "this pattern is too large"),
        (parameters, "the values of parameters are larger than 4 MiB"),
    ] {
        place.write("mine.toml", template_of(&steps));
        let ended = place.sheetport(["check", "items.csv", "-t", "mine.toml"]).exits(2).says(&["mine.toml:", words]);
        check_bounds(&ended);
    }
}

#[test]
fn messages_about_wide_sheets_are_short() {
    let place = Place::new();
    let cells = |name: &str| (0..5000).map(|column| format!("{name}{column}")).collect::<Vec<_>>().join(",");
    place.write("wide.csv", format!("SKU,Name,{}\nA,B,{}\n", cells("Extra"), cells("")));
    let ended =
        place.sheetport(["check", "wide.csv", "-t", "items"]).exits(0).shows(&["Extra0, Extra1,", "and 4,988 more"]);
    assert!(ended.stdout.len() + ended.stderr.len() < 4_000, "{ended:?}");
}

#[cfg(unix)]
#[test]
fn a_template_does_not_extend_a_device() {
    let place = Place::new();
    place.write("items.csv", items(1, "a"));
    place.write("mine.toml", "extends = \"/dev/zero\"\n");
    let check = |extra: &[&str]| place.sheetport(["check", "items.csv", "-t", "mine.toml"]).args(extra).exits(2);
    check_bounds(&check(&[]).says(&["outside of the folder"]));
    check_bounds(&check(&["--allow-lookup", "/dev"]).says(&["it is not a file"]));
}

#[cfg(unix)]
#[test]
fn small_files_are_read_within_a_bound() {
    let place = Place::new();
    place.write("items.csv", items(1, "a"));
    for args in [
        &["serve", "--data", "data", "--plan", "/dev/zero"][..],
        &["export", "items", "-o", "i.csv", "-t", "/dev/zero"],
        &["template", "fmt", "/dev/zero"],
    ] {
        check_bounds(&place.sheetport(args).exits(2).says(&["larger than 1 MiB"]));
    }
}
