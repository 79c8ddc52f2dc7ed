//! The files of the page, embedded in the executable, and its translations.

use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sheetport_language::Language;
use sheetport_web::page;

use super::failure::Failure;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const TABLE: &str = "text/csv; charset=utf-8";
const WORDS: &str = "application/json";

macro_rules! assets {
    ($($name:literal $kind:expr;)+) => {
        /// The files of the page, with their media types.
        const FILES: &[(&str, &str, &str)] = &[$(($name, $kind, include_str!(concat!("../page/", $name)))),+];
    };
}

assets! {
    "index.html" HTML;
    "style.css" STYLE;
    "app.js" SCRIPT;
    "api.js" SCRIPT;
    "cells.js" SCRIPT;
    "fields.js" SCRIPT;
    "fixes.js" SCRIPT;
    "memory.js" SCRIPT;
    "numbers.js" SCRIPT;
    "questions.js" SCRIPT;
    "refused.js" SCRIPT;
    "rows.js" SCRIPT;
    "saving.js" SCRIPT;
    "dom.js" SCRIPT;
    "words.js" SCRIPT;
    "grid.js" SCRIPT;
    "history.js" SCRIPT;
    "nightly.js" SCRIPT;
    "outcome.js" SCRIPT;
    "step_file.js" SCRIPT;
    "step_columns.js" SCRIPT;
    "step_problems.js" SCRIPT;
    "step_changes.js" SCRIPT;
    "step_send.js" SCRIPT;
    "undo.js" SCRIPT;
    "work.js" SCRIPT;
    "login.js" SCRIPT;
    "sample.csv" TABLE;
}

/// Translations of the page by language. The first is the default.
const LANGUAGES: &[(&str, &str)] =
    &[("en", include_str!("../page/words/en.json")), ("de", include_str!("../page/words/de.json"))];

/// Environment variable of debug builds: a folder to read the files from, to try changes without building.
#[cfg(debug_assertions)]
const FOLDER: &str = "SHEETPORT_REVIEW_PAGE";

pub(crate) async fn index() -> Response {
    file("index.html")
}

pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    file(&name)
}

fn file(name: &str) -> Response {
    let Some((_, kind, text)) = FILES.iter().find(|(known, ..)| *known == name) else {
        return Failure::not_found("there is no such file").into_response();
    };
    page(changed(name).unwrap_or(text), kind)
}

/// Returns the words in the language of the browser.
pub(crate) async fn words(headers: HeaderMap) -> Response {
    let (language, text) = language_of(accepted(&headers));
    let mut response = page(changed(&format!("words/{language}.json")).unwrap_or(text), WORDS);
    if let Ok(language) = language.parse() {
        response.headers_mut().insert(header::CONTENT_LANGUAGE, language);
    }
    response
}

/// Returns the language of the browser, for what the program says.
pub(crate) fn language(headers: &HeaderMap) -> Language {
    Language::of(language_of(accepted(headers)).0)
}

fn accepted(headers: &HeaderMap) -> &str {
    headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Returns the first available language of an `Accept-Language` list such as `de-AT,de;q=0.9,en;q=0.8`.
fn language_of(accepted: &str) -> (&'static str, &'static str) {
    let mut wanted: Vec<(&str, f32)> = accepted
        .split(',')
        .map(|part| {
            let (language, quality) = part.split_once(";q=").unwrap_or((part, "1"));
            (language.trim(), quality.trim().parse().unwrap_or(0.0))
        })
        .collect();
    wanted.sort_by(|one, other| other.1.total_cmp(&one.1));
    let known = |language: &str| {
        let language = language.split('-').next().unwrap_or_default();
        LANGUAGES.iter().find(|(known, _)| known.eq_ignore_ascii_case(language))
    };
    wanted.iter().find_map(|(language, _)| known(language)).copied().unwrap_or(LANGUAGES[0])
}

/// Reads a file from the folder named by [`FOLDER`]. Returns `None` if the variable is not set.
#[cfg(debug_assertions)]
fn changed(name: &str) -> Option<&'static str> {
    let folder = std::env::var_os(FOLDER)?;
    let text = std::fs::read_to_string(std::path::Path::new(&folder).join(name)).ok()?;
    // A trial of a few pages does not fill the memory.
    Some(Box::leak(text.into_boxed_str()))
}

#[cfg(not(debug_assertions))]
fn changed(_: &str) -> Option<&'static str> {
    None
}

/// Answers requests for unknown paths.
pub(crate) async fn not_found() -> Response {
    Failure::new(StatusCode::NOT_FOUND, "there is no such page").into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value};

    use super::*;

    #[test]
    fn the_language_of_the_browser_is_chosen() {
        for (accepted, language) in [
            ("de-AT,de;q=0.9,en;q=0.8", "de"),
            ("fr-FR,fr;q=0.9,de;q=0.5,en;q=0.7", "en"),
            ("EN-gb", "en"),
            ("ja", "en"),
            ("", "en"),
        ] {
            assert_eq!(language_of(accepted).0, language, "{accepted}");
        }
    }

    #[test]
    fn every_language_has_the_same_words() {
        let keys = |text: &str| -> BTreeSet<String> {
            let words: Map<String, Value> = serde_json::from_str(text).expect("JSON");
            words.into_iter().map(|(key, _)| key).collect()
        };
        let (_, english) = LANGUAGES[0];
        for (language, text) in LANGUAGES {
            let (ours, theirs) = (keys(english), keys(text));
            assert_eq!(ours.symmetric_difference(&theirs).collect::<Vec<_>>(), [""; 0], "{language}");
        }
    }
}
