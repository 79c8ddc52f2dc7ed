//! What can be known of a page without those before it, found out on the thread that fetched it.

use super::gather::Fetched;
use super::layout::{InForce, Made};
use crate::client::pages::{Identifier, Identity};

/// How pages are looked at.
#[derive(Clone, Debug)]
pub struct Look {
    pub identifier: Identifier,
    /// Nothing where no rows are wanted.
    pub in_force: Option<InForce>,
}

/// A page, and what is known of it.
#[derive(Debug)]
pub struct Looked {
    pub fetched: Fetched,
    /// What tells its entries apart.
    pub ids: Vec<Identity>,
    /// Its rows, if all of its entries are new; nothing where they could not be made yet.
    pub made: Option<Made>,
}

impl Look {
    pub fn at(&self, fetched: Fetched) -> Looked {
        self.at_with(fetched, Vec::new())
    }

    /// The same, in the memory of identities that nobody needs any more.
    pub fn at_with(&self, fetched: Fetched, mut ids: Vec<Identity>) -> Looked {
        ids.clear();
        let mut made = None;
        if let Fetched::Page(page) = &fetched {
            ids.extend(page.entries().map(|entry| self.identifier.identity(entry)));
            made = self.in_force.as_ref().and_then(|in_force| in_force.rows(page));
        }
        Looked { fetched, ids, made }
    }
}

impl Looked {
    /// About the memory that it takes.
    pub fn size(&self) -> usize {
        let text = if let Fetched::Page(page) = &self.fetched { page.text().len() } else { 0 };
        text + self.made.as_ref().map_or(0, |made| made.bytes.len())
    }

    /// Whether it holds no records.
    pub fn is_barren(&self) -> bool {
        self.ids.is_empty()
    }
}
