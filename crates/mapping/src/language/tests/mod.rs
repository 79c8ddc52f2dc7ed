//! Behaviour of expressions.

mod documentation;
mod typed;

use std::sync::LazyLock;

use jiff::civil;
use jiff::tz::TimeZone;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use sheetport_values::currency::CurrencyMark;
use sheetport_values::date::zone;
use sheetport_values::decimal::{self, Decimal};
use sheetport_values::{locale, number};

use super::functions::{FUNCTIONS, Form};
use super::operand::MAX_LENGTH;
use super::{Context, Expression, ExpressionError, FixedCell};
use crate::typed_value::Value;

const ROW: &[(&str, &str)] = &[
    ("Name", "Hex bolt"),
    ("Size", "M8"),
    ("Item no.", "AB-0042-x"),
    ("Price", "12.50"),
    ("Betrag", "1.234,50"),
    ("Menge", "1.234"),
    ("Date", "31.12.2025"),
    ("Größe", "größer als \"8\""),
    ("Blank", ""),
    ("Spaces", "  two  words "),
];

/// A row of texts with German numbers in the columns named so, and a few typed cells.
struct TestRow<'e>(&'e [String]);

impl Context for TestRow<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>, String> {
        let name = self.0[column].as_str();
        let date = civil::date(2026, 1, 31);
        Ok(match name {
            "Nothing" => Value::Blank,
            "Count" => Value::Number(5.into()),
            "Exact" => Value::Number(Decimal::new(1234, 3)),
            "Vat" => Value::Percent(Decimal::new(19, 2)),
            "Euro" => Value::Money(Decimal::new(1250, 2), CurrencyMark::parse("EUR").expect("a currency")),
            "Dollar" => Value::Money(Decimal::new(1250, 2), CurrencyMark::parse("USD").expect("a currency")),
            "Yes" => Value::Boolean(true),
            "Due" => Value::Date(date),
            "At" => Value::DateTime(date.at(9, 30, 0, 0)),
            "Time" => Value::Time(civil::time(9, 30, 0, 0)),
            "Broken" => return Err("#N/A is an error".to_owned()),
            _ => {
                let found = ROW.iter().find(|(known, _)| *known == name);
                Value::Text(found.unwrap_or_else(|| panic!("a column '{name}'")).1.into())
            }
        })
    }

    fn amount(&self, column: usize) -> Result<(Decimal, Option<CurrencyMark>), String> {
        let text = self.value(column)?.text().into_owned();
        let locale = ["Betrag", "Menge"].contains(&self.0[column].as_str()).then(|| locale::find("de")).flatten();
        number::parse(&text, locale, None).map(|number| (number, None)).map_err(|error| format!("'{text}' {error}"))
    }

    fn today(&self) -> Option<civil::Date> {
        Some(civil::date(2026, 2, 1))
    }

    fn time_zone(&self) -> Option<&TimeZone> {
        static BERLIN: LazyLock<TimeZone> = LazyLock::new(|| zone("Europe/Berlin").expect("a time zone"));
        Some(&BERLIN)
    }

    fn row_number(&self) -> Option<u64> {
        Some(7)
    }

    fn file_name(&self) -> Option<&str> {
        Some("prices.xlsx")
    }

    fn cell(&self, cell: FixedCell) -> Option<Value<'_>> {
        (cell == FixedCell { column: 1, row: 2 }).then(|| Value::Number(42.into()))
    }

    fn parameter(&self, name: &str) -> Option<Value<'_>> {
        match name {
            "warehouse" => Some(Value::Text("W1".into())),
            "factor" => Some(Value::Text("1.299".into())),
            "code" => Some(Value::Text("007".into())),
            "number" => Some(Value::Number(Decimal::new(1299, 3))),
            _ => None,
        }
    }
}

/// One text in every column.
struct Same<'t>(&'t str);

impl Context for Same<'_> {
    fn value(&self, _: usize) -> Result<Value<'_>, String> {
        Ok(Value::Text(self.0.into()))
    }

    fn amount(&self, _: usize) -> Result<(Decimal, Option<CurrencyMark>), String> {
        number::parse(self.0, None, None).map(|number| (number, None)).map_err(|error| error.to_string())
    }
}

fn value(source: &str) -> Result<Value<'static>, ExpressionError> {
    let expression = Expression::parse(source)?;
    Ok(expression.eval(&TestRow(expression.columns()))?.into_owned())
}

fn eval(source: &str) -> Result<String, ExpressionError> {
    value(source).map(|value| value.text().into_owned())
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
        ("{{ Name | contains(\"x b\") }}", "TRUE"),
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
        ("{{ row['Item no.'][-2:] }}{{ \"y\" if Price == 12.5 else \"n\" }}", "-xy"),
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
        ("{{ Name | split(\"-\")[Size] }}", "Size", "whole number"),
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
        ("{{ Menge | trim | plus(1) }}", "plus(1)", "| number(\"de\")"),
        ("{{ Price | integer }}", "integer", "not a whole number"),
        ("{{ Blank | round(2) }}", "round(2)", "a blank is not a number"),
        ("{{ Price | divided_by(0, 2) }}", "divided_by(0, 2)", "divides by zero"),
        ("{{ Date | date(\"YYYY-MM-DD\") }}", "date(\"YYYY-MM-DD\")", "is not a date written as YYYY-MM-DD"),
        ("x{{ Name | split(\"-\")[3] }}", "split(\"-\")[3]", "no such part"),
        ("{{ Name | split(\"-\") }}", "split(\"-\")", "several texts"),
        ("{{ Size ~ Name | split(\" \") }}", "split(\" \")", "several texts"),
        ("{{ Name | split(\"-\")[3] ~ Size }}", "split(\"-\")[3]", "no such part"),
        ("{{ Name | pad_left(99999) }}", "pad_left(99999)", "longer than 32 KiB"),
    ] {
        check_error(source, at, message);
    }
}

#[test]
fn the_length_of_texts_and_expressions_is_limited() {
    let long = "x".repeat(MAX_LENGTH);
    let all = |source: &str| -> Result<usize, ExpressionError> {
        let expression = Expression::parse(source)?;
        expression.eval(&Same(&long)).map(|value| value.text().len())
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
        "{{ A | split(\"xx\") | join(A) }}".to_owned(),
    ] {
        assert!(all(&source).is_err(), "{}", &source[..40.min(source.len())]);
    }
}

#[test]
fn deep_nesting_does_not_overflow() {
    check(&format!("{{{{ {} Blank }}}}", "not ".repeat(500)), "FALSE");
    check(&format!("{{{{ {}Name{} }}}}", "(".repeat(100), ")".repeat(100)), "Hex bolt");
    check(&format!("{{{{ {}Size }}}}", "Name if Blank else ".repeat(100)), "M8");
    check(&format!("{{{{ Size{} }}}}", " | lower | upper".repeat(50)), "M8");
    check(&format!("{{{{ Count{} }}}}", " + 1".repeat(100)), "105");
    for source in [
        format!("{}Name{}", "(".repeat(250), ")".repeat(250)),
        "\"a\" if Name else ".repeat(120) + "Size",
        format!("Count{}", " + 1".repeat(200)),
        format!("{}Count", "-".repeat(200)),
        format!("Size{}", "[0]".repeat(125)),
    ] {
        let error = eval(&format!("{{{{ {source} }}}}")).expect_err("an error");
        assert!(error.message.contains("too deeply") || error.message.contains("too long"), "{error}");
    }
}

proptest! {
    #[test]
    fn every_text_is_an_expression_or_an_error_with_a_place(source in "\\PC{0,40}|[{} A-Zrow\\[\\]\"'|~.,:()0-9=<>*/+-]{0,40}", value in "\\PC{0,20}") {
        match Expression::parse(&source) {
            Ok(expression) => {
                if let Err(error) = expression.eval(&Same(&value)) {
                    prop_assert!(source.get(error.range).is_some(), "{}", source);
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
            " + ", " - ", " * ", " / ", " < ", " >= ", "-", "min(A, 2)", "abs", "add_days(1)", "format(\"YYYY\")", "today()",
        ][..]), 0..12),
        value in "\\PC{0,8}|[0-9.,-]{0,8}",
    ) {
        let source = format!("{{{{ {} }}}}", parts.concat());
        let evaluated = Expression::parse(&source).and_then(|expression| {
            expression.eval(&Same(&value)).map(Value::into_owned)
        });
        if let Err(error) = evaluated {
            prop_assert!(source.get(error.range.clone()).is_some(), "{} {:?}", source, error);
        }
    }

    #[test]
    fn cells_are_unchanged_without_functions(value in "\\PC{0,60}") {
        let expression = Expression::parse("{{ A }}|{{ row['A'] ~ '' }}").expect("an expression");
        let row = Same(&value);
        let expected = match Value::Text(value.as_str().into()).is_blank() {
            true => Value::Blank,
            false => Value::Text(format!("{value}|{value}").into()),
        };
        prop_assert_eq!(expression.eval(&row), Ok(expected));
    }
}
