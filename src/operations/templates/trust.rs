//! The templates that a person trusts, and those whose guesses a person has confirmed, both identified by content. A template next to
//! a supplier's file may come from the supplier; a guess that a program has sent is still a guess.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::super::context::Context;
use super::super::error::Error;
use super::load_template::{TemplateChanges, load_template};
use crate::absolute_path::absolute;
use crate::digest;
use crate::readers::create_private_folder;
use crate::template::{Template, builtin};

/// Names of the files in the home folder. Each line has the digest of a template and its path at the time.
const TRUSTED: &str = "trusted-templates";
const CONFIRMED: &str = "confirmed-guesses";

/// A template reviewed by a person.
#[derive(Debug)]
pub struct TrustedTemplate {
    pub template: Template,
    /// SHA-256 of the template, the templates it extends, and its lookup tables, in hexadecimal.
    pub digest: String,
}

/// Trusts the current content of the template file at `path`.
///
/// # Errors
/// If the template can't be loaded, is built in, or the decision can't be stored.
pub fn trust_template(context: &Context, path: &str) -> Result<TrustedTemplate, Error> {
    if builtin::find(path).is_some() {
        let message = format!("{path} is a built-in template, which needs no trust");
        return Err(Error::invalid(message, format!("name a file in this folder as ./{path}")));
    }
    let template = load_template(path, TemplateChanges::default())?;
    trust(context, &template)?;
    let digest = digest_of(&template);
    Ok(TrustedTemplate { template, digest })
}

/// Trusts the current content of a template. Does nothing if the template is trusted or built in.
///
/// # Errors
/// If the decision can't be stored.
pub fn trust(context: &Context, template: &Template) -> Result<(), Error> {
    if is_trusted(context, template) { Ok(()) } else { list(context, TRUSTED, template) }
}

/// Stores that a person has confirmed the guesses in the current content of a template.
///
/// # Errors
/// If the decision can't be stored.
pub(in crate::operations) fn confirm_guesses(context: &Context, template: &Template) -> Result<(), Error> {
    if are_guesses_confirmed(context, template) { Ok(()) } else { list(context, CONFIRMED, template) }
}

/// Returns whether a person has confirmed the guesses in the current content of a template, or there are none.
pub(in crate::operations) fn are_guesses_confirmed(context: &Context, template: &Template) -> bool {
    !template.has_guesses() || is_listed(context, CONFIRMED, template)
}

/// Adds the current content of a template to a list in the home folder.
fn list(context: &Context, list: &str, template: &Template) -> Result<(), Error> {
    let path = context.home.join(list);
    let place = absolute(&template.name);
    // Appends a line with one write, because other processes may append at the same time. The path is only informative.
    let line = format!("{} {}\n", digest_of(template), place.display().to_string().replace(['\n', '\r'], " "));
    append(&path, &line).map_err(|error| {
        let message = format!("{} can't be written: {error}", path.display());
        Error::invalid(message, "check the permissions of the folder, or name another one with --home")
    })
}

/// Returns whether the current content of a template is trusted. Built-in templates always are.
pub fn is_trusted(context: &Context, template: &Template) -> bool {
    builtin::find(&template.name).is_some() || is_listed(context, TRUSTED, template)
}

fn is_listed(context: &Context, list: &str, template: &Template) -> bool {
    let listed = std::fs::read_to_string(context.home.join(list)).unwrap_or_default();
    let digest = digest_of(template);
    listed.lines().any(|line| line.split(' ').next() == Some(digest.as_str()))
}

fn digest_of(template: &Template) -> String {
    let tables = template.lookups.iter().flat_map(|lookups| &lookups.hashes);
    let tables = tables.flat_map(|(name, hash)| [name.as_bytes(), hash.as_bytes()]);
    digest::hex(&digest::of_parts(std::iter::once(template.source.as_bytes()).chain(tables)))
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
