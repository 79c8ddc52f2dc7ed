//! Columns, conditions and order that a command line or a job names, as an export template.

use sheetport_documents::nearest;
use sheetport_mapping::language::Expression;
use sheetport_records::ListedField;

use super::model::{Column, ColumnSource, Field, Format, Formula, SortBy, SortKey, Template};

/// Columns, conditions, order and headers as written. A text may have several, with commas between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Fields, columns of the template, and computed columns as `name=expression`.
    pub columns: Vec<String>,
    /// Expressions, one in each text; all must hold.
    pub conditions: Vec<String>,
    /// Fields and computed columns; a minus before the name sorts from the highest.
    pub sort: Vec<String>,
    /// New headers, as `field=header`.
    pub renames: Vec<String>,
}

/// Why a choice is not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceError {
    /// The name of the flag, without dashes.
    pub flag: &'static str,
    pub message: String,
    pub hint: String,
}

const EXPRESSIONS: &str = "docs/expressions.md describes expressions; a field with such a name is written row['…']";

impl ChoiceError {
    fn new(flag: &'static str, message: impl Into<String>, hint: impl Into<String>) -> ChoiceError {
        ChoiceError { flag, message: message.into(), hint: hint.into() }
    }
}

impl Choice {
    /// Returns the template with this choice: its columns narrowed and in this order, further conditions, another order, other
    /// headers. `fields` are those of the contract. Returns `None` if there is neither.
    ///
    /// # Errors
    /// If a text can't be read, or names what can't exist.
    pub fn of(&self, template: Option<Template>, fields: &[ListedField]) -> Result<Option<Template>, ChoiceError> {
        if *self == Choice::default() {
            return Ok(template);
        }
        let mut template = template.unwrap_or_else(Template::of_everything);
        let mut demanded: Vec<String> = Vec::new();
        let columns =
            parts(&self.columns).map(|text| column(text, &template.columns)).collect::<Result<Vec<_>, _>>()?;
        if !self.columns.is_empty() {
            if columns.is_empty() {
                return Err(ChoiceError::new("columns", "--columns names no column", "such as id,name,price"));
            }
            template.columns = columns;
            template.others = false;
            demanded.extend(template.fields().map(|field| field.path.clone()));
            demanded.extend(template.computed().flat_map(Formula::paths).cloned());
        }
        let renames = parts(&self.renames).map(renamed).collect::<Result<Vec<_>, _>>()?;
        for text in &self.conditions {
            let condition = formula("where", text, text)?;
            demanded.extend(condition.paths().iter().cloned());
            template.conditions.push(condition);
        }
        if !self.sort.is_empty() {
            let sort = parts(&self.sort).map(|text| sort_by(text, &template.columns));
            template.sort = sort.collect::<Result<_, _>>()?;
            if template.sort.is_empty() {
                return Err(ChoiceError::new("sort", "--sort names no field", "such as -updated_at,name"));
            }
            demanded.extend(
                template
                    .sort
                    .iter()
                    .flat_map(|by| match &by.key {
                        SortKey::Field(path) => std::slice::from_ref(path),
                        SortKey::Computed(_, formula) => formula.paths(),
                    })
                    .cloned(),
            );
        }
        for (name, header) in renames {
            rename(&mut template, name, header, &mut demanded)?;
        }
        check_headers(&template, fields)?;
        demanded.retain(|path| !fields.iter().any(|field| field.name == path));
        demanded.sort();
        demanded.dedup();
        template.demanded = demanded;
        Ok(Some(template))
    }
}

/// Returns the column that a text names: a column of the template by its header or field, a field, or `name=expression`.
fn column(text: &str, of_template: &[Column]) -> Result<Column, ChoiceError> {
    if let Some(column) = of_template.iter().find(|column| column.name == text) {
        return Ok(column.clone());
    }
    if let Some((name, expression)) = assignment(text) {
        let name = header("columns", name)?;
        let formula = formula("columns", expression, text)?;
        return Ok(Column { name, source: ColumnSource::Computed(formula, Format::default()) });
    }
    let has_path = |column: &&Column| matches!(&column.source, ColumnSource::Field(field) if field.path == text);
    if let Some(column) = of_template.iter().find(has_path) {
        return Ok(column.clone());
    }
    let path = path("columns", text)?;
    let name = path.replace("\\.", ".");
    Ok(Column { name, source: ColumnSource::Field(Field { path, format: Format::default() }) })
}

fn formula(flag: &'static str, expression: &str, whole: &str) -> Result<Formula, ChoiceError> {
    let whole = whole.trim();
    let parsed = Expression::parse_condition(expression).map_err(|error| {
        let place = expression.get(error.range.clone()).map(str::trim);
        let place = place.filter(|place| !place.is_empty() && place.len() < expression.trim().len());
        let message = match place {
            Some(place) => format!("--{flag} can't be read: {}, at {place} in {whole}", error.message),
            None => format!("--{flag} can't be read: {}, in {whole}", error.message),
        };
        ChoiceError::new(flag, message, EXPRESSIONS)
    })?;
    Formula::new(expression.trim(), parsed).map_err(|(message, hint)| {
        ChoiceError::new(flag, format!("--{flag} can't be read: {message}, in {whole}"), hint)
    })
}

fn sort_by(text: &str, columns: &[Column]) -> Result<SortBy, ChoiceError> {
    let (name, descending) = text.strip_prefix('-').map_or((text, false), |name| (name.trim(), true));
    let path = path("sort", name)?;
    // A renamed column of a template sorts by its field.
    let of_column = columns.iter().find_map(|column| match &column.source {
        ColumnSource::Field(field) if column.name == path => Some(field.path.clone()),
        _ => None,
    });
    Ok(SortBy { key: SortKey::of(of_column.unwrap_or(path), columns), descending })
}

fn renamed(text: &str) -> Result<(&str, &str), ChoiceError> {
    assignment(text)
        .ok_or_else(|| ChoiceError::new("rename", format!("--rename {text} has no new name"), "such as price=Preis"))
}

/// Renames a column of the template, or a field in a table with all of them.
fn rename(template: &mut Template, name: &str, new: &str, demanded: &mut Vec<String>) -> Result<(), ChoiceError> {
    let new = header("rename", new)?;
    let is_named = |column: &&mut Column| {
        column.name == name || matches!(&column.source, ColumnSource::Field(field) if field.path == name)
    };
    if let Some(column) = template.columns.iter_mut().find(is_named) {
        column.name = new;
        return Ok(());
    }
    if !template.others {
        let names = template.columns.iter().map(|column| column.name.as_str());
        let nearest = nearest(name, names.clone()).map(|nearest| format!("did you mean {nearest}?"));
        let all = || format!("the columns are {}", names.collect::<Vec<_>>().join(", "));
        return Err(ChoiceError::new(
            "rename",
            format!("there is no column {name} to rename"),
            nearest.unwrap_or_else(all),
        ));
    }
    let path = path("rename", name)?;
    demanded.push(path.clone());
    template.renames.insert(path, new);
    Ok(())
}

/// Refuses two columns with the same name.
fn check_headers(template: &Template, fields: &[ListedField]) -> Result<(), ChoiceError> {
    let mut headers: Vec<&str> = template.columns.iter().map(|column| column.name.as_str()).collect();
    if template.columns.is_empty() {
        headers.extend(template.renames.values().map(String::as_str));
        let others = fields.iter().map(|field| field.name).filter(|name| !template.renames.contains_key(*name));
        headers.extend(others);
    }
    headers.sort_unstable();
    match headers.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => {
            let flag = if template.renames.is_empty() { "columns" } else { "rename" };
            let message = format!("two columns are called '{}'", pair[0]);
            Err(ChoiceError::new(flag, message, "give one of them another name"))
        }
    }
}

fn header(flag: &'static str, name: &str) -> Result<String, ChoiceError> {
    match name.is_empty() {
        true => Err(ChoiceError::new(flag, "the name of a column cannot be blank", "write the header")),
        false => Ok(name.to_owned()),
    }
}

fn path(flag: &'static str, path: &str) -> Result<String, ChoiceError> {
    match path.starts_with('-') || path.split('.').any(|name| name.trim().is_empty()) {
        true => Err(ChoiceError::new(
            flag,
            format!("--{flag} has an empty field name: '{path}'"),
            "such as price or address.city; a dot within a name is written \\.",
        )),
        false => Ok(path.to_owned()),
    }
}

/// Splits a text at its first `=` that does not belong to a comparison and is not in quotes.
fn assignment(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let at = outside(text).find(|at| {
        let beside = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied();
        bytes.get(*at) == Some(&b'=')
            && beside(at.checked_add(1)) != Some(b'=')
            && !matches!(beside(at.checked_sub(1)), Some(b'=' | b'!' | b'<' | b'>'))
    })?;
    Some((text.get(..at)?.trim(), text.get(at + 1..)?.trim()))
}

/// Returns the parts of texts between commas, without those in quotes and brackets.
fn parts(texts: &[String]) -> impl Iterator<Item = &str> {
    texts.iter().flat_map(|text| {
        let mut parts = Vec::new();
        let mut start = 0;
        for at in outside(text).filter(|at| text.as_bytes().get(*at) == Some(&b',')) {
            parts.extend(text.get(start..at));
            start = at + 1;
        }
        parts.extend(text.get(start..));
        parts.into_iter().map(str::trim).filter(|part| !part.is_empty())
    })
}

/// Returns the positions of a text outside of quotes and brackets. A quote within a word, as in `Supplier's`, is none.
fn outside(text: &str) -> impl Iterator<Item = usize> {
    let mut quote = None;
    let mut depth = 0_u32;
    let mut is_after_word = false;
    let mut is_escaped = false;
    text.char_indices().filter_map(move |(at, c)| {
        let was_after_word = std::mem::replace(&mut is_after_word, c.is_alphanumeric());
        match (quote, c) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if !was_after_word => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 => return Some(at),
            (None, _) => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[ListedField] = &[ListedField::text("id"), ListedField::text("name"), ListedField::number("price")];

    fn choice(columns: &[&str], conditions: &[&str], sort: &[&str], renames: &[&str]) -> Choice {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Choice { columns: texts(columns), conditions: texts(conditions), sort: texts(sort), renames: texts(renames) }
    }

    fn read(choice: &Choice, template: Option<&str>) -> Result<Template, ChoiceError> {
        let template = template.map(|source| {
            super::super::load("t.toml", source, &["items"]).unwrap_or_else(|mistakes| panic!("{mistakes}"))
        });
        choice.of(template, FIELDS).map(|template| template.unwrap_or_else(Template::of_everything))
    }

    fn names(template: &Template) -> Vec<&str> {
        template.columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn columns_are_fields_and_expressions_between_commas() {
        let wanted = choice(
            &["id, Custom field,address.city", "margin=first_of(price, 0) - cost,is_x=name == 'a,b=c'"],
            &[],
            &[],
            &[],
        );
        let template = read(&wanted, None).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(names(&template), ["id", "Custom field", "address.city", "margin", "is_x"]);
        assert_eq!(template.demanded, ["Custom field", "address.city", "cost"]);
        let sources: Vec<&str> = template.computed().map(|formula| formula.source.as_str()).collect();
        assert_eq!(sources, ["first_of(price, 0) - cost", "name == 'a,b=c'"]);
    }

    #[test]
    fn columns_of_a_template_are_chosen_by_header_or_field() {
        let source = "where = 'price > 1'\nsort = ['name']\n[[columns]]\nfield = 'price'\nname = 'Preis'\ndecimals = 2\n[[columns]]\nfield = 'name'\nname = 'Artikel'";
        let wanted = choice(&["id", "price,Artikel"], &["name != ''"], &["-Preis"], &["Preis=Price, net"]);
        let refused = read(&wanted, Some(source)).expect_err("a comma in a header");
        assert_eq!(refused.message, "--rename net has no new name");
        let wanted = choice(&["id", "price,Artikel"], &["name != ''"], &["-Preis"], &["Preis=net"]);
        let template = read(&wanted, Some(source)).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(names(&template), ["id", "net", "Artikel"]);
        assert_eq!(template.conditions.len(), 2);
        assert!(
            matches!(&template.sort[..], [SortBy { key: SortKey::Field(path), descending: true }] if path == "price")
        );
        assert!(matches!(&template.columns[1].source, ColumnSource::Field(field) if field.format.decimals == Some(2)));
    }

    #[test]
    fn what_can_not_be_is_refused() {
        for (columns, conditions, sort, renames, message) in [
            ("", "", "", "prize=x", "there is no column prize to rename"),
            ("id,id", "", "", "", "two columns are called 'id'"),
            ("a..b", "", "", "", "--columns has an empty field name: 'a..b'"),
            ("=price", "", "", "", "the name of a column cannot be blank"),
            (",", "", "", "", "--columns names no column"),
            ("", "price >", "", "", "--where can't be read: something is missing after this, at > in price >"),
            (
                "",
                "cell('A1') > 1",
                "",
                "",
                "--where can't be read: an export has neither parameters nor cells, in cell('A1') > 1",
            ),
            ("", "", "", "price", "--rename price has no new name"),
        ] {
            let text = |text: &'static str| if text.is_empty() { vec![] } else { vec![text] };
            let wanted = choice(&text(columns), &text(conditions), &text(sort), &text(renames));
            let wanted = match renames.starts_with("prize") {
                true => Choice { columns: vec!["price".to_owned()], ..wanted },
                false => wanted,
            };
            assert_eq!(read(&wanted, None).expect_err(message).message, message);
        }
        let refused = read(&choice(&[], &[], &[], &["price=name"]), None).expect_err("taken");
        assert_eq!((refused.flag, refused.message.as_str()), ("rename", "two columns are called 'name'"));
    }

    #[test]
    fn any_field_can_be_renamed_and_computed_columns_sort() {
        let template = read(&choice(&[], &[], &[], &["price=Preis", "Farbe=Color"]), None).expect("read");
        assert!(template.others && template.columns.is_empty());
        assert_eq!(template.demanded, ["Farbe"]);
        let template = read(&choice(&["id", "margin=price - cost"], &[], &["-margin,name"], &[]), None).expect("read");
        assert!(matches!(&template.sort[0].key, SortKey::Computed(name, _) if name == "margin"));
    }
}
