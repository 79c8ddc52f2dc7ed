//! The templates that a person trusts, identified by content. A template next to a supplier's file may come from the supplier.

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

/// Name of the file in the home folder. Each line has the digest of a template and its path at the time.
const FILE: &str = "trusted-templates";

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
    if is_trusted(context, template) {
        return Ok(());
    }
    let path = context.home.join(FILE);
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
    let is_built_in = builtin::find(&template.name).is_some();
    is_built_in || {
        let trusted = std::fs::read_to_string(context.home.join(FILE)).unwrap_or_default();
        let digest = digest_of(template);
        trusted.lines().any(|line| line.split(' ').next() == Some(digest.as_str()))
    }
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
