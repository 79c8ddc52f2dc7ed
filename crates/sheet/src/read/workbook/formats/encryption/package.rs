//! Encrypted packages: an archive in the stream of an OLE2 file.

use std::io::Read;

use cfb::CompoundFile;

use super::agile::Agile;
use super::standard::{self, Description};
use super::{invalid, unsupported, with_passwords};
use crate::read::workbook::fault::Fault;
use crate::read::workbook::formats::cells::damage;
use crate::read::workbook::formats::input::Source;

/// Maximum length of the description.
const MAX_DESCRIPTION: u64 = 1 << 20;

/// Returns the archive in an encrypted package. Excel's default password is tried first.
///
/// # Errors
/// A [`Fault`] if a password is needed or wrong, or the encryption is not supported.
pub(crate) fn decrypt_package(file: &Source, password: Option<&str>) -> Result<Vec<u8>, Fault> {
    let damaged = |error: std::io::Error| Fault::new(damage(error));
    let mut file = CompoundFile::open(file.input()).map_err(damaged)?;
    let mut description = Vec::new();
    let stream = file.open_stream("EncryptionInfo").map_err(damaged)?;
    stream.take(MAX_DESCRIPTION).read_to_end(&mut description).map_err(damaged)?;
    let mut package = Vec::new();
    file.open_stream("EncryptedPackage").map_err(damaged)?.read_to_end(&mut package).map_err(damaged)?;
    let (version, description) = description.split_first_chunk::<4>().ok_or_else(invalid)?;
    let len = package.first_chunk::<8>().map(|len| u64::from_le_bytes(*len)).ok_or_else(invalid)?;
    package.drain(..8);
    match version {
        [4, 0, 4, 0] => {
            let agile = Agile::parse(description.get(4..).ok_or_else(invalid)?)?;
            let key = with_passwords(password, |password| agile.unlock(password))?;
            agile.decrypt(&key, &mut package)?;
        }
        [2..=4, 0, 2, 0] => {
            let description = Description::parse(description)?;
            let key = with_passwords(password, |password| description.unlock(password))?;
            standard::decrypt(&key, &mut package)?;
        }
        _ => return Err(unsupported()),
    }
    // The last block is filled.
    package.truncate(usize::try_from(len).unwrap_or(usize::MAX));
    Ok(package)
}
