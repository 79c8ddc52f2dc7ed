//! Lists within sentences: `'SKU' or 'Code' and 3 more`, `cid or companyId`.

const SEPARATORS: [&str; 3] = [", ", " or ", " and "];

/// Translates the words of a list, and the quotation marks around its items. Items stay. `word` translates separators, `quote`
/// puts an item into quotation marks, and `tail` translates what follows the last quoted item. Returns `None` for other texts.
pub(super) fn translated<'w>(
    text: &str,
    word: impl Fn(&str) -> Option<&'w str>,
    quote: impl Fn(&str) -> String,
    tail: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let separator = |separator| word(separator).unwrap_or(separator).to_owned();
    let Some(mut rest) = text.strip_prefix('\'') else { return plain(text, separator) };
    let mut list = String::new();
    while let Some((item, found, after)) = next(rest) {
        list.push_str(&quote(item));
        list.push_str(&separator(found));
        rest = after;
    }
    // An apostrophe may be part of the last item.
    let ends = rest.match_indices('\'').map(|(end, _)| end);
    let last = ends.filter_map(|end| Some((&rest[..end], tail(&rest[end + 1..])?))).last();
    last.map(|(item, tail)| list + &quote(item) + &tail)
}

/// Returns the next quoted item before a separator, the separator, and the text after the quotation mark behind it.
fn next(text: &str) -> Option<(&str, &'static str, &str)> {
    let found = SEPARATORS.into_iter().filter_map(|separator| {
        let mark = format!("'{separator}'");
        text.find(&mark).map(|at| (at, separator, at + mark.len()))
    });
    found.min().map(|(at, separator, end)| (&text[..at], separator, &text[end..]))
}

/// Translates a list of names and numbers without spaces.
fn plain(text: &str, word: impl Fn(&'static str) -> String) -> Option<String> {
    let words: Vec<&str> = text.split(' ').collect();
    let is_word = |word: &str| ["or", "and"].contains(&word);
    let is_name = |word: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.:+[]".contains(c);
        let is_start = |c: char| c.is_ascii_digit() || c.is_ascii_lowercase();
        !is_word(word) && word.starts_with(is_start) && word.chars().all(is_part)
    };
    // A comma or a word follows each name except the last.
    let is_in_list = |pair: &[&str]| match is_word(pair[0]) {
        true => !is_word(pair[1]),
        false => is_name(pair[0]) && is_word(pair[1]) || pair[0].strip_suffix(',').is_some_and(is_name),
    };
    let (first, last) = (words.first()?, words.last()?);
    let is_list = !is_word(first) && is_name(last) && words.windows(2).all(is_in_list);
    if !is_list || !words.iter().any(|word| is_word(word)) {
        return None;
    }
    let translated =
        SEPARATORS.into_iter().fold(text.to_owned(), |text, separator| text.replace(separator, &word(separator)));
    Some(translated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn german(text: &str) -> Option<String> {
        let word = |separator: &str| match separator {
            " or " => Some(" oder "),
            " and " => Some(" und "),
            _ => None,
        };
        let tail = |text: &str| match text {
            "" => Some(String::new()),
            " and 3 more" => Some(" und 3 weitere".to_owned()),
            _ => None,
        };
        translated(text, word, |item| format!("„{item}“"), tail)
    }

    #[test]
    fn separators_and_quotes_are_translated_and_items_are_not() {
        for (text, expected) in [
            ("'SKU'", Some("„SKU“")),
            ("'SKU' or 'Code and or'", Some("„SKU“ oder „Code and or“")),
            ("'a', 'b' and 3 more", Some("„a“, „b“ und 3 weitere")),
            ("'men's shoes' or 'it's'", Some("„men's shoes“ oder „it's“")),
            ("'a' and something", None),
            ("cid or companyId", Some("cid oder companyId")),
            ("1.299, 5 and 7", Some("1.299, 5 und 7")),
            ("Salt and Pepper", None),
            ("it is old and broken", None),
            ("a and or b", None),
            ("or b", None),
            ("sku", None),
            ("", None),
        ] {
            assert_eq!(german(text).as_deref(), expected, "{text}");
        }
    }
}
