//! RC4 encryption of XLS files: \[MS-XLS\] 2.2.10.

use md5::Md5;
use rc4::cipher::{KeyInit, StreamCipher};
use sha1::Digest;

use super::standard::{Description, sha1};
use super::{invalid, unsupported, with_passwords};
use crate::read::workbook::fault::Fault;

/// Length of a block with a separate key, in bytes.
const BLOCK: usize = 1024;

/// The key of a stream.
#[derive(Debug)]
pub(crate) enum Rc4Key {
    /// 40 bits, as in Excel 97.
    Md5([u8; 5]),
    /// The hash and the length of keys in bytes, as in Excel 2002.
    Sha1([u8; 20], usize),
}

impl Rc4Key {
    /// Returns the key for the body of a FilePass record, after the kind of encryption.
    ///
    /// # Errors
    /// A [`Fault`] if a password is needed or wrong, or the encryption is not supported.
    pub(crate) fn unlock(description: &[u8], password: Option<&str>) -> Result<Rc4Key, Fault> {
        match description.split_first_chunk::<4>() {
            Some(([1, 0, 1, 0], rest)) => {
                let (salt, rest) = rest.split_first_chunk::<16>().ok_or_else(invalid)?;
                let verifier = rest.get(..32).ok_or_else(invalid)?;
                with_passwords(password, |password| {
                    let key = Rc4Key::of_excel_97(salt, password);
                    let mut opened = verifier.to_vec();
                    key.apply(0, &mut opened);
                    let (verifier, hash) = opened.split_at(16);
                    Ok((md5(&[verifier]) == hash).then_some(key))
                })
            }
            Some(([2..=4, 0, 2, 0], rest)) => {
                let description = Description::parse(rest)?;
                if !description.is_rc4() {
                    return Err(unsupported());
                }
                with_passwords(password, |password| {
                    let key = Rc4Key::Sha1(sha1(&[&description.salt, password]), description.key_len);
                    let mut opened = [description.verifier.as_slice(), &description.verifier_hash].concat();
                    key.apply(0, &mut opened);
                    let (verifier, hash) = opened.split_at(16);
                    Ok((hash.get(..20) == Some(&sha1(&[verifier]))).then_some(key))
                })
            }
            _ => Err(unsupported()),
        }
    }

    fn of_excel_97(salt: &[u8; 16], password: &[u8]) -> Rc4Key {
        let start = md5(&[password]);
        let repeated = [&start[..5], salt].concat().repeat(16);
        let [a, b, c, d, e, ..] = md5(&[&repeated]);
        Rc4Key::Md5([a, b, c, d, e])
    }

    /// Decrypts a stream from its start.
    pub(crate) fn decrypt(&self, stream: &mut [u8]) {
        for (block, bytes) in (0_u32..).zip(stream.chunks_mut(BLOCK)) {
            self.apply(block, bytes);
        }
    }

    /// Decrypts the start of a block.
    fn apply(&self, block: u32, bytes: &mut [u8]) {
        let key = match self {
            Rc4Key::Md5(secret) => md5(&[secret, &block.to_le_bytes()]).to_vec(),
            Rc4Key::Sha1(secret, len) => {
                let mut key = sha1(&[secret, &block.to_le_bytes()])[..*len].to_vec();
                // 40 bits are filled to 128.
                if *len == 5 {
                    key.resize(16, 0);
                }
                key
            }
        };
        let mut cipher = rc4::Rc4::new_from_slice(&key).expect("the length of the key was checked");
        cipher.apply_keystream(bytes);
    }
}

fn md5(parts: &[&[u8]]) -> [u8; 16] {
    let mut digest = Md5::new();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the description of RC4 with keys of this length, a salt and a verifier.
    fn description(bits: u32, verifier: &str) -> Vec<u8> {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let verifier: Vec<u8> = (0..verifier.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&verifier[at..at + 2], 16).expect("a byte"))
            .collect();
        let salt: Vec<u8> = (0..16).collect();
        let (header, size) = (words(&[4, 0, 0x6801, 0x8004, bits, 1, 0, 0]), words(&[20]));
        [
            vec![2, 0, 2, 0],
            words(&[4, 32]),
            header,
            words(&[16]),
            salt,
            verifier[..16].to_vec(),
            size,
            verifier[16..].to_vec(),
        ]
        .concat()
    }

    #[test]
    fn passwords_of_excel_2002_are_checked() {
        for (bits, verifier) in [
            (40, "213119a8a42c0e1746afbc86b8eb0c7fc2b5c93d6f8757d6a41d9e3ab1a059dce6c2f5d6"),
            (128, "50deff87dcc4ead8627aaa81e4aff59ccc0fab9d6bc4c4201ebce73513340bb41ec831cd"),
        ] {
            let description = description(bits, verifier);
            assert!(Rc4Key::unlock(&description, Some("geheim")).is_ok(), "{bits}");
            assert!(Rc4Key::unlock(&description, Some("Geheim")).is_err(), "{bits}");
        }
        let unknown = description(512, "50deff87dcc4ead8627aaa81e4aff59ccc0fab9d6bc4c4201ebce73513340bb41ec831cd");
        assert_eq!(Rc4Key::unlock(&unknown, None).map_err(|fault| fault.kind).err(), Some(unsupported().kind));
    }
}
