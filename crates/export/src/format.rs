//! The formats of exported files.

use std::path::Path;

use sheetport_datasets::Store;
use sheetport_sheet::write::FileFormat;

/// File format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A text or a workbook, without types of columns.
    Sheet(FileFormat),
    Parquet,
    /// A SQLite database, which is updated.
    Sqlite,
}

impl Format {
    /// Supported extensions, for messages.
    pub const NAMES: &'static str = ".csv, .tsv, .ndjson, each also with .gz or .zst, or .xlsx, .parquet or .db";

    /// Returns the format for the extension of `path`, in any letter case, or `None` for an unknown extension.
    pub fn of(path: &Path) -> Option<Format> {
        if let Some(format) = FileFormat::of(path) {
            return Some(Format::Sheet(format));
        }
        // A name such as ".db" has no extension.
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "parquet" => Some(Format::Parquet),
            "db" | "sqlite" | "sqlite3" => Some(Format::Sqlite),
            _ => None,
        }
    }

    pub fn is_ndjson(self) -> bool {
        matches!(self, Format::Sheet(format) if format.is_ndjson())
    }

    /// Whether a file has room for several lists.
    pub fn has_several_tables(self) -> bool {
        matches!(self, Format::Sheet(FileFormat::Xlsx) | Format::Sqlite)
    }

    /// Whether a file is updated by the ids of its records.
    pub fn is_database(self) -> bool {
        self == Format::Sqlite
    }

    /// Whether columns have types.
    pub(crate) fn is_typed(self) -> bool {
        self.store() != Store::Untyped
    }

    pub(crate) fn store(self) -> Store {
        match self {
            Format::Sheet(_) => Store::Untyped,
            Format::Parquet => Store::Parquet,
            Format::Sqlite => Store::Sqlite,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_determine_the_format() {
        let of = |name: &str| Format::of(Path::new(name));
        for name in ["a.db", "a.SQLite", "out/a.sqlite3"] {
            assert_eq!(of(name), Some(Format::Sqlite), "{name}");
        }
        assert_eq!(of("date=2026-11-28/a.PARQUET"), Some(Format::Parquet));
        assert_eq!(of("a.xlsx"), Some(Format::Sheet(FileFormat::Xlsx)));
        for name in [".db", "a.db.gz", "a.parquet.zst", "db", "a.txt"] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
