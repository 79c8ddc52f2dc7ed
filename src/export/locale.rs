//! Where people write a comma for the decimal point. That is all of a locale that a file of values needs: what came with
//! its digits keeps them, and dates stay as they were sent.

/// Languages with a comma.
const COMMA: &[&str] = &[
    "bg", "cs", "da", "de", "el", "es", "fi", "fr", "hu", "id", "it", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "sv",
    "tr", "uk",
];
/// Languages with a point, and places that differ from their language.
const POINT: &[&str] = &["en", "he", "ja", "ko", "th", "zh", "de-ch", "it-ch", "es-mx"];

/// Whether numbers have a comma in the locale of that name, such as `de` or `de-AT`; nothing for one that is not known.
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
    fn a_place_goes_before_its_language() {
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
