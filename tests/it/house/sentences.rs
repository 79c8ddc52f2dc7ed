//! The sentences in the sources that people may read.

use std::collections::BTreeSet;

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

use super::source;

/// Macros whose first string is a format.
const FORMATS: [&str; 8] = ["format", "format_args", "write", "writeln", "say", "say_in", "print", "println"];
/// Macros for programmers and for the log, which is in English.
const NOT_READ: [&str; 14] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "panic",
    "unreachable",
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "event",
    "include_str",
    "env",
];

/// A sentence with its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sentence {
    pub file: String,
    /// The text, with `{}` for each value, and braces doubled.
    pub text: String,
    /// Whether it must be translated. Other texts are single words, of which many are names and codes.
    pub is_prose: bool,
}

/// Returns the sentences of all files.
pub fn all() -> BTreeSet<Sentence> {
    let mut found = BTreeSet::new();
    for name in super::sources() {
        if name.ends_with("/tests.rs") || name.contains("/tests/") {
            continue;
        }
        found.extend(of(&name, &syn::parse_file(&super::read(&name)).unwrap()));
    }
    found
}

fn of(file: &str, parsed: &syn::File) -> Vec<Sentence> {
    let mut collector = Collector { found: Vec::new() };
    collector.visit_file(parsed);
    let sentence = |(text, is_prose)| Sentence { file: file.to_owned(), text, is_prose };
    collector.found.into_iter().map(sentence).collect()
}

struct Collector {
    found: Vec<(String, bool)>,
}

impl Collector {
    /// Adds the paragraphs of a text.
    fn add(&mut self, text: String, is_told: bool) {
        for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.starts_with("Examples:")) {
            let is_prose = is_prose(paragraph) || is_told && has_letters(paragraph);
            self.found.push((paragraph.to_owned(), is_prose));
        }
    }

    fn add_format(&mut self, text: &str, is_told: bool) {
        self.add(normal(text), is_told);
    }

    fn add_macro(&mut self, call: &syn::Macro) {
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if NOT_READ.contains(&name.as_str()) {
            return;
        }
        let parser = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        let Ok(arguments) = parser.parse2(call.tokens.clone()) else { return };
        let mut is_format = FORMATS.contains(&name.as_str());
        for argument in &arguments {
            match string(argument) {
                Some(text) if is_format => {
                    self.add_format(&text, name.starts_with("say"));
                    is_format = false;
                }
                _ => self.visit_expr(argument),
            }
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("error")
            && let syn::Meta::List(list) = &attribute.meta
        {
            let parser = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
            // Arguments such as `.0` are no expressions; the sentence comes first in any case.
            let arguments = parser.parse2(list.tokens.clone()).unwrap_or_else(|_| {
                let first = list.tokens.clone().into_iter().take(1).collect();
                parser.parse2(first).unwrap_or_default()
            });
            for (place, argument) in arguments.iter().enumerate() {
                match string(argument) {
                    Some(text) if place == 0 => self.add_format(&text, true),
                    _ => self.visit_expr(argument),
                }
            }
        }
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !source::is_test(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !source::has_test_attribute(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.visit_expr(&call.receiver);
        if call.method != "expect" {
            call.args.iter().for_each(|argument| self.visit_expr(argument));
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.add_macro(call);
    }

    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        self.add(text.value().replace('{', "{{").replace('}', "}}"), false);
    }
}

fn string(expression: &syn::Expr) -> Option<String> {
    match expression {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Replaces each value of a format or of an entry by `{}`.
pub fn normal(format: &str) -> String {
    let mut normal = String::new();
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        normal.push_str(&rest[..at]);
        let doubled = rest[at..].starts_with("{{") || rest[at..].starts_with("}}");
        match rest[at..].find('}').filter(|_| !doubled && rest[at..].starts_with('{')) {
            Some(end) => {
                normal.push_str("{}");
                rest = &rest[at + end + 1..];
            }
            None => {
                normal.push_str(&rest[at..at + 2]);
                rest = &rest[at + 2..];
            }
        }
    }
    normal + rest
}

fn has_letters(text: &str) -> bool {
    text.split(|c: char| !c.is_alphabetic()).any(|word| word.len() > 1)
}

/// Returns whether a text has two words in a row, as sentences have, and is no SQL, no code and no address.
pub fn is_prose(text: &str) -> bool {
    const SQL: [&str; 18] = [
        "ATTACH ", "DETACH ", "SELECT ", "INSERT ", "UPDATE ", "DELETE ", "CREATE ", "PRAGMA ", "WITH ", "BEGIN",
        "DROP ", "ALTER ", "LOCK ", "VACUUM", "ANALYZE", "SET ", "FROM ", "WHERE ",
    ];
    let start = text.trim_start();
    const WITHIN: [&str; 4] = [" WHERE ", " AND seq >=", "ON CONFLICT", "id, state, command, record"];
    if SQL.iter().any(|word| start.starts_with(word)) || WITHIN.iter().any(|words| text.contains(words)) {
        return false;
    }
    let is_word = |word: &str| {
        let word = word.trim_end_matches([',', '.', ':', ';', '?', '!', ')']).trim_start_matches('(');
        word.len() > 1 && word.chars().all(|c| c.is_alphabetic() || c == '\'' || c == '-') || word == "a"
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).any(|pair| is_word(pair[0]) && is_word(pair[1]) && pair[1].starts_with(|c: char| c.is_lowercase()))
}

#[test]
fn sentences_are_found_in_formats_errors_and_texts() {
    let file = syn::parse_file(
        "#[derive(Error)] enum E { #[error(\"{path} can't be read: {0}\", x(\"a small part\"))] A(String) }\n\
         fn f() { g(\"a plain text\"); format!(\"row {n:>3} of {}\", 1); say!(\"Next\"); info!(\"a log line\"); h(\"word\"); }\n\
         fn q() { sqlx(\"SELECT a from b\"); x.expect(\"never seen here\"); y(\"with {braces} of text\") }\n\
         #[cfg(test)] mod tests { fn t() { g(\"only for tests\") } }",
    );
    let found: Vec<String> = of("x.rs", &file.unwrap())
        .into_iter()
        .filter(|sentence| sentence.is_prose)
        .map(|sentence| sentence.text)
        .collect();
    let expected = ["{} can't be read: {}", "a small part", "a plain text", "Next", "with {{braces}} of text"];
    assert_eq!(found, expected);
}
