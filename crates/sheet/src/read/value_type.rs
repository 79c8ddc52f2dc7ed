//! Classification of field values, to detect dialects and headers. Values are never changed.

/// The apparent type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    Blank,
    Number,
    /// A date, a time, or both.
    Date,
    /// A single word: a name, a code, an identifier.
    Word,
    /// Text of several words.
    Words,
    /// A web or e-mail address.
    Address,
    /// Text with characters rarely found in a single value.
    Odd,
}

impl ValueType {
    /// Classifies a field.
    pub fn of(field: &[u8]) -> ValueType {
        let field = field.trim_ascii();
        if field.is_empty() {
            ValueType::Blank
        } else if is_number(field) {
            ValueType::Number
        } else if is_date(field) {
            ValueType::Date
        } else if is_address(field) {
            ValueType::Address
        } else if is_odd(field) {
            ValueType::Odd
        } else if field.iter().any(|byte| matches!(byte, b' ' | b',')) {
            ValueType::Words
        } else {
            ValueType::Word
        }
    }
}

/// Returns true for digits with thousands separators, decimals, a sign, a currency, a percent sign or an exponent.
fn is_number(field: &[u8]) -> bool {
    let text = String::from_utf8_lossy(field);
    let mut bare = text.trim_matches(|c| matches!(c, '$' | '€' | '£' | '¥' | '%' | ' ' | '\u{A0}' | '(' | ')'));
    for unit in ["EUR", "USD", "GBP", "CHF"] {
        bare = bare.trim_start_matches(unit).trim_end_matches(unit).trim();
    }
    let bare = bare.strip_prefix(['-', '+', '−']).unwrap_or(bare);
    let bare = bare.trim_start_matches(['$', '€', '£', '¥', ' ']);
    let (mantissa, exponent) = match bare.find(['e', 'E']) {
        Some(at) => (&bare[..at], Some(&bare[at + 1..])),
        None => (bare.strip_suffix('-').unwrap_or(bare), None),
    };
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if digits.is_empty() || digits.len() > 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return false;
        }
    }
    let mut previous_digit = false;
    let mut digits = 0;
    let mut separators = 0;
    for c in mantissa.chars() {
        if c.is_ascii_digit() {
            digits += 1;
            previous_digit = true;
        } else if matches!(c, '.' | ',' | '\'' | ' ' | '\u{A0}' | '\u{202F}') {
            let leads = digits == 0 && separators == 0 && matches!(c, '.' | ',');
            if !previous_digit && !leads {
                return false;
            }
            separators += 1;
            previous_digit = false;
        } else {
            return false;
        }
    }
    digits > 0 && (separators <= 1 || well_grouped(mantissa))
}

/// Returns true if separators divide the digits into groups of three, as in `1,234,567.89`.
fn well_grouped(mantissa: &str) -> bool {
    let groups: Vec<&str> = mantissa.split(|c: char| !c.is_ascii_digit()).collect();
    let [first, middle @ .., last] = groups.as_slice() else { return true };
    let mut separators: Vec<char> = mantissa.chars().filter(|c| !c.is_ascii_digit()).collect();
    let decimal = separators.pop();
    separators.dedup();
    let grouping = separators.first().copied();
    separators.len() <= 1
        && (1..=3).contains(&first.len())
        && middle.iter().all(|group| group.len() == 3)
        && (decimal != grouping || last.len() == 3)
}

/// Returns true for dates of two or three groups, possibly with the name of a month, and for times.
fn is_date(field: &[u8]) -> bool {
    if field.len() > 40 {
        return false;
    }
    let text = String::from_utf8_lossy(field).to_ascii_lowercase();
    let mut date = false;
    let mut time = false;
    // A `T` between a date and a time, not within the name of a month.
    let text = match text.split_once('t') {
        Some((day, clock)) if day.ends_with(|c: char| c.is_ascii_digit()) => format!("{day} {clock}"),
        _ => text,
    };
    for part in text.split(' ').filter(|part| !part.is_empty()) {
        let part = part.trim_matches(|c| matches!(c, ',' | '.' | 'z'));
        if part.contains(':') {
            let clock = part.split(['+', '-']).next().unwrap_or(part);
            if !clock.split([':', '.', ',']).all(|group| group.len() <= 9 && is_digits(group)) {
                return false;
            }
            time = true;
        } else if is_calendar(part) {
            date = true;
        } else if !(matches!(part, "am" | "pm" | "utc" | "gmt" | "cet" | "cest") && time) {
            return false;
        }
    }
    date || time
}

fn is_calendar(part: &str) -> bool {
    const MONTHS: [&str; 16] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mai", "okt", "dez", "mär",
    ];
    let groups: Vec<&str> = part.split(['-', '/', '.']).collect();
    let named = |group: &str| MONTHS.iter().any(|month| group.starts_with(month)) && group.len() <= 9;
    match groups.as_slice() {
        [a, b, c] => {
            let plain = is_digits(a) && is_digits(b) && is_digits(c);
            let lengths = [a.len(), b.len(), c.len()];
            (plain && lengths.iter().all(|len| *len == 4 || *len <= 2) && lengths.iter().sum::<usize>() >= 4)
                || (is_digits(a) && named(b) && is_digits(c))
        }
        [a, b] => (named(a) && is_digits(b)) || (is_digits(a) && named(b)),
        _ => false,
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_address(field: &[u8]) -> bool {
    let scheme = [&b"http://"[..], b"https://", b"ftp://", b"www.", b"urn:", b"mailto:"];
    if scheme.iter().any(|start| field.len() > start.len() && field[..start.len()].eq_ignore_ascii_case(start)) {
        return !field.iter().any(|byte| matches!(byte, b' ' | b'\t' | b'"'));
    }
    let at = field.iter().filter(|byte| **byte == b'@').count();
    at == 1 && field.contains(&b'.') && !field.iter().any(|byte| matches!(byte, b' ' | b',' | b';' | b'"' | b'\t'))
}

/// Returns true for fields with a quote at an end, or with typical delimiters or control characters.
fn is_odd(field: &[u8]) -> bool {
    let (first, last) = (field[0], field[field.len() - 1]);
    matches!(first, b'"')
        || matches!(last, b'"') && field.len() < 2
        || (first == b'\'' && last == b'\'' && field.len() > 1)
        || field.iter().any(|byte| matches!(byte, b'\t' | b'|'))
        || field.iter().any(|byte| *byte < b' ' && !matches!(byte, b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typical_fields_are_classified() {
        for (field, expected) in [
            ("", ValueType::Blank),
            (" ", ValueType::Blank),
            ("42", ValueType::Number),
            ("-1.234,56 €", ValueType::Number),
            ("$1,234,567.89", ValueType::Number),
            ("(12.5)", ValueType::Number),
            ("1.5e-07", ValueType::Number),
            (".5", ValueType::Number),
            ("1,2,3", ValueType::Words),
            ("192.168.0.1", ValueType::Word),
            ("2025-12-31", ValueType::Date),
            ("31.12.2025 10:30", ValueType::Date),
            ("2025-12-31T10:30:00Z", ValueType::Date),
            ("10:30:05.123", ValueType::Date),
            ("14-Jan", ValueType::Date),
            ("Oct-14", ValueType::Date),
            ("3 Sept 2025", ValueType::Words),
            ("09-Mar-11", ValueType::Date),
            ("MG-8769", ValueType::Word),
            ("Bolt M8, steel", ValueType::Words),
            ("https://example.com/a,b;c", ValueType::Address),
            ("a.b@example.com", ValueType::Address),
            ("\"a", ValueType::Odd),
            ("a|b", ValueType::Odd),
        ] {
            assert_eq!(ValueType::of(field.as_bytes()), expected, "{field}");
        }
    }
}
