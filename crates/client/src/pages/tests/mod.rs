//! Tests of pages and walks with random and misleading input.

mod page;
mod walk;
