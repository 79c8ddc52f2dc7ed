//! The explanations of the codes of problems and warnings.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use sheetport_findings::{Asks, Code, Group};

use super::Language;

/// What a code means. Backticks enclose words of a template or a command line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// A few words, for a list of causes.
    pub title: String,
    pub cause: String,
    pub example: String,
    pub remedy: String,
}

/// The explanations in one language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Titles by the name of the group.
    groups: HashMap<String, String>,
    questions: Questions,
    codes: HashMap<Code, Explanation>,
}

/// What a question holds back, and how it is answered. `{code}` stands for its code.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Questions {
    row: String,
    file: String,
}

static ENGLISH: LazyLock<File> = LazyLock::new(|| {
    toml::from_str(include_str!("en/codes.toml")).expect("the file is compiled in, and a test parses it")
});
static GERMAN: LazyLock<File> = LazyLock::new(|| {
    toml::from_str(include_str!("de/codes.toml")).expect("the file is compiled in, and a test parses it")
});

impl Language {
    fn explanations(self) -> &'static File {
        if self.is_english() { &ENGLISH } else { &GERMAN }
    }

    /// Returns the explanation of a code.
    pub fn explanation(self, code: Code) -> &'static Explanation {
        self.explanations().codes.get(&code).expect("the file is compiled in, and a test parses it")
    }

    /// Returns what a question holds back, and how it is answered.
    pub fn question(self, asks: Asks, code: Code) -> String {
        let Questions { row, file } = &self.explanations().questions;
        let text = match asks {
            Asks::Row => row,
            Asks::File => file,
        };
        text.replace("{code}", code.name())
    }

    /// Returns the title of a group of codes.
    pub fn group_title(self, group: Group) -> &'static str {
        self.explanations().groups.get(group.name()).expect("the file is compiled in, and a test parses it")
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Set to rewrite docs/problems.md.
    const UPDATE: &str = "SHEETPORT_UPDATE_DOCS";

    fn page() -> String {
        let mut page = String::from(
            "# Problems and warnings\n\n\
             <!-- Generated from crates/language/src/en/codes.toml: SHEETPORT_UPDATE_DOCS=1 cargo test -p sheetport-language -->\n\n\
             Every problem has a code: `check` and `upload` name it below the problems, and with `--json` it is `code`. `sheetport help \
             CODE` shows the words of this page. A problem keeps its row from being sent; a warning does not, unless `--strict` is \
             given. A [question](judging.md#questions-and-answers) holds its row or the file back until it is answered.\n",
        );
        let english = Language::default();
        for group in Group::ALL {
            let _ = write!(page, "\n## {}\n", english.group_title(*group));
            for code in group.codes() {
                let Explanation { cause, example, remedy, .. } = english.explanation(*code);
                let _ = write!(page, "\n### {code}\n\n{cause}\n\n- Example: {example}\n- Remedy: {remedy}\n");
                if let Some(asks) = code.asks() {
                    let _ = writeln!(page, "- Question: {}", english.question(asks, *code));
                }
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
        assert!(stored == page(), "docs/problems.md is out of date: {UPDATE}=1 cargo test -p sheetport-language");
    }

    #[test]
    fn every_language_explains_every_code() {
        for language in [Language::default(), Language::of("de")] {
            let file = language.explanations();
            let missing: Vec<_> = Code::ALL.iter().filter(|code| !file.codes.contains_key(code)).collect();
            assert!(missing.is_empty(), "{language:?}: {missing:?}");
            // A misspelt name is read as another code.
            assert_eq!(file.codes.len(), Code::ALL.len(), "{language:?}");
            assert!(Group::ALL.iter().all(|group| file.groups.contains_key(group.name())), "{language:?}");
            for (code, Explanation { title, cause, example, remedy }) in &file.codes {
                assert!(!title.is_empty() && !title.ends_with('.'), "{language:?} {code}: {title}");
                for text in [cause, example, remedy] {
                    assert!(text.ends_with('.') && text.matches('`').count() % 2 == 0, "{language:?} {code}: {text}");
                }
            }
        }
    }
}
