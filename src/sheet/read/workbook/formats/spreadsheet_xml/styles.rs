//! Number formats of styles.

use std::collections::HashMap;

use crate::sheet::read::workbook::styles::Display;

/// Styles refer to parents, possibly in a circle.
const MAX_PARENTS: usize = 16;
/// Maximum number of styles.
const MAX_STYLES: usize = 1 << 16;
/// The style of cells without another one.
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
    display: Option<Display>,
}

impl Styles {
    /// Starts a style.
    pub(super) fn start(&mut self, id: String, parent: Option<String>) {
        if self.styles.len() < MAX_STYLES {
            self.styles.insert(id.clone(), Style { parent, display: None });
        }
        self.open = id;
    }

    /// Sets the number format of the started style.
    pub(super) fn set_format(&mut self, code: &str) {
        if let Some(style) = self.styles.get_mut(&self.open) {
            style.display = Some(Display::parse(code));
        }
    }

    /// Returns what numbers of a style are shown as.
    pub(super) fn display(&self, id: Option<&str>) -> Option<&Display> {
        let mut style = self.styles.get(id.unwrap_or(DEFAULT));
        for _ in 0..MAX_PARENTS {
            let found = style?;
            if found.display.is_some() {
                return found.display.as_ref();
            }
            style = self.styles.get(found.parent.as_deref().unwrap_or(DEFAULT));
        }
        None
    }
}
