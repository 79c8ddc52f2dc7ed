//! The templates that a person trusts. A template next to a supplier's file may come from the supplier.

use sheetport_mapping::{Template, builtin};

use super::super::context::Context;
use super::super::error::Error;
use super::decided::{TRUSTED, digest_of};
use super::load_template::{TemplateChanges, load_template};

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
    if is_trusted(context, template) { Ok(()) } else { TRUSTED.add(context, template, digest_of(template)) }
}

/// Returns whether the current content of a template is trusted. Built-in templates always are.
pub fn is_trusted(context: &Context, template: &Template) -> bool {
    builtin::find(&template.name).is_some() || TRUSTED.has(context, &digest_of(template))
}
