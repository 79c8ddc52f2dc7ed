//! Names of months in English, German, French, Spanish, Italian, Portuguese and Dutch, long and short.

/// Without accents and capitals, as [`read`] makes them.
const NAMES: [&[&str]; 12] = [
    &[
        "jan", "january", "januar", "janner", "jaenner", "janv", "janvier", "ene", "enero", "gen", "gennaio",
        "janeiro", "januari",
    ],
    &[
        "feb",
        "february",
        "februar",
        "feber",
        "fev",
        "fevr",
        "fevrier",
        "febr",
        "febrero",
        "febbraio",
        "fevereiro",
        "februari",
    ],
    &["mar", "march", "marz", "maerz", "mrz", "mars", "marzo", "marco", "maart", "mrt"],
    &["apr", "april", "avr", "avril", "abr", "abril", "aprile"],
    &["may", "mai", "mayo", "mag", "maggio", "maio", "mei"],
    &["jun", "june", "juni", "juin", "junio", "giu", "giugno", "junho"],
    &["jul", "july", "juli", "juil", "juillet", "julio", "lug", "luglio", "julho"],
    &["aug", "august", "aout", "aou", "ago", "agosto", "augustus"],
    &["sep", "sept", "september", "septembre", "septiembre", "setiembre", "set", "settembre", "setembro"],
    &["oct", "october", "okt", "oktober", "octobre", "octubre", "ott", "ottobre", "out", "outubro"],
    &["nov", "november", "novembre", "noviembre", "novembro"],
    &["dec", "december", "dez", "dezember", "decembre", "dic", "diciembre", "dicembre", "dezembro"],
];

const LONGEST: usize = 10;

/// The month that `text` begins with, from 1, and the bytes of its name.
pub fn read(text: &str) -> Option<(i8, usize)> {
    let mut name = [0; LONGEST];
    let mut length = 0;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        if !('\u{300}'..='\u{36f}').contains(&c) {
            if !c.is_alphabetic() {
                break;
            }
            *name.get_mut(length)? = plain(c)?;
            length += 1;
        }
        end = at + c.len_utf8();
    }
    let name = &name[..length];
    let month = (1i8..).zip(NAMES).find(|(_, names)| names.iter().any(|known| known.as_bytes() == name));
    month.map(|(month, _)| (month, end))
}

/// The English name of a month, from 1.
pub fn english(month: i8) -> &'static str {
    const ENGLISH: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    usize::try_from(month).ok().and_then(|month| ENGLISH.get(month.wrapping_sub(1))).copied().unwrap_or("the month")
}

/// The letter in lower case and without its accent.
fn plain(c: char) -> Option<u8> {
    if c.is_ascii() {
        return u8::try_from(c).ok().map(|b| b.to_ascii_lowercase());
    }
    Some(match c.to_lowercase().next()? {
        'ä' | 'á' | 'à' | 'â' | 'ã' => b'a',
        'é' | 'è' | 'ê' => b'e',
        'û' | 'ù' | 'ú' | 'ü' => b'u',
        'ç' => b'c',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case_and_with_or_without_accents() {
        for (text, month) in [
            ("March", 3),
            ("MÄRZ", 3),
            ("Ma\u{308}rz", 3),
            ("août", 8),
            ("aout", 8),
            ("Décembre", 12),
            ("fév", 2),
            ("março", 3),
            ("Jänner", 1),
            ("septiembre", 9),
            ("mei", 5),
        ] {
            assert_eq!(read(text), Some((month, text.len())), "{text}");
        }
        assert_eq!(read("Dez. 2025"), Some((12, 3)));
        for text in ["", "1", "Marchy", "ma", "januaryjanuaryjanuary", "三月"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn no_name_means_two_months() {
        let mut names: Vec<&str> = NAMES.concat();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(names.iter().map(|name| name.len()).max(), Some(LONGEST));
    }
}
