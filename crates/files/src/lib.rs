//! Files and folders: digests, permissions, links of other users, absolute paths, small text files, and foreign text made visible.
//!
//! The lowest crate: knows no spreadsheet, no template and no setting, and opens only files named by its caller.
//!
//! | module | purpose |
//! |---|---|
//! | [`readers`] | permissions: a file derived from another gets no more readers than the original |
//! | [`links`] | whether to follow a link, and files dropped into a folder by other users |
//! | [`visible`] | text from spreadsheets and services, safe for terminals, pages and logs |
//! | [`digest`] | SHA-256 of files |
//! | [`text_file`], [`absolute_path`] | templates and settings as text; paths |

pub mod absolute_path;
pub mod digest;
pub mod links;
pub mod readers;
pub mod text_file;
pub mod visible;
