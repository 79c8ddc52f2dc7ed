//! Makes hidden characters of foreign text visible: characters that terminals, browsers or people do not see, or that have side
//! effects, are shown by number.

use std::borrow::Cow;
use std::io::{self, Write};

/// Cyrillic and Greek letters, each followed by the Latin letter with the same shape.
const LOOK_ALIKES: &str = "АAВBЕEКKМMНHОOРPСCТTУYХXІIЈJЅSԌGӀIΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXаAеEоOрPсCуYхXіIјJѕSοO";

/// Replaces invisible characters by `⟨U+202E⟩`. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, is_invisible, |shown, c| shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))))
}

/// Replaces invisible characters as [`visible`] does, line breaks by `⏎` and tabs by spaces.
pub fn one_line(text: &str) -> Cow<'_, str> {
    // A carriage return is invisible, too.
    if is_printable_ascii(text) || !text.contains(|c| is_invisible(c) || matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    let replaced = shown(
        &text,
        |c| is_invisible(c) || matches!(c, '\n' | '\t'),
        |shown, c| match c {
            '\n' | '\r' => shown.push('⏎'),
            '\t' => shown.push(' '),
            c => shown.push_str(&visible(c.encode_utf8(&mut [0; 4]))),
        },
    );
    Cow::Owned(replaced.into_owned())
}

/// Escapes invisible characters in JSON, because serializers write these unescaped.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    shown(json, is_invisible, |shown, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            shown.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

fn shown<'t>(text: &'t str, is_replaced: impl Fn(char) -> bool, replace: impl Fn(&mut String, char)) -> Cow<'t, str> {
    if is_printable_ascii(text) || !text.contains(&is_replaced) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_replaced(c) { replace(&mut shown, c) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Whether this is one of the many texts without any character to replace, by a check that is faster than one by characters.
fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Returns the Latin letter that a letter of another script looks like.
pub fn look_alike(c: char) -> Option<char> {
    // Most letters of other scripts are none of these two.
    if !matches!(c, '\u{370}'..='\u{52f}') {
        return None;
    }
    let mut pairs = LOOK_ALIKES.chars().step_by(2).zip(LOOK_ALIKES.chars().skip(1).step_by(2));
    pairs.find(|(other, _)| *other == c).map(|(_, latin)| latin)
}

/// Maximum length of a buffered line, in bytes.
const MAX_LINE: usize = 64 * 1024;

/// Filters written text line by line with [`visible`], for a terminal.
pub struct VisibleWriter<W: Write> {
    output: W,
    /// The start of a line.
    line: Vec<u8>,
    /// Whether the text is a CSV. Line breaks within quotes then do not end a row.
    is_csv: bool,
    is_quoted: bool,
}

impl<W: Write> VisibleWriter<W> {
    pub fn new(output: W) -> VisibleWriter<W> {
        VisibleWriter::create(output, false)
    }

    /// Returns a writer for a CSV. Line breaks in cells are shown as `⏎`, so that a cell can't forge a row.
    pub fn csv(output: W) -> VisibleWriter<W> {
        VisibleWriter::create(output, true)
    }

    fn create(output: W, is_csv: bool) -> VisibleWriter<W> {
        VisibleWriter { output, line: Vec::new(), is_csv, is_quoted: false }
    }

    /// Appends to the line, up to the end of the line.
    fn push(&mut self, piece: &[u8]) {
        if self.is_csv {
            let quotes = piece.iter().filter(|byte| **byte == b'"').count();
            self.is_quoted ^= quotes % 2 == 1;
        }
        let text = piece.strip_suffix(b"\n").filter(|_| self.is_quoted);
        self.line.extend_from_slice(text.unwrap_or(piece));
        if text.is_some() {
            self.line.pop_if(|last| *last == b'\r');
            self.line.extend_from_slice("⏎".as_bytes());
        }
    }
}

impl<W: Write> Write for VisibleWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.push(piece);
            if self.line.ends_with(b"\n") || self.line.len() > MAX_LINE {
                self.flush()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        // The line ending of a CSV.
        let (line, end) = line.strip_suffix("\r\n").map_or((&*line, ""), |line| (line, "\n"));
        self.output.write_all(visible(line).as_bytes())?;
        self.output.write_all(end.as_bytes())?;
        self.output.flush()
    }
}

impl<W: Write> Drop for VisibleWriter<W> {
    fn drop(&mut self) {
        // Errors of the last line can't be reported here; callers flush.
        let _ = self.flush();
    }
}

/// Returns true for control characters other than line feed and tab, and characters without width other than joiners, which emoji
/// and some scripts need.
pub fn is_invisible(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || has_no_width(c) && !matches!(c, '\u{200C}' | '\u{200D}')
}

/// Returns true for characters without width: soft hyphens, joiners, direction marks, invisible operators, byte order marks and tags.
/// Where two texts are compared, nobody sees that they differ by one.
pub fn has_no_width(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x61C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE007F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_marks_and_controls_are_shown() {
        assert_eq!(visible("photo\u{202E}gpj.exe"), "photo⟨U+202E⟩gpj.exe");
        assert_eq!(visible("pcs\u{200B}\0"), "pcs⟨U+200B⟩⟨U+0000⟩");
        assert_eq!(visible("\x1b]52;c;AAAA\x07\u{9b}31m"), "⟨U+001B⟩]52;c;AAAA⟨U+0007⟩⟨U+009B⟩31m");
        assert!(matches!(visible("Größe 5\n\t日本 🙂 שלום"), Cow::Borrowed(_)));
    }

    #[test]
    fn line_breaks_are_shown_in_one_line() {
        assert_eq!(one_line("a\r\nb\nc\rd\te\u{202E}"), "a⏎b⏎c⏎d e⟨U+202E⟩");
        assert!(matches!(one_line("Größe 5"), Cow::Borrowed(_)));
    }

    #[test]
    fn text_for_a_terminal_is_shown_line_by_line() {
        let mut output = Vec::new();
        let mut shown = VisibleWriter::new(&mut output);
        shown.write_all("a\x1b[31m,Gr".as_bytes()).expect("the test's own text");
        shown.write_all("öße\r\nb\rc\nlast\u{202E}".as_bytes()).expect("the test's own text");
        drop(shown);
        let text = String::from_utf8(output).expect("the test's own text");
        assert_eq!(text, "a⟨U+001B⟩[31m,Größe\nb⟨U+000D⟩c\nlast⟨U+202E⟩");
    }

    #[test]
    fn a_cell_does_not_forge_a_row() {
        let mut output = Vec::new();
        let mut shown = VisibleWriter::csv(&mut output);
        for piece in ["SKU,Name\r\n1,\"a \"\"b\"\"\r", "\n2,c\n\n3\"\r\n4,", "\"\n\",d\n5"] {
            shown.write_all(piece.as_bytes()).expect("the test's own text");
        }
        drop(shown);
        let text = String::from_utf8(output).expect("the test's own text");
        assert_eq!(text, "SKU,Name\n1,\"a \"\"b\"\"⏎2,c⏎⏎3\"\n4,\"⏎\",d\n5");
    }

    #[test]
    fn json_stays_the_same_value() {
        let text = "a\u{9b}\u{202E}\u{E0041}b";
        let escaped = escaped_json(&serde_json::to_string(text).expect("the test's own text")).into_owned();
        assert_eq!(escaped, r#""a\u009b\u202e\udb40\udc41b""#);
        assert_eq!(serde_json::from_str::<String>(&escaped).expect("the test's own text"), text);
    }
}
