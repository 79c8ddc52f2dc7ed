//! Cells as JSON and back: text, numbers and booleans as themselves, the rest as an object that says what it is. A
//! date, a time and both together are told apart by how ISO 8601 writes them; a percentage is `{"percent":0.19}`.

use memchr::memchr2;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Cell, Row};

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tagged = |serializer: S, tag: &str, value: &str| {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry(tag, value)?;
            map.end()
        };
        match *self {
            Cell::Blank => serializer.serialize_none(),
            Cell::Text(text) => serializer.serialize_str(text),
            // A whole number has no fraction here either: 42, not 42.0.
            Cell::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                serializer.serialize_i64(number as i64)
            }
            Cell::Number(number) => serializer.serialize_f64(number),
            Cell::Percent(number) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("percent", &Cell::Number(number))?;
                map.end()
            }
            Cell::Boolean(boolean) => serializer.serialize_bool(boolean),
            Cell::Date(_) | Cell::DateTime(_) | Cell::Time(_) => tagged(serializer, "date", &self.shown()),
            Cell::Error(error) => tagged(serializer, "error", error),
        }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.cells())
    }
}

/// A row for other programs: a percentage is the number that the workbook holds.
pub struct Unformatted<'a>(pub &'a Row);

impl Serialize for Unformatted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.cells().map(Cell::unformatted))
    }
}

/// Reads the cells of a row back. Nothing: the JSON is not an array of cells.
pub fn read_row(number: u64, json: &str, row: &mut Row) -> Option<()> {
    row.clear(number);
    let mut rest = json.trim_ascii().strip_prefix('[')?.strip_suffix(']')?.trim_ascii();
    while !rest.is_empty() {
        rest = read_cell(rest, row)?.trim_ascii_start();
        if let Some(next) = rest.strip_prefix(',') {
            rest = next.trim_ascii_start();
            next.trim_ascii_start().bytes().next()?;
        } else if !rest.is_empty() {
            return None;
        }
    }
    Some(())
}

/// Reads the first cell, and gives what follows it. A text is mostly taken as it stands, which is what makes reports of
/// large runs quick; whatever needs more than a look is left to the library.
fn read_cell<'j>(json: &'j str, row: &mut Row) -> Option<&'j str> {
    if let Some(text) = json.strip_prefix('"')
        && let Some(end) = memchr2(b'"', b'\\', text.as_bytes())
        && text.as_bytes()[end] == b'"'
    {
        let (text, rest) = text.split_at(end);
        row.push(Cell::Text(text));
        return rest.get(1..);
    }
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<&RawValue>();
    let value = values.next()?.ok()?.get();
    match value.as_bytes().first()? {
        b'"' => row.push(Cell::Text(&serde_json::from_str::<String>(value).ok()?)),
        b'n' => row.push(Cell::Blank),
        b't' => row.push(Cell::Boolean(true)),
        b'f' => row.push(Cell::Boolean(false)),
        b'{' => row.push(tagged(&serde_json::from_str(value).ok()?)?),
        b'[' => return None,
        _ => row.push(Cell::Number(value.parse().ok().filter(|number: &f64| number.is_finite())?)),
    }
    json.get(values.byte_offset()..)
}

fn tagged(object: &serde_json::Map<String, Value>) -> Option<Cell<'_>> {
    let (tag, value) = object.iter().next()?;
    if tag == "percent" {
        return value.as_f64().map(Cell::Percent);
    }
    let text = value.as_str()?;
    Some(match tag.as_str() {
        "date" if text.contains('T') => Cell::DateTime(text.parse().ok()?),
        "date" if text.contains(':') => Cell::Time(text.parse().ok()?),
        "date" => Cell::Date(text.parse().ok()?),
        "error" => Cell::Error(text),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use jiff::civil;
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    #[test]
    fn cells_come_back_as_they_went_in() {
        let date = civil::date(2025, 12, 31);
        let cells = [
            Cell::Text("0042"),
            Cell::Blank,
            Cell::Number(1234.5),
            Cell::Number(42.0),
            Cell::Percent(0.195),
            Cell::Percent(1.0),
            Cell::Boolean(true),
            Cell::Date(date),
            Cell::DateTime(date.at(9, 30, 0, 0)),
            Cell::Time(civil::time(9, 30, 0, 0)),
            Cell::Error("#N/A"),
        ];
        let mut row = Row::default();
        row.clear(7);
        cells.iter().for_each(|cell| row.push(*cell));
        let json = serde_json::to_string(&row).expect("JSON");
        assert_eq!(
            json,
            r##"["0042",null,1234.5,42,{"percent":0.195},{"percent":1},true,{"date":"2025-12-31"},{"date":"2025-12-31T09:30:00"},{"date":"09:30:00"},{"error":"#N/A"}]"##
        );
        let mut back = Row::default();
        read_row(7, &json, &mut back).expect("cells");
        assert!(back.cells().eq(cells));
    }

    #[test]
    fn what_is_no_array_of_cells_is_refused() {
        for json in ["", "[", "7", "{}", "[[]]", "[1,]", "[1e999]", r#"[{"day":"2025-12-31"}]"#, "[null] 7", r#"["a]"#]
        {
            assert_eq!(read_row(7, json, &mut Row::default()), None, "{json}");
        }
        let mut row = Row::default();
        read_row(7, r#" [ "a\"\\\u00e4\n" , "" , -1.5e3 ] "#, &mut row).expect("cells");
        assert!(row.cells().eq([Cell::Text("a\"\\ä\n"), Cell::Blank, Cell::Number(-1500.0)]));
    }

    proptest! {
        #[test]
        fn any_text_comes_back(texts in proptest::collection::vec("[\"\\\\,\\[\\]{} a\u{e4}\n]{0,8}|\\PC*", 0..8)) {
            let mut row = Row::default();
            row.clear(7);
            texts.iter().for_each(|text| row.push(Cell::Text(text)));
            let json = serde_json::to_string(&row).expect("JSON");
            let mut back = Row::default();
            prop_assert!(read_row(7, &json, &mut back).is_some(), "{}", json);
            prop_assert!(back.cells().eq(row.cells()), "{}", json);
        }

        #[test]
        fn any_characters_are_cells_or_refused(json in "[\\[\\]{}\",:a0-9.en \\\\-]{0,24}") {
            let ours = read_row(7, &json, &mut Row::default()).is_some();
            // What we take is JSON; text within it is taken as it stands, so that a raw control character is.
            prop_assert!(!ours || serde_json::from_str::<Vec<Value>>(&json).is_ok(), "{}", json);
        }
    }
}
