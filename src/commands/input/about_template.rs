//! Describes a template, for a person who decides whether to trust it.

use sheetport_language::say;
use sheetport_mapping::Template;
use sheetport_mapping::model::{Constant, FieldRule, Source, Translate};

use crate::ui;

/// The data sent and the files read by a template.
#[derive(Debug, Default, serde::Serialize)]
pub(in crate::commands) struct AboutTemplate {
    /// The fields with their columns.
    pub fields: Vec<String>,
    /// The fields with a value from the template.
    pub constants: Vec<String>,
    /// The lookup tables.
    pub lookups: Vec<String>,
    /// The processing of the cells of a field, as keys of the template.
    pub steps: Vec<String>,
    /// The other keys of the template, such as filters, rules and parameters.
    pub rules: Vec<String>,
}

/// Maximum number of characters of a step or a rule.
const LONGEST: usize = 1_000;
/// The keys of a field that are shown together with its source, or do not change the value.
const OF_SOURCE: [&str; 6] = ["column", "columns", "value", "text", "optional", "guess"];
/// The keys of a template that are shown elsewhere, or do not change a value.
const SHOWN: [&str; 6] = ["sheetport", "record", "description", "fields", "lines", "examples"];

impl AboutTemplate {
    pub(in crate::commands) fn of(template: &Template) -> AboutTemplate {
        let mut about = AboutTemplate::default();
        for rule in template.rules() {
            let field = rule.field.name;
            match &rule.source {
                Source::Constant(constant) => about.constants.push(format!("{field} = {}", shown(constant))),
                Source::Text { written, .. } => about.fields.push(format!("{written} → {field}")),
                Source::Column(_) | Source::Joined { .. } => about.fields.push(format!("{} → {field}", columns(rule))),
            }
            if let Some(Translate::Lookup(lookup)) = &rule.translate
                && let Some(sheet) = lookup.pending_sheet()
            {
                about.lookups.push(format!("the sheet '{sheet}' of the file"));
            }
        }
        about.lookups.extend(template.lookups.iter().flat_map(|lookups| lookups.hashes.keys().cloned()));
        match toml::from_str::<toml::Table>(&template.source) {
            Ok(keys) => about.add_keys(&keys),
            Err(_) => about.rules.push("its other keys can't be shown; read the file".to_owned()),
        }
        about
    }

    fn add_keys(&mut self, keys: &toml::Table) {
        for part in ["fields", "lines"] {
            for (field, keys) in keys.get(part).and_then(toml::Value::as_table).into_iter().flatten() {
                let steps = written(keys.as_table().into_iter().flatten(), &OF_SOURCE);
                if !steps.is_empty() {
                    self.steps.push(bounded(format!("{field}: {}", steps.join(", "))));
                }
            }
        }
        self.rules.extend(written(keys, &SHOWN).into_iter().map(bounded));
    }

    /// Prints the description.
    pub(in crate::commands) fn print(&self) {
        let lists = [
            ("columns:", &self.fields),
            ("values of the template:", &self.constants),
            ("lookup tables:", &self.lookups),
        ];
        for (heading, items) in lists.into_iter().filter(|(_, items)| !items.is_empty()) {
            for line in ui::list("  ", heading, items) {
                ui::remark(line);
            }
        }
        for (heading, items) in [("steps:", &self.steps), ("other rules:", &self.rules)] {
            if !items.is_empty() {
                ui::remark(say!("  {heading}"));
            }
            for item in items {
                ui::remark(say!("    {item}"));
            }
        }
    }
}

/// Returns the keys in TOML notation, except the keys in `left_out`.
fn written<'k>(keys: impl IntoIterator<Item = (&'k String, &'k toml::Value)>, left_out: &[&str]) -> Vec<String> {
    let keys = keys.into_iter().filter(|(key, _)| !left_out.contains(&key.as_str()));
    keys.map(|(key, value)| format!("{key} = {value}")).collect()
}

fn bounded(text: String) -> String {
    let more = text.chars().count().saturating_sub(LONGEST);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => {
            say!("{}… and {} more; read the file", &text[..end], ui::counted(more as u64, "character"))
        }
        None => text,
    }
}

fn columns(rule: &FieldRule) -> String {
    let names = rule.source.columns().into_iter().map(|names| {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        names.join(" or ")
    });
    names.collect::<Vec<_>>().join(" + ")
}

fn shown(constant: &Constant) -> String {
    match constant {
        Constant::Text(text) => format!("'{text}'"),
        Constant::Number(number) => number.to_string(),
        Constant::Boolean(boolean) => boolean.to_string(),
        Constant::Null => "blank".to_owned(),
    }
}
