//! Layouts other than one record per row with all of its values.

pub(super) mod fill_down;
pub(super) mod movements;
pub(super) mod unpivot;
