//! Reading of small text files: templates, settings, fault plans; line ends.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum size of a text file, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Reads the text file at `path`, which may be a pipe or a device of unknown size.
///
/// # Errors
/// If the file is unreadable, larger than 1 MiB, or neither UTF-8 nor UTF-16 with a byte order mark.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_SIZE + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_SIZE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MiB"));
    }
    if let Some(text) = from_utf16(&text) {
        return text;
    }
    String::from_utf8(text).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        io::Error::new(io::ErrorKind::InvalidData, format!("it is not UTF-8 text (byte {})", place + 1))
    })
}

/// Decodes UTF-16, as written by `>` in Windows PowerShell and by old editors. Returns `None` without a byte order mark.
fn from_utf16(text: &[u8]) -> Option<io::Result<String>> {
    let unit: fn([u8; 2]) -> u16 = match text {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let (pairs, rest) = text[2..].as_chunks::<2>();
    let decoded = char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<String, _>>();
    Some(match decoded {
        Ok(decoded) if rest.is_empty() => Ok(decoded),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "it begins like UTF-16 text, but is none")),
    })
}

/// Returns the text with all line ends replaced by `\n`, because other programs may change line ends.
pub fn normalize_line_ends(text: &str) -> Cow<'_, str> {
    match text.contains('\r') {
        true => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_a_maximum_size() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.toml");
        for (size, is_read) in [(0, true), (MAX_SIZE, true), (MAX_SIZE + 1, false)] {
            let text = "x".repeat(usize::try_from(size).expect("a small number"));
            std::fs::write(&path, &text).expect("written");
            assert_eq!(read_text(&path).ok(), is_read.then_some(text));
        }
    }

    #[test]
    fn the_place_of_bytes_that_are_no_text_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.toml");
        std::fs::write(&path, b"name = \"\xfc\"").expect("written");
        let error = read_text(&path).expect_err("not UTF-8");
        assert_eq!(error.to_string(), "it is not UTF-8 text (byte 9)");
    }

    #[test]
    fn utf16_with_a_byte_order_mark_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.toml");
        let text = "name = \"Grüße 🔩\"\r\n";
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let marked: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(order).collect();
            std::fs::write(&path, &marked).expect("written");
            assert_eq!(read_text(&path).expect("UTF-16"), text);
            std::fs::write(&path, &marked[..marked.len() - 1]).expect("written");
            assert!(read_text(&path).is_err(), "half a character is missing");
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_endless_device_is_too_large() {
        let error = read_text(Path::new("/dev/zero")).expect_err("endless");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
