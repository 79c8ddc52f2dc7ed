//! Edits of spreadsheets before sending, and profiles of uploaded files.

mod edits;
mod profile;

pub use edits::Edit;
pub use profile::StoredProfile;
