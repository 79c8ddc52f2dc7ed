//! Rows that were rejected for something that their report does not show: they are not sent because somebody hands the report in as it is.

use rust_xlsxwriter::{Format, FormatScript, Workbook};

use super::super::process::Place;
use super::super::service::Served;
use super::super::{accounting, summary};
use super::Sheet;

pub(super) struct Desk {
    pub(super) place: Place,
    pub(super) served: Served,
}

impl Desk {
    pub(super) fn new() -> Desk {
        let place = Place::new();
        let served = Served::demo(&place);
        Desk { place, served }
    }

    #[track_caller]
    pub(super) fn run(&self, words: &str, code: i32) -> String {
        let ended = self.served.sheetport(&self.place, words.split(' ')).arg("--json").exits(code);
        if words.starts_with("report") { String::new() } else { accounting(&summary(&ended)) }
    }

    /// Uploads a file, and returns how it and its unedited reports end: of all rows, of the rows with problems, as a retry and as an upload.
    fn again(&self, file: &str, template: &str) -> [String; 4] {
        let first = self.run(&format!("upload {file} -t {template} --report all.csv"), 3);
        self.run("report -o few.xlsx --only problems", 0);
        let all = self.run("retry all.csv", 3);
        let few = self.run("retry few.xlsx", 3);
        let uploaded = self.run(&format!("upload few.xlsx -t {template}"), 3);
        std::fs::remove_file(self.place.path("few.xlsx")).unwrap();
        std::fs::remove_file(self.place.path("all.csv")).unwrap();
        [first, all, few, uploaded]
    }
}

#[test]
fn copied_rows_are_not_sent_without_the_rows_above() {
    let desk = Desk::new();
    let rows: String = (1..6).map(|day| format!("2026-10-0{day},L-05,in,{day},available,done\n")).collect();
    desk.place.write("moves.csv", format!("Date,Stock,Movement,Quantity,Figure,State\n{rows}{rows}"));
    assert_eq!(
        desk.again("moves.csv", "transactions"),
        ["10: sent 5, rejected 5", "10: unchanged 5, rejected 5", "5: rejected 5", "5: rejected 5"]
    );
}

#[test]
fn ambiguous_and_odd_values_are_not_sent_without_their_column() {
    let desk = Desk::new();
    desk.place.write("n.csv", "SKU;Name;Price\nQ-1;a;1.234,50\nQ-2;b;3.100,00\nQ-3;c;17,90\n;d;1.299\n;e;12.5\n");
    assert_eq!(desk.run("upload n.csv -t items --report n-report.csv", 3), "5: sent 3, rejected 2");
    // Only the other mistake of the row is corrected.
    let mut report = Sheet::open(&desk.place, "n-report.csv");
    report
        .leave_out("sheetport_status", "sent")
        .set(2, "SKU", "Q-4")
        .set(3, "SKU", "Q-5")
        .save(&desk.place, "fixed.csv");
    let ended = desk.served.sheetport(&desk.place, ["retry", "fixed.csv", "--report", "again.csv", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&ended)), "2: sent 1, rejected 1");
    let again = Sheet::open(&desk.place, "again.csv");
    let error = again.column("sheetport_errors")[0];
    assert!(error.starts_with("Price '1.299' could mean more than one number"), "{error}");

    let names: String = (1..9).map(|n| format!("J-{n},Alpha {n},1\n")).collect();
    desk.place.write("j.csv", format!("SKU,Name,Price\n{names}J-9,12.501,1\n"));
    assert_eq!(
        desk.again("j.csv", "items"),
        ["9: sent 8, rejected 1", "9: unchanged 8, rejected 1", "1: rejected 1", "1: rejected 1"]
    );
}

/// Writes a workbook of six items, of which the fourth has a superscript in its key.
fn write_marked(desk: &Desk, name: &str, prefix: &str) {
    let (plain, raised) = (Format::new(), Format::new().set_font_script(FormatScript::Superscript));
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, name) in (0..).zip(["SKU", "Name", "Price"]) {
        sheet.write_string(0, column, name).unwrap();
    }
    for row in 1..7 {
        sheet.write_string(row, 0, format!("{prefix}-0{row}")).unwrap();
        sheet.write_string(row, 1, "Bolt").unwrap();
        sheet.write_number(row, 2, 5).unwrap();
    }
    sheet.write_rich_string(4, 0, &[(&plain, format!("{prefix}-04").as_str()), (&raised, "2")]).unwrap();
    workbook.save(desk.place.path(name)).unwrap();
}

#[test]
fn marks_that_a_report_lacks_are_remembered() {
    let desk = Desk::new();
    write_marked(&desk, "r.xlsx", "RT");
    assert_eq!(
        desk.again("r.xlsx", "items"),
        ["6: sent 5, rejected 1", "6: unchanged 5, rejected 1", "1: rejected 1", "1: rejected 1"]
    );
}

#[test]
fn the_report_of_a_check_is_sent_only_after_edits_where_its_cells_do_not_show_the_problem() {
    let desk = Desk::new();
    write_marked(&desk, "c.xlsx", "CK");
    for (command, report) in [("check", "checked"), ("upload --rehearse", "rehearsed")] {
        for form in ["csv", "xlsx"] {
            let report = format!("{report}.{form}");
            let ended =
                desk.served.sheetport(&desk.place, format!("{command} c.xlsx -t items --report {report}").split(' '));
            ended.exits(3);
            assert_eq!(desk.run(&format!("check {report} -t items"), 3), "6: rejected 1, pending 5", "{report}");
        }
    }
    assert_eq!(desk.run("upload checked.csv -t items", 3), "6: sent 5, rejected 1");
    assert_eq!(desk.run("upload rehearsed.xlsx -t items", 3), "6: sent 5, rejected 1");
    let mut report = Sheet::open(&desk.place, "checked.csv");
    report.leave_out("sheetport_status", "pending").set(2, "Price", "6").save(&desk.place, "priced.csv");
    assert_eq!(desk.run("upload priced.csv -t items", 3), "1: rejected 1");
    let mut as_new = report.clone();
    as_new.set(2, "sheetport_run", "").set(2, "sheetport_row", "").save(&desk.place, "new.csv");
    assert_eq!(desk.run("upload new.csv -t items", 0), "1: sent 1");
    report.set(2, "SKU", "CK-04").save(&desk.place, "fixed.csv");
    assert_eq!(desk.run("upload fixed.csv -t items", 0), "1: sent 1");
    let items = desk.served.get("/v1/public/items?page=1&limit=500");
    assert_eq!(items["data"].as_array().unwrap().iter().filter(|item| item["price"] == 6).count(), 2);
    let ended = desk.served.sheetport(&desk.place, ["retry", "checked.csv"]).exits(2);
    assert!(ended.stderr.contains("is the report of a check"), "{}", ended.stderr);
}

#[test]
fn a_number_that_another_row_was_sent_with_is_not_overwritten_from_a_report_without_that_row() {
    let desk = Desk::new();
    desk.place.write("n.csv", "SKU,Name,Price\nN-1,Bolt,1.50\nN-2,Nut,2.50\n,Screw,3.50\n");
    desk.run("upload n.csv -t items", 3);
    desk.run("report -o few.csv --only problems", 0);
    let few = Sheet::open(&desk.place, "few.csv");
    few.clone().set(2, "SKU", "N-2").save(&desk.place, "taken.csv");
    for command in ["retry taken.csv --report again.csv", "upload taken.csv -t items --report again.csv"] {
        assert_eq!(desk.run(command, 3), "1: rejected 1");
        let again = Sheet::open(&desk.place, "again.csv");
        let error = again.column("sheetport_errors")[0];
        assert!(error.starts_with("SKU 'N-2' belongs to row 3 of the first file, which was sent"), "{error}");
        std::fs::remove_file(desk.place.path("again.csv")).unwrap();
    }
    few.clone().set(2, "SKU", "N-3").save(&desk.place, "own.csv");
    assert_eq!(desk.run("retry own.csv", 0), "1: sent 1");

    // Two rows may exchange their numbers.
    desk.place.write("x.csv", "SKU,Name,Price\nX-1,Bolt,1.50\nX-2,Nut,2.50\n");
    desk.run("upload x.csv -t items --report x-report.csv", 0);
    let mut both = Sheet::open(&desk.place, "x-report.csv");
    both.set(2, "SKU", "X-2").set(3, "SKU", "X-1").save(&desk.place, "exchanged.csv");
    assert_eq!(desk.run("upload exchanged.csv -t items", 0), "2: sent 2");
}

#[test]
fn an_edited_row_is_judged_by_all_rows_of_the_first_file() {
    let desk = Desk::new();
    let lines: String = (1..9).map(|n| format!("SO-2026-000{n},0042,{n},10.50,{}\n", f64::from(n) * 10.5)).collect();
    desk.place.write(
        "o.csv",
        format!("Order no.,Item no.,Quantity,Unit price,Line total\n{lines}SO-2026-0009,0042,9,10.50,904.50\n"),
    );
    assert_eq!(desk.run("upload o.csv -t orders --report all.csv", 3), "9: sent 8, rejected 1");
    let mut few = Sheet::open(&desk.place, "all.csv");
    few.leave_out("sheetport_status", "sent");
    few.clone().set(2, "Item no.", "0051").save(&desk.place, "other.csv");
    assert_eq!(desk.run("retry other.csv", 3), "1: rejected 1");
    few.clone().set(2, "Line total", "94.50").save(&desk.place, "right.csv");
    assert_eq!(desk.run("retry right.csv", 0), "1: sent 1");
}

#[test]
fn a_shifted_row_is_held_while_cells_of_others_stand_where_they_were() {
    let desk = Desk::new();
    let rows: String = (1..6).map(|n| format!("S-{n},Bolt {n},{n}.50\n")).collect();
    desk.place.write("s.csv", format!("SKU,Name,Price\n{rows}S-6,Nut,hexagonal,6.50\n\"S-7,Pin,7.50\"\n"));
    assert_eq!(desk.run("upload s.csv -t items", 3), "7: sent 5, rejected 2");
    desk.run("report -o few.csv --only problems", 0);
    let few = Sheet::open(&desk.place, "few.csv");
    few.clone().set(2, "Price", "6").set(3, "Price", "7").save(&desk.place, "half.csv");
    assert_eq!(desk.run("retry half.csv", 3), "2: rejected 2");
    let mut right = few.clone();
    right.fill(2, &["S-6", "Nut, hexagonal", "6.50", ""]).fill(3, &["S-7", "Pin", "7.50", ""]);
    right.save(&desk.place, "right.csv");
    assert_eq!(desk.run("retry right.csv", 0), "2: sent 2");
}

#[test]
fn a_template_that_fills_down_is_for_the_first_file_and_not_for_its_report() {
    let desk = Desk::new();
    let rows: String = (1..7).map(|n| format!("F-{n},{},1.50\n", if n % 2 == 1 { "Shirt" } else { "" })).collect();
    desk.place.write("f.csv", format!("SKU,Name,Price\n{rows}"));
    assert_eq!(desk.run("upload f.csv -t items --report r.csv", 3), "6: sent 3, rejected 3");
    desk.place.write("fill.toml", "extends = \"items\"\n[sheet]\nfill_down = [\"Name\"]\n");
    let refused = desk.served.sheetport(&desk.place, "retry r.csv -t fill.toml".split(' ')).exits(2);
    refused.says(&["fills down other columns than that of the run", "f.csv -t fill.toml"]);
    assert_eq!(desk.run("upload f.csv -t fill.toml", 0), "6: sent 6");
}

const COMMANDS: &str = "SKU,Name,Price,Command\nC-1,a,1.50,NEW\nC-2,b,2.50,NEW\nC-3,c,3.50,NEW\nC-4,d,4.50,NEW\nC-5,e,5.50,NEW\n\
                        C-6,f,abc,DELETE\n";

#[test]
fn a_command_is_held_until_it_is_edited_or_the_template_ignores_it() {
    let desk = Desk::new();
    desk.place.write("c.csv", COMMANDS);
    assert_eq!(desk.run("upload c.csv -t items --report r.csv", 3), "6: sent 5, rejected 1");
    desk.run("report -o few.csv --only problems", 0);
    let mut few = Sheet::open(&desk.place, "few.csv");
    few.set(2, "Price", "6.50").save(&desk.place, "priced.csv");
    assert_eq!(desk.run("retry priced.csv", 3), "1: rejected 1");
    desk.place.write("mine.toml", "extends = \"items\"\n[sheet]\nignored = [\"Command\"]\n");
    assert_eq!(desk.run("retry priced.csv -t mine.toml", 0), "1: sent 1");
    desk.place.write("c.csv", COMMANDS.replace("C-", "D-"));
    assert_eq!(desk.run("upload c.csv -t items --report d.csv", 3), "6: sent 5, rejected 1");
    let mut all = Sheet::open(&desk.place, "d.csv");
    all.set(7, "Price", "6.50").set(7, "Command", "NEW").save(&desk.place, "new.csv");
    assert_eq!(desk.run("retry new.csv", 0), "6: sent 1, unchanged 5");
}

#[test]
fn an_order_whose_rows_were_sorted_away_is_not_sent_without_them() {
    let desk = Desk::new();
    let above = "extends = \"orders\"\n[group]\non_blank = \"above\"\n";
    desk.place.write("above.toml", above);
    let rows: String = (1..4)
        .map(|n| {
            let quantity = if n == 2 { "x" } else { "2" };
            format!("SO-2026-000{n},0042,1,10.50\n,0051,{quantity},11.50\n,0060,3,12.50\n")
        })
        .collect();
    desk.place.write("o.csv", format!("Order no.,Item no.,Quantity,Unit price\n{rows}"));
    assert_eq!(desk.run("upload o.csv -t above.toml --report r.csv", 3), "3: sent 2, rejected 1");
    let mut report = Sheet::open(&desk.place, "r.csv");
    report.replace("x", "2").sort_by("Item no.").save(&desk.place, "sorted.csv");
    desk.run("retry sorted.csv", 3);
    let order = &desk.served.get("/v1/public/orders?page=1&limit=100")["data"];
    let order = order.as_array().unwrap().iter().find(|order| order["external_id"] == "SO-2026-0002").unwrap();
    assert_ne!(order["number_item"], 1, "{order}");
}
