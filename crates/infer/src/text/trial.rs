//! Tries a proposed template on the sample: writes examples, and finds ambiguous numbers.

use serde_json::Value;
use sheetport_documents::write::{is_interpreted, key, quoted};
use sheetport_mapping::bind::{Layout, bind};
use sheetport_mapping::columns::own_column;
use sheetport_mapping::load::{load, no_tables};
use sheetport_mapping::map::survey::Surveyor;
use sheetport_mapping::model::{Example, ExampleCell, HeaderRow, Template};
use sheetport_mapping::problem::Cause;
use sheetport_mapping::{Draft, Mapper, examples};
use sheetport_sheet::{Cell, Row, column_letters};
use sheetport_values::number::NumberError;

use super::super::sample::Sample;

/// Maximum number of examples.
const MAX_EXAMPLES: usize = 2;
/// Maximum number of rows to try.
const MAX_TRIED: usize = 100;
/// Maximum number of rows per example.
const MAX_ROWS: usize = 6;
/// Maximum length of a text in an example, in characters.
const MAX_TEXT: usize = 120;

/// A proposed template, bound to the sample.
pub(crate) struct Trial<'a> {
    toml: &'a str,
    template: Template,
    layout: Layout,
    sample: &'a Sample,
}

impl<'a> Trial<'a> {
    /// Loads the template. Returns `None` for an incomplete template, and for a template with other files.
    pub(crate) fn new(toml: &'a str, sample: &'a Sample) -> Option<Trial<'a>> {
        let template = load("proposal", toml, &no_tables).ok()?;
        let layout = bind(&template, &sample.top).ok()?;
        Some(Trial { toml, template, layout, sample })
    }

    /// Returns an ambiguous number that no other number of the sheet explains.
    pub(crate) fn ambiguous_number(&self) -> Option<String> {
        let mut surveyor = Surveyor::new(&self.template, &self.layout);
        self.sample.rows.iter().for_each(|row| surveyor.row(row));
        let survey = surveyor.survey();
        let mapper = Mapper::new(0, &self.template, &self.layout, &survey);
        let mut draft = Draft::default();
        self.sample.rows.iter().find_map(|row| {
            mapper.map(row, &mut draft);
            draft.gathered.problems.iter().find_map(|problem| match &problem.cause {
                Cause::NotANumber(NumberError::Ambiguous(_)) => Some(problem.value.clone()),
                _ => None,
            })
        })
    }

    /// Returns the template with examples of the first records. Prefers records without a problem and with the most values.
    pub(crate) fn with_examples(&self) -> String {
        let mut records = self.records();
        records.sort_by_key(|rows| {
            let values: usize = rows.iter().map(|row| self.cells(row).map_or(0, |cells| cells.len())).sum();
            std::cmp::Reverse(values / rows.len().max(1))
        });
        let mut written: Vec<(String, Value)> = Vec::new();
        for rows in records {
            if written.len() == MAX_EXAMPLES {
                break;
            }
            let Some((text, sends)) = self.example(&rows) else { continue };
            let is_new = !written.iter().any(|(_, known)| *known == sends);
            if is_new && self.holds(&text) {
                written.push((text, sends));
            }
        }
        let mut toml = self.toml.to_owned();
        if !written.is_empty() {
            toml.push_str(
                "\n# Rows of the sheet and what is sent for them. `sheetport template check` compares them.\n",
            );
        }
        for (index, (text, _)) in written.iter().enumerate() {
            toml.push_str(if index == 0 { "" } else { "\n" });
            toml.push_str(text);
        }
        toml
    }

    /// Returns the rows of each of the first records.
    fn records(&self) -> Vec<Vec<&'a Row>> {
        let rows = self.sample.rows.iter().take(MAX_TRIED);
        let group = |row: &Row| -> Vec<String> {
            self.layout.group.iter().map(|column| row.get(*column).shown().trim().to_owned()).collect()
        };
        let mut records: Vec<Vec<&Row>> = Vec::new();
        for row in rows {
            let name = group(row);
            let is_named = name.iter().any(|part| !part.is_empty());
            let known = if self.layout.group.is_empty() || !is_named {
                None
            } else {
                records.iter_mut().find(|rows| rows.first().is_some_and(|first| group(first) == name))
            };
            match known {
                Some(rows) => rows.push(row),
                None => records.push(vec![row]),
            }
        }
        // The last record may be incomplete.
        if !self.layout.group.is_empty() && self.sample.rows.len() > MAX_TRIED {
            records.pop();
        }
        records.retain(|rows| rows.len() <= MAX_ROWS);
        records
    }

    /// Returns the TOML of an example, and the records it sends. Returns `None` if the rows have a problem.
    fn example(&self, rows: &[&Row]) -> Option<(String, Value)> {
        let cells: Vec<_> = rows.iter().map(|row| self.cells(row)).collect::<Option<_>>()?;
        let example = Example { rows: cells, sends: Vec::new(), span: 0..0 };
        let sends = examples::sends(&self.template, &example).ok()?;
        let text = match sends.as_slice() {
            sends if self.template.unpivot.is_some() => cells_to_toml(&example, sends)?,
            [sent] => to_toml(&example, sent)?,
            _ => return None,
        };
        Some((text, Value::Array(sends)))
    }

    /// Whether `template check` accepts an example.
    fn holds(&self, example: &str) -> bool {
        let toml = format!("{}\n{example}", self.toml);
        load("proposal", &toml, &no_tables).is_ok_and(|template| examples::run(&template).is_empty())
    }

    /// Returns the cells of a row that the template reads, or `None` if an example can't contain them.
    fn cells(&self, row: &Row) -> Option<Vec<(String, ExampleCell)>> {
        let layout = &self.layout;
        let mut columns: Vec<usize> =
            layout.columns.iter().flat_map(|columns| columns.iter()).map(own_column).collect();
        columns.extend(layout.cells.iter().map(|cell| cell.column));
        columns.extend(layout.group.iter().copied().chain(layout.tested()));
        columns.extend(layout.fill_down.iter().chain(&layout.fill_within));
        columns.sort_unstable();
        columns.dedup();
        let mut cells = Vec::new();
        for column in columns {
            let name = match (&self.template.sheet.header, layout.header.names.get(column)) {
                (HeaderRow::None, _) => column_letters(column),
                (_, Some(name)) if !name.is_empty() => name.clone(),
                _ => column_letters(column),
            };
            let cell = match row.get(column) {
                Cell::Blank => ExampleCell::Text(String::new()),
                Cell::Number(number) | Cell::Rounded(number, _) => ExampleCell::Number(number),
                Cell::Boolean(value) => ExampleCell::Boolean(value),
                cell => ExampleCell::Text(cell.shown().into_owned()),
            };
            let is_short = match &cell {
                ExampleCell::Text(text) => text.chars().count() <= MAX_TEXT && !text.contains(is_interpreted),
                _ => true,
            };
            if !is_short || cells.iter().any(|(known, _)| *known == name) {
                return None;
            }
            cells.push((name, cell));
        }
        Some(cells)
    }
}

/// Returns an example with several records in one row, or `None` without a record.
fn cells_to_toml(example: &Example, sends: &[Value]) -> Option<String> {
    let [row] = example.rows.as_slice() else { return None };
    if sends.is_empty() {
        return None;
    }
    let row = pairs(row.iter().filter(|(_, cell)| !matches!(cell, ExampleCell::Text(text) if text.is_empty())));
    let mut text = format!("[[examples]]\nrow = {{ {} }}\nsends = [\n", row.join(", "));
    for sent in sends {
        text.push_str(&format!("    {},\n", value(sent)?));
    }
    text.push_str("]\n");
    Some(text)
}

fn pairs<'a>(cells: impl IntoIterator<Item = &'a (String, ExampleCell)>) -> Vec<String> {
    let cell = |cell: &ExampleCell| match cell {
        ExampleCell::Text(text) => quoted(text),
        // The shortest digits with the same value.
        ExampleCell::Number(number) => number.to_string(),
        ExampleCell::Boolean(value) => value.to_string(),
    };
    cells.into_iter().map(|(name, value)| format!("{} = {}", key(name), cell(value))).collect()
}

fn to_toml(example: &Example, sends: &Value) -> Option<String> {
    let mut text = "[[examples]]\n".to_owned();
    match example.rows.as_slice() {
        [row] => {
            text.push_str("[examples.row]\n");
            pairs(row).iter().for_each(|line| text.push_str(&format!("{line}\n")));
        }
        rows => {
            text.push_str("rows = [\n");
            rows.iter().for_each(|row| text.push_str(&format!("    {{ {} }},\n", pairs(row).join(", "))));
            text.push_str("]\n");
        }
    }
    text.push_str("[examples.sends]\n");
    for (name, sent) in sends.as_object()? {
        match sent {
            Value::Array(lines) if lines.iter().all(Value::is_object) => {
                text.push_str(&format!("{} = [\n", key(name)));
                for line in lines {
                    text.push_str(&format!("    {},\n", value(line)?));
                }
                text.push_str("]\n");
            }
            sent => text.push_str(&format!("{} = {}\n", key(name), value(sent)?)),
        }
    }
    Some(text)
}

/// Returns a JSON value as TOML. `None` for null, because TOML has no null.
fn value(json: &Value) -> Option<String> {
    Some(match json {
        Value::Null => return None,
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(values) => format!("[{}]", values.iter().map(value).collect::<Option<Vec<_>>>()?.join(", ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| Some(format!("{} = {}", key(name), value(field)?)));
            format!("{{ {} }}", fields.collect::<Option<Vec<_>>>()?.join(", "))
        }
    })
}
