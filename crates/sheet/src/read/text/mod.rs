//! Reading of delimited text files: detection of encoding and dialect, and parsing of rows.

mod code_page;
mod confidence;
mod decoder;
pub(super) mod dialect;
mod doubt;
pub(super) mod encoding;
mod grammar;
mod readings;
mod rows;
pub(super) mod sniff;
mod text_encoding;

pub use self::confidence::Confidence;
pub(super) use self::decoder::TextDecoder;
pub use self::dialect::{Dialect, LineEnding};
pub use self::doubt::Doubt;
pub use self::encoding::EncodingDoubt;
pub(super) use self::grammar::MAX_COLUMNS;
pub(super) use self::rows::{MAX_RECORD, TextRows};
pub(super) use self::text_encoding::TextEncoding;
