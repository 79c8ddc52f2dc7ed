//! The spreadsheet of an operation: file on disk, template and reading options.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sheetport_files::absolute_path::absolute;
use sheetport_files::links::path_of;
use sheetport_files::readers::Readers;
use sheetport_findings::Code;
use sheetport_ledger::{NAME_FIELD, NewRun, RunCommand, RunLookups, RunSettings, SheetSelection};
use sheetport_mapping::Template;
use sheetport_mapping::model::{Group, LookupFiles};
use sheetport_plan::{Edits, Source};
use sheetport_sheet::{Options, PrivateFile};

use super::super::context::Context;
use super::super::error::Error;
use super::super::templates::decided::{are_guesses_confirmed, is_accepted};
use super::exported::{check_exported, not_opened};

/// Name of standard input in messages, summaries and the ledger.
pub const STANDARD_INPUT: &str = "standard input";

/// Size limit of a spreadsheet from a stream.
const MAX_SPOOLED: u64 = 64 * 1024 * 1024 * 1024;

/// A spreadsheet on disk. Files are read more than once, so a stream is copied to a temporary file first.
#[derive(Debug)]
pub struct InputFile {
    pub path: PathBuf,
    /// Name used in messages.
    pub name: PathBuf,
    /// The copy of a stream or an object.
    spool: Option<PrivateFile>,
    /// Keeps a dropped file open, which `path` leads to even if its name is given to another file.
    _held: Option<File>,
    /// The name in the ledger, if different from `name`.
    address: Option<String>,
}

impl InputFile {
    pub fn at(path: &Path) -> InputFile {
        InputFile { path: path.to_owned(), name: path.to_owned(), spool: None, _held: None, address: None }
    }

    /// Takes a file that somebody dropped, open and checked, with its `path`. It is shown as `name` in messages.
    pub fn dropped(file: File, path: &Path, name: &Path) -> InputFile {
        let address = Some(absolute(path).display().to_string());
        InputFile { path: path_of(&file, path), name: name.to_owned(), spool: None, _held: Some(file), address }
    }

    /// Copies `stream` to a temporary file.
    ///
    /// # Errors
    /// [`Error::BadInput`] if the stream is longer than 64 GiB.
    pub fn spool(stream: impl Read, name: &str) -> Result<InputFile, Error> {
        let failed = |error: io::Error| Error::no_temporary_files(&error);
        let mut spool = PrivateFile::create().map_err(failed)?;
        let len = io::copy(&mut stream.take(MAX_SPOOLED + 1), &mut spool).map_err(failed)?;
        spool.flush().map_err(failed)?;
        if len > MAX_SPOOLED {
            let (message, hint) =
                (format!("{name} is larger than 64 GiB"), "save it as a file and give its name".into());
            return Err(Error::BadInput { message, hint });
        }
        Ok(InputFile {
            path: spool.path().to_owned(),
            name: name.into(),
            spool: Some(spool),
            _held: None,
            address: None,
        })
    }

    /// Takes a temporary copy, shown as `name`.
    pub fn of_copy(copy: PrivateFile, name: &str) -> InputFile {
        InputFile { path: copy.path().to_owned(), name: name.into(), spool: Some(copy), _held: None, address: None }
    }

    /// Takes the temporary copy of an object, shown as `name` in messages.
    pub fn of_object(copy: PrivateFile, name: &Path, address: &str) -> InputFile {
        InputFile { address: Some(address.to_owned()), ..InputFile::of_copy(copy, &name.to_string_lossy()) }
    }

    /// Returns the folder of the file, or the current folder for a stream.
    pub(crate) fn folder(&self) -> &Path {
        self.name.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Returns the other users who may read the file. A stream has none.
    fn readers(&self) -> Readers {
        match self.spool {
            None => Readers::of(&self.path),
            Some(_) => Readers::Owner,
        }
    }

    /// Returns the absolute path for the ledger, the address of an object, or the name of a stream.
    pub fn lasting_name(&self) -> String {
        if let Some(address) = &self.address {
            return address.clone();
        }
        let path = match self.spool {
            None => absolute(&self.path),
            Some(_) => self.name.clone(),
        };
        path.display().to_string()
    }
}

/// A spreadsheet and the template for mapping.
#[derive(Debug)]
pub struct Spreadsheet<'a> {
    pub file: &'a InputFile,
    pub template: Template,
    /// Name or number of the sheet, or `*` for every sheet with the columns of the template.
    pub sheet: Option<&'a str>,
    /// How to read a text file, where detection should not decide.
    pub text: Options,
    /// First and last row of the records to take.
    pub rows: Option<(u64, u64)>,
    /// Treats warnings as problems.
    pub is_strict: bool,
    /// Questions that are answered with yes, besides those of the template.
    pub accepts: &'a [Code],
    /// Edits made in a review.
    pub edits: Option<Arc<Edits>>,
}

impl Spreadsheet<'_> {
    /// Opens the file like [`Spreadsheet::open`], without warnings about guesses that a person has confirmed, and with the answers that a
    /// person has given about such a file.
    pub(crate) fn open_for_sending(&self, context: &Context) -> Result<Source, Error> {
        let mut source = self.open()?;
        if are_guesses_confirmed(context, &self.template) {
            source.confirm_guesses();
        }
        let mut known = source.questions();
        known.retain(|code| is_accepted(context, &self.template, &source.header, *code));
        source.accept(&known);
        Ok(source)
    }

    /// Opens the file and finds the template's columns.
    pub(crate) fn open(&self) -> Result<Source, Error> {
        let (file, template) = (self.file, &self.template);
        let options = self.text.clone().or(&template.sheet.text);
        let opened = Source::open_as(&file.path, &file.name, template, self.sheet, &options);
        let mut source = opened.map_err(|error| not_opened(error, &file.name, template))?;
        check_exported(&file.name, template, &source)?;
        source.chosen = self.rows;
        source.edits.clone_from(&self.edits);
        source.is_strict = self.is_strict;
        source.accept(self.accepts);
        Ok(source)
    }
}

/// Returns the identity of a new run of `command` for this file.
pub(crate) fn new_run(
    command: RunCommand,
    context: &Context,
    base_url: &str,
    file: &InputFile,
    source: &Source,
    template: &Template,
) -> Result<NewRun, Error> {
    let first = source.tables.first().expect("a source reads at least one sheet");
    let sheet = match source.tables.as_slice() {
        [part] => SheetSelection::One(source.name_of(part).to_owned()),
        _ => SheetSelection::Several,
    };
    let column = |field: usize| {
        source.tables.iter().find_map(|part| Some(part.columns.of(part.layout.columns.get(field)?.first()?)))
    };
    let rules = template.rules().enumerate();
    let mut columns: Vec<(String, usize)> =
        rules.filter_map(|(place, rule)| Some((rule.field.name.to_owned(), column(place)?))).collect();
    // For problems with the name of a record.
    columns.extend(
        source
            .tables
            .iter()
            .find_map(|part| Some((NAME_FIELD.to_owned(), part.columns.of(*part.layout.group.first()?)))),
    );
    Ok(NewRun {
        command,
        record: template.record,
        template: template.name.clone(),
        template_toml: template.source.clone(),
        lookups: template
            .lookups
            .as_ref()
            .map(|LookupFiles { folder, hashes }| RunLookups { folder: folder.clone(), hashes: hashes.clone() }),
        file: file.lasting_name(),
        file_hash: source.hash()?,
        readers: file.readers(),
        text_form: source.text_form(),
        base_url: base_url.to_owned(),
        workspace: context.workspace(),
        sheet,
        header: source.header.clone(),
        header_row: first.layout.header.row,
        columns,
        name_columns: template.group.as_ref().map_or_else(Vec::new, Group::names),
        chosen: source.chosen,
        retry_of: None,
        undo_of: None,
        options: Vec::new(),
        settings: RunSettings::default(),
    })
}
