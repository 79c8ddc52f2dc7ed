//! Plausibility of encodings: whether a text read in an encoding has its letters where the words of a language have them.
//!
//! The letters next to each letter are in `letters.toml`. A reading is rated by the different contexts of its letters, not by
//! their number, so that a word that is in each row counts once.

use std::collections::HashSet;
use std::sync::LazyLock;

use encoding_rs::{
    Encoding, IBM866, ISO_8859_2, KOI8_U, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1254, WINDOWS_1257,
};
use serde::Deserialize;

use super::code_page::{CodePage, decoded};
use super::text_encoding::TextEncoding;

/// Maximum number of contexts to examine.
const MAX_CONTEXTS: usize = 500;
/// A guess is plausible with one misfit among so many contexts: names can be from any language.
const PLAUSIBLE: usize = 10;
/// An encoding may replace an implausible guess if it has at most one misfit among so many contexts.
const REPLACING: usize = 3;
/// A guess is wrong with one impossible character among so many contexts.
const IMPOSSIBLE: usize = 3;

/// Contexts from which a text can be Baltic: below, words of other languages with a rare letter fit as well.
const BALTIC: usize = 4;

/// The encodings of the known languages, without those of DOS and old Macs, the most frequent first.
const USUAL: [&Encoding; 7] = [WINDOWS_1252, WINDOWS_1250, WINDOWS_1254, ISO_8859_2, WINDOWS_1251, IBM866, KOI8_U];

/// The rating of a guessed encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rating {
    /// Only the guess is plausible.
    Clear,
    /// Another encoding has other letters, which are plausible as well.
    Ambiguous,
    /// The guess is implausible, and this encoding is plausible.
    Replaced(TextEncoding),
    /// Many characters can't be where the guess has them, such as capitals after small letters.
    Impossible,
    /// No encoding is plausible: the text may be in another language.
    Unknown,
}

/// Rates the guessed encoding of a text.
pub(super) fn rate(sample: &[u8], guess: &'static Encoding) -> Rating {
    let contexts = Context::all(sample);
    let count = contexts.len();
    let guessed = guess.is_single_byte().then(|| Table::of(guess));
    let (misfits, impossible) = guessed.as_ref().map_or((count, 0), |table| table.mixed_misfits(&contexts));
    let is_usual = USUAL.contains(&guess);
    let is_comparable = |other: &Table| {
        // Scripts without capitals fit Cyrillic letters too often.
        (is_usual || !other.is_cyrillic())
            && guessed.as_ref().is_none_or(|guessed| contexts.iter().any(|at| guessed.at(at.byte) != other.at(at.byte)))
    };
    let others = Table::candidates().filter(is_comparable);
    let best = others.map(|table| (table.misfits(&contexts), table.encoding)).min_by_key(|(misfits, _)| *misfits);
    // Words of Baltic languages look like those of many others: they replace a guess that most letters contradict, and doubt no other.
    let is_contradicted = misfits >= BALTIC && 2 * misfits > count;
    let baltic = Some(Table::of(WINDOWS_1257)).filter(|table| is_contradicted && is_comparable(table));
    let baltic = baltic.map(|table| (table.misfits(&contexts), table.encoding));
    let best = best.into_iter().chain(baltic).min_by_key(|(misfits, _)| *misfits);
    let fewest = best.map_or(count, |((misfits, _), _)| misfits);
    match best {
        // `Câble` is `Cāble` in a Baltic encoding. The more common languages go first.
        Some(((0, false), encoding)) if guess == WINDOWS_1257 && !encoding.is_of_dos_or_mac() => {
            Rating::Replaced(encoding)
        }
        _ if guess == WINDOWS_1257 && count < BALTIC => Rating::Ambiguous,
        _ if misfits * PLAUSIBLE <= count && fewest <= misfits => Rating::Ambiguous,
        _ if misfits * PLAUSIBLE <= count => Rating::Clear,
        _ if !is_usual && fewest == 0 => Rating::Ambiguous,
        _ if !is_usual => Rating::Unknown,
        Some((_, encoding)) if 2 * fewest < misfits && REPLACING * fewest <= count => Rating::Replaced(encoding),
        _ if impossible * IMPOSSIBLE >= count => Rating::Impossible,
        _ => Rating::Unknown,
    }
}

/// A byte outside ASCII and its neighbours.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Context {
    before: u8,
    byte: u8,
    after: u8,
}

impl Context {
    /// Returns the first different contexts of a text.
    fn all(sample: &[u8]) -> Vec<Context> {
        let mut seen = HashSet::new();
        let at = |index: Option<usize>| index.and_then(|index| sample.get(index)).copied().unwrap_or(b'\n');
        let contexts = sample.iter().enumerate().filter(|(_, byte)| !byte.is_ascii()).map(|(index, byte)| Context {
            before: at(index.checked_sub(1)),
            byte: *byte,
            after: at(Some(index + 1)),
        });
        contexts.filter(|context| seen.insert(*context)).take(MAX_CONTEXTS).collect()
    }
}

/// The characters of an encoding with a byte for each.
struct Table {
    encoding: TextEncoding,
    chars: Vec<char>,
}

/// Whether a character is possible in its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// The sign is usual there.
    Sign,
    /// A letter, with the letters before and after it in lower case, or `None` at the edge of its word.
    Letter(char, Option<char>, Option<char>),
    /// A letter next to a digit.
    Unusual,
    Impossible,
}

impl Table {
    fn of(encoding: &'static Encoding) -> Table {
        let char = |byte| decoded(encoding, byte).unwrap_or(char::REPLACEMENT_CHARACTER);
        Table { encoding: TextEncoding::web(encoding), chars: (0..=u8::MAX).map(char).collect() }
    }

    /// Returns the encodings of the known languages.
    fn candidates() -> impl Iterator<Item = Table> {
        let of_page = |page: CodePage| Table {
            encoding: TextEncoding::of_page(page),
            chars: (0..=u8::MAX).map(|byte| page.decode(byte)).collect(),
        };
        USUAL.into_iter().map(Table::of).chain(CodePage::ALL.into_iter().map(of_page))
    }

    fn at(&self, byte: u8) -> char {
        self.chars[usize::from(byte)]
    }

    fn is_cyrillic(&self) -> bool {
        self.chars.contains(&'ж')
    }

    /// Whether texts of a family can be in this encoding. Few letters of Baltic languages are in others, and they fit by chance.
    fn is_for(&self, family: Family) -> bool {
        family != Family::Baltic || self.chars.contains(&'ģ')
    }

    /// Returns the number of contexts that the most similar language lacks, and whether this language is one of the others.
    fn misfits(&self, contexts: &[Context]) -> (usize, bool) {
        let positions: Vec<Position> = contexts.iter().map(|context| self.position(context)).collect();
        let of_language = |language: &Language| {
            (positions.iter().filter(|position| !language.has(position)).count(), language.is_other)
        };
        LANGUAGES
            .iter()
            .filter(|language| self.is_for(language.family))
            .map(of_language)
            .min()
            .unwrap_or((contexts.len(), true))
    }

    /// Returns the number of contexts that the languages of the most similar family lack, and the number of impossible ones.
    fn mixed_misfits(&self, contexts: &[Context]) -> (usize, usize) {
        let positions: Vec<Position> = contexts.iter().map(|context| self.position(context)).collect();
        let fits = |family: Family, position: &Position| {
            LANGUAGES.iter().any(|language| language.family == family && language.has(position))
        };
        let lacking = |family| positions.iter().filter(|position| !fits(family, position)).count();
        let misfits =
            Family::ALL.into_iter().filter(|family| self.is_for(*family)).map(lacking).min().unwrap_or(contexts.len());
        (misfits, positions.iter().filter(|position| **position == Position::Impossible).count())
    }

    fn position(&self, context: &Context) -> Position {
        let [before, c, after] = [context.before, context.byte, context.after].map(|byte| self.at(byte));
        let (follows, precedes) = (is_letter(before), is_letter(after));
        if !is_letter(c) {
            return if is_sign_possible(c, before, follows, precedes) { Position::Sign } else { Position::Impossible };
        }
        let is_wrong_case = match c.is_lowercase() {
            true => precedes && after.is_uppercase() && c != 'ß',
            false => follows && before.is_lowercase(),
        };
        match is_wrong_case {
            true => Position::Impossible,
            false if before.is_ascii_digit() || after.is_ascii_digit() => Position::Unusual,
            false => Position::Letter(lower(c), follows.then(|| lower(before)), precedes.then(|| lower(after))),
        }
    }
}

/// Returns whether texts have this sign here. `follows` and `precedes`: whether a letter is before and after it.
fn is_sign_possible(c: char, before: char, follows: bool, precedes: bool) -> bool {
    match c {
        char::REPLACEMENT_CHARACTER => false,
        '’' | '´' | '\u{ad}' | '\u{a0}' => true,
        '‘' | '“' | '„' | '‚' | '«' | '‹' | '¿' | '¡' | '·' | '•' => !follows,
        '”' | '»' | '›' | '…' | '™' | '®' | '°' | '²' | '³' => !precedes,
        '–' | '—' => follows == precedes,
        'ª' | 'º' => !precedes && (before.is_ascii_digit() || ".nNmMdDsS".contains(before)),
        'µ' => !follows,
        '€' | '£' | '¥' | '¢' | '§' | '¶' | '©' | '±' | '×' | '÷' | '½' | '¼' | '¾' | '¹' | '†' | '‡' | '‰' => {
            !follows && !precedes
        }
        _ => false,
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !matches!(c, 'ª' | 'º' | 'ƒ' | 'ˆ' | 'µ')
}

fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Languages that share encodings, and may occur in the same text.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Family {
    West,
    Center,
    Turkish,
    Cyrillic,
    Baltic,
}

impl Family {
    const ALL: [Family; 5] = [Family::West, Family::Center, Family::Turkish, Family::Cyrillic, Family::Baltic];
}

/// `letters.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Letters {
    languages: Vec<Language>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Language {
    #[expect(dead_code, reason = "for readers of the file")]
    name: String,
    family: Family,
    /// Whether the other languages are preferred.
    #[serde(default, rename = "other")]
    is_other: bool,
    /// Words of one letter.
    #[serde(default)]
    alone: String,
    /// Letters with the letters before and after them; `^` and `$` are the edges of words.
    letters: Vec<(char, String, String)>,
}

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let letters: Letters =
        toml::from_str(include_str!("letters.toml")).expect("the file is compiled in, and tests parse it");
    letters.languages
});

impl Language {
    fn has(&self, position: &Position) -> bool {
        match *position {
            Position::Sign => true,
            Position::Letter(c, None, None) => self.alone.contains(c),
            Position::Letter(c, before, after) => self.letters.iter().any(|(letter, usual_before, usual_after)| {
                *letter == c
                    && usual_before.contains(before.unwrap_or('^'))
                    && usual_after.contains(after.unwrap_or('$'))
            }),
            Position::Unusual | Position::Impossible => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes a text in an encoding with a byte for each character.
    fn encoded(text: &str, label: &str) -> Vec<u8> {
        let encoding = TextEncoding::for_label(label).expect(label);
        let table = Table::candidates().find(|table| table.encoding == encoding).expect("a known encoding");
        let byte = |c: char| (0..=u8::MAX).find(|byte| table.at(*byte) == c);
        text.chars().map(|c| byte(c).unwrap_or_else(|| panic!("'{c}' in {label}"))).collect()
    }

    fn rating(text: &str, label: &str, guess: &'static Encoding) -> Rating {
        rate(&encoded(text, label), guess)
    }

    #[test]
    fn words_in_the_usual_encoding_of_their_language_are_clear() {
        for (text, label, guess) in [
            ("Maß;Größe;Müller", "windows-1252", WINDOWS_1252),
            ("Écrou;Réf", "windows-1252", WINDOWS_1252),
            ("Vis à tête;pièce;m²;5 €", "windows-1252", WINDOWS_1252),
            ("Tamaño;Descripción", "windows-1252", WINDOWS_1252),
            ("Skrue rød;Møtrik blå", "windows-1252", WINDOWS_1252),
            ("Żarówka;Łożysko", "windows-1250", WINDOWS_1250),
            ("Šroub M8;Matice křížová", "windows-1250", WINDOWS_1250),
            ("Болт;Гайка", "windows-1251", WINDOWS_1251),
            ("Vida;Somun;Çivi;Bağlantı", "windows-1254", WINDOWS_1254),
        ] {
            assert_eq!(rating(text, label, guess), Rating::Clear, "{text}");
        }
    }

    #[test]
    fn words_of_dos_and_old_macs_are_never_clear_in_another_encoding() {
        for (text, label, guess) in [
            ("Maß", "cp850", WINDOWS_1252),
            ("Maß", "cp437", WINDOWS_1252),
            ("Maß", "macintosh", WINDOWS_1252),
            ("Fläche", "macintosh", WINDOWS_1252),
            ("Öse", "cp850", WINDOWS_1252),
            ("Ahimè", "cp850", WINDOWS_1252),
            ("Ridà;Rinunciò", "cp850", WINDOWS_1252),
            ("più", "cp850", WINDOWS_1252),
            ("lære", "cp850", WINDOWS_1252),
            ("más", "cp850", WINDOWS_1252),
            ("façade", "macintosh", WINDOWS_1252),
            ("šroub", "cp852", WINDOWS_1252),
            ("część", "cp852", WINDOWS_1250),
            ("Болт", "cp866", WINDOWS_1251),
        ] {
            let rating = rating(text, label, guess);
            assert!(!matches!(rating, Rating::Clear | Rating::Unknown), "{text} in {label}: {rating:?}");
        }
    }

    #[test]
    fn a_plausible_encoding_replaces_an_implausible_guess() {
        for (text, label, guess, expected) in [
            ("Maß;Straße", "cp850", WINDOWS_1252, "cp850"),
            ("Fuß;Länge", "macintosh", WINDOWS_1252, "macintosh"),
            ("Łożysko;Półka", "cp852", WINDOWS_1252, "cp852"),
            ("Болт;Гайка", "cp866", WINDOWS_1251, "cp866"),
            ("idő;Szerző;főnök", "windows-1250", WINDOWS_1252, "windows-1250"),
        ] {
            let replaced = TextEncoding::for_label(expected).map(Rating::Replaced);
            assert_eq!(Some(rating(text, label, guess)), replaced, "{text} in {label}");
        }
    }

    #[test]
    fn baltic_words_replace_an_implausible_guess_only() {
        for text in ["Skrūve;Paplāksne;Šķēres;Āmurs;Uzgriežņi", "Varžtas;Veržlė;Žirklės;Grąžtas;Plaktukų rinkinys"]
        {
            let bytes = WINDOWS_1257.encode(text).0;
            assert_eq!(rate(&bytes, WINDOWS_1252), Rating::Replaced(TextEncoding::web(WINDOWS_1257)), "{text}");
            assert_eq!(rate(&bytes, WINDOWS_1257), Rating::Clear, "{text}");
        }
        let french = "Câble;Crâne;Plâtre";
        assert_eq!(rating(french, "windows-1252", WINDOWS_1252), Rating::Clear);
        let common = Rating::Replaced(TextEncoding::web(WINDOWS_1252));
        assert_eq!(rating(french, "windows-1252", WINDOWS_1257), common);
    }

    #[test]
    fn letters_that_are_plausible_in_two_encodings_are_ambiguous() {
        // "leçon" or "lešon", "virtù" or "virtů".
        for text in ["leçon", "virtù"] {
            assert_eq!(rating(text, "windows-1252", WINDOWS_1252), Rating::Ambiguous, "{text}");
        }
    }

    #[test]
    fn other_languages_and_scripts_are_not_replaced() {
        use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1253, WINDOWS_1255};
        for (text, guess) in [
            ("Βίδα;Παξιμάδι;Ροδέλα", WINDOWS_1253),
            ("בורג;אום", WINDOWS_1255),
            ("螺丝;螺母", GBK),
            ("ボルト;ナット", SHIFT_JIS),
        ] {
            assert_eq!(rate(&guess.encode(text).0, guess), Rating::Unknown, "{text}");
        }
    }
}
