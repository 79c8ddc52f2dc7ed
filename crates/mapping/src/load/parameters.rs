//! Parameters of a template: values set on the command line, and inserted where the template refers to them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use sheetport_documents::{Mistake, read, suggestion};
use sheetport_values::decimal;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::files::Files;
use super::raw::RawParameter;
use crate::typed_value::Value;

/// Tables whose keys are names, not keys of a template.
const OTHER_NAMES: [&str; 4] = ["examples", "map", "parameters", "extends"];

/// Maximum bytes of all inserted values: a value can be inserted at many places.
const MAX_INSERTED: usize = 4 << 20;

/// The values of all parameters.
pub(super) struct Parameters<'s> {
    values: BTreeMap<String, DeValue<'s>>,
    pub(super) mistakes: Vec<Mistake>,
    /// Bytes of values inserted so far.
    inserted: usize,
}

impl<'s> Parameters<'s> {
    /// Reads `[parameters]` and the values given by the user. Collects mistakes.
    pub(super) fn read(files: &Files, table: &DeTable<'s>, set: &'s [(String, String)]) -> Parameters<'s> {
        let mut parameters = Parameters { values: BTreeMap::new(), mistakes: Vec::new(), inserted: 0 };
        let raw = match table.get("parameters").map(Spanned::get_ref) {
            Some(DeValue::Table(declared)) => {
                let readout = read::<BTreeMap<Spanned<String>, RawParameter>>(files, declared.clone());
                parameters.mistakes = readout.mistakes;
                readout.raw.unwrap_or_default()
            }
            _ => BTreeMap::new(),
        };
        let known: Vec<&str> = raw.keys().map(|name| name.get_ref().as_str()).collect();
        for (name, _) in set.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
            let hint = match known.as_slice() {
                [] => "it has no [parameters]".to_owned(),
                known => suggestion(name, known),
            };
            parameters.mistakes.push(unplaced(files, format!("the template has no parameter '{name}'"), hint));
        }
        for (name, raw) in &raw {
            let given = set.iter().rev().find(|(set, _)| set == name.get_ref()).map(|(_, value)| value.as_str());
            let value = value(files, name, raw, table, given).unwrap_or_else(|mistake| {
                parameters.mistakes.push(mistake);
                // Keeps the name, so that its uses are not reported as mistakes.
                DeValue::String(Cow::Borrowed(""))
            });
            parameters.values.insert(name.get_ref().clone(), value);
        }
        parameters
    }

    /// Returns the values for expressions.
    pub(super) fn values(&self) -> BTreeMap<String, Value<'static>> {
        let number = |text: String| match decimal::parse(&text.replace('_', "")) {
            Ok(number) => Value::Number(number),
            Err(_) => Value::Text(text.into()),
        };
        let value = |value: &DeValue<'_>| match value {
            DeValue::String(text) => Value::Text(Cow::Owned(text.to_string())),
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Integer(written) => number(written.to_string()),
            DeValue::Float(written) => number(written.to_string()),
            DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => Value::Blank,
        };
        self.values.iter().map(|(name, known)| (name.clone(), value(known))).collect()
    }

    /// Sets the values as the defaults of their parameters, for the copy of a run.
    pub(super) fn fix(&self, table: &mut DeTable<'s>) {
        let Some(DeValue::Table(declared)) = table.get_mut("parameters").map(Spanned::get_mut) else { return };
        for (name, parameter) in declared.iter_mut() {
            if let (DeValue::Table(parameter), Some(value)) =
                (parameter.get_mut(), self.values.get(name.get_ref().as_ref()))
            {
                parameter.insert(Spanned::new(0..0, "default".into()), Spanned::new(0..0, value.clone()));
            }
        }
    }

    /// Replaces `{ parameter = "…" }` in a table by the values. Unknown names are mistakes.
    pub(super) fn insert(&mut self, files: &Files, table: &mut DeTable<'s>) {
        for (key, value) in table.iter_mut() {
            if !OTHER_NAMES.contains(&key.get_ref().as_ref()) {
                self.insert_value(files, value);
            } else if key.get_ref() == "map"
                && let DeValue::Table(map) = value.get_mut()
            {
                map.iter_mut().for_each(|(_, to)| self.insert_value(files, to));
            }
        }
    }

    fn insert_value(&mut self, files: &Files, value: &mut Spanned<DeValue<'s>>) {
        let span = value.span();
        match value.get_mut() {
            DeValue::Array(values) => values.iter_mut().for_each(|value| self.insert_value(files, value)),
            DeValue::Table(table) => {
                let only = table.iter().next().filter(|(key, _)| table.len() == 1 && key.get_ref() == "parameter");
                let Some(name) = only.and_then(|(_, name)| name.get_ref().as_str()).map(str::to_owned) else {
                    return self.insert(files, table);
                };
                match self.values.get(&name) {
                    Some(found) => {
                        let before = self.inserted;
                        self.inserted = before.saturating_add(size_of_value(found));
                        if self.inserted <= MAX_INSERTED {
                            *value = Spanned::new(span, found.clone());
                        } else if before <= MAX_INSERTED {
                            let message =
                                format!("the values of parameters are larger than {} MiB", MAX_INSERTED >> 20);
                            let hint = "insert large values at fewer places".to_owned();
                            self.mistakes.push(files.mistake(span, message, Some(hint)));
                        }
                    }
                    None => {
                        self.mistakes.push(no_parameter(files, span, &name, self.values.keys().map(String::as_str)))
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the value of a parameter: the value given by the user, converted to the type of the default, or the default.
fn value<'s>(
    files: &Files,
    name: &Spanned<String>,
    raw: &RawParameter,
    table: &DeTable<'s>,
    given: Option<&'s str>,
) -> Result<DeValue<'s>, Mistake> {
    let declared = table
        .get("parameters")
        .and_then(|all| all.get_ref().as_table())
        .and_then(|all| all.get(name.get_ref().as_str()));
    let default = declared.and_then(|parameter| parameter.get_ref().as_table()).and_then(|keys| keys.get("default"));
    let default = default.map(Spanned::get_ref);
    match (given, default) {
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => {
            let message = match &raw.description {
                Some(description) => format!("the parameter {} has no value: {description}", name.get_ref()),
                None => format!("the parameter {} has no value", name.get_ref()),
            };
            let hint = format!("give it with --set {}=…, or add a default", name.get_ref());
            Err(files.mistake(name.span(), message, Some(hint)))
        }
        (Some(given), Some(default)) if !default.is_str() => {
            let parsed = DeValue::parse(given.trim()).ok().map(Spanned::into_inner);
            let is_number = |value: &DeValue<'_>| value.is_integer() || value.is_float();
            let fits = |value: &DeValue<'_>| value.same_type(default) || is_number(value) && is_number(default);
            parsed.filter(fits).ok_or_else(|| {
                let message = format!("'{given}' for the parameter {} is not a {}", name.get_ref(), default.type_str());
                unplaced(files, message, "its default shows the kind of value".to_owned())
            })
        }
        (Some(given), _) => Ok(DeValue::String(given.into())),
    }
}

/// Returns the approximate memory of a value in bytes.
fn size_of_value(value: &DeValue<'_>) -> usize {
    size_of::<Spanned<DeValue<'_>>>()
        + match value {
            DeValue::String(text) => text.len(),
            DeValue::Array(values) => values.iter().map(|value| size_of_value(value.get_ref())).sum(),
            DeValue::Table(table) => {
                table.iter().map(|(key, value)| key.get_ref().len() + size_of_value(value.get_ref())).sum()
            }
            _ => 0,
        }
}

/// Returns an error about an undeclared parameter.
pub(super) fn no_parameter<'n>(
    files: &Files,
    span: Range<usize>,
    name: &str,
    known: impl Iterator<Item = &'n str>,
) -> Mistake {
    let known: Vec<&str> = known.collect();
    let hint = match known.as_slice() {
        [] => format!("add [parameters] with {name} = {{ default = … }}"),
        known => suggestion(name, known),
    };
    files.mistake(span, format!("there is no parameter '{name}'"), Some(hint))
}

/// Returns an error without a place in the template.
fn unplaced(files: &Files, message: String, hint: String) -> Mistake {
    Mistake { place: None, ..files.mistake(0..0, message, Some(hint)) }
}
