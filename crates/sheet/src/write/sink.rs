//! Destinations of text output: a file or standard output, optionally compressed.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use sheetport_files::visible::VisibleWriter;

use super::value::TextKind;
use super::whole_file::{ReadyFile, WholeFile};
use crate::Error;
use crate::compression::Compression;

/// Fast, and still compresses to about a sixth.
const GZIP_LEVEL: u32 = 4;
const ZSTD_LEVEL: i32 = 3;

/// A writer to a file or standard output.
pub struct Sink {
    name: PathBuf,
    encoder: Encoder,
}

enum Encoder {
    None(Target),
    Gzip(Box<GzEncoder<Target>>),
    Zstd(Box<zstd::Encoder<'static, Target>>),
}

enum Target {
    File(Box<WholeFile>),
    Stdout(io::BufWriter<io::Stdout>),
    /// A terminal as standard output. Control characters are escaped.
    Terminal(VisibleWriter<io::Stdout>),
}

impl Sink {
    pub fn file(file: WholeFile, compression: Compression) -> Result<Sink, Error> {
        let name = file.path().to_owned();
        Sink::to(Target::File(Box::new(file)), compression, name)
    }

    /// Returns a writer of text to standard output. Standard output may be a terminal.
    pub fn stdout(kind: TextKind) -> Result<Sink, Error> {
        let stdout = io::stdout();
        let target = match stdout.is_terminal() {
            true => Target::Terminal(match kind {
                TextKind::Csv | TextKind::Tsv => VisibleWriter::csv(stdout),
                TextKind::Ndjson => VisibleWriter::new(stdout),
            }),
            false => Target::Stdout(io::BufWriter::new(stdout)),
        };
        Sink::to(target, Compression::None, PathBuf::from("standard output"))
    }

    fn to(target: Target, compression: Compression, name: PathBuf) -> Result<Sink, Error> {
        let encoder = match compression {
            Compression::None => Encoder::None(target),
            Compression::Gzip => Encoder::Gzip(Box::new(GzEncoder::new(target, flate2::Compression::new(GZIP_LEVEL)))),
            Compression::Zstd => {
                let encoder = zstd::Encoder::new(target, ZSTD_LEVEL).and_then(|mut encoder| {
                    encoder.include_checksum(true)?;
                    Ok(encoder)
                });
                Encoder::Zstd(Box::new(encoder.map_err(|source| Error::Write { path: name.clone(), source })?))
            }
        };
        Ok(Sink { name, encoder })
    }

    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Ends the output. The file can be put in place as `path`. Returns `None` for standard output.
    pub fn ready_as(self, path: PathBuf) -> Result<Option<ReadyFile>, Error> {
        let Sink { name, encoder } = self;
        let failed = |source| Error::Write { path: name.clone(), source };
        let target = match encoder {
            Encoder::None(target) => target,
            Encoder::Gzip(encoder) => encoder.finish().map_err(failed)?,
            Encoder::Zstd(encoder) => encoder.finish().map_err(failed)?,
        };
        match target {
            Target::File(mut file) => {
                file.rename(path);
                file.ready().map(Some)
            }
            Target::Stdout(mut stdout) => stdout.flush().map(|()| None).map_err(failed),
            Target::Terminal(mut terminal) => terminal.flush().map(|()| None).map_err(failed),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encoder {
            Encoder::None(target) => target.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::None(target) => target.flush(),
            Encoder::Gzip(encoder) => encoder.flush(),
            Encoder::Zstd(encoder) => encoder.flush(),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::File(file) => file.write(bytes),
            Target::Stdout(stdout) => stdout.write(bytes),
            Target::Terminal(terminal) => terminal.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::File(file) => file.flush(),
            Target::Stdout(stdout) => stdout.flush(),
            Target::Terminal(terminal) => terminal.flush(),
        }
    }
}
