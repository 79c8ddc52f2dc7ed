//! Workbooks encrypted with a password: \[MS-OFFCRYPTO\] 2.3, and OpenDocument.

mod agile;
mod odf;
mod package;
mod rc4;
mod standard;

use crate::read::little_endian::u32_at;
use crate::read::workbook::fault::{Fault, FaultKind};

pub(super) use self::odf::decrypt_odf;
pub(super) use self::package::decrypt_package;
pub(super) use self::rc4::Rc4Key;

/// The password that Excel uses to encrypt workbooks protected from changes, without asking the user.
const DEFAULT_PASSWORD: &str = "VelvetSweatshop";

/// Calls `unlock` with Excel's default password and the given password, until one succeeds.
///
/// # Errors
/// A [`Fault`] if all passwords are wrong, or none was given.
pub(super) fn with_passwords<T>(
    password: Option<&str>,
    mut unlock: impl FnMut(&[u8]) -> Result<Option<T>, Fault>,
) -> Result<T, Fault> {
    for password in [Some(DEFAULT_PASSWORD), password].into_iter().flatten() {
        let utf16: Vec<u8> = password.encode_utf16().flat_map(u16::to_le_bytes).collect();
        if let Some(unlocked) = unlock(&utf16)? {
            return Ok(unlocked);
        }
    }
    let kind = if password.is_some() { FaultKind::WrongPassword } else { FaultKind::PasswordNeeded };
    Err(Fault { kind, reason: String::new() })
}

/// Returns the fault for an unsupported kind of encryption.
fn unsupported() -> Fault {
    Fault { kind: FaultKind::Encrypted, reason: String::new() }
}

/// Returns the fault for an invalid description of the encryption.
fn invalid() -> Fault {
    Fault::new("the description of its encryption is invalid")
}
