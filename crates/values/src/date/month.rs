//! Names of months. The names are in `months.txt`.

use std::sync::LazyLock;

struct Month {
    english: &'static str,
    /// All names, in lower case and without accents.
    names: Vec<&'static str>,
}

static MONTHS: LazyLock<Vec<Month>> = LazyLock::new(|| {
    let lines = include_str!("months.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(": "))
        .map(|(english, names)| Month { english, names: names.split(' ').collect() })
        .collect()
});

/// Parses the name at the start of `text`. Returns the month from 1 and the length of the name in bytes.
pub(super) fn parse(text: &str) -> Option<(i8, usize)> {
    // Enough for every name; a cell can be megabytes long.
    let start = &text[..text.floor_char_boundary(40)];
    let is_accent = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
    let end = start.find(|c: char| !c.is_alphabetic() && !is_accent(c)).unwrap_or(start.len());
    let name: String = start[..end].chars().filter(|c| !is_accent(*c)).map(without_accent).collect();
    let month = (1..).zip(MONTHS.iter()).find(|(_, month)| month.names.contains(&name.as_str()));
    month.map(|(month, _)| (month, end))
}

/// Returns the month with this name, from 1.
pub fn number(name: &str) -> Option<u32> {
    let (month, len) = parse(name)?;
    (len == name.len()).then_some(u32::try_from(month).ok()?)
}

/// Returns the English name of a month, counted from 1.
pub(super) fn english(month: i8) -> &'static str {
    let index = usize::try_from(month - 1).expect("months count from 1");
    MONTHS[index].english
}

/// Returns the letter in lower case and without its accent.
fn without_accent(c: char) -> char {
    match c.to_lowercase().next().unwrap_or(c) {
        'ä' | 'á' | 'à' | 'â' | 'ã' => 'a',
        'é' | 'è' | 'ê' | 'ě' => 'e',
        'í' | 'ı' => 'i',
        'û' | 'ù' | 'ú' | 'ü' => 'u',
        'ç' | 'č' => 'c',
        'ğ' => 'g',
        'ń' => 'n',
        'ř' => 'r',
        'ś' | 'ş' => 's',
        'ź' => 'z',
        'й' => 'и',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_in_any_case_with_or_without_accents() {
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
            ("października", 10),
            ("května", 5),
            ("Ağustos", 8),
            ("Kasım", 11),
            ("мая", 5),
            ("май", 5),
            ("сентября", 9),
        ] {
            assert_eq!(parse(text), Some((month, text.len())), "{text}");
        }
        assert_eq!(parse("Dez. 2025"), Some((12, 3)));
        for text in ["", "1", "Marchy", "ma", "januaryjanuaryjanuary", "三月"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn month_names_are_unique() {
        let mut names: Vec<&str> = MONTHS.iter().flat_map(|month| &month.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), MONTHS.len()), (count, 12));
        assert_eq!((english(1), english(12)), ("January", "December"));
    }
}
