//! Every sentence that people may read is in each catalogue of `crates/language/src`, and each entry is in use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::pages;
use super::sentences::{self, normal};

/// The sentences that wait for their translation, one per line. Set the variable to write the list again.
const UNTRANSLATED: &str = "tests/it/house/untranslated.txt";
const UPDATE: &str = "SHEETPORT_UPDATE_UNTRANSLATED";
/// The file of a catalogue with sentences of the system and of libraries, which are not in the sources.
const FOREIGN: &str = "foreign.toml";
const WORDS: &str = "words.toml";
/// The file with the explanations of codes, by code; tests of `language` compare it with the table of codes.
const CODES: &str = "codes.toml";

/// What is not translated, with the reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exemptions {
    files: BTreeMap<String, Vec<String>>,
    texts: BTreeMap<String, Vec<String>>,
}

impl Exemptions {
    fn read() -> Exemptions {
        toml::from_str(&fs::read_to_string(root("tests/it/house/not_translated.toml")).unwrap()).unwrap()
    }

    fn has(&self, file: &str, text: &str) -> bool {
        self.files.values().flatten().any(|start| file.starts_with(start.as_str()))
            || self.texts.values().flatten().any(|known| known == text)
    }
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the entries of the German catalogue by file.
fn entries() -> BTreeMap<String, BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(root("crates/language/src/de")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name != WORDS && name != CODES {
            let text = fs::read_to_string(entry.path()).unwrap();
            files.insert(name.clone(), toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")));
        }
    }
    files
}

/// Returns a text of data as the key of an entry.
fn plain(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// Returns all sentences: of the sources, of the help, of the built-in templates and of the page of
/// reports.
fn sources() -> BTreeSet<sentences::Sentence> {
    let mut found = sentences::all();
    for name in pages::FILES {
        let sentence = |text: &&str| sentences::Sentence { file: name.to_owned(), text: normal(text), is_prose: true };
        found.extend(pages::texts(&pages::read(name)).iter().map(sentence));
    }
    let mut add = |file: &str, text: &str| {
        found.insert(sentences::Sentence { file: file.to_owned(), text: plain(text), is_prose: true });
    };
    for text in sheetport::cli::texts(sheetport::cli::command_in_english()) {
        add("help", &text);
    }
    for (name, source) in sheetport_mapping::builtin::BUILT_IN {
        let template: toml::Table = source.parse().unwrap();
        let tests =
            ["skip_where", "keep_where", "warn_where"].into_iter().filter_map(|key| template.get("sheet")?.get(key));
        let tests = tests.flat_map(|tests| tests.as_array().cloned().unwrap_or_else(|| vec![tests.clone()]));
        tests.filter_map(|test| test.get("because")?.as_str().map(str::to_owned)).for_each(|text| add(name, &text));
    }
    found
}

/// Returns the words of the catalogue that stand alone.
fn words() -> BTreeSet<String> {
    let text = fs::read_to_string(root("crates/language/src/de").join(WORDS)).unwrap();
    let tables: BTreeMap<String, BTreeMap<String, String>> = toml::from_str(&text).unwrap();
    tables["words"].keys().chain(tables["nouns"].keys()).cloned().collect()
}

#[test]
fn every_sentence_is_translated() {
    let (exempt, words) = (Exemptions::read(), words());
    let translated: BTreeSet<String> = entries().values().flat_map(BTreeMap::keys).map(|key| normal(key)).collect();
    let missing: BTreeSet<String> = sources()
        .into_iter()
        .filter(|sentence| sentence.is_prose && !exempt.has(&sentence.file, &sentence.text))
        .filter(|sentence| !translated.contains(&sentence.text) && !words.contains(&sentence.text))
        .map(|sentence| sentence.text.replace('\n', "\\n"))
        .collect();
    if std::env::var_os(UPDATE).is_some() {
        let lines: String = missing.iter().map(|text| format!("{text}\n")).collect();
        fs::write(root(UNTRANSLATED), lines).unwrap();
    }
    let listed = fs::read_to_string(root(UNTRANSLATED)).unwrap();
    let listed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    let new: Vec<&String> = missing.difference(&listed).collect();
    assert!(new.is_empty(), "add these to crates/language/src/de, \"English\" = \"German\": {new:#?}");
    let done: Vec<&String> = listed.difference(&missing).collect();
    assert!(
        done.is_empty(),
        "{UNTRANSLATED} lists sentences that are translated, or gone ({UPDATE}=1 writes it): {done:#?}"
    );
}

#[test]
fn every_translation_is_of_a_sentence() {
    let known: BTreeSet<String> = sources().into_iter().map(|sentence| sentence.text).collect();
    let files = entries();
    let own = files.iter().filter(|(name, _)| *name != FOREIGN).flat_map(|(_, entries)| entries.keys());
    let dead: Vec<&String> = own.filter(|key| !known.contains(&normal(key))).collect();
    assert!(dead.is_empty(), "no sentence of the sources, so remove or correct it: {dead:#?}");
}

#[test]
fn every_word_is_in_the_sources() {
    let mut texts = Vec::new();
    for folder in ["src", "crates"] {
        add_texts(&root(folder), &mut texts);
    }
    let dead: Vec<String> = words().into_iter().filter(|word| !texts.iter().any(|text| text.contains(word))).collect();
    assert!(dead.is_empty(), "in no source, so remove or correct it: {dead:?}");
}

/// Adds the texts of all files below a folder, except for the catalogues.
fn add_texts(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("language/src/de") {
            add_texts(&path, texts);
        } else if let Ok(text) = fs::read_to_string(&path) {
            texts.push(text);
        }
    }
}

#[test]
fn translations_have_the_values_of_their_sentences() {
    let mut seen = BTreeSet::new();
    for (english, german) in entries().values().flatten() {
        assert!(seen.insert(normal(english)), "twice: {english}");
        let (wanted, found) = (names(english), names(german));
        let unknown: Vec<&String> = found.difference(&wanted).collect();
        // A value such as the ending of a plural has no place in the translation: `{_s}`.
        let left_out: Vec<&String> = wanted.difference(&found).filter(|name| !name.starts_with('_')).collect();
        assert!(
            unknown.is_empty() && left_out.is_empty(),
            "{english}\n{german}\nunknown {unknown:?}, left out {left_out:?}"
        );
        assert!(!german.trim().is_empty(), "{english}");
    }
}

/// Returns the names of the values of an entry.
fn names(entry: &str) -> BTreeSet<String> {
    let text = entry.replace("{{", "").replace("}}", "");
    let inner = text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(inner, _)| inner);
    inner.map(|inner| inner.split('|').next().unwrap().trim_end_matches('!').to_owned()).collect()
}

#[test]
fn exempt_files_and_texts_exist() {
    let exempt = Exemptions::read();
    let sources = sources();
    for start in exempt.files.values().flatten() {
        assert!(sources.iter().any(|sentence| sentence.file.starts_with(start.as_str())), "no sentence in {start}");
    }
    for text in exempt.texts.values().flatten() {
        assert!(sources.iter().any(|sentence| sentence.text == *text), "no sentence: {text}");
    }
}
