//! Values with their exact digits, and the file formats and text styles for tables of them.

use std::borrow::Cow;
use std::path::Path;

use jiff::civil;
use serde::{Deserialize, Serialize};

use crate::compression::Compression;

/// A value with its original digits.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Blank,
    Text(Cow<'a, str>),
    /// A number in JSON notation.
    Number(&'a str),
    /// A computed number in JSON notation.
    Digits(String),
    Boolean(bool),
    /// A timestamp as received, and its date and time in UTC.
    DateTime {
        at: civil::DateTime,
        text: &'a str,
    },
}

/// File format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    Text { kind: TextKind, packing: Compression },
    Xlsx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    Csv,
    Tsv,
    /// One JSON object per line.
    Ndjson,
}

impl TextKind {
    pub fn name(self) -> &'static str {
        match self {
            TextKind::Csv => "csv",
            TextKind::Tsv => "tsv",
            TextKind::Ndjson => "ndjson",
        }
    }
}

/// Deviations of a delimited text from RFC 4180.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Style {
    /// Field delimiter.
    pub delimiter: Option<u8>,
    /// Writes decimal commas, and semicolons as the default delimiter.
    pub decimal_comma: bool,
    /// Starts the file with a byte order mark: older versions of Excel need the mark to recognize UTF-8.
    pub bom: bool,
    /// Does not defuse text with the form of a formula.
    pub raw: bool,
}

impl Style {
    /// Returns this style with unset options taken from `other`.
    pub fn or(self, other: Style) -> Style {
        Style {
            delimiter: self.delimiter.or(other.delimiter),
            decimal_comma: self.decimal_comma || other.decimal_comma,
            bom: self.bom || other.bom,
            raw: self.raw || other.raw,
        }
    }

    /// Returns the character between fields. `None` for NDJSON.
    pub(super) fn delimiter(&self, kind: TextKind) -> Option<u8> {
        match (kind, self.delimiter) {
            (TextKind::Ndjson, _) => None,
            (_, Some(delimiter)) => Some(delimiter),
            (TextKind::Tsv, None) => Some(b'\t'),
            (TextKind::Csv, None) if self.decimal_comma => Some(b';'),
            (TextKind::Csv, None) => Some(b','),
        }
    }
}

impl FileFormat {
    /// Supported extensions, for messages.
    pub const NAMES: &'static str = ".csv, .tsv, .ndjson, each also with .gz or .zst, or .xlsx";

    /// Returns the format for the extension of `path`, in any letter case, or `None` for an unknown extension.
    pub fn of(path: &Path) -> Option<FileFormat> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (name, packing) = match (name.strip_suffix(".gz"), name.strip_suffix(".zst")) {
            (Some(name), _) => (name, Compression::Gzip),
            (_, Some(name)) => (name, Compression::Zstd),
            _ => (name.as_str(), Compression::None),
        };
        let (stem, extension) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        Some(match extension {
            "csv" => FileFormat::Text { kind: TextKind::Csv, packing },
            "tsv" | "tab" => FileFormat::Text { kind: TextKind::Tsv, packing },
            "ndjson" | "jsonl" => FileFormat::Text { kind: TextKind::Ndjson, packing },
            "xlsx" if packing == Compression::None => FileFormat::Xlsx,
            _ => return None,
        })
    }

    pub fn is_ndjson(self) -> bool {
        matches!(self, FileFormat::Text { kind: TextKind::Ndjson, .. })
    }
}
