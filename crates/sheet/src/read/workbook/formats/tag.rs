//! XML in pieces, each from one element's start to the next.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};

use quick_xml::escape::unescape;
use quick_xml::events::attributes::Attributes;

/// A start tag or an end tag, with the text after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag<'a> {
    /// The name. Starts with a slash in an end tag.
    pub name: &'a str,
    attributes: &'a str,
    /// Whether the element has no content or end tag.
    pub is_empty: bool,
    text: &'a str,
}

impl<'a> Tag<'a> {
    /// Parses a piece without its leading `<`. Returns `None` for comments and for invalid UTF-8.
    pub(super) fn parse(piece: &'a [u8]) -> Option<Tag<'a>> {
        let piece = std::str::from_utf8(piece).ok()?;
        let name = piece.split([' ', '\t', '\r', '\n', '>']).next().filter(|name| !name.starts_with(['!', '?']))?;
        let (name, is_named_only) = name.strip_suffix('/').map_or((name, false), |name| (name, true));
        let rest = &piece[name.len()..];
        let end = tag_end(rest)?;
        let (attributes, text) = (&rest[..end], &rest[end + 1..]);
        let is_empty = is_named_only || attributes.ends_with('/');
        let attributes = attributes.strip_suffix('/').unwrap_or(attributes);
        Some(Tag { name, attributes, is_empty, text: text.strip_suffix('<').unwrap_or(text) })
    }

    /// Returns the value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<Cow<'a, str>> {
        let mut attributes = Attributes::new(self.attributes, 0);
        let attribute = attributes.with_checks(false).flatten().find(|attribute| attribute.key.as_ref() == name)?;
        Some(Cow::Owned(unescape(&attribute.value).ok()?.into_owned()))
    }

    /// Returns a number in an attribute.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.attribute(name)?.parse().ok()
    }

    /// Returns the text after the tag.
    pub(super) fn text(&self) -> Cow<'a, str> {
        unescape(self.text).unwrap_or(Cow::Borrowed(self.text))
    }
}

/// Returns the position of the `>` that ends a tag, ignoring any `>` in quoted values.
fn tag_end(attributes: &str) -> Option<usize> {
    let mut quote = None;
    attributes.bytes().position(|byte| {
        match quote {
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            Some(open) if byte == open => quote = None,
            _ => {}
        }
        quote.is_none() && byte == b'>'
    })
}

/// Calls `take` with pieces of the text, each up to the start of the next element, until `take` returns false. Returns true
/// after the last piece.
pub(super) fn each_piece(
    part: impl Read,
    mut take: impl FnMut(&[u8]) -> std::io::Result<bool>,
) -> std::io::Result<bool> {
    let (mut part, mut piece) = (BufReader::with_capacity(64 * 1024, part), Vec::new());
    loop {
        piece.clear();
        if part.read_until(b'<', &mut piece)? == 0 {
            return Ok(true);
        }
        if !take(&piece)? {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_a_name_attributes_and_a_text() {
        let tag = Tag::parse(b"a:b c='1>0' d = \"x &amp; y\">5 &lt; 6<").expect("a tag");
        assert_eq!((tag.name, tag.is_empty, &*tag.text()), ("a:b", false, "5 < 6"));
        assert_eq!(tag.attribute("c").as_deref(), Some("1>0"));
        assert_eq!(tag.attribute("d").as_deref(), Some("x & y"));
        assert_eq!(tag.attribute("e"), None);
        let tag = Tag::parse(b"/a:b>\n<").expect("a tag");
        assert_eq!((tag.name, tag.is_empty, &*tag.text()), ("/a:b", false, "\n"));
        for piece in [&b"a/><"[..], b"a /><", b"a\tb=\"c\"/><"] {
            let tag = Tag::parse(piece).expect("a tag");
            assert_eq!((tag.name, tag.is_empty), ("a", true));
        }
        assert!(Tag::parse(b"!-- a --><").is_none());
        assert!(Tag::parse(b"a b=\"c><").is_none());
    }
}
