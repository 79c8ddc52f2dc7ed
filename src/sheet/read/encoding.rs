//! Which encoding a text file has, found out from its first bytes or named by the caller.

use std::io::{self, Read};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::dialect::Sure;

const CHUNK: usize = 128 * 1024;
/// 64 MiB are looked through for a byte that is not ASCII, which takes a few hundredths of a second.
const CHUNKS_FURTHER_ON: usize = 512;

/// An encoding, and how many bytes of byte order mark stand before the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    pub encoding: &'static Encoding,
    pub mark: usize,
}

/// The encoding that `label` names, whatever the file looks like.
pub fn named(label: &str, sample: &[u8]) -> Option<Found> {
    let encoding = Encoding::for_label_no_replacement(label.trim().as_bytes())?;
    let mark = Encoding::for_bom(sample).map_or(0, |(marked, len)| if marked == encoding { len } else { 0 });
    Some(Found { encoding, mark })
}

/// The encoding of a text that begins with `sample`, and how sure that is; `whole` says that the sample is all of it.
pub fn detect(sample: &[u8], whole: bool) -> (Found, Sure) {
    if let Some((encoding, mark)) = Encoding::for_bom(sample) {
        return (Found { encoding, mark }, Sure::Certain);
    }
    let (encoding, sure) = match utf16_without_mark(sample) {
        Some(encoding) => (encoding, Sure::Likely),
        // Text in another encoding is hardly ever valid UTF-8 by chance.
        None if is_utf8(sample, whole) => (UTF_8, Sure::Certain),
        None => {
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
            detector.feed(sample, whole);
            // A handful of letters fit many encodings.
            let letters = sample.iter().filter(|byte| !byte.is_ascii()).count();
            (detector.guess(None, Utf8Detection::Deny), if letters < 6 { Sure::Guess } else { Sure::Likely })
        }
    };
    (Found { encoding, mark: 0 }, sure)
}

/// The encoding of a file whose sample, all ASCII, fits nearly any: as [`detect`] finds it where the first other byte
/// stands. A price list in one byte may have its first umlaut thousands of rows down. `rest` is what follows the sample.
pub fn detect_further_on(rest: &mut impl Read) -> io::Result<(Found, Sure)> {
    let mut chunk = Vec::with_capacity(CHUNK);
    for _ in 0..CHUNKS_FURTHER_ON {
        chunk.clear();
        let len = rest.by_ref().take(CHUNK as u64).read_to_end(&mut chunk)?;
        if !chunk.is_ascii() || len == 0 {
            break;
        }
    }
    Ok(detect(&chunk, false))
}

/// The sample as text, for detection alone. A character that the end of the sample cuts is left out.
pub fn decode_sample(sample: &[u8], found: Found) -> String {
    let sample = &sample[found.mark.min(sample.len())..];
    let mut decoder = found.encoding.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(sample.len()).unwrap_or(0));
    let _ = decoder.decode_to_string(sample, &mut text, false);
    text
}

/// Valid, save for a character that the end of the sample may have cut.
fn is_utf8(sample: &[u8], whole: bool) -> bool {
    match std::str::from_utf8(sample) {
        Ok(_) => true,
        Err(error) => !whole && error.error_len().is_none(),
    }
}

/// UTF-16 shows by the zero bytes of its ASCII characters, which all fall on one side of the pairs.
fn utf16_without_mark(sample: &[u8]) -> Option<&'static Encoding> {
    let (mut even, mut odd) = (0, 0);
    for pair in sample.chunks_exact(2) {
        even += usize::from(pair[0] == 0);
        odd += usize::from(pair[1] == 0);
    }
    let encoding = match (even, odd) {
        (0, 0) => return None,
        (even, odd) if odd > even * 5 => UTF_16LE,
        (even, odd) if even > odd * 5 => UTF_16BE,
        _ => return None,
    };
    // Even text in a script without zero bytes has line breaks, delimiters and digits.
    if even.max(odd) * 10 < sample.len() / 2 {
        return None;
    }
    let text = decode_sample(sample, Found { encoding, mark: 0 });
    let plain = |c: char| !matches!(c, '\0'..='\x08' | '\x0B' | '\x0E'..='\x1F' | char::REPLACEMENT_CHARACTER);
    (!text.is_empty() && text.chars().all(plain)).then_some(encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(sample: &[u8], whole: bool) -> &'static str {
        detect(sample, whole).0.encoding.name()
    }

    fn utf16le(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn encodings_are_found_by_mark_by_zero_bytes_and_by_validity() {
        assert_eq!(detect(b"\xEF\xBB\xBFa", true).0, Found { encoding: UTF_8, mark: 3 });
        assert_eq!(detect(b"\xFF\xFEa\0", true).0, Found { encoding: UTF_16LE, mark: 2 });
        assert_eq!(detect(b"\xFE\xFF\0a", true).0, Found { encoding: UTF_16BE, mark: 2 });
        assert_eq!(name(&utf16le("Größe;Stück\r\n42;7\r\n"), true), "UTF-16LE");
        assert_eq!(name(&utf16le("Артикул;Цена\r\nБолт;7\r\n"), true), "UTF-16LE");
        assert_eq!(name(b"SKU;Name\r\n42;Bolt\r\n", true), "UTF-8");
        assert_eq!(name("Größe".as_bytes(), true), "UTF-8");
    }

    #[test]
    fn german_in_one_byte_is_windows_1252() {
        for text in ["Größe;Stück\r\n5;7\r\n", "Name\r\nMüller\r\n", "Straße;Preis in €\r\nÄußere Gasse 1;5\r\n", "Maß"]
        {
            let (bytes, _, _) = encoding_rs::WINDOWS_1252.encode(text);
            assert_eq!(name(&bytes, true), "windows-1252", "{text}");
        }
    }

    #[test]
    fn a_sample_that_cuts_a_character_is_still_utf8_but_a_whole_file_is_not() {
        let cut = &"Stück für Stück: ü".as_bytes()[.."Stück für Stück: ".len() + 1];
        assert_eq!(name(cut, false), "UTF-8");
        assert_ne!(name(cut, true), "UTF-8");
    }

    #[test]
    fn a_label_wins_and_an_unknown_one_is_none() {
        assert_eq!(named(" Latin1 ", b"a").map(|found| found.encoding.name()), Some("windows-1252"));
        assert_eq!(named("utf-8", b"\xEF\xBB\xBFa").map(|found| found.mark), Some(3));
        assert!(named("klingon", b"a").is_none());
    }
}
