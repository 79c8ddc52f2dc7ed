//! The texts of the page and of its script. Both say them in English: `say("{0} of {1} shown", …)`.

use std::collections::BTreeMap;

use minijinja::value::{Rest, Value};
use minijinja::{AutoEscape, Environment, HtmlEscape};
use sheetport_language::Language;

/// Begins a text in the script. Ends at the next quotation mark.
const SAY: &str = "say(\"";

/// Returns the texts of a script, in English and as in the catalogue. Empty for English.
pub(super) fn of_script(script: &'static str, language: Language) -> BTreeMap<&'static str, &'static str> {
    let Some(catalogue) = language.catalogue() else { return BTreeMap::new() };
    let texts = script.split(SAY).skip(1).filter_map(|rest| rest.split_once('"'));
    texts.filter_map(|(english, _)| Some((english, catalogue.pattern(english)?))).collect()
}

/// Renders a template in a language. Inserted values are escaped.
pub(super) fn render(
    name: &str,
    template: &str,
    values: Value,
    language: Language,
) -> Result<String, minijinja::Error> {
    let mut environment = Environment::empty();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_function("say", move |english: String, values: Rest<Value>| {
        Value::from_safe_string(filled(language.label(&english), &values))
    });
    environment.add_function("strong", |text: Value| element("strong", &text));
    environment.add_function("bdi", |text: Value| element("bdi", &text));
    environment.render_named_str(name, template, values)
}

/// Returns a pattern of the catalogue with its values, escaped.
fn filled(pattern: &str, values: &[Value]) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let (place, after) = after.split_once('}').expect("braces of the catalogue are closed");
        text.push_str(before);
        text.extend(place.parse().ok().and_then(|place: usize| values.get(place)).map(escaped));
        rest = after;
    }
    text + rest
}

fn element(tag: &str, text: &Value) -> Value {
    Value::from_safe_string(format!("<{tag}>{}</{tag}>", escaped(text)))
}

fn escaped(value: &Value) -> String {
    let text = value.to_string();
    if value.is_safe() { text } else { HtmlEscape(&text).to_string() }
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::*;

    #[test]
    fn values_are_escaped_once_and_may_look_like_places() {
        let template = "{{ say('{0} of {1} shown', strong(many), all) }}|{{ say('Next') }}|{{ bdi('&') }}";
        let values = context! { many => "{1}<", all => "{0}&" };
        let rendered = |language| render("page.html", template, values.clone(), language).expect("a template");
        assert_eq!(rendered(Language::default()), "<strong>{1}&lt;</strong> of {0}&amp; shown|Next|<bdi>&amp;</bdi>");
        assert_eq!(
            rendered(Language::of("de")),
            "<strong>{1}&lt;</strong> von {0}&amp; angezeigt|Weiter|<bdi>&amp;</bdi>"
        );
    }

    #[test]
    fn a_script_gets_the_texts_that_it_says() {
        let script = "say(\"Next\") + other(\"Copy\") + say(\"{0} of {1} shown\", a, b)";
        let texts = of_script(script, Language::of("de"));
        assert_eq!(
            texts.into_iter().collect::<Vec<_>>(),
            [("Next", "Weiter"), ("{0} of {1} shown", "{0} von {1} angezeigt")]
        );
        assert!(of_script(script, Language::default()).is_empty());
    }
}
