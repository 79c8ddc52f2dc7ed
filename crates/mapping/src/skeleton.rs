//! An empty template with every field of a kind of record, for the user to fill in.

use sheetport_records::{Field, Input};

use super::schema::description;

/// Returns the TOML of an empty, valid template; required fields have placeholders for columns.
pub fn skeleton(input: &'static Input) -> String {
    let mut text = format!(
        "\
# A mapping template for {}. Lines that start with # are comments: remove the # to enable them.
# docs/keys.md describes every key.
sheetport = 1
record = \"{}\"
description = \"\"

[sheet]
header = \"auto\"
# Format of numbers and dates: \"en\" reads 1,234.50, \"de\" reads 1.234,50.
# locale = \"en\"
",
        input.plural, input.name
    );
    if input.lines().is_some() {
        text.push_str("\n# Rows with the same values in these columns are one record; each row is a line of it.\n");
        text.push_str("# [group]\n# by = [\"Number\"]\n");
    }
    let is_needed = |field: &Field| field.required || input.create.is_none() && input.key.last() == Some(&field.name);
    for field in input.mappable() {
        text.push_str(&table("fields", field, is_needed(field)));
    }
    if let Some((list, fields)) = input.lines() {
        text.push_str(&format!("\n# The record's {}: {}.\n", list.name, list.doc));
        for field in fields {
            text.push_str(&table("lines", field, list.required && field.required));
        }
    }
    text
}

fn table(table: &str, field: &Field, is_enabled: bool) -> String {
    let (mark, name) = (if is_enabled { "" } else { "# " }, field.name);
    format!("\n# {}\n{mark}[{table}.{name}]\n{mark}column = \"{name}\"\n", description(field))
}

#[cfg(test)]
mod tests {
    use sheetport_records::RecordKind;
    use sheetport_records::transaction::COUNT;

    use super::super::load::{load, no_tables};
    use super::*;

    #[test]
    fn skeletons_of_all_kinds_load_as_written_and_with_every_field_enabled() {
        for input in RecordKind::ALL.iter().map(|kind| kind.input()).chain([&COUNT]) {
            let skeleton = skeleton(input);
            let template = load("new", &skeleton, &no_tables).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(template.input().name, input.name);
            let is_table = |line: &str| line.starts_with("# [fields.") || line.starts_with("# [lines.");
            let is_column = |line: &str| line.starts_with("# column = ");
            let all: Vec<&str> = skeleton
                .lines()
                .map(|line| if is_table(line) || is_column(line) { &line[2..] } else { line })
                .collect();
            let template = load("new", &all.join("\n"), &no_tables).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(template.fields.len(), input.mappable().count());
            assert_eq!(template.lines.len(), input.lines().map_or(0, |(_, fields)| fields.len()));
        }
    }
}
