//! Requests and responses of the page: who may ask, the files of the page, and responses in the language of the browser.

pub(super) mod access;
pub(super) mod assets;
mod failure;
mod json;
mod posted;
pub(super) mod translation;

pub(super) use access::{Access, Exchanged};
pub(super) use failure::Failure;
pub(super) use json::json_response;
pub(super) use posted::Posted;
