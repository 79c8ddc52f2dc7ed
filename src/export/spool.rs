//! The spool: every page as it came, on disk, so that an export that was cut off carries on where it was, columns that
//! only appear late are not lost, and memory is not filled.
//!
//! One file that only grows: frames of a kind, a length and what the service said, compressed by Zstandard with a
//! checksum. A frame that a crash cut off at the end is cut away when the spool is opened again.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use zstd::bulk::{Compressor, Decompressor};

use super::Error;

/// The name of its file.
pub const NAME: &str = "pages";
/// Pages that are older than this are not carried on with: the list may be another one by now.
const FRESH: Duration = Duration::from_secs(60 * 60);
/// Fast, and a fifth of the size.
const LEVEL: i32 = -1;
const HEAD: usize = 5;
/// More than any answer is.
const LONGEST: usize = 80 << 20;

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of which export the spool is, as JSON.
    Begin,
    /// A page of a list, or a single record.
    Page,
    /// The list has no such page.
    NoPage,
    /// An id that was not found, as JSON.
    Missing,
}

/// What is read back.
#[derive(Debug)]
pub struct Frame {
    pub kind: Kind,
    pub text: Vec<u8>,
}

#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    file: File,
}

/// Compresses frames, on as many threads at once as want to.
#[derive(Default)]
pub struct Packer {
    idle: Mutex<Vec<Compressor<'static>>>,
}

/// The frames of a spool from its first, and how far the whole ones reach.
pub struct Frames {
    path: PathBuf,
    file: BufReader<File>,
    unpack: Decompressor<'static>,
    packed: Vec<u8>,
    good: u64,
}

impl Kind {
    fn byte(self) -> u8 {
        match self {
            Kind::Begin => b'B',
            Kind::Page => b'P',
            Kind::NoPage => b'N',
            Kind::Missing => b'M',
        }
    }

    fn of(byte: u8) -> Option<Kind> {
        [Kind::Begin, Kind::Page, Kind::NoPage, Kind::Missing].into_iter().find(|kind| kind.byte() == byte)
    }
}

impl Spool {
    /// A spool without frames in `folder`, in place of any that is there.
    pub fn create(folder: &Path) -> Result<Spool, Error> {
        let path = folder.join(NAME);
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(|source| failed(&path, source))?;
        Ok(Spool { path, file })
    }

    /// The spool that an earlier export left in `folder`, if it is fresh enough and its first frame, up to a line break,
    /// says `begin`; and what the frame says after that. It is
    /// positioned behind its last whole frame once [`Spool::carry_on`] was told where that is.
    pub fn left_in(folder: &Path, begin: &str, now: SystemTime) -> Result<Option<(Spool, String)>, Error> {
        let path = folder.join(NAME);
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(failed(&path, source)),
        };
        let changed = file.metadata().and_then(|found| found.modified()).map_err(|source| failed(&path, source))?;
        let is_fresh = now.duration_since(changed).is_ok_and(|age| age <= FRESH) || changed > now;
        let spool = Spool { path, file };
        let first = spool.frames()?.next()?;
        let said = first.filter(|frame| is_fresh && frame.kind == Kind::Begin);
        let said = said.and_then(|frame| String::from_utf8(frame.text).ok());
        let more = said.and_then(|said| Some(said.strip_prefix(begin)?.strip_prefix('\n')?.to_owned()));
        Ok(more.map(|more| (spool, more)))
    }

    /// Cuts away what is behind the whole frames, and appends from there.
    pub fn carry_on(&mut self, good: u64) -> Result<(), Error> {
        let cut = self.file.set_len(good).and_then(|()| self.file.seek(SeekFrom::Start(good)));
        cut.map(drop).map_err(|source| failed(&self.path, source))
    }

    /// Adds a frame that [`Packer::pack`] made.
    pub fn add(&mut self, frame: &[u8]) -> Result<(), Error> {
        self.file.write_all(frame).map_err(|source| failed(&self.path, source))
    }

    pub fn frames(&self) -> Result<Frames, Error> {
        let path = self.path.clone();
        let open = || -> io::Result<Frames> {
            let file = BufReader::with_capacity(256 * 1024, File::open(&path)?);
            Ok(Frames { path: path.clone(), file, unpack: Decompressor::new()?, packed: Vec::new(), good: 0 })
        };
        open().map_err(|source| failed(&path, source))
    }

    /// The export is done: nothing is to be carried on with.
    pub fn remove(self) -> Result<(), Error> {
        let Spool { path, file } = self;
        drop(file);
        std::fs::remove_file(&path).map_err(|source| failed(&path, source))
    }
}

impl Packer {
    /// A frame, ready to be added.
    pub fn pack(&self, kind: Kind, text: &[u8]) -> Result<Vec<u8>, Error> {
        let pack = || -> io::Result<Vec<u8>> {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut compressor = match idle {
                Some(compressor) => compressor,
                None => {
                    let mut compressor = Compressor::new(LEVEL)?;
                    compressor.include_checksum(true)?;
                    compressor
                }
            };
            let mut frame = vec![0; HEAD + zstd::zstd_safe::compress_bound(text.len())];
            let len = compressor.compress_to_buffer(text, &mut frame[HEAD..])?;
            frame.truncate(HEAD + len);
            frame.shrink_to_fit();
            frame[0] = kind.byte();
            let len = u32::try_from(len).map_err(io::Error::other)?;
            frame[1..HEAD].copy_from_slice(&len.to_le_bytes());
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(compressor);
            Ok(frame)
        };
        pack().map_err(|source| failed(Path::new(NAME), source))
    }
}

impl Frames {
    /// The next whole frame. Nothing at the end, and from where one is not whole.
    pub fn next(&mut self) -> Result<Option<Frame>, Error> {
        self.read().map_err(|source| failed(&self.path, source))
    }

    /// Where the frames given so far end.
    pub fn good(&self) -> u64 {
        self.good
    }

    fn read(&mut self) -> io::Result<Option<Frame>> {
        let mut head = [0; HEAD];
        if !filled(&mut self.file, &mut head)? {
            return Ok(None);
        }
        let [kind, len @ ..] = head;
        let len = u32::from_le_bytes(len) as usize;
        let Some(kind) = Kind::of(kind).filter(|_| len <= LONGEST) else { return Ok(None) };
        self.packed.resize(len, 0);
        if !filled(&mut self.file, &mut self.packed)? {
            return Ok(None);
        }
        let size = Decompressor::upper_bound(&self.packed).filter(|size| *size <= LONGEST);
        let Some(text) = size.and_then(|size| self.unpack.decompress(&self.packed, size).ok()) else {
            return Ok(None);
        };
        self.good += (HEAD + len) as u64;
        Ok(Some(Frame { kind, text }))
    }
}

/// False where the file ends before.
fn filled(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Spool { path: path.to_owned(), source }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn texts(spool: &Spool) -> (Vec<String>, u64) {
        let mut frames = spool.frames().unwrap();
        let mut texts = Vec::new();
        while let Some(frame) = frames.next().unwrap() {
            texts.push(String::from_utf8(frame.text).unwrap());
        }
        (texts, frames.good())
    }

    #[test]
    fn a_spool_that_was_cut_anywhere_carries_on_behind_its_last_whole_frame() {
        let folder = tempfile::tempdir().unwrap();
        let packer = Packer::default();
        let frames = [(Kind::Begin, "b\nat noon"), (Kind::Page, "[1]"), (Kind::NoPage, ""), (Kind::Page, "[2]")];
        let frames = frames.map(|(kind, text)| packer.pack(kind, text.as_bytes()).unwrap());
        let whole: Vec<u8> = frames.concat();
        let ends: Vec<usize> = frames.iter().scan(0, |end, frame| Some((*end += frame.len(), *end).1)).collect();
        for cut in ends[0]..whole.len() {
            std::fs::write(folder.path().join(NAME), &whole[..cut]).unwrap();
            let mut spool = Spool::left_in(folder.path(), "b", SystemTime::now()).unwrap().unwrap().0;
            let (texts_left, good) = texts(&spool);
            let kept = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!((texts_left.len(), good), (kept, ends[kept - 1] as u64), "cut at {cut}");
            spool.carry_on(good).unwrap();
            spool.add(&frames[3]).unwrap();
            assert_eq!(texts(&spool).0.len(), kept + 1, "cut at {cut}");
        }
        // A byte that the disk changed ends it, too.
        let mut changed = whole.clone();
        changed[ends[1] - 2] ^= 1;
        std::fs::write(folder.path().join(NAME), changed).unwrap();
        let spool = Spool::left_in(folder.path(), "b", SystemTime::now()).unwrap().unwrap().0;
        assert_eq!(texts(&spool).0, ["b\nat noon"]);
    }

    #[test]
    fn a_spool_of_something_else_or_of_long_ago_is_not_carried_on_with() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Spool::left_in(folder.path(), "b", SystemTime::now()).unwrap().is_none());
        let mut spool = Spool::create(folder.path()).unwrap();
        spool.add(&Packer::default().pack(Kind::Begin, b"b\nat noon").unwrap()).unwrap();
        let now = SystemTime::now();
        assert_eq!(Spool::left_in(folder.path(), "b", now).unwrap().unwrap().1, "at noon");
        assert!(Spool::left_in(folder.path(), "b\nat", now).unwrap().is_none());
        assert!(Spool::left_in(folder.path(), "c", now).unwrap().is_none());
        assert!(Spool::left_in(folder.path(), "b", now + FRESH + FRESH).unwrap().is_none());
        spool.remove().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
