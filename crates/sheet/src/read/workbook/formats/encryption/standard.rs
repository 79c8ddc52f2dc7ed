//! Standard encryption, used by Excel 2007, and the derivation of RC4 keys.

use aes::cipher::{Array, BlockCipherDecrypt, KeyInit};
use sha1::{Digest, Sha1};

use super::{invalid, u32_at, unsupported};
use crate::read::workbook::fault::Fault;

const SPINS: u32 = 50_000;
const BLOCK: usize = 16;
const AES: [u32; 3] = [0x660E, 0x660F, 0x6610];
const RC4: u32 = 0x6801;

/// The description of a cipher with a verifier of the password.
#[derive(Debug)]
pub(super) struct Description {
    algorithm: u32,
    /// In bytes.
    pub key_len: usize,
    pub salt: Vec<u8>,
    pub verifier: Vec<u8>,
    pub verifier_hash: Vec<u8>,
}

impl Description {
    /// Parses the description after its version.
    pub(super) fn parse(bytes: &[u8]) -> Result<Description, Fault> {
        Description::read(bytes).ok_or_else(invalid)
    }

    fn read(bytes: &[u8]) -> Option<Description> {
        let header_len = usize::try_from(u32_at(bytes, 4)?).ok()?;
        let (header, verifier) = bytes.get(8..)?.split_at_checked(header_len)?;
        let (algorithm, bits) = (u32_at(header, 8)?, u32_at(header, 16)?);
        Some(Description {
            algorithm,
            key_len: if bits == 0 { 5 } else { usize::try_from(bits).ok()? / 8 },
            salt: verifier.get(4..20)?.to_vec(),
            verifier: verifier.get(20..36)?.to_vec(),
            verifier_hash: verifier.get(40..)?.iter().copied().take(32).collect(),
        })
    }

    pub(super) fn is_rc4(&self) -> bool {
        self.algorithm == RC4 && (5..=16).contains(&self.key_len)
    }

    /// Returns the key of a package, or `None` for a wrong password.
    pub(super) fn unlock(&self, password: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        if !AES.contains(&self.algorithm) || ![16, 24, 32].contains(&self.key_len) {
            return Err(unsupported());
        }
        let mut secret = sha1(&[&self.salt, password]);
        for spin in 0..SPINS {
            secret = sha1(&[&spin.to_le_bytes(), &secret]);
        }
        let last = sha1(&[&secret, &0_u32.to_le_bytes()]);
        let padded = |byte: u8| {
            let mut block = [byte; 64];
            block.iter_mut().zip(last).for_each(|(byte, of_hash)| *byte ^= of_hash);
            sha1(&[&block])
        };
        let mut key = [padded(0x36), padded(0x5C)].concat();
        key.truncate(self.key_len);
        let (mut verifier, mut hash) = (self.verifier.clone(), self.verifier_hash.clone());
        decrypt(&key, &mut verifier)?;
        decrypt(&key, &mut hash)?;
        Ok((hash.get(..20) == Some(&sha1(&[&verifier]))).then_some(key))
    }
}

/// Decrypts whole blocks with AES, each separately. Does not change bytes after the last whole block.
pub(super) fn decrypt(key: &[u8], bytes: &mut [u8]) -> Result<(), Fault> {
    fn with<C: KeyInit + BlockCipherDecrypt<BlockSize = aes::cipher::consts::U16>>(
        key: &[u8],
        bytes: &mut [u8],
    ) -> Option<()> {
        let cipher = C::new_from_slice(key).ok()?;
        for block in bytes.chunks_exact_mut(BLOCK) {
            cipher.decrypt_block(<&mut Array<u8, _>>::try_from(block).ok()?);
        }
        Some(())
    }
    let done = match key.len() {
        16 => with::<aes::Aes128>(key, bytes),
        24 => with::<aes::Aes192>(key, bytes),
        32 => with::<aes::Aes256>(key, bytes),
        _ => None,
    };
    done.ok_or_else(invalid)
}

pub(super) fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut digest = Sha1::new();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize().into()
}
