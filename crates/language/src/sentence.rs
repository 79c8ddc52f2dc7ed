//! Sentences with values: `{0} can't be read: {1}`.

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// A value, or several without text between them, in order.
    Values(Vec<String>),
    /// A value that is a word of the catalogue: `{0!}`.
    Word(String),
    /// Singular or plural, by the number at the start of a value: `{0|row|rows}`.
    Form {
        value: String,
        one: String,
        many: String,
    },
}

/// Splits a sentence at its values. Values of a format have names such as `path`, or are counted: `{}`, `{:>3}`. `{{` is a
/// brace.
pub(super) fn parts(sentence: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut counted = 0;
    let mut rest = sentence;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let brace = &rest[at..];
        let end = brace.find('}').filter(|_| brace.starts_with('{') && !brace.starts_with("{{"));
        let Some(end) = end else {
            text.push_str(&brace[..1]);
            rest = &brace[brace.len().min(2)..];
            continue;
        };
        let inner = &brace[1..end];
        rest = &brace[end + 1..];
        let forms: Vec<&str> = inner.split('|').collect();
        if let [value, one, many] = forms.as_slice() {
            push_text(&mut parts, &mut text);
            parts.push(Part::Form { value: (*value).to_owned(), one: (*one).to_owned(), many: (*many).to_owned() });
            continue;
        }
        if let Some(value) = inner.strip_suffix('!') {
            push_text(&mut parts, &mut text);
            parts.push(Part::Word(value.to_owned()));
            continue;
        }
        let (name, format) = inner.split_once(':').unwrap_or((inner, ""));
        // `{strong:#}` ends a style, and is another value than `{strong}`.
        let mut name = if format == "#" { format!("{name}:#") } else { name.to_owned() };
        if name.is_empty() {
            name = counted.to_string();
            counted += 1;
        }
        match parts.last_mut() {
            Some(Part::Values(names)) if text.is_empty() => names.push(name),
            _ => {
                push_text(&mut parts, &mut text);
                parts.push(Part::Values(vec![name]));
            }
        }
    }
    text.push_str(rest);
    push_text(&mut parts, &mut text);
    parts
}

fn push_text(parts: &mut Vec<Part>, text: &mut String) {
    if !text.is_empty() {
        parts.push(Part::Text(std::mem::take(text)));
    }
}

/// Returns a sentence with `{}` for each value.
pub(super) fn key(parts: &[Part]) -> String {
    let mut key = String::new();
    for part in parts {
        match part {
            Part::Text(text) => key.push_str(&text.replace('{', "{{").replace('}', "}}")),
            Part::Values(names) => names.iter().for_each(|_| key.push_str("{}")),
            Part::Word(_) | Part::Form { .. } => {}
        }
    }
    key
}

/// Returns the values of a text made from the sentence, or `None` for other texts. Values are as short as possible.
pub(super) fn values<'t>(parts: &[Part], text: &'t str) -> Option<Vec<&'t str>> {
    let mut found = Vec::new();
    matches(parts, text, &mut found).then_some(found)
}

fn matches<'t>(parts: &[Part], text: &'t str, found: &mut Vec<&'t str>) -> bool {
    match parts {
        [] => text.is_empty(),
        [Part::Text(expected), rest @ ..] => {
            text.strip_prefix(expected.as_str()).is_some_and(|text| matches(rest, text, found))
        }
        [_] => {
            found.push(text);
            true
        }
        [_, rest @ ..] => {
            let Some(Part::Text(next)) = rest.first() else { return false };
            // The last text stands at the end.
            if rest.len() == 1 {
                return text.strip_suffix(next.as_str()).is_some_and(|value| {
                    found.push(value);
                    true
                });
            }
            let known = found.len();
            for (at, _) in text.match_indices(next.as_str()) {
                found.push(&text[..at]);
                if matches(rest, &text[at..], found) {
                    return true;
                }
                found.truncate(known);
            }
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_between_the_texts() {
        for (sentence, text, expected) in [
            ("{path} can't be read: {0}", "a.csv can't be read: it is empty", Some(vec!["a.csv", "it is empty"])),
            ("row {n:>3}", "row  12", Some(vec![" 12"])),
            ("'{}' is not {}", "'a' is not b' is not c", Some(vec!["a", "b' is not c"])),
            ("{a}{b} of {}", "xy of 3", Some(vec!["xy", "3"])),
            ("{a} and {b}.", "1 and 2 and 3.", Some(vec!["1", "2 and 3"])),
            ("map = {{ a = {} }}", "map = { a = 1 }", Some(vec!["1"])),
            ("nothing", "nothing", Some(vec![])),
            ("nothing", "nothing more", None),
            ("{} is blank", "x is not", None),
        ] {
            assert_eq!(values(&parts(sentence), text), expected, "{sentence}");
        }
    }

    #[test]
    fn keys_do_not_depend_on_names() {
        assert_eq!(key(&parts("{path:?} has {n:>3} of {{ }} in {strong}{}{strong:#}")), "{} has {} of {{ }} in {}{}{}");
    }
}
