//! Reads the pages of a spool again, with a flag for each new entry.

use std::collections::HashMap;

use sheetport_client::pages::Page;

use super::error::Error;
use super::spool::{Frame, FrameKind, Frames, Spool};

/// The frames of a spool with entries of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entries {
    /// Pages of a list, or single records by ID.
    Pages,
    /// The details of listed records, in place of the list's entries.
    Details,
}

/// The pages of a spool, with a flag for each new entry.
pub(super) struct PageIterator<'a> {
    frames: Frames,
    entries: Entries,
    /// Flags for the new entries of pages with repeated entries, by position in the spool.
    repeated: &'a HashMap<u64, Vec<bool>>,
    /// Position of the next frame.
    position: u64,
}

impl PageIterator<'_> {
    pub(super) fn new<'a>(
        spool: &Spool,
        entries: Entries,
        repeated: &'a HashMap<u64, Vec<bool>>,
    ) -> Result<PageIterator<'a>, Error> {
        Ok(PageIterator { frames: spool.frames()?, entries, repeated, position: 0 })
    }

    fn next_page(&mut self) -> Result<Option<(Page, Vec<bool>)>, Error> {
        while let Some(Frame { kind, payload }) = self.frames.next()? {
            let position = self.position;
            self.position += 1;
            let parsed = match (self.entries, kind) {
                (Entries::Pages, FrameKind::Page | FrameKind::PageAgain) => Page::parse(payload),
                (Entries::Details, FrameKind::Detail) => match detail(payload) {
                    Some((_, page)) => Ok(page),
                    None => Err("a detail in the spool has no ID".to_owned()),
                },
                _ => continue,
            };
            let page = parsed.map_err(|reason| Error::Page { page: position + 1, reason })?;
            let new = self.repeated.get(&position).cloned().unwrap_or_else(|| vec![true; page.entries().len()]);
            return Ok(Some((page, new)));
        }
        Ok(None)
    }
}

impl Iterator for PageIterator<'_> {
    type Item = Result<(Page, Vec<bool>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_page().transpose()
    }
}

/// Returns the payload of the frame for the detail of a listed record.
pub(super) fn detail_payload(id: &str, page: &Page) -> Vec<u8> {
    [id.as_bytes(), b"\n", page.text().as_bytes()].concat()
}

/// Returns the ID and the page of a detail.
pub(super) fn detail(mut payload: Vec<u8>) -> Option<(Vec<u8>, Page)> {
    // The JSON may have line breaks; an ID with one was not requested.
    let end = payload.iter().position(|byte| *byte == b'\n')?;
    let json = payload.split_off(end + 1);
    payload.pop();
    Some((payload, Page::parse(json).ok()?))
}
