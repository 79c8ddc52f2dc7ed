//! Reading of plain and compressed files, with a limit on the decompressed size.

use std::fs::File;
use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use crate::compression::Compression;

/// Maximum decompressed size without a check of the ratio. Small files compress well.
const FREE: u64 = 64 * 1024 * 1024;
/// Maximum compression ratio. Tables of real values compress to a tenth, tables of zeros to a hundredth.
const MAX_RATIO: u64 = 250;
const MAX_SIZE: u64 = 64 * 1024 * 1024 * 1024;
/// Maximum Zstandard window as a power of 2: 64 MiB, kept in memory.
const MAX_WINDOW: u32 = 26;

/// A file's decompressed bytes.
pub(super) struct Decompressed {
    stream: Stream,
    /// Number of decompressed bytes read.
    size: u64,
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

impl Decompressed {
    /// `file` must be at its start.
    pub(super) fn new(file: File, compression: Compression) -> io::Result<Decompressed> {
        let counted = |file| BufReader::new(Counted { file, read: 0 });
        let stream = match compression {
            Compression::None => Stream::Plain(file),
            Compression::Gzip => Stream::Gzip(Box::new(MultiGzDecoder::new(counted(file)))),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(counted(file))?;
                decoder.window_log_max(MAX_WINDOW)?;
                Stream::Zstd(Box::new(decoder))
            }
        };
        Ok(Decompressed { stream, size: 0 })
    }

    fn check(&self, taken: u64) -> io::Result<()> {
        let ratio = self.size / taken.max(1);
        if self.size > MAX_SIZE || (self.size > FREE && ratio > MAX_RATIO) {
            let mebibytes = self.size / (1024 * 1024);
            return Err(io::Error::other(format!(
                "it expands to more than {mebibytes} MiB, {ratio} times its size; unpack it yourself if you trust it"
            )));
        }
        Ok(())
    }
}

impl Read for Decompressed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (len, taken) = match &mut self.stream {
            Stream::Plain(file) => return file.read(out),
            Stream::Gzip(decoder) => (decoder.read(out)?, decoder.get_ref().get_ref().read),
            Stream::Zstd(decoder) => (decoder.read(out)?, decoder.get_ref().get_ref().read),
        };
        self.size += len as u64;
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
