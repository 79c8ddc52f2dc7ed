//! Parsed expressions and their evaluation.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Object, Value};
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior};

use super::error::ExpressionError;
use super::functions::{self, MAX_LENGTH};
use super::rewrite::{self, Rewritten};

/// Maximum number of evaluation steps, far more than any expression needs.
const FUEL: u64 = 20_000;
/// The name of the expression inside minijinja.
const NAME: &str = "text";

/// A parsed expression.
pub struct Expression {
    environment: Environment<'static>,
    rewritten: Rewritten,
}

/// The texts of a row's cells by column number.
#[derive(Debug)]
struct Cells(Vec<Value>);

impl Expression {
    /// Parses an expression. Fails for unsupported syntax.
    pub fn parse(source: &str) -> Result<Expression, ExpressionError> {
        let rewritten = rewrite::rewrite(source)?;
        let mut environment = Environment::empty();
        environment.set_syntax(
            SyntaxConfig::builder().keep_trailing_newline(true).build().expect("the default syntax is valid"),
        );
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_fuel(Some(FUEL));
        environment.set_debug(true);
        environment
            .set_formatter(|out, _, value| functions::result_text(value).and_then(|text| Ok(out.write_str(&text)?)));
        functions::register(&mut environment, &Arc::new(rewritten.constants.clone()));
        match environment.add_template_owned(NAME, rewritten.source.clone()) {
            Ok(()) => Ok(Expression { environment, rewritten }),
            Err(error) => Err(rewritten.convert_error(&error)),
        }
    }

    /// Returns the names of the columns, each once.
    pub fn columns(&self) -> &[String] {
        &self.rewritten.columns
    }

    /// Returns the first range of each of [`Expression::columns`] in the source.
    pub(crate) fn column_ranges(&self) -> &[Range<usize>] {
        &self.rewritten.column_ranges
    }

    /// Appends the text for a row to `out`. `values` takes an index of [`Expression::columns`] and
    /// returns the cell's text. On error, `out` is unchanged.
    pub fn eval<'v>(&self, values: &dyn Fn(usize) -> Cow<'v, str>, out: &mut String) -> Result<(), ExpressionError> {
        let mut cells = Vec::with_capacity(self.columns().len());
        for index in 0..self.columns().len() {
            let value = values(index);
            if value.len() > MAX_LENGTH {
                let message = format!("the cell in the column '{}' has more than 32 KiB", self.columns()[index]);
                return Err(ExpressionError::new(message, self.column_ranges()[index].clone()));
            }
            cells.push(Value::from(value.as_ref()));
        }
        let template = self.environment.get_template(NAME).map_err(|error| self.rewritten.convert_error(&error))?;
        let text =
            template.render(Value::from_object(Cells(cells))).map_err(|error| self.rewritten.convert_error(&error))?;
        if text.contains(functions::LIST) {
            return Err(ExpressionError::new(functions::CHOOSE_PART, 0..self.rewritten.length));
        }
        if text.len() > MAX_LENGTH {
            return Err(ExpressionError::new("the text is longer than 32 KiB", 0..self.rewritten.length));
        }
        out.push_str(&text);
        Ok(())
    }
}

impl Object for Cells {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let index: usize = key.strip_prefix(rewrite::PREFIX)?.parse().ok()?;
        self.0.get(index).cloned()
    }
}

impl Rewritten {
    /// Converts an error of minijinja, with a range in the original source.
    fn convert_error(&self, error: &minijinja::Error) -> ExpressionError {
        let message = match (error.kind(), functions::message(error)) {
            (_, Some(message)) => message,
            (ErrorKind::UndefinedError, _) => functions::NO_PART,
            (ErrorKind::OutOfFuel, _) => "this takes too many steps",
            (ErrorKind::SyntaxError, _) => "something is missing or misplaced here",
            _ => "this can't be evaluated",
        };
        ExpressionError::new(message, self.original_range(error.range()))
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.rewritten.source).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::super::catalog::{FUNCTIONS, Function};
    use super::*;

    const ROW: &[(&str, &str)] = &[
        ("Name", "Hex bolt"),
        ("Size", "M8"),
        ("Item no.", "AB-0042-x"),
        ("Price", "12.50"),
        ("Betrag", "1.234,50"),
        ("Date", "31.12.2025"),
        ("Größe", "größer als \"8\""),
        ("Blank", ""),
        ("Spaces", "  two  words "),
    ];

    fn eval(source: &str) -> Result<String, ExpressionError> {
        let expression = Expression::parse(source)?;
        let mut out = "=".to_owned();
        let value = |index: usize| {
            let column = &expression.columns()[index];
            let found = ROW.iter().find(|(name, _)| name == column);
            Cow::Borrowed(found.unwrap_or_else(|| panic!("a column '{column}'")).1)
        };
        expression.eval(&value, &mut out)?;
        Ok(out[1..].to_owned())
    }

    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(eval(source).as_deref(), Ok(expected), "{source}");
    }

    /// Checks the message and the text that it points at.
    #[track_caller]
    fn check_error(source: &str, at: &str, message: &str) {
        let error = eval(source).expect_err(source);
        assert!(error.message.contains(message), "{source}: {error}");
        assert_eq!(source.get(error.range.clone()), Some(at), "{source}: {error}");
        for jargon in ["jinja", "filter", "variable", "undefined", "token", "block end"] {
            assert!(!error.message.to_lowercase().contains(jargon), "{source}: {error}");
        }
    }

    #[test]
    fn columns_are_joined() {
        check("{{ Name }} {{ Size }}", "Hex bolt M8");
        check("{{ row[\"Item no.\"] }}/{{row['Size']}}", "AB-0042-x/M8");
        check("{{ Größe }}", "größer als \"8\"");
        check("{{ Name ~ \" \" ~ Size }}", "Hex bolt M8");
        check("{{ Name ~ 5 ~ 1.50 ~ -3 }}", "Hex bolt51.50-3");
        check("no column, { one } brace }} and a line\n", "no column, { one } brace }} and a line\n");
        check("", "");
        check("<{{ \"a\\\"b\\nc\\\\d{{ }}\" }}>", "<a\"b\nc\\d{{ }}>");
        let expression = Expression::parse("{{ A }}{{ row[\"A\"] ~ B ~ A }}").expect("an expression");
        assert_eq!(expression.columns(), ["A", "B"]);
        assert_eq!(expression.column_ranges(), [3..4, 21..22]);
    }

    #[test]
    fn functions_change_texts() {
        for (source, expected) in [
            ("{{ Spaces | trim }}", "two  words"),
            ("{{ Name | upper | lower }}", "hex bolt"),
            ("{{ \"o'neil mc-CAR\" | title }}", "O'neil Mc-Car"),
            ("{{ Name | replace(\"bolt\", \"nut\") }}", "Hex nut"),
            ("{{ row[\"Item no.\"] | regex_replace(\"\\D+\", \"\") }}", "0042"),
            ("{{ row[\"Item no.\"] | regex_replace(\"^(\\w+)-(\\d+).*\", \"$2/$1\") }}", "0042/AB"),
            ("{{ Name | left(3) ~ \"…\" ~ Name | right(4) }}", "Hex…bolt"),
            ("{{ Name | right(99) | left(0) }}", ""),
            ("{{ Größe | left(3) }}", "grö"),
            ("{{ Name | slice(4) }}{{ Name | slice(0, -5) }}{{ Name[4:6] }}{{ Name[0] }}", "boltHexboH"),
            ("{{ row[\"Item no.\"] | split(\"-\")[1] }}", "0042"),
            ("{{ row[\"Item no.\"] | split(\"-\")[-1] | upper }}", "X"),
            ("{{ (row[\"Item no.\"] | split(\"-\"))[0] }}", "AB"),
            ("{{ (row[\"Item no.\"] | split(\"-\"))[-1] }}", "x"),
            ("{{ (row[\"Item no.\"] | split(\"-\"))[1:] | join(\"+\") }}", "0042+x"),
            ("{{ \"y\" if \"AB\" in row[\"Item no.\"] | split(\"-\") else \"n\" }}", "y"),
            ("{{ row[\"Item no.\"] | split(\"-\") | join(\"·\") }}", "AB·0042·x"),
            ("{{ row[\"Item no.\"] | split(\"-\")[7] | default(\"none\") }}", "none"),
            ("{{ 42 | pad_left(6, 0) }}{{ 7 | pad_left(3) }}", "000042  7"),
            ("{{ Blank | default(Size) }}", "M8"),
            ("{{ first_of(Blank, \" \", Name, Size) }}{{ first_of(Blank) }}", "Hex bolt"),
        ] {
            check(source, expected);
        }
    }

    #[test]
    fn conditions_choose() {
        for (source, expected) in [
            ("{{ Name if Blank == \"\" else Size }}", "Hex bolt"),
            ("{{ \"a\" if Blank else \"b\" if Size != \"M8\" else \"c\" }}", "c"),
            ("{{ \"y\" if Size in [\"M8\", \"M10\"] and not Blank else \"n\" }}", "y"),
            ("{{ \"y\" if \"bolt\" in Name or false else \"n\" }}", "y"),
            ("{{ \"y\" if Size not in [] else \"n\" }}", "y"),
            ("{{ \"y\" if Name | startswith(\"Hex\") and Name | endswith(\"bolt\") else \"n\" }}", "y"),
            ("{{ Name | contains(\"x b\") }}", "true"),
            ("{{ \"y\" if (Price | round(0) | integer) == 13 else \"n\" }}", "y"),
        ] {
            check(source, expected);
        }
    }

    #[test]
    fn arithmetic_is_exact_and_dates_become_iso() {
        for (source, expected) in [
            ("{{ Price | times(1.19) }}", "14.875"),
            ("{{ Price | times(1.19) | round(2) }}", "14.88"),
            ("{{ Betrag | number(\"de\") | plus(0.1) | plus(0.2) }}", "1234.80"),
            ("{{ Price | minus(-2.5) | integer }}", "15"),
            ("{{ 10 | divided_by(3, 4) }}", "3.3333"),
            ("{{ Date | date(\"DD.MM.YYYY\") }}", "2025-12-31"),
            ("{{ Price | times(Price) }}", "156.25"),
        ] {
            check(source, expected);
        }
    }

    #[test]
    fn the_examples_of_the_documentation_work() {
        for (source, expected) in [
            ("{{ Name }} {{ row['Item no.'] | upper }}", "Hex bolt AB-0042-X"),
            ("{{ Name if Name else first_of(Size, Blank) }}", "Hex bolt"),
            (r#"{{ Size | pad_left(3, "0") ~ "-" ~ row["Item no."] | regex_replace("\D", "") }}"#, "0M8-0042"),
            ("{{ row['Item no.'][-2:] }}{{ \"y\" if Price == 12.5 else \"n\" }}", "-xn"),
            ("{{ Betrag | number(\"de\") | plus(Betrag | number(\"de\")) }}", "2469.00"),
        ] {
            check(source, expected);
        }
    }

    #[test]
    fn unsupported_syntax_is_an_error_with_its_place() {
        for (source, at, message) in [
            ("a {{ Name | uper }}", "uper", "did you mean 'upper'?"),
            ("{{ Name | substring(1) }}", "substring", "did you mean 'slice'?"),
            ("{{ Name | xyzzy }}", "xyzzy", "the functions are trim, upper"),
            ("{{ lookup(Name) }}", "lookup", "not a known function"),
            ("{{ upper(Name) }}", "upper", "Column | upper(…)"),
            ("{{ Name | left }}", "left", "Name | left(3)"),
            ("{{ Name | left(1, 2) }}", "left", "Name | left(3)"),
            ("{{ row[Name] }}", "row[Name", "row[\"Item no.\"]"),
            ("{{ row }}", "row", "name a column in it"),
            ("{{ Item no }}", "no", "row[\"Item no.\"]"),
            ("{{ Item.no }}", ".", "row[\"Item no.\"]"),
            ("{{ Price * 2 }}", "*", "Price | times(Quantity)"),
            ("{{ Name + Size }}", "+", "join them with ~"),
            ("{{ Price > 5 }}", ">", "== and != only"),
            ("{{ Price = 5 }}", "=", "compare with =="),
            ("{{ Name is defined }}", "is", "== or !="),
            ("{{ Name if Size }}", "if", "needs an else"),
            ("{% if Name %}x{% endif %}", "{%", "{{ a if condition else b }}"),
            ("x {{ Name", "{{", "not closed"),
            ("{{ }}", "{{ }}", "nothing between"),
            ("{{ \"abc }}", "\"abc }}", "no closing quote"),
            ("{{ (Name }}", "(", "not closed"),
            ("{{ Name) }}", ")", "never opened"),
            ("{{ Name ~ }}", "~", "missing after"),
            ("{{ ~ Name }}", "~", "missing before"),
            ("{{ “x” }}", "“", "straight quotes"),
            ("{{ Name | split(\"-\")[Size] }}", "[", "whole number"),
            ("{{ Name | trim[0:3] }}", "[", "(Column | trim)[0:3]"),
            ("{{ Name | regex_replace(\"(\", \"\") }}", "\"(\"", "unclosed group"),
            ("{{ Name | regex_replace(Size, \"\") }}", "Size", "write this out in quotes"),
            ("{{ Name | number(\"dx\") }}", "\"dx\"", "not a known locale"),
            ("{{ Date | date(\"dd.MM.YYYY\") }}", "dd", "did you mean 'DD'?"),
        ] {
            check_error(source, at, message);
        }
    }

    #[test]
    fn errors_of_a_row_have_a_place() {
        for (source, at, message) in [
            ("{{ Size }}{{ Name | number }}", "number", "'Hex bolt' is not a number"),
            ("{{ Betrag | plus(1) }}", "plus(1)", "| number(\"de\")"),
            ("{{ Price | integer }}", "integer", "not a whole number"),
            ("{{ Blank | round(2) }}", "round(2)", "a blank is not a number"),
            ("{{ Price | divided_by(0, 2) }}", "divided_by(0, 2)", "divides by zero"),
            ("{{ Date | date(\"YYYY-MM-DD\") }}", "date(\"YYYY-MM-DD\")", "is not a date written as YYYY-MM-DD"),
            ("x{{ Name | split(\"-\")[3] }}", "split(\"-\")[3]", "no such part"),
            ("{{ Name | split(\"-\") }}", "split(\"-\")", "several texts"),
            ("{{ Size ~ Name | split(\" \") }}", "{{ Size ~ Name | split(\" \") }}", "several texts"),
            ("{{ Name | split(\"-\")[3] ~ Size }}", "Name | split(\"-\")[3] ~ Size", "no such part"),
            ("{{ Name | pad_left(99999) }}", "pad_left(99999)", "longer than 32 KiB"),
        ] {
            check_error(source, at, message);
        }
    }

    #[test]
    fn every_function_is_documented_with_a_valid_example() {
        for Function { name, usage, .. } in FUNCTIONS {
            let expression = Expression::parse(&format!("{{{{ {usage} }}}}"));
            assert!(expression.is_ok_and(|expression| !expression.columns().is_empty()), "{name}");
            let row = format!("| `{}` | ", usage.replace('|', "\\|"));
            assert!(
                include_str!("../../../docs/expressions.md").contains(&row),
                "docs/expressions.md has no row {row}"
            );
        }
    }

    #[test]
    fn the_length_of_texts_and_expressions_is_limited() {
        let long = "x".repeat(MAX_LENGTH);
        let all = |source: &str| {
            let mut out = String::new();
            let result =
                Expression::parse(source).and_then(|expression| expression.eval(&|_| Cow::Borrowed(&long), &mut out));
            assert!(result.is_ok() || out.is_empty());
            result.map(|()| out.len())
        };
        assert_eq!(all("{{ A }}"), Ok(MAX_LENGTH));
        for source in [
            "{{ A }}{{ A }}".to_owned(),
            format!("{{{{ {}A }}}}", "A ~ ".repeat(60)),
            format!("{{{{ {}A }}}}", "A ~ ".repeat(600)),
            format!("{{{{ {}A{} }}}}", "(".repeat(250), ")".repeat(250)),
            format!("{{{{ A{} }}}}", " | replace(\"x\", \"xx\")".repeat(60)),
            "{{ A | replace(\"x\", A) }}".to_owned(),
            "{{ A | regex_replace(\"\", A) }}".to_owned(),
            "{{ A | split(\"x\") | join(A) }}".to_owned(),
        ] {
            assert!(all(&source).is_err(), "{}", &source[..40.min(source.len())]);
        }
    }

    #[test]
    fn deep_nesting_does_not_overflow() {
        check(&format!("{{{{ {} Blank }}}}", "not ".repeat(500)), "false");
        for source in
            [format!("{}Name{}", "(".repeat(250), ")".repeat(250)), "\"a\" if Name else ".repeat(120) + "Size"]
        {
            let _ = eval(&format!("{{{{ {source} }}}}"));
        }
    }

    proptest! {
        #[test]
        fn every_text_is_an_expression_or_an_error_with_a_place(source in "\\PC{0,40}|[{} A-Zrow\\[\\]\"'|~.,:()0-9=-]{0,40}", value in "\\PC{0,20}") {
            match Expression::parse(&source) {
                Ok(expression) => {
                    let mut out = String::new();
                    if let Err(error) = expression.eval(&|_| Cow::Borrowed(&value), &mut out) {
                        prop_assert!(source.get(error.range).is_some(), "{}", source);
                        prop_assert!(out.is_empty());
                    }
                }
                Err(error) => prop_assert!(source.get(error.range.clone()).is_some(), "{} {:?}", source, error),
            }
        }

        #[test]
        fn random_tokens_do_not_panic(
            parts in proptest::collection::vec(proptest::sample::select(&[
                "A", "B", "row[\"C d\"]", "\"x\"", "5", "1.5", " | ", "trim", "split(\"-\")", "[0]", "[-1]", "[1:]", "left(2)",
                "default(A)", "first_of(A, B)", " ~ ", " == ", " if ", " else ", " and ", " not ", " in ", "(", ")", "[", "]",
                ",", "number", "plus(1)", "divided_by(A, 2)", "regex_replace(\"a|b\", \"$0\")", "date(\"DD.MM.YYYY\")", "true",
            ][..]), 0..12),
            value in "\\PC{0,8}|[0-9.,-]{0,8}",
        ) {
            let source = format!("{{{{ {} }}}}", parts.concat());
            let evaluated = Expression::parse(&source).and_then(|expression| {
                let mut out = String::new();
                expression.eval(&|_| Cow::Borrowed(&value), &mut out).map(|()| out)
            });
            if let Err(error) = evaluated {
                prop_assert!(source.get(error.range.clone()).is_some(), "{} {:?}", source, error);
            }
        }

        #[test]
        fn cells_are_unchanged_without_functions(value in "\\PC{0,60}") {
            let expression = Expression::parse("{{ A }}|{{ row['A'] ~ '' }}").expect("an expression");
            let mut out = String::new();
            prop_assert_eq!(expression.eval(&|_| Cow::Borrowed(&value), &mut out), Ok(()));
            prop_assert_eq!(out, format!("{value}|{value}"));
        }
    }
}
