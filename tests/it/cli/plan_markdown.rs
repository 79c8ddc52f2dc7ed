//! `plan --markdown` prints a plan for a pull request.

use super::process::Place;
use super::service::Served;

#[test]
fn a_plan_is_printed_as_markdown() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("old.csv", "SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,2\nA-3,Pin,3\n");
    place.write(
        "new.csv",
        "SKU,Name,Price\nA-1,Bolt | <b>x</b>,1.60\nA-2,\"Nut\n[x](http://a.b)\",2\nA-3,Pin,300\nA-4,Cap,4\n",
    );
    served.sheetport(&place, ["upload", "old.csv", "-t", "items", "-q"]).exits(0);
    let printed = served.sheetport(&place, ["plan", "new.csv", "-t", "items", "--markdown"]).exits(0).stdout;
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("### Plan of <code>"), "{printed}");
    for line in ["| 1 | new | not in the service yet |", "| 3 | changed | other values in the service |"] {
        assert!(lines.contains(&line), "{printed}");
    }
    let rows: Vec<&&str> = lines.iter().filter(|line| line.contains("<code>A-")).collect();
    assert_eq!(rows.len(), 4, "{printed}");
    assert_eq!(
        *rows[0],
        "| 4 | <code>A-3</code> | <code>price</code> | <code>3</code> | <code>300</code> | ten times as large or more |"
    );
    assert!(!printed.contains("<b>") && !printed.contains("](") && !printed.contains("http://"), "{printed}");
    assert!(printed.trim_end().ends_with("Nothing is sent yet. Next: <code>sheetport apply 2</code>"), "{printed}");
    // A command that is cut can't be used.
    let long = format!("{}.csv", "changes-".repeat(15));
    let plan = ["plan", "new.csv", "-t", "items", "--markdown", "-o", &long];
    let printed = served.sheetport(&place, plan).exits(0).stdout;
    let next = format!("Next: <code>sheetport apply {long}</code>");
    assert!(printed.trim_end().ends_with(&next), "{printed}");
    let german = served.sheetport(&place, ["plan", "new.csv", "-t", "items", "--markdown"]).env("LANG", "de_DE.UTF-8");
    assert!(german.exits(0).stdout.contains("Änderungen, auffällige zuerst"));
}
