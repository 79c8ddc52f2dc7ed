//! Code pages of DOS, missing in the standard of web encodings, and the evidence for them and for Mac Roman in a text.

use encoding_rs::{Encoding, MACINTOSH};
use yore::code_pages::{CP437, CP850, CP852};

/// Minimum number of letters within words as evidence.
const MIN_LETTERS: usize = 3;
/// Signs that occur within words in other encodings as well: apostrophes, dashes, and marks after names.
const SIGNS_WITHIN_WORDS: &str = "’‘´·–—\u{a0}\u{ad}®™°²³";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodePage {
    Ibm437,
    Ibm850,
    Ibm852,
    MacRoman,
}

impl CodePage {
    /// In order of preference for equal readings of a text.
    pub(super) const ALL: [CodePage; 4] = [CodePage::Ibm850, CodePage::Ibm852, CodePage::Ibm437, CodePage::MacRoman];

    pub(super) fn name(self) -> &'static str {
        match self {
            CodePage::Ibm437 => "IBM437",
            CodePage::Ibm850 => "IBM850",
            CodePage::Ibm852 => "IBM852",
            CodePage::MacRoman => MACINTOSH.name(),
        }
    }

    pub(super) fn decode(self, byte: u8) -> char {
        match self {
            _ if byte.is_ascii() => char::from(byte),
            CodePage::Ibm437 => CP437.decode_byte(byte),
            CodePage::Ibm850 => CP850.decode_byte(byte),
            CodePage::Ibm852 => CP852.decode_byte(byte),
            CodePage::MacRoman => decoded(MACINTOSH, byte).unwrap_or(char::REPLACEMENT_CHARACTER),
        }
    }
}

/// Evidence for a code page of DOS in the letters of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// No evidence against the other encoding.
    None,
    /// The text is in this page, or in one of several with the same reading.
    Page(CodePage),
    /// The text is probably not in the other encoding, but no page is certain.
    Unclear,
}

/// Examines a text that seemed to be in the single-byte encoding `other`. In `other`, letters of DOS become signs such as `„` and
/// `”` within words: `Gr”áe` for `Größe`.
pub(super) fn evidence(sample: &[u8], other: &'static Encoding) -> Evidence {
    if !other.is_single_byte() {
        return Evidence::None;
    }
    let within: Vec<Within> = sample.windows(3).filter_map(Within::of).collect();
    let read = |within: &Within| decoded(other, within.byte).unwrap_or(char::REPLACEMENT_CHARACTER);
    let is_odd = |within: &&Within| !within.fits(read(within)) && !SIGNS_WITHIN_WORDS.contains(read(within));
    let odd = within.iter().filter(is_odd).count();
    // Other letters may be the same in both encodings.
    if odd == 0 || 3 * odd < within.len() {
        return Evidence::None;
    }
    // A quotation mark may lack its space, but control characters never occur within words.
    let has_controls =
        within.iter().any(|within| read(within).is_control() || read(within) == char::REPLACEMENT_CHARACTER);
    if odd < MIN_LETTERS && !has_controls {
        return Evidence::Unclear;
    }
    let fits = |page: &CodePage| within.iter().all(|within| within.fits(page.decode(within.byte)));
    let pages: Vec<CodePage> = CodePage::ALL.into_iter().filter(fits).collect();
    let reads_like = |a: CodePage, b: CodePage| {
        sample.iter().filter(|byte| !byte.is_ascii()).all(|byte| a.decode(*byte) == b.decode(*byte))
    };
    match pages.as_slice() {
        [first, rest @ ..] if rest.iter().all(|page| reads_like(*first, *page)) => Evidence::Page(*first),
        _ => Evidence::Unclear,
    }
}

/// Decodes a byte in an encoding of a byte per character.
pub(super) fn decoded(encoding: &'static Encoding, byte: u8) -> Option<char> {
    encoding.decode_without_bom_handling_and_without_replacement(&[byte])?.chars().next()
}

/// A byte past ASCII between letters.
struct Within {
    byte: u8,
    is_lowercase: bool,
}

impl Within {
    fn of(window: &[u8]) -> Option<Within> {
        let &[before, byte, after] = window else { return None };
        let is_letter = |byte: u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
        let is_within = !byte.is_ascii() && is_letter(before) && is_letter(after);
        // At least one of the neighbours is certainly a letter.
        let certain = before.is_ascii_alphabetic() || after.is_ascii_alphabetic();
        let is_lowercase = before.is_ascii_lowercase() && !after.is_ascii_uppercase()
            || after.is_ascii_lowercase() && before.is_ascii()
            || after.is_ascii_lowercase() && !before.is_ascii();
        (is_within && certain).then_some(Within { byte, is_lowercase })
    }

    /// Returns whether a word has this letter here: a capital never follows a small letter.
    fn fits(&self, c: char) -> bool {
        let is_letter = c.is_alphabetic() && !matches!(c, 'ª' | 'º' | 'ƒ');
        is_letter && (!self.is_lowercase || c.is_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{IBM866, WINDOWS_1251, WINDOWS_1252};

    use super::*;

    /// Encodes a text in a code page.
    fn encoded(text: &str, page: CodePage) -> Vec<u8> {
        text.chars().map(|c| (0..=255).find(|byte| page.decode(*byte) == c).expect("a letter of the page")).collect()
    }

    #[test]
    fn letters_within_words_identify_a_dos_code_page() {
        let german = "Größe;Stück;Müller;Geländer\r\nStraße;Käse;Tür;hübsch\r\n";
        for page in [CodePage::Ibm850, CodePage::Ibm852, CodePage::Ibm437] {
            // These letters are the same in all three pages.
            assert_eq!(evidence(&encoded(german, page), WINDOWS_1252), Evidence::Page(CodePage::Ibm850));
        }
        let mac = MACINTOSH.encode(german).0;
        assert_eq!(evidence(&mac, WINDOWS_1252), Evidence::Page(CodePage::MacRoman));
        let french = MACINTOSH.encode("Désignation;Clé;Réf;Écrou\rVis à tête fraisée;pièces;très léger\r").0;
        assert_eq!(evidence(&french, WINDOWS_1252), Evidence::Page(CodePage::MacRoman));
        let polish = "Śruba;Łożysko;Gęś;Mięso\r\nPółka;Źródło;Żarówka;część\r\n";
        assert_eq!(evidence(&encoded(polish, CodePage::Ibm852), WINDOWS_1252), Evidence::Page(CodePage::Ibm852));
    }

    #[test]
    fn few_letters_are_weak_evidence() {
        assert_eq!(evidence(b"Name\r\nM\x81ller\r\n", WINDOWS_1252), Evidence::Page(CodePage::Ibm850));
        assert_eq!(evidence(b"Name\r\nGr\x94\xE1e\r\n", WINDOWS_1252), Evidence::Unclear);
        assert_eq!(evidence(b"Name\rM\x9Fller\r", WINDOWS_1252), Evidence::Unclear);
        for text in ["O’Neill;d’été", "Bolt®Plus", "10–20;A–B", "Zitat: „so“"] {
            assert_eq!(evidence(&WINDOWS_1252.encode(text).0, WINDOWS_1252), Evidence::None, "{text}");
        }
    }

    #[test]
    fn code_pages_with_different_readings_are_unclear() {
        // The sign of a currency is another one in each page.
        let text = [encoded("Größe;Stück;Müller;Tür\r\n", CodePage::Ibm850), b"5 \x9C;7 \xBE\r\n".to_vec()].concat();
        assert_eq!(evidence(&text, WINDOWS_1252), Evidence::Unclear);
    }

    #[test]
    fn text_in_other_encodings_is_not_taken_for_a_dos_code_page() {
        for (text, encoding) in [
            ("Größe;Stück;Müller;Straße;Käse;Tür;„Zitat“;5 €;Äpfel;O’Neill;d’été", WINDOWS_1252),
            ("Œuvre;cœur;sœur;Škoda;Žižka;naïve;façade;œufs", WINDOWS_1252),
            ("Болт;Гайка;Шайба;№ 5;«Цитата»;ёлка", WINDOWS_1251),
            ("Болт;Гайка;Шайба;Ёлка;съёмник", IBM866),
        ] {
            assert_eq!(evidence(&encoding.encode(text).0, encoding), Evidence::None, "{text}");
        }
        assert_eq!(evidence(b"SKU;Name\r\n", WINDOWS_1252), Evidence::None);
    }
}
