//! Job files: their model, their keys, and how they are loaded.

mod due;
mod load;
mod model;
mod notice_keys;
mod raw;
mod schedule_keys;

pub use load::load_job;
pub(super) use load::parse;
pub(super) use model::{Channel, Folders, Mail, Secret, Security};
pub use model::{Job, Occasion, Schedule, Step, UploadStep, Work};
