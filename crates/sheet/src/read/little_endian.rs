//! Little-endian numbers at a position in bytes; `None` if the bytes end before.

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let (number, _) = bytes.get(at..)?.split_first_chunk()?;
    Some(u16::from_le_bytes(*number))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let (number, _) = bytes.get(at..)?.split_first_chunk()?;
    Some(u32::from_le_bytes(*number))
}
