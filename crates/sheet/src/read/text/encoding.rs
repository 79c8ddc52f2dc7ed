//! Detection of text encodings.

use std::io::{self, Read};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    EUC_KR, Encoding, GBK, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1254,
};

use super::code_page::{self, Evidence};
use super::confidence::Confidence;
use super::readings::{self, Rating};
use super::text_encoding::{Stopped, TextEncoding};

const CHUNK: usize = 128 * 1024;
/// Maximum number of chunks to search for a non-ASCII byte: 64 MiB, a few hundredths of a second.
const MAX_CHUNKS: usize = 512;

/// An encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetectedEncoding {
    pub encoding: TextEncoding,
    /// Length of the byte order mark.
    pub bom: usize,
    /// Why the encoding is only a guess.
    pub doubt: Option<EncodingDoubt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodingDoubt {
    /// The letters of the text suggest a code page of DOS or an old Mac, and nothing else determines the encoding.
    CodePage,
    /// The text has few letters, and some are others in a related encoding.
    FewLetters,
}

/// The encodings of western, central and eastern Europe and of Turkish, which have most letters in common.
const RELATED: [&Encoding; 3] = [WINDOWS_1252, WINDOWS_1250, WINDOWS_1254];
/// Encodings other than [`RELATED`] in which most files of their languages are.
const USUAL: [&Encoding; 4] = [WINDOWS_1251, SHIFT_JIS, GBK, EUC_KR];
/// Number of non-ASCII bytes from which the encoding is known.
const ENOUGH_LETTERS: usize = 6;
/// The same for unusual encodings.
const ENOUGH_UNUSUAL: usize = 20;

impl DetectedEncoding {
    pub(crate) fn new(encoding: TextEncoding, bom: usize) -> DetectedEncoding {
        DetectedEncoding { encoding, bom, doubt: None }
    }

    /// Whether the program that wrote this text needs a byte order mark to read UTF-8: the text has a mark, or is in another
    /// encoding.
    pub fn needs_mark(&self) -> bool {
        self.bom > 0 || self.encoding != TextEncoding::UTF_8
    }
}

/// Returns the encoding with this label. The content matters only for the byte order mark.
pub(crate) fn with_label(label: &str, sample: &[u8]) -> Option<DetectedEncoding> {
    let encoding = TextEncoding::for_label(label)?;
    let bom = TextEncoding::for_mark(sample).map_or(0, |(marked, len)| if marked == encoding { len } else { 0 });
    Some(DetectedEncoding::new(encoding, bom))
}

/// Returns the encoding of a byte order mark.
pub(crate) fn marked(sample: &[u8]) -> Option<TextEncoding> {
    TextEncoding::for_mark(sample).map(|(encoding, _)| encoding)
}

/// Detects the encoding of a text from the first bytes. `whole` means a complete text.
pub(crate) fn detect(sample: &[u8], whole: bool) -> (DetectedEncoding, Confidence) {
    if let Some((encoding, bom)) = TextEncoding::for_mark(sample) {
        return (DetectedEncoding::new(encoding, bom), Confidence::Certain);
    }
    let (encoding, confidence) = match utf16_without_bom(sample) {
        Some(encoding) => (encoding, Confidence::Likely),
        // Text in another encoding is almost never valid UTF-8.
        None if is_utf8(sample, whole) => (UTF_8, Confidence::Certain),
        None if is_mostly_utf8(sample) => (UTF_8, Confidence::Likely),
        None => {
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
            detector.feed(sample, whole);
            let has_only_symbols = has_only_symbols(sample);
            let guess = match has_only_symbols {
                true => WINDOWS_1252,
                false => detector.guess(None, Utf8Detection::Deny),
            };
            let (encoding, doubt) = match code_page::evidence(sample, guess) {
                Evidence::Page(page) => (TextEncoding::of_page(page), Some(EncodingDoubt::CodePage)),
                Evidence::None if has_only_symbols => (TextEncoding::web(guess), None),
                evidence => by_letters(sample, guess, evidence == Evidence::Unclear),
            };
            let is_guess = doubt.is_some() || letters(sample).count() < ENOUGH_LETTERS;
            let confidence = if is_guess { Confidence::Guess } else { Confidence::Likely };
            return (DetectedEncoding { encoding, bom: 0, doubt }, confidence);
        }
    };
    (DetectedEncoding::new(TextEncoding::web(encoding), 0), confidence)
}

/// Whether all non-ASCII bytes are symbols of windows-1252 without a letter beside them, such as `£` and `½`, which are letters in
/// windows-1250.
fn has_only_symbols(sample: &[u8]) -> bool {
    const SYMBOLS: &[u8] = b"\x80\x96\x97\xA3\xA9\xAE\xB0\xB1\xB2\xB3\xBC\xBD\xBE";
    let is_letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    let is_symbol = |(at, byte): (usize, &u8)| {
        let (before, after) = (at.checked_sub(1).and_then(|before| sample.get(before)), sample.get(at + 1));
        // Square and cubic metres.
        let is_power = matches!(byte, 0xB2 | 0xB3) && matches!(before, Some(b'm'));
        SYMBOLS.contains(byte) && (is_power || !is_letter(before)) && !is_letter(after)
    };
    sample.iter().enumerate().filter(|(_, byte)| !byte.is_ascii()).all(is_symbol)
}

/// Returns the encoding of a text that is probably in the encoding `guess`, by its letters, and the doubt about it. `is_unclear`:
/// the text has evidence for a code page of DOS or an old Mac.
fn by_letters(sample: &[u8], guess: &'static Encoding, is_unclear: bool) -> (TextEncoding, Option<EncodingDoubt>) {
    let encoding = TextEncoding::web(guess);
    match readings::rate(sample, guess) {
        Rating::Replaced(other) if other.is_of_dos_or_mac() => (other, Some(EncodingDoubt::CodePage)),
        Rating::Replaced(other) => (other, Some(EncodingDoubt::FewLetters)),
        Rating::Impossible => (encoding, Some(EncodingDoubt::CodePage)),
        _ if is_unclear => (encoding, Some(EncodingDoubt::CodePage)),
        Rating::Ambiguous => (encoding, Some(EncodingDoubt::FewLetters)),
        Rating::Unknown => (encoding, doubt_of_letters(sample, guess)),
        Rating::Clear => (encoding, None),
    }
}

/// Returns the bytes of letters outside ASCII.
fn letters(sample: &[u8]) -> impl Iterator<Item = u8> {
    sample.iter().copied().filter(|byte| !byte.is_ascii())
}

/// Returns the doubt about a guess from few letters in an unknown language. German letters, for example, are the same in all
/// related encodings.
fn doubt_of_letters(sample: &[u8], guess: &'static Encoding) -> Option<EncodingDoubt> {
    let is_certain = |enough| letters(sample).nth(enough - 1).is_some();
    let decoded = |encoding: &'static Encoding| {
        encoding.decode_without_bom_handling(&letters(sample).take(ENOUGH_LETTERS).collect::<Vec<_>>()).0.into_owned()
    };
    let is_known = match guess {
        guess if RELATED.contains(&guess) => {
            is_certain(ENOUGH_LETTERS) || RELATED.iter().all(|other| decoded(other) == decoded(guess))
        }
        guess if USUAL.contains(&guess) => is_certain(ENOUGH_LETTERS),
        _ => is_certain(ENOUGH_UNUSUAL),
    };
    (!is_known).then_some(EncodingDoubt::FewLetters)
}

/// Detects the encoding of a file with an ASCII sample from the first other byte, possibly thousands of rows down.
/// `rest` is the file after the sample.
pub(crate) fn detect_in_rest(rest: &mut impl Read) -> io::Result<(DetectedEncoding, Confidence)> {
    let mut chunk = Vec::with_capacity(CHUNK);
    for _ in 0..MAX_CHUNKS {
        chunk.clear();
        let len = rest.by_ref().take(CHUNK as u64).read_to_end(&mut chunk)?;
        if !chunk.is_ascii() || len == 0 {
            break;
        }
    }
    Ok(detect(&chunk, false))
}

/// Decodes the sample for detection. A character cut by the end of the sample is left out.
pub(crate) fn decode_sample(sample: &[u8], found: DetectedEncoding) -> String {
    let mut rest = &sample[found.bom.min(sample.len())..];
    let (mut decoder, mut text, mut out) = (found.encoding.decoder(), String::new(), vec![0; CHUNK]);
    loop {
        let (stopped, taken, written) = decoder.decode(rest, &mut out, false);
        rest = &rest[taken..];
        text.push_str(&String::from_utf8_lossy(&out[..written]));
        match stopped {
            Stopped::InputEmpty => return text,
            Stopped::OutputFull => {}
            Stopped::Malformed => text.push(char::REPLACEMENT_CHARACTER),
        }
    }
}

/// Returns true for valid UTF-8, except for a character cut by the end of the sample.
fn is_utf8(sample: &[u8], whole: bool) -> bool {
    match std::str::from_utf8(sample) {
        Ok(_) => true,
        Err(error) => !whole && error.error_len().is_none(),
    }
}

/// Returns true for UTF-8 with a few stray bytes, as in a file with rows from different programs. Letters of other encodings are
/// rarely valid UTF-8.
fn is_mostly_utf8(sample: &[u8]) -> bool {
    const RATIO: usize = 4;
    let (mut valid, mut invalid) = (0, 0);
    for chunk in sample.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    valid >= RATIO * invalid && valid > 0
}

/// Detects UTF-16 by the zero bytes of ASCII characters: all on the same side of the pairs.
fn utf16_without_bom(sample: &[u8]) -> Option<&'static Encoding> {
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
    // Text in any script has ASCII line breaks, delimiters and digits.
    if even.max(odd) * 10 < sample.len() / 2 {
        return None;
    }
    let text = decode_sample(sample, DetectedEncoding::new(TextEncoding::web(encoding), 0));
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
    fn encodings_are_detected_by_bom_zero_bytes_and_validity() {
        assert_eq!(detect(b"\xEF\xBB\xBFa", true).0, DetectedEncoding::new(TextEncoding::UTF_8, 3));
        assert_eq!(detect(b"\xFF\xFEa\0", true).0, DetectedEncoding::new(TextEncoding::web(UTF_16LE), 2));
        assert_eq!(detect(b"\xFE\xFF\0a", true).0, DetectedEncoding::new(TextEncoding::web(UTF_16BE), 2));
        assert_eq!(name(&utf16le("Größe;Stück\r\n42;7\r\n"), true), "UTF-16LE");
        assert_eq!(name(&utf16le("Артикул;Цена\r\nБолт;7\r\n"), true), "UTF-16LE");
        assert_eq!(name(b"SKU;Name\r\n42;Bolt\r\n", true), "UTF-8");
        assert_eq!(name("Größe".as_bytes(), true), "UTF-8");
    }

    #[test]
    fn german_text_in_a_single_byte_encoding_is_windows_1252() {
        for text in ["Größe;Stück\r\n5;7\r\n", "Name\r\nMüller\r\n", "Straße;Preis in €\r\nÄußere Gasse 1;5\r\n", "Maß"]
        {
            let (bytes, _, _) = WINDOWS_1252.encode(text);
            assert_eq!(name(&bytes, true), "windows-1252", "{text}");
        }
    }

    #[test]
    fn baltic_text_in_a_single_byte_encoding_is_windows_1257() {
        for text in [
            "Nosaukums;Cena\r\nSkrūve;1\r\nPaplāksne;2\r\nŠķēres;3\r\nĀmurs;4\r\nKrāsa dzeltenā;5\r\n",
            "Pavadinimas;Kaina\r\nVaržtas;1\r\nVeržlė;2\r\nŽirklės;3\r\nGrąžtas;4\r\nPlaktukų rinkinys;5\r\n",
        ] {
            let bytes = encoding_rs::WINDOWS_1257.encode(text).0;
            assert_eq!(name(&bytes, true), "windows-1257", "{text}");
        }
    }

    #[test]
    fn a_cut_character_is_allowed_only_in_a_partial_sample() {
        let cut = &"Stück für Stück: ü".as_bytes()[.."Stück für Stück: ".len() + 1];
        assert_eq!(name(cut, false), "UTF-8");
        assert_ne!(name(cut, true), "UTF-8");
    }

    #[test]
    fn stray_bytes_do_not_change_the_encoding_of_the_others() {
        let mut text = "Größe;Straße;Café;naïve\n".repeat(3).into_bytes();
        text.extend(b"Gr\xFCn;1\n");
        assert_eq!(detect(&text, true), (DetectedEncoding::new(TextEncoding::UTF_8, 0), Confidence::Likely));
        // Accidentally valid letters are rare.
        assert_eq!(name(b"\xC3\xA4;\xE4;\xF6;\xFC;\xDF;Stra\xDFe\n", true), "windows-1252");
    }

    #[test]
    fn labels_are_looked_up() {
        assert_eq!(with_label(" Latin1 ", b"a").map(|found| found.encoding.name()), Some("windows-1252"));
        assert_eq!(with_label("utf-8", b"\xEF\xBB\xBFa").map(|found| found.bom), Some(3));
        assert!(with_label("klingon", b"a").is_none());
        for (label, name) in
            [("cp850", "IBM850"), ("IBM437", "IBM437"), ("852", "IBM852"), ("cp866", "IBM866"), ("UTF-32", "UTF-32LE")]
        {
            assert_eq!(with_label(label, b"a").map(|found| found.encoding.name()), Some(name));
        }
        assert_eq!(with_label("utf-32be", b"\0\0\xFE\xFF").map(|found| found.bom), Some(4));
    }
}
