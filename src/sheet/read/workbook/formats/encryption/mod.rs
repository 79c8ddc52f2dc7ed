//! Workbooks that are encrypted with a password: \[MS-OFFCRYPTO\] 2.3, and those of OpenDocument.

mod agile;
mod odf;
mod package;
mod rc4;
mod standard;

use crate::sheet::read::workbook::fault::{Fault, FaultKind};

pub(super) use self::odf::decrypt_odf;
pub(super) use self::package::decrypt_package;
pub(super) use self::rc4::Rc4Key;

/// The password of workbooks that Excel encrypts without asking for one, to protect them from changes.
pub(super) const DEFAULT_PASSWORD: &str = "VelvetSweatshop";

/// Calls `unlock` with Excel's default password and the given one, until one is right.
///
/// # Errors
/// A [`Fault`] if no password is right or none was given.
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

/// The fault for a kind of encryption that is not supported.
fn unsupported() -> Fault {
    Fault { kind: FaultKind::Encrypted, reason: String::new() }
}

/// The fault for a description of the encryption that is invalid.
fn invalid() -> Fault {
    Fault::new("the description of its encryption is invalid")
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
