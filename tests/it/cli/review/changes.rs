//! The look at the changes on the page: what a person approves is what arrives at the service.

use serde_json::{Value, json};

use super::super::axe::Axe;
use super::super::browser::Browser;
use super::super::process::Place;
use super::super::service::Served;
use super::page::ReviewPage;
use super::{click, has_no_errors, start, wait};

const BEFORE: &str = "SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,2.50\nA-3,Pin,3.50\nA-4,Clip,4.50\n";
/// are changed in two fields, A-2 in an odd way, A-3 not at all, A-5 is new, and A-6 is wrong.
const AFTER: &str =
    "SKU,Name,Price\nA-1,Bolt M8,1.75\nA-2,Nut,275\nA-3,Pin,3.50\nA-4,Clip XL,4.75\nA-5,Hook,5.50\nA-6,Cap,free\n";

/// A service with the items of [`BEFORE`], and the page with those of [`AFTER`].
fn desk() -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("old.csv", BEFORE);
    served.sheetport(&place, ["upload", "old.csv", "-t", "items", "-q"]).exits(0);
    place.write("items.csv", AFTER);
    (place, served)
}

fn opened(place: &Place, served: &Served) -> ReviewPage {
    let page = ReviewPage::open(place, served, "items.csv");
    page.post("/check", &json!({"full": true}));
    page
}

/// Looks at the changes, and returns the look.
#[track_caller]
fn looked(page: &ReviewPage) -> Value {
    page.post("/changes", &json!({}));
    let review = page.ended();
    assert_eq!(review["status"]["phase"], "looked", "{review}");
    review["look"].clone()
}

/// Sends what is approved, and returns how that ended.
#[track_caller]
fn sent(page: &ReviewPage) -> Value {
    let look = page.review()["look"].clone();
    page.post("/send", &json!({"plan": {"run": look["run"], "version": look["version"]}}));
    page.ended()["status"].clone()
}

/// Decides as a page that shows what is approved now.
#[track_caller]
fn decide(page: &ReviewPage, decision: &Value) -> Value {
    page.post("/changes/decide", &shown(&page.review()["look"], decision))
}

/// Returns the decision of a page that shows this look.
fn shown(look: &Value, decision: &Value) -> Value {
    let mut decision = decision.clone();
    for key in ["run", "version"] {
        decision[key] = look[key].clone();
    }
    decision
}

#[track_caller]
fn rows(page: &ReviewPage, query: &str) -> Vec<Value> {
    page.get(&format!("/changes/rows?count=100&{query}"))["rows"].as_array().unwrap().clone()
}

/// Returns the position of a record in the plan.
#[track_caller]
fn seq(page: &ReviewPage, name: &str) -> Value {
    let rows = rows(page, "");
    let row = rows.iter().find(|row| row["name"] == name);
    row.unwrap_or_else(|| panic!("{name} is not in {rows:?}"))["seq"].clone()
}

/// Returns the items of the service: external id, name and price.
fn items(served: &Served) -> Vec<String> {
    let list = served.get("/v1/public/items?limit=100");
    let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
    let item = |item: &Value| format!("{} {} {}", text(item, "external_id"), text(item, "name"), item["price"]);
    let mut items: Vec<String> = list["data"].as_array().unwrap().iter().map(item).collect();
    items.sort();
    items
}

#[test]
fn what_is_approved_arrives_and_nothing_else() {
    let (place, served) = desk();
    let (before, page) = (items(&served), opened(&place, &served));
    let look = looked(&page);
    assert_eq!(items(&served), before, "nothing is sent by looking");
    assert_eq!(look["kinds"], json!([["changed", 3], ["new", 1], ["unchanged", 1], ["refused", 1]]), "{look}");
    assert_eq!(
        [&look["odd"], &look["sendable"], &look["approved"]],
        [&json!(1), &json!(5), &json!(4)],
        "the same values need not be sent: {look}"
    );
    let all = rows(&page, "");
    let names: Vec<&str> = all.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["A-2", "A-1", "A-4", "A-5", "A-3", "A-6"], "the odd one comes first");
    assert_eq!(
        all[0]["fields"]["price"],
        json!({"old": "2.50", "new": "275", "odd": "ten_times", "as_sent": false, "approved": true})
    );
    assert_eq!(rows(&page, "kind=new").len() + rows(&page, "kind=odd").len(), 2);
    assert_eq!(rows(&page, "field=name").len(), 2);
    // By record, by column, and by cell.
    decide(&page, &json!({"approves": false, "seq": seq(&page, "A-2")}));
    decide(&page, &json!({"approves": false, "selection": {"field": "name"}}));
    let cell = json!({"approves": true, "seq": seq(&page, "A-4"), "selection": {"field": "name"}});
    let look = decide(&page, &cell);
    assert_eq!([&look["approved"], &look["partly"]], [&json!(3), &json!(1)], "{look}");
    let status = sent(&page);
    assert_eq!([&status["counts"]["sent"], &status["counts"]["skipped"]], [&json!(3), &json!(2)], "{status}");
    assert_eq!(status["moved"], Value::Null);
    let after = ["A-1 Bolt 1.75", "A-2 Nut 2.50", "A-3 Pin 3.50", "A-4 Clip XL 4.75", "A-5 Hook 5.50"];
    assert_eq!(items(&served), after);
    assert_eq!(page.review()["look"], Value::Null, "it was sent");
    // The next check knows the run, and that something may have been left out of it.
    let review = page.post("/check", &json!({"full": true}));
    assert_eq!((&review["last_run"], &review["last_was_approved"]), (&status["run"], &json!(true)));
}

#[test]
fn all_is_left_out_but_for_a_few() {
    let (place, served) = desk();
    let page = opened(&place, &served);
    looked(&page);
    decide(&page, &json!({"approves": false}));
    decide(&page, &json!({"approves": true, "selection": {"kind": "new"}}));
    assert_eq!(sent(&page)["counts"]["sent"], 1);
    let after = ["A-1 Bolt 1.50", "A-2 Nut 2.50", "A-3 Pin 3.50", "A-4 Clip 4.50", "A-5 Hook 5.50"];
    assert_eq!(items(&served), after);
}

#[test]
fn a_selection_that_means_nothing_decides_nothing() {
    let (place, served) = desk();
    let page = opened(&place, &served);
    let look = looked(&page);
    let refused = |method: &str, path: &str, body: &Value, words: &str| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = page.ask(method, &format!("/api/reviews/1/changes/{path}"), &body);
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains(words), "{body}: {answer}");
    };
    for (selection, words) in [
        (json!({"kind": "chnaged"}), "no kind of changes with the name 'chnaged'"),
        (json!({"kind": ""}), "no kind of changes with the name ''"),
        (json!({"field": "prise"}), "these records have no field 'prise'"),
        (json!({"knid": "new"}), "unknown field `knid`"),
    ] {
        refused("POST", "decide", &shown(&look, &json!({"approves": false, "selection": selection})), words);
    }
    let of_record = json!({"approves": false, "seq": seq(&page, "A-2"), "selection": {"field": "prise"}});
    refused("POST", "decide", &shown(&look, &of_record), "these records have no field 'prise'");
    refused("POST", "decide", &shown(&look, &json!({"approves": false, "sq": 1})), "unknown field `sq`");
    refused("GET", "rows?count=9&kind=chnaged", &Value::Null, "no kind of changes");
    refused("GET", "rows?count=9&field=prise", &Value::Null, "no field");
    refused("GET", "rows?count=9&knid=new", &Value::Null, "unknown field");
    assert_eq!(page.review()["look"], look, "nothing was decided");
    // A kind and a field without records are no mistake, and select none.
    for selection in [json!({"kind": "left out"}), json!({"field": "tax"})] {
        let after = decide(&page, &json!({"approves": false, "selection": selection}));
        assert_eq!(after["approved"], look["approved"], "{selection}");
    }
    assert_eq!(page.get("/changes/rows?count=9&kind=left+out")["total"], 0);
}

#[test]
fn a_decision_is_about_the_look_that_the_page_shows() {
    let (place, served) = desk();
    let page = opened(&place, &served);
    let first = looked(&page);
    let leave = |look: &Value| shown(look, &json!({"approves": false}));
    let refused = |body: &Value, words: &str| {
        let answer = page.ask("POST", "/api/reviews/1/changes/decide", &body.to_string());
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains(words), "{answer}");
    };
    refused(&json!({"approves": false}), "missing field `run`");
    let second = page.post("/changes/decide", &shown(&first, &json!({"approves": false, "seq": seq(&page, "A-1")})));
    refused(&leave(&first), "in another tab");
    assert_eq!(page.review()["look"]["approved"], 3, "the second tab has left nothing out");
    // Each answer tells the version for the next decision.
    let third = page.post("/changes/decide", &shown(&second, &json!({"approves": false, "seq": seq(&page, "A-2")})));
    let fourth = page.post("/changes/decide", &shown(&third, &json!({"approves": false, "seq": seq(&page, "A-4")})));
    assert_eq!(fourth["approved"], 1, "{fourth}");
    let again = looked(&page);
    refused(&leave(&fourth), "sent or forgotten meanwhile");
    assert_eq!(page.review()["look"]["approved"], again["approved"]);
    page.post("/edits", &json!({"edits": [{"row": 3, "column": 2, "text": "2.75"}]}));
    refused(&leave(&again), "the file was edited after the look");
}

#[test]
fn what_another_writer_has_changed_since_the_look_is_left_out_and_told() {
    let (place, served) = desk();
    let page = opened(&place, &served);
    looked(&page);
    served.post("/v1/public/items", &json!({"externalId": "A-1", "price": 9}).to_string());
    let status = sent(&page);
    assert_eq!(status["moved"]["records"], 1, "{status}");
    let message = status["moved"]["causes"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("was '1.50' in the service when it was planned and is '9' now"), "{message}");
    let after = ["A-1 Bolt 9", "A-2 Nut 275", "A-3 Pin 3.50", "A-4 Clip XL 4.75", "A-5 Hook 5.50"];
    assert_eq!(items(&served), after);
}

#[test]
fn an_edit_after_the_look_demands_another_one() {
    let (place, served) = desk();
    let (before, page) = (items(&served), opened(&place, &served));
    let look = looked(&page);
    page.post("/edits", &json!({"edits": [{"row": 3, "column": 2, "text": "2.75"}]}));
    page.post("/check", &json!({"full": true}));
    let refused = |body: Value, words: &str| {
        let answer = page.ask("POST", "/api/reviews/1/send", &body.to_string());
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains(words), "{answer}");
    };
    let plan = |look: &Value| json!({"plan": {"run": look["run"], "version": look["version"]}});
    refused(plan(&look), "the file was edited after the look");
    refused(json!({}), "send what is approved, or send without a look");
    assert_eq!(items(&served), before);
    // What another tab has left out is not sent by this one.
    let again = looked(&page);
    decide(&page, &json!({"approves": false, "seq": seq(&page, "A-1")}));
    refused(plan(&again), "in another tab");
    refused(plan(&look), "sent or forgotten meanwhile");
    assert_eq!(sent(&page)["counts"]["sent"], 3);
    let after = ["A-1 Bolt 1.50", "A-2 Nut 2.75", "A-3 Pin 3.50", "A-4 Clip XL 4.75", "A-5 Hook 5.50"];
    assert_eq!(items(&served), after);
    // The first plan was given up, so that nobody sends it by habit.
    let runs = served.sheetport(&place, ["runs", "--json"]).exits(0).json();
    let states: Vec<&str> = runs["runs"].as_array().unwrap().iter().map(|run| run["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["done", "withheld", "done"], "{runs}");
}

#[test]
fn a_look_is_no_earlier_upload_and_can_be_forgotten() {
    let (place, served) = desk();
    let page = opened(&place, &served);
    looked(&page);
    assert_eq!(page.post("/check", &json!({"full": true}))["last_run"], Value::Null, "nothing was sent");
    let review = page.post("/changes/forget", &json!({}));
    assert_eq!(review["look"], Value::Null);
    page.post("/send", &json!({}));
    assert_eq!(page.ended()["status"]["counts"]["sent"], 5);
}

#[test]
fn a_person_approves_in_the_grid_and_sends() {
    let (Some(axe), Some(mut browser)) = (Axe::find(), Browser::start()) else { return };
    let (place, served) = desk();
    // What is in the service is no markup.
    served.post("/v1/public/items", &json!({"externalId": "A-1", "name": "<img src=x onerror=alert(1)>"}).to_string());
    let (_process, address) = start(&place, &served, &["items.csv"]);
    browser.visit(&address);
    click(&mut browser, ".bar .primary", "Fix");
    wait(&mut browser, "document.querySelector('.grid .cell.wrong')");
    click(&mut browser, "#steps button", "Changes");
    wait(&mut browser, "document.querySelector('.offer [data-look]:not(:disabled)')");
    axe.finds_nothing_at_any_width(&mut browser, "the offer of a look");
    click(&mut browser, "button", "Show what will change");
    wait(&mut browser, "document.querySelector('.grid .cell.change')");
    let shown = browser.text("document.querySelector('.grid .rows').innerText");
    assert!(shown.contains("<img src=x onerror=alert(1)>"), "{shown}");
    assert_eq!(browser.eval("document.querySelectorAll('.grid img').length"), 0);
    assert_eq!(browser.text("document.querySelector('.grid del').textContent"), "2.50");
    axe.finds_nothing_at_any_width(&mut browser, "the changes");
    // Quick decisions are made one after the other, each about what the answer to the one before tells.
    browser.eval("{const [all, none] = document.querySelectorAll('.title .buttons button'); none.click(); all.click(); none.click()}");
    wait(&mut browser, "/0 of 5 records approved/.test(document.querySelector('[data-approved]').textContent)");
    browser.eval("{const [all, none] = document.querySelectorAll('.title .buttons button'); all.click(); none.click(); all.click()}");
    wait(&mut browser, "/5 of 5 records approved/.test(document.querySelector('[data-approved]').textContent)");
    click(&mut browser, ".bar [data-look]", "");
    wait(&mut browser, "/4 of 5 records approved/.test(document.querySelector('[data-approved]')?.textContent)");
    wait(&mut browser, "document.querySelector('.grid .cell.change')");
    // By keyboard: the first record is left out.
    browser.eval("document.querySelector('.grid').focus()");
    browser.press("Space");
    wait(&mut browser, "/3 of 5 records approved/.test(document.querySelector('[data-approved]').textContent)");
    // The names stay as they are, by the head of the column.
    browser.eval("document.querySelector('[data-column-of=name]').click()");
    wait(&mut browser, "/2 of them without some fields/.test(document.querySelector('.bar').innerText)");
    click(&mut browser, ".filters button", "new");
    wait(&mut browser, "document.querySelectorAll('.grid .rows .row').length == 1");
    click(&mut browser, ".filters button", "All");
    wait(&mut browser, "document.querySelectorAll('.grid .rows .row').length == 6");
    click(&mut browser, ".bar .primary", "Continue with 3");
    wait(&mut browser, "/Only what you approved is sent: 3 of 5/.test(document.querySelector('main').innerText)");
    axe.finds_nothing_at_any_width(&mut browser, "sending what is approved");
    click(&mut browser, ".bar .primary", "Send 3 now");
    wait(&mut browser, "document.querySelector('.command')");
    assert_eq!(
        items(&served)[1..],
        ["A-2 Nut 2.50", "A-3 Pin 3.50", "A-4 Clip 4.75", "A-5 Hook 5.50"].map(str::to_owned)
    );
    assert!(items(&served)[0].ends_with(" 1.75"), "{:?}", items(&served));
    has_no_errors(&browser);
}
