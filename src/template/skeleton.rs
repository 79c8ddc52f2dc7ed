//! An empty template of a kind: every field that it has, what each is, and where to write the columns.

use super::schema::description;
use crate::records::{Field, Input, RecordKind};

/// The TOML to begin with. It loads as it stands; required fields name a column that no sheet has yet.
pub fn skeleton(kind: RecordKind) -> String {
    let input = kind.input();
    let mut text = String::new();
    write(&mut text, input);
    text
}

fn write(text: &mut String, input: &'static Input) {
    let mut line = |words: std::fmt::Arguments<'_>| {
        text.push_str(&words.to_string());
        text.push('\n');
    };
    line(format_args!(
        "# A mapping template for {}. Lines that start with # are remarks: take the mark away to use them.",
        input.plural
    ));
    line(format_args!("# Every key is described in docs/templates.md."));
    line(format_args!("record = \"{}\"", input.name));
    line(format_args!("description = \"\"\n"));
    line(format_args!("[sheet]"));
    line(format_args!("header = \"auto\""));
    line(format_args!("# How numbers and dates are written: \"en\" reads 1,234.50, \"de\" reads 1.234,50."));
    line(format_args!("# locale = \"en\""));
    if input.lines().is_some() {
        line(format_args!("\n# Rows that have the same in these columns are one record, each row a line of it."));
        line(format_args!("# [group]"));
        line(format_args!("# by = [\"Number\"]"));
    }
    let named = |field: &Field| field.required || input.create.is_none() && input.key.last() == Some(&field.name);
    for field in input.mappable() {
        table(&mut line, "fields", field, named(field));
    }
    if let Some((list, fields)) = input.lines() {
        line(format_args!("\n# The record's {}: {}.", list.name, list.doc));
        for field in fields {
            table(&mut line, "lines", field, list.required && field.required);
        }
    }
}

fn table(line: &mut dyn FnMut(std::fmt::Arguments<'_>), table: &str, field: &Field, is_used: bool) {
    let mark = if is_used { "" } else { "# " };
    line(format_args!("\n# {}", description(field)));
    line(format_args!("{mark}[{table}.{}]", field.name));
    line(format_args!("{mark}column = \"{}\"", field.name));
}

#[cfg(test)]
mod tests {
    use super::super::load::{load, no_tables};
    use super::*;

    #[test]
    fn every_kind_has_one_that_loads_as_it_stands_and_with_all_of_its_fields() {
        for kind in RecordKind::ALL {
            let skeleton = skeleton(*kind);
            let template = load("new", &skeleton, &no_tables).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(template.record, *kind);
            let is_table = |line: &str| line.starts_with("# [fields.") || line.starts_with("# [lines.");
            let is_column = |line: &str| line.starts_with("# column = ");
            let all: Vec<&str> = skeleton
                .lines()
                .map(|line| if is_table(line) || is_column(line) { &line[2..] } else { line })
                .collect();
            let template = load("new", &all.join("\n"), &no_tables).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(template.fields.len(), kind.input().mappable().count());
            assert_eq!(template.lines.len(), kind.input().lines().map_or(0, |(_, fields)| fields.len()));
        }
    }
}
