//! Reading of small text files: templates, settings, fault plans.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum size of a text file that is read as a whole, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Reads the text file at `path`. The file may be a pipe or a device, whose size is not known beforehand.
///
/// # Errors
/// If it can't be read, is larger than 1 MiB, or is not UTF-8.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_SIZE + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_SIZE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MiB"));
    }
    String::from_utf8(text).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        io::Error::new(io::ErrorKind::InvalidData, format!("it is not UTF-8 text (byte {})", place + 1))
    })
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

    #[cfg(unix)]
    #[test]
    fn an_endless_device_is_too_large() {
        let error = read_text(Path::new("/dev/zero")).expect_err("endless");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
