//! Opening of files: detects the format of a file and the dialect of a text.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use encoding_rs::Encoding;

use super::book::{Book, Content};
use super::decompress::Decompressed;
use super::file_kind::{self, FileKind, WorkbookFormat};
use super::location::Location;
use super::markup;
use super::options::Options;
use super::text::dialect::{self, DialectConfidence};
use super::text::sniff::{self, DialectHints};
use super::text::{Confidence, Dialect, LineEnding, encoding};
use super::workbook::{Archive, Password, Request, Workbook};
use crate::compression::Compression;
use crate::{Error, PrivateFile};

/// Maximum number of names of an archive's files in a message.
const MAX_NAMES: usize = 5;

/// Detects the format of a file by its content. Reads a bounded part of a text, and all of a workbook except its sheets. A ZIP
/// archive of a single file counts as that file.
///
/// # Errors
/// [`Error::NotASpreadsheet`] and similar errors if the file cannot be read as a table.
pub fn open(path: &Path, options: &Options) -> Result<Book, Error> {
    at(Location::of(path), options)
}

fn at(location: Location, options: &Options) -> Result<Book, Error> {
    let path = || location.shown.clone();
    let failed = |source| Error::Open { path: path(), source };
    let mut file = open_regular(&location.at).map_err(failed)?;
    let mut sample = Vec::new();
    (&mut file).take(file_kind::SAMPLE as u64).read_to_end(&mut sample).map_err(failed)?;
    let compression = Compression::detect(&sample);
    if compression != Compression::None {
        return text(location, compression, options);
    }
    match file_kind::detect(&mut file, &sample).map_err(failed)? {
        FileKind::Text => text(location, compression, options),
        FileKind::Workbook(WorkbookFormat::Zip) if location.is_unpacked() => {
            let found = "a ZIP archive in another one".to_owned();
            Err(Error::NotASpreadsheet { path: path(), found })
        }
        FileKind::Workbook(WorkbookFormat::Zip) => at(unpack(&location)?, options),
        FileKind::Workbook(format) => workbook(location, format, &sample, options),
        FileKind::TooOld(program) => {
            let reason = format!("it is a workbook of {program}; versions before Excel 95 are not supported");
            Err(Error::Unreadable { path: path(), place: String::new(), reason })
        }
        FileKind::Other(found) => {
            let found = if location.is_unpacked() { format!("{found} in a ZIP archive") } else { found.to_owned() };
            Err(Error::NotASpreadsheet { path: path(), found })
        }
    }
}

/// Opens a regular file. Refuses folders, and also pipes, because pipes cannot be read twice and may block forever.
fn open_regular(path: &Path) -> io::Result<File> {
    let found = std::fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file; save it to disk first"));
    }
    File::open(path)
}

/// Unpacks the only file of an archive.
fn unpack(location: &Location) -> Result<Location, Error> {
    let (mut archive, names) = Archive::open(location)?;
    let [name] = names.as_slice() else {
        let path = location.shown.clone();
        if names.is_empty() {
            return Err(Error::NotASpreadsheet { path, found: "a ZIP archive without files".to_owned() });
        }
        let more = names.len().saturating_sub(MAX_NAMES);
        let mut listed = names[..names.len() - more].join(", ");
        if more > 0 {
            listed.push_str(&format!(" and {more} more"));
        }
        return Err(Error::SeveralFiles { path, count: names.len(), names: listed });
    };
    let failed = |error: io::Error| {
        let reason = format!("its file {name} can't be unpacked to a temporary file: {error}");
        Error::Unreadable { path: location.shown.clone(), place: String::new(), reason }
    };
    let mut file = PrivateFile::create().map_err(failed)?;
    while let Some(bytes) = archive.next()? {
        file.write_all(bytes).map_err(failed)?;
    }
    file.flush().map_err(failed)?;
    Ok(location.unpacked(name, file))
}

/// Opens a workbook, or a web page with tables.
fn workbook(location: Location, format: WorkbookFormat, sample: &[u8], options: &Options) -> Result<Book, Error> {
    let encoding = match format {
        WorkbookFormat::Html => Some(page_encoding(&location, sample, options)?),
        _ => None,
    };
    let password = match format {
        WorkbookFormat::Encrypted | WorkbookFormat::Xls | WorkbookFormat::Ods => {
            options.password().map_err(|reason| Error::BadOptions { path: location.shown.clone(), reason })?
        }
        _ => None,
    };
    let password = password.map(Password);
    let (workbook, entries) = Workbook::open(&location, Request { format, encoding, password })?;
    let hidden = entries.iter().enumerate().filter(|(_, entry)| entry.is_hidden).map(|(index, _)| index);
    let hidden = hidden.collect();
    let is_named = entries.iter().any(|entry| !entry.name.is_empty());
    let sheets = match is_named {
        true => entries.into_iter().map(|entry| entry.name).collect(),
        false => entries.iter().map(|_| location.title.clone()).collect(),
    };
    Ok(Book { location, sheets, is_named, hidden, content: Content::Workbook(workbook) })
}

/// Returns the label of a page's encoding: from the options, the byte order mark, or the declaration, or else the most likely
/// encoding.
fn page_encoding(location: &Location, sample: &[u8], options: &Options) -> Result<String, Error> {
    if let Some(label) = &options.encoding {
        let found = encoding::with_label(label, sample).ok_or_else(|| bad_encoding(location, label))?;
        return Ok(found.encoding.name().to_owned());
    }
    let declared = markup::declared_encoding(sample).filter(|_| encoding::marked(sample).is_none());
    let detected = || encoding::detect(sample, sample.len() < file_kind::SAMPLE).0.encoding.name();
    Ok(declared.map_or_else(detected, Encoding::name).to_owned())
}

fn bad_encoding(location: &Location, label: &str) -> Error {
    let reason = format!("'{label}' is not an encoding; examples are utf-8 and windows-1252");
    Error::BadOptions { path: location.shown.clone(), reason }
}

/// Opens a text file.
fn text(location: Location, compression: Compression, options: &Options) -> Result<Book, Error> {
    let dialect = detect_dialect(&location, compression, options)?;
    let mut name = location.title.clone();
    if compression != Compression::None {
        // prices.csv.gz
        name = Path::new(&name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    Ok(Book { location, sheets: vec![name], is_named: false, hidden: Vec::new(), content: Content::Text(dialect) })
}

fn detect_dialect(location: &Location, compression: Compression, options: &Options) -> Result<Dialect, Error> {
    let path = &location.shown;
    let failed = |source| Error::Open { path: path.to_owned(), source };
    let bad = |reason| Error::BadOptions { path: path.to_owned(), reason };
    let no_spreadsheet = |found: &str| Error::NotASpreadsheet { path: path.to_owned(), found: found.to_owned() };
    let mut input = Decompressed::new(open_regular(&location.at).map_err(failed)?, compression).map_err(failed)?;
    let mut sample = Vec::new();
    input.by_ref().take(file_kind::SAMPLE as u64).read_to_end(&mut sample).map_err(failed)?;
    let whole = sample.len() < file_kind::SAMPLE;
    if let Some(found) = file_kind::non_text_content(&sample).filter(|_| compression != Compression::None) {
        return Err(no_spreadsheet(found));
    }
    let (encoding, confidence) = match &options.encoding {
        Some(label) => encoding::with_label(label, &sample)
            .map(|found| (found, Confidence::Given))
            .ok_or_else(|| bad_encoding(location, label))?,
        None if !whole && is_plain_ascii(&sample) => encoding::detect_in_rest(&mut input).map_err(failed)?,
        None => encoding::detect(&sample, whole),
    };
    let text = encoding::decode_sample(&sample, encoding);
    if whole && text.trim().is_empty() {
        return Err(Error::Empty { path: path.to_owned() });
    }
    if file_kind::is_binary(&text) {
        return Err(no_spreadsheet("binary data"));
    }
    options.check().map_err(bad)?;
    let directive = dialect::directive(&text);
    let declared = directive.map(|(delimiter, _)| delimiter);
    let hints =
        DialectHints { delimiter: options.delimiter.or(declared), quote: options.quote, escape: options.escape };
    let directive = directive.map_or(0, |(_, len)| len);
    let detected = sniff::sniff(&text[directive..], whole, hints);
    let confidence = DialectConfidence {
        encoding: confidence,
        delimiter: detected.delimiter,
        quote: detected.quote,
        escape: detected.escape,
    };
    let line_ending = LineEnding::of(&text);
    Ok(Dialect { compression, encoding, grammar: detected.grammar, line_ending, directive, confidence })
}

/// Returns true for ASCII without zero bytes. UTF-16 has zero bytes.
fn is_plain_ascii(sample: &[u8]) -> bool {
    sample.is_ascii() && !sample.contains(&0)
}
