//! The write-ahead log of the database. SQLite takes a damaged frame for the end of the log and drops all later commits
//! without an error, so the log is read before SQLite reads it, and compared with its index. The index survives a killed process.
//!
//! Format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>, <https://www.sqlite.org/walformat.html>

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

const HEADER: usize = 32;
const FRAME: usize = 24;
/// The magic number without its last bit. The last bit marks big-endian checksums.
const MAGIC: u32 = 0x377f_0682;
/// The largest page of SQLite, in bytes.
const MAX_PAGE: u32 = 65_536;

/// The frames of a log.
#[derive(Debug, Default)]
struct Frames {
    /// Undamaged frames from the start.
    valid: u32,
    /// Whether a later frame of the same log ends a transaction.
    commits_after_damage: bool,
    is_header_damaged: bool,
    salts: [u32; 2],
}

/// Returns whether commits would be lost because a frame of the log of the database at `path` is damaged.
///
/// A killed process can leave a torn frame only at the very end, from a transaction with no effect outside. Returns false while
/// another process is writing to the log.
pub(crate) fn loses_commits(path: &Path) -> io::Result<bool> {
    let (log, index) = (beside(path, "-wal"), beside(path, "-shm"));
    let committed = committed(&index);
    let frames = match read(&log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        frames => frames?,
    };
    let Some(frames) = frames else { return Ok(false) };
    if self::committed(&index) != committed {
        return Ok(false);
    }
    // The index counts a transaction after it is on disk, and survives the process.
    let is_short = committed
        .is_some_and(|(last, salts)| (frames.is_header_damaged || salts == frames.salts) && last > frames.valid);
    Ok(is_short || frames.commits_after_damage)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the last committed frame and the salts of the log, by the index. `None` without a valid index.
fn committed(index: &Path) -> Option<(u32, [u32; 2])> {
    let mut bytes = [0; 96];
    File::open(index).and_then(|mut file| file.read_exact(&mut bytes)).ok()?;
    let (first, second) = bytes.split_at(48);
    let word = |at: usize| u32::from_ne_bytes([first[at], first[at + 1], first[at + 2], first[at + 3]]);
    // Bytes 32 to 39 are copied from the log, in big-endian order.
    let salt = |at: usize| u32::from_be_bytes([first[at], first[at + 1], first[at + 2], first[at + 3]]);
    let mut sums = [0; 2];
    add(&mut sums, &first[..40], cfg!(target_endian = "big"));
    let is_valid = first == second && first[12] != 0 && [word(40), word(44)] == sums;
    is_valid.then(|| (word(16), [salt(32), salt(36)]))
}

/// Reads all frames; `None` if the log is empty or not a log.
fn read(log: &Path) -> io::Result<Option<Frames>> {
    let size = fs::metadata(log)?.len();
    let mut file = BufReader::with_capacity(1 << 20, File::open(log)?);
    let mut header = [0; HEADER];
    if size < HEADER as u64 {
        return Ok(None);
    }
    file.read_exact(&mut header)?;
    let word = |bytes: &[u8], at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let mut frames = Frames { salts: [word(&header, 16), word(&header, 20)], ..Frames::default() };
    let (magic, page) = (word(&header, 0), word(&header, 8));
    let is_big_endian = magic & 1 == 1;
    let mut sums = [0; 2];
    add(&mut sums, &header[..24], is_big_endian);
    if magic & !1 != MAGIC
        || !(512..=MAX_PAGE).contains(&page)
        || !page.is_power_of_two()
        || sums != [word(&header, 24), word(&header, 28)]
    {
        frames.is_header_damaged = true;
        frames.commits_after_damage = size > HEADER as u64;
        return Ok(Some(frames));
    }
    let mut frame = vec![0; FRAME + page as usize];
    let mut is_damaged = false;
    for _ in 0..(size - HEADER as u64) / frame.len() as u64 {
        file.read_exact(&mut frame)?;
        let has_salts = [word(&frame, 8), word(&frame, 12)] == frames.salts;
        if is_damaged {
            // Frames of an earlier log have other salts.
            frames.commits_after_damage |= has_salts && word(&frame, 4) != 0;
            continue;
        }
        add(&mut sums, &frame[..8], is_big_endian);
        add(&mut sums, &frame[FRAME..], is_big_endian);
        if has_salts && sums == [word(&frame, 16), word(&frame, 20)] {
            frames.valid += 1;
        } else {
            is_damaged = true;
        }
    }
    Ok(Some(frames))
}

/// Adds bytes to the checksum of the log. The length is a multiple of 8.
fn add(sums: &mut [u32; 2], bytes: &[u8], is_big_endian: bool) {
    let (words, _) = bytes.as_chunks::<4>();
    let number = |word: &[u8; 4]| if is_big_endian { u32::from_be_bytes(*word) } else { u32::from_le_bytes(*word) };
    for pair in words.chunks_exact(2) {
        sums[0] = sums[0].wrapping_add(number(&pair[0])).wrapping_add(sums[1]);
        sums[1] = sums[1].wrapping_add(number(&pair[1])).wrapping_add(sums[0]);
    }
}
