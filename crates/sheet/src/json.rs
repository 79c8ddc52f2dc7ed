//! Rows as JSON arrays: text, numbers and booleans as such; dates, times and errors as `{"date":…}` or `{"error":…}`.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Cell, Row};

/// Serializes a row. A percentage is written as the stored number.
pub struct JsonRow<'a>(pub &'a Row);

struct JsonCell<'a>(Cell<'a>);

/// Whole numbers up to this size are written without a fraction: `42`, not `42.0`.
const MAX_INTEGER: f64 = 9e15;

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.cells().map(JsonCell))
    }
}

impl Serialize for JsonCell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tagged = |serializer: S, tag: &str, value: &str| {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry(tag, value)?;
            map.end()
        };
        match self.0 {
            Cell::Blank => serializer.serialize_none(),
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Number(number)
            | Cell::Percent(number)
            | Cell::Money(number, _)
            | Cell::Formatted(number, _)
            | Cell::Rounded(number, _)
                if number.fract() == 0.0 && number.abs() < MAX_INTEGER =>
            {
                serializer.serialize_i64(number as i64)
            }
            Cell::Number(number)
            | Cell::Percent(number)
            | Cell::Money(number, _)
            | Cell::Formatted(number, _)
            | Cell::Rounded(number, _) => serializer.serialize_f64(number),
            Cell::Boolean(boolean) => serializer.serialize_bool(boolean),
            Cell::Date(_) | Cell::DateTime(_) | Cell::Time(_) => tagged(serializer, "date", &self.0.shown()),
            Cell::Error(error) => tagged(serializer, "error", error),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil;

    use super::*;

    #[test]
    fn every_kind_of_cell_has_a_json_form() {
        let date = civil::date(2025, 12, 31);
        let mut row = Row::default();
        for cell in [
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
        ] {
            row.push(cell);
        }
        let json = serde_json::to_string(&JsonRow(&row)).expect("JSON");
        assert_eq!(
            json,
            r##"["0042",null,1234.5,42,0.195,1,true,{"date":"2025-12-31"},{"date":"2025-12-31T09:30:00"},{"date":"09:30:00"},{"error":"#N/A"}]"##
        );
    }
}
