//! Locales. The locale determines the decimal separator, and no other formats.

/// Languages with a decimal comma.
const COMMA: &[&str] = &[
    "bg", "cs", "da", "de", "el", "es", "fi", "fr", "hu", "id", "it", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "sv",
    "tr", "uk",
];
/// Languages with a decimal point, and regions that differ from their language.
const POINT: &[&str] = &["en", "he", "ja", "ko", "th", "zh", "de-ch", "it-ch", "es-mx"];

/// Returns whether a locale such as `de` or `de-AT` has a decimal comma, or `None` for an unknown locale.
pub fn has_decimal_comma(name: &str) -> Option<bool> {
    let name = name.replace('_', "-").to_ascii_lowercase();
    let known = |name: &str| match (POINT.contains(&name), COMMA.contains(&name)) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    };
    known(&name).or_else(|| name.split_once('-').and_then(|(language, _)| known(language)))
}

#[cfg(test)]
mod tests {
    use super::has_decimal_comma;

    #[test]
    fn regions_take_precedence_over_languages() {
        for (name, comma) in [
            ("de", Some(true)),
            ("de-AT", Some(true)),
            ("de_CH", Some(false)),
            ("EN-gb", Some(false)),
            ("es-MX", Some(false)),
            ("xx", None),
            ("", None),
        ] {
            assert_eq!(has_decimal_comma(name), comma, "{name}");
        }
    }
}
