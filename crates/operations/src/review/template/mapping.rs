//! The mapping from columns to fields in a template.

use sheetport_mapping::Template;
use sheetport_mapping::commands::COMMAND;
use sheetport_mapping::header_names::HeaderNames;
use sheetport_mapping::model::{Constant, FieldRule, Place, Source};
use sheetport_plan as plan;
use sheetport_records::{Field, Input};
use sheetport_sheet::cell::column_index;
use toml_edit::{DocumentMut, Item, Value};

use super::draft::Draft;
use crate::error::Error;

/// The columns of a sheet and the fields of its records.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    /// The number of the row with the names of the columns.
    pub header_row: Option<u64>,
    pub columns: Vec<MappedColumn>,
    /// All fields of the kind of record, in the order of the contract.
    pub fields: Vec<MappedField>,
    /// Whether the kind of record is a guess.
    pub is_kind_guess: bool,
    /// Whether the columns that group rows are a guess.
    pub is_group_guess: bool,
    /// The columns that group the rows of a record.
    pub group: Vec<usize>,
}

/// A column of the sheet.
#[derive(Clone, Debug)]
pub struct MappedColumn {
    pub header: String,
    /// Indexes in [`Mapping::fields`].
    pub fields: Vec<usize>,
}

/// A field of the record, or of its lines.
#[derive(Clone, Debug)]
pub struct MappedField {
    /// The name in templates, such as `lines.price`.
    pub path: String,
    pub field: &'static Field,
    pub is_line: bool,
    /// Columns from 0.
    pub columns: Vec<usize>,
    /// The constant value, if all records get the same one.
    pub constant: Option<String>,
    /// Whether the value comes from the template, a column or several.
    pub is_mapped: bool,
    pub is_guess: bool,
    /// The allowed texts of a cell, if the template lists them.
    pub allowed: Vec<String>,
}

/// Returns the mapping of a draft for a sheet with these names of columns. A template with mistakes shows as much as can be read.
pub fn mapping(draft: &Draft, loaded: Option<(&Template, &plan::Source)>, header: (Option<u64>, &[String])) -> Mapping {
    let mut mapping = match loaded {
        Some((template, source)) => of_template(template, source),
        None => of_text(draft, header),
    };
    for (index, field) in mapping.fields.iter().enumerate() {
        for column in &field.columns {
            if let Some(column) = mapping.columns.get_mut(*column) {
                column.fields.push(index);
            }
        }
    }
    mapping
}

fn fields_of(input: &'static Input) -> Vec<MappedField> {
    let field = |field: &'static Field, is_line: bool| MappedField {
        path: if is_line { format!("lines.{}", field.name) } else { field.name.to_owned() },
        field,
        is_line,
        columns: Vec::new(),
        constant: None,
        is_mapped: false,
        is_guess: false,
        allowed: Vec::new(),
    };
    let lines = input.lines().map_or(&[][..], |(_, fields)| fields);
    input
        .mappable()
        .chain([&COMMAND])
        .map(|it| field(it, false))
        .chain(lines.iter().map(|it| field(it, true)))
        .collect()
}

fn of_template(template: &Template, source: &plan::Source) -> Mapping {
    let part = source.tables.first().expect("a source reads at least one sheet");
    let mut fields = fields_of(template.input());
    for (index, rule) in template.rules().enumerate() {
        let is_line = rule.place == Place::Line;
        let is_it = |field: &&mut MappedField| field.field.name == rule.field.name && field.is_line == is_line;
        let Some(field) = fields.iter_mut().find(is_it) else { continue };
        field.columns = part.layout.columns_of(index);
        field.constant = match &rule.source {
            Source::Constant(constant) => Some(text_of(constant)),
            _ => None,
        };
        field.is_mapped = field.constant.is_some() || !field.columns.is_empty();
        field.is_guess = rule.is_guess;
        field.allowed = allowed_texts(rule);
    }
    let header = &part.layout.header;
    let column = |name: &String| MappedColumn { header: name.trim().to_owned(), fields: Vec::new() };
    Mapping {
        header_row: Some(header.row).filter(|row| *row > 0),
        columns: header.names.iter().take(part.layout.width).map(column).collect(),
        fields,
        is_kind_guess: template.is_record_guess,
        is_group_guess: template.group.as_ref().is_some_and(|group| group.is_guess),
        group: part.layout.group.clone(),
    }
}

/// Returns the allowed texts of a cell, if the template lists them.
pub(crate) fn allowed_texts(rule: &FieldRule) -> Vec<String> {
    /// Maximum number of texts.
    const MAX: usize = 500;
    rule.listed_values().into_iter().flatten().take(MAX).map(str::to_owned).collect()
}

fn text_of(constant: &Constant) -> String {
    match constant {
        Constant::Text(text) => text.clone(),
        Constant::Number(number) => number.to_string(),
        Constant::Boolean(boolean) => boolean.to_string(),
        Constant::Null => String::new(),
    }
}

/// Reads the mapping from the text of an incomplete template.
fn of_text(draft: &Draft, (header_row, names): (Option<u64>, &[String])) -> Mapping {
    let mut fields = fields_of(draft.record.input());
    let document: DocumentMut = draft.toml.parse().unwrap_or_default();
    for field in &mut fields {
        let (table, name) = if field.is_line { ("lines", field.field.name) } else { ("fields", field.field.name) };
        let Some(rule) = document.get(table).and_then(|table| table.get(name)).and_then(Item::as_table_like) else {
            continue;
        };
        field.columns = ["column", "columns"]
            .iter()
            .filter_map(|key| rule.get(key))
            .flat_map(|item| columns_of(item, names))
            .collect();
        field.constant = rule.get("value").map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        field.is_mapped = field.constant.is_some() || !field.columns.is_empty() || rule.contains_key("text");
        field.is_guess = rule.get("guess").and_then(Item::as_bool) == Some(true);
    }
    let column = |name: &String| MappedColumn { header: name.trim().to_owned(), fields: Vec::new() };
    Mapping {
        header_row,
        columns: names.iter().map(column).collect(),
        fields,
        is_kind_guess: document.get("record_guess").and_then(Item::as_bool) == Some(true),
        is_group_guess: false,
        group: Vec::new(),
    }
}

fn columns_of(item: &Item, names: &[String]) -> Vec<usize> {
    let headers = HeaderNames::new(names.iter().map(String::as_str));
    let one = |value: &Value| match value {
        Value::Integer(number) => usize::try_from(*number.value() - 1).ok(),
        Value::String(name) => {
            let name = name.value();
            let named = headers.find(std::iter::once(name.as_str())).first().copied();
            named.or_else(|| column_index(name).filter(|column| *column < names.len()))
        }
        _ => None,
    };
    match item {
        Item::Value(Value::Array(all)) => all.iter().find_map(one).into_iter().collect(),
        Item::Value(value) => one(value).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A mistake in the text of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateMistake {
    /// From 1.
    pub line: Option<usize>,
    pub message: String,
    pub hint: Option<String>,
}

/// Returns the mistakes in a template, or one mistake without a line for any other error.
pub fn mistakes(error: &Error) -> Vec<TemplateMistake> {
    match error {
        Error::Template(mistakes) => mistakes
            .iter()
            .map(|mistake| TemplateMistake {
                line: mistake.position().map(|(line, _)| line),
                message: mistake.message.clone(),
                hint: mistake.hint.clone(),
            })
            .collect(),
        error => vec![TemplateMistake { line: None, message: error.to_string(), hint: error.hint() }],
    }
}
