//! Options for reading text files: keys under `[sheet]` of a template, and flags, which take precedence.

use super::process::Place;
use super::service::Served;
use super::{accounting, column, summary, table};

/// Creates an item template with these lines under `[sheet]`.
fn template(place: &Place, sheet: &str) {
    let text = format!(
        "record = \"item\"\n[sheet]\n{sheet}\n[fields.externalId]\ncolumn = 1\n[fields.name]\ncolumn = 2\noptional = true\n"
    );
    place.write("t.toml", text);
}

/// Uploads a file with these lines under `[sheet]` and these flags, and returns the names that the service then has.
#[track_caller]
fn check(bytes: &[u8], sheet: &str, flags: &[&str], expected: &[&str]) {
    let place = Place::new();
    let served = Served::start(&place);
    template(&place, sheet);
    place.write("prices.csv", bytes);
    let upload = ["upload", "prices.csv", "-t", "t.toml", "--json"].iter().chain(flags).copied();
    let upload = served.sheetport(&place, upload).exits(0);
    assert_eq!(accounting(&summary(&upload)), format!("{0}: sent {0}", expected.len()));
    served.sheetport(&place, ["export", "items", "-o", "items.csv"]).exits(0);
    let items = table(&place.path("items.csv"));
    let mut names = column(&items, "name");
    names.sort_unstable();
    assert_eq!(names, expected, "{sheet} {flags:?}");
    // `check` reads it in the same way and repeats the flags.
    let check = place.sheetport(["check", "prices.csv", "-t", "t.toml", "--json"].iter().chain(flags)).exits(0);
    let next = summary(&check)["next"].as_str().unwrap().to_owned();
    assert!(flags.iter().all(|flag| next.contains(flag)), "{next}");
}

#[test]
fn delimiter_options_are_applied() {
    // Both fit; detection prefers the semicolon.
    let text = b"a;x,b;y\n1;p,2;q\n3;r,4;s\n";
    check(text, "", &[], &["p,2", "r,4"]);
    check(text, "delimiter = \",\"", &[], &["2;q", "4;s"]);
    check(text, "delimiter = \",\"", &["--delimiter", ";"], &["p,2", "r,4"]);
    check(b"a\tb c\n1\tp q\n2\tr s\n", "delimiter = \"tab\"", &[], &["p q", "r s"]);
    check(b"a|z b\n1|z p\n2|z r\n", "delimiter = \"space\"", &[], &["p", "r"]);
}

#[test]
fn encoding_options_are_applied() {
    // 0xA4 is the currency sign or the euro sign; 0xE4 is the same letter in both.
    let text = b"SKU,Name\n1,10 \xA4\n2,B\xE4r\n";
    check(text, "encoding = \"iso-8859-15\"", &[], &["10 €", "Bär"]);
    check(text, "encoding = \"windows-1252\"", &[], &["10 ¤", "Bär"]);
    check(text, "encoding = \"windows-1252\"", &["--encoding", "iso-8859-15"], &["10 €", "Bär"]);
    let place = Place::new();
    place.write("prices.csv", text);
    template(&place, "encoding = \"utf-8\"");
    let ended = place.sheetport(["check", "prices.csv", "-t", "t.toml"]).exits(3);
    ended.shows(&["has lost letters", "or the file is in another encoding: --encoding"]);
}

#[test]
fn quote_options_are_applied() {
    check(b"a,b\n1,'p, q'\n2,'r'\n", "quote = \"'\"", &[], &["p, q", "r"]);
    check(b"a,b\n1,\"p\"\n2,\"r\"\n", "quote = \"none\"", &[], &["\"p\"", "\"r\""]);
    check(b"a,b\n1,\"p\"\n2,\"r\"\n", "quote = \"none\"", &["--quote", "\""], &["p", "r"]);
    check(b"a,b\n1,'p'\n2,'r'\n", "quote = '\"'", &[], &["'p'", "'r'"]);
}

#[test]
fn escape_options_are_applied() {
    let text = b"a,b\n1,\"3\\\" pipe\"\n2,\"r\"\n";
    check(text, "escape = '\\'", &[], &["3\" pipe", "r"]);
    check(b"a,b\n1,\"C:\\\"\n2,\"r\"\n", "escape = \"none\"", &[], &["C:\\", "r"]);
    check(text, "escape = \"none\"", &["--escape", "\\"], &["3\" pipe", "r"]);
}

#[test]
fn invalid_options_are_reported_with_their_line() {
    for (sheet, words) in [
        ("delimiter = \"ab\"", "a delimiter is one character such as ;"),
        ("delimiter = '\"'", "a delimiter is one character"),
        ("quote = \"x\"", "this is one character such as ' or \\"),
        ("escape = \"\"", "this is one character"),
        ("encoding = \"klingon\"", "'klingon' is not an encoding"),
        ("delimiters = \";\"", "did you mean delimiter?"),
    ] {
        let place = Place::new();
        template(&place, sheet);
        place.write("prices.csv", "a,b\n1,2\n");
        place.sheetport(["check", "prices.csv", "-t", "t.toml"]).exits(2).says(&["t.toml:3", words]);
    }
    let place = Place::new();
    template(&place, "delimiter = \"'\"\nquote = \"'\"");
    place.write("prices.csv", "a,b\n1,2\n");
    place.sheetport(["check", "prices.csv", "-t", "t.toml"]).exits(2).says(&["cannot be the quote character"]);
}
