//! Each field that docs/json.md describes occurs, and the executable prints the schemas that are made of it.

use std::fs;

use serde_json::Value;
use sheetport_operations::schema;

use super::described::Described;
use super::items;
use super::process::{Place, name};
use super::service::Served;

/// Looks whether each field that is described occurs in one of these outputs. Each output was compared with the description when its command ended.
#[track_caller]
fn compare(name: &str, outputs: &[Value]) {
    let described = schema(name).unwrap_or_else(|| panic!("docs/json.md does not describe {name}"));
    // The tests of records that another run sent, or that were changed since, have these, and those of jobs the exit code of an export.
    let is_rare = |field: &str| matches!(field, "superseded" | "sent_before" | "moved_on" | "kept" | "exit");
    let mut known = described["properties"].as_object().unwrap().keys().filter(|field| !is_rare(field));
    let never = known.find(|field| !outputs.iter().any(|output| output.get(field.as_str()).is_some()));
    assert_eq!(never, None, "{name}: no output has the field");
}

const UNPIVOT: &str = "\
record = \"item\"
[unpivot]
columns = [\"Red\", \"Blue\"]
header_as = \"Color\"
value_as = \"Stock\"
[fields.externalId]
text = \"{{ SKU }}-{{ Color }}\"
[fields.name]
column = \"Stock\"
";

#[test]
fn every_field_of_the_json_output_is_documented() {
    let place = Place::new();
    let served = Served::start(&place);
    let json = |args: &[&'static str], exit: i32| {
        let ended = served.sheetport(&place, args.iter().copied()).arg("--json").exits(exit);
        ended.json()
    };
    place.write("items.csv", items(2) + "3,Nut,free,EUR\n");
    place.write("staff.csv", "SKU,Name,E-mail,Department,Start\n17,Anna,a@x.de,Sales,2020\n18,Bob,b@x.de,IT,2021\n");
    place.write("colors.csv", "SKU,Red,Blue\n1,4,5\n");
    place.write("colors.toml", UNPIVOT);
    // An item that is changed, and one that is created.
    place.write("new.csv", "SKU,Name,Price,Currency\n00001,Item 1,7.50,EUR\nN-1,Nut,1,EUR\n");
    place.write("t.toml", include_str!("../../../templates/items.toml"));
    let missing = "[missing]\nset = { status = \"inactive\" }\nwhere = 'externalId'\nat_most = \"100%\"\n";
    fs::create_dir_all(place.path("home")).unwrap();
    place.write("home/sheetport.toml", "[profiles.eur]\ncurrency = \"EUR\"\n");
    place.write("m.toml", format!("extends = \"items\"\n{missing}"));
    compare(
        "summary",
        &[
            json(&["check", "items.csv", "-t", "items"], 3),
            json(&["check", "staff.csv", "-t", "items"], 3),
            json(&["check", "items.csv", "-t", "items", "--profile", "eur"], 3),
            json(&["upload", "items.csv", "-t", "items", "--dry-run"], 3),
            json(&["upload", "items.csv", "-t", "items", "--rehearse"], 3),
            json(&["upload", "items.csv", "-t", "items", "--report", "r.csv"], 3),
            json(&["retry", "r.csv"], 3),
            json(&["resume", "1"], 3),
            json(&["plan", "items.csv", "-t", "items"], 3),
            json(&["apply", "3", "--approve", "none"], 3),
            json(&["upload", "new.csv", "-t", "items", "--undoable"], 0),
            json(&["undo", "4"], 3),
            json(&["apply", "5"], 3),
            json(&["plan", "new.csv", "-t", "m.toml"], 0),
        ],
    );
    let rows = served.sheetport(&place, ["check", "items.csv", "-t", "items", "--json-rows"]).exits(3).stdout;
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 3);
    compare("check-rows", &rows);
    compare("report", &[json(&["report", "1", "-o", "again.csv"], 0)]);
    compare("resolve", &[json(&["resolve", "1"], 0)]);
    compare("runs", &[json(&["runs"], 0)]);
    compare("runs-show", &[json(&["runs", "show", "1"], 0), json(&["runs", "show", "2"], 0)]);
    compare("runs-check", &[json(&["runs", "check"], 0)]);
    compare("runs-prune", &[json(&["runs", "prune", "--older-than", "1h", "--dry-run"], 0)]);
    compare("runs-erase", &[json(&["runs", "erase", "--key", "no such key", "--dry-run"], 0)]);
    compare("runs-backup", &[json(&["runs", "backup", "ledger-copy.db"], 0)]);
    compare("export", &[json(&["export", "items", "-o", "e.csv"], 0), json(&["export", "orders", "-o", "o.csv"], 0)]);
    let several = ["export", "items", "orders", "-o", "all.xlsx"];
    json(&several, 0);
    let manifest = |name: &str| serde_json::from_slice(&fs::read(place.path(name)).unwrap()).unwrap();
    compare("manifest", &[manifest("e.csv.manifest.json"), manifest("all.xlsx.manifest.json")]);
    compare("login", &[json(&["whoami"], 0)]);
    compare("init", &[json(&["init"], 0)]);
    compare("config", &[json(&["config"], 0)]);
    compare("doctor", &[json(&["doctor"], 0), json(&["doctor", "--offline"], 0)]);
    place.write("nightly.toml", "[[step]]\nupload = \"items.csv\"\ntemplate = \"items\"\nsettle = \"0s\"\n");
    let jobs = [json(&["job", "run", "nightly.toml"], 3), json(&["job", "run", "nightly.toml"], 3)];
    compare("job", &jobs);
    compare("job-check", &[json(&["job", "check", "nightly.toml"], 0)]);
    compare("job-status", &[json(&["job", "status", "nightly.toml"], 0)]);
    compare("job-schedule", &[json(&["job", "schedule", "nightly.toml", "--for", "cron"], 0)]);
    compare("logout", &[json(&["logout"], 0)]);
    compare("view", &[json(&["view", "items.csv"], 0)]);
    compare(
        "explain",
        &[
            json(&["explain", "items.csv", "-t", "items", "--row", "2"], 0),
            json(&["explain", "colors.csv", "-t", "colors.toml", "--row", "2"], 0),
        ],
    );
    let column = ["explain", "items.csv", "-t", "items", "--column", "B"];
    compare("explain-column", &[json(&column, 0)]);
    compare("template-list", &[json(&["template", "list"], 0)]);
    compare("template-show", &[json(&["template", "show", "items"], 0)]);
    compare("template-check", &[json(&["template", "check", "t.toml"], 0)]);
    compare("template-fmt", &[json(&["template", "fmt", "t.toml"], 0)]);
    compare("template-infer", &[json(&["template", "infer", "items.csv", "--record", "item"], 0)]);
    compare("serve-token", &[json(&["serve", "token", "--data", "service", "--workspace", "other"], 0)]);
    compare(
        "serve-show",
        &[
            json(&["serve", "show", "--data", "service"], 0),
            json(&["serve", "show", "items", "--data", "service"], 0),
            json(&["serve", "show", "requests", "--data", "service"], 0),
        ],
    );
    compare("demo", &[json(&["demo"], 0)]);
    let refused = json(&["upload", "missing.csv", "-t", "items"], 7);
    assert_eq!((&refused["error"]["exit"], &refused["error"]["code"]), (&7.into(), &"unreadable".into()));
    let wrong = json(&["upload", "items.csv", "--no-such-flag"], 2);
    assert_eq!((&wrong["error"]["exit"], &wrong["error"]["code"]), (&2.into(), &"usage".into()));
    compare("error", &[refused, wrong, full_ledger(&place, &served)]);
}

#[test]
fn real_output_fits_the_schemas() {
    let place = Place::new();
    let served = Served::start(&place);
    let printed = |name: &str| place.sheetport(["schema", name]).exits(0).json();
    let fits = |schema: &Value, value: &Value| Described::by(schema.clone()).fits(value);
    let run = |args: &[&'static str], exit: i32| {
        served.sheetport(&place, args.iter().copied()).arg("--json").exits(exit).json()
    };
    place.write("items.csv", items(2) + "3,Nut,free,EUR\n");
    place.write("nightly.toml", "[[step]]\nupload = \"items.csv\"\ntemplate = \"items\"\nsettle = \"0s\"\n");
    let check = run(&["check", "items.csv", "-t", "items"], 3);
    let rows = served.sheetport(&place, ["check", "items.csv", "-t", "items", "--json-rows"]).exits(3).stdout;
    let row = serde_json::from_str(rows.lines().last().unwrap()).unwrap();
    let upload = run(&["upload", "items.csv", "-t", "items"], 3);
    run(&["export", "items", "-o", "e.csv"], 0);
    let manifest = serde_json::from_slice(&fs::read(place.path("e.csv.manifest.json")).unwrap()).unwrap();
    for (name, value) in [
        ("check", check.clone()),
        ("summary", check),
        ("check-rows", row),
        ("summary", upload.clone()),
        ("summary", run(&["resume", "1"], 3)),
        ("runs", run(&["runs"], 0)),
        ("manifest", manifest),
        ("error", run(&["upload", "missing.csv", "-t", "items"], 7)),
        ("error", run(&["upload", "--no-such-flag"], 2)),
        ("job", run(&["job", "run", "nightly.toml"], 3)),
    ] {
        let schema = printed(name);
        assert_eq!(schema["$id"], format!("urn:sheetport:schema:{name}:1"));
        fits(&schema, &value).unwrap_or_else(|error| panic!("{name}: {error}\n{value}"));
        for field in schema["required"].as_array().unwrap() {
            let mut less = value.clone();
            less.as_object_mut().unwrap().remove(field.as_str().unwrap());
            assert!(fits(&schema, &less).is_err(), "{name}: {field} is required");
        }
    }
    let mut wrong = upload.clone();
    wrong["sent"] = "two".into();
    assert!(fits(&printed("summary"), &wrong).is_err());
    assert!(fits(&printed("check"), &upload).is_err(), "an upload lists no problems");
}

/// Uploads with a limit on the size of files that the ledger exceeds while sending.
#[track_caller]
fn full_ledger(place: &Place, served: &Served) -> Value {
    place.write("many.csv", items(6_000));
    let exe = env!("CARGO_BIN_EXE_sheetport");
    let home = place.path("full");
    let line = format!("ulimit -f 3000; '{exe}' upload many.csv -t items --json --home '{}'", name(&home));
    let ended = served.shell(place, &line).exits(1).says(&["the ledger can't be", "next: sheetport continue 1 --home"]);
    let failed = ended.json();
    assert_eq!(failed["run"], 1);
    let counts = &failed["accounting"];
    assert_eq!((counts["total"].as_u64(), counts["sent"] != 0), (Some(6_000), true), "{failed}");
    failed
}
