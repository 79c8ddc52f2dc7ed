//! What a template does, for a person who decides whether to trust it.

use crate::template::Template;
use crate::template::model::{Constant, FieldRule, Source, Translate};
use crate::ui;

/// What a template sends and reads.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct AboutTemplate {
    /// The fields with their columns.
    pub fields: Vec<String>,
    /// The fields with a value that does not come from the sheet.
    pub constants: Vec<String>,
    /// The lookup tables.
    pub lookups: Vec<String>,
}

impl AboutTemplate {
    pub(crate) fn of(template: &Template) -> AboutTemplate {
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
        about
    }

    /// Prints what the template does.
    pub(crate) fn print(&self) {
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
