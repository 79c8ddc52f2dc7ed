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
    fields: Vec<FieldPlace>,
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
    /// Of an object; nothing of anything else.
    fields: Option<Range<u32>>,
    /// An object that is the one before it but for the values.
    is_alike: bool,
    /// An object with another in it.
    is_nested: bool,
}

/// Where the name, with its quotes, and the value of a field stand.
#[derive(Clone, Debug)]
struct FieldPlace {
    name: Range<u32>,
    value: Range<u32>,
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
    fn part(&self, place: &Range<u32>) -> &str {
        self.text.get(place.start as usize..place.end as usize).unwrap_or_default()
    }
}

impl<'a> Entry<'a> {
    /// The entry's JSON.
    #[inline]
    pub fn text(&self) -> &'a str {
        self.page.part(&self.place.text)
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
        self.places().get(position).map(|field| self.page.part(&field.value))
    }

    /// The same in bytes, and what the value is.
    #[inline]
    pub fn value_bytes(&self, position: usize) -> Option<(&'a [u8], Form)> {
        let field = self.places().get(position)?;
        let value = self.page.text.as_bytes().get(field.value.start as usize..field.value.end as usize)?;
        Some((value, field.form))
    }

    /// The JSON of the first field of a name, which is given as JSON has it, in quotes; and what it is.
    #[inline]
    pub fn field(&self, name: &str) -> Option<(&'a str, Form)> {
        let named = self.places().iter().find(|field| self.page.part(&field.name) == name)?;
        Some((self.page.part(&named.value), named.form))
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
        self.places().iter().map(|field| (page.part(&field.name), page.part(&field.value)))
    }

    #[inline]
    fn places(&self) -> &'a [FieldPlace] {
        let fields = self.place.fields.clone().unwrap_or_default();
        self.page.fields.get(fields.start as usize..fields.end as usize).unwrap_or_default()
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
    let Page { mut entries, mut fields, .. } = spare;
    entries.clear();
    fields.clear();
    fields.reserve(text.len() / FIELD_LEN);
    let mut found = Found { entries, fields, ..Found::default() };
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
    let Found { entries, fields, total, .. } = found;
    Ok(Page { text, entries, fields, total })
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
#[derive(Default)]
struct Found {
    entries: Vec<EntryPlace>,
    fields: Vec<FieldPlace>,
    has_list: bool,
    total: Option<u64>,
}

impl Found {
    fn envelope<'t>(&mut self, text: &'t str, scan: &mut Scan<'t>) -> Option<()> {
        scan.object(|scan, name| {
            match &*unquoted(text.get(name)?) {
                // Which of two would be the list?
                "data" if self.has_list => return None,
                "data" => self.list(text, scan)?,
                "total" => self.total = text.get(scan.value()?.place)?.parse().ok(),
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
        let (start, first) = (scan.at(), self.fields.len());
        let (is_object, is_alike) = match scan.peek()? {
            b'{' if self.entry_alike(text, scan) => (true, true),
            b'{' => {
                scan.object(|scan, name| {
                    let value = scan.value()?;
                    self.fields.push(FieldPlace::of(name, value));
                    Some(())
                })?;
                (true, false)
            }
            _ => {
                scan.value()?;
                (false, false)
            }
        };
        let is_nested = self.fields[first..].iter().any(|field| field.form == Form::Object);
        let fields = is_object.then(|| place(first..self.fields.len()));
        self.entries.push(EntryPlace { text: place(start..scan.at()), fields, is_alike, is_nested });
        Some(())
    }

    /// Reads an entry that is the one before it but for the values, as most are: what stands between the values is only
    /// compared. False, and nothing is read, for any other.
    fn entry_alike<'t>(&mut self, text: &'t str, scan: &mut Scan<'t>) -> bool {
        let (begin, first) = (*scan, self.fields.len());
        let is_alike = self.values_alike(text, scan).is_some();
        if !is_alike {
            *scan = begin;
            self.fields.truncate(first);
        }
        is_alike
    }

    fn values_alike<'t>(&mut self, text: &'t str, scan: &mut Scan<'t>) -> Option<()> {
        let before = self.entries.last()?;
        let fields = before.fields.clone().filter(|fields| !fields.is_empty())?;
        let (mut from, end) = (before.text.start as usize, before.text.end as usize);
        for position in fields.start as usize..fields.end as usize {
            let like = self.fields.get(position)?.clone();
            if !scan.pass_same(text.as_bytes().get(from..like.value.start as usize)?) {
                return None;
            }
            let name = scan.at().checked_sub((like.value.start - like.name.start) as usize)?;
            let value = scan.value_here()?;
            self.fields.push(FieldPlace::of(name..name + like.name.len(), value));
            from = like.value.end as usize;
        }
        scan.pass_same(text.as_bytes().get(from..end)?).then_some(())
    }
}

impl FieldPlace {
    #[inline]
    fn of(name: Range<usize>, value: Value) -> FieldPlace {
        FieldPlace { name: place(name), value: place(value.place), form: value.form }
    }
}

/// Pages are shorter than this could lose.
#[inline]
fn place(range: Range<usize>) -> Range<u32> {
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    place(range.start)..place(range.end)
}
