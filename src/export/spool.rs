//! The spool: every page as it came, on disk, so that an export that was cut off carries on where it was, columns that
//! only appear late are not lost, and memory is not filled.
//!
//! One file that only grows: frames of a kind, a length, a checksum and what the service said. They are not compressed,
//! which would take as long as all else that is done with a page, to save room for as long as the export takes. A frame that
//! a crash cut off at the end is cut away when the spool is opened again. Frames are written some at a time: whoever adds
//! them flushes before waiting for more, so that little is ever asked for twice. Nothing is synced: what a machine that
//! loses its power forgets is asked for again.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use twox_hash::XxHash3_64;

use super::Error;

/// The name of its file.
pub const NAME: &str = "pages";
/// Pages that are older than this are not carried on with: the list may be another one by now.
const FRESH: Duration = Duration::from_secs(60 * 60);
/// The kind, the length and the checksum of both and the text.
const HEAD: usize = 1 + 4 + 8;
/// More than any answer is.
const LONGEST: usize = 80 << 20;
/// Frames that wait are written when there are so many bytes of them, up to a multiple of it in the file: the system takes
/// whole stretches of memory faster than parts of them.
const TOGETHER: usize = 256 * 1024;
/// Frames wait no longer than this while there is nothing else to do.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

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
    /// Frames that were not written yet, and where in the file they begin.
    waiting: Vec<u8>,
    written: u64,
    last_written: Instant,
}

/// The frames of a spool from its first, and how far the whole ones reach.
pub struct Frames {
    path: PathBuf,
    file: BufReader<File>,
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
    fn at_its_begin(path: PathBuf, file: File) -> Spool {
        Spool { path, file, waiting: Vec::new(), written: 0, last_written: Instant::now() }
    }

    /// A spool without frames in `folder`, in place of any that is there.
    pub fn create(folder: &Path) -> Result<Spool, Error> {
        let path = folder.join(NAME);
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(|source| failed(&path, source))?;
        Ok(Spool::at_its_begin(path, file))
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
        let mut spool = Spool::at_its_begin(path, file);
        let first = spool.frames()?.next()?;
        let said = first.filter(|frame| is_fresh && frame.kind == Kind::Begin);
        let said = said.and_then(|frame| String::from_utf8(frame.text).ok());
        let more = said.and_then(|said| Some(said.strip_prefix(begin)?.strip_prefix('\n')?.to_owned()));
        Ok(more.map(|more| (spool, more)))
    }

    /// Cuts away what is behind the whole frames, and appends from there.
    pub fn carry_on(&mut self, good: u64) -> Result<(), Error> {
        let cut = self.file.set_len(good).and_then(|()| self.file.seek(SeekFrom::Start(good)));
        self.written = cut.map_err(|source| failed(&self.path, source))?;
        Ok(())
    }

    /// Adds a frame. It is sure to be written after the next [`Spool::flush`].
    pub fn add(&mut self, kind: Kind, text: &[u8]) -> Result<(), Error> {
        let head = head(kind, text).map_err(|source| failed(&self.path, source))?;
        self.waiting.extend_from_slice(&head);
        self.waiting.extend_from_slice(text);
        if self.waiting.len() < TOGETHER {
            return Ok(());
        }
        let beyond = (self.written + self.waiting.len() as u64) % TOGETHER as u64;
        self.write(self.waiting.len().saturating_sub(beyond as usize))
    }

    /// Writes the frames that wait.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.write(self.waiting.len())
    }

    /// The same, if they may have waited for long enough.
    pub fn flush_if_due(&mut self) -> Result<(), Error> {
        if self.last_written.elapsed() >= LONGEST_WAIT { self.flush() } else { Ok(()) }
    }

    fn write(&mut self, len: usize) -> Result<(), Error> {
        // What was written in part is not written again: the frame that is not whole ends the spool.
        let mut waiting = std::mem::take(&mut self.waiting);
        self.file.write_all(&waiting[..len]).map_err(|source| failed(&self.path, source))?;
        self.written += len as u64;
        self.last_written = Instant::now();
        waiting.drain(..len);
        // A single long page does not keep its room.
        waiting.shrink_to(2 * TOGETHER);
        self.waiting = waiting;
        Ok(())
    }

    pub fn frames(&mut self) -> Result<Frames, Error> {
        self.flush()?;
        let path = self.path.clone();
        let open = || -> io::Result<Frames> {
            let file = BufReader::with_capacity(256 * 1024, File::open(&path)?);
            Ok(Frames { path: path.clone(), file, good: 0 })
        };
        open().map_err(|source| failed(&path, source))
    }

    /// The export is done: nothing is to be carried on with.
    pub fn remove(self) -> Result<(), Error> {
        let mut spool = self;
        spool.waiting.clear();
        let path = spool.path.clone();
        drop(spool);
        std::fs::remove_file(&path).map_err(|source| failed(&path, source))
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // Whoever carries on asks for what could not be written.
        let _ = self.flush();
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
        let mut found = [0; HEAD];
        if !filled(&mut self.file, &mut found)? {
            return Ok(None);
        }
        let [kind, len @ .., _, _, _, _, _, _, _, _] = found;
        let len = u32::from_le_bytes(len) as usize;
        let Some(kind) = Kind::of(kind).filter(|_| len <= LONGEST) else { return Ok(None) };
        let mut text = vec![0; len];
        if !filled(&mut self.file, &mut text)? || head(kind, &text)? != found {
            return Ok(None);
        }
        self.good += (HEAD + len) as u64;
        Ok(Some(Frame { kind, text }))
    }
}

/// What stands before the text of a frame.
fn head(kind: Kind, text: &[u8]) -> io::Result<[u8; HEAD]> {
    let len = u32::try_from(text.len()).map_err(io::Error::other)?;
    let checksum = XxHash3_64::oneshot_with_seed(u64::from(len) << 8 | u64::from(kind.byte()), text);
    let mut head = [0; HEAD];
    head[0] = kind.byte();
    head[1..5].copy_from_slice(&len.to_le_bytes());
    head[5..].copy_from_slice(&checksum.to_le_bytes());
    Ok(head)
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

    fn texts(spool: &mut Spool) -> (Vec<String>, u64) {
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
        let last = (Kind::Page, "[2]");
        let frames = [(Kind::Begin, "b\nat noon"), (Kind::Page, "[1]"), (Kind::NoPage, ""), last];
        let frames = frames.map(|(kind, text)| [&head(kind, text.as_bytes()).unwrap(), text.as_bytes()].concat());
        let whole: Vec<u8> = frames.concat();
        let ends: Vec<usize> = frames.iter().scan(0, |end, frame| Some((*end += frame.len(), *end).1)).collect();
        for cut in ends[0]..whole.len() {
            std::fs::write(folder.path().join(NAME), &whole[..cut]).unwrap();
            let mut spool = Spool::left_in(folder.path(), "b", SystemTime::now()).unwrap().unwrap().0;
            let (texts_left, good) = texts(&mut spool);
            let kept = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!((texts_left.len(), good), (kept, ends[kept - 1] as u64), "cut at {cut}");
            spool.carry_on(good).unwrap();
            spool.add(last.0, last.1.as_bytes()).unwrap();
            assert_eq!(texts(&mut spool).0.len(), kept + 1, "cut at {cut}");
        }
        // A byte that the disk changed ends it, too, wherever it stands in a frame.
        for at in ends[0]..ends[1] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(folder.path().join(NAME), changed).unwrap();
            let mut spool = Spool::left_in(folder.path(), "b", SystemTime::now()).unwrap().unwrap().0;
            assert_eq!(texts(&mut spool).0, ["b\nat noon"]);
        }
    }

    #[test]
    fn a_spool_of_something_else_or_of_long_ago_is_not_carried_on_with() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Spool::left_in(folder.path(), "b", SystemTime::now()).unwrap().is_none());
        let mut spool = Spool::create(folder.path()).unwrap();
        spool.add(Kind::Begin, b"b\nat noon").unwrap();
        spool.flush().unwrap();
        let now = SystemTime::now();
        assert_eq!(Spool::left_in(folder.path(), "b", now).unwrap().unwrap().1, "at noon");
        assert!(Spool::left_in(folder.path(), "b\nat", now).unwrap().is_none());
        assert!(Spool::left_in(folder.path(), "c", now).unwrap().is_none());
        assert!(Spool::left_in(folder.path(), "b", now + FRESH + FRESH).unwrap().is_none());
        spool.remove().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
