//! A file's text as UTF-8, chunk by chunk, whatever its packing and its encoding.
//!
//! Nothing is ever replaced by U+FFFD: bytes that the encoding does not know are a fault, told where they stand.

use std::fs::File;
use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_8};

use super::encoding::Found;
use super::inflate::{Input, Packing};

const CHUNK: usize = 128 * 1024;

/// What stopped a text.
#[derive(Debug)]
pub enum Fault {
    Io(io::Error),
    /// Bytes that are no character of the encoding.
    Malformed,
}

/// A file that is UTF-8 passes through as it is, unchecked: whoever uses the bytes as text checks them.
pub struct Source {
    input: Input,
    transcoder: Option<Transcoder>,
}

struct Transcoder {
    decoder: Decoder,
    raw: Vec<u8>,
    at: usize,
    end: usize,
    input_ended: bool,
    malformed: bool,
    flushed: bool,
}

impl Source {
    pub fn new(file: File, packing: Packing, found: Found) -> io::Result<Source> {
        let mut input = Input::new(file, packing)?;
        io::copy(&mut input.by_ref().take(found.mark as u64), &mut io::sink())?;
        let transcoder = (found.encoding != UTF_8).then(|| Transcoder {
            decoder: found.encoding.new_decoder_without_bom_handling(),
            raw: vec![0; CHUNK],
            at: 0,
            end: 0,
            input_ended: false,
            malformed: false,
            flushed: false,
        });
        Ok(Source { input, transcoder })
    }

    /// Reads some text into `out`, which has room for a few characters at least; 0 at the end of the file.
    pub fn read(&mut self, out: &mut [u8]) -> Result<usize, Fault> {
        match &mut self.transcoder {
            None => read(&mut self.input, out),
            Some(transcoder) => transcoder.read(&mut self.input, out),
        }
    }
}

impl Transcoder {
    fn read(&mut self, input: &mut Input, out: &mut [u8]) -> Result<usize, Fault> {
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
            let (result, taken, given) = self.decoder.decode_to_utf8_without_replacement(raw, out, self.input_ended);
            self.at += taken;
            written = given;
            match result {
                DecoderResult::InputEmpty => self.flushed = self.input_ended,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => self.malformed = true,
            }
        }
        Ok(written)
    }
}

fn read(input: &mut Input, out: &mut [u8]) -> Result<usize, Fault> {
    loop {
        match input.read(out) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map_err(Fault::Io),
        }
    }
}
