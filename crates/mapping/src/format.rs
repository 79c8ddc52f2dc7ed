//! Formatting of templates: order of tables and keys, quotes, spaces and blank lines. Comments stay with the line below.

use sheetport_documents::{Mistake, TomlFile};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, RawString, Table, Value};

use super::load::VERSION;
use super::schema::keys_of;

/// How many blank lines stand before a key or table without a comment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blank {
    None,
    /// A blank line where the source has one.
    Kept,
    One,
}

/// Returns the formatted TOML of a template. Fields and examples keep their order, and multi-line lists their lines. Idempotent.
pub fn format(file: &TomlFile<'_>) -> Result<String, Mistake> {
    let is_windows = file.source.contains("\r\n");
    let text = file.source.replace("\r\n", "\n");
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        file.mistake(error.span().unwrap_or_default(), error.message(), Some("fix the syntax first".to_owned()))
    })?;
    format_root(document.as_table_mut());
    let trailing = document.trailing().as_str().map(|end| tidied(&format!("{end}\n"), Blank::Kept)).unwrap_or_default();
    document.set_trailing(trailing);
    let text = format!("{}\n", document.to_string().trim_end());
    Ok(if is_windows { text.replace('\n', "\r\n") } else { text })
}

fn format_root(root: &mut Table) {
    let header = take_header(root);
    if !root.contains_key("sheetport") {
        let key = Key::new("sheetport");
        root.insert_formatted(&key, toml_edit::value(VERSION));
    }
    sort(root, &[]);
    format_keys(root, Blank::Kept);
    if let Some((mut key, _)) = root.iter_mut().find(|(_, item)| item.is_value()) {
        let (more, own) = split_header(prefix_of(key.leaf_decor().prefix()));
        let own = tidied(&own, Blank::None);
        key.leaf_decor_mut().set_prefix(format!("{header}{more}{own}"));
    }
    let mut position = 0;
    for (path, name) in tables_in_order(root) {
        match root.get_mut(&name) {
            Some(Item::Table(table)) => format_table(table, &[path.as_str()], &mut position, Blank::One),
            Some(Item::ArrayOfTables(tables)) => {
                for table in tables.iter_mut() {
                    format_table(table, &[path.as_str()], &mut position, Blank::One);
                }
            }
            _ => {}
        }
    }
}

/// Removes and returns the comment at the top of a file, up to its last blank line, from the first key or table.
fn take_header(root: &mut Table) -> String {
    if let Some((mut key, _)) = root.iter_mut().find(|(_, item)| item.is_value()) {
        let (header, own) = split_header(prefix_of(key.leaf_decor().prefix()));
        key.leaf_decor_mut().set_prefix(own);
        return header;
    }
    let Some(first) = first_table(root) else { return String::new() };
    let (header, own) = split_header(prefix_of(first.decor().prefix()));
    first.decor_mut().set_prefix(own);
    header
}

/// Returns the table whose header comes first.
fn first_table(table: &mut Table) -> Option<&mut Table> {
    let (_, item) = table.iter_mut().filter(|(_, item)| !item.is_value()).min_by_key(|(_, item)| position_of(item))?;
    let is_below = item.as_table().is_some_and(|table| table.position() != Some(position_of(item)));
    match item {
        Item::Table(table) => match is_below {
            true => first_table(table),
            false => Some(table),
        },
        Item::ArrayOfTables(tables) => tables.iter_mut().next(),
        _ => None,
    }
}

/// Splits the comments above the first key into the comment of the file and the comment of the key.
fn split_header(above: &str) -> (String, String) {
    let lines: Vec<&str> = above.split('\n').map(str::trim).collect();
    let (last, above) = lines.split_last().unwrap_or((&"", &[]));
    // Directives such as `#:schema` are for the whole file.
    let end = above.iter().rposition(|line| line.is_empty() || line.starts_with("#:"));
    let (header, own) = above.split_at(end.map_or(0, |end| end + 1));
    let header = tidied(&format!("{}\n", header.join("\n")), Blank::None);
    let header = if header.is_empty() { header } else { format!("{}\n\n", header.trim_end()) };
    (header, format!("{}{last}", own.iter().map(|line| format!("{line}\n")).collect::<String>()))
}

/// Returns the names of the tables of the top level in their order, each as the path in the schema and as the key.
fn tables_in_order(root: &Table) -> Vec<(String, String)> {
    let known = keys_of(&[]);
    let mut names: Vec<(usize, isize, String)> = root
        .iter()
        .filter(|(_, item)| item.is_table() || item.is_array_of_tables())
        .map(|(name, item)| {
            let rank = known.iter().position(|key| key == name).unwrap_or(known.len());
            (rank, position_of(item), name.to_owned())
        })
        .collect();
    names.sort();
    names.into_iter().map(|(_, _, name)| (name.clone(), name)).collect()
}

fn position_of(item: &Item) -> isize {
    match item {
        Item::Table(table) => {
            let below = table.iter().map(|(_, item)| position_of(item)).min().unwrap_or(isize::MAX);
            table.position().unwrap_or(isize::MAX).min(below)
        }
        Item::ArrayOfTables(tables) => tables.iter().filter_map(Table::position).min().unwrap_or(isize::MAX),
        _ => isize::MAX,
    }
}

/// Formats a table with a header, and its sub-tables in their order.
fn format_table(table: &mut Table, path: &[&str], position: &mut isize, blank: Blank) {
    if table.is_dotted() {
        return;
    }
    *position += 1;
    table.set_position(Some(*position));
    let prefix = tidied(prefix_of(table.decor().prefix()), blank);
    table.decor_mut().set_prefix(prefix);
    let suffix = spaced_comment(prefix_of(table.decor().suffix()));
    table.decor_mut().set_suffix(suffix);
    sort(table, path);
    format_keys(table, Blank::None);
    let mut below: Vec<(isize, String)> = table
        .iter()
        .filter(|(_, item)| item.is_table() || item.is_array_of_tables())
        .map(|(name, item)| (position_of(item), name.to_owned()))
        .collect();
    below.sort();
    // The tables of an example belong together.
    let blank = if path.first() == Some(&"examples") || path.len() > 1 { Blank::None } else { Blank::One };
    for (_, name) in below {
        let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        match table.get_mut(&name) {
            Some(Item::Table(table)) => format_table(table, &path, position, blank),
            Some(Item::ArrayOfTables(tables)) => {
                tables.iter_mut().for_each(|table| format_table(table, &path, position, blank));
            }
            _ => {}
        }
    }
}

/// Sorts the keys of a table as in the schema. Maps and examples keep their order, because their keys are free names.
fn sort(table: &mut Table, path: &[&str]) {
    let known = keys_of(path);
    let rank = |key: &Key| known.iter().position(|name| name == key.get()).unwrap_or(known.len());
    table.sort_values_by(|one, _, other, _| rank(one).cmp(&rank(other)));
}

/// Formats the keys and values of a table.
fn format_keys(table: &mut Table, first: Blank) {
    let mut blank = first;
    for (mut key, item) in table.iter_mut() {
        let Some(value) = item.as_value_mut() else { continue };
        let prefix = tidied(prefix_of(key.leaf_decor().prefix()), blank);
        key.leaf_decor_mut().set_prefix(prefix);
        key.leaf_decor_mut().set_suffix(" ");
        let suffix = spaced_comment(prefix_of(value.decor().suffix()));
        format_value(value);
        value.decor_mut().set_prefix(" ");
        value.decor_mut().set_suffix(suffix);
        blank = Blank::Kept;
    }
}

fn format_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            let repr = text.display_repr();
            let is_one_line = !repr.starts_with("\"\"\"") && !repr.starts_with("'''");
            if is_one_line
                && let Some(written) = quoted(text.value()).filter(|written| *written != *repr)
                && let Ok(written) = written.parse()
            {
                *value = written;
            }
        }
        Value::Array(values) => format_array(values),
        Value::InlineTable(table) => format_inline_table(table),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
    }
}

/// Writes a list on one line, unless the source uses several lines.
fn format_array(values: &mut Array) {
    let is_one_line = !values.to_string().contains('\n');
    for (index, value) in values.iter_mut().enumerate() {
        let (prefix, suffix) =
            (prefix_of(value.decor().prefix()).to_owned(), prefix_of(value.decor().suffix()).to_owned());
        format_value(value);
        match is_one_line {
            true => {
                value.decor_mut().set_prefix(if index == 0 { "" } else { " " });
                value.decor_mut().set_suffix("");
            }
            false => {
                value.decor_mut().set_prefix(prefix);
                value.decor_mut().set_suffix(suffix);
            }
        }
    }
    if is_one_line {
        values.set_trailing("");
        values.set_trailing_comma(false);
    }
}

fn format_inline_table(table: &mut InlineTable) {
    if table.to_string().contains('\n') {
        return;
    }
    let last = table.len().saturating_sub(1);
    for (index, (mut key, value)) in table.iter_mut().enumerate() {
        format_value(value);
        key.leaf_decor_mut().set_prefix(" ");
        key.leaf_decor_mut().set_suffix(" ");
        value.decor_mut().set_prefix(" ");
        value.decor_mut().set_suffix(if index == last { " " } else { "" });
    }
    table.set_trailing("");
    table.set_trailing_comma(false);
}

/// Writes a text with plain quotes, or with single quotes to keep its backslashes or quotes readable. Returns `None` for
/// multi-line texts.
fn quoted(text: &str) -> Option<String> {
    if text.chars().any(char::is_control) {
        return None;
    }
    if text.contains(['\\', '"']) && !text.contains('\'') {
        return Some(format!("'{text}'"));
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    Some(format!("\"{escaped}\""))
}

fn prefix_of(decor: Option<&RawString>) -> &str {
    decor.and_then(RawString::as_str).unwrap_or_default()
}

/// Tidies the comments above a key or a table: no spaces around lines, and at most one blank line in a row. The last line
/// of `above` is the beginning of the line of the key.
fn tidied(above: &str, blank: Blank) -> String {
    let mut lines: Vec<&str> = above.split('\n').map(str::trim).collect();
    lines.pop();
    let had_blank = lines.first().is_some_and(|line| line.is_empty());
    // A comment directly below the previous table, separated from this table by a blank line, belongs to the previous table.
    let is_of_above = !had_blank && lines.iter().any(|line| line.is_empty());
    let mut tidied = String::new();
    if blank == Blank::One && !is_of_above || blank == Blank::Kept && had_blank {
        tidied.push('\n');
    }
    let mut was_blank = true;
    for line in lines {
        if !(line.is_empty() && was_blank) {
            tidied.push_str(line);
            tidied.push('\n');
        }
        was_blank = line.is_empty();
    }
    tidied
}

/// Returns the comment after a value, keeping at least two spaces, so that comments of several lines can be aligned.
fn spaced_comment(after: &str) -> String {
    match after.trim() {
        "" => String::new(),
        comment => {
            let spaces = after.len() - after.trim_start().len();
            format!("{}{comment}", " ".repeat(spaces.max(2)))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};
    use proptest::sample::select;
    use sheetport_records::RecordKind;

    use super::super::builtin::BUILT_IN;
    use super::super::skeleton::skeleton;
    use super::*;

    fn formatted(source: &str) -> String {
        format(&TomlFile { what: "template", name: "t", source }).expect("TOML")
    }

    #[test]
    fn built_in_templates_and_skeletons_are_formatted() {
        let skeletons: Vec<String> = RecordKind::ALL.iter().map(|kind| skeleton(kind.input())).collect();
        let all = BUILT_IN.iter().map(|(_, text)| *text).chain(skeletons.iter().map(String::as_str));
        for text in all {
            let result = formatted(text);
            for (line, (ours, theirs)) in (1..).zip(result.lines().zip(text.lines())) {
                assert_eq!(ours, theirs, "line {line}");
            }
            assert_eq!(result, text);
        }
    }

    #[test]
    fn tables_and_keys_are_sorted_with_their_comments() {
        let wrong = r#"# My template.

[[examples]]   # one
sends={externalId="1"}
row   =  {"A"="1",}



# The price.
[fields.price]
# Halves up.
round=2
column='Price'   # net
scale = 0.01
[fields.externalId]
  column = [ "A","B" ,]
pattern = "^\\d+$"
join.x = 1
[sheet]
locale="de"
name = "Prices"
"#;
        let right = r#"# My template.

sheetport = 1

[sheet]
name = "Prices"
locale = "de"

# The price.
[fields.price]
column = "Price"   # net
scale = 0.01
# Halves up.
round = 2

[fields.externalId]
column = ["A", "B"]
join.x = 1
pattern = '^\d+$'

[[examples]]   # one
row = { "A" = "1" }
sends = { externalId = "1" }
"#;
        assert_eq!(formatted(wrong), right);
        assert_eq!(formatted(right), right);
    }

    #[test]
    fn the_top_comment_and_line_endings_are_kept() {
        let wrong = "# For the shop.\n\n\n# What each row is.\nrecord = \"item\"\nextends = 'items'\n# End.\n\n";
        let right =
            "# For the shop.\n\nsheetport = 1\nextends = \"items\"\n# What each row is.\nrecord = \"item\"\n# End.\n";
        assert_eq!(formatted(wrong), right);
        let directive = formatted("#:schema ./s.json\n# Items.\nrecord = \"item\"\n");
        assert_eq!(directive, "#:schema ./s.json\n\nsheetport = 1\n# Items.\nrecord = \"item\"\n");
        assert_eq!(formatted(&wrong.replace('\n', "\r\n")), right.replace('\n', "\r\n"));
    }

    #[test]
    fn values_over_several_lines_keep_them() {
        let text =
            "sheetport = 1\n\n[fields.name]\ncolumn = [\n    \"A\", # first\n    \"B\",\n]\ntext = \"\"\"\na\n\"\"\"\n";
        assert_eq!(formatted(text), text);
    }

    proptest! {
        #[test]
        fn formatting_twice_changes_nothing_and_keeps_all_values(
            lines in proptest::collection::vec(select(vec![
                "# note", "#:schema x", "", "  # other  ", "record='item'", "description = \"a \\\"b\\\" \\\\ 'c'\"", "[sheet]", "[fields.name]",
                "[fields.price]", "trim=true", "column = [ 'A', \"B\" ]", "map = {a=\"x\",b = 'y'}", "[[examples]]",
                "[examples.row]", "sheetport=1", "header = [1,2]", "pattern = '''^\\d'''", "\"quoted key\" = 1.50 # end",
            ]), 0..14)
        ) {
            let source = lines.join("\n");
            if let Ok(values) = toml::from_str::<toml::Table>(&source) {
                let once = formatted(&source);
                prop_assert_eq!(&formatted(&once), &once);
                let mut values = values;
                values.entry("sheetport").or_insert(toml::Value::Integer(VERSION));
                prop_assert_eq!(toml::from_str::<toml::Table>(&once).ok(), Some(values));
                let comments = |text: &str| text.matches('#').count();
                prop_assert_eq!(comments(&once), comments(&source));
            }
        }
    }
}
