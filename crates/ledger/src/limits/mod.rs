//! Limits of services: request rates, shared and learned, and page sizes.

mod gate;
mod page_size;
mod rate;

pub use gate::{Gate, Granted};
pub use page_size::PageSizes;
