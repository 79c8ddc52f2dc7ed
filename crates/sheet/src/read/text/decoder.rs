//! Decoding of a text file to UTF-8, in chunks. Invalid bytes are an error and never replaced by U+FFFD.

use std::io::{self, Read};

use super::encoding::DetectedEncoding;
use super::text_encoding::{Stopped, StreamDecoder, TextEncoding};

const CHUNK: usize = 128 * 1024;

/// Why a text cannot be read any further.
#[derive(Debug)]
pub(super) enum Fault {
    Io(io::Error),
    /// Invalid bytes for the encoding.
    Malformed,
}

/// Reads bytes as UTF-8. UTF-8 input is passed through without validation; the caller must validate it.
pub(crate) struct TextDecoder<R> {
    input: R,
    transcoder: Option<Transcoder>,
}

struct Transcoder {
    encoding: TextEncoding,
    decoder: StreamDecoder,
    raw: Vec<u8>,
    at: usize,
    end: usize,
    input_ended: bool,
    malformed: bool,
    flushed: bool,
}

impl<R: Read> TextDecoder<R> {
    /// `input` starts with the byte order mark, if any.
    pub(crate) fn new(mut input: R, found: DetectedEncoding) -> io::Result<TextDecoder<R>> {
        io::copy(&mut input.by_ref().take(found.bom as u64), &mut io::sink())?;
        let transcoder = (found.encoding != TextEncoding::UTF_8).then(|| Transcoder {
            encoding: found.encoding,
            decoder: found.encoding.decoder(),
            raw: vec![0; CHUNK],
            at: 0,
            end: 0,
            input_ended: false,
            malformed: false,
            flushed: false,
        });
        Ok(TextDecoder { input, transcoder })
    }

    /// Reads text into `out`, which must have room for a few characters. Returns 0 at the end of the file.
    pub(super) fn decode(&mut self, out: &mut [u8]) -> Result<usize, Fault> {
        match &mut self.transcoder {
            None => read(&mut self.input, out),
            Some(transcoder) => transcoder.read(&mut self.input, out),
        }
    }
}

/// Reads text. Fails on bytes that are invalid in the encoding.
impl<R: Read> Read for TextDecoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let encoding = self.transcoder.as_ref().map_or(TextEncoding::UTF_8, |transcoder| transcoder.encoding);
        self.decode(out).map_err(|fault| match fault {
            Fault::Io(error) => error,
            Fault::Malformed => io::Error::other(format!(
                "the text is not {}; specify the right encoding with --encoding, such as windows-1252",
                encoding.name()
            )),
        })
    }
}

impl Transcoder {
    fn read(&mut self, input: &mut impl Read, out: &mut [u8]) -> Result<usize, Fault> {
        let mut written = 0;
        while written == 0 && !self.flushed {
            if self.malformed {
                return Err(Fault::Malformed);
            }
            if self.at == self.end && !self.input_ended {
                self.at = 0;
                self.end = read(input, &mut self.raw)?;
                self.input_ended = self.end == 0;
            }
            let raw = &self.raw[self.at..self.end];
            let (stopped, taken, given) = self.decoder.decode(raw, out, self.input_ended);
            self.at += taken;
            written = given;
            match stopped {
                Stopped::InputEmpty => self.flushed = self.input_ended,
                Stopped::OutputFull => {}
                Stopped::Malformed => self.malformed = true,
            }
        }
        Ok(written)
    }
}

fn read(input: &mut impl Read, out: &mut [u8]) -> Result<usize, Fault> {
    loop {
        match input.read(out) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map_err(Fault::Io),
        }
    }
}
