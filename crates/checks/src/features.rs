//! The shape of a text, and the features by which one text of a column is unlike all others.

use sheetport_files::visible::look_alike;

/// Maximum number of runs of characters in a form.
const MAX_RUNS: usize = 24;

/// A form: the runs of characters of a text. `L` stands for letters, `9` for digits, a space, or the sign itself.
/// `AB-101` is `L-9`.
pub(super) type Runs = Box<[u8]>;

/// What the texts of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Identifier,
    Name,
}

/// A feature that a text has, and that is a mistake where the others of the column lack it. Beside each is what was measured on
/// 30 columns of identifiers, or 43 of names, in files of other people: how many have it in at least one and at most one in a hundred texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    /// 1 of 30: `root` among UUIDs.
    NoDigit,
    /// 0 of 30.
    Space,
    /// A sign at the beginning or the end, such as `[A-1]`, `A-1*`. 0 of 30, nor of 187 windows of 12 rows.
    EdgeSign,
    /// `12.50`. 0 of 30; 0 of 43 names.
    Decimal,
    /// `12:30`. 0 of 30.
    Time,
    /// `2026-03-04`. 0 of 30; 0 of 43 names.
    Date,
    /// A letter of another alphabet that looks like a Latin one, or a digit of another one. 0 of 30.
    LookAlike,
    /// A small letter where all others have capital ones alone. 0 of 72.
    SmallLetter,
    /// A barcode with a valid check digit. 0 of 30.
    Barcode,
    /// Digits alone with a wrong check digit, where all others are barcodes: of eight codes by chance once in a hundred million.
    CheckDigit,
    /// A name of digits and signs. 1 of 43: the film `54`.
    NoLetter,
    /// A single letter or digit. 0 of 43.
    SingleCharacter,
    /// A sign of a program in a name: a tag, an address, a path, several names.
    Markup,
    /// A digit in the middle of a word, as in `gr0ss`, or a letter that was lost, as in `Krzes?o`.
    BrokenWord,
}

/// The characters of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    /// The runs of characters in their order.
    pub(super) runs: Vec<u8>,
    letters: usize,
    digits: usize,
    has_look_alike: bool,
    has_edge_sign: bool,
    has_small_letter: bool,
    has_capital_letter: bool,
}

impl Kind {
    /// Returns the features that are judged, the surest first.
    pub(super) fn features(self) -> &'static [Feature] {
        use Feature::{
            Barcode, BrokenWord, CheckDigit, Date, Decimal, EdgeSign, LookAlike, Markup, NoDigit, NoLetter,
            SingleCharacter, SmallLetter, Space, Time,
        };
        match self {
            Kind::Identifier => {
                &[NoDigit, Date, Time, Decimal, Space, EdgeSign, LookAlike, Barcode, CheckDigit, SmallLetter]
            }
            Kind::Name => &[Date, Decimal, Markup, BrokenWord, SingleCharacter, NoLetter],
        }
    }
}

impl Feature {
    pub(super) fn is_in(self, shape: &Shape, text: &str) -> bool {
        match self {
            Feature::NoDigit => shape.digits == 0,
            Feature::NoLetter => shape.letters == 0,
            Feature::Space => shape.runs.contains(&b' '),
            Feature::EdgeSign => shape.has_edge_sign,
            Feature::Decimal => shape.letters == 0 && is_decimal(text),
            Feature::Time => matches!(shape.runs.as_slice(), b"9:9" | b"9:9:9") && is_time(text),
            Feature::Date => is_date(shape, text),
            Feature::LookAlike => shape.has_look_alike,
            Feature::SmallLetter => shape.has_small_letter,
            Feature::Barcode => is_barcode(text),
            Feature::CheckDigit => is_digits(text, 6..=14) && !is_barcode(text),
            Feature::SingleCharacter => shape.letters + shape.digits == 1,
            Feature::Markup => text.contains(['<', '{', '\\']) || text.contains("://") || is_address(text),
            Feature::BrokenWord => {
                shape.digits > 0 && text.split(|c: char| !c.is_alphanumeric()).any(is_broken) || has_gap(text)
            }
        }
    }

    /// Returns the message to follow the text. `example` is another text of the column.
    pub(super) fn message(self, example: &str) -> String {
        match self {
            Feature::NoDigit => format!("has no digit, unlike the others, which are like '{example}'"),
            Feature::NoLetter => format!("has no letter, unlike the others, which are like '{example}'"),
            Feature::Space => format!("has a space, unlike the others, which are like '{example}'"),
            Feature::EdgeSign => format!("has a sign at its edge, unlike the others, which are like '{example}'"),
            Feature::Decimal => format!("is a number with decimals, unlike the others, which are like '{example}'"),
            Feature::Time => format!("is a time of day, unlike the others, which are like '{example}'"),
            Feature::Date => format!("is a date, unlike the others, which are like '{example}'"),
            Feature::LookAlike => {
                format!("has letters of another alphabet, unlike the others, which are like '{example}'")
            }
            Feature::SmallLetter => format!("has a small letter, unlike the others, which are like '{example}'"),
            Feature::Barcode => format!("is a barcode, unlike the others, which are like '{example}'"),
            Feature::CheckDigit => {
                format!(
                    "is no barcode: its check digit or length is wrong, unlike those of the others, which are like '{example}'"
                )
            }
            Feature::Markup => format!("has signs of a program, unlike the others, which are like '{example}'"),
            Feature::BrokenWord => {
                format!("has a digit or a question mark within a word, unlike the others, which are like '{example}'")
            }
            Feature::SingleCharacter => format!("is a single character, unlike the others, which are like '{example}'"),
        }
    }

    /// Whether a text has none of the features of a name, as nearly all that begin with two letters.
    pub(super) fn are_ruled_out(kind: Kind, text: &str) -> bool {
        let is_plain = |byte: &u8| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b' ' | b'-' | 128..);
        let begins = matches!(text.as_bytes(), [first, second, ..] if first.is_ascii_alphabetic() && second.is_ascii_alphabetic());
        kind == Kind::Name && begins && text.as_bytes().iter().all(is_plain)
    }

    /// Whether the text may honestly be so.
    pub(super) fn is_warning(self) -> bool {
        matches!(self, Feature::NoLetter | Feature::SingleCharacter)
    }
}

impl Shape {
    pub(super) fn has_letters(&self) -> bool {
        self.letters > 0
    }

    /// Whether the text has capital letters and no small ones.
    pub(super) fn is_capital(&self) -> bool {
        self.has_capital_letter && !self.has_small_letter
    }

    pub(super) fn set(&mut self, text: &str) {
        self.runs.clear();
        (self.letters, self.digits, self.has_look_alike) = (0, 0, false);
        (self.has_small_letter, self.has_capital_letter) = (false, false);
        let is_sign = |c: Option<char>| c.is_some_and(|c| !c.is_alphanumeric());
        // An apostrophe in front has a warning of its own.
        let first = text.chars().next().filter(|c| *c != '\'');
        self.has_edge_sign = is_sign(first) || is_sign(text.chars().next_back());
        for c in text.chars() {
            if c.is_ascii() {
                self.add_ascii(c as u8);
                continue;
            }
            let class = match c {
                _ if c.is_numeric() => b'9',
                _ if c.is_alphabetic() => b'L',
                _ if c.is_whitespace() => b' ',
                _ => b'?',
            };
            self.letters += usize::from(class == b'L');
            self.digits += usize::from(class == b'9');
            self.has_look_alike |= look_alike(c).is_some_and(|latin| latin.is_ascii_alphabetic()) || c.is_numeric();
            self.has_small_letter |= c.is_lowercase();
            self.has_capital_letter |= c.is_uppercase();
            self.add_run(class);
        }
        if is_uuid(text) {
            // Its letters are digits.
            (self.has_small_letter, self.has_capital_letter) = (false, false);
            self.runs.clear();
            self.runs.extend(b"UUID");
        }
    }
}

impl Shape {
    fn add_ascii(&mut self, byte: u8) {
        let class = match byte {
            b'0'..=b'9' => {
                self.digits += 1;
                b'9'
            }
            b'a'..=b'z' => {
                (self.letters, self.has_small_letter) = (self.letters + 1, true);
                b'L'
            }
            b'A'..=b'Z' => {
                (self.letters, self.has_capital_letter) = (self.letters + 1, true);
                b'L'
            }
            b'\t'..=b'\r' => b' ',
            sign => sign,
        };
        self.add_run(class);
    }

    fn add_run(&mut self, class: u8) {
        // Signs count one by one: `A--1` is not `A-1`.
        let is_run = matches!(class, b'9' | b'L' | b' ');
        if (!is_run || self.runs.last() != Some(&class)) && self.runs.len() < MAX_RUNS {
            self.runs.push(class);
        }
    }
}

/// Whether a text has the form of a UUID, as the ids of the service. Its digits and letters stand in any order.
fn is_uuid(text: &str) -> bool {
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    let is_in_place =
        |(at, byte): (usize, u8)| if DASHES.contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(is_in_place)
}

/// Whether a text is a GTIN of 8, 12, 13 or 14 digits with a valid check digit.
pub(super) fn is_barcode(text: &str) -> bool {
    if !matches!(text.len(), 8 | 12 | 13 | 14) || !is_digits(text, 8..=14) {
        return false;
    }
    let weighted = text.bytes().rev().enumerate();
    let sum: u32 = weighted.map(|(nth, digit)| u32::from(digit - b'0') * if nth % 2 == 0 { 1 } else { 3 }).sum();
    sum.is_multiple_of(10)
}

fn is_address(text: &str) -> bool {
    text.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.') && !text.contains(' '))
}

/// Whether a word has digits alone between letters that look like them, as `Hamm3r` and `B1ue`. Measures such as `M4x20` and names of models
/// end in digits, or have several one beside the other.
fn is_broken(word: &str) -> bool {
    let classes: Vec<char> = word.chars().collect();
    let is_odd = |at: usize| {
        let is_small = |at: usize| classes.get(at).is_some_and(|c| c.is_lowercase());
        let before = at.checked_sub(1).is_some_and(|at| classes[at].is_lowercase() && (at > 0 || is_small(at + 3)));
        let is_first = at == 1 && classes[0].is_uppercase() && is_small(at + 2);
        matches!(classes[at], '0' | '1' | '3' | '4' | '5') && is_small(at + 1) && (before || is_first)
    };
    let digits = (0..classes.len()).filter(|at| classes[*at].is_ascii_digit());
    let (all, odd) = digits.fold((0, 0), |(all, odd), at| (all + 1, odd + usize::from(is_odd(at))));
    all > 0 && all == odd && all * 2 < classes.len()
}

/// Whether a question mark stands for a letter that a program could not write.
fn has_gap(text: &str) -> bool {
    let mut before = ' ';
    text.chars().zip(text.chars().skip(1)).any(|(c, next)| {
        let is_gap = matches!(c, '?' | '|') && next.is_lowercase() && (before.is_lowercase() || before == ' ');
        before = c;
        is_gap
    })
}

/// Whether a text is a number with at most four decimals.
fn is_decimal(text: &str) -> bool {
    let number = text.strip_prefix(['-', '+']).unwrap_or(text);
    number.split_once(['.', ',']).is_some_and(|(whole, decimals)| is_digits(whole, 1..=9) && is_digits(decimals, 1..=4))
}

fn is_time(text: &str) -> bool {
    text.split(':').all(|part| is_digits(part, 1..=2))
}

/// Whether a text of the shape is a date of three numbers, the year first or last.
fn is_date(shape: &Shape, text: &str) -> bool {
    let separator = match shape.runs.as_slice() {
        b"9-9-9" => '-',
        b"9.9.9" => '.',
        b"9/9/9" => '/',
        _ => return false,
    };
    let parts: Vec<&str> = text.split(separator).collect();
    let is_in = |part: &str, most: u8| part.parse::<u8>().is_ok_and(|number| (1..=most).contains(&number));
    let is_day_and_month = |one: &str, other: &str| {
        is_digits(one, 1..=2)
            && is_digits(other, 1..=2)
            && is_in(one, 31)
            && is_in(other, 31)
            && (is_in(one, 12) || is_in(other, 12))
    };
    match parts.as_slice() {
        [year, month, day] if is_digits(year, 4..=4) => is_day_and_month(month, day),
        [day, month, year] => is_day_and_month(day, month) && (is_digits(year, 4..=4) || is_digits(year, 2..=2)),
        _ => false,
    }
}

fn is_digits(text: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(kind: Kind, text: &str) -> Vec<Feature> {
        let mut shape = Shape::default();
        shape.set(text);
        kind.features().iter().copied().filter(|feature| feature.is_in(&shape, text)).collect()
    }

    #[test]
    fn features_of_texts() {
        use Feature::{
            Barcode, CheckDigit, Date, Decimal, EdgeSign, LookAlike, NoDigit, NoLetter, SingleCharacter, SmallLetter,
            Space, Time,
        };
        for (text, identifier, name) in [
            ("A-100", &[][..], &[][..]),
            ("a-100", &[SmallLetter], &[]),
            ("A-１00", &[LookAlike], &[]),
            ("4006381333931", &[Barcode], &[NoLetter]),
            ("4006381333930", &[CheckDigit], &[NoLetter]),
            ("400638133393", &[CheckDigit], &[NoLetter]),
            ("bolt", &[NoDigit, SmallLetter], &[]),
            ("[A-100]", &[EdgeSign], &[]),
            ("'A-100", &[], &[]),
            ("A-100.", &[EdgeSign], &[]),
            ("A 100", &[Space], &[]),
            ("12.50", &[Decimal], &[Decimal, NoLetter]),
            ("10.100.2", &[], &[NoLetter]),
            ("12:30", &[Time], &[NoLetter]),
            ("2026-03-04", &[Date], &[Date, NoLetter]),
            ("04.03.26", &[Date], &[Date, NoLetter]),
            ("99-99-99", &[], &[NoLetter]),
            ("\u{410}-100", &[LookAlike], &[]),
            ("Ä-100", &[], &[]),
            ("x", &[NoDigit, SmallLetter], &[SingleCharacter]),
        ] {
            assert_eq!(features(Kind::Identifier, text), identifier, "{text}");
            assert_eq!(features(Kind::Name, text), name, "{text}");
        }
    }

    #[test]
    fn runs_ignore_lengths() {
        let runs = |text: &str| {
            let mut shape = Shape::default();
            shape.set(text);
            shape.runs
        };
        assert_eq!(runs("AB-101"), b"L-9");
        assert_eq!(runs("Ö７ x"), b"L9 L");
        assert_eq!(runs("--"), b"--");
        assert_eq!(runs("019a3c00-0002-7000-8000-00000000000a"), runs("019a3c00-0002-7000-8000-000000000005"));
    }
}
