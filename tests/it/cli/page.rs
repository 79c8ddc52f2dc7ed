//! Reports as web pages: their content and, in a real browser if one is installed, their behaviour and safety.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::axe::Axe;
use super::browser::Browser;
use super::process::{Place, until};
use super::service::Served;
use super::{count, items};
use crate::hostile;

/// Rows refused for four reasons. Numbers in the thousands would sort wrongly as text.
const ROWS: &str = "SKU,Name,Price,Status,Remark\n\
    0042,Bolt,free,active,=1+1\n\
    43,\"Nut, \"\"fine\"\"\",10.5 pcs,active,-5\n\
    44,Screw,2.50,in stock from the beginning of the third quarter of 2027,plain\n\
    45,Washer,9 pcs,active,@SUM(A1)\n\
    46,Rivet,2.50,active,\"two\nlines\"\n\
    47,Größe,1 000 pcs,in stock from the beginning of the third quarter of 2027,\n";

/// Returns the texts of the row column.
const NUMBERS: &str = "[...document.querySelectorAll('#list .toggle')].map((b) => b.lastChild.textContent).join(' ')";
const SHOWN: &str = "document.getElementById('shown').firstChild.textContent";

fn uploaded(rows: &str) -> (Place, PathBuf) {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", rows);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items", "--report", "page.html"]).exits(3);
    let page = place.path("page.html");
    (place, page)
}

/// Returns the rows in the page's data.
fn data(page: &PathBuf) -> Vec<Value> {
    let html = fs::read_to_string(page).unwrap();
    let json = html.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str::<Value>(json).unwrap()["rows"].as_array().unwrap().clone()
}

#[test]
fn a_page_shows_problems_by_default() {
    let (place, page) = uploaded(ROWS);
    assert_eq!(data(&page).len(), 5);
    for (only, rows) in [("all", 6), ("sent", 1), ("failed", 1), ("pending", 0)] {
        let written =
            place.sheetport(["report", "-o", &format!("{only}.htm"), "--only", only, "--json"]).exits(0).json();
        assert_eq!((count(&written, "rows"), count(&written, "left_out")), (rows, 0), "{only}");
        assert_eq!(data(&place.path(&format!("{only}.htm"))).len() as u64, rows, "{only}");
    }
    let written = place.sheetport(["report", "-o", "again.HTML"]).exits(0);
    written.shows(&["5 rows of run 1 to again.HTML"]);
    place.sheetport(["report", "-o", "again.HTML"]).exits(2).says(&["already exists"]);
}

#[test]
fn the_next_command_never_sends_the_page() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", ROWS);
    let next = "sheetport report 1 -o report-1.xlsx --only problems";
    let sent = served.sheetport(&place, ["upload", "prices.csv", "-t", "items", "--report", "page.html"]).exits(3);
    let sent = sent.shows(&["Report  page.html", next]);
    assert!(!sent.stdout.contains("fix the rows in"), "{}", sent.stdout);
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains(&format!("<code id=\"next\">{next}</code>")), "it says the same");
    place.sheetport(["check", "prices.csv", "-t", "items", "--report", "check.html"]).exits(3);
    let check = fs::read_to_string(place.path("check.html")).unwrap();
    assert!(check.contains("Sheetport check") && check.contains("ready to send"));
    assert!(check.contains("sheetport upload prices.csv -t items"));
    assert_eq!(data(&place.path("check.html")).len(), 4, "what can be sent is no problem");
}

#[test]
fn rows_beyond_the_limit_are_counted() {
    let place = Place::new();
    let rows: String = (0..50_003).map(|row| format!("{row},,x\n")).collect();
    place.write("many.csv", format!("SKU,Name,Price\n{rows}"));
    place.sheetport(["check", "many.csv", "-t", "items", "--report", "many.html"]).exits(3);
    let page = fs::read_to_string(place.path("many.html")).unwrap();
    assert_eq!(data(&place.path("many.html")).len(), 50_000);
    assert!(page.contains("<strong>This page shows 50,000 of 50,003 rows</strong>"), "it says so");
    assert!(page.contains("50,003 rows"), "causes are counted over all of them");
}

#[test]
fn the_page_has_causes_and_first_rows_without_scripts() {
    let (_place, page) = uploaded(ROWS);
    let html = fs::read_to_string(&page).unwrap();
    let plain = html.split_once("<noscript>").unwrap().1.split_once("</noscript>").unwrap().0;
    assert_eq!(plain.matches("<tr>").count(), 1 + 5);
    assert!(plain.contains("Price &#x27;free&#x27; is not a number"), "{plain}");
    let before = html.split_once("<noscript>").unwrap().0;
    assert!(before.contains("must not be longer than 50 characters"), "the causes need no script");
}

#[test]
fn axe_finds_nothing_on_a_report_or_the_docs_of_the_service() {
    let (Some(axe), Some(mut browser)) = (Axe::find(), Browser::start()) else { return };
    let (place, page) = uploaded(ROWS);
    for fragment in ["", "#state=failed"] {
        browser.open(&page, fragment);
        until("rows", || (browser.eval("document.querySelectorAll('#list .toggle').length > 0") == true).then_some(()));
        axe.finds_nothing_at_any_width(&mut browser, &format!("a report {fragment}"));
    }
    let served = Served::start_on(&place, 0);
    browser.visit(&format!("{}/docs", served.url()));
    until("the calls", || (browser.eval("document.body.innerText.includes('/v1/public/items')") == true).then_some(()));
    axe.finds_nothing_at_any_width(&mut browser, "the docs of the service");
}

#[test]
fn a_browser_without_scripts_shows_counts_causes_and_rows() {
    let Some(mut browser) = Browser::start() else { return };
    let (_place, page) = uploaded(ROWS);
    browser.call("Emulation.setScriptExecutionDisabled", serde_json::json!({"value": true}));
    for (width, media) in [(1280, "screen"), (360, "screen"), (1280, "print")] {
        browser.screen(width, 900, "light");
        browser.call("Emulation.setEmulatedMedia", serde_json::json!({"media": media}));
        browser.open(&page, "");
        let seen = browser.text("document.body.innerText");
        let accounting = ["5 of 6 records from 6 rows have a problem", "4\nrejected", "1\nsent", "1\nfailed"];
        let causes = ["Problems by cause", "Price such as ‘free’ is not a number"];
        for words in accounting.iter().chain(&causes) {
            assert!(seen.contains(words), "{words:?} is not in {seen}");
        }
        assert!(seen.contains("sheetport report 1 -o report-1.xlsx --only problems"), "what to do next: {seen}");
        let rows = browser.text("[...document.querySelectorAll('.plain tbody tr')].map((row) => row.checkVisibility() ? [...row.cells].map((cell) => cell.innerText).join('\\t') : '').join('\\n')");
        for (row, words) in
            rows.lines().zip(["2\trejected\tPrice 'free'", "3\trejected", "4\tfailed", "5\trejected", "7\t"])
        {
            assert!(row.starts_with(words), "{words:?} is not in {rows}");
        }
        assert_eq!(rows.lines().count(), 5, "{rows}");
        let dead = "[...document.querySelectorAll('button, input')].filter((one) => one.checkVisibility()).length";
        assert_eq!(browser.eval(dead), 0, "nothing to press that does nothing");
        assert!(
            browser.eval("document.documentElement.scrollWidth <= innerWidth").as_bool().unwrap(),
            "{width} {media}"
        );
        let highest = "Math.max(...[...document.querySelectorAll('.plain tr')].map((row) => row.offsetHeight))";
        let highest = browser.eval(highest).as_f64().unwrap();
        assert!(highest < 150.0, "words stand in lines, not below each other: {highest} at {width} {media}");
    }
}

#[test]
fn rows_can_be_searched_filtered_and_sorted() {
    let Some(mut browser) = Browser::start() else { return };
    let (_place, page) = uploaded(ROWS);
    browser.open(&page, "");
    assert_eq!(browser.text(NUMBERS), "2 3 4 5 7");
    assert_eq!(browser.text(SHOWN), "5 rows shown");
    // Search: `/` focuses it, all cells are searched, Escape clears it.
    browser.press("/");
    browser.write("gröSSe stock");
    assert_eq!(browser.text(SHOWN), "0 of 5 rows shown");
    browser.press("Escape");
    browser.write("GRÖßE stock");
    assert_eq!((browser.text(NUMBERS), browser.text(SHOWN)), ("7".to_owned(), "1 of 5 rows shown".to_owned()));
    browser.press("Escape");
    assert_eq!(browser.text(SHOWN), "5 rows shown");
    // Filters by state and cause, sorting by a column in both directions.
    browser.eval("document.querySelector('#choices [value=failed]').click()");
    assert_eq!(browser.text(NUMBERS), "4");
    browser.eval("document.querySelector('#choices [value=\"\"]').click()");
    let click_cause = "(() => { const link = [...document.querySelectorAll('[data-cause]')]\
        .find((one) => one.textContent.includes('is not a number')); link.click(); \
        return `${link.getAttribute('aria-current')} ${document.activeElement.id}`; })()";
    assert_eq!(browser.text(click_cause), "true rows", "the reader is brought to the rows");
    assert_eq!(browser.text(NUMBERS), "2 3 5 7");
    assert_eq!(browser.text("document.querySelector('#cause .label').textContent"), "Price is not a number");
    browser.eval("document.querySelector('#list [value=value]').click()");
    assert_eq!(browser.text(NUMBERS), "7 5 3 2", "as words that begin with numbers");
    let sort = "document.querySelector('#list th.value').getAttribute('aria-sort')";
    assert_eq!(browser.text(sort), "ascending");
    browser.eval("document.querySelector('#list [value=value]').click()");
    assert_eq!((browser.text(NUMBERS), browser.text(sort)), ("2 3 5 7".to_owned(), "descending".to_owned()));
    // Fragments of the address; an invalid one shows all rows.
    browser.eval("new Promise((done) => setTimeout(done, 200))");
    let address = browser.text("location.hash");
    assert!(address.starts_with("#cause=") && address.ends_with("&sort=-value"), "{address}");
    for (address, rows) in [
        (address.as_str(), "2 3 5 7"),
        ("#state=failed", "4"),
        ("#search=two+lines", ""),
        ("#search=pcs&sort=-row", "7 5 3"),
        ("#state=nonsense&cause=-1&sort=constructor", "2 3 4 5 7"),
        ("#cause=99", ""),
        ("#%E0%A4%A&search=%E0", ""),
        ("#rows", "2 3 4 5 7"),
    ] {
        browser.open(&page, address);
        assert_eq!(browser.text(NUMBERS), rows, "{address}");
    }
    assert!(!browser.has("Runtime.exceptionThrown"), "{:?}", browser.events);
}

#[test]
fn numbers_sort_as_numbers() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let values = ["1.250,5", "-3,75", "90,5", "10", "abc", "", "9"];
    let rows: String = values.iter().map(|value| format!("\"{value}\",Bolt,5\n")).collect();
    place.write("values.csv", format!("Code,Name,Price\n{rows}"));
    let code = "[fields.externalId]\ncolumn = \"Code\"\npattern = \"^x\"\non_blank = \"error\"\n";
    let others = "[fields.name]\ncolumn = \"Name\"\n[fields.price]\ncolumn = \"Price\"\n";
    place.write("codes.toml", format!("record = \"item\"\n{code}{others}"));
    place.sheetport(["check", "values.csv", "-t", "codes.toml", "--report", "page.html"]).exits(3);
    let values = "[...document.querySelectorAll('#list td.value')].map((td) => td.textContent).join(' ')";
    browser.open(&place.path("page.html"), "#sort=value");
    assert_eq!(browser.text(values), "-3,75 9 10 90,5 1.250,5 abc blank");
    browser.open(&place.path("page.html"), "#sort=-value");
    assert_eq!(browser.text(values), "abc 1.250,5 90,5 10 9 -3,75 blank");
}

#[test]
fn a_row_can_be_opened_and_copied_into_a_spreadsheet() {
    let Some(mut browser) = Browser::start() else { return };
    let (_place, page) = uploaded(ROWS);
    let stub = "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { \
        if (window.refuses) throw new Error('no'); window.copied = text; } } }); \
        document.addEventListener('copy', () => { window.chosen = document.activeElement.value; });";
    browser.call("Page.addScriptToEvaluateOnNewDocument", serde_json::json!({"source": stub}));
    browser.open(&page, "");
    let toggle = |row| format!("document.querySelectorAll('#list .toggle')[{row}].click()");
    browser.eval(&toggle(2));
    let detail = browser.text("document.querySelector('.detail').innerText");
    for words in ["Original row 4", "Screw", "third quarter", "must not be longer", "422", "Context id", "plain"] {
        assert!(detail.contains(words), "{words} is not in {detail}");
    }
    assert_eq!(browser.text("document.querySelector('.at-fault dt').innerText"), "D Status");
    browser.eval(&toggle(2));
    assert_eq!(browser.eval("document.querySelectorAll('.detail').length"), 0);
    for (row, cells) in [
        (0, "0042\tBolt\tfree\tactive\t'=1+1"),
        (1, "43\t\"Nut, \"\"fine\"\"\"\t10.5 pcs\tactive\t-5"),
        (3, "45\tWasher\t9 pcs\tactive\t'@SUM(A1)"),
        (4, "47\tGröße\t1 000 pcs\tin stock from the beginning of the third quarter of 2027\t"),
    ] {
        browser.eval(&toggle(row));
        browser.eval("document.querySelector('.copy-row').click()");
        assert_eq!(browser.text("window.copied"), cells);
        browser.eval(&toggle(row));
    }
    browser.eval("document.getElementById('copy').click()");
    let all = browser.text("window.copied");
    assert!(all.starts_with("SKU\tName\tPrice\tStatus\tRemark\n0042\t") && all.lines().count() == 6, "{all}");
    assert_eq!(browser.text("document.getElementById('said').textContent"), "5 rows copied.");
    // Without access to the clipboard, the old API works.
    browser.eval("window.refuses = true; document.getElementById('copy').click()");
    assert_eq!(browser.text("window.chosen"), all);
    assert_eq!(browser.eval("document.querySelectorAll('textarea').length"), 0);
}

/// Collects violations of the page's policy.
const WATCH: &str =
    "window.broken = []; addEventListener('securitypolicyviolation', (event) => broken.push(event.blockedURI));";

/// Shows the details of all rows.
fn open_everything(browser: &mut Browser) {
    browser.eval("for (const toggle of document.querySelectorAll('.toggle')) toggle.click()");
    browser.eval("for (const details of document.querySelectorAll('details')) details.open = true");
    browser.eval("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
}

/// Checks that the page has no content but its own.
#[track_caller]
fn check_content(browser: &mut Browser) {
    assert_eq!(browser.eval("window.ran === undefined && document.scripts.length"), 1, "its own script alone");
    assert_eq!(browser.eval("window.broken.length"), 0);
    let foreign = "body img, iframe, object, form, body link, body style, body base, body meta, body [onerror], body svg [onload]";
    assert_eq!(browser.eval(&format!("document.querySelectorAll('{foreign}').length")), 0);
}

/// Checks that the page has asked for nothing, and that nothing failed.
#[track_caller]
fn check_events(browser: &Browser) {
    for event in &browser.events {
        let method = event["method"].as_str().unwrap();
        assert!(
            !["Runtime.exceptionThrown", "Page.javascriptDialogOpening", "Log.entryAdded"].contains(&method),
            "{event}"
        );
        let url = event["params"]["request"]["url"].as_str().unwrap_or("data:");
        assert!(
            url.starts_with("file:") && url.contains("page.html") || url.starts_with("data:") || url == "about:blank",
            "{url}"
        );
    }
}

#[test]
fn cells_cannot_run_scripts_load_content_or_break_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let elsewhere = format!("http://{}", listener.local_addr().unwrap());
    let hostile = [
        "<script>window.ran = 1</script>".to_owned(),
        "</script><script>window.ran = 1</script>".to_owned(),
        "<!--<script>".to_owned(),
        format!("<img src=\"{elsewhere}/a.png\" onerror=\"window.ran = 1\">"),
        format!("\"><link rel=stylesheet href='{elsewhere}/a.css'>"),
        "javascript:window.ran=1".to_owned(),
        "{{ 7 * 7 }}{% raw %}".to_owned(),
        "photo\u{202E}gpj.exe\u{2066}".to_owned(),
        "\u{2028}\u{2029}\u{FEFF}\u{200B}\u{1}\u{85}".to_owned(),
        "W".repeat(5_000),
        format!("Z{}", "\u{0334}\u{0301}".repeat(900)),
        "👩‍👩‍👧‍👦🙂 שלום مرحبا".to_owned(),
        " a\n\n\tb ".to_owned(),
        "__proto__".to_owned(),
    ];
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut rows = format!("SKU,Name,Price,Currency,{}\n", quoted(&hostile[3]));
    for (place, text) in hostile.iter().enumerate() {
        // The price is invalid here, and the service refuses the currency of every other row.
        let (price, currency) = if place % 2 == 0 { (text.as_str(), "EUR") } else { ("1.50", text.as_str()) };
        let remark = if text == "__proto__" { "W".repeat(1 << 20) } else { text.clone() };
        let cells = [&format!("{place}{text}"), text, price, currency, &remark].map(&quoted);
        rows.push_str(&format!("{}\n", cells.join(",")));
    }
    let place = Place::new();
    let served = Served::start(&place);
    let file = if cfg!(windows) { "a&amp;'.csv" } else { "<img src=x onerror=ran()>&amp;\"'.csv" };
    place.write(file, rows);
    served.sheetport(&place, ["upload", file, "-t", "items", "--report", "page.html", "--no-progress"]).exits(3);
    browser.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": WATCH}));
    for width in [1280, 360] {
        browser.screen(width, 800, "light");
        browser.open(&place.path("page.html"), "");
        assert_eq!(browser.text(SHOWN), "14 rows shown");
        open_everything(&mut browser);
        check_content(&mut browser);
        let wide = "[...document.querySelectorAll('body *')].filter((one) => \
            one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.text, .unseen, table, svg')).length";
        assert_eq!(browser.eval(wide), 0, "nothing sticks out at {width}");
        assert!(browser.eval("document.documentElement.scrollWidth <= innerWidth").as_bool().unwrap(), "{width}");
    }
    let seen = browser.text("[...document.querySelectorAll('.detail .cells > div:last-child .text')].map((one) => one.textContent).join('\\n---\\n')");
    for text in &hostile[..7] {
        assert!(seen.contains(text.as_str()), "{text} is not seen as it is");
    }
    assert!(seen.contains("photoU+202Egpj.exeU+2066"), "what turns text around is seen");
    assert!(seen.contains("👩‍👩‍👧‍👦🙂 שלום"), "what people write is as they wrote it");
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.len() < 600_000, "{} bytes: long cells are cut", page.len());
    let said = browser.text("document.getElementById('list').textContent");
    assert!(said.contains("The first 10,000 of 1,048,576 characters"), "and it is said");
    browser.eval("document.getElementById('copy').click()");
    check_events(&browser);
    assert!(listener.accept().is_err(), "nobody was asked for anything");
}

#[test]
fn no_hostile_text_acts_in_a_page() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let served = Served::start(&place);
    let texts = hostile::texts();
    let mut rows = csv::Writer::from_path(place.path("texts.csv")).unwrap();
    rows.write_record(["SKU", "Name", "Price", "Currency", "<script>window.ran = 1</script>"]).unwrap();
    for (number, text) in texts.iter().enumerate() {
        rows.write_record([&format!("A-{number:03}"), text, "free", text, text]).unwrap();
    }
    rows.flush().unwrap();
    let upload = ["upload", "texts.csv", "-t", "items", "--delimiter", ",", "--report", "page.html", "--no-progress"];
    served.sheetport(&place, upload).exits(3);
    browser.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": WATCH}));
    browser.open(&place.path("page.html"), "");
    assert_eq!(browser.text(SHOWN), format!("{} rows shown", texts.len()));
    open_everything(&mut browser);
    check_content(&mut browser);
    check_events(&browser);
}

#[test]
fn many_rows_are_loaded_on_demand_and_printed_up_to_a_limit() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let rows = items(10_000).replace(".50,EUR", ".5O,EUR");
    place.write("many.csv", rows);
    place.sheetport(["check", "many.csv", "-t", "items", "--report", "many.html"]).exits(3);
    browser.open(&place.path("many.html"), "");
    let in_page = "document.querySelectorAll('#list tbody').length";
    assert_eq!(browser.text(SHOWN), "10,000 rows shown");
    assert!(browser.eval(in_page).as_u64().unwrap() <= 500, "the first ones");
    browser.press("/");
    browser.write("9999.5O");
    assert_eq!(browser.text(SHOWN), "1 of 10,000 rows shown");
    assert_eq!(browser.text(NUMBERS), "10000");
    browser.press("Escape");
    browser.eval("document.querySelector('#list [value=row]').click()");
    assert!(browser.text(NUMBERS).starts_with("10001 10000 9999 "));
    assert!(browser.eval(in_page).as_u64().unwrap() <= 500);
    // After scrolling to the end or showing all rows.
    browser.eval("document.getElementById('all').click()");
    until("all rows in the page", || (browser.eval(in_page) == 10_000).then_some(()));
    let before = Instant::now();
    let pdf = pdf(&mut browser);
    // Printing all rows would take minutes.
    println!("{} bytes printed in {:?}", pdf.len(), before.elapsed());
    assert!((50..100).contains(&pages(&pdf)), "{}", pages(&pdf));
    let said = "getComputedStyle(document.getElementById('unprinted')).display";
    assert_eq!(browser.text(said), "none", "it is about paper alone");
    browser.eval("dispatchEvent(new Event('beforeprint'))");
    assert_eq!((browser.eval(in_page), browser.text(said)), (1000.into(), "block".to_owned()));
    let said = browser.text("document.getElementById('unprinted').innerText");
    assert!(
        said.starts_with("The first 1,000 of 10,000 rows are printed. To print others, search or filter"),
        "{said}"
    );
    browser.eval("dispatchEvent(new Event('afterprint'))");
    browser.eval("document.getElementById('search').focus()");
    browser.write("Item 12");
    browser.eval("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.eval("document.getElementById('unprinted').hidden"), true, "111 rows are all printed");
}

/// Prints the page.
fn pdf(browser: &mut Browser) -> String {
    let paper = browser.call("Page.printToPDF", serde_json::json!({"preferCSSPageSize": true}));
    let pdf = STANDARD.decode(paper["data"].as_str().unwrap()).unwrap();
    String::from_utf8_lossy(&pdf).into_owned()
}

/// Counts the printed pages.
fn pages(pdf: &str) -> usize {
    pdf.matches("/MediaBox").count()
}

#[test]
fn texts_have_contrast_and_controls_have_names() {
    let Some(mut browser) = Browser::start() else { return };
    let (_place, page) = uploaded(ROWS);
    for scheme in ["light", "dark"] {
        browser.screen(1280, 900, scheme);
        browser.open(&page, "");
        browser.eval("document.querySelector('[data-cause]').click(); document.querySelector('.toggle').click()");
        let faint = browser.eval(CONTRAST);
        assert_eq!(faint, serde_json::json!([]), "{scheme}");
    }
    let tree = browser.call("Accessibility.getFullAXTree", serde_json::json!({}));
    let nodes = tree["nodes"].as_array().unwrap();
    let of = |role: &str| nodes.iter().filter(|node| node["role"]["value"] == role).collect::<Vec<_>>();
    for role in ["button", "link", "searchbox", "table", "image", "group"] {
        let all = of(role);
        let nameless =
            all.iter().filter(|node| node["name"]["value"].as_str().is_none_or(|name| name.trim().is_empty()));
        assert_eq!(nameless.count(), 0, "{role}");
        assert!(!all.is_empty(), "{role}");
    }
    for role in ["banner", "main", "contentinfo", "status", "columnheader", "rowheader", "heading"] {
        assert!(!of(role).is_empty(), "{role}");
    }
}

#[test]
fn printing_is_landscape_without_controls() {
    let Some(mut browser) = Browser::start() else { return };
    let (_place, page) = uploaded(ROWS);
    browser.open(&page, "#search=pcs");
    browser.call("Emulation.setEmulatedMedia", serde_json::json!({"media": "print"}));
    let controls = "[...document.querySelectorAll('input, #choices, #copy, .copy, .more')].filter((one) => one.offsetHeight > 0).length";
    assert_eq!(browser.eval(controls), 0);
    let head = "getComputedStyle(document.querySelector('#list thead')).display";
    assert_eq!(browser.text(head), "table-header-group", "it stands on every page");
    let words = "getComputedStyle(document.querySelector('#list thead button')).display";
    assert_eq!(browser.text(words), "contents", "a button has its words on the first page alone");
    assert_eq!(browser.text("document.getElementById('shown').innerText"), "3 of 5 rows shown: “pcs”");
    let pdf = pdf(&mut browser);
    let size = pdf.split_once("/MediaBox [").unwrap().1.split_once(']').unwrap().0;
    let size: Vec<f64> = size.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert!((size[2] - 842.0).abs() < 2.0 && (size[3] - 595.0).abs() < 2.0, "{size:?}");
}

/// Returns the texts with a contrast below 4.5 to 1, the limit of WCAG 2 AA.
const CONTRAST: &str = r"(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgba = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const over = (top, below) => below.map((part, at) => top[at] * top[3] / 255 + part * (1 - top[3] / 255));
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const light = (color) => { const [r, g, b] = color.map((part) => { part /= 255; return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const faint = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest('script, .unseen, .skip, #said')) continue;
    const behind = ground(element);
    const [a, b] = [light(over(rgba(getComputedStyle(element).color), behind)), light(behind)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push(`${element.tagName} ${element.className} ${element.textContent.trim().slice(0, 20)} ${ratio.toFixed(2)}`);
  }
  return faint;
})()";
