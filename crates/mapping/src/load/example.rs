//! Checks the examples of a template: rows, and the record to send.

use std::ops::Range;

use sheetport_documents::Mistake;
use sheetport_records::Input;
use toml::Spanned;
use toml::map::Map;

use super::super::model::{Example, ExampleCell};
use super::checker::Checker;
use super::raw::RawExample;

impl Checker<'_> {
    pub(super) fn example(&self, raw: Spanned<RawExample>, input: &'static Input) -> Result<Example, Mistake> {
        let span = raw.span();
        let RawExample { row, rows, sends: sent, clears } = raw.into_inner();
        let rows = match (row, rows) {
            (Some(row), None) => vec![row],
            (None, Some(rows)) if !rows.is_empty() => rows,
            (None, _) => return Err(self.error(span, "an example needs a row", Some("add a table [examples.row]"))),
            (Some(_), Some(_)) => {
                let hint = "move the row to rows, which is a list of tables";
                return Err(self.error(span, "an example has a row or rows, not both", Some(hint)));
            }
        };
        let rows = rows.into_iter().map(|row| self.example_row(row, &span)).collect::<Result<_, _>>()?;
        let unknown = |span: Range<usize>, name: &str, lines: Option<&'static str>| {
            let known = input.mappable().map(|field| field.name).chain(lines);
            self.unknown(span, &format!("field of {}", input.name), name, known)
        };
        let lines = input.lines().map(|(field, _)| field.name);
        let mut sends = Vec::new();
        for sent in sent.0 {
            let mut record = serde_json::Map::new();
            for (name, value) in sent {
                if input.field(&name).is_none() && lines != Some(name.as_str()) {
                    return Err(unknown(span, &name, lines));
                }
                let json = serde_json::to_value(&value)
                    .map_err(|error| self.error(span.clone(), error.to_string(), None::<String>))?;
                record.insert(name, json);
            }
            sends.push(record);
        }
        // TOML has no null, so cleared fields have a separate key.
        if let Some(clears) = clears {
            let span = clears.span();
            for name in clears.into_inner() {
                if input.field(&name).is_none() {
                    return Err(unknown(span, &name, None));
                }
                if sends.iter().any(|record| record.contains_key(&name)) {
                    let message = format!("the example both sends and clears {name}");
                    return Err(self.error(span, message, Some("keep one of them")));
                }
                sends.iter_mut().for_each(|record| drop(record.insert(name.clone(), serde_json::Value::Null)));
            }
        }
        Ok(Example { rows, sends, span })
    }

    fn example_row(
        &self,
        raw: Map<String, toml::Value>,
        span: &Range<usize>,
    ) -> Result<Vec<(String, ExampleCell)>, Mistake> {
        let cell = |(column, value)| {
            let cell = match value {
                toml::Value::String(text) => ExampleCell::Text(text),
                toml::Value::Integer(number) => ExampleCell::Number(number as f64),
                toml::Value::Float(number) => ExampleCell::Number(number),
                toml::Value::Boolean(boolean) => ExampleCell::Boolean(boolean),
                other => {
                    let message = format!(
                        "a cell of an example must be text, a number or a boolean, but '{column}' is a {}",
                        other.type_str()
                    );
                    let hint = "write it in quotes, as the sheet shows it";
                    return Err(self.error(span.clone(), message, Some(hint)));
                }
            };
            Ok((column, cell))
        };
        raw.into_iter().map(cell).collect()
    }
}
