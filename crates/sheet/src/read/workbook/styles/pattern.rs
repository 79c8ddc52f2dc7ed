//! Patterns of number formats: digits with texts around and between them. Shared by all kinds of formats for numbers.

use sheetport_values::decimal::{self, Decimal};

use super::section::{Condition, Section, after_general};

/// Maximum number of decimals, of group separators after the digits, and of percent signs.
const MAX_PLACES: u32 = 15;

/// A section from left to right.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pattern {
    /// The pieces before the decimal point.
    whole: Vec<Piece>,
    /// The pieces after the decimal point.
    rest: Vec<Piece>,
    /// The number is shown divided by a thousand, this many times.
    thousands: u32,
    /// The number is shown multiplied by a hundred, this many times.
    percents: u32,
    /// Whether a separator is shown after every three digits.
    is_grouped: bool,
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// Without group separators and surrounding spaces.
    Bare,
    /// As displayed by a program, in English.
    Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(char),
    /// A digit, displayed even if zero.
    Zero,
    /// A digit, displayed if needed.
    Optional,
    /// A digit, or a space if not needed.
    Spaced,
    /// All digits of the number.
    General,
}

impl Pattern {
    /// Returns the pattern of a whole number.
    pub(super) fn of_whole(whole: Vec<Piece>) -> Pattern {
        Pattern { whole, ..Pattern::default() }
    }

    fn pieces(&self) -> impl DoubleEndedIterator<Item = Piece> + '_ {
        self.whole.iter().chain(&self.rest).copied()
    }

    /// Returns whether the pattern changes the meaning of the number. Percentages have their own format type.
    pub(super) fn matters(&self) -> bool {
        if self.percents > 0 {
            return false;
        }
        let is_literal = |piece: &Piece| matches!(piece, Piece::Literal(_));
        let pieces: Vec<Piece> = self.pieces().collect();
        let Some(first) = pieces.iter().position(|piece| !is_literal(piece)) else {
            // Words instead of the number, or nothing at all.
            let is_blank = |piece: &Piece| matches!(piece, Piece::Literal(c) if c.is_whitespace());
            let is_word = |piece: &Piece| matches!(piece, Piece::Literal(c) if c.is_alphanumeric());
            return pieces.iter().any(is_word) || pieces.iter().all(is_blank);
        };
        let last = pieces.iter().rposition(|piece| !is_literal(piece)).unwrap_or(first);
        let has = |pieces: &[Piece], ignored: &str| {
            let matters = |c: char| !c.is_whitespace() && !ignored.contains(c);
            pieces.iter().any(|piece| matches!(piece, Piece::Literal(c) if matters(*c)))
        };
        self.thousands > 0
            || has(&pieces[..first], "-–—+()'’.,:~")
            || has(&pieces[last..], "-–—+()'’.,:~")
            || has(&pieces[first..last], "'’.,")
    }

    /// Returns the minimum and maximum number of decimals of a plain number. Returns `None` if the pattern displays anything
    /// else, or all digits of the number.
    pub(super) fn decimals(&self) -> Option<(u32, u32)> {
        let is_plain = self.pieces().any(|piece| piece.is_digit())
            && self.pieces().all(|piece| piece != Piece::General)
            && self.percents == 0;
        let fewest = self.rest.iter().filter(|piece| **piece == Piece::Zero).count() as u32;
        (is_plain && !self.matters()).then_some((fewest, self.places()))
    }

    /// Returns whether nothing but digits is shown, without zeros in front.
    pub(super) fn is_bare(&self) -> bool {
        let is_bare = |piece: Piece| matches!(piece, Piece::Zero | Piece::Optional | Piece::General);
        let zeros = self.whole.iter().filter(|piece| **piece == Piece::Zero).count();
        let is_general = self.whole == [Piece::General];
        self.pieces().all(is_bare) && (zeros == 1 || is_general) && self.thousands == 0 && self.percents == 0
    }

    /// Returns whether all decimals of a number are shown.
    pub(super) fn shows_all(&self, number: Decimal) -> bool {
        self.whole.contains(&Piece::General) || number.normalize().scale() <= self.places()
    }

    /// Returns the most decimals.
    fn places(&self) -> u32 {
        self.rest.iter().filter(|piece| piece.is_digit()).count() as u32
    }

    /// Returns whether group separators are displayed in a number that is not negative.
    pub(super) fn groups(&self, number: Decimal) -> bool {
        self.is_grouped
            && self.scaled(number).is_some_and(|number| decimal::round(number, self.places()) >= Decimal::ONE_THOUSAND)
    }

    /// Returns the number whose digits are displayed, or `None` for too many digits.
    fn scaled(&self, mut number: Decimal) -> Option<Decimal> {
        for _ in 0..self.thousands {
            number = decimal::multiply(number, Decimal::new(1, 3)).ok()?;
        }
        for _ in 0..self.percents {
            number = decimal::multiply(number, Decimal::ONE_HUNDRED).ok()?;
        }
        Some(number)
    }

    /// Writes a number without its sign. Returns `None` for too many digits.
    pub(super) fn show(&self, number: Decimal, writing: Writing) -> Option<String> {
        let is_general = self.pieces().any(|piece| piece == Piece::General);
        let number = self.scaled(number)?;
        let number = if is_general { number.normalize() } else { decimal::round(number, self.places()).normalize() };
        let digits = number.to_string();
        let (whole, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
        let mut shown = self.show_whole(if whole == "0" && !is_general { "" } else { whole }, decimals, writing);
        let mut decimals = decimals.chars();
        for (nth, piece) in self.rest.iter().enumerate() {
            let digit = match piece {
                Piece::Literal(literal) => Some(*literal),
                Piece::Zero => Some(decimals.next().unwrap_or('0')),
                Piece::Spaced if writing == Writing::Shown => Some(decimals.next().unwrap_or(' ')),
                Piece::Optional | Piece::Spaced | Piece::General => decimals.next(),
            };
            let is_first = nth == 0 && !matches!(piece, Piece::Literal(_));
            shown.extend(digit.filter(|_| is_first).map(|_| '.'));
            shown.extend(digit);
        }
        Some(match writing {
            Writing::Bare => shown.trim().to_owned(),
            Writing::Shown => shown,
        })
    }

    /// Fills the places with digits from the right. The leftmost place shows all remaining digits.
    fn show_whole(&self, digits: &str, decimals: &str, writing: Writing) -> String {
        let places = self.whole.iter().filter(|piece| piece.is_digit()).count();
        let mut whole =
            Whole { shown: Vec::new(), digits: 0, is_grouped: self.is_grouped && writing == Writing::Shown };
        let (mut left, mut filled) = (digits.chars().rev(), 0);
        if places == 0 && !self.rest.is_empty() {
            left.by_ref().for_each(|digit| whole.digit(digit));
        }
        for piece in self.whole.iter().rev() {
            match piece {
                Piece::Literal(literal) => whole.shown.push(*literal),
                Piece::General => {
                    whole.shown.extend(decimals.chars().rev().chain((!decimals.is_empty()).then_some('.')));
                    whole.shown.extend(left.by_ref());
                }
                Piece::Zero | Piece::Optional | Piece::Spaced => {
                    filled += 1;
                    match left.next() {
                        Some(digit) => whole.digit(digit),
                        None if *piece == Piece::Zero => whole.digit('0'),
                        None if *piece == Piece::Spaced && writing == Writing::Shown => whole.shown.push(' '),
                        None => {}
                    }
                    if filled == places {
                        left.by_ref().for_each(|digit| whole.digit(digit));
                    }
                }
            }
        }
        whole.shown.iter().rev().collect()
    }
}

impl Piece {
    fn is_digit(self) -> bool {
        matches!(self, Piece::Zero | Piece::Optional | Piece::Spaced)
    }
}

/// The part before the decimal point, from right to left.
struct Whole {
    shown: Vec<char>,
    digits: usize,
    is_grouped: bool,
}

impl Whole {
    fn digit(&mut self, digit: char) {
        if self.is_grouped && self.digits > 0 && self.digits.is_multiple_of(3) {
            self.shown.push(',');
        }
        self.shown.push(digit);
        self.digits += 1;
    }
}

/// Parses a section for numbers. Sections of dates, fractions, exponents or texts have no pattern.
pub(super) fn section(code: &str) -> Section<Option<Pattern>> {
    let mut section = Section { condition: None, content: None };
    let mut pattern = Pattern::default();
    let (mut is_past_point, mut commas) = (false, 0);
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        let has_digits = pattern.pieces().any(|piece| !matches!(piece, Piece::Literal(_)));
        let pieces = if is_past_point { &mut pattern.rest } else { &mut pattern.whole };
        match c {
            '0' | '#' | '?' => {
                pieces.push(match c {
                    '0' => Piece::Zero,
                    '#' => Piece::Optional,
                    _ => Piece::Spaced,
                });
                pattern.is_grouped |= commas > 0;
                commas = 0;
            }
            '.' if !is_past_point => is_past_point = true,
            ',' if has_digits => commas += 1,
            '"' => pieces.extend(chars.by_ref().take_while(|c| *c != '"').map(Piece::Literal)),
            '\\' => pieces.extend(chars.next().map(Piece::Literal)),
            // A space as wide as a character, or a fill character.
            '_' => {
                chars.next();
                pieces.push(Piece::Literal(' '));
            }
            '*' => drop(chars.next()),
            '[' => {
                let inner: String = chars.by_ref().take_while(|c| *c != ']').collect();
                if let Some(symbol) = inner.strip_prefix('$') {
                    // [$€-407]: the currency and the language.
                    let symbol = symbol.rsplit_once('-').map_or(symbol, |(symbol, _)| symbol);
                    pieces.extend(symbol.chars().map(Piece::Literal));
                } else if inner.starts_with(['<', '>', '=']) {
                    section.condition = Condition::parse(&inner);
                } else if inner.chars().all(|c| matches!(c.to_ascii_lowercase(), 'h' | 'm' | 's')) {
                    return section;
                }
            }
            'G' | 'g' if let Some(rest) = after_general(chars.as_str()) => {
                pieces.push(Piece::General);
                chars = rest.chars();
            }
            '%' => {
                pieces.push(Piece::Literal('%'));
                pattern.percents += 1;
            }
            // A text, a fraction, an exponent or a date, perhaps in another language.
            '@' | '/' => return section,
            c if c.is_alphabetic() => return section,
            c => pieces.push(Piece::Literal(c)),
        }
    }
    pattern.thousands = commas.min(MAX_PLACES);
    let is_usable = pattern.percents <= MAX_PLACES
        && (pattern.rest.len() <= MAX_PLACES as usize || pattern.rest.contains(&Piece::Literal(' ')));
    section.content = Some(pattern).filter(|_| is_usable);
    section
}
