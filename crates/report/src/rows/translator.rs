//! Problems in the language of a report, or of a browser.

use std::collections::HashMap;

use sheetport_findings::Code;
use sheetport_language::Language;
use sheetport_ledger::Problem;

use super::records::RecordResult;

/// Maximum number of remembered texts. Most problems of a sheet have the same few messages.
const MAX_KNOWN: usize = 4_000;
/// Maximum length of a remembered text, in bytes.
const MAX_TEXT: usize = 500;
/// The beginnings of Sheetport's own sentences about an answer. Other messages are the service's.
const ABOUT_ANSWERS: [&str; 5] =
    ["the service ", "the answer ", "an earlier request ", "no request for this record ", "… and "];

/// Translates problems, and remembers the translations.
pub struct Translator {
    language: Language,
    known: HashMap<String, String>,
}

impl Translator {
    pub fn new(language: Language) -> Translator {
        Translator { language, known: HashMap::new() }
    }

    /// Returns whether a record has texts to translate.
    pub(super) fn concerns(&self, record: &RecordResult) -> bool {
        let has_texts = !record.outcome.problems.is_empty() || !record.warnings.is_empty();
        has_texts && !self.language.is_english()
    }

    /// Translates the problems and warnings of a record.
    pub(super) fn record(&mut self, record: &mut RecordResult) {
        let is_answered = record.outcome.is_answered();
        for problem in record.outcome.problems.iter_mut().chain(&mut record.warnings) {
            if problem.code == Code::Service && is_answered {
                problem.message = self.answer(&problem.message);
                problem.remedy = self.text(&problem.remedy);
            } else {
                self.problem(problem);
            }
        }
    }

    /// Translates the message and the remedy of a problem. Quoted values stay as they are.
    pub(super) fn problem(&mut self, problem: &mut Problem) {
        problem.message = self.text(&problem.message);
        problem.remedy = self.text(&problem.remedy);
    }

    /// Translates what Sheetport says about an answer. Messages of the service stay as they are.
    pub fn answer(&mut self, message: &str) -> String {
        if !ABOUT_ANSWERS.iter().any(|start| message.starts_with(start)) {
            return message.to_owned();
        }
        // The service's message is after the colon.
        let (own, of_service) = message.split_at(message.find(": ").unwrap_or(message.len()));
        format!("{}{of_service}", self.text(own))
    }

    /// Translates sentences.
    pub fn text(&mut self, english: &str) -> String {
        if let Some(known) = self.known.get(english) {
            return known.clone();
        }
        let translated = self.language.message(english).into_owned();
        if english.len() <= MAX_TEXT {
            if self.known.len() >= MAX_KNOWN {
                self.known.clear();
            }
            self.known.insert(english.to_owned(), translated.clone());
        }
        translated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_service_stay_and_others_are_translated() {
        for (message, expected) in [
            ("is blank", "is blank"),
            ("must not be longer than 50 characters", "must not be longer than 50 characters"),
            ("the service answered 500: is blank", "der Dienst hat mit 500 geantwortet: is blank"),
            ("… and 12 more messages of the service", "… und 12 weitere Meldungen des Dienstes"),
            (
                "the service refused the record without a reason",
                "der Dienst hat den Datensatz ohne Begründung abgelehnt",
            ),
        ] {
            assert_eq!(Translator::new(Language::of("de")).answer(message), expected);
        }
        let mut problem = Problem { value: "is blank".to_owned(), ..Problem::of_record(Code::Blank, "is blank") };
        Translator::new(Language::of("de")).problem(&mut problem);
        assert_eq!((problem.message.as_str(), problem.value.as_str()), ("ist leer", "is blank"));
        Translator::new(Language::default()).problem(&mut problem);
        assert_eq!(problem.message, "ist leer");
    }

    #[test]
    fn remembered_texts_are_bounded() {
        let mut translator = Translator::new(Language::of("de"));
        for number in 0..MAX_KNOWN + 10 {
            assert_eq!(translator.text(&format!("is more than {number}")), format!("ist größer als {number}"));
        }
        assert!(translator.known.len() <= MAX_KNOWN);
        translator.text(&"x".repeat(MAX_TEXT + 1));
        assert!(translator.known.len() <= MAX_KNOWN);
    }
}
