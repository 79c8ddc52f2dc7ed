//! Records that must not be created twice are recognized by content, across files and runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::process::{Ended, Place, Sheetport};
use super::tmux::Terminal;
use super::{accounting, summary};
use crate::faults::server::{Reply, Seen, Server, answer};

pub(super) const INVOICES: &str = "record = \"invoice\"\n[fields.cid]\ncolumn = \"Customer\"\n[lines.id]\ncolumn = \"Item\"\n\
                        [lines.amount]\ncolumn = \"Amount\"\n[group]\nby = [\"Invoice\"]\n";
pub(super) const MOVEMENTS: &str = "record = \"inventory-transaction\"\n[fields.transactionType]\nvalue = \"in\"\n\
                         [fields.inventoryExternalId]\ncolumn = \"Stock\"\n[fields.transactionAmount]\ncolumn = \"Qty\"\n";

/// A folder with the template `t.toml`, and a service.
pub(super) struct Desk {
    pub(super) place: Place,
    pub(super) server: Server,
}

impl Desk {
    pub(super) async fn new(template: &str, reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Desk {
        let place = Place::new();
        place.write("t.toml", template);
        Desk { place, server: Server::start(reply).await }
    }

    pub(super) fn command(&self, args: &[&str]) -> Sheetport {
        let command = self.place.sheetport(args).env("SHEETPORT_BASE_URL", &self.server.address);
        command.secret("SHEETPORT_ACCESS_TOKEN", "access-1")
    }

    pub(super) async fn run(&self, args: &[&str], code: i32) -> Ended {
        let command = self.command(args);
        tokio::task::spawn_blocking(move || command.exits(code)).await.unwrap()
    }

    /// Uploads rows and returns the accounting.
    pub(super) async fn upload(&self, file: &str, rows: &str, code: i32) -> String {
        self.place.write(file, rows);
        accounting(&summary(&self.run(&["upload", file, "-t", "t.toml", "--json"], code).await))
    }
}

pub(super) const HEADER: &str = "Invoice,Customer,Item,Amount\n";

/// A file of one movement recurs whole in any file that has it twice.
#[tokio::test]
async fn a_second_equal_movement_is_new() {
    let template = format!("{MOVEMENTS}[fields.transactionDate]\ncolumn = \"Day\"\n");
    let desk = Desk::new(&template, |_| Reply::Accept).await;
    let (header, row) = ("Stock,Qty,Day\n", "A-1,5,2026-03-02\n");
    assert_eq!(desk.upload("a.csv", &format!("{header}{row}"), 0).await, "1: sent 1");
    assert_eq!(desk.upload("b.csv", &format!("{header}{row}{row}"), 0).await, "2: sent 1, unchanged 1");
    let others = "B-2,1,2026-03-02\nC-3,1,2026-03-02\n";
    let all = format!("{header}{row}{row}{row}{others}");
    assert_eq!(desk.upload("c.csv", &all, 0).await, "5: sent 3, unchanged 2");
}

#[tokio::test]
async fn an_edited_file_creates_only_what_is_new() {
    let desk = Desk::new(INVOICES, |_| Reply::Accept).await;
    let rows = "0007,c-1,i,2.50\n0008,c-2,i,1\n";
    assert_eq!(desk.upload("a.csv", &format!("{HEADER}{rows}0009,c-3,i,three\n"), 3).await, "3: sent 2, rejected 1");
    // Sorted, with a line added, a mistake fixed, a further column, and what a spreadsheet program does to numbers.
    let edited = "Note,Invoice,Customer,Item,Amount\nx,10,c-4,i,4\n,9,c-3,i,3\n,8,c-2,i,1.00\n,7,c-1,i,2.5\n";
    desk.place.write("b.csv", edited);
    let again = desk.run(&["upload", "b.csv", "-t", "t.toml"], 0).await;
    again.says(&["2 invoices left out: sent before, in run 1 on ", "--allow-repeat"]);
    assert_eq!(desk.server.log().len(), 4);
    assert!(desk.server.bodies().values().all(|times| *times == 1));
    desk.run(&["report", "2", "-o", "r.csv"], 0).await;
    let report = super::table(&desk.place.path("r.csv"));
    assert_eq!(super::column(&report, "sheetport_status"), ["sent", "sent", "unchanged", "unchanged"]);
    assert!(super::column(&report, "sheetport_errors")[2].contains("was sent in run 1 on "));
    let piped = desk.command(&["upload", "-", "-t", "t.toml", "--json"]).fed(edited);
    let piped = tokio::task::spawn_blocking(move || piped.exits(0)).await.unwrap();
    assert_eq!(accounting(&summary(&piped)), "4: unchanged 4");
}

#[tokio::test]
async fn the_same_number_with_other_values_is_a_problem() {
    let desk = Desk::new(INVOICES, |_| Reply::Accept).await;
    assert_eq!(desk.upload("a.csv", &format!("{HEADER}A-1,c-1,i,2\nA-2,c-2,i,1\n"), 0).await, "2: sent 2");
    desk.place.write("b.csv", format!("{HEADER}A-1,c-1,i,3\nA-2,c-2,i,1\n"));
    let ended = desk.run(&["upload", "b.csv", "-t", "t.toml"], 3).await;
    ended.shows(&["Invoice 'A-1' was sent in run 1 on ", "with other values", "items 1 amount: 2 then, 3 now"]);
    assert_eq!(desk.server.log().len(), 2);
    let args = ["upload", "b.csv", "-t", "t.toml", "--all-or-nothing", "--json"];
    assert_eq!(accounting(&summary(&desk.run(&args, 3).await)), "2: unchanged 1, rejected 1");
    let args = ["upload", "b.csv", "-t", "t.toml", "--allow-repeat=A-1", "--json"];
    assert_eq!(accounting(&summary(&desk.run(&args, 0).await)), "2: sent 1, unchanged 1");
    let args = ["upload", "b.csv", "-t", "t.toml", "--allow-repeat", "--json"];
    assert_eq!(accounting(&summary(&desk.run(&args, 0).await)), "2: sent 2");
}

/// The same invoices by templates that group them by other columns.
#[tokio::test]
async fn another_group_of_columns_does_not_create_the_same_invoices_again() {
    let desk = Desk::new(INVOICES, |_| Reply::Accept).await;
    let by = |columns: &str| INVOICES.replace("[\"Invoice\"]", columns);
    desk.place.write("both.toml", by("[\"Invoice\", \"Customer\"]"));
    desk.place.write("renamed.toml", by("[\"Number\"]"));
    desk.place.write("order.toml", by("[\"Order\"]"));
    desk.place.write("none.toml", INVOICES.split("[group]").next().unwrap());
    // Two invoices of one customer have equal values, so only their numbers tell them apart.
    let header = "Invoice,Customer,Item,Amount,Order\n";
    let first = "A-1,c-1,i,2,O-1\nA-2,c-1,i,2,O-2\n";
    assert_eq!(desk.upload("a.csv", &format!("{header}{first}"), 0).await, "2: sent 2");
    let again = async |template: &str, text: String, code: i32| {
        desk.place.write("b.csv", text);
        let ended = desk.run(&["upload", "b.csv", "-t", template, "--json"], code).await;
        accounting(&summary(&ended))
    };
    for template in ["both.toml", "none.toml", "t.toml"] {
        assert_eq!(again(template, format!("{header}{first}"), 0).await, "2: unchanged 2", "{template}");
    }
    let renamed = format!("{header}{first}").replace("Invoice", "Number");
    assert_eq!(again("renamed.toml", renamed, 0).await, "2: unchanged 2");
    // The third invoice is another one, because the number is.
    assert_eq!(again("both.toml", format!("{header}{first}a-3,c-1,i,2,O-3\n"), 0).await, "3: sent 1, unchanged 2");
    assert_eq!(again("t.toml", format!("{header}A-3,c-1,i,2,\nA-4,c-1,i,2,\n"), 0).await, "2: sent 1, unchanged 1");
    // Nothing in common: it may be the same invoice or another one.
    let ended = desk.run(&["upload", "a.csv", "-t", "order.toml"], 3).await;
    ended.shows(&[
        "Order such as 'O-1' has the same values as invoice 'A-",
        "which was sent in",
        "--allow-repeat='O-1'",
    ]);
    assert_eq!(desk.server.log().len(), 4);
    let args = ["upload", "a.csv", "-t", "order.toml", "--allow-repeat=O-1", "--json"];
    assert_eq!(accounting(&summary(&desk.run(&args, 3).await)), "2: sent 1, rejected 1");
    assert_eq!(desk.server.log().len(), 5);
}

#[tokio::test]
async fn equal_records_without_a_name_are_counted() {
    let desk = Desk::new(MOVEMENTS, |_| Reply::Accept).await;
    assert_eq!(desk.upload("a.csv", "Stock,Qty\nL-1,5\nL-1,5\nL-2,6\n", 0).await, "3: sent 3");
    let check = desk.run(&["check", "a.csv", "-t", "t.toml", "--json"], 0).await.json();
    assert_eq!((&check["warnings"][0]["code"], &check["warnings"][0]["rows"][0]), (&"repeated".into(), &3.into()));
    assert_eq!(
        desk.upload("b.csv", "Stock,Qty\nL-2,6\nL-1,5\nL-1,5\nL-1,5\nL-2,7\n", 0).await,
        "5: sent 2, unchanged 3"
    );
    let args = ["upload", "a.csv", "-t", "t.toml", "--changed-only", "--json"];
    assert_eq!(accounting(&summary(&desk.run(&args, 0).await)), "3: unchanged 3");
}

#[tokio::test]
async fn unknown_records_are_not_sent_again_before_they_are_resolved() {
    let desk = Desk::new(INVOICES, |seen| if seen.body.contains("c-2") { Reply::Reset } else { Reply::Accept }).await;
    let rows = format!("{HEADER}A-1,c-1,i,2\nA-2,c-2,i,1\n");
    assert_eq!(desk.upload("a.csv", &rows, 4).await, "2: sent 1, unknown 1");
    desk.place.write("b.csv", format!("{rows}A-3,c-3,i,1\n"));
    for flag in ["-v", "--allow-repeat=A-2"] {
        let ended = desk.run(&["upload", "b.csv", "-t", "t.toml", flag], 3).await;
        let ended = ended.shows(&["may have been sent in run 1", "sheetport resolve 1"]);
        assert!(!ended.stdout.contains("fix the rows"), "{}", ended.stdout);
    }
    assert_eq!(desk.server.log().len(), 3);
    desk.run(&["resolve", "1", "--all-failed"], 0).await;
    let again = desk.run(&["upload", "b.csv", "-t", "t.toml", "--json"], 4).await;
    assert_eq!(accounting(&summary(&again)), "3: unchanged 2, unknown 1");
}

#[tokio::test]
async fn a_resumed_run_leaves_out_what_another_run_has_sent() {
    let is_down = Arc::new(AtomicBool::new(true));
    let down = Arc::clone(&is_down);
    let desk = Desk::new(INVOICES, move |_| match down.load(Ordering::Relaxed) {
        true => answer(401, "", "{}"),
        false => Reply::Accept,
    })
    .await;
    let rows = format!("{HEADER}A-1,c-1,i,2\nA-2,c-2,i,1\n");
    assert_eq!(desk.upload("a.csv", &rows, 5).await, "2: pending 2");
    is_down.store(false, Ordering::Relaxed);
    assert_eq!(desk.upload("b.csv", &format!("{HEADER}A-2,c-2,i,1\n"), 0).await, "1: sent 1");
    assert_eq!(accounting(&summary(&desk.run(&["resume", "1", "--json"], 0).await)), "2: sent 1, unchanged 1");
}

#[tokio::test]
async fn two_runs_at_the_same_time_create_each_record_once() {
    let desk = Desk::new(INVOICES, |_| Reply::Late(Duration::from_millis(5), Box::new(Reply::Accept))).await;
    let lines: Vec<String> = (0..150).map(|number| format!("N-{number},c-{number},i,1\n")).collect();
    let mut reversed = lines.clone();
    reversed.reverse();
    desk.place.write("a.csv", format!("{HEADER}{}", lines.concat()));
    desk.place.write("b.csv", format!("{HEADER}{}", reversed.concat()));
    let runs = ["a.csv", "b.csv"].map(|file| {
        let command = desk.command(&["upload", file, "-t", "t.toml", "--json", "--concurrency", "2"]);
        tokio::task::spawn_blocking(move || command.run())
    });
    let mut sent = 0;
    for run in runs {
        let ended = run.await.unwrap();
        let summary = summary(&ended);
        sent += super::count(&summary, "sent");
        assert_eq!(super::count(&summary, "pending") + super::count(&summary, "failed"), 0, "{summary}");
    }
    assert_eq!(sent, 150);
    assert_eq!(desk.server.bodies().len(), 150);
    assert!(desk.server.bodies().values().all(|times| *times == 1));
}

#[tokio::test]
async fn pruned_runs_are_remembered() {
    let desk = Desk::new(INVOICES, |seen| match seen.body.contains("c-2") {
        true => answer(422, "", r#"{"message": "no such customer"}"#),
        false => Reply::Accept,
    })
    .await;
    let rows = format!("{HEADER}A-1,c-1,i,2\nA-2,c-2,i,1\n");
    assert_eq!(desk.upload("a.csv", &rows, 3).await, "2: sent 1, failed 1");
    assert_eq!(desk.upload("other.csv", &format!("{HEADER}B-1,c-1,i,7\n"), 0).await, "1: sent 1");
    desk.run(&["runs", "prune", "--older-than", "0h"], 0).await;
    assert_eq!(desk.upload("a.csv", &rows, 3).await, "2: unchanged 1, failed 1");
}

/// The second upload is compared with the first one while the service has refused the first requests for now.
#[tokio::test]
async fn a_postponed_request_is_not_made_by_another_run_too() {
    let is_busy = Arc::new(AtomicBool::new(true));
    let busy = Arc::clone(&is_busy);
    let desk = Desk::new(INVOICES, move |_| match busy.load(Ordering::Relaxed) {
        true => answer(429, "retry-after: 2\r\n", "{}"),
        false => Reply::Accept,
    })
    .await;
    let lines: Vec<String> = (0..20).map(|number| format!("N-{number},c-{number},i,1\n")).collect();
    desk.place.write("a.csv", format!("{HEADER}{}", lines.concat()));
    desk.place.write("b.csv", format!("{HEADER}{}", lines.iter().rev().cloned().collect::<String>()));
    let start = |file| {
        let command = desk.command(&["upload", file, "-t", "t.toml", "--json", "--concurrency", "2"]);
        tokio::task::spawn_blocking(move || command.run())
    };
    let wait_for = async |requests: usize| {
        while desk.server.log().len() < requests {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let first = start("a.csv");
    wait_for(1).await;
    let second = start("b.csv");
    wait_for(2).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    is_busy.store(false, Ordering::Relaxed);
    let mut sent = 0;
    for run in [first, second] {
        sent += super::count(&summary(&run.await.unwrap()), "sent");
    }
    assert_eq!(sent, 20);
}

#[tokio::test]
async fn a_corrected_transaction_is_not_created_beside_the_wrong_one() {
    let template =
        format!("{MOVEMENTS}[fields.transactionDate]\ncolumn = \"Date\"\n[fields.price]\ncolumn = \"Price\"\n");
    let desk = Desk::new(&template, |_| Reply::Accept).await;
    let header = "Date,Stock,Qty,Price\n";
    let first = "2026-09-01,L-1,5,1.10\n2026-09-02,L-1,5,1.10\n2026-09-02,L-2,8,2.00\n";
    assert_eq!(desk.upload("a.csv", &format!("{header}{first}"), 0).await, "3: sent 3");
    // A price, a quantity, and another day.
    let edited = "2026-09-01,L-1,5,1.15\n2026-09-02,L-1,5,1.10\n2026-09-02,L-2,80,2.00\n2026-09-03,L-2,8,2.00\n";
    desk.place.write("b.csv", format!("{header}{edited}"));
    let again = desk.run(&["upload", "b.csv", "-t", "t.toml"], 3).await;
    again.shows(&["price: 1.10 then, 1.15 now", "--rows 2-2 --allow-repeat"]);
    assert_eq!(desk.server.log().len(), 4);
    // Neither does the report, nor the file once more.
    let retried = desk.run(&["retry", "b.report.xlsx", "--json"], 3).await;
    assert_eq!(accounting(&summary(&retried)), "4: unchanged 2, rejected 2");
    assert_eq!(desk.upload("c.csv", &format!("{header}{edited}"), 3).await, "4: unchanged 2, rejected 2");
    // The rows of the next day have a file of their own, and may differ in one value.
    let next = "2026-09-03,L-2,8,2.50\n2026-09-04,L-2,8,2.00\n";
    assert_eq!(desk.upload("d.csv", &format!("{header}{next}"), 0).await, "2: sent 2");
    // All of them are still in the file.
    let all = format!("{header}{first}2026-09-02,L-2,80,2.00\n");
    assert_eq!(desk.upload("e.csv", &all, 0).await, "4: sent 1, unchanged 3");
    let args = ["upload", "b.csv", "-t", "t.toml", "--rows", "2-2", "--allow-repeat", "--json"];
    assert_eq!(accounting(&summary(&desk.run(&args, 0).await)), "4: sent 1, skipped 3");
}

#[tokio::test]
async fn a_transaction_with_several_corrected_values_is_not_created_again() {
    let template =
        format!("{MOVEMENTS}[fields.transactionDate]\ncolumn = \"Date\"\n[fields.price]\ncolumn = \"Price\"\n");
    let desk = Desk::new(&template, |_| Reply::Accept).await;
    let header = "Date,Stock,Qty,Price\n";
    let row = |day: u32, stock: &str, values: &str| format!("2026-09-{day:02},{stock},{values}\n");
    let [a, b, c, d] = [1, 2, 3, 4].map(|day| row(day, &format!("L-{day}"), "5,1.10"));
    assert_eq!(desk.upload("a.csv", &format!("{header}{a}{b}{c}{d}"), 0).await, "4: sent 4");
    let e = row(5, "L-3", "5,1.10");
    for (corrected, accounted) in [
        // Quantity and price, the date alone, and subject and quantity.
        (format!("{a}{}{c}{d}", row(2, "L-2", "6,1.20")), "4: unchanged 3, rejected 1"),
        (format!("{a}{b}{}{d}", row(9, "L-3", "5,1.10")), "4: unchanged 3, rejected 1"),
        (format!("{d}{}{b}{a}", row(3, "L-9", "7,1.10")), "4: unchanged 3, rejected 1"),
        // The last row, with an appended one.
        (format!("{a}{b}{c}{}{e}", row(4, "L-4", "6,1.20")), "5: sent 1, unchanged 3, rejected 1"),
        // A row of the second list that the first one had sent.
        (format!("{a}{b}{c}{}{e}", row(4, "L-4", "7,1.30")), "5: unchanged 4, rejected 1"),
    ] {
        assert_eq!(desk.upload("b.csv", &format!("{header}{corrected}"), 3).await, accounted, "{corrected}");
    }
    let args = ["upload", "b.csv", "-t", "t.toml"];
    desk.run(&args, 3).await.shows(&["transactionAmount: 5 then, 7 now; price: 1.10 then, 1.30 now"]);
    // A list of the last days loses its first rows and gets others, also within the rows of a subject.
    let of = |days: [u32; 3], stock: &str| days.map(|day| row(day, stock, &format!("{day},2"))).concat();
    let before = format!("{header}{}{}", of([11, 12, 13], "M-1"), of([11, 12, 13], "M-2"));
    assert_eq!(desk.upload("c.csv", &before, 0).await, "6: sent 6");
    let next = format!("{header}{}{}", of([12, 13, 14], "M-1"), of([12, 13, 14], "M-2"));
    assert_eq!(desk.upload("c.csv", &next, 0).await, "6: sent 2, unchanged 4");
}

#[tokio::test]
async fn a_list_with_a_rewritten_column_is_not_booked_twice() {
    let template = format!(
        "{MOVEMENTS}[fields.transactionDate]\ncolumn = \"Date\"\n[fields.price]\ncolumn = \"Price\"\noptional = true\n\
         [fields.status]\ncolumn = \"Status\"\noptional = true\n"
    );
    let desk = Desk::new(&template, |_| Reply::Accept).await;
    let first = "Date,Stock,Qty\n2026-09-01,007,5\n2026-09-02,L-1,5\n2026-09-02,L-1,5\n";
    assert_eq!(desk.upload("a.csv", first, 0).await, "3: sent 3");
    let mut sent = desk.server.log().len();
    for (rows, accounted) in [
        (
            "Date,Stock,Qty,Status\n2026-09-01,007,5,done\n2026-09-02,L-1,5,done\n2026-09-02,L-1,5,done\n",
            "3: rejected 3",
        ),
        ("Date,Stock,Qty,Price\n2026-09-02,l1,5,1\n2026-09-02,L-1,5,2\n2026-09-01,7,5,3\n", "3: rejected 3"),
        ("Date,Stock,Qty\n2026-09-01,7,5\n2026-09-02,l-1,5\n2026-09-02,l-1,5\n", "3: rejected 3"),
        (
            "Date,Stock,Qty\n2026-09-01T00:00:00Z,007,5\n2026-09-02T00:00:00Z,L-1,5\n2026-09-02T00:00:00Z,L-1,5\n",
            "3: unchanged 3",
        ),
    ] {
        let code = if accounted.contains("rejected") { 3 } else { 0 };
        assert_eq!(desk.upload("b.csv", rows, code).await, accounted, "{rows}");
    }
    assert_eq!(desk.server.log().len(), sent);
    // Other rows, a later list, and one with a row less.
    for rows in [
        "Date,Stock,Qty,Status\n2026-09-03,007,5,done\n2026-09-04,L-1,5,done\n2026-09-04,L-1,5,done\n",
        "Date,Stock,Qty,Status\n2026-09-01,007,6,done\n2026-09-02,L-1,7,done\n",
    ] {
        let before = sent;
        sent += rows.lines().count() - 1;
        assert_eq!(desk.upload("c.csv", rows, 0).await, format!("{0}: sent {0}", sent - before), "{rows}");
    }
    let ended = desk.run(&["upload", "b.csv", "-t", "t.toml", "--allow-repeat", "--json"], 0).await;
    assert_eq!(accounting(&summary(&ended)), "3: sent 3");
}

/// Two lists of the same movements. The second one is recorded in another way, and is not booked again.
#[tokio::test]
async fn the_same_movements_by_another_route_are_not_booked_twice() {
    let by_id = MOVEMENTS.replace("inventoryExternalId", "inventoryId");
    let by_amount = MOVEMENTS.replace("transactionAmount", "amount");
    let dated = |template: &str| format!("{template}[fields.transactionDate]\ncolumn = \"Date\"\noptional = true\n");
    let priced = format!("{MOVEMENTS}[fields.price]\ncolumn = \"Price\"\noptional = true\n");
    let zoned = format!("{}time_zone = \"Europe/Berlin\"\n", dated(MOVEMENTS));
    let days = "Date,Stock,Qty\n2026-01-02,w-1,5\n2026-01-02,w-2,7\n2026-01-03,w-1,2\n";
    let with = |from: &str, to: &str| days.replace(from, to);
    let times = with("-02,", "-02T00:00,").replace("-03,", "-03T00:00,");
    let named = |rows: &str| rows.replace("w-1", "inv_81").replace("w-2", "inv_82");
    let ids = named(days);
    let week =
        "Date,Stock,Qty\n2026-01-02,w-1,5\n2026-01-02,w-2,7\n2026-01-03,w-1,2\n2026-01-03,w-2,4\n2026-01-04,w-1,9\n";
    let priced_week = week.replace("Qty", "Qty,Price").replace("\n2026", ",1.5\n2026").replacen(",1.5", "", 1);
    let priced_week = priced_week.trim_end().to_owned() + ",1.5\n";
    let hours = |rows: &str, from: u32| {
        let at = |(nth, line): (usize, &str)| match nth {
            0 => line.to_owned(),
            _ => line.replacen(',', &format!("T{:02}:30:00Z,", from as usize + nth), 1),
        };
        rows.lines().enumerate().map(at).collect::<Vec<_>>().join("\n") + "\n"
    };
    let zoned_by_id = zoned.replace("inventoryExternalId", "inventoryId");
    for (what, (first, rows), (second, again), expected) in [
        ("the other identifier", (dated(MOVEMENTS), days), (dated(&by_id), ids.as_str()), "3: rejected 3"),
        ("the other quantity", (dated(MOVEMENTS), days), (dated(&by_amount), days), "3: rejected 3"),
        ("midnight in a time zone", (dated(MOVEMENTS), days), (zoned.clone(), times.as_str()), "3: rejected 3"),
        ("no midnight", (zoned.clone(), times.as_str()), (dated(MOVEMENTS), days), "3: rejected 3"),
        (
            "times",
            (dated(MOVEMENTS), days),
            (dated(MOVEMENTS), &with("-02,", "-02T15:30:00Z,").replace("-03,", "-03T09:00:00Z,")),
            "3: rejected 3",
        ),
        ("no dates", (dated(MOVEMENTS), days), (MOVEMENTS.to_owned(), days), "3: rejected 3"),
        ("dates", (MOVEMENTS.to_owned(), days), (dated(MOVEMENTS), days), "3: rejected 3"),
        (
            "the last days with another column",
            (dated(MOVEMENTS), "Date,Stock,Qty\n2026-01-01,w-9,1\n2026-01-02,w-1,5\n2026-01-03,w-2,7\n"),
            (
                dated(&priced),
                "Date,Stock,Qty,Price\n2026-01-02,w-1,5,1.5\n2026-01-03,w-2,7,2.5\n2026-01-04,w-1,3,3.5\n",
            ),
            "3: sent 1, rejected 2",
        ),
        (
            "one corrected as well",
            (dated(MOVEMENTS), week),
            (dated(&priced), &priced_week.replace("w-2,7", "w-2,8")),
            "5: rejected 5",
        ),
        (
            "a part of the list",
            (dated(MOVEMENTS), week),
            (dated(&priced), &priced_week.lines().take(4).collect::<Vec<_>>().join("\n")),
            "3: rejected 3",
        ),
        ("identifier and midnight", (dated(MOVEMENTS), days), (zoned_by_id, &named(&times)), "3: rejected 3"),
        ("identifier and no dates", (dated(MOVEMENTS), days), (by_id.clone(), &ids), "3: rejected 3"),
        ("an hour later", (dated(MOVEMENTS), &hours(week, 8)), (dated(MOVEMENTS), &hours(week, 9)), "5: rejected 5"),
        // What may be other movements is booked.
        ("another stock", (dated(MOVEMENTS), days), (dated(MOVEMENTS), ids.as_str()), "3: sent 3"),
        (
            "stocks that are not always the same",
            (dated(MOVEMENTS), days),
            (dated(&by_id), "Date,Stock,Qty\n2026-01-02,inv_81,5\n2026-01-02,inv_82,7\n2026-01-03,inv_83,2\n"),
            "3: sent 3",
        ),
        (
            "another stock, by its other identifier",
            (dated(MOVEMENTS), "Date,Stock,Qty\n2026-01-02,w-1,1\n2026-01-02,w-2,1\n"),
            (dated(&by_id), "Date,Stock,Qty\n2026-01-02,inv_83,1\n2026-01-02,inv_84,1\n"),
            "2: sent 2",
        ),
        (
            "two movements of a day at other times",
            (dated(MOVEMENTS), "Date,Stock,Qty\n2026-01-02T09:00:00Z,w-1,5\n"),
            (dated(MOVEMENTS), "Date,Stock,Qty\n2026-01-02T15:00:00Z,w-1,5\n"),
            "1: sent 1",
        ),
        (
            "a single one of a longer list",
            (dated(&priced), "Date,Stock,Qty,Price\n2026-01-01,w-9,1,1\n2026-01-02,w-1,5,1\n"),
            (dated(&priced), "Date,Stock,Qty,Price\n2026-01-02,w-1,5,2\n2026-01-03,w-1,5,2\n"),
            "2: sent 2",
        ),
    ] {
        let desk = Desk::new(&first, |_| Reply::Accept).await;
        desk.upload("first.csv", rows, 0).await;
        desk.place.write("t.toml", &second);
        let code = if expected.contains("rejected") { 3 } else { 0 };
        assert_eq!(desk.upload("second.csv", again, code).await, expected, "{what}");
    }
}

#[tokio::test]
async fn numbers_that_begin_again_each_year_are_a_problem_with_both_dates() {
    let desk = Desk::new(INVOICES, |_| Reply::Accept).await;
    let header = "Invoice,Date,Customer,Item,Amount,Printed\n";
    let rows = |dates: [&str; 2], printed: &str| {
        let [first, second] = dates;
        format!("{header}1,{first},c-1,i,2,{printed}\n2,{second},c-2,i,1,{printed}\n")
    };
    let last_year = ["2025-01-10", "2025-01-11"];
    assert_eq!(desk.upload("2025.csv", &rows(last_year, ""), 0).await, "2: sent 2");
    let this_year = ["2026-01-10", "2026-01-11"];
    assert_eq!(desk.upload("2026.csv", &rows(this_year, ""), 3).await, "2: rejected 2");
    let ended = desk.run(&["upload", "2026.csv", "-t", "t.toml"], 3).await;
    ended.shows(&["was sent in run 1 on ", "Date: 2025-01-10 then, 2026-01-10 now", "--allow-repeat='1'"]);
    desk.run(&["report", "-o", "r.csv"], 0).await;
    let report = super::table(&desk.place.path("r.csv"));
    assert!(super::column(&report, "sheetport_errors")[1].contains("2025-01-11 then, 2026-01-11 now"));
    // The same dates as another program writes them, without dates, and beside the day of an export.
    for dates in [["10.01.2025", "11.01.2025"], ["1/10/25", "1/11/25"], ["", ""]] {
        assert_eq!(desk.upload("again.csv", &rows(dates, ""), 0).await, "2: unchanged 2", "{dates:?}");
    }
    assert_eq!(desk.upload("again.csv", &rows(last_year, "2026-02-01"), 0).await, "2: unchanged 2");
    assert_eq!(desk.server.log().len(), 2);
    let args = ["upload", "2026.csv", "-t", "t.toml", "--allow-repeat=1,2", "--json"];
    assert_eq!(accounting(&summary(&desk.run(&args, 0).await)), "2: sent 2");
    for dates in [this_year, last_year] {
        assert_eq!(desk.upload("again.csv", &rows(dates, ""), 0).await, "2: unchanged 2", "{dates:?}");
    }
}

#[tokio::test]
async fn what_was_left_out_is_a_warning_in_summary_json_and_report() {
    let desk = Desk::new(INVOICES, |_| Reply::Accept).await;
    let rows = format!("{HEADER}A-1,c-1,i,2\nA-2,c-2,i,1\n");
    assert_eq!(desk.upload("a.csv", &rows, 0).await, "2: sent 2");
    desk.place.write("b.csv", format!("{rows}A-3,c-3,i,1\n"));
    let ended = desk.run(&["upload", "b.csv", "-t", "t.toml"], 0).await;
    ended.shows(&["Warning  2 records left out: sent before, in run 1 on "]);
    desk.run(&["report", "-o", "b.html", "--only", "all"], 0).await;
    desk.run(&["report", "-o", "b.xlsx"], 0).await;
    let summary = desk.run(&["view", "b.xlsx", "--sheet", "1", "--every-row", "--csv"], 0).await;
    summary.shows(&["Warnings: what may be wrong", "2,Invoice,\"such as 'A-1': was sent in run 1 on "]);
    let page = std::fs::read_to_string(desk.place.path("b.html")).unwrap();
    assert!(page.contains("was sent in run 1 on "), "{page}");
    let json = desk.run(&["upload", "b.csv", "-t", "t.toml", "--json"], 0).await.json();
    let warning = json["warnings"].as_array().unwrap().iter().find(|warning| warning["code"] == "sent-before");
    let warning = warning.unwrap_or_else(|| panic!("{json}"));
    assert_eq!((&warning["count"], &warning["rows"]), (&2.into(), &serde_json::json!([2, 3])), "{json}");
}

#[tokio::test]
async fn flags_for_rows_and_numbers_that_the_file_does_not_have_are_errors() {
    let desk = Desk::new(INVOICES, |_| Reply::Accept).await;
    desk.place.write("a.csv", format!("{HEADER}A-1,c-1,i,2\nA-2,c-2,i,1\n"));
    for flags in [&["--rows", "900-901"][..], &["--rows", "900-901", "--dry-run"]] {
        let ended = desk.run(&[&["upload", "a.csv", "-t", "t.toml"], flags].concat(), 2).await;
        ended.says(&["has no record in the rows 900-901: its records are in the rows 2-3", "--rows 2-3"]);
    }
    let ended = desk.run(&["upload", "a.csv", "-t", "t.toml", "--allow-repeat=A-1,R-9"], 2).await;
    ended.says(&["has no record with the number R-9", "its records have the numbers A-1, A-2"]);
    assert_eq!(desk.server.log().len(), 0);
    let runs = desk.run(&["runs", "--json"], 0).await.json();
    assert_eq!(runs["runs"], serde_json::json!([]));
    // Numbers are compared as elsewhere.
    let ended = desk.run(&["upload", "a.csv", "-t", "t.toml", "--allow-repeat=a1", "--json"], 0).await;
    assert_eq!(accounting(&summary(&ended)), "2: sent 2");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_terminal_edited_records_are_asked_about() {
    let template = format!("{MOVEMENTS}[fields.transactionDate]\ncolumn = \"Date\"\n");
    let desk = Desk::new(&template, |_| Reply::Accept).await;
    let rows = |amount: &str| format!("Date,Stock,Qty\n2026-09-01,L-1,5\n2026-09-02,L-2,{amount}\n");
    assert_eq!(desk.upload("a.csv", &rows("5"), 0).await, "2: sent 2");
    desk.place.write("b.csv", rows("7"));
    for (answer, end, sent) in [("n", "1  rejected", 2), ("y", "1  sent", 3)] {
        let variables = [
            ("SHEETPORT_BASE_URL", desk.server.address.as_str()),
            ("SHEETPORT_ACCESS_TOKEN", "access-1"),
            ("SHEETPORT_TOKEN_HOST", desk.server.address.as_str()),
        ];
        let words = "upload b.csv -t t.toml --no-progress";
        let Some(terminal) = Terminal::open(&desk.place, 160, &variables, words) else { return };
        terminal.wait_for("Create 1 record beside the sent ones? [y/N]", 1);
        assert!(terminal.screen().contains("transactionAmount: 5 then, 7 now"), "{}", terminal.screen());
        terminal.enter(answer);
        terminal.wait_for(end, 1);
        assert_eq!(desk.server.log().len(), sent, "{}", terminal.screen());
    }
}

#[tokio::test]
async fn all_names_of_this_machine_are_one_service() {
    let desk = Desk::new(INVOICES, |_| Reply::Accept).await;
    let rows = format!("{HEADER}A-1,c-1,i,2\n");
    assert_eq!(desk.upload("a.csv", &rows, 0).await, "1: sent 1");
    let other = desk.server.address.replace("127.0.0.1", "LOCALHOST");
    assert_ne!(other, desk.server.address);
    let command = desk.place.sheetport(["upload", "a.csv", "-t", "t.toml", "--json"]);
    let command = command.env("SHEETPORT_BASE_URL", &other).env("SHEETPORT_TOKEN_HOST", &other);
    let command = command.secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    let ended = tokio::task::spawn_blocking(move || command.exits(0)).await.unwrap();
    assert_eq!(accounting(&summary(&ended)), "1: unchanged 1");
}

/// A report of rows that replace sent ones: whatever is edited or deleted in it, they wait for an answer.
#[tokio::test]
async fn rows_held_as_edited_are_sent_from_their_report_only_when_allowed() {
    let template = format!(
        "{MOVEMENTS}[fields.transactionDate]\ncolumn = \"Date\"\n[fields.status]\ncolumn = \"Status\"\noptional = true\n"
    );
    let desk = Desk::new(&template, |_| Reply::Accept).await;
    let first = "Date,Stock,Qty\n2026-09-01,w-1,5\n2026-09-02,w-2,6\n2026-09-02,w-3,7\n";
    assert_eq!(desk.upload("a.csv", first, 0).await, "3: sent 3");
    let again = first.replace("Qty", "Qty,Status").replace("\n2026", ",done\n2026").replacen(",done", "", 1);
    desk.place.write("b.csv", again.trim_end().to_owned() + ",done\n");
    desk.run(&["upload", "b.csv", "-t", "t.toml", "--report", "r.csv"], 3).await;
    let report = std::fs::read_to_string(desk.place.path("r.csv")).unwrap();
    let retried = |rows: String| {
        desk.place.write("c.csv", rows);
        desk.run(&["retry", "c.csv", "--json"], 3)
    };
    assert_eq!(accounting(&summary(&retried(report.replace("w-1,5", "w-1,50")).await)), "3: rejected 3");
    let fewer: Vec<&str> = report.lines().filter(|line| !line.contains("w-3")).collect();
    assert_eq!(accounting(&summary(&retried(fewer.join("\n")).await)), "2: rejected 2");
    assert_eq!(desk.server.log().len(), 3);
    desk.place.write("new.csv", format!("{}\n{}\n", again.lines().next().unwrap(), "2026-09-01,w-1,5,done"));
    let allowed = desk.run(&["upload", "new.csv", "-t", "t.toml", "--allow-repeat", "--json"], 0).await;
    assert_eq!(accounting(&summary(&allowed)), "1: sent 1");
}
