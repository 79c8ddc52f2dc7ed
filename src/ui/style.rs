//! Styles. The text carries the same meaning without styles.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

/// A style. In text for the functions of [`super`], `{style}` starts the style and `{style:#}` ends it. These functions translate
/// both for the terminal.
///
/// Foreign text can't contain styles, because the marks contain a random number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style(&'static str);

pub const ERROR: Style = Style("1;31");
pub const HINT: Style = Style("1;36");
pub const GOOD: Style = Style("32");
pub const BAD: Style = Style("31");
pub const DOUBT: Style = Style("33");
pub const FAINT: Style = Style("2");
pub const STRONG: Style = Style("1");
pub const PLAIN: Style = Style("0");

/// The start of a mark, and the character at its end.
static MARK: LazyLock<String> = LazyLock::new(|| format!("\x1b{:016x}:", RandomState::new().build_hasher().finish()));
const MARK_END: char = 'm';

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = if f.alternate() { PLAIN.0 } else { self.0 };
        write!(f, "{}{code}{MARK_END}", *MARK)
    }
}

/// Replaces marks by escape sequences, and applies `shown` to the text in between.
pub(super) fn translated(text: &str, shown: impl Fn(&str) -> String) -> String {
    let mut parts = text.split(MARK.as_str());
    let mut translated = shown(parts.next().unwrap_or_default());
    for part in parts {
        let (code, text) = part.split_once(MARK_END).unwrap_or((PLAIN.0, part));
        translated.push_str(&format!("\x1b[{code}m{}", shown(text)));
    }
    translated
}

#[cfg(test)]
mod tests {
    use sheetport_files::visible::one_line;

    use super::*;

    #[test]
    fn only_own_styles_are_translated() {
        let text = format!("{BAD}a\x1b[31m\nb{BAD:#}\x1b[0m");
        assert_eq!(translated(&text, |text| one_line(text).into_owned()), "\x1b[31ma⟨U+001B⟩[31m⏎b\x1b[0m⟨U+001B⟩[0m");
    }
}
