//! What the asynchronous functions of this crate return. They are boxed, so that their code is compiled here and not once more where they
//! are awaited: a future that is not boxed is compiled by the crate that polls it.

use futures_util::future::{BoxFuture, LocalBoxFuture};

use crate::error::Error;

/// An operation in progress.
pub type Operation<'a, T> = BoxFuture<'a, Result<T, Error>>;
/// An operation in progress that has to stay on its thread.
pub type LocalOperation<'a, T> = LocalBoxFuture<'a, Result<T, Error>>;
