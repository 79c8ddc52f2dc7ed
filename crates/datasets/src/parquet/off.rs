//! No writer of Parquet files.

use std::convert::Infallible;
use std::io::Write;
use std::marker::PhantomData;

use crate::error::Error;
use crate::kind::{Column, Value};

/// Whether this executable writes Parquet files.
pub const HAS_PARQUET: bool = false;

/// A table that can't exist.
pub struct ParquetTable<W> {
    never: Infallible,
    sink: PhantomData<W>,
}

impl<W: Write + Send> ParquetTable<W> {
    /// Refuses.
    pub fn create(_sink: W, _columns: &[Column]) -> Result<ParquetTable<W>, Error> {
        Err(Error::NotIncluded)
    }

    pub fn row(&mut self, _values: &[Value<'_>]) -> Result<(), Error> {
        match self.never {}
    }

    pub fn finish(self) -> Result<W, Error> {
        match self.never {}
    }
}
