//! Files as they are or compressed by gzip or Zstandard, known by their first bytes and inflated while they are read.
//!
//! What comes out is counted, whatever the archive claims: a file that expands without bounds is refused while it is
//! read, before it fills a disk or takes the afternoon.

use std::fs::File;
use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// Up to here a text may expand by any ratio: small files compress well.
const FREE: u64 = 64 * 1024 * 1024;
/// Beyond it by this ratio. Tables of real values compress to a tenth, those of nothing but zeros to a hundredth.
const MAX_RATIO: u64 = 250;
const MAX_INFLATED: u64 = 64 * 1024 * 1024 * 1024;
/// Zstandard may ask for a window of 2 to this power, 64 MiB, which must be held in memory.
const MAX_WINDOW: u32 = 26;

/// How a text file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Packing {
    /// The packing of a file that begins with `sample`.
    pub fn of(sample: &[u8]) -> Packing {
        if sample.starts_with(b"\x1F\x8B\x08") {
            Packing::Gzip
        } else if sample.starts_with(b"\x28\xB5\x2F\xFD") {
            Packing::Zstd
        } else {
            Packing::None
        }
    }

    /// As one says it, and as the file's name usually ends.
    pub fn name(self) -> Option<(&'static str, &'static str)> {
        match self {
            Packing::None => None,
            Packing::Gzip => Some(("gzip", "gz")),
            Packing::Zstd => Some(("Zstandard", "zst")),
        }
    }
}

/// A file's bytes, inflated.
pub struct Input {
    stream: Stream,
    given: u64,
}

enum Stream {
    Plain(File),
    Gzip(Box<MultiGzDecoder<BufReader<Counted>>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, BufReader<Counted>>>),
}

struct Counted {
    file: File,
    read: u64,
}

impl Input {
    /// `file` stands at its beginning.
    pub fn new(file: File, packing: Packing) -> io::Result<Input> {
        let counted = |file| BufReader::new(Counted { file, read: 0 });
        let stream = match packing {
            Packing::None => Stream::Plain(file),
            Packing::Gzip => Stream::Gzip(Box::new(MultiGzDecoder::new(counted(file)))),
            Packing::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(counted(file))?;
                decoder.window_log_max(MAX_WINDOW)?;
                Stream::Zstd(Box::new(decoder))
            }
        };
        Ok(Input { stream, given: 0 })
    }

    fn check(&self, taken: u64) -> io::Result<()> {
        let ratio = self.given / taken.max(1);
        if self.given > MAX_INFLATED || (self.given > FREE && ratio > MAX_RATIO) {
            let size = self.given / (1024 * 1024);
            return Err(io::Error::other(format!(
                "it expands to more than {size} MiB, {ratio} times what was read of it; unpack it yourself if you trust it"
            )));
        }
        Ok(())
    }
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (len, taken) = match &mut self.stream {
            Stream::Plain(file) => return file.read(out),
            Stream::Gzip(decoder) => (decoder.read(out)?, decoder.get_ref().get_ref().read),
            Stream::Zstd(decoder) => (decoder.read(out)?, decoder.get_ref().get_ref().read),
        };
        self.given += len as u64;
        self.check(taken)?;
        Ok(len)
    }
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read(out)?;
        self.read += len as u64;
        Ok(len)
    }
}
