//! OpenDocument sheets encrypted with a password: ODF 1.3 part 2, chapter 3.4.
//!
//! Each part is compressed and encrypted separately or, since LibreOffice 24.8, the whole archive is one encrypted part.

use std::io::Read;

use aes_gcm::aead::Aead;
use aes_gcm::{Aes256Gcm, KeyInit, Nonce};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use flate2::read::DeflateDecoder;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::agile::{decrypt as decrypt_cbc, text};
use super::{invalid, unsupported};
use crate::read::workbook::fault::{Fault, FaultKind};
use crate::read::workbook::formats::cells::damage;
use crate::read::workbook::formats::input::{Input, Source};
use crate::read::workbook::formats::ods::archive_of;

const MANIFEST: &str = "META-INF/manifest.xml";
/// The encrypted part with the whole archive.
const PACKAGE: &str = "encrypted-package";
/// The parts with cells and their styles.
const PARTS: [&str; 2] = ["content.xml", "styles.xml"];
/// Maximum length of the manifest.
const MAX_MANIFEST: u64 = 16 << 20;
/// Maximum iterations; LibreOffice writes 600,000 at most.
const MAX_ITERATIONS: u32 = 10_000_000;
/// Maximum memory of Argon2, in KiB, and its passes; LibreOffice writes 65,536 and 3.
const MAX_MEMORY: u32 = 192 << 10;
const MAX_PASSES: u32 = 64;
const MAX_LANES: u32 = 64;
/// Maximum unpacked size of a part without a check of the ratio, and the maximum ratio beyond.
const FREE: u64 = 128 << 20;
const MAX_RATIO: u64 = 200;
/// Number of bytes of a compressed part with a checksum.
const CHECKED: usize = 1024;
/// Lengths of the initialisation vector and of a block of AES.
const GCM_VECTOR: usize = 12;
const BLOCK: usize = 16;

/// How a part is encrypted.
#[derive(Debug)]
struct Encryption {
    path: String,
    cipher: Cipher,
    vector: Vec<u8>,
    checksum: Option<(Hash, Vec<u8>)>,
    /// The hash of the password, as input of the key derivation.
    start: Hash,
    derivation: Derivation,
    /// In bytes.
    key_len: usize,
    salt: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cipher {
    /// AES in CBC mode.
    Cbc,
    /// AES-256 in GCM mode.
    Gcm,
}

#[derive(Clone, Copy, Debug)]
enum Hash {
    Sha1,
    Sha256,
}

#[derive(Clone, Copy, Debug)]
enum Derivation {
    /// With HMAC and SHA-1.
    Pbkdf2 {
        iterations: u32,
    },
    Argon2id {
        memory: u32,
        passes: u32,
        lanes: u32,
    },
}

/// Returns an archive with the decrypted sheet, or `None` if the sheet is not encrypted.
///
/// # Errors
/// A [`Fault`] if a password is needed or wrong, or the encryption is not supported.
pub(crate) fn decrypt_odf(file: &Source, password: Option<&str>) -> Result<Option<Vec<u8>>, Fault> {
    // calamine has better messages for an invalid archive.
    let Ok(mut archive) = ZipArchive::new(file.input()) else { return Ok(None) };
    let Some(manifest) = part(&mut archive, MANIFEST, MAX_MANIFEST)? else { return Ok(None) };
    if memchr::memmem::find(&manifest, b"encryption-data").is_none() {
        return Ok(None);
    }
    let described = Encryption::parse_all(&manifest)?;
    let find = |path: &str| described.iter().find(|encryption| encryption.path == path);
    let password = |encryption: &Encryption, archive: &mut ZipArchive<Input>| {
        let password = password.ok_or(Fault { kind: FaultKind::PasswordNeeded, reason: String::new() })?;
        let bytes = part(archive, &encryption.path, u64::MAX)?.ok_or_else(invalid)?;
        let opened = encryption.open(bytes, password)?;
        file.activity().record_output();
        opened.ok_or(Fault { kind: FaultKind::WrongPassword, reason: String::new() })
    };
    if let Some(package) = find(PACKAGE) {
        return password(package, &mut archive).map(Some);
    }
    if find(PARTS[0]).is_none() {
        return Ok(None);
    }
    let mut parts = Vec::new();
    for path in PARTS {
        let bytes = match find(path) {
            Some(encryption) => Some(inflated(&password(encryption, &mut archive)?)?),
            None => part(&mut archive, path, FREE)?,
        };
        parts.extend(bytes.map(|bytes| (path, bytes)));
    }
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|(path, bytes)| (*path, bytes.as_slice())).collect();
    archive_of(&parts).map(Some).map_err(|error| Fault::new(damage(error)))
}

/// Returns the bytes of a part, up to `limit`.
fn part(archive: &mut ZipArchive<Input>, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
    let Ok(part) = archive.by_name(path) else { return Ok(None) };
    let mut bytes = Vec::new();
    part.take(limit).read_to_end(&mut bytes).map_err(|error| Fault::new(damage(error)))?;
    Ok(Some(bytes))
}

fn inflated(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let limit = FREE.max((bytes.len() as u64).saturating_mul(MAX_RATIO));
    let mut inflated = Vec::new();
    let read = DeflateDecoder::new(bytes).take(limit + 1).read_to_end(&mut inflated);
    read.map_err(|error| Fault::new(damage(error)))?;
    if inflated.len() as u64 > limit {
        return Err(Fault::new("its parts unpack to far more data than a workbook has, as in a ZIP bomb"));
    }
    Ok(inflated)
}

impl Encryption {
    /// Parses the descriptions of the required parts.
    fn parse_all(manifest: &[u8]) -> Result<Vec<Encryption>, Fault> {
        let mut reader = Reader::from_reader(manifest);
        let (mut all, mut buffer) = (Vec::new(), Vec::new());
        let mut open: Option<Draft> = None;
        loop {
            buffer.clear();
            match reader.read_event_into(&mut buffer).map_err(|_| invalid())? {
                Event::Start(tag) | Event::Empty(tag) if tag.local_name().as_ref() == "file-entry" => {
                    let path = text(&tag, "full-path")?;
                    let is_needed = path == PACKAGE || PARTS.contains(&path.as_str());
                    open = is_needed.then(|| Draft { path, ..Draft::default() });
                }
                Event::Start(tag) | Event::Empty(tag) => {
                    if let Some(draft) = &mut open {
                        draft.read(&tag)?;
                    }
                }
                Event::End(tag) if tag.local_name().as_ref() == "encryption-data" => {
                    all.extend(open.take().map(Draft::finish).transpose()?);
                }
                Event::Eof => return Ok(all),
                _ => {}
            }
        }
    }

    /// Decrypts a part, or returns `None` for a wrong password.
    fn open(&self, mut bytes: Vec<u8>, password: &str) -> Result<Option<Vec<u8>>, Fault> {
        let key = self.key(password)?;
        match self.cipher {
            Cipher::Gcm => {
                // The vector is repeated before the encrypted bytes.
                let bytes = bytes.strip_prefix(self.vector.as_slice()).unwrap_or(&bytes);
                let cipher = Aes256Gcm::new_from_slice(&key).map_err(|_| invalid())?;
                let vector: [u8; GCM_VECTOR] = self.vector.as_slice().try_into().map_err(|_| invalid())?;
                Ok(cipher.decrypt(&Nonce::from(vector), bytes).ok())
            }
            Cipher::Cbc => {
                if !bytes.len().is_multiple_of(BLOCK) {
                    return Err(invalid());
                }
                decrypt_cbc(&key, &self.vector, &mut bytes)?;
                // The last byte is the length of the padding.
                let padding = bytes.last().map_or(0, |last| usize::from(*last));
                let Some(len) = bytes.len().checked_sub(padding).filter(|_| (1..=BLOCK).contains(&padding)) else {
                    return Ok(None);
                };
                bytes.truncate(len);
                let is_right = match &self.checksum {
                    Some((hash, checksum)) => hash.of(&bytes[..len.min(CHECKED)]) == *checksum,
                    None => inflated(&bytes).is_ok(),
                };
                Ok(is_right.then_some(bytes))
            }
        }
    }

    fn key(&self, password: &str) -> Result<Vec<u8>, Fault> {
        let start = self.start.of(password.as_bytes());
        let mut key = vec![0; self.key_len];
        match self.derivation {
            Derivation::Pbkdf2 { iterations } => {
                pbkdf2::pbkdf2_hmac::<Sha1>(&start, &self.salt, iterations, &mut key);
            }
            Derivation::Argon2id { memory, passes, lanes } => {
                let parameters = Params::new(memory, passes, lanes, Some(self.key_len)).map_err(|_| invalid())?;
                let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters);
                argon2.hash_password_into(&start, &self.salt, &mut key).map_err(|_| invalid())?;
            }
        }
        Ok(key)
    }
}

impl Hash {
    fn of(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Hash::Sha1 => Sha1::digest(bytes).to_vec(),
            Hash::Sha256 => Sha256::digest(bytes).to_vec(),
        }
    }
}

/// A description being read.
#[derive(Debug, Default)]
struct Draft {
    path: String,
    /// With the length of the key, in bytes.
    cipher: Option<(Cipher, usize)>,
    vector: Vec<u8>,
    checksum: Option<(Hash, Vec<u8>)>,
    start: Option<Hash>,
    derivation: Option<Derivation>,
    key_len: Option<usize>,
    salt: Vec<u8>,
}

impl Draft {
    fn read(&mut self, tag: &BytesStart<'_>) -> Result<(), Fault> {
        match tag.local_name().as_ref() {
            "encryption-data" => {
                self.checksum = match text(tag, "checksum-type").ok().as_deref() {
                    Some("SHA1/1K" | "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0#sha1-1k") => {
                        Some((Hash::Sha1, bytes(tag, "checksum")?))
                    }
                    Some("urn:oasis:names:tc:opendocument:xmlns:manifest:1.0#sha256-1k") => {
                        Some((Hash::Sha256, bytes(tag, "checksum")?))
                    }
                    _ => None,
                };
            }
            "algorithm" => {
                self.cipher = Some(match text(tag, "algorithm-name")?.as_str() {
                    "http://www.w3.org/2001/04/xmlenc#aes128-cbc" => (Cipher::Cbc, 16),
                    "http://www.w3.org/2001/04/xmlenc#aes192-cbc" => (Cipher::Cbc, 24),
                    "http://www.w3.org/2001/04/xmlenc#aes256-cbc" => (Cipher::Cbc, 32),
                    "http://www.w3.org/2009/xmlenc11#aes256-gcm" => (Cipher::Gcm, 32),
                    // Such as Blowfish, before ODF 1.2.
                    _ => return Err(unsupported()),
                });
                self.vector = bytes(tag, "initialisation-vector")?;
            }
            "start-key-generation" => {
                self.start = Some(match text(tag, "start-key-generation-name")?.as_str() {
                    "SHA1" | "http://www.w3.org/2000/09/xmldsig#sha1" => Hash::Sha1,
                    "http://www.w3.org/2000/09/xmldsig#sha256" | "http://www.w3.org/2001/04/xmlenc#sha256" => {
                        Hash::Sha256
                    }
                    _ => return Err(unsupported()),
                });
            }
            "key-derivation" => {
                self.derivation = Some(derivation(tag)?);
                self.salt = bytes(tag, "salt")?;
                self.key_len = text(tag, "key-size").ok().map(|len| len.parse().map_err(|_| invalid())).transpose()?;
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<Encryption, Fault> {
        let ((cipher, key_len), derivation) = self.cipher.zip(self.derivation).ok_or_else(invalid)?;
        if self.key_len.is_some_and(|given| given != key_len) {
            return Err(invalid());
        }
        Ok(Encryption {
            path: self.path,
            cipher,
            vector: self.vector,
            checksum: self.checksum,
            start: self.start.unwrap_or(Hash::Sha1),
            derivation,
            key_len,
            salt: self.salt,
        })
    }
}

fn derivation(tag: &BytesStart<'_>) -> Result<Derivation, Fault> {
    let number = |name: &str, most: u32| {
        let number = text(tag, name)?.parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(invalid)
    };
    match text(tag, "key-derivation-name")?.as_str() {
        "PBKDF2" | "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0#pbkdf2" => {
            Ok(Derivation::Pbkdf2 { iterations: number("iteration-count", MAX_ITERATIONS)? })
        }
        "urn:org:documentfoundation:names:experimental:office:manifest:argon2id"
        | "urn:oasis:names:tc:opendocument:xmlns:manifest:1.5#argon2id" => Ok(Derivation::Argon2id {
            memory: number("argon2-memory", MAX_MEMORY)?,
            passes: number("argon2-iterations", MAX_PASSES)?,
            lanes: number("argon2-lanes", MAX_LANES)?,
        }),
        // Such as a key of OpenPGP.
        _ => Err(unsupported()),
    }
}

fn bytes(tag: &BytesStart<'_>, name: &str) -> Result<Vec<u8>, Fault> {
    BASE64_STANDARD.decode(text(tag, name)?.trim()).map_err(|_| invalid())
}
