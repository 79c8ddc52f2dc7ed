//! Text files' encodings: which one a file has, and its text as UTF-8, chunk by chunk.
//!
//! Nothing is ever replaced by U+FFFD: bytes that the encoding does not know are a fault, told where they stand.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

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

/// The encoding of a text that begins with `sample`; `whole` says that the sample is all of it.
pub fn detect(sample: &[u8], whole: bool) -> Found {
    if let Some((encoding, mark)) = Encoding::for_bom(sample) {
        return Found { encoding, mark };
    }
    let encoding = utf16_without_mark(sample).unwrap_or_else(|| {
        if is_utf8(sample, whole) {
            return UTF_8;
        }
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        detector.feed(sample, whole);
        detector.guess(None, Utf8Detection::Deny)
    });
    Found { encoding, mark: 0 }
}

/// The encoding of a file whose sample, all ASCII, fits nearly any: as [`detect`] finds it where the first other byte
/// stands. A price list in one byte may have its first umlaut thousands of rows down.
pub fn detect_further_on(file: &mut File, sample: &[u8]) -> io::Result<Found> {
    file.seek(SeekFrom::Start(sample.len() as u64))?;
    let mut chunk = Vec::with_capacity(CHUNK);
    for _ in 0..CHUNKS_FURTHER_ON {
        chunk.clear();
        let len = Read::by_ref(file).take(CHUNK as u64).read_to_end(&mut chunk)?;
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

/// What stopped a text.
#[derive(Debug)]
pub enum Fault {
    Io(io::Error),
    /// Bytes that are no character of the encoding.
    Malformed,
}

/// A file's text as UTF-8. A file that is UTF-8 passes through as it is, unchecked: whoever uses the bytes as text
/// checks them.
pub struct Source {
    file: File,
    raw: Vec<u8>,
    raw_at: usize,
    raw_end: usize,
    at_end: bool,
    decoder: Option<Decoder>,
    text: Vec<u8>,
    text_at: usize,
    text_end: usize,
    malformed: bool,
    flushed: bool,
}

impl Source {
    pub fn new(mut file: File, found: Found) -> io::Result<Source> {
        file.seek(SeekFrom::Start(found.mark as u64))?;
        let decoder = (found.encoding != UTF_8).then(|| found.encoding.new_decoder_without_bom_handling());
        Ok(Source {
            file,
            raw: vec![0; CHUNK],
            raw_at: 0,
            raw_end: 0,
            at_end: false,
            text: if decoder.is_some() { vec![0; CHUNK] } else { Vec::new() },
            decoder,
            text_at: 0,
            text_end: 0,
            malformed: false,
            flushed: false,
        })
    }

    /// The text that is at hand, read from the file when there is none; empty at the end of the file.
    #[inline]
    pub fn fill(&mut self) -> Result<&[u8], Fault> {
        if self.decoder.is_none() {
            if self.raw_at == self.raw_end {
                self.read().map_err(Fault::Io)?;
            }
            return Ok(&self.raw[self.raw_at..self.raw_end]);
        }
        if self.text_at == self.text_end {
            self.decode()?;
        }
        Ok(&self.text[self.text_at..self.text_end])
    }

    /// Marks the first `len` bytes of what [`Source::fill`] gave as used.
    #[inline]
    pub fn consume(&mut self, len: usize) {
        if self.decoder.is_none() {
            self.raw_at += len;
        } else {
            self.text_at += len;
        }
    }

    fn read(&mut self) -> io::Result<()> {
        self.raw_at = 0;
        self.raw_end = 0;
        while !self.at_end {
            match self.file.read(&mut self.raw) {
                Ok(len) => {
                    self.raw_end = len;
                    self.at_end = len == 0;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn decode(&mut self) -> Result<(), Fault> {
        self.text_at = 0;
        self.text_end = 0;
        while self.text_end == 0 && !self.flushed {
            if self.malformed {
                return Err(Fault::Malformed);
            }
            if self.raw_at == self.raw_end {
                self.read().map_err(Fault::Io)?;
            }
            let Some(decoder) = &mut self.decoder else { return Ok(()) };
            let raw = &self.raw[self.raw_at..self.raw_end];
            let (result, read, written) = decoder.decode_to_utf8_without_replacement(raw, &mut self.text, self.at_end);
            self.raw_at += read;
            self.text_end = written;
            match result {
                DecoderResult::InputEmpty => self.flushed = self.at_end,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => self.malformed = true,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(sample: &[u8], whole: bool) -> &'static str {
        detect(sample, whole).encoding.name()
    }

    fn utf16le(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn encodings_are_found_by_mark_by_zero_bytes_and_by_validity() {
        assert_eq!(detect(b"\xEF\xBB\xBFa", true), Found { encoding: UTF_8, mark: 3 });
        assert_eq!(detect(b"\xFF\xFEa\0", true), Found { encoding: UTF_16LE, mark: 2 });
        assert_eq!(detect(b"\xFE\xFF\0a", true), Found { encoding: UTF_16BE, mark: 2 });
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
