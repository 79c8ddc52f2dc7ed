//! The words of reports by language, in `report_words.toml`: titles of columns, states of rows and names of sheets. Reports are written
//! in the languages that have all of their texts, and read in each language that an earlier version has written.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

const ENGLISH: &str = "en";

static WORDS: LazyLock<BTreeMap<String, ReportWords>> = LazyLock::new(|| {
    let mut words: BTreeMap<String, ReportWords> =
        toml::from_str(include_str!("report_words.toml")).expect("the file is compiled in, and tests parse it");
    words.iter_mut().for_each(|(language, words)| words.language.clone_from(language));
    words
});

/// The words of a report.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ReportWords {
    #[serde(skip)]
    language: String,
    columns: BTreeMap<String, String>,
    states: BTreeMap<String, String>,
    /// Names of the summary sheet, in languages that have all texts of a report.
    summary: Option<[String; 2]>,
}

impl ReportWords {
    /// Returns the words of a language such as `de`, or English if not all texts of a report are known in the language.
    pub fn of(language: Option<&str>) -> &'static ReportWords {
        let english = || WORDS.get(ENGLISH).expect("the file has English words");
        language.and_then(|language| WORDS.get(language)).filter(|words| words.is_complete()).unwrap_or_else(english)
    }

    /// Returns the languages in which reports are written.
    pub fn languages() -> impl Iterator<Item = &'static str> {
        WORDS.iter().filter(|(_, words)| words.is_complete()).map(|(language, _)| language.as_str())
    }

    fn is_complete(&self) -> bool {
        self.summary.is_some()
    }

    /// Returns the language of the words, such as `de`.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// Returns the names of a workbook's summary sheet. The second is used if a sheet of rows has the first.
    pub fn summary_sheets(&self) -> [&str; 2] {
        self.summary.as_ref().expect("the words of a complete language").each_ref().map(String::as_str)
    }

    /// Returns whether a sheet has a name of a summary sheet in any language. Uploads skip this sheet of a report.
    pub fn is_summary_sheet(name: &str) -> bool {
        WORDS.values().filter_map(|words| words.summary.as_ref()).any(|names| names.iter().any(|known| known == name))
    }

    /// Returns the title of a column by its English title.
    pub fn title<'a>(&'a self, name: &'a str) -> &'a str {
        let plain = name.strip_prefix(super::RESERVED_PREFIX).unwrap_or(name);
        self.columns.get(plain).map_or(name, String::as_str)
    }

    /// Returns the word for a state by its English name.
    pub fn state<'a>(&'a self, name: &'a str) -> &'a str {
        self.states.get(name).map_or(name, String::as_str)
    }
}

/// Returns the English title of a report's column by its title in any language, or `None` for other columns.
pub(super) fn english_title(title: &str) -> Option<&str> {
    title.starts_with(super::RESERVED_PREFIX).then(|| {
        let name = WORDS.values().find_map(|words| key_of(&words.columns, title));
        name.map_or(title, |name| ReportWords::of(None).columns.get(name).expect("English has all titles"))
    })
}

/// Returns the English name of a state by its word in any language.
pub fn english_state(word: &str) -> Option<&'static str> {
    let word = word.trim();
    WORDS.values().find_map(|words| key_of(&words.states, word))
}

fn key_of<'a>(words: &'a BTreeMap<String, String>, wanted: &str) -> Option<&'a str> {
    words.iter().find(|(_, word)| *word == wanted).map(|(name, _)| name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_all_words_and_no_word_means_two_things() {
        let english = ReportWords::of(None);
        for (language, words) in &*WORDS {
            assert!(words.columns.keys().eq(english.columns.keys()), "{language}");
            assert!(words.states.keys().eq(english.states.keys()), "{language}");
            for (name, title) in &words.columns {
                assert_eq!(english_title(title), Some(english.columns[name].as_str()), "{language}: {title}");
            }
            for (name, word) in &words.states {
                assert_eq!(english_state(word), Some(name.as_str()), "{language}: {word}");
            }
        }
    }

    #[test]
    fn only_own_titles_and_states_are_translated() {
        assert_eq!(english_title("Status"), None);
        assert_eq!(english_title("sheetport_run"), Some("sheetport_run"));
        assert_eq!(ReportWords::of(Some("de")).title("sheetport_errors"), "sheetport_fehler");
        assert_eq!(ReportWords::of(Some("de")).title("sheetport_run"), "sheetport_run");
        assert_eq!(ReportWords::of(Some("xx")), ReportWords::of(None));
        assert_eq!(ReportWords::of(Some("de")).language(), "de");
        assert_eq!(ReportWords::of(Some("de")).summary_sheets(), ["Übersicht", "Bericht"]);
        assert_eq!(ReportWords::of(Some("fr")), ReportWords::of(None), "reasons are not known in French");
        assert_eq!(
            english_title("sheetport_erreurs"),
            Some("sheetport_errors"),
            "but reports of earlier versions are read"
        );
        assert_eq!(ReportWords::languages().collect::<Vec<_>>(), ["de", "en"]);
        assert!(ReportWords::is_summary_sheet("Bericht") && !ReportWords::is_summary_sheet("Artikel"));
        assert_eq!(english_state("anything"), None);
    }
}
