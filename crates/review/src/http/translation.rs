//! The program's own words in a response, in the language of the browser. Codes, values of the file and messages of the service stay
//! as they are.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use serde_json::Value;
use sheetport_findings::Code;
use sheetport_language::Language;
use sheetport_report::Translator;

use super::assets;
use super::json::Content;

/// The fields with sentences of the program.
const SENTENCES: [&str; 15] = [
    "message",
    "hint",
    "remedy",
    "reason",
    "warnings",
    "notes",
    "stopped",
    "stopped_hint",
    "report_error",
    "why",
    "why_not",
    "damage",
    "failed",
    "remaining",
    "obstacles",
];
/// The field with a description of a field of the service.
const DESCRIPTION: &str = "doc";
/// The field with the title of the code beside it.
const TITLE: &str = "title";
/// The fields that may have a message of the service, if the code beside them says so.
const OF_SERVICE: [&str; 2] = ["message", "why"];
/// The field with the converted values of a row: the column, the value or the error, and whether the conversion failed.
const AS_READ: &str = "v";

/// Writes the JSON of a response in the language of the browser.
pub(crate) async fn in_language_of_browser(request: Request, next: Next) -> Response {
    let language = assets::language(request.headers());
    let mut response = next.run(request).await;
    if let Some(Content(value)) = response.extensions_mut().remove() {
        // The length is that of the empty body.
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = Body::from(translated(value, language).to_string());
    }
    response
}

/// Translates the sentences of a response.
pub(crate) fn translated(mut value: Value, language: Language) -> Value {
    if !language.is_english() {
        Translation { language, translator: Translator::new(language) }.value(&mut value);
    }
    value
}

struct Translation {
    language: Language,
    translator: Translator,
}

impl Translation {
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(fields) => {
                let code = fields.get("code").and_then(Value::as_str).and_then(Code::named);
                let is_of_service = code == Some(Code::Service);
                for (name, value) in fields {
                    match (name.as_str(), value) {
                        (name, Value::String(text)) if is_of_service && OF_SERVICE.contains(&name) => {
                            *text = self.translator.answer(text);
                        }
                        (TITLE, Value::String(text)) if let Some(code) = code => {
                            text.clone_from(&self.language.explanation(code).title);
                        }
                        (DESCRIPTION, Value::String(text)) => *text = self.language.label(text).to_owned(),
                        (AS_READ, Value::Array(values)) => values.iter_mut().for_each(|value| self.as_read(value)),
                        (name, value) if SENTENCES.contains(&name) => self.sentences(value),
                        (_, value) => self.value(value),
                    }
                }
            }
            _ => {}
        }
    }

    /// Translates a sentence, or a list of sentences.
    fn sentences(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.sentences(item)),
            value => self.value(value),
        }
    }

    fn as_read(&mut self, value: &mut Value) {
        if let Some([_, Value::String(text), Value::Bool(true)]) = value.as_array_mut().map(Vec::as_mut_slice) {
            *text = self.text(text);
        }
    }

    fn text(&mut self, english: &str) -> String {
        // An error in a file shows its lines.
        if english.contains('\n') { self.language.lines(english) } else { self.translator.text(english) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_words_of_the_program_are_translated() {
        let english = json!({
            "causes": [
                {"code": "blank", "message": "is blank", "remedy": "fill in the cell", "value": "is blank"},
                {"code": "service", "message": "is blank", "remedy": "fill in the cell"},
                {"code": "service", "message": "the service answered 500: is blank", "remedy": null},
            ],
            "counts": {"failed": 3},
            "fields": [{"name": "price", "doc": "selling price"}],
            "notes": ["is blank", "unheard of"],
            "rows": [{"n": 1, "c": ["is blank"], "v": [[0, "is blank", true], [1, "is blank", false]]}],
        });
        let german = json!({
            "causes": [
                {"code": "blank", "message": "ist leer", "remedy": "die Zelle ausfüllen", "value": "is blank"},
                {"code": "service", "message": "is blank", "remedy": "die Zelle ausfüllen"},
                {"code": "service", "message": "der Dienst hat mit 500 geantwortet: is blank", "remedy": null},
            ],
            "counts": {"failed": 3},
            "fields": [{"name": "price", "doc": "Verkaufspreis"}],
            "notes": ["ist leer", "unheard of"],
            "rows": [{"n": 1, "c": ["is blank"], "v": [[0, "ist leer", true], [1, "is blank", false]]}],
        });
        assert_eq!(translated(english.clone(), Language::of("de")), german);
        assert_eq!(translated(english.clone(), Language::default()), english);
    }
}
