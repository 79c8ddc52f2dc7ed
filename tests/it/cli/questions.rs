//! Questions about rows and files: they hold back what may be wrong until a person says that it is right, on every way to the service.

use serde_json::{Value, json};

use super::process::{Ended, Place};
use super::service::Served;
use super::tmux::Terminal;
use super::{accounting, column, table};

const RATES: &str = "SKU;Name;Price;VAT\nV-1;a;1.00;19 %\nV-2;b;1.00;19\nV-3;c;1.00;0.19\nV-4;d;1.00;7 %\n";
/// Employees, which are no items.
const STAFF: &str = "SKU,Name,E-mail,Department,Start\n17,Anna,a@x.de,Sales,2020\n18,Bob,b@x.de,IT,2021\n";

struct Desk {
    place: Place,
    served: Served,
}

impl Desk {
    fn new() -> Desk {
        let place = Place::new();
        let served = Served::start(&place);
        place.write("rates.csv", RATES);
        place.write("staff.csv", STAFF);
        Desk { place, served }
    }

    #[track_caller]
    fn run(&self, words: &str, code: i32) -> Ended {
        self.served.sheetport(&self.place, words.split(' ')).exits(code)
    }

    #[track_caller]
    fn json(&self, words: &str, code: i32) -> Value {
        self.run(&format!("{words} --json"), code).json()
    }

    /// Returns the external ids of the items that arrived.
    fn arrived(&self) -> String {
        let list = self.served.get("/v1/public/items?page=1&limit=100");
        let id = |item: &Value| item["external_id"].as_str().unwrap().to_owned();
        let mut ids: Vec<String> = list["data"].as_array().unwrap().iter().map(id).collect();
        ids.sort();
        ids.join(" ")
    }
}

#[test]
fn a_row_is_held_back_until_it_is_edited_or_accepted() {
    let desk = Desk::new();
    let said = desk.run("upload rates.csv -t items --report r.csv", 3);
    said.shows(&["is a hundredth of 19", "rows that are right all the same are sent with: --accept percent-sign"]);
    assert_eq!(desk.arrived(), "V-1 V-2 V-4");
    // Handed in again as it is, twice: all rows, and those with problems.
    assert_eq!(accounting(&desk.json("retry r.csv --report r2.csv", 3)), "4: unchanged 3, rejected 1");
    desk.run("report --only problems -o few.csv", 0);
    assert_eq!(accounting(&desk.json("retry few.csv --report r3.csv", 3)), "1: rejected 1");
    let again = table(&desk.place.path("r3.csv"));
    // Judged by all rows of the upload.
    let said = column(&again, "sheetport_errors")[0];
    assert!(said.starts_with("VAT '0.19' is a hundredth of 19"), "{said}");
    assert_eq!(desk.json("upload r.csv -t items --dry-run", 3)["rejected"], 1);
    assert_eq!(desk.arrived(), "V-1 V-2 V-4");
    let accepted = desk.json("retry r3.csv --accept percent-sign", 0);
    assert_eq!(accounting(&accepted), "1: sent 1");
    assert_eq!(desk.arrived(), "V-1 V-2 V-3 V-4");
}

#[test]
fn an_edited_row_of_a_report_is_judged_like_any_other() {
    let desk = Desk::new();
    desk.run("upload rates.csv -t items --report r.csv", 3);
    let report = std::fs::read_to_string(desk.place.path("r.csv")).unwrap();
    desk.place.write("worse.csv", report.replace(";0.19;", ";0.07;"));
    let worse = desk.json("retry worse.csv", 3);
    assert_eq!(accounting(&worse), "4: unchanged 3, rejected 1");
    desk.place.write("better.csv", report.replace(";0.19;", ";19%;"));
    assert_eq!(accounting(&desk.json("retry better.csv", 0)), "4: sent 1, unchanged 3");
    // Only the rows that need fixing.
    desk.place.write("two.csv", RATES.replace("V-4;d;1.00;7 %", "V-4;d;1.00;0.19").replace("V-", "W-"));
    desk.run("upload two.csv -t items --report w.csv", 3);
    desk.run("report --only problems -o few.csv", 0);
    let few = std::fs::read_to_string(desk.place.path("few.csv")).unwrap();
    desk.place.write("few.csv", few.replacen(";0.19;", ";19;", 1));
    assert_eq!(accounting(&desk.json("retry few.csv --accept percent-sign", 0)), "2: sent 2");
}

#[test]
fn the_report_of_a_check_is_judged_when_it_is_uploaded() {
    let desk = Desk::new();
    for report in ["c.csv", "c.xlsx"] {
        desk.run(&format!("check rates.csv -t items --report {report}"), 3);
        assert_eq!(
            accounting(&desk.json(&format!("upload {report} -t items"), 3)),
            "4: sent 3, rejected 1",
            "{report}"
        );
    }
    desk.run("check staff.csv -t items --report staff-report.csv", 3);
    assert_eq!(desk.json("upload staff-report.csv -t items", 3)["questions"], json!(["foreign-sheet"]));
    assert_eq!(desk.arrived(), "V-1 V-2 V-4");
}

#[test]
fn accepted_questions_are_warnings() {
    let desk = Desk::new();
    let sent = desk.json("upload rates.csv -t items --accept percent-sign", 0);
    assert_eq!((accounting(&sent), &sent["warned"]), ("4: sent 4".to_owned(), &json!(1)));
    assert!(sent["warnings"].to_string().contains("is a hundredth of 19"), "{sent}");
    assert_eq!(desk.run("runs show 1 --json", 0).json()["accept"], json!(["percent-sign"]));
    // In a template.
    desk.place.write("mine.toml", "extends = \"items\"\naccept = [\"percent-sign\"]\n");
    desk.run("check rates.csv -t mine.toml", 0);
    desk.place.write("mine.toml", "extends = \"items\"\naccept = [\"percent-sing\", \"blank\"]\n");
    let said = desk.run("check rates.csv -t mine.toml", 2);
    said.says(&["'percent-sing' is not a question", "did you mean percent-sign?", "'blank' is not a question"]);
    desk.run("upload rates.csv -t items --accept not-a-number", 2)
        .says(&["not-a-number can't be accepted", "selector"]);
}

#[test]
fn a_file_with_a_question_is_held_back_on_every_way() {
    let desk = Desk::new();
    let held = desk.json("upload staff.csv -t items", 3);
    assert_eq!((accounting(&held), &held["questions"]), ("2: pending 2".to_owned(), &json!(["foreign-sheet"])));
    for words in ["check", "upload --dry-run", "upload --rehearse", "plan"] {
        let command = format!("{words} staff.csv -t items");
        assert_eq!(desk.json(&command, 3)["questions"], json!(["foreign-sheet"]), "{command}");
        assert_eq!(desk.json(&format!("{command} --accept foreign-sheet"), 0)["questions"], json!(null), "{command}");
    }
    let said = desk.run("upload staff.csv -t items", 3);
    said.says(&["nothing was sent: there is a question about the file"])
        .shows(&["if it is right: --accept foreign-sheet", "accept = [\"foreign-sheet\"] at the top of the template"]);
    assert_eq!(desk.arrived(), "");
    // A plan that was made in spite of the question is sent as it is; one that was not is held.
    let plan = desk.json("plan staff.csv -t items", 3)["run"].clone();
    assert_eq!(desk.json(&format!("resume {plan}"), 3)["questions"], json!(["foreign-sheet"]));
    let plan = desk.json("plan staff.csv -t items --accept foreign-sheet", 0)["run"].clone();
    assert_eq!(accounting(&desk.json(&format!("resume {plan}"), 0)), "2: sent 2");
    assert_eq!(desk.arrived(), "17 18");
}

#[test]
fn a_person_is_asked_once_about_a_file() {
    let desk = Desk::new();
    let (access, refresh) = desk.served.tokens();
    let url = desk.served.url();
    let variables = [
        ("SHEETPORT_BASE_URL", url.as_str()),
        ("SHEETPORT_ACCESS_TOKEN", &access),
        ("SHEETPORT_REFRESH_TOKEN", &refresh),
    ];
    let Some(terminal) = Terminal::open(&desk.place, 160, &variables, "upload staff.csv -t items") else { return };
    terminal.wait_for("in spite of the warnings? [y/N]", 1);
    terminal.enter("y");
    terminal.wait_for("accepted by the service", 1);
    assert_eq!(desk.arrived(), "17 18");
    // The same list of tomorrow, at night; another list is another question.
    desk.place.write("staff.csv", format!("{STAFF}19,Eve,e@x.de,IT,2022\n"));
    assert_eq!(accounting(&desk.json("upload staff.csv -t items", 0)), "3: sent 3");
    desk.place.write("staff.csv", STAFF.replace("Start", "Begin"));
    assert_eq!(desk.json("upload staff.csv -t items", 3)["questions"], json!(["foreign-sheet"]));
}

#[test]
fn a_job_accepts_what_its_file_says() {
    let desk = Desk::new();
    std::fs::create_dir(desk.place.path("inbox")).unwrap();
    let job = "[[step]]\nupload = \"inbox/*.csv\"\ntemplate = \"items\"\nsettle = \"0s\"\n";
    desk.place.write("job.toml", job);
    desk.place.write("inbox/staff.csv", STAFF);
    let ran = desk.json("job run job.toml", 3);
    assert!(desk.place.path("failed/staff.csv").exists(), "{ran}");
    assert_eq!(desk.arrived(), "");
    desk.place.write("job.toml", format!("{job}accept = [\"foreign-sheet\"]\n"));
    desk.place.write("inbox/staff.csv", STAFF);
    desk.json("job run job.toml", 0);
    assert_eq!(desk.arrived(), "17 18");
    desk.place.write("job.toml", format!("{job}accept = [\"foreign\"]\n"));
    desk.run("job run job.toml", 2).says(&["expected the code of a question"]);
}
