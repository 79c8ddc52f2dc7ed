//! How people of a place write numbers, as data.

/// The separators of one locale.
#[derive(Debug)]
pub struct Separators {
    pub names: &'static [&'static str],
    pub decimal: char,
    /// Besides these, no-break spaces and apostrophes between groups are understood everywhere.
    pub group: &'static [char],
    /// Groups of two before the last three digits: 1,23,456.
    pub lakh: bool,
}

pub type Locale = &'static Separators;

/// White space that stands between groups of digits, the plain space first.
pub const SPACES: &[char] = &[' ', '\u{a0}', '\u{202f}', '\u{2009}', '\u{2007}'];

pub const APOSTROPHES: &[char] = &['\'', '’'];

/// Numbers in Arabic script have separators of their own, which mean the same everywhere.
pub static ARABIC: Separators = Separators { names: &[], decimal: '٫', group: &['٬'], lakh: false };

/// Every locale that a template can name.
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
