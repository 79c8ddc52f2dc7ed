//! A sheet bound to the template.

use super::columns::ColumnMap;
use crate::template::Layout;

/// A sheet to read.
#[derive(Debug)]
pub struct Part {
    /// The index in `Book::sheets`.
    pub sheet: usize,
    pub layout: Layout,
    /// The layouts of the cells that are records of their own, in the order of [`Layout::cells`].
    pub cells: Vec<Layout>,
    /// The positions of the columns in the common header.
    pub columns: ColumnMap,
}
