//! The files with words: one for each language, the names of the fields, and the topics of other sheets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The languages in order of preference, for headers with the same name in several.
pub(crate) const LANGUAGES: [&str; 15] =
    ["en", "de", "fr", "es", "ja", "it", "pt", "nl", "pl", "cs", "sv", "tr", "ru", "zh", "ko"];

/// All files, read.
pub(crate) struct Files {
    pub(crate) fields: BTreeMap<String, KindWords>,
    pub(crate) languages: Vec<(&'static str, LanguageFile)>,
    pub(crate) topics: TopicsFile,
}

/// The names of a kind of record in `fields.toml`, which explains them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KindWords {
    pub(crate) fields: BTreeMap<String, FieldWords>,
    #[serde(default)]
    pub(crate) lines: BTreeMap<String, FieldWords>,
    pub(crate) group: Option<FieldWords>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FieldWords {
    pub(crate) names: Vec<String>,
    #[serde(default)]
    pub(crate) doubtful: Vec<String>,
    #[serde(default)]
    pub(crate) ruled_out_by: Vec<String>,
    pub(crate) modifiers: Vec<String>,
    pub(crate) values: String,
}

/// The file of a language; `en.toml` explains the lists.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub(crate) struct LanguageFile {
    pub(crate) articles: Vec<String>,
    pub(crate) small_words: Vec<String>,
    pub(crate) neutral_words: Vec<String>,
    pub(crate) other_topics: Vec<String>,
    pub(crate) withdrawn: Vec<String>,
    pub(crate) status_values: Vec<String>,
    pub(crate) payment_values: Vec<String>,
    pub(crate) placeholder_headers: Vec<String>,
    pub(crate) yes_no: Vec<(String, String)>,
    pub(crate) total_headers: Vec<String>,
    pub(crate) value_headers: Vec<String>,
    pub(crate) date_headers: Vec<String>,
    pub(crate) net_words: Vec<String>,
    pub(crate) gross_words: Vec<String>,
    /// Words by kind of record.
    pub(crate) record_words: BTreeMap<String, Vec<String>>,
    pub(crate) modifiers: BTreeMap<String, Vec<String>>,
    /// The lists of names, each by certainty in percent.
    pub(crate) names: BTreeMap<String, BTreeMap<u8, Vec<String>>>,
}

/// `other_sheets.toml`, which explains the keys.
#[derive(Deserialize)]
pub(crate) struct TopicsFile {
    pub(crate) summaries: BTreeMap<String, Vec<String>>,
    #[serde(flatten)]
    pub(crate) topics: BTreeMap<String, Topic>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Topic {
    pub(crate) plural: String,
    pub(crate) foreign_to: BTreeMap<String, Vec<String>>,
    pub(crate) certain: Option<usize>,
    #[serde(default = "half")]
    pub(crate) share: usize,
    pub(crate) words: BTreeMap<String, Vec<String>>,
}

fn half() -> usize {
    2
}

impl Files {
    /// Reads the files of the crate in `folder`.
    ///
    /// # Panics
    /// If a file is missing or has an unknown key: the build ends with its name.
    pub(crate) fn read(folder: &Path) -> Files {
        let language = |code: &'static str| (code, file(&folder.join("languages").join(format!("{code}.toml"))));
        Files {
            fields: file(&folder.join("fields.toml")),
            languages: LANGUAGES.into_iter().map(language).collect(),
            topics: file(&folder.join("other_sheets.toml")),
        }
    }

    /// Returns the files and folders that are read.
    #[allow(dead_code, reason = "only the build asks")]
    pub(crate) fn paths(folder: &Path) -> Vec<PathBuf> {
        ["fields.toml", "other_sheets.toml", "languages"].into_iter().map(|name| folder.join(name)).collect()
    }
}

fn file<T: DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
