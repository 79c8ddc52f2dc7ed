//! The options of an export.

use std::path::PathBuf;
use std::time::SystemTime;

use sheetport_client::PageSize;
use sheetport_records::{List, ListedField, Single};
use sheetport_sheet::write::{FileFormat, Style, TextKind};

use super::fetch::IdFile;
use super::format::Format;
use super::template::Template;

/// The records to export.
#[derive(Clone, Debug)]
pub enum Source {
    List(&'static List),
    /// Single records by the IDs in a file.
    Ids {
        single: &'static Single,
        file: IdFile,
        by_external_id: bool,
    },
}

/// The destination of the table.
#[derive(Clone, Debug)]
pub enum Output {
    File {
        /// File name, may contain `{date}` and `{workspace}`.
        pattern: String,
        format: Format,
    },
    /// Text, because standard output may be a terminal.
    Stdout { kind: TextKind },
}

/// The file with the changes since the previous export.
#[derive(Clone, Debug)]
pub struct ChangesFile {
    /// File name with placeholders, as of [`Output::File`].
    pub pattern: String,
    pub format: FileFormat,
}

/// Selects records by the time of their last change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Since {
    /// All records.
    #[default]
    Ever,
    /// Records that are new or changed since the previous export to this name. The first export contains all records.
    Last,
    Moment(jiff::Timestamp),
}

impl Source {
    /// Returns the path of the list, or the common part of the paths of the single records.
    pub fn path(&self) -> &'static str {
        match self {
            Source::List(list) => list.path,
            Source::Ids { single, .. } => single.path,
        }
    }

    /// Returns the name of the list, or of the single records.
    pub fn name(&self) -> &'static str {
        self.layout().1
    }

    /// Returns the contract's fields of the records.
    pub fn fields(&self) -> &'static [ListedField] {
        self.layout().0
    }

    /// Returns the contract's fields of the records, and the name of the list or of the single records.
    pub(super) fn layout(&self) -> (&'static [ListedField], &'static str) {
        match self {
            Source::List(list) => (list.fields, list.name),
            Source::Ids { single, .. } => (single.fields, single.name),
        }
    }
}

/// Options of an export, whatever its records and its place.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    pub style: Style,
    /// Path of an array to expand into one row per element.
    pub explode: Option<String>,
    pub since: Since,
    /// Appends the changes since the previous export to its file.
    pub append: bool,
    /// Reads all IDs a second time.
    pub verify: bool,
    /// Starts again instead of continuing an interrupted export.
    pub fresh: bool,
    /// Number of dated files to keep, including the new file. `None` keeps all.
    pub keep: Option<u16>,
    /// Minimum ratio of the number of records to the number in the previous export, for replacing the file.
    pub min_ratio: Option<f64>,
    /// Whether an empty list may replace a file with records.
    pub allow_empty: bool,
    /// Whether the file may replace one that no export wrote.
    pub replace: bool,
    /// Value of the `Accept-Language` header.
    pub language: Option<String>,
    /// Maximum number of simultaneous requests.
    pub concurrency: u16,
}

/// An export to be run.
#[derive(Debug)]
pub struct Job {
    pub source: Source,
    pub output: Output,
    /// A list of records added, changed and removed since the previous export with such a list.
    pub changes: Option<ChangesFile>,
    /// Name of a link to the newest of several dated files, with `{workspace}` as of [`Output::File`].
    pub latest: Option<String>,
    pub template: Option<Template>,
    /// The paths of the listed records' details, to be requested for each record.
    pub details: Option<&'static Single>,
    pub options: ExportOptions,
    /// Number of entries to ask for per page of a list.
    pub page_size: PageSize,
    /// Folder of Sheetport's own data.
    pub home: PathBuf,
    pub base_url: String,
    pub workspace: String,
    pub clock: Clock,
    /// Output pattern for manifests, if `output` is a local copy of a remote file.
    pub shown_pattern: Option<String>,
}

impl Job {
    /// Returns the style of text files. The request overrides the template.
    pub(super) fn table_style(&self) -> Style {
        let style = self.options.style;
        self.template.as_ref().map_or(style, |template| style.or(template.style))
    }

    /// Returns the path of the array to expand, of the request or else of the template.
    pub(super) fn exploded(&self) -> Option<&str> {
        self.options.explode.as_deref().or(self.template.as_ref().and_then(|template| template.explode.as_deref()))
    }

    /// Returns the conditions for the records.
    pub(super) fn conditions(&self) -> Vec<String> {
        let conditions = self.template.iter().flat_map(|template| &template.conditions);
        conditions.map(|condition| condition.source.clone()).collect()
    }

    /// Returns the order of the records, as in a template.
    pub(super) fn order(&self) -> Vec<String> {
        let sort = self.template.iter().flat_map(|template| &template.sort);
        sort.map(|by| format!("{}{}", if by.descending { "-" } else { "" }, by.key.name())).collect()
    }

    /// Returns the place of the list in a database.
    pub(super) fn database_table(&self) -> String {
        let (_, name) = self.source.layout();
        match self.exploded() {
            Some(path) => format!("{name}_{}", path.replace(['.', '\\'], "_")),
            None => name.to_owned(),
        }
    }

    /// Returns whether texts are written without protection from being run as formulas. Workbooks and NDJSON need none.
    pub(super) fn is_exact(&self) -> bool {
        let has_protection = match &self.output {
            Output::File { format, .. } => {
                matches!(format, Format::Sheet(FileFormat::Text { kind, .. }) if *kind != TextKind::Ndjson)
            }
            Output::Stdout { .. } => true,
        };
        has_protection && self.table_style().raw
    }
}

#[cfg(test)]
impl Job {
    /// Returns an export of the items to a file in `folder`, which has Sheetport's own data, too.
    pub(super) fn in_folder(folder: &std::path::Path, pattern: &str, clock: Clock) -> Job {
        let path = folder.join(pattern);
        Job {
            source: Source::List(&sheetport_records::item::LIST),
            output: Output::File {
                pattern: path.to_str().expect("UTF-8").to_owned(),
                format: Format::of(&path).expect("a format"),
            },
            changes: None,
            latest: None,
            template: None,
            details: None,
            options: ExportOptions { allow_empty: true, concurrency: 3, ..ExportOptions::default() },
            page_size: PageSize::Chosen(100),
            home: folder.join("home"),
            base_url: "http://service".to_owned(),
            workspace: "shop".to_owned(),
            clock,
            shown_pattern: None,
        }
    }

    /// Lists the changes in another file of the folder.
    pub(super) fn with_changes(mut self, folder: &std::path::Path, pattern: &str) -> Job {
        let path = folder.join(pattern);
        let format = FileFormat::of(&path).expect("a format");
        self.changes = Some(ChangesFile { pattern: path.to_str().expect("UTF-8").to_owned(), format });
        self
    }
}

/// The current time.
#[derive(Clone, Debug)]
pub struct Clock {
    /// When the export was requested, in the local time zone, for file names.
    pub local: jiff::Zoned,
    pub now: fn() -> SystemTime,
}

impl Clock {
    pub(super) fn timestamp(&self) -> jiff::Timestamp {
        // A clock outside the years -9999 to 9999 says nothing.
        jiff::Timestamp::try_from((self.now)()).unwrap_or(self.local.timestamp())
    }
}
