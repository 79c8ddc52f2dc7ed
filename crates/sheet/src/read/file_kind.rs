//! Detection of file types by content: text, a workbook, or another format. The extension is ignored, and only a bounded
//! part of the file is read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};

use super::little_endian::u32_at;
use super::markup::{self, Markup};

/// Number of bytes to examine at the start of a file.
pub(super) const SAMPLE: usize = 64 * 1024;

/// Maximum number of bytes to read from a ZIP archive's directory.
const MAX_NAMES: u64 = 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Text,
    Workbook(WorkbookFormat),
    /// A workbook from before Excel 95, with the name of the program.
    TooOld(&'static str),
    /// Another format, for messages: "a PDF document".
    Other(&'static str),
}

/// Workbook formats. XLSX includes workbooks with macros; the macros are ignored.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) enum WorkbookFormat {
    Xlsx,
    Xlsb,
    Xls,
    Ods,
    /// OpenDocument in a single XML file.
    FlatOds,
    /// Excel's XML of 2003.
    SpreadsheetXml,
    /// A web page with tables.
    Html,
    /// An XLSX or XLSB workbook encrypted with a password.
    Encrypted,
    /// An archive with a spreadsheet.
    Zip,
}

impl WorkbookFormat {
    pub(super) fn name(self) -> &'static str {
        match self {
            WorkbookFormat::Xlsx => "XLSX",
            WorkbookFormat::Xlsb => "XLSB",
            WorkbookFormat::Xls => "XLS",
            WorkbookFormat::Ods => "ODS",
            WorkbookFormat::FlatOds => "flat ODS",
            WorkbookFormat::SpreadsheetXml => "XML Spreadsheet 2003",
            WorkbookFormat::Html => "HTML",
            WorkbookFormat::Encrypted => "encrypted workbook",
            WorkbookFormat::Zip => "ZIP",
        }
    }
}

/// First bytes of other formats.
const MAGIC: [(&[u8], &str); 20] = [
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n", "an image"),
    (b"\xFF\xD8\xFF", "an image"),
    (b"GIF87a", "an image"),
    (b"GIF89a", "an image"),
    (b"II*\0", "an image"),
    (b"MM\0*", "an image"),
    (b"\x7FELF", "a program"),
    (b"\xCA\xFE\xBA\xBE", "a program"),
    (b"\xCF\xFA\xED\xFE", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"BZh9", "a bzip2 archive"),
    (b"\xFD7zXZ\0", "an xz archive"),
    (b"7z\xBC\xAF\x27\x1C", "a 7-Zip archive"),
    (b"Rar!\x1A\x07", "a RAR archive"),
    (b"SQLite format 3\0", "a SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"{\\rtf", "a rich text document"),
    (b"OggS", "a sound file"),
    (b"ID3", "a sound file"),
];

/// First records of workbooks from before OLE2.
const OLD: [(&[u8], &str); 3] =
    [(b"\x09\x00\x04\x00", "Excel 2"), (b"\x09\x02\x06\x00", "Excel 3"), (b"\x09\x04\x06\x00", "Excel 4")];

const OLE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// Detects the kind of a file that starts with `sample`. A file reported as text may be binary; check with [`is_binary`] after
/// decoding.
pub(super) fn detect(file: &mut File, sample: &[u8]) -> io::Result<FileKind> {
    if sample.starts_with(b"PK\x03\x04") || sample.starts_with(b"PK\x05\x06") {
        return zip(file, sample);
    }
    if sample.starts_with(OLE) {
        return ole(file, sample);
    }
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| sample.starts_with(magic)) {
        return Ok(FileKind::Other(name));
    }
    if let Some((_, name)) = OLD.iter().find(|(first, _)| sample.starts_with(first)) {
        return Ok(FileKind::TooOld(name));
    }
    Ok(markup::detect(sample).map_or(FileKind::Text, |markup| match markup {
        Markup::Html => FileKind::Workbook(WorkbookFormat::Html),
        Markup::SpreadsheetXml => FileKind::Workbook(WorkbookFormat::SpreadsheetXml),
        Markup::FlatOds => FileKind::Workbook(WorkbookFormat::FlatOds),
        Markup::Other(name) => FileKind::Other(name),
    }))
}

/// Returns the kind of a compressed file's content, or `None` for text.
pub(super) fn non_text_content(sample: &[u8]) -> Option<&'static str> {
    if sample.starts_with(b"PK\x03\x04") || sample.starts_with(OLE) {
        return Some("a workbook or archive in a compressed file; unpack it first");
    }
    let magic = MAGIC.iter().find(|(magic, _)| sample.starts_with(magic)).map(|(_, name)| *name);
    magic.or_else(|| match markup::detect(sample)? {
        Markup::Other(name) => Some(name),
        _ => Some("a web page or an XML spreadsheet in a compressed file; unpack it first"),
    })
}

/// Returns true for text with many control characters other than line breaks and tabs.
pub(super) fn is_binary(text: &str) -> bool {
    let controls = text.chars().filter(|c| matches!(c, '\0'..='\x08' | '\x0E'..='\x1F')).count();
    controls * 16 > text.chars().count()
}

fn zip(file: &mut File, sample: &[u8]) -> io::Result<FileKind> {
    let mut names = directory_names(file)?;
    if names.is_empty() {
        // The directory at the end is missing: use the headers of the entries.
        names = entry_names(sample, b"PK\x03\x04", 26, 30);
    }
    let has = |start: &str| names.iter().any(|name| name.to_ascii_lowercase().starts_with(start.as_bytes()));
    if let Some(kind) = open_document(sample) {
        return Ok(kind);
    }
    Ok(if has("xl/workbook.bin") {
        FileKind::Workbook(WorkbookFormat::Xlsb)
    } else if has("xl/") || has("xl\\") {
        FileKind::Workbook(WorkbookFormat::Xlsx)
    } else if has("content.xml") && has("mimetype") && has("meta-inf/") {
        // The `mimetype` is not the first entry. The parser checks for a spreadsheet.
        FileKind::Workbook(WorkbookFormat::Ods)
    } else if has("word/") {
        FileKind::Other("a Word document")
    } else if has("ppt/") {
        FileKind::Other("a PowerPoint presentation")
    } else if has("index/") && has("metadata/") {
        FileKind::Other("an Apple Numbers or Pages document")
    } else if has("[content_types].xml") {
        // A workbook's parts may have any name. The parser checks the content.
        FileKind::Workbook(WorkbookFormat::Xlsx)
    } else {
        FileKind::Workbook(WorkbookFormat::Zip)
    })
}

/// Detects OpenDocument files by their uncompressed first entry `mimetype`.
fn open_document(sample: &[u8]) -> Option<FileKind> {
    let rest = sample.get(30..)?.strip_prefix(b"mimetype")?;
    let media = rest.get(..rest.len().min(128))?;
    if find(media, b"opendocument.spreadsheet").is_some() {
        Some(FileKind::Workbook(WorkbookFormat::Ods))
    } else if find(media, b"opendocument.").is_some() {
        Some(FileKind::Other("an OpenDocument file"))
    } else {
        None
    }
}

/// Reads the names in the archive's directory. Returns an empty list if the end of the file is missing.
fn directory_names(file: &mut File) -> io::Result<Vec<Vec<u8>>> {
    let len = file.metadata()?.len();
    let tail_at = len.saturating_sub(SAMPLE as u64 + 22);
    let tail = read_at(file, tail_at, SAMPLE as u64 + 22)?;
    let Some(end) = tail.windows(4).rposition(|window| window == b"PK\x05\x06") else { return Ok(Vec::new()) };
    let (Some(size), Some(at)) = (u32_at(&tail, end + 12), u32_at(&tail, end + 16)) else { return Ok(Vec::new()) };
    // For archives over 4 GiB, the tail contains enough of the directory.
    let directory =
        if u64::from(at) < len { read_at(file, u64::from(at), u64::from(size).min(MAX_NAMES))? } else { tail };
    Ok(entry_names(&directory, b"PK\x01\x02", 28, 46))
}

/// Returns the names of entries: at `name_at` after each `signature`, with their length at `len_at`.
fn entry_names(bytes: &[u8], signature: &[u8; 4], len_at: usize, name_at: usize) -> Vec<Vec<u8>> {
    let starts = bytes.windows(4).enumerate().filter(|(_, window)| window == signature).map(|(index, _)| index);
    starts
        .filter_map(|start| {
            let len = u16::from_le_bytes(bytes.get(start + len_at..start + len_at + 2)?.try_into().ok()?);
            let name = bytes.get(start + name_at..start + name_at + usize::from(len))?;
            Some(name.strip_prefix(b"/").unwrap_or(name).to_vec())
        })
        .collect()
}

/// Detects the kind of an OLE2 file by the names of its streams.
fn ole(file: &mut File, sample: &[u8]) -> io::Result<FileKind> {
    let shift = sample.get(30..32).map_or(9, |bytes| u16::from_le_bytes([bytes[0], bytes[1]])).min(12);
    let directory = u64::from(u32_at(sample, 48).unwrap_or(0)) + 1;
    let mut streams = read_at(file, directory << shift, SAMPLE as u64)?;
    streams.extend_from_slice(sample);
    // Some programs write the names in capitals.
    streams.make_ascii_lowercase();
    let has = |name: &str| {
        let utf16: Vec<u8> = name.to_ascii_lowercase().encode_utf16().flat_map(u16::to_le_bytes).collect();
        find(&streams, &utf16).is_some()
    };
    Ok(if has("EncryptedPackage") {
        FileKind::Workbook(WorkbookFormat::Encrypted)
    } else if has("WordDocument") {
        FileKind::Other("an old Word document (.doc)")
    } else if has("PowerPoint Document") {
        FileKind::Other("an old PowerPoint presentation (.ppt)")
    } else if has("Workbook") || has("Book") {
        FileKind::Workbook(WorkbookFormat::Xls)
    } else {
        FileKind::Other("an old Office or OLE2 file")
    })
}

fn read_at(file: &mut File, at: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
