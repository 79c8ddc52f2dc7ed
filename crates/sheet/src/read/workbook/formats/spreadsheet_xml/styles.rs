//! Number formats of styles.

use std::collections::HashMap;

use crate::read::workbook::styles::{Display, NumberFormat};

/// Styles refer to parents, possibly in a circle.
const MAX_PARENTS: usize = 16;
/// Maximum number of styles.
const MAX_STYLES: usize = 1 << 16;
/// The style of cells without an explicit style.
const DEFAULT: &str = "Default";

#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: HashMap<String, Style>,
    /// The identifier of the style being read.
    open: String,
}

#[derive(Debug, Default)]
struct Style {
    parent: Option<String>,
    format: Option<Format>,
}

/// A number format: the type of the numbers, and their displayed form.
#[derive(Debug)]
pub(super) struct Format {
    pub display: Display,
    pub shown: Option<NumberFormat>,
}

impl Styles {
    /// Starts a style.
    pub(super) fn start(&mut self, id: String, parent: Option<String>) {
        if self.styles.len() < MAX_STYLES {
            self.styles.insert(id.clone(), Style { parent, format: None });
        }
        self.open = id;
    }

    /// Sets the number format of the started style.
    pub(super) fn set_format(&mut self, code: &str) {
        if let Some(style) = self.styles.get_mut(&self.open) {
            style.format = Some(Format { display: Display::parse(code), shown: Display::number_format(code) });
        }
    }

    /// Returns the number format of a style.
    pub(super) fn format(&self, id: Option<&str>) -> Option<&Format> {
        let mut style = self.styles.get(id.unwrap_or(DEFAULT));
        for _ in 0..MAX_PARENTS {
            let found = style?;
            if found.format.is_some() {
                return found.format.as_ref();
            }
            style = self.styles.get(found.parent.as_deref().unwrap_or(DEFAULT));
        }
        None
    }
}
