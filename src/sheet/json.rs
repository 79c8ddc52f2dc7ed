//! Cells as JSON: text, numbers and booleans as themselves, the rest as an object that says what it is. A
//! date, a time and both together are told apart by how ISO 8601 writes them; a percentage is `{"percent":0.19}`.

use serde::ser::{Serialize, SerializeMap, Serializer};

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

/// A row for other programs: a percentage is the number that the workbook holds.
pub struct Unformatted<'a>(pub &'a Row);

impl Serialize for Unformatted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.cells().map(Cell::unformatted))
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil;

    use super::*;

    #[test]
    fn each_cell_says_what_it_is() {
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
        let json = serde_json::to_string(&cells).expect("JSON");
        assert_eq!(
            json,
            r##"["0042",null,1234.5,42,{"percent":0.195},{"percent":1},true,{"date":"2025-12-31"},{"date":"2025-12-31T09:30:00"},{"date":"09:30:00"},{"error":"#N/A"}]"##
        );
    }
}
