//! How much of a sheet built-in templates can use, judged by the names of columns alone: reading a template and binding it takes many
//! times as long, and most sheets have the columns of few.

use std::collections::HashSet;

use sheetport_sheet::Row;
use sheetport_sheet::cell::column_index;
use sheetport_sheet::read::header::without_mark;
use sheetport_values::currency;

use super::column_name::folded_header;
use super::header_names::loose;

/// The first rows of a sheet, each of which may be the header.
#[derive(Debug)]
pub struct TopNames {
    rows: Vec<Vec<Name>>,
    /// The first and the last letter of all names in the forms that are compared.
    edges: Edges,
}

/// Pairs of letters and digits, a bit for each.
#[derive(Debug)]
struct Edges([u64; 26]);

impl Edges {
    fn place((first, last): (u8, u8)) -> (usize, u64) {
        let nth = |byte: u8| if byte.is_ascii_digit() { byte - b'0' } else { 10 + (byte - b'a') % 26 };
        let place = usize::from(nth(first)) * 36 + usize::from(nth(last));
        (place / 64, 1 << (place % 64))
    }

    fn of(all: impl Iterator<Item = (u8, u8)>) -> Edges {
        let mut edges = Edges([0; 26]);
        all.map(Edges::place).for_each(|(word, bit)| edges.0[word] |= bit);
        edges
    }

    fn has(&self, edges: (u8, u8)) -> bool {
        let (word, bit) = Edges::place(edges);
        self.0[word] & bit != 0
    }
}

/// A cell as the name of a column.
#[derive(Debug)]
struct Name {
    folded: String,
    loose: String,
    /// Whether the name of an amount may be meant, with a currency beside it.
    has_currency: bool,
}

impl TopNames {
    pub fn new(top: &[Row]) -> TopNames {
        let name = |text: &str| Name {
            folded: folded_header(text),
            loose: loose(text),
            has_currency: currency::without_currency(text).is_some(),
        };
        let names = |row: &Row| row.cells().map(|cell| name(without_mark(&cell.shown()))).collect();
        let rows: Vec<Vec<Name>> = top.iter().map(names).collect();
        let forms = rows.iter().flatten().flat_map(|name| [&name.folded, &name.loose]);
        TopNames { edges: Edges::of(forms.filter_map(|form| edges(form))), rows }
    }

    /// Returns the number of columns that the built-in template with this TOML can use at most.
    pub fn usable(&self, source: &str) -> usize {
        // Folding all texts of all templates would take longer than checking a small sheet.
        let may_be_name = |text: &&str| edges(text).is_none_or(|edges| self.edges.has(edges));
        let names = texts(source).filter(may_be_name).flat_map(|text| [folded_header(text), loose(text)]);
        let names: HashSet<String> = names.collect();
        let letters: HashSet<usize> = texts(source).filter_map(column_index).collect();
        let is_usable = |(index, name): &(usize, &Name)| {
            !name.folded.is_empty()
                && (name.has_currency
                    || names.contains(&name.folded)
                    || names.contains(&name.loose)
                    || letters.contains(index))
        };
        let usable = self.rows.iter().map(|row| row.iter().enumerate().filter(is_usable).count());
        usable.max().unwrap_or(0)
    }
}

/// Returns the first and the last letter of a text in lower case, which are those of all its forms. `None` if folding may change them:
/// for signs, such as those of a required column, and letters of other alphabets.
fn edges(text: &str) -> Option<(u8, u8)> {
    let bytes = text.trim_ascii().as_bytes();
    let (first, last) = (bytes.first()?, bytes.last()?);
    (first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric())
        .then(|| (first.to_ascii_lowercase(), last.to_ascii_lowercase()))
}

/// Returns all texts between quotes of either kind, those of expressions, too, and whatever is between these texts.
fn texts(source: &str) -> impl Iterator<Item = &str> {
    source.split('"').chain(source.split('\'')).filter(|text| !text.contains('\n'))
}

#[cfg(test)]
mod tests {
    use super::super::builtin::{BUILT_IN, find};
    use super::super::load::{load, no_tables};
    use super::super::model::{ColumnName, HeaderRow, LINE_NUMBER};
    use super::*;

    /// The names of a built-in template are found without reading it.
    #[test]
    fn every_name_of_a_built_in_template_is_a_text_of_it() {
        for (template, source) in BUILT_IN {
            let found: HashSet<&str> = texts(source).collect();
            let template = load(template, source, &no_tables).expect("a built-in template");
            assert!(
                matches!(template.sheet.header, HeaderRow::Auto) && template.unpivot.is_none(),
                "{}",
                template.name
            );
            let rules = template.rules().flat_map(|rule| rule.source.columns());
            let tests = template.sheet.row_tests().flat_map(|test| test.columns());
            let mut names: Vec<ColumnName> = rules.chain(tests).flatten().collect();
            names.extend(template.sheet.ignored.iter().cloned());
            names.extend(template.group.iter().flat_map(|group| group.by.iter().flatten().cloned()));
            if let Some(fill) = &template.sheet.fill_down {
                names.extend(fill.columns.iter().chain(fill.within.iter().flatten()).cloned());
            }
            for name in &names {
                let text = name.name().expect("built-in templates count no columns");
                assert!(found.contains(text) && !text.contains(LINE_NUMBER), "{}: {text}", template.name);
            }
        }
    }

    #[test]
    fn columns_are_counted_in_any_spelling_and_with_a_currency() {
        let row = |number: u64, cells: &str| {
            let mut row = Row::default();
            row.clear(number);
            cells.split('|').for_each(|cell| row.push(sheetport_sheet::Cell::Text(cell)));
            row
        };
        let top = [row(1, "Prices of March"), row(2, "SKU*|ITEM NAME|Price (EUR)|Shelf"), row(3, "A-1|Bolt|1.50|7")];
        let source = find("items").expect("a template");
        assert_eq!(TopNames::new(&top).usable(source), 3);
        assert_eq!(TopNames::new(&top[..1]).usable(source), 0);
        assert_eq!(TopNames::new(&[]).usable(source), 0);
    }
}
