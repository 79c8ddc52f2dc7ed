//! A page as it came: the places in its text at which its entries and their fields stand, found in one pass.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

pub use super::scan::Form;
use super::scan::{Scan, Value};

/// About the shortest that fields are on the average, with their names: room for all is made at once.
const FIELD_LEN: usize = 24;

/// What one page held.
#[derive(Clone, Debug, Default)]
pub struct Page {
    text: String,
    entries: Vec<EntryPlace>,
    /// Of the fields' names, with their quotes.
    names: Vec<Range<u32>>,
    values: Vec<ValuePlace>,
    /// How many entries the service says the whole list has.
    pub total: Option<u64>,
}

/// One entry of a page, as the service sent it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    page: &'a Page,
    place: &'a EntryPlace,
}

#[derive(Clone, Debug)]
struct EntryPlace {
    text: Range<u32>,
    /// Which values are its fields', if it is an object.
    fields: Option<Range<u32>>,
    /// Where their names begin among all. Entries that are alike share them.
    names: u32,
    /// An object that is the one before it but for the values.
    is_alike: bool,
    /// An object with another in it.
    is_nested: bool,
}

#[derive(Clone, Copy, Debug)]
struct ValuePlace {
    start: u32,
    end: u32,
    form: Form,
}

impl Page {
    /// A page without entries.
    pub fn empty() -> Page {
        Page::default()
    }

    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.entries.iter().map(|place| Entry { page: self, place })
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The whole answer.
    pub fn text(&self) -> &str {
        &self.text
    }

    #[inline]
    fn part(&self, start: u32, end: u32) -> &str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }
}

impl<'a> Entry<'a> {
    /// The entry's JSON.
    #[inline]
    pub fn text(&self) -> &'a str {
        self.page.part(self.place.text.start, self.place.text.end)
    }

    pub fn is_object(&self) -> bool {
        self.place.fields.is_some()
    }

    /// Whether it has the fields of the entry before it, in the same order.
    #[inline]
    pub fn is_alike(&self) -> bool {
        self.place.is_alike
    }

    /// Whether one of its fields is an object.
    #[inline]
    pub fn is_nested(&self) -> bool {
        self.place.is_nested
    }

    /// The JSON of the field at a position, from 0; nothing past the last.
    #[inline]
    pub fn value(&self, position: usize) -> Option<&'a str> {
        self.values().get(position).map(|value| self.page.part(value.start, value.end))
    }

    /// The same in bytes, and what the value is.
    #[inline]
    pub fn value_bytes(&self, position: usize) -> Option<(&'a [u8], Form)> {
        let value = self.values().get(position)?;
        let bytes = self.page.text.as_bytes().get(value.start as usize..value.end as usize)?;
        Some((bytes, value.form))
    }

    /// The JSON of the first field of a name, which is given as JSON has it, in quotes; and what it is.
    #[inline]
    pub fn field(&self, name: &str) -> Option<(&'a str, Form)> {
        let position = self.names().iter().position(|known| self.page.part(known.start, known.end) == name)?;
        let value = self.values().get(position)?;
        Some((self.page.part(value.start, value.end), value.form))
    }

    /// What the service knows the record by; nothing where it does not say.
    #[inline]
    pub fn id(&self) -> Option<Cow<'a, str>> {
        match self.field("\"id\"")? {
            (_, Form::Null) => None,
            (json, Form::PlainText) => json.get(1..json.len() - 1).map(Cow::Borrowed),
            (json, _) => Some(unquoted(json)),
        }
    }

    /// The fields of an object: each name as JSON has it, in quotes, and the value's JSON.
    pub fn fields(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let page = self.page;
        let named = self.names().iter().zip(self.values());
        named.map(|(name, value)| (page.part(name.start, name.end), page.part(value.start, value.end)))
    }

    fn values(&self) -> &'a [ValuePlace] {
        let fields = self.place.fields.clone().unwrap_or_default();
        self.page.values.get(fields.start as usize..fields.end as usize).unwrap_or_default()
    }

    fn names(&self) -> &'a [Range<u32>] {
        let first = self.place.names as usize;
        self.page.names.get(first..first + self.values().len()).unwrap_or_default()
    }
}

/// Reads a page: an envelope with `data`, or a bare array.
pub fn read(body: Vec<u8>) -> Result<Page, String> {
    read_into(body, Page::empty())
}

/// The same, in the memory of a page that nobody needs any more.
pub fn read_into(body: Vec<u8>, spare: Page) -> Result<Page, String> {
    let text = String::from_utf8(body).map_err(|_| "it is not text in UTF-8".to_owned())?;
    if u32::try_from(text.len()).is_err() {
        return Err("it is too long".to_owned());
    }
    let Page { mut entries, mut names, mut values, .. } = spare;
    entries.clear();
    names.clear();
    values.clear();
    values.reserve(text.len() / FIELD_LEN);
    let mut found = Found { page: Page { entries, names, values, ..Page::default() }, has_list: false };
    let mut scan = Scan::new(&text);
    let is_read = match scan.peek() {
        Some(b'[') => found.list(&text, &mut scan),
        Some(b'{') => found.envelope(&text, &mut scan),
        _ => None,
    };
    if is_read.is_none() || !scan.is_done() {
        return Err(match serde_json::from_str::<IgnoredAny>(&text) {
            Err(error) => error.to_string(),
            Ok(_) if found.has_list => "its field data stands twice, or is no list".to_owned(),
            Ok(_) => "it is no list, and no object with a list in its field data".to_owned(),
        });
    }
    if !found.has_list {
        return Err("it has no field data".to_owned());
    }
    Ok(Page { text, ..found.page })
}

/// A single record as a page of one entry, as which it is kept and written like any other.
pub fn read_one(body: Vec<u8>) -> Result<Page, String> {
    let text = String::from_utf8(body).map_err(|_| "it is not text in UTF-8".to_owned())?;
    if !text.trim_start().starts_with('{') {
        return Err("it is no JSON object".to_owned());
    }
    read(format!("[{text}]").into_bytes())
}

/// The text of a JSON string without its quotes and escapes; of any other JSON the JSON.
pub fn unquoted(json: &str) -> Cow<'_, str> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if memchr::memchr(b'\\', plain.as_bytes()).is_none() => Cow::Borrowed(plain),
        Some(_) => serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned),
        None => Cow::Borrowed(json),
    }
}

/// The fields of a JSON object, as [`Entry::fields`] gives them; nothing for other JSON, and for an object without any.
pub fn fields_of(json: &str) -> Option<Vec<(&str, &str)>> {
    let mut fields = Vec::new();
    let mut scan = Scan::new(json);
    scan.object(|scan, name| {
        let value = scan.value()?;
        fields.push((json.get(name)?, json.get(value.place)?));
        Some(())
    })?;
    (scan.is_done() && !fields.is_empty()).then_some(fields)
}

/// The elements of a JSON array; nothing for other JSON.
pub fn elements_of(json: &str) -> Option<Vec<&str>> {
    let mut elements = Vec::new();
    let mut scan = Scan::new(json);
    scan.array(|scan| {
        let value = scan.value()?;
        elements.push(json.get(value.place)?);
        Some(())
    })?;
    scan.is_done().then_some(elements)
}

/// What a page is found to hold.
struct Found {
    /// Still without its text.
    page: Page,
    has_list: bool,
}

impl Found {
    fn envelope<'t>(&mut self, text: &'t str, scan: &mut Scan<'t>) -> Option<()> {
        scan.object(|scan, name| {
            match &*unquoted(text.get(name)?) {
                // Which of two would be the list?
                "data" if self.has_list => return None,
                "data" => self.list(text, scan)?,
                "total" => self.page.total = text.get(scan.value()?.place)?.parse().ok(),
                _ => {
                    scan.value()?;
                }
            }
            Some(())
        })
    }

    fn list<'t>(&mut self, text: &'t str, scan: &mut Scan<'t>) -> Option<()> {
        self.has_list = true;
        scan.array(|scan| self.entry(text, scan))
    }

    fn entry<'t>(&mut self, text: &'t str, scan: &mut Scan<'t>) -> Option<()> {
        let (start, first) = (scan.at(), self.page.values.len());
        let mut names = self.page.names.len();
        let (is_object, is_alike) = match scan.peek()? {
            b'{' if self.values_alike(text, scan) => {
                names = self.page.entries.last()?.names as usize;
                (true, true)
            }
            b'{' => {
                scan.object(|scan, name| {
                    let value = scan.value()?;
                    self.page.names.push(place(name));
                    self.page.values.push(ValuePlace::of(value));
                    Some(())
                })?;
                (true, false)
            }
            _ => {
                scan.value()?;
                (false, false)
            }
        };
        let is_nested = self.page.values[first..].iter().any(|value| value.form == Form::Object);
        let fields = is_object.then(|| place(first..self.page.values.len()));
        let (text, names) = (place(start..scan.at()), shortened(names));
        self.page.entries.push(EntryPlace { text, fields, names, is_alike, is_nested });
        Some(())
    }

    /// Reads an entry that is the one before it but for the values, as most are: what stands between the values is only
    /// compared. False, and nothing is read, for any other.
    fn values_alike<'t>(&mut self, text: &'t str, scan: &mut Scan<'t>) -> bool {
        let (begin, first) = (*scan, self.page.values.len());
        let is_alike = self.read_alike(text, scan).is_some();
        if !is_alike {
            *scan = begin;
            self.page.values.truncate(first);
        }
        is_alike
    }

    fn read_alike<'t>(&mut self, text: &'t str, scan: &mut Scan<'t>) -> Option<()> {
        let before = self.page.entries.last()?;
        let fields = before.fields.clone().filter(|fields| !fields.is_empty())?;
        let (mut from, end) = (before.text.start as usize, before.text.end as usize);
        for position in fields.start as usize..fields.end as usize {
            let like = *self.page.values.get(position)?;
            if !scan.pass_same(text.as_bytes().get(from..like.start as usize)?) {
                return None;
            }
            self.page.values.push(ValuePlace::of(scan.value_here()?));
            from = like.end as usize;
        }
        scan.pass_same(text.as_bytes().get(from..end)?).then_some(())
    }
}

impl ValuePlace {
    #[inline]
    fn of(value: Value) -> ValuePlace {
        let Range { start, end } = place(value.place);
        ValuePlace { start, end, form: value.form }
    }
}

#[inline]
fn place(range: Range<usize>) -> Range<u32> {
    shortened(range.start)..shortened(range.end)
}

/// Pages are shorter than this could lose.
#[inline]
fn shortened(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
