//! Where in the sheet a message of the service belongs: the line and the field that it names.
//!
//! Services name the lines of a record in the ways of their frameworks: `line 3: …` in a sentence counts as people do; a path such
//! as `items.2.quantity`, `items[2].quantity` or `/order/items/2/quantity` counts from 0. An index that no line has shows that the
//! service counts the other way.

use serde_json::{Map, Value};
use sheetport_client::ServiceMessage;
use sheetport_records::{Field, Input, RecordKind};

/// The place of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The field as in templates, or as the service writes it if it is none of these, or empty.
    pub field: String,
    /// The row of the line, if the message is about a single line.
    pub row: Option<u64>,
}

/// Words for a line in sentences, in the languages of services.
const LINE_WORDS: &[&str] = &["line", "position", "pos", "row", "zeile", "ligne", "riga", "regel", "línea", "linea"];
/// Words between the word for a line and its number.
const FILLERS: &[&str] = &["item", "no", "nr", "number", "num"];
/// Words that make a line one of an address.
const ADDRESSES: &[&str] = &["address", "addr", "street", "adress"];
/// Names of a list of lines in paths, apart from the name in the contract.
const LISTS: &[&str] = &[
    "details",
    "entries",
    "item",
    "items",
    "line",
    "lineitem",
    "lineitems",
    "lines",
    "orderitems",
    "orderlines",
    "position",
    "positions",
    "products",
    "row",
    "rows",
];
/// Names around a record in paths.
const WRAPPERS: &[&str] = &["attributes", "body", "data", "input", "payload", "record", "request"];
/// Minimum number of characters of a value that is recognized without quotes.
const MIN_UNQUOTED: usize = 3;

/// A line named in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Mention {
    /// By a path, with the last name after the index.
    Index(usize, Option<String>),
    /// By a number in a sentence.
    Number(usize),
}

/// Returns the places of messages about one record. `rows` are the rows of its lines, if every line has a row of its own.
pub(super) fn places(kind: RecordKind, body: &[u8], rows: &[u64], messages: &[ServiceMessage]) -> Vec<Place> {
    let input = kind.input();
    let mentions: Vec<Option<Mention>> = messages.iter().map(mention).collect();
    let has_mention = mentions.iter().any(Option::is_some);
    let lines = has_mention.then(|| Lines::of(input, body)).flatten().filter(|lines| lines.values.len() == rows.len());
    let lines = lines.map(|lines| (Counting::of(&mentions, lines.values.len()), lines));
    let place = |(message, mention): (&ServiceMessage, &Option<Mention>)| {
        let of_line = lines.as_ref().zip(mention.as_ref()).and_then(|((counting, lines), mention)| {
            let line = counting.line(mention)?;
            let field = lines.field(line, mention, &message.message);
            Some(Place {
                field: field.map_or_else(|| message.field.clone().unwrap_or_default(), |field| field.name.to_owned()),
                row: Some(*rows.get(line)?),
            })
        });
        of_line.unwrap_or_else(|| Place { field: field_of_record(input, message.field.as_deref()), row: None })
    };
    messages.iter().zip(&mentions).map(place).collect()
}

/// From which number the service counts lines, in paths and in sentences.
struct Counting {
    count: usize,
    indexes_from: usize,
    numbers_from: usize,
}

impl Counting {
    fn of(mentions: &[Option<Mention>], count: usize) -> Counting {
        let mentions = || mentions.iter().flatten();
        let has_index =
            |sought| mentions().any(|mention| matches!(mention, Mention::Index(index, _) if *index == sought));
        let has_zero = mentions().any(|mention| *mention == Mention::Number(0));
        Counting {
            count,
            indexes_from: usize::from(has_index(count) && !has_index(0)),
            numbers_from: usize::from(!has_zero),
        }
    }

    /// Returns the place of a line among the lines, or `None` if there is no such line.
    fn line(&self, mention: &Mention) -> Option<usize> {
        let line = match mention {
            Mention::Index(index, _) => index.checked_sub(self.indexes_from)?,
            Mention::Number(number) => number.checked_sub(self.numbers_from)?,
        };
        (line < self.count).then_some(line)
    }
}

/// The lines of a request.
struct Lines {
    fields: &'static [Field],
    values: Vec<Map<String, Value>>,
}

impl Lines {
    fn of(input: &'static Input, body: &[u8]) -> Option<Lines> {
        let (list, fields) = input.lines()?;
        let mut sent: Value = serde_json::from_slice(body).ok()?;
        if let Some(member) = input.member() {
            sent = sent.get_mut(member)?.take();
        }
        let Value::Array(lines) = sent.get_mut(list.name)?.take() else { return None };
        let object = |line| if let Value::Object(line) = line { Some(line) } else { None };
        Some(Lines { fields, values: lines.into_iter().map(object).collect::<Option<_>>()? })
    }

    /// Returns the field of a line that a message is about: the one that its path or its words name, or the only one whose value it
    /// quotes.
    fn field(&self, line: usize, mention: &Mention, message: &str) -> Option<&'static Field> {
        let named = |name: &str| self.fields.iter().find(|field| normal(field.name) == normal(name));
        if let Mention::Index(_, Some(name)) = mention
            && let Some(field) = named(name)
        {
            return Some(field);
        }
        let words = message.split(|c: char| !c.is_alphanumeric() && c != '_');
        let by_name = only(words.filter_map(named));
        let is_quoted = |field: &&Field| self.values[line].get(field.name).is_some_and(|value| quotes(message, value));
        by_name.or_else(|| only(self.fields.iter().filter(is_quoted)))
    }
}

/// Returns the only field, which may come several times.
fn only(mut fields: impl Iterator<Item = &'static Field>) -> Option<&'static Field> {
    let first = fields.next()?;
    fields.all(|field| field.name == first.name).then_some(first)
}

/// Whether a message has a value as a whole word, and in quotation marks if it is short or a number.
fn quotes(message: &str, value: &Value) -> bool {
    let (text, is_word) = match value {
        Value::String(text) => (text.clone(), text.chars().count() >= MIN_UNQUOTED),
        Value::Number(number) => (number.to_string(), false),
        _ => return false,
    };
    if text.is_empty() {
        return false;
    }
    message.match_indices(&text).any(|(at, _)| {
        let before = message[..at].chars().next_back();
        let after = message[at + text.len()..].chars().next();
        let is_mark = |c: Option<char>| c.is_some_and(|c| "'\"`´‘’“”„«»".contains(c));
        let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        is_mark(before) && is_mark(after) || is_word && !is_letter(before) && !is_letter(after)
    })
}

/// Returns the line that a message names, in its field or in its words.
fn mention(message: &ServiceMessage) -> Option<Mention> {
    let of_field = message.field.as_deref().and_then(|field| index_in_path(field, true));
    of_field.or_else(|| index_in_words(&message.message)).or_else(|| number_in_words(&message.message))
}

/// Returns the index in a path such as `items[2].quantity`. `may_begin`: whether the path may begin with the index.
fn index_in_path(path: &str, may_begin: bool) -> Option<Mention> {
    let segments: Vec<&str> =
        path.split(['.', '[', ']', '/', '#', '$', '\'', '"']).filter(|segment| !segment.is_empty()).collect();
    let is_list = |name: &str| LISTS.contains(&normal(name).as_str());
    segments.iter().enumerate().find_map(|(at, segment)| {
        let index = segment.parse().ok()?;
        let is_of_list = match at.checked_sub(1) {
            Some(before) => is_list(segments[before]),
            None => may_begin && path.starts_with('['),
        };
        let name = segments[at + 1..].last().map(|name| (*name).to_owned());
        is_of_list.then_some(Mention::Index(index, name))
    })
}

/// Returns the index in a path among the words of a message, such as "items.2.quantity is missing", if it is the only one.
fn index_in_words(message: &str) -> Option<Mention> {
    let words = message.split_whitespace().map(|word| word.trim_matches(|c: char| "'\"`:;,.()".contains(c)));
    let mut found = words.filter_map(|word| index_in_path(word, false));
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// Returns the number of a line in a sentence, such as "line 3: no such item", if it is the only one.
fn number_in_words(message: &str) -> Option<Mention> {
    let lower = message.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut numbers = words.iter().enumerate().filter_map(|(at, word)| {
        let is_address = at.checked_sub(1).is_some_and(|before| ADDRESSES.contains(&words[before]));
        if !LINE_WORDS.contains(word) || is_address {
            return None;
        }
        let mut after = words[at + 1..].iter().skip_while(|word| FILLERS.contains(word));
        after.next()?.parse::<usize>().ok()
    });
    let first = numbers.next()?;
    numbers.all(|other| other == first).then_some(Mention::Number(first))
}

/// Returns the field of the record as in templates, or else as the service writes it.
fn field_of_record(input: &'static Input, path: Option<&str>) -> String {
    let Some(path) = path else { return String::new() };
    let mut segments = path.split(['.', '[', ']', '/', '#', '$']).filter(|segment| !segment.is_empty()).rev();
    let name = segments.next().unwrap_or_default();
    let is_wrapper = |segment: &str| {
        let segment = normal(segment);
        WRAPPERS.contains(&segment.as_str()) || input.member().is_some_and(|member| normal(member) == segment)
    };
    let known = input.mappable().find(|field| normal(field.name) == normal(name)).filter(|_| segments.all(is_wrapper));
    known.map_or(path, |field| field.name).to_owned()
}

/// Returns a name in lower case without separators: `item_external_id` and `itemExternalId` are the same.
fn normal(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"order": {"externalId": "SO-1", "items": [
        {"itemExternalId": "A-1", "quantity": 1}, {"itemExternalId": "A-2", "quantity": 2}, {"itemExternalId": "A-3", "quantity": 2}]}}"#;

    fn places_of(rows: &[u64], messages: &[(&str, &str)]) -> Vec<(String, Option<u64>)> {
        let message = |(field, message): &(&str, &str)| ServiceMessage {
            field: (!field.is_empty()).then(|| (*field).to_owned()),
            message: (*message).to_owned(),
        };
        let messages: Vec<ServiceMessage> = messages.iter().map(message).collect();
        let places = places(RecordKind::Order, BODY.as_bytes(), rows, &messages);
        places.into_iter().map(|place| (place.field, place.row)).collect()
    }

    #[test]
    fn the_line_and_the_field_are_found_in_every_form() {
        for (field, message, expected) in [
            ("", "line 3: no item has the itemExternalId \"A-9\"", ("itemExternalId", Some(12))),
            ("", "Line 3: A-3 is sold out", ("itemExternalId", Some(12))),
            ("", "line no. 2: too many", ("", Some(11))),
            ("", "order line #1 is locked", ("", Some(10))),
            ("", "The quantity of line 2 is negative", ("quantity", Some(11))),
            ("", "Position 3: Menge fehlt", ("", Some(12))),
            ("", "line 1: the quantity '1' is too small", ("quantity", Some(10))),
            ("", "The items.2.quantity field is required.", ("quantity", Some(12))),
            ("", "lines[2] is unknown", ("", Some(12))),
            ("items.2.quantity", "is required", ("quantity", Some(12))),
            ("items[2].quantity", "is required", ("quantity", Some(12))),
            ("order.items[0].item_external_id", "unknown", ("itemExternalId", Some(10))),
            ("/order/items/2/tax_rate", "too high", ("tax_rate", Some(12))),
            ("#/order/items/1", "unknown item A-2", ("itemExternalId", Some(11))),
            ("body.order.items.1.quantity", "missing", ("quantity", Some(11))),
            ("[1].price", "missing", ("price", Some(11))),
            ("$.order.items[1].quantity", "could not be converted", ("quantity", Some(11))),
            ("orderLines[1].weight", "missing", ("orderLines[1].weight", Some(11))),
            // Not about one line of this order.
            ("", "line 4: no such item", ("", None)),
            ("", "lines 2 and 3 are the same", ("", None)),
            ("", "line 2 repeats line 1", ("", None)),
            ("", "address line 2 is too long", ("", None)),
            ("", "item 2 is locked", ("", None)),
            ("", "the airline 2 is unknown", ("", None)),
            ("", "no such order", ("", None)),
            ("items[7].quantity", "missing", ("items[7].quantity", None)),
            // Of the record.
            ("company_id", "unknown", ("companyId", None)),
            ("order.externalId", "taken", ("externalId", None)),
            ("company.externalId", "taken", ("company.externalId", None)),
        ] {
            let expected = (expected.0.to_owned(), expected.1);
            assert_eq!(places_of(&[10, 11, 12], &[(field, message)]), [expected], "{field} {message}");
        }
    }

    #[test]
    fn a_number_that_no_line_has_shows_how_the_service_counts() {
        let rows = |messages: &[(&str, &str)]| -> Vec<Option<u64>> {
            places_of(&[10, 11, 12], messages).into_iter().map(|(_, row)| row).collect()
        };
        assert_eq!(rows(&[("items[1]", "a"), ("items[3]", "b")]), [Some(10), Some(12)]);
        assert_eq!(rows(&[("items[0]", "a"), ("items[3]", "b")]), [Some(10), None]);
        assert_eq!(rows(&[("", "line 0: a"), ("", "line 2: b")]), [Some(10), Some(12)]);
        assert_eq!(rows(&[("", "line 1: a"), ("items[1]", "b")]), [Some(10), Some(11)]);
    }

    #[test]
    fn lines_without_a_row_of_their_own_mark_the_record() {
        for rows in [&[][..], &[10], &[10, 11], &[10, 11, 12, 13]] {
            assert_eq!(places_of(rows, &[("items[2].quantity", "a")]), [("items[2].quantity".to_owned(), None)]);
        }
    }
}
