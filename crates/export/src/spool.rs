//! The spool: a file with every response of an export as received. Interrupted exports resume from the spool, and tables
//! are rewritten from the spool if a late page adds a column, so pages need not stay in memory.
//!
//! The file consists of frames: a kind, a length, a checksum and a payload. A frame cut off by a crash is dropped when the
//! spool is opened again. The file is temporary and therefore not compressed. Nor is the file synced: pages lost in a
//! power failure are requested again.
//!
//! The spool of an export to object storage is a local folder, too. Objects can't be appended to, so a spool in the bucket would need a new
//! object for every few pages, a listing before each resume, and rights to remove the objects. A lost machine would be the only use, and
//! only within the hour for which the pages of an interrupted export are used. A persistent volume for `SHEETPORT_HOME` does the same.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use twox_hash::XxHash3_64;

use super::error::Error;
#[cfg(test)]
use sheetport_sheet::write::full_disk;

/// Name of the spool file.
pub(super) const FILE_NAME: &str = "pages";
/// Maximum age of a resumed spool, from its beginning. The list may have changed since.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);
/// Version of the frames' content.
const VERSION: u32 = 4;
/// Length of a frame's header: the kind, the length and a checksum of all of the frame.
const HEADER_LEN: usize = 1 + 4 + 8;
/// Maximum length of a payload. Accepted responses are shorter.
const MAX_PAYLOAD: usize = 80 << 20;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum FrameKind {
    /// Identifies the export. The first frame.
    Begin = b'B',
    /// The number of entries per page, before the first page of a list: as asked for, and as in force.
    Size = b'S',
    /// A page of a list, or a single record.
    Page = b'P',
    /// A page of a list that was read again.
    PageAgain = b'A',
    /// The list has no page of this number.
    NoPage = b'N',
    /// An ID that was not found, as JSON.
    Missing = b'M',
    /// A listed record that was requested by its ID: the ID, a line break, and the record.
    Detail = b'D',
}

/// A frame that was read back.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    pub(super) payload: Vec<u8>,
}

/// A spool file, open for appending.
#[derive(Debug)]
pub(super) struct Spool {
    path: PathBuf,
    file: File,
}

/// Reads the frames of a spool in order.
pub(super) struct Frames {
    path: PathBuf,
    file: BufReader<File>,
    valid_len: u64,
}

impl FrameKind {
    fn from_byte(byte: u8) -> Option<FrameKind> {
        use FrameKind as Kind;
        let kinds = [Kind::Begin, Kind::Size, Kind::Page, Kind::PageAgain, Kind::NoPage, Kind::Missing, Kind::Detail];
        kinds.into_iter().find(|kind| *kind as u8 == byte)
    }
}

impl Spool {
    /// Creates a spool in `folder` for the export with this identity, replacing any other.
    pub(super) fn create(folder: &Path, identity: &str, started: jiff::Timestamp) -> Result<Spool, Error> {
        let path = folder.join(FILE_NAME);
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(Error::at(&path))?;
        let mut spool = Spool { path, file };
        spool.append(FrameKind::Begin, format!("{VERSION} {identity}\n{started}").as_bytes())?;
        Ok(spool)
    }

    /// Opens the spool of an interrupted export with this identity in `folder`, and returns the spool and the start time
    /// of that export. Returns `None` if no recent spool of this export exists, or if its export was concluded:
    /// `concluded` is the start time of the last one.
    ///
    /// Read all frames and call [`Spool::truncate`] before appending.
    pub(super) fn open_interrupted(
        folder: &Path,
        identity: &str,
        concluded: Option<jiff::Timestamp>,
        now: SystemTime,
    ) -> Result<Option<(Spool, jiff::Timestamp)>, Error> {
        let path = folder.join(FILE_NAME);
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(Error::at(&path)(source)),
        };
        let first = Frames::open(&path).and_then(|mut frames| frames.read()).map_err(Error::at(&path))?;
        let begin = first.filter(|frame| frame.kind == FrameKind::Begin);
        let started: Option<jiff::Timestamp> = begin.and_then(|frame| {
            let begin = String::from_utf8(frame.payload).ok()?;
            begin.strip_prefix(&format!("{VERSION} {identity}\n"))?.parse().ok()
        });
        let is_recent =
            |started: &jiff::Timestamp| now.duration_since(SystemTime::from(*started)).is_ok_and(|age| age <= MAX_AGE);
        let started = started.filter(is_recent).filter(|started| Some(*started) != concluded);
        Ok(started.map(|started| (Spool { path, file }, started)))
    }

    /// Truncates the file to `len`, the length of the valid frames, and appends from there.
    pub(super) fn truncate(&mut self, len: u64) -> Result<(), Error> {
        let truncated = self.file.set_len(len).and_then(|()| self.file.seek(SeekFrom::Start(len)));
        truncated.map(drop).map_err(Error::at(&self.path))
    }

    /// Appends a frame. If the process is killed in between, the rest of the frame is dropped later.
    pub(super) fn append(&mut self, kind: FrameKind, payload: &[u8]) -> Result<(), Error> {
        let header = header(kind, payload).map_err(Error::at(&self.path))?;
        #[cfg(test)]
        full_disk::take(&self.path, header.len() + payload.len()).map_err(Error::at(&self.path))?;
        let written = self.file.write_all(&header).and_then(|()| self.file.write_all(payload));
        written.map_err(Error::at(&self.path))
    }

    /// Returns the frames after the first.
    pub(super) fn frames(&self) -> Result<Frames, Error> {
        let mut frames = Frames::open(&self.path).map_err(Error::at(&self.path))?;
        frames.next()?;
        Ok(frames)
    }

    /// Deletes the spool, because the export is finished.
    pub(super) fn remove(self) -> Result<(), Error> {
        let Spool { path, file, .. } = self;
        drop(file);
        std::fs::remove_file(&path).map_err(Error::at(&path))
    }
}

impl Frames {
    fn open(path: &Path) -> io::Result<Frames> {
        let file = BufReader::with_capacity(256 * 1024, File::open(path)?);
        Ok(Frames { path: path.to_owned(), file, valid_len: 0 })
    }

    /// Returns the next frame, or `None` at the end of the file or at a damaged frame.
    pub(super) fn next(&mut self) -> Result<Option<Frame>, Error> {
        self.read().map_err(Error::at(&self.path))
    }

    /// Returns the length of the file up to the end of the last frame returned.
    pub(super) fn valid_len(&self) -> u64 {
        self.valid_len
    }

    fn read(&mut self) -> io::Result<Option<Frame>> {
        let mut found = [0; HEADER_LEN];
        if !fill(&mut self.file, &mut found)? {
            return Ok(None);
        }
        let [kind, len @ .., _, _, _, _, _, _, _, _] = found;
        let len = u32::from_le_bytes(len) as usize;
        let Some(kind) = FrameKind::from_byte(kind).filter(|_| len <= MAX_PAYLOAD) else { return Ok(None) };
        let mut payload = vec![0; len];
        if !fill(&mut self.file, &mut payload)? || header(kind, &payload)? != found {
            return Ok(None);
        }
        self.valid_len += (HEADER_LEN + len) as u64;
        Ok(Some(Frame { kind, payload }))
    }
}

fn header(kind: FrameKind, payload: &[u8]) -> io::Result<[u8; HEADER_LEN]> {
    let len = u32::try_from(payload.len()).map_err(io::Error::other)?;
    let checksum = XxHash3_64::oneshot_with_seed(u64::from(len) << 8 | u64::from(kind as u8), payload);
    let mut header = [0; HEADER_LEN];
    header[0] = kind as u8;
    header[1..5].copy_from_slice(&len.to_le_bytes());
    header[5..].copy_from_slice(&checksum.to_le_bytes());
    Ok(header)
}

/// Fills the buffer. Returns `false` if the file ends before.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const STARTED: &str = "2026-11-22T12:00:00Z";

    /// A minute after [`STARTED`].
    fn soon() -> SystemTime {
        SystemTime::from(STARTED.parse::<jiff::Timestamp>().unwrap()) + Duration::from_secs(60)
    }

    fn payloads(spool: &Spool) -> (Vec<String>, u64) {
        let mut frames = spool.frames().unwrap();
        let mut payloads = Vec::new();
        while let Some(frame) = frames.next().unwrap() {
            payloads.push(String::from_utf8(frame.payload).unwrap());
        }
        (payloads, frames.valid_len())
    }

    #[test]
    fn a_damaged_spool_resumes_after_its_last_valid_frame() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Spool::open_interrupted(folder.path(), "b", None, soon()).unwrap().unwrap().0;
        let begin = format!("{VERSION} b\n{STARTED}");
        let last = (FrameKind::Page, "[2]");
        let frames = [(FrameKind::Begin, begin.as_str()), (FrameKind::Page, "[1]"), (FrameKind::NoPage, ""), last];
        let frames = frames.map(|(kind, text)| [&header(kind, text.as_bytes()).unwrap(), text.as_bytes()].concat());
        let whole: Vec<u8> = frames.concat();
        let ends: Vec<usize> = frames.iter().scan(0, |end, frame| Some((*end += frame.len(), *end).1)).collect();
        for cut in ends[0]..whole.len() {
            std::fs::write(folder.path().join(FILE_NAME), &whole[..cut]).unwrap();
            let mut spool = open();
            let (payloads_left, valid_len) = payloads(&spool);
            let valid = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!((payloads_left.len(), valid_len), (valid - 1, ends[valid - 1] as u64), "cut at {cut}");
            spool.truncate(valid_len).unwrap();
            spool.append(last.0, last.1.as_bytes()).unwrap();
            assert_eq!(payloads(&spool).0.len(), valid, "cut at {cut}");
        }
        // So does a spool with a changed byte, at any position in a frame.
        for at in ends[0]..ends[1] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(folder.path().join(FILE_NAME), changed).unwrap();
            assert_eq!(payloads(&open()), (vec![], ends[0] as u64));
        }
    }

    #[test]
    fn only_a_recent_spool_of_the_same_export_is_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let now = soon();
        let open = |identity: &str, now| Spool::open_interrupted(folder.path(), identity, None, now).unwrap();
        assert!(open("b", now).is_none());
        let spool = Spool::create(folder.path(), "b", STARTED.parse().unwrap()).unwrap();
        assert_eq!(open("b", now).unwrap().1.to_string(), STARTED);
        assert!(open("c", now).is_none());
        // The age counts from the beginning, however young the last page is.
        assert!(open("b", now + MAX_AGE).is_none());
        let started = STARTED.parse().ok();
        assert!(Spool::open_interrupted(folder.path(), "b", started, now).unwrap().is_none(), "it was concluded");
        spool.remove().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
