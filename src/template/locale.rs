//! How people of a place write numbers, as data.

/// The separators of one locale.
#[derive(Debug)]
pub struct Separators {
    pub names: &'static [&'static str],
    pub decimal: char,
    pub group: &'static [char],
}

pub type Locale = &'static Separators;

const SPACES: &[char] = &[' ', '\u{a0}', '\u{202f}', '\u{2009}'];

/// Every locale that a template can name.
pub static LOCALES: &[Separators] = &[
    Separators { names: &["en", "ja", "zh", "ko", "he", "th"], decimal: '.', group: &[','] },
    Separators { names: &["de", "es", "it", "nl", "pt", "da", "tr", "id", "el"], decimal: ',', group: &['.'] },
    Separators {
        names: &["fr", "sv", "nb", "fi", "pl", "cs", "sk", "hu", "ru", "uk", "bg"],
        decimal: ',',
        group: SPACES,
    },
    Separators { names: &["de-CH", "it-CH"], decimal: '.', group: &['\'', '’'] },
    Separators { names: &["de-AT"], decimal: ',', group: &['.', ' ', '\u{a0}', '\u{202f}'] },
];

/// The locale of that name: `de-DE` is found by its own name, then as `de`.
pub fn find(name: &str) -> Option<Locale> {
    let exact =
        |name: &str| LOCALES.iter().find(|locale| locale.names.iter().any(|known| known.eq_ignore_ascii_case(name)));
    let name = name.replace('_', "-");
    exact(&name).or_else(|| name.split_once('-').and_then(|(language, _)| exact(language)))
}

pub fn names() -> Vec<&'static str> {
    LOCALES.iter().flat_map(|locale| locale.names.iter().copied()).collect()
}
