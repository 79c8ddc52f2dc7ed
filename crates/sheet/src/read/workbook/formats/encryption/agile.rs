//! Agile encryption, used by Excel since 2010.

use aes::cipher::block_padding::NoPadding;
use aes::cipher::{BlockModeDecrypt, KeyIvInit};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use cbc::Decryptor;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::{invalid, unsupported};
use crate::read::workbook::fault::Fault;

/// Excel's limit.
const MAX_SPINS: u32 = 10_000_000;
/// Length of the segments of a package, in bytes.
const SEGMENT: usize = 4096;
/// Length of an AES block.
const BLOCK: usize = 16;
// The purposes of derived keys.
const VERIFIER_INPUT: [u8; 8] = [0xFE, 0xA7, 0xD2, 0x76, 0x3B, 0x4B, 0x9E, 0x79];
const VERIFIER_HASH: [u8; 8] = [0xD7, 0xAA, 0x0F, 0x6D, 0x30, 0x61, 0x34, 0x4E];
const KEY: [u8; 8] = [0x14, 0x6E, 0x0B, 0xE7, 0xAB, 0xAC, 0xD0, 0xD6];

#[derive(Debug)]
pub(super) struct Agile {
    data: Cipher,
    password: Cipher,
    spins: u32,
    verifier_input: Vec<u8>,
    verifier_hash: Vec<u8>,
    key: Vec<u8>,
}

/// How something is encrypted.
#[derive(Debug)]
struct Cipher {
    salt: Vec<u8>,
    /// In bytes.
    key_len: usize,
    hash: Hash,
}

#[derive(Clone, Copy, Debug)]
enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Agile {
    /// Parses the description after its version.
    pub(super) fn parse(xml: &[u8]) -> Result<Agile, Fault> {
        let mut reader = Reader::from_reader(xml);
        let (mut data, mut password, mut buffer) = (None, None, Vec::new());
        loop {
            buffer.clear();
            match reader.read_event_into(&mut buffer).map_err(|_| invalid())? {
                Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                    "keyData" => data = Some(Cipher::parse(&tag)?),
                    "encryptedKey" => {
                        let spins = text(&tag, "spinCount")?.parse().ok().filter(|spins| *spins <= MAX_SPINS);
                        password = Some((
                            Cipher::parse(&tag)?,
                            spins.ok_or_else(invalid)?,
                            bytes(&tag, "encryptedVerifierHashInput")?,
                            bytes(&tag, "encryptedVerifierHashValue")?,
                            bytes(&tag, "encryptedKeyValue")?,
                        ));
                    }
                    _ => {}
                },
                Event::Eof => break,
                _ => {}
            }
        }
        let (Some(data), Some((password, spins, verifier_input, verifier_hash, key))) = (data, password) else {
            return Err(invalid());
        };
        Ok(Agile { data, password, spins, verifier_input, verifier_hash, key })
    }

    /// Returns the key of the package, or `None` for a wrong password.
    pub(super) fn unlock(&self, password: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let hash = self.password.hash;
        let mut secret = hash.of(&[&self.password.salt, password]);
        for spin in 0..self.spins {
            secret = hash.of(&[&spin.to_le_bytes(), &secret]);
        }
        let open = |purpose: &[u8], bytes: &[u8]| {
            let key = fitted(hash.of(&[&secret, purpose]), self.password.key_len);
            decrypted(&key, &self.password.salt, bytes)
        };
        let input = open(&VERIFIER_INPUT, &self.verifier_input)?;
        let wanted = open(&VERIFIER_HASH, &self.verifier_hash)?;
        let found = hash.of(&[&input]);
        if wanted.get(..found.len()) != Some(&found) {
            return Ok(None);
        }
        let mut key = open(&KEY, &self.key)?;
        key.truncate(self.data.key_len);
        Ok(Some(key))
    }

    /// Decrypts the package.
    pub(super) fn decrypt(&self, key: &[u8], package: &mut [u8]) -> Result<(), Fault> {
        for (number, segment) in (0_u32..).zip(package.chunks_mut(SEGMENT)) {
            let iv = self.data.hash.of(&[&self.data.salt, &number.to_le_bytes()]);
            let whole = segment.len() / BLOCK * BLOCK;
            decrypt(key, &iv, &mut segment[..whole])?;
        }
        Ok(())
    }
}

impl Cipher {
    fn parse(tag: &BytesStart<'_>) -> Result<Cipher, Fault> {
        if text(tag, "cipherAlgorithm")? != "AES" || text(tag, "cipherChaining")? != "ChainingModeCBC" {
            return Err(unsupported());
        }
        let hash = match text(tag, "hashAlgorithm")?.as_str() {
            "SHA1" | "SHA-1" => Hash::Sha1,
            "SHA256" => Hash::Sha256,
            "SHA384" => Hash::Sha384,
            "SHA512" => Hash::Sha512,
            _ => return Err(unsupported()),
        };
        let key_len = match text(tag, "keyBits")?.as_str() {
            "128" => 16,
            "192" => 24,
            "256" => 32,
            _ => return Err(unsupported()),
        };
        Ok(Cipher { salt: bytes(tag, "saltValue")?, key_len, hash })
    }
}

impl Hash {
    fn of(self, parts: &[&[u8]]) -> Vec<u8> {
        fn digest<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
            let mut digest = D::new();
            parts.iter().for_each(|part| digest.update(part));
            digest.finalize().to_vec()
        }
        match self {
            Hash::Sha1 => digest::<Sha1>(parts),
            Hash::Sha256 => digest::<Sha256>(parts),
            Hash::Sha384 => digest::<Sha384>(parts),
            Hash::Sha512 => digest::<Sha512>(parts),
        }
    }
}

/// Cuts or fills a hash to the length of a key or an initialisation vector.
fn fitted(mut hash: Vec<u8>, len: usize) -> Vec<u8> {
    hash.resize(len, 0x36);
    hash
}

fn decrypted(key: &[u8], iv: &[u8], bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut bytes = bytes.to_vec();
    decrypt(key, iv, &mut bytes)?;
    Ok(bytes)
}

/// Decrypts whole blocks with AES in CBC mode.
pub(super) fn decrypt(key: &[u8], iv: &[u8], bytes: &mut [u8]) -> Result<(), Fault> {
    fn with<C: KeyIvInit + BlockModeDecrypt>(key: &[u8], iv: &[u8], bytes: &mut [u8]) -> Option<()> {
        C::new_from_slices(key, iv).ok()?.decrypt_padded::<NoPadding>(bytes).ok().map(|_| ())
    }
    let iv = fitted(iv.to_vec(), BLOCK);
    let done = match key.len() {
        16 => with::<Decryptor<aes::Aes128>>(key, &iv, bytes),
        24 => with::<Decryptor<aes::Aes192>>(key, &iv, bytes),
        32 => with::<Decryptor<aes::Aes256>>(key, &iv, bytes),
        _ => None,
    };
    done.ok_or_else(invalid)
}

/// Returns an attribute by its name without a prefix.
pub(super) fn text(tag: &BytesStart<'_>, name: &str) -> Result<String, Fault> {
    let mut attributes = tag.attributes();
    let attribute = attributes.with_checks(false).flatten().find(|found| found.key.local_name().as_ref() == name);
    let value = attribute.ok_or_else(invalid)?.normalized_value(XmlVersion::Implicit1_0).map_err(|_| invalid())?;
    Ok(value.into_owned())
}

fn bytes(tag: &BytesStart<'_>, name: &str) -> Result<Vec<u8>, Fault> {
    BASE64_STANDARD.decode(text(tag, name)?).map_err(|_| invalid())
}
