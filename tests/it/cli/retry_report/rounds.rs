//! Random retry rounds: reports come back with some rows fixed, shuffled and filtered, to a service that refuses requests
//! and drops connections at random, until everything is sent. The service then has the same records as after one clean
//! upload, without duplicates.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::super::process::Place;
use super::super::{count, summary};
use super::{INVOICES, ORDERS, Sheet, run};
use crate::faults::server::{Reply, Server, answer};

const RECORDS: usize = 8;
const ITEMS: &str = "record = \"item\"\n[fields.externalId]\ncolumn = \"No\"\n[fields.name]\ncolumn = \"Item\"\n\
                     [fields.price]\ncolumn = \"Amount\"\nlocale = \"en\"\n";

/// What the service has: for each record's name the bodies that it took, in their order.
type Taken = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

struct Kind {
    template: &'static str,
    /// The columns of a row's name, its line and its number.
    header: &'static str,
    rows: usize,
    is_once: bool,
    /// Names the record of a body.
    name: fn(&serde_json::Value) -> String,
}

#[tokio::test(flavor = "multi_thread")]
async fn items_end_like_a_clean_upload() {
    let name = |body: &serde_json::Value| body["externalId"].as_str().unwrap().to_owned();
    all_rounds(&Kind { template: ITEMS, header: "No,Item,Amount", rows: 1, is_once: false, name }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_end_like_a_clean_upload() {
    let name = |body: &serde_json::Value| body["order"]["externalId"].as_str().unwrap().to_owned();
    all_rounds(&Kind { template: ORDERS, header: "No,SKU,Qty", rows: 3, is_once: false, name }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invoices_are_created_once() {
    let name = |body: &serde_json::Value| body["cid"].as_str().unwrap().to_owned();
    all_rounds(&Kind { template: INVOICES, header: "No,Cid,Item,Amount", rows: 3, is_once: true, name }).await;
}

async fn all_rounds(kind: &Kind) {
    for _ in 0..6 {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        rounds(kind, fastrand::Rng::with_seed(seed)).await;
    }
}

/// The number that a row has in truth. They are in no order, as if nobody had dragged a cell down.
fn truth(row: usize) -> String {
    (row * 7 % 25 + 1).to_string()
}

fn sheet(kind: &Kind, random: &mut fastrand::Rng) -> Sheet {
    let header: Vec<String> = kind.header.split(',').map(str::to_owned).collect();
    let rows = (0..RECORDS * kind.rows).map(|row| {
        let record = row / kind.rows;
        let number = if random.u8(..) < 60 { "many".to_owned() } else { truth(row) };
        let cells = header.iter().map(|name| match name.as_str() {
            "No" => format!("n-{record}"),
            "Cid" => format!("n-{record}"),
            "Item" | "SKU" => format!("i-{row}"),
            _ => number.clone(),
        });
        cells.collect()
    });
    Sheet(std::iter::once(header.clone()).chain(rows).collect())
}

/// Writes the truth into a share of the rows that are wrong, puts them in any order, and may leave records out.
fn mended(mut sheet: Sheet, kind: &Kind, share: u8, random: &mut fastrand::Rng) -> Sheet {
    let [.., lines, numbers] = kind.header.split(',').map(|name| sheet.place_of(name)).collect::<Vec<_>>()[..] else {
        unreachable!("each kind has two columns and more")
    };
    for row in &mut sheet.0[1..] {
        if row[numbers] == "many" && random.u8(..) <= share {
            // Of an item the line is its name, and says which row it was.
            row[numbers] = truth(row[lines].trim_start_matches("i-").parse().unwrap());
        }
    }
    random.shuffle(&mut sheet.0[1..]);
    if share < u8::MAX && random.bool() {
        let name = kind.header.split(',').next().unwrap();
        sheet.leave_out(name, &format!("n-{}", random.usize(..RECORDS)));
    }
    sheet
}

async fn rounds(kind: &Kind, mut random: fastrand::Rng) {
    let place = Place::new();
    let taken = Taken::default();
    let weather = Arc::new(Mutex::new((fastrand::Rng::with_seed(random.u64(..)), true)));
    let (service, skies) = (Arc::clone(&taken), Arc::clone(&weather));
    let (name, is_once) = (kind.name, kind.is_once);
    let server = Server::start(move |seen| {
        let mut skies = skies.lock().unwrap();
        let luck = if skies.1 { skies.0.u8(..) } else { u8::MAX };
        let body: serde_json::Value = serde_json::from_str(&seen.body).unwrap();
        let take = || service.lock().unwrap().entry(name(&body)).or_default().push(seen.body.clone());
        match luck {
            0..80 => answer(422, "", r#"{"message": "not now"}"#),
            80..110 if is_once => Reply::Reset,
            110..140 if is_once => {
                take();
                Reply::Reset
            }
            _ => {
                take();
                Reply::Accept
            }
        }
    })
    .await;
    place.write("t.toml", kind.template);
    sheet(kind, &mut random).save(&place, "sheet.csv");
    let upload = ["upload", "sheet.csv", "-t", "t.toml", "--json", "--report", "report-0.csv"];
    let mut ended = ended(&place, &server, &upload).await;
    let mut resolved = Vec::new();
    for round in 1.. {
        assert!(round < 30, "it does not come to an end: {ended}");
        if count(&ended, "unknown") > 0 {
            resolve(&place, &server, &taken, ended["run"].as_i64().unwrap(), kind).await;
            resolved.push(round);
        }
        let is_last = round > 4;
        // At last the weather is fine, and the very first report has every row.
        weather.lock().unwrap().1 = !is_last;
        let of = if is_last { 0 } else { random.usize(..round) };
        let report = Sheet::open(&place, &format!("report-{of}.csv"));
        mended(report, kind, if is_last { u8::MAX } else { 120 }, &mut random).save(&place, "mended.csv");
        let report = format!("report-{round}.csv");
        ended = self::ended(&place, &server, &["retry", "mended.csv", "--json", "--report", &report]).await;
        let settled = count(&ended, "sent") + count(&ended, "unchanged");
        if is_last && settled == count(&ended, "total") {
            break;
        }
        assert!(!is_last || round < 8, "in fine weather all is sent: {ended}");
    }
    let taken = taken.lock().unwrap();
    assert_eq!(taken.len(), RECORDS);
    for (name, bodies) in taken.iter() {
        let record: usize = name.trim_start_matches("n-").parse().unwrap();
        let last = bodies.last().unwrap();
        for row in record * kind.rows..(record + 1) * kind.rows {
            let (line, number) = (format!("\"i-{row}\""), format!(":{}", truth(row)));
            assert!(last.contains(&line) && last.contains(&number), "{name} lacks row {row}: {last}");
        }
        // A call that may be repeated is made again only where it was refused, which none of these was.
        assert_eq!(bodies.len(), 1, "{name} was taken {} times", bodies.len());
    }
}

async fn ended(place: &Place, server: &Server, args: &[&str]) -> serde_json::Value {
    let command = super::asking(place, server, args);
    let ended = tokio::task::spawn_blocking(move || command.run()).await.unwrap();
    assert!(matches!(ended.code, Some(0 | 3 | 4)), "{ended:#?}");
    summary(&ended)
}

/// Resolves each unknown record truthfully.
async fn resolve(place: &Place, server: &Server, taken: &Taken, id: i64, kind: &Kind) {
    let id = id.to_string();
    let listed = run(place, server, &["resolve", &id, "--json"], 4).await.json();
    let (mut sent, mut failed) = (Vec::new(), Vec::new());
    for record in listed["records"].as_array().unwrap() {
        let is_there = taken.lock().unwrap().contains_key(&(kind.name)(&record["body"]));
        let row = record["rows"][0].to_string();
        if is_there { sent.push(row) } else { failed.push(row) }
    }
    let (sent, failed) = (sent.join(","), failed.join(","));
    let mut args = vec!["resolve", id.as_str()];
    for (flag, rows) in [("--sent", &sent), ("--failed", &failed)] {
        if !rows.is_empty() {
            args.extend([flag, rows.as_str()]);
        }
    }
    run(place, server, &args, 0).await;
}
