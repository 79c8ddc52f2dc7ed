//! Tables in documents that are written from the code.

use std::path::Path;
use std::{env, fs};

/// Set to rewrite the tables.
const UPDATE: &str = "SHEETPORT_UPDATE_DOCS";
const END: &str = "<!-- End of the generated table. -->\n";

/// Compares the generated tables of a document with those of the code. `path` is relative to the root of the repository. Each table stands between
/// the line `begin`, which names the command that rewrites them, and the line for the end.
///
/// # Panics
///
/// Panics if the document cannot be read, lacks a marker or has another table; with `SHEETPORT_UPDATE_DOCS=1`, it is rewritten instead.
pub fn assert_tables(path: &str, begin: &str, tables: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let page = fs::read_to_string(&path).expect("the page").replace("\r\n", "\n");
    let (mut updated, mut rest) = (String::new(), page.as_str());
    for table in tables {
        let (before, from) = rest.split_once(begin).expect("the first marker of the table");
        let (_, after) = from.split_once(END).expect("the second marker of the table");
        updated.push_str(&[before, begin, table, END].concat());
        rest = after;
    }
    updated.push_str(rest);
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, updated).expect("a writable page");
    } else {
        assert_eq!(page, updated, "the first line of the table in {} says how it is rewritten", path.display());
    }
}
