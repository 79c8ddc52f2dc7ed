//! Explanations of the codes of problems and warnings: cause, example and remedy, and what a report for a supplier shows of such a
//! problem.
//!
//! Knows no spreadsheet and no run: the crate raising a problem provides code, message and remedy. Begin with
//! `codes.toml`. [`explain_code`] serves `sheetport help CODE`, and docs/problems.md is generated from the same data. A code without an entry
//! fails a test; a problem without an entry is hidden from suppliers.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use sheetport_documents::nearest;

const CODES: &str = include_str!("codes.toml");

/// Codes about the same part of an upload.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeGroup {
    pub title: String,
    pub codes: Vec<ExplainedCode>,
}

/// The explanation of a code. Backticks enclose words of a template or a command line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplainedCode {
    pub code: String,
    pub cause: String,
    pub example: String,
    pub remedy: String,
    /// `None` hides the problem, so that nothing is disclosed by a forgotten entry. A test demands the entry.
    #[serde(skip_serializing)]
    supplier: Option<SupplierView>,
}

/// What a report for a supplier shows of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SupplierView {
    /// Message and remedy: they reveal nothing but the sheet and the rules of the template for its columns.
    All,
    /// The message, without the remedy, which is about the template.
    Message,
    /// Those words of the service that are in the row.
    Words,
    Nothing,
}

#[derive(Deserialize)]
struct File {
    group: Vec<CodeGroup>,
}

static GROUPS: LazyLock<Vec<CodeGroup>> =
    LazyLock::new(|| toml::from_str::<File>(CODES).expect("codes.toml has the fields of an explanation").group);

/// Returns all codes, in the order of docs/problems.md.
pub fn code_groups() -> &'static [CodeGroup] {
    &GROUPS
}

/// Returns the codes of all groups.
pub fn codes() -> impl Iterator<Item = &'static ExplainedCode> {
    GROUPS.iter().flat_map(|group| &group.codes)
}

/// Returns the explanation of a code.
pub fn explain_code(code: &str) -> Option<&'static ExplainedCode> {
    codes().find(|explanation| explanation.code == code)
}

/// Returns what a supplier may see of a problem with this code: nothing if the code is unknown.
pub fn supplier_view(code: &str) -> SupplierView {
    explain_code(code).and_then(|explanation| explanation.supplier).unwrap_or(SupplierView::Nothing)
}

/// Returns the code or other topic with the most similar spelling, if any.
pub fn nearest_topic(word: &str, others: &[String]) -> Option<String> {
    let codes = codes().map(|explanation| explanation.code.as_str());
    nearest(word, codes.chain(others.iter().map(String::as_str))).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write;
    use std::fs;
    use std::path::{Path, PathBuf};

    use regex::Regex;

    use super::*;

    /// Set to rewrite docs/problems.md: `SHEETPORT_UPDATE_DOCS=1 cargo test --lib problem_codes`.
    const UPDATE: &str = "SHEETPORT_UPDATE_DOCS";

    fn page() -> String {
        let mut page = String::from(
            "# Problems and warnings\n\n\
             <!-- Generated from crates/findings/src/codes.toml: SHEETPORT_UPDATE_DOCS=1 cargo test -p sheetport-findings -->\n\n\
             Every problem has a code: `check` and `upload` name it below the problems, and with `--json` it is `code`. `sheetport help \
             CODE` shows the words of this page. A problem keeps its row from being sent; a warning does not, unless `--strict` is \
             given.\n",
        );
        for group in code_groups() {
            let _ = write!(page, "\n## {}\n", group.title);
            for ExplainedCode { code, cause, example, remedy, .. } in &group.codes {
                let _ = write!(page, "\n### {code}\n\n{cause}\n\n- Example: {example}\n- Remedy: {remedy}\n");
            }
        }
        page
    }

    #[test]
    fn the_page_of_problems_has_every_code() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/problems.md");
        if std::env::var_os(UPDATE).is_some() {
            fs::write(&path, page()).expect("written");
        }
        let stored = fs::read_to_string(&path).expect("docs/problems.md").replace("\r\n", "\n");
        assert!(stored == page(), "docs/problems.md is out of date: {UPDATE}=1 cargo test -p sheetport-findings");
    }

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                // The findings of doctor have names of another kind.
                true if path.ends_with("doctor") => {}
                true => sources(&path, found),
                false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
                false => {}
            }
        }
    }

    /// Returns the codes that the sources use: those of `Cause::code`, and the first arguments of `Problem::of_record`.
    fn used() -> BTreeSet<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut paths = Vec::new();
        for folder in ["src", "crates"] {
            sources(&root.join(folder), &mut paths);
        }
        let texts: Vec<String> = paths.iter().map(|path| fs::read_to_string(path).expect("a source")).collect();
        // Tests stand at the end of a file.
        let texts: Vec<&str> = texts.iter().map(|text| text.split("#[cfg(test)]").next().unwrap_or(text)).collect();
        let constant = Regex::new(r#"const ([A-Z_]+): &str = "([a-z-]+)";"#).expect("a pattern");
        let given =
            Regex::new(r#"(?:of_record|problem)\(\s*(?:"([a-z-]+)"|([A-Z_]+))[,)]|warning\("([a-z]+-[a-z-]+)""#)
                .expect("a pattern");
        let arm = Regex::new(r#"=>\s*(?:\{\s*)?"([a-z-]+)""#).expect("a pattern");
        let constants: Vec<(&str, &str)> = texts
            .iter()
            .flat_map(|text| constant.captures_iter(text).map(|found| found.extract::<2>().1))
            .map(|[name, value]| (name, value))
            .collect();
        let mut codes = BTreeSet::new();
        for text in &texts {
            for found in given.captures_iter(text) {
                match (found.get(1).or(found.get(3)), found.get(2)) {
                    (Some(code), _) => drop(codes.insert(code.as_str().to_owned())),
                    (None, Some(name)) => codes.extend(
                        constants
                            .iter()
                            .filter(|(constant, _)| *constant == name.as_str())
                            .map(|(_, value)| (*value).to_owned()),
                    ),
                    (None, None) => {}
                }
            }
            if let Some((_, rest)) = text.split_once("impl Cause {")
                && let Some((function, _)) = rest.split_once("\n    }\n")
            {
                codes.extend(arm.captures_iter(function).map(|found| found[1].to_owned()));
            }
        }
        codes
    }

    #[test]
    fn every_code_of_the_sources_is_explained() {
        let used = used();
        assert!(used.contains("damaged-identifier") && used.contains("copied-rows") && used.contains("sent-before"));
        let unexplained: Vec<&String> = used.iter().filter(|code| explain_code(code).is_none()).collect();
        assert!(unexplained.is_empty(), "missing in codes.toml: {unexplained:?}");
    }

    #[test]
    fn codes_are_explained_once_and_in_full() {
        let codes: Vec<&ExplainedCode> = codes().collect();
        let unique: BTreeSet<&str> = codes.iter().map(|explanation| explanation.code.as_str()).collect();
        assert_eq!(unique.len(), codes.len(), "a code stands twice");
        for ExplainedCode { code, cause, example, remedy, supplier } in codes {
            assert!(supplier.is_some(), "{code}: say in codes.toml what a supplier sees of it");
            for text in [cause, example, remedy] {
                assert!(text.ends_with('.') && text.matches('`').count() % 2 == 0, "{code}: {text}");
            }
        }
    }
}
