//! Destinations of text output: a file or standard output, optionally compressed.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::whole_file::{WholeFile, Written};
use crate::sheet::Error;

/// Fast, and still compresses to about a sixth.
const GZIP_LEVEL: u32 = 4;
const ZSTD_LEVEL: i32 = 3;

/// Compression of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    None,
    Gzip,
    Zstd,
}

/// A writer to a file or standard output.
pub struct Sink {
    name: PathBuf,
    packed: Packed,
}

enum Packed {
    None(Target),
    Gzip(Box<GzEncoder<Target>>),
    Zstd(Box<zstd::Encoder<'static, Target>>),
}

enum Target {
    File(Box<WholeFile>),
    Stdout(io::BufWriter<io::Stdout>),
}

impl Sink {
    pub fn file(file: WholeFile, packing: Packing) -> Result<Sink, Error> {
        let name = file.path().to_owned();
        Sink::to(Target::File(Box::new(file.digested())), packing, name)
    }

    pub fn stdout(packing: Packing) -> Result<Sink, Error> {
        Sink::to(Target::Stdout(io::BufWriter::new(io::stdout())), packing, PathBuf::from("standard output"))
    }

    fn to(target: Target, packing: Packing, name: PathBuf) -> Result<Sink, Error> {
        let packed = match packing {
            Packing::None => Packed::None(target),
            Packing::Gzip => Packed::Gzip(Box::new(GzEncoder::new(target, Compression::new(GZIP_LEVEL)))),
            Packing::Zstd => {
                let encoder = zstd::Encoder::new(target, ZSTD_LEVEL).and_then(|mut encoder| {
                    encoder.include_checksum(true)?;
                    Ok(encoder)
                });
                Packed::Zstd(Box::new(encoder.map_err(|source| Error::Write { path: name.clone(), source })?))
            }
        };
        Ok(Sink { name, packed })
    }

    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Ends the output and puts the file in place as `path`. Returns `None` for standard output.
    pub fn finish_as(self, path: PathBuf) -> Result<Option<Written>, Error> {
        let Sink { name, packed } = self;
        let failed = |source| Error::Write { path: name.clone(), source };
        let target = match packed {
            Packed::None(target) => target,
            Packed::Gzip(encoder) => encoder.finish().map_err(failed)?,
            Packed::Zstd(encoder) => encoder.finish().map_err(failed)?,
        };
        match target {
            Target::File(mut file) => {
                file.rename(path);
                file.finish_digested().map(Some)
            }
            Target::Stdout(mut stdout) => stdout.flush().map(|()| None).map_err(failed),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.packed {
            Packed::None(target) => target.write(bytes),
            Packed::Gzip(encoder) => encoder.write(bytes),
            Packed::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.packed {
            Packed::None(target) => target.flush(),
            Packed::Gzip(encoder) => encoder.flush(),
            Packed::Zstd(encoder) => encoder.flush(),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::File(file) => file.write(bytes),
            Target::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::File(file) => file.flush(),
            Target::Stdout(stdout) => stdout.flush(),
        }
    }
}
