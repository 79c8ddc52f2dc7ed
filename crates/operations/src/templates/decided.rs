//! Lists of templates in the home folder, about which a person has decided: those trusted, those whose guesses were confirmed, and those
//! with which a file was sent despite a question. A template is identified by its content, so a decision ends with a change. What a program
//! has sent is no decision.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use sheetport_files::absolute_path::absolute;
use sheetport_files::digest;
use sheetport_files::readers::create_private_folder;
use sheetport_findings::Code;
use sheetport_mapping::Template;

use super::super::context::Context;
use super::super::error::Error;

/// A list, by the name of its file. Each line has the digest of a template and its path at the time.
#[derive(Clone, Copy, Debug)]
pub(super) struct List(&'static str);

pub(super) const TRUSTED: List = List("trusted-templates");
const CONFIRMED: List = List("confirmed-guesses");
const ACCEPTED: List = List("accepted-questions");

/// Stores that a person has confirmed the guesses in the current content of a template.
///
/// # Errors
/// If the decision can't be stored.
pub(crate) fn confirm_guesses(context: &Context, template: &Template) -> Result<(), Error> {
    if are_guesses_confirmed(context, template) {
        Ok(())
    } else {
        CONFIRMED.add(context, template, digest_of(template))
    }
}

/// Returns whether a person has confirmed the guesses in the current content of a template, or there are none.
pub(crate) fn are_guesses_confirmed(context: &Context, template: &Template) -> bool {
    !template.has_guesses() || CONFIRMED.has(context, &digest_of(template))
}

/// Stores that a person sends files with this header by the current content of a template despite a question.
///
/// # Errors
/// If the decision can't be stored.
pub(crate) fn accept(context: &Context, template: &Template, header: &[String], question: Code) -> Result<(), Error> {
    match is_accepted(context, template, header, question) {
        true => Ok(()),
        false => ACCEPTED.add(context, template, answer(template, header, question)),
    }
}

/// Returns whether a person has decided to send files with this header despite a question.
pub(crate) fn is_accepted(context: &Context, template: &Template, header: &[String], question: Code) -> bool {
    ACCEPTED.has(context, &answer(template, header, question))
}

/// Returns the digest of a question about files with this header. Another file by the same template is another question.
fn answer(template: &Template, header: &[String], question: Code) -> String {
    let about = [digest_of(template), question.name().to_owned()];
    digest::hex(&digest::of_parts(about.iter().chain(header).map(String::as_bytes)))
}

impl List {
    /// Adds a decision about a template.
    pub(super) fn add(self, context: &Context, template: &Template, digest: String) -> Result<(), Error> {
        let path = context.home.join(self.0);
        let place = absolute(&template.name);
        // Appends a line with one write, because other processes may append at the same time. The path is only informative.
        let line = format!("{} {}\n", digest, place.display().to_string().replace(['\n', '\r'], " "));
        append(&path, &line).map_err(|error| {
            let message = format!("{} can't be written: {error}", path.display());
            Error::invalid(message, "check the permissions of the folder, or name another one with --home")
        })
    }

    pub(super) fn has(self, context: &Context, digest: &str) -> bool {
        let listed = std::fs::read_to_string(context.home.join(self.0)).unwrap_or_default();
        listed.lines().any(|line| line.split(' ').next() == Some(digest))
    }
}

pub(super) fn digest_of(template: &Template) -> String {
    let tables = template.lookups.iter().flat_map(|lookups| &lookups.hashes);
    let tables = tables.flat_map(|(name, hash)| [name.as_bytes(), hash.as_bytes()]);
    // A person looks at the template itself. What a profile adds to it is the decision of the same person.
    digest::hex(&digest::of_parts(std::iter::once(template.own_source().as_bytes()).chain(tables)))
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_private_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = options.open(path)?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}
