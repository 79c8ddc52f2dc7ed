//! Changes of a template made on the page. The rest of the text, including comments, stays unchanged.

use sheetport_findings::Code;
use sheetport_records::{Field, JsonType, RecordKind};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use super::column_key::ColumnKey;
use super::skip_where::{self, unsuitable};
use crate::error::Error;

/// Keys of a field that name the source of its value.
const SOURCES: [&str; 6] = ["column", "columns", "join", "text", "value", "guess"];

/// A change of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateEdit {
    /// Reads a field, such as `price` or `lines.price`, from a column.
    Column { field: String, column: ColumnKey },
    /// Sets a field to the same text in every record.
    Constant { field: String, value: String },
    /// Leaves a field out.
    Remove { field: String },
    /// Confirms the guess of a field, of the columns of the group, or of the kind of record.
    Confirm { field: String },
    /// Confirms all guesses.
    ConfirmAll,
    /// The row with the names of the columns.
    Header(u64),
    /// How the sheet writes numbers and dates; `auto` lets every column decide.
    Locale(String),
    /// The time zone of times without a zone.
    TimeZone(String),
    /// How a field writes dates.
    DateFormat { field: String, format: String },
    /// Replaces the matches of a pattern in the cells of a field. `$` refers to a group of the pattern.
    Replace { field: String, pattern: String, with: String },
    /// Removes spaces around the cells of a field.
    Trim { field: String },
    /// The value of a field whose cell is blank.
    Default { field: String, value: String },
    /// Takes the value above for blank cells of a column.
    FillDown(ColumnKey),
    /// Additionally leaves out rows with one of these texts in a column.
    SkipWhere { column: ColumnKey, texts: Vec<String> },
    /// Selects the record to send among several records with the same number.
    Duplicates(&'static str),
    /// Answers a question with yes.
    Accept(Code),
}

/// The pseudo field of the group's columns.
const GROUP: &str = "group";
/// The pseudo field of the kind of record, and the key that marks it as a guess.
const RECORD: &str = "record";
const RECORD_GUESS: &str = "record_guess";

impl TemplateEdit {
    pub(crate) fn replace(field: &str, pattern: &str, with: &str) -> TemplateEdit {
        TemplateEdit::Replace { field: field.to_owned(), pattern: pattern.to_owned(), with: with.to_owned() }
    }

    /// Whether other values may be sent afterwards.
    pub(super) fn changes_values(&self) -> bool {
        !matches!(self, TemplateEdit::Confirm { .. } | TemplateEdit::ConfirmAll | TemplateEdit::Accept(_))
    }

    /// Returns the changed text.
    pub(super) fn apply(&self, toml: &str) -> Result<String, Error> {
        let mut document = parse(toml)?;
        match self {
            TemplateEdit::Column { field, column } => {
                let table = field_table(&mut document, field)?;
                SOURCES.iter().for_each(|key| drop(table.remove(key)));
                table.insert("column", Item::Value(column.to_value()));
            }
            TemplateEdit::Constant { field, value } => {
                let table = field_table(&mut document, field)?;
                table.clear();
                table.insert("value", toml_edit::value(value));
            }
            TemplateEdit::Remove { field } => remove(&mut document, field),
            TemplateEdit::Confirm { field } if field == GROUP => {
                drop(document.get_mut(GROUP).and_then(Item::as_table_like_mut).map(|group| group.remove("guess")));
            }
            TemplateEdit::Confirm { field } if field == RECORD => drop(document.remove(RECORD_GUESS)),
            TemplateEdit::Confirm { field } => drop(field_table(&mut document, field)?.remove("guess")),
            TemplateEdit::ConfirmAll => confirm_all(&mut document),
            TemplateEdit::Header(row) => {
                let row = i64::try_from(*row).unwrap_or(i64::MAX);
                table_of(document.as_table_mut(), "sheet")?.insert("header", toml_edit::value(row));
            }
            TemplateEdit::Locale(locale) => {
                table_of(document.as_table_mut(), "sheet")?.insert("locale", toml_edit::value(locale));
            }
            TemplateEdit::TimeZone(zone) => {
                table_of(document.as_table_mut(), "sheet")?.insert("time_zone", toml_edit::value(zone));
            }
            TemplateEdit::DateFormat { field, format } => {
                field_table(&mut document, field)?.insert("format", toml_edit::value(format));
            }
            TemplateEdit::Replace { field, pattern, with } => {
                add_replacement(field_table(&mut document, field)?, pattern, with);
            }
            TemplateEdit::Trim { field } => {
                field_table(&mut document, field)?.insert("trim", toml_edit::value(true));
            }
            TemplateEdit::Default { field, value } => {
                let table = field_table(&mut document, field)?;
                table.insert("on_blank", toml_edit::value("default"));
                table.insert("default", toml_edit::value(typed(field, value)));
            }
            TemplateEdit::FillDown(column) => add_fill_down(table_of(document.as_table_mut(), "sheet")?, column)?,
            TemplateEdit::SkipWhere { column, texts } => {
                skip_where::add(table_of(document.as_table_mut(), "sheet")?, column, texts)?;
            }
            TemplateEdit::Duplicates(which) => set_before_tables(&mut document, "duplicates", which),
            TemplateEdit::Accept(code) => accept(&mut document, *code)?,
        }
        Ok(document.to_string())
    }
}

fn parse(toml: &str) -> Result<DocumentMut, Error> {
    toml.parse().map_err(|error: toml_edit::TomlError| {
        Error::invalid(format!("the template is not valid: {}", error.message()), "correct its text first")
    })
}

/// Returns the text of a template without its examples.
pub(super) fn without_examples(toml: &str) -> Result<String, Error> {
    let mut document = parse(toml)?;
    document.remove("examples");
    Ok(document.to_string())
}

/// Returns the name of the table of a field, and the name of the field in this table.
fn place(field: &str) -> (&'static str, &str) {
    match field.strip_prefix("lines.") {
        Some(field) => ("lines", field),
        None => ("fields", field),
    }
}

fn field_table<'d>(document: &'d mut DocumentMut, field: &str) -> Result<&'d mut Table, Error> {
    let (table, name) = place(field);
    let parent = table_of(document.as_table_mut(), table)?;
    parent.set_implicit(true);
    table_of(parent, name)
}

/// Returns a table, and creates it if needed. An inline table becomes a table with its own header.
fn table_of<'t>(parent: &'t mut Table, name: &str) -> Result<&'t mut Table, Error> {
    let item = parent.entry(name).or_insert_with(|| Item::Table(Table::new()));
    if let Item::Value(Value::InlineTable(_)) = item
        && let Item::Value(Value::InlineTable(inline)) = std::mem::take(item)
    {
        *item = Item::Table(inline.into_table());
    }
    let wrong = || Error::invalid(format!("{name} of the template is not a table"), "correct the text of the template");
    item.as_table_mut().ok_or_else(wrong)
}

fn remove(document: &mut DocumentMut, field: &str) {
    let (table, name) = place(field);
    if let Some(fields) = document.get_mut(table).and_then(Item::as_table_like_mut) {
        fields.remove(name);
        if fields.is_empty() {
            document.remove(table);
        }
    }
}

fn confirm_all(document: &mut DocumentMut) {
    document.remove(RECORD_GUESS);
    for table in ["fields", "lines"] {
        let Some(fields) = document.get_mut(table).and_then(Item::as_table_like_mut) else { continue };
        for (_, field) in fields.iter_mut() {
            drop(field.as_table_like_mut().map(|field| field.remove("guess")));
        }
    }
    drop(document.get_mut(GROUP).and_then(Item::as_table_like_mut).map(|group| group.remove("guess")));
}

/// Returns a value with the type of the field: numbers and booleans are written without quotes.
fn typed(field: &str, text: &str) -> Value {
    let name = place(field).1;
    let of = |field: &&'static Field| field.name == name;
    let inputs = RecordKind::ALL.iter().map(|kind| kind.input());
    let found =
        inputs.flat_map(|input| input.mappable().chain(input.lines().map_or(&[][..], |(_, fields)| fields))).find(of);
    let bare = match found.map(|field| &field.json) {
        Some(JsonType::Number | JsonType::Integer | JsonType::Boolean) => text.parse::<Value>().ok(),
        _ => None,
    };
    bare.unwrap_or_else(|| text.into())
}

/// Sets a key of the template as a whole.
fn set_before_tables(document: &mut DocumentMut, key: &str, text: &str) {
    document.insert(key, toml_edit::value(text));
}

fn accept(document: &mut DocumentMut, code: Code) -> Result<(), Error> {
    let mut codes = match document.remove("accept") {
        None => Array::new(),
        Some(Item::Value(Value::Array(codes))) => codes,
        Some(_) => return Err(unsuitable("accept")),
    };
    if !codes.iter().any(|known| known.as_str() == Some(code.name())) {
        codes.push(code.name());
    }
    document.insert("accept", toml_edit::value(codes));
    Ok(())
}

fn add_fill_down(sheet: &mut Table, column: &ColumnKey) -> Result<(), Error> {
    let columns = match sheet.remove("fill_down") {
        None => Array::from_iter([column.to_value()]),
        Some(Item::Value(Value::Array(mut columns))) => {
            columns.push(column.to_value());
            columns
        }
        Some(Item::Value(one @ (Value::String(_) | Value::Integer(_)))) => Array::from_iter([one, column.to_value()]),
        Some(_) => return Err(unsuitable("fill_down")),
    };
    sheet.insert("fill_down", toml_edit::value(columns));
    Ok(())
}

/// Adds a replacement to the existing replacements of a field.
fn add_replacement(table: &mut Table, pattern: &str, with: &str) {
    let mut replacement = InlineTable::new();
    replacement.insert("pattern", pattern.into());
    replacement.insert("with", with.into());
    let known = table.remove("replace");
    let mut all = match known {
        Some(Item::Value(Value::Array(all))) => all,
        Some(Item::Value(one @ Value::InlineTable(_))) => Array::from_iter([one]),
        _ => Array::new(),
    };
    all.push(replacement);
    table.insert("replace", toml_edit::value(all));
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = "sheetport = 1\nrecord = \"item\"\n\n[sheet]\nheader = \"auto\"\n\n# The number.\n[fields.externalId]\n\
                            column = \"SKU\"\nguess = true\n\n[fields.name]\ncolumn = \"Name\"\n";

    #[track_caller]
    pub(super) fn check(edit: &TemplateEdit, expected: &str) {
        let toml = edit.apply(TEMPLATE).expect("valid TOML");
        assert!(toml.contains(expected), "{toml}");
        assert!(toml.contains("# The number."), "{toml}");
        sheetport_mapping::load::load("t.toml", &toml, &sheetport_mapping::load::no_tables).expect("a valid template");
    }

    #[test]
    fn edits_keep_the_rest_of_the_text() {
        let field = |name: &str| name.to_owned();
        let column = ColumnKey::Name("Art. \"no\"".to_owned());
        check(
            &TemplateEdit::Column { field: field("externalId"), column },
            "[fields.externalId]\ncolumn = 'Art. \"no\"'\n",
        );
        check(
            &TemplateEdit::Column { field: field("price"), column: ColumnKey::Number(4) },
            "[fields.price]\ncolumn = 4\n",
        );
        check(
            &TemplateEdit::Constant { field: field("currency"), value: "EUR".to_owned() },
            "[fields.currency]\nvalue = \"EUR\"\n",
        );
        check(&TemplateEdit::ConfirmAll, "column = \"SKU\"\n\n[fields.name]");
        check(&TemplateEdit::Confirm { field: field("externalId") }, "column = \"SKU\"\n\n[fields.name]");
        check(&TemplateEdit::Header(3), "[sheet]\nheader = 3\n");
        check(&TemplateEdit::Locale("de".to_owned()), "locale = \"de\"\n");
        check(&TemplateEdit::TimeZone("Europe/Berlin".to_owned()), "time_zone = \"Europe/Berlin\"\n");
        let replace = TemplateEdit::replace("name", r"^a\.b $", "$$1");
        check(&replace, r#"replace = [{ pattern = '^a\.b $', with = "$$1" }]"#);
        check(&TemplateEdit::Trim { field: field("name") }, "trim = true\n");
        let default = |name: &str, value: &str| TemplateEdit::Default { field: field(name), value: value.to_owned() };
        check(&default("name", "1"), "on_blank = \"default\"\ndefault = \"1\"\n");
        check(&TemplateEdit::FillDown(ColumnKey::Name("Name".to_owned())), "fill_down = [\"Name\"]\n");
        check(&TemplateEdit::Accept(Code::Selector), "record = \"item\"\naccept = [\"selector\"]\n\n[sheet]");
        check(&TemplateEdit::Duplicates("last"), "record = \"item\"\nduplicates = \"last\"\n\n[sheet]");
    }

    #[test]
    fn rows_to_leave_out_are_added() {
        let skip = |texts: &[&str]| TemplateEdit::SkipWhere {
            column: ColumnKey::Name("Name".to_owned()),
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        };
        check(&skip(&["Total", ""]), r"matches = '^\s*(?:Total|)\s*$'");
        for (known, expected) in [
            (r#"{ column = "Name", matches = "^Sum" }"#, r"matches = '(?:^Sum)|(?:^\s*(?:a\.b|c)\s*$)'"),
            (
                r#"{ column = "SKU", matches = "^Sum" }"#,
                r#"[{ column = "SKU", matches = "^Sum" }, { column = "Name", matches = '^\s*(?:a\.b|c)\s*$' }]"#,
            ),
            (r#""SKU == 'x'""#, r#"["SKU == 'x'", { column = "Name", matches = '^\s*(?:a\.b|c)\s*$' }]"#),
            (
                r#"[{ column = "Name", matches = "^Sum", because = "a total" }]"#,
                r#"because = "a total" }, { column = "Name", matches = '^\s*(?:a\.b|c)\s*$' }]"#,
            ),
            (
                r#"["SKU == 'x'", { column = "Name", matches = "^Sum" }]"#,
                r"matches = '(?:^Sum)|(?:^\s*(?:a\.b|c)\s*$)'",
            ),
        ] {
            let template = TEMPLATE.replace("header = \"auto\"", &format!("header = \"auto\"\nskip_where = {known}"));
            let toml = skip(&["a.b", "c"]).apply(&template).expect("valid TOML");
            assert!(toml.contains(expected), "{toml}");
            sheetport_mapping::load::load("t.toml", &toml, &sheetport_mapping::load::no_tables)
                .expect("a valid template");
        }
    }

    #[test]
    fn defaults_have_the_type_of_their_field() {
        for (field, text, expected) in
            [("price", "1.50", "1.50"), ("name", "1.50", "\"1.50\""), ("price", "none", "\"none\"")]
        {
            assert_eq!(typed(field, text).to_string().trim(), expected, "{field} {text}");
        }
    }

    #[test]
    fn a_field_is_removed() {
        let toml = TemplateEdit::Remove { field: "name".to_owned() }.apply(TEMPLATE).expect("valid TOML");
        assert!(!toml.contains("[fields.name]"), "{toml}");
    }
}
