//! Options of a report: what is written where, and in which form.

mod choices;
mod csv_form;
mod request;

pub use choices::{Choices, MAX_CHOICES};
pub use csv_form::CsvForm;
pub(super) use request::{ACCEPTED_IN_REHEARSAL, IN_REHEARSAL, READY_TO_SEND};
pub use request::{Format, Request, RowFilter, Written};
