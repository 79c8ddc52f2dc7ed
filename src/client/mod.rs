//! Talking to the service: one HTTP attempt at a time, and the rules for what follows from it.
//!
//! [`Client`] makes one attempt and says what came of it; it never repeats a write by itself. What to do next is
//! decided by [`policy`], how fast requests may follow each other by [`Pace`], and how a list is walked by [`pages`];
//! those three are pure and are told the time.

pub mod answer;
pub mod auth;
mod direct;
pub mod error;
pub mod fetch;
pub mod pace;
pub mod pages;
pub mod policy;
pub mod transport;

pub use error::Error;
pub use pace::{Pace, Rate, Speed};
pub use transport::{Answer, Attempt, Client, Exchange, Quota, Request};
