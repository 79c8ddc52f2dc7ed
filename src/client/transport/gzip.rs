//! Bodies that are packed for the way.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};

/// What headers call it.
pub const GZIP: &str = "gzip";

/// The body as it was before it was packed for the way, if it was. No more than `longest` bytes are unpacked.
pub fn unpacked(headers: &HeaderMap, body: Vec<u8>, longest: usize) -> Result<Vec<u8>, String> {
    let is_packed =
        headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(GZIP.as_bytes()));
    if !is_packed || body.is_empty() {
        return Ok(body);
    }
    let mut whole = Vec::new();
    // One byte more tells a body that is too long from one that is just as long.
    let most = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    let read = MultiGzDecoder::new(&*body).take(most).read_to_end(&mut whole);
    match read {
        Ok(_) if whole.len() > longest => Err("the answer does not end".to_owned()),
        Ok(_) => Ok(whole),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn a_packed_body_is_unpacked_within_its_bound() {
        let pack = |text: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut encoder, text).expect("room");
            encoder.finish().expect("room")
        };
        let headers = |encoding: &'static str| {
            [(CONTENT_ENCODING, HeaderValue::from_static(encoding))].into_iter().collect::<HeaderMap>()
        };
        let text = b"[1, 2]".repeat(1000);
        let packed = pack(&text);
        assert_eq!(unpacked(&headers("gzip"), packed.clone(), text.len()), Ok(text.clone()));
        assert_eq!(
            unpacked(&headers("GZIP"), [pack(&text[..7]), pack(&text[7..])].concat(), 1 << 20),
            Ok(text.clone())
        );
        assert_eq!(unpacked(&headers("identity"), text.clone(), text.len()), Ok(text.clone()));
        assert_eq!(unpacked(&HeaderMap::new(), text.clone(), text.len()), Ok(text.clone()));
        assert_eq!(unpacked(&headers("gzip"), Vec::new(), 0), Ok(Vec::new()), "an answer without a body");
        let too_long = unpacked(&headers("gzip"), packed.clone(), text.len() - 1);
        assert_eq!(too_long, Err("the answer does not end".to_owned()));
        for cut in [1, packed.len() / 2, packed.len() - 1] {
            assert!(unpacked(&headers("gzip"), packed[..cut].to_vec(), 1 << 20).is_err(), "{cut}");
        }
        assert!(unpacked(&headers("gzip"), text, 1 << 20).is_err(), "it is not packed");
    }
}
