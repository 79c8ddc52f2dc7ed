//! XLSX workbooks on top of rust_xlsxwriter: cells, styles, Excel's limits, and tables of any length.

pub(crate) mod cell;
pub(crate) mod file;
pub(crate) mod styles;
pub(crate) mod table;
pub(crate) mod text;
