//! The examples of docs/expressions.md.

use std::collections::HashMap;

use super::super::functions::find;
use super::*;

const PAGE: &str = include_str!("../../../../../docs/expressions.md");

/// The row of the page's examples, with numbers and dates as in a workbook.
struct PageRow<'e> {
    columns: &'e [String],
    cells: &'e HashMap<&'static str, &'static str>,
}

impl Context for PageRow<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>, String> {
        let name = self.columns[column].as_str();
        let text = *self.cells.get(name).ok_or_else(|| format!("the page has no column {name}"))?;
        Ok(match (decimal::parse(text), text.parse()) {
            (Ok(number), _) => Value::Number(number),
            (_, Ok(date)) => Value::Date(date),
            _ if text.is_empty() => Value::Blank,
            _ => Value::Text(text.into()),
        })
    }

    fn amount(&self, column: usize) -> Result<(Decimal, Option<CurrencyMark>), String> {
        let text = self.value(column)?.text().into_owned();
        let number = number::parse(&text, locale::find("de"), None).map_err(|error| format!("'{text}' {error}"))?;
        Ok((number, None))
    }

    fn today(&self) -> Option<civil::Date> {
        Some(civil::date(2026, 2, 1))
    }

    fn row_number(&self) -> Option<u64> {
        Some(2)
    }

    fn sheet_name(&self) -> Option<&str> {
        Some("Prices")
    }

    fn file_name(&self) -> Option<&str> {
        Some("prices.xlsx")
    }

    fn cell(&self, _: FixedCell) -> Option<Value<'_>> {
        Some(Value::Text("Main store".into()))
    }

    fn parameter(&self, _: &str) -> Option<Value<'_>> {
        Some(Value::Text("W1".into()))
    }
}

/// Returns the cells of each row of a table, without back quotes.
fn table(heading: &str) -> Vec<Vec<&'static str>> {
    let from = PAGE.find(heading).unwrap_or_else(|| panic!("docs/expressions.md has no table {heading}"));
    let rows = PAGE[from..].lines().take_while(|line| line.starts_with('|'));
    let cell = |cell: &'static str| cell.trim().trim_matches('`');
    rows.map(|row| {
        let mut cells = Vec::new();
        let mut start = 1;
        for (at, _) in row.match_indices('|').skip(1) {
            if !row[..at].ends_with('\\') {
                cells.push(cell(&row[start..at]));
                start = at + 1;
            }
        }
        cells
    })
    .collect()
}

#[test]
fn every_example_of_the_page_has_the_result_that_it_says() {
    let row = table("| Name | ");
    let cells: HashMap<&str, &str> = row[0].iter().copied().zip(row[2].iter().copied()).collect();
    let mut checked = 0;
    for heading in ["| expression |", "| function of"] {
        let mut rest = PAGE;
        while let Some(at) = rest.find(heading) {
            let lines: Vec<&str> = rest[at..].lines().next().into_iter().collect();
            for example in table(lines[0]).iter().skip(2) {
                let source = example[0].replace("\\|", "|");
                let expression = Expression::parse(&format!("{{{{ {source} }}}}")).expect(&source);
                let row = PageRow { columns: expression.columns(), cells: &cells };
                let result = expression.eval(&row);
                assert_eq!(result.map(|value| value.text().into_owned()).as_deref(), Ok(example[1]), "{source}");
                checked += 1;
            }
            rest = &rest[at + heading.len()..];
        }
    }
    assert!(checked > FUNCTIONS.len());
}

#[test]
fn every_function_is_on_the_page_and_has_a_valid_usage() {
    for function in FUNCTIONS {
        let written = match function.form {
            Form::Piped => format!("\\| {}", function.name),
            Form::Direct | Form::Either => format!("`{}(", function.name),
        };
        assert!(PAGE.contains(&written), "docs/expressions.md has no {written}");
        let usage = Expression::parse(&format!("{{{{ {} }}}}", function.usage));
        assert!(usage.is_ok() && function.usage.contains(function.name), "{}", function.name);
        assert!(find(function.name).is_some_and(|found| std::ptr::eq(found, function)), "{}", function.name);
    }
}
