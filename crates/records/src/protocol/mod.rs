//! What all resources share: error bodies, pages of lists, and tokens.

pub mod answer;
pub mod page;
pub mod token;
