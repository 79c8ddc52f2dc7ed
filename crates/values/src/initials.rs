//! The first characters of lists of words.

/// The first characters of the words of a list: most texts are ruled out by theirs, without a look at the list. A bit per character of
/// ASCII, and the last one for all others.
#[derive(Clone, Copy, Default)]
pub(super) struct Initials(u128);

impl Initials {
    const OTHERS: u32 = 127;

    /// Returns those of the words. `ignores_case`: in either case, as far as they are letters of ASCII.
    pub(super) fn of(words: &[String], ignores_case: bool) -> Initials {
        let bits = words.iter().filter_map(|word| word.bytes().next()).map(|byte| match ignores_case {
            true => Initials::bit(byte.to_ascii_lowercase()) | Initials::bit(byte.to_ascii_uppercase()),
            false => Initials::bit(byte),
        });
        Initials(bits.fold(0, |all, bit| all | bit))
    }

    fn bit(byte: u8) -> u128 {
        1 << if byte.is_ascii() { u32::from(byte) } else { Initials::OTHERS }
    }

    /// Whether a text begins like one of the words.
    pub(super) fn has(self, text: &str) -> bool {
        text.bytes().next().is_some_and(|byte| self.0 & Initials::bit(byte) != 0)
    }
}
