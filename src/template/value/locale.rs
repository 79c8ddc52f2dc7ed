//! Number separators by locale, as data.

/// The separators of a group of locales.
#[derive(Debug)]
pub struct Separators {
    pub names: &'static [&'static str],
    pub decimal: char,
    /// Group separators. No-break spaces and apostrophes are accepted in every locale.
    pub group: &'static [char],
    /// Whether digits before the last three form groups of two: `1,23,456`.
    pub lakh: bool,
}

pub type Locale = &'static Separators;

/// Spaces between groups of digits. The plain space comes first.
pub(super) const SPACES: &[char] = &[' ', '\u{a0}', '\u{202f}', '\u{2009}', '\u{2007}'];

pub(super) const APOSTROPHES: &[char] = &['\'', '’'];

/// The separators of Arabic script in all locales.
pub(super) static ARABIC: Separators = Separators { names: &[], decimal: '٫', group: &['٬'], lakh: false };

/// All supported locales.
pub static LOCALES: &[Separators] = &[
    Separators {
        names: &[
            "en", "ja", "zh", "ko", "he", "th", "ms", "es-MX", "es-US", "es-GT", "es-HN", "es-NI", "es-PA", "es-PE",
            "es-PR", "es-SV", "es-DO",
        ],
        decimal: '.',
        group: &[','],
        lakh: false,
    },
    Separators { names: &["en-IN", "hi", "bn", "ta", "te", "gu"], decimal: '.', group: &[','], lakh: true },
    Separators {
        names: &["de", "es", "it", "nl", "pt", "da", "tr", "id", "el", "ro", "hr", "sl", "sr", "is", "vi"],
        decimal: ',',
        group: &['.'],
        lakh: false,
    },
    Separators {
        names: &["fr", "sv", "nb", "fi", "pl", "cs", "sk", "hu", "ru", "uk", "bg", "lt", "lv", "et"],
        decimal: ',',
        group: SPACES,
        lakh: false,
    },
    Separators { names: &["de-CH", "de-LI", "it-CH"], decimal: '.', group: APOSTROPHES, lakh: false },
    Separators { names: &["de-AT", "pt-PT"], decimal: ',', group: &['.', ' '], lakh: false },
];

/// Looks up a locale by name, or else by language: `de` for `de-DE`.
pub(crate) fn find(name: &str) -> Option<Locale> {
    let exact =
        |name: &str| LOCALES.iter().find(|locale| locale.names.iter().any(|known| known.eq_ignore_ascii_case(name)));
    let name = name.replace('_', "-");
    exact(&name).or_else(|| name.split_once('-').and_then(|(language, _)| exact(language)))
}

/// Returns the names of all locales.
pub(crate) fn names() -> Vec<&'static str> {
    LOCALES.iter().flat_map(|locale| locale.names.iter().copied()).collect()
}
