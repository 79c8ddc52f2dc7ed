//! A template's own examples: rows, and what must be sent for them.

use toml::Spanned;
use toml::map::Map;

use super::super::model::{Example, ExampleCell};
use super::Checker;
use super::raw::RawExample;
use crate::diagnostics::Mistake;
use crate::records::Input;

impl Checker<'_> {
    pub(super) fn example(&self, raw: Spanned<RawExample>, input: &'static Input) -> Result<Example, Mistake> {
        let span = raw.span();
        let raw = raw.into_inner();
        let rows = match (raw.row, raw.rows) {
            (Some(row), None) => vec![row],
            (None, Some(rows)) if !rows.is_empty() => rows,
            (None, _) => {
                return Err(self.error(span, "an example needs its row", Some("add a table [examples.row]")));
            }
            (Some(_), Some(_)) => {
                let hint = "write all of them under rows, a list of tables";
                return Err(self.error(span, "an example has a row or rows, not both", Some(hint)));
            }
        };
        let rows = rows.into_iter().map(|row| self.example_row(row, &span)).collect::<Result<_, _>>()?;
        let mut sends = serde_json::Map::new();
        let lines = input.lines().map(|(field, _)| field.name);
        for (name, value) in raw.sends {
            if input.field(&name).is_none() && lines != Some(name.as_str()) {
                let known = input.mappable().map(|field| field.name).chain(lines);
                return Err(self.unknown(span, &format!("field of {}", input.name), &name, known));
            }
            let json = serde_json::to_value(&value)
                .map_err(|error| self.error(span.clone(), error.to_string(), None::<String>))?;
            sends.insert(name, json);
        }
        // TOML has no null of its own.
        for name in raw.clears.iter().flat_map(|clears| clears.get_ref()) {
            let span = raw.clears.as_ref().map_or(span.clone(), Spanned::span);
            match input.field(name) {
                Some(_) if sends.contains_key(name) => {
                    let hint = Some("keep one of them");
                    return Err(self.error(span, format!("the example both sends and clears {name}"), hint));
                }
                Some(_) => drop(sends.insert(name.clone(), serde_json::Value::Null)),
                None => {
                    let known = input.mappable().map(|field| field.name);
                    return Err(self.unknown(span, &format!("field of {}", input.name), name, known));
                }
            }
        }
        Ok(Example { rows, sends, span })
    }

    fn example_row(
        &self,
        raw: Map<String, toml::Value>,
        span: &std::ops::Range<usize>,
    ) -> Result<Vec<(String, ExampleCell)>, Mistake> {
        let mut row = Vec::new();
        for (column, value) in raw {
            let cell = match value {
                toml::Value::String(text) => ExampleCell::Text(text),
                toml::Value::Integer(number) => ExampleCell::Number(number as f64),
                toml::Value::Float(number) => ExampleCell::Number(number),
                toml::Value::Boolean(boolean) => ExampleCell::Boolean(boolean),
                other => {
                    let what = other.type_str();
                    let message =
                        format!("an example's cell is text, a number or a boolean, and '{column}' is a {what}");
                    return Err(self.error(span.clone(), message, Some("write it in quotes, as the sheet shows it")));
                }
            };
            row.push((column, cell));
        }
        Ok(row)
    }
}
