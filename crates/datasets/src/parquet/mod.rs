//! Parquet files. The feature `parquet` decides which implementation is compiled.

#[cfg(not(feature = "parquet"))]
mod off;
#[cfg(feature = "parquet")]
mod on;

#[cfg(not(feature = "parquet"))]
pub use self::off::{HAS_PARQUET, ParquetTable};
#[cfg(feature = "parquet")]
pub use self::on::{HAS_PARQUET, ParquetTable};
