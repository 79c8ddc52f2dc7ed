//! Encodings of texts: web encodings, code pages of DOS, and UTF-32.

use encoding_rs::{Decoder, DecoderResult, Encoding, IBM866, MACINTOSH, UTF_8};

use super::code_page::CodePage;

/// Length of a character in UTF-32.
const UNIT: usize = 4;
/// Length of a character in UTF-8 at most.
const MAX_CHAR: usize = 4;

/// An encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextEncoding(Kind);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Web(&'static Encoding),
    Page(CodePage),
    Utf32 { is_big_endian: bool },
}

/// Labels of encodings outside the web standard.
const LABELS: [(&[&str], TextEncoding); 5] = [
    (&["ibm437", "cp437", "437", "cp-437"], TextEncoding::page(CodePage::Ibm437)),
    (&["ibm850", "cp850", "850", "cp-850"], TextEncoding::page(CodePage::Ibm850)),
    (&["ibm852", "cp852", "852", "cp-852"], TextEncoding::page(CodePage::Ibm852)),
    (&["utf-32", "utf32", "utf-32le", "utf32le"], TextEncoding(Kind::Utf32 { is_big_endian: false })),
    (&["utf-32be", "utf32be"], TextEncoding(Kind::Utf32 { is_big_endian: true })),
];

/// Byte order marks of UTF-32. The first starts with the mark of UTF-16.
const MARKS: [([u8; 4], bool); 2] = [([0xFF, 0xFE, 0, 0], false), ([0, 0, 0xFE, 0xFF], true)];

impl TextEncoding {
    pub(crate) const UTF_8: TextEncoding = TextEncoding(Kind::Web(UTF_8));

    pub(super) const fn web(encoding: &'static Encoding) -> TextEncoding {
        TextEncoding(Kind::Web(encoding))
    }

    pub(super) const fn page(page: CodePage) -> TextEncoding {
        TextEncoding(Kind::Page(page))
    }

    /// Returns the encoding of a code page. Mac Roman is in the web standard.
    pub(super) fn of_page(page: CodePage) -> TextEncoding {
        match page {
            CodePage::MacRoman => TextEncoding::web(MACINTOSH),
            page => TextEncoding::page(page),
        }
    }

    /// Returns the encoding with this label, from the WHATWG Encoding Standard, or `cp437`, `cp850`, `cp852` or `utf-32`.
    pub(crate) fn for_label(label: &str) -> Option<TextEncoding> {
        let label = label.trim();
        let own = LABELS.iter().find(|(labels, _)| labels.iter().any(|own| label.eq_ignore_ascii_case(own)));
        let web = || Encoding::for_label_no_replacement(label.as_bytes()).map(TextEncoding::web);
        own.map(|(_, encoding)| *encoding).or_else(web)
    }

    /// Returns the encoding of a byte order mark, and the length of the mark.
    pub(super) fn for_mark(sample: &[u8]) -> Option<(TextEncoding, usize)> {
        let utf32 = MARKS.iter().find(|(mark, _)| sample.starts_with(mark));
        let utf32 = utf32
            .map(|(mark, is_big_endian)| (TextEncoding(Kind::Utf32 { is_big_endian: *is_big_endian }), mark.len()));
        utf32.or_else(|| Encoding::for_bom(sample).map(|(encoding, len)| (TextEncoding::web(encoding), len)))
    }

    /// Whether this is a code page of DOS or of an old Mac.
    pub(super) fn is_of_dos_or_mac(self) -> bool {
        match self.0 {
            Kind::Web(encoding) => encoding == IBM866 || encoding == MACINTOSH,
            Kind::Page(_) => true,
            Kind::Utf32 { .. } => false,
        }
    }

    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Web(encoding) => encoding.name(),
            Kind::Page(page) => page.name(),
            Kind::Utf32 { is_big_endian: false } => "UTF-32LE",
            Kind::Utf32 { is_big_endian: true } => "UTF-32BE",
        }
    }

    pub(super) fn decoder(self) -> StreamDecoder {
        StreamDecoder(match self.0 {
            Kind::Web(encoding) => DecoderKind::Web(encoding.new_decoder_without_bom_handling()),
            Kind::Page(page) => DecoderKind::Page(page),
            Kind::Utf32 { is_big_endian } => DecoderKind::Utf32 { is_big_endian, unit: Vec::new() },
        })
    }
}

/// Decodes a text in chunks to UTF-8.
pub(super) struct StreamDecoder(DecoderKind);

enum DecoderKind {
    Web(Decoder),
    Page(CodePage),
    Utf32 {
        is_big_endian: bool,
        /// The start of a character at the end of a chunk.
        unit: Vec<u8>,
    },
}

/// Why decoding has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    InputEmpty,
    OutputFull,
    Malformed,
}

impl StreamDecoder {
    /// Decodes `raw` into `out`, which has room for a few characters. `last`: no more bytes follow. Returns the reason for
    /// stopping, and the number of bytes read and written.
    pub(super) fn decode(&mut self, raw: &[u8], out: &mut [u8], last: bool) -> (Stopped, usize, usize) {
        match &mut self.0 {
            DecoderKind::Web(decoder) => {
                let (result, taken, written) = decoder.decode_to_utf8_without_replacement(raw, out, last);
                let stopped = match result {
                    DecoderResult::InputEmpty => Stopped::InputEmpty,
                    DecoderResult::OutputFull => Stopped::OutputFull,
                    DecoderResult::Malformed(..) => Stopped::Malformed,
                };
                (stopped, taken, written)
            }
            DecoderKind::Page(page) => {
                let mut written = 0;
                for (taken, byte) in raw.iter().enumerate() {
                    if out.len() - written < MAX_CHAR {
                        return (Stopped::OutputFull, taken, written);
                    }
                    written += page.decode(*byte).encode_utf8(&mut out[written..]).len();
                }
                (Stopped::InputEmpty, raw.len(), written)
            }
            DecoderKind::Utf32 { is_big_endian, unit } => {
                let mut written = 0;
                for (taken, byte) in raw.iter().enumerate() {
                    if out.len() - written < MAX_CHAR {
                        return (Stopped::OutputFull, taken, written);
                    }
                    unit.push(*byte);
                    let Some(bytes) = unit.first_chunk::<UNIT>() else { continue };
                    let code = if *is_big_endian { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
                    unit.clear();
                    let Some(c) = char::from_u32(code) else { return (Stopped::Malformed, taken + 1, written) };
                    written += c.encode_utf8(&mut out[written..]).len();
                }
                let is_cut = last && !unit.is_empty();
                (if is_cut { Stopped::Malformed } else { Stopped::InputEmpty }, raw.len(), written)
            }
        }
    }
}
