//! XLSX workbooks on top of rust_xlsxwriter: cells, styles, Excel's limits, and tables of any length.

pub mod cell;
pub mod file;
pub mod styles;
pub mod table;
pub mod text;
