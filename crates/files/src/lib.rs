//! Files and folders: digests, permissions, links of other users, absolute paths, small text files, and foreign text made visible.

pub mod absolute_path;
pub mod digest;
pub mod links;
pub mod readers;
pub mod text_file;
pub mod visible;
