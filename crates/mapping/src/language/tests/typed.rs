//! Behaviour of typed values: calculation, comparison, dates.

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;

use super::*;

fn number(digits: &str) -> Value<'static> {
    Value::Number(decimal::parse(digits).expect("a number"))
}

#[test]
fn a_single_expression_keeps_its_type() {
    let euro = CurrencyMark::parse("EUR").expect("a currency");
    for (source, expected) in [
        ("{{ Exact }}", number("1.234")),
        ("{{ Price }}", Value::Text("12.50".into())),
        ("{{ Nothing }}", Value::Blank),
        ("{{ Vat }}", Value::Percent(Decimal::new(19, 2))),
        ("{{ Yes }}", Value::Boolean(true)),
        ("{{ Due }}", Value::Date(civil::date(2026, 1, 31))),
        ("{{ first_of(Nothing, Exact, Name) }}", number("1.234")),
        ("{{ Nothing | default(Due) }}", Value::Date(civil::date(2026, 1, 31))),
        ("{{ Exact if Yes else Name }}", number("1.234")),
        ("{{ Date | date(\"DD.MM.YYYY\") }}", Value::Date(civil::date(2025, 12, 31))),
        ("{{ Due | date(\"DD.MM.YYYY\") }}", Value::Date(civil::date(2026, 1, 31))),
        ("{{ Exact | number(\"de\") }}", number("1.234")),
        ("{{ Menge | number(\"de\") }}", number("1234")),
        ("{{ Menge | number }}", number("1234")),
        ("{{ Euro * 2 }}", Value::Money(decimal::parse("25").expect("a number"), euro)),
        ("{{ Euro | round(0) }}", Value::Money(13.into(), euro)),
        ("{{ Euro / Euro }}", number("1")),
        ("{{ Euro ~ \"\" }}", Value::Text("12.50 EUR".into())),
        ("{{ Exact }} ", Value::Text("1.234 ".into())),
        ("{{ Exact }}{{ Vat }}", Value::Text("1.23419%".into())),
        ("{{ Yes and Count > 4 }}", Value::Boolean(true)),
        ("{{ Blank or Size }}", Value::Text("M8".into())),
        ("", Value::Blank),
    ] {
        assert_eq!(value(source), Ok(expected), "{source}");
    }
}

#[test]
fn operators_have_the_usual_precedence() {
    for (source, expected) in [
        ("{{ 1 + 2 * 3 }}", "7"),
        ("{{ (1 + 2) * 3 }}", "9"),
        ("{{ 10 - 2 - 3 }}", "5"),
        ("{{ 12 / 3 / 2 }}", "2"),
        ("{{ -2 * -3 }}", "6"),
        ("{{ -Count | abs }}", "5"),
        ("{{ 1 - -Count }}", "6"),
        ("{{ \"n\" ~ 1 + 2 ~ \"!\" }}", "n3!"),
        ("{{ 2 * Price | round(0) }}{{ Price | round(0) * 2 }}", "2526"),
        ("{{ 1 + 1 == 2 and not 2 > 3 or false }}", "TRUE"),
        ("{{ not Count == 5 }}", "FALSE"),
        ("{{ \"2025-12-31\" < \"2026-01-01 08:00\" }}", "TRUE"),
        ("{{ \"2026-01-01\" == \"2026-01-01 00:00\" }}", "TRUE"),
        ("{{ \"A-1\" == \"2025-12-31\" }}", "FALSE"),
        ("{{ Count in [4 + 1] }}", "TRUE"),
        ("{{ \"a\" if Count > 9 else \"b\" if Count > 4 else \"c\" }}", "b"),
        ("{{ Name | split(\" \")[0] | upper }}{{ Name | upper[0:3] }}", "HEXHEX"),
    ] {
        check(source, expected);
    }
}

#[test]
fn calculation_is_exact_and_by_the_style_of_the_column() {
    for (source, expected) in [
        ("{{ 0.1 + 0.2 }}", "0.3"),
        ("{{ Price * 1.19 }}", "14.875"),
        ("{{ Price * (1 + Vat) | round(2) }}", "14.88"),
        ("{{ Menge * 2 }}{{ Betrag + 0.50 }}", "24681235.00"),
        ("{{ Exact * 2 }}", "2.468"),
        ("{{ 10 / 4 }}", "2.5"),
        ("{{ 10 | divided_by(3, 2) }}", "3.33"),
        ("{{ Count - 7 }}{{ (Count - 7) | abs }}", "-22"),
        ("{{ 1.5 | floor }}{{ 1.5 | ceil }}{{ -1.5 | floor }}", "12-2"),
        ("{{ min(3, Price, Nothing) }}{{ 3 | max(Price) }}{{ max(Nothing, Blank) }}", "312.50"),
        ("{{ min(Due, Date | date(\"DD.MM.YYYY\")) }}", "2025-12-31"),
        ("{{ \"19%\" * 100 }}", "19"),
    ] {
        check(source, expected);
    }
}

#[test]
fn values_of_one_type_are_compared() {
    for (source, expected) in [
        ("Price == 12.5", true),
        ("Menge == 1234", true),
        ("Menge > Count", true),
        ("Exact < 2", true),
        ("Price < Betrag", true),
        ("Size < \"M9\"", true),
        ("Size == 8", false),
        ("Size in [8, \"M8\"]", true),
        ("Vat == 0.19", true),
        ("Vat == \"19%\"", true),
        ("Euro >= 12", true),
        ("Euro == \"12.5 EUR\"", true),
        ("Yes == \"true\"", true),
        ("Yes == false", false),
        ("Due == \"2026-01-31\"", true),
        ("Due < At", true),
        ("Due < today()", true),
        ("Due >= date(\"2026-01-31\")", true),
        ("Time == \"09:30\"", true),
        ("Nothing == \"\"", true),
        ("Nothing == 0", false),
        ("Blank != Count", true),
        ("\"0042\" == \"42\"", false),
        ("00042 == \"00042\"", true),
        ("Nothing", false),
        ("Count - Count", true),
        ("Name | matches(\"^Hex\")", true),
        ("Name | matches(\"^bolt\")", false),
    ] {
        let condition = Expression::parse_condition(source).expect(source);
        assert_eq!(condition.holds(&TestRow(condition.columns())), Ok(expected), "{source}");
    }
}

#[test]
fn times_with_an_offset_are_compared_in_the_time_zone_of_the_template() {
    for (source, expected) in [
        ("{{ \"2025-12-31T23:30:00Z\" >= \"2026-01-01\" }}", "TRUE"),
        ("{{ \"2025-12-31T22:30:00Z\" < \"2026-01-01\" }}", "TRUE"),
        ("{{ \"2026-01-01\" <= \"2025-12-31T23:30:00Z\" }}", "TRUE"),
        ("{{ \"2025-12-31T23:00:00Z\" == \"2026-01-01\" }}", "TRUE"),
        ("{{ \"2026-07-01T08:00:00Z\" == \"2026-07-01T10:00\" }}", "TRUE"),
        ("{{ \"2026-01-30T23:30:00Z\" >= Due }}", "TRUE"),
        ("{{ \"2026-01-31T08:30:00Z\" == At }}", "TRUE"),
        ("{{ \"2026-01-01T00:30:00+01:00\" == \"2025-12-31T23:30:00Z\" }}", "TRUE"),
    ] {
        check(source, expected);
    }
}

#[test]
fn dates_are_calculated() {
    for (source, expected) in [
        ("{{ Due | add_days(30) }}", "2026-03-02"),
        ("{{ Due | add_months(1) }}{{ Due | add_months(-2) }}", "2026-02-282025-11-30"),
        ("{{ At | add_days(1) }}", "2026-02-01T09:30:00"),
        ("{{ Due | year }}-{{ Due | month }}-{{ Due | day }}", "2026-1-31"),
        ("{{ Due | format(\"YYYY-MM\") }}", "2026-01"),
        ("{{ At | format(\"D. MMMM YYYY, HH:mm\") }}", "31. January 2026, 09:30"),
        ("{{ Due | days_until(\"2026-03-01\") }}{{ today() | days_until(Due) }}", "29-1"),
        ("{{ today() }}", "2026-02-01"),
        ("{{ \"2026-01-31T09:00:00+02:00\" | date(\"YYYY-MM-DDTHH:mm:ssZ\") }}", "2026-01-31T07:00:00Z"),
    ] {
        check(source, expected);
    }
}

#[test]
fn texts_are_measured_and_matched() {
    for (source, expected) in [
        ("{{ Größe | length }}{{ Name | split(\" \") | length }}", "142"),
        ("{{ Name | starts_with(\"Hex\") }}{{ Name | startswith(\"Hex\") }}", "TRUETRUE"),
        ("{{ Name | regex_match(\"b.\") }}", "bo"),
        ("{{ Name | regex_match(\"x (b)(o)\") }}", "b"),
        ("{{ Name | regex_match(\"\\d\") | default(\"none\") }}", "none"),
    ] {
        check(source, expected);
    }
}

#[test]
fn facts_and_parameters_are_values() {
    for (source, expected) in [
        ("{{ row_number() + 1 }}", "8"),
        ("{{ file_name() | split(\".\")[0] }}", "prices"),
        ("{{ cell(\"B2\") }}", "42"),
        ("{{ cell(\"b3\") | default(\"?\") }}", "?"),
        ("{{ param(\"warehouse\") }}", "W1"),
        ("{{ param(\"other\") | default(Size) }}", "M8"),
    ] {
        check(source, expected);
    }
    check_error("{{ Name }}{{ sheet_name() }}", "sheet_name()", "the name of the sheet is not known here");
    for (source, expected) in [
        ("{{ param(\"factor\") * 2 }}", "2.598"),
        ("{{ param(\"factor\") if Count else 0 }}", "1.299"),
        ("{{ param(\"number\") * 2 }}", "2.598"),
        ("{{ \"less\" if param(\"factor\") < 2 else \"more\" }}", "less"),
        ("{{ param(\"code\") }}", "007"),
    ] {
        check(source, expected);
    }
    assert_eq!(value("{{ param(\"factor\") }}"), Ok(Value::Number(Decimal::new(1299, 3))), "a plain number");
    assert_eq!(value("{{ param(\"code\") }}"), Ok(Value::Text("007".into())), "a text with zeros");
    check_error("{{ param(\"other\") ~ \"\" }}", "param(\"other\")", "add --set other=…");
    check_error("{{ cell(\"2B\") }}", "\"2B\"", "not a cell such as");
    check_error("{{ cell(\"B101\") }}", "\"B101\"", "first 100 rows");
    check_error("{{ param(\"a b\") }}", "\"a b\"", "use letters, digits");
    let expression =
        Expression::parse("{{ param(\"a\") ~ (cell(\"C3\") if param(\"b\") else 1) }}").expect("an expression");
    assert_eq!(expression.parameters(), ["a", "b"]);
    assert_eq!(expression.cells(), [FixedCell { column: 2, row: 3 }]);
}

#[test]
fn mistakes_point_at_the_column_or_the_operator() {
    for (source, at, message) in [
        ("{{ Name * 2 }}", "Name", "'Hex bolt' is not a number"),
        ("{{ 2 + Size }}", "Size", "'M8' is not a number"),
        ("{{ Size | trim + 1 }}", "trim", "'M8' after trim is not a number"),
        ("{{ Betrag | left(5) * 1 }}", "left(5)", "'1.234' after left could mean more than one number"),
        ("{{ \"12.500\" * 1 }}", "\"12.500\"", "| number(\"de\")"),
        ("{{ \"1,500\" * 2 }}", "\"1,500\"", "say how it is written"),
        ("{{ Nothing + 1 }}", "Nothing", "a blank is not a number; add a replacement"),
        ("{{ Count / 3 }}", "/", "| divided_by(3, 2)"),
        ("{{ Count / 0 }}", "/", "divides by zero"),
        ("{{ 99999999999999999999 * 99999999999999999999 }}", "*", "more than 28 digits"),
        ("{{ Due + 30 }}", "Due", "add_days"),
        ("{{ Euro + Dollar }}", "+", "different currencies: '12.50 EUR' and '12.50 USD'"),
        ("{{ Euro > Dollar }}", ">", "different currencies"),
        ("{{ Euro * Euro }}", "*", "can't be multiplied"),
        ("{{ 1 / Euro }}", "/", "can't be divided by an amount"),
        ("{{ Due > 5 }}", ">", "'2026-01-31' is a date, and '5' is a number"),
        ("{{ Size > 5 }}", ">", "'M8' is text, and '5' is a number"),
        ("{{ Yes == 1 }}", "==", "'TRUE' is a boolean, and '1' is a number"),
        ("{{ Due == \"31.01.2026\" }}", "==", "is a date, and '31.01.2026' is text"),
        ("{{ Size < Price }}", "<", "'M8' and '12.50' can't be compared: 'M8' is not a number"),
        ("{{ \"31.12.2025\" >= \"2026-01-01\" }}", ">=", "'31.12.2025' is text, not a date; say how it is written"),
        ("{{ \"2026-01-01\" < \"n/a\" }}", "<", "'n/a' is text, not a date"),
        ("{{ \"31.12.2025\" == \"2025-12-31\" }}", "==", "'31.12.2025' is text, not a date"),
        ("{{ Nothing < 1 }}", "<", "a blank has no order"),
        ("{{ Menge | trim == 5 }}", "==", "could mean more than one number"),
        ("{{ Broken ~ 1 }}", "Broken", "#N/A is an error"),
        ("{{ Name | add_days(1) }}", "add_days(1)", "is text, not a date"),
        ("{{ Due | add_days(99999999) }}", "add_days(99999999)", "years 1 to 9999"),
        ("{{ Due | add_days(9223372036854775807) }}", "add_days(9223372036854775807)", "years 1 to 9999"),
        ("{{ Due | format(\"HH:mm\") }}", "format(\"HH:mm\")", "a date without a time"),
        ("{{ Due | format(\"yyyy\") }}", "yyyy", "did you mean 'YYYY'?"),
        ("{{ Due | days_until(Nothing) }}", "days_until(Nothing)", "a blank is not a date"),
        ("{{ Name | matches(Size) }}", "Size", "write this out in quotes"),
        ("{{ max(Name, 2) }}", "max(Name, 2)", "'Hex bolt' is not a number"),
        ("{{ 12345678901234567890123456789012 }}", "12345678901234567890123456789012", "identifier in quotes"),
        ("{{ Price ** 2 }}", "**", "not an operator here"),
        ("{{ Price % 2 }}", "%", "not an operator here"),
        ("{{ min() }}", "min", "used like this: min(Price, Offer)"),
        ("{{ Name | first_of }}", "first_of", "written before its values"),
        ("{{ Name[99] }}", "Name[99]", "no such part"),
    ] {
        check_error(source, at, message);
    }
    let error = Expression::parse_condition(" ").expect_err("an error");
    assert_eq!((error.message.as_str(), error.range), ("this condition is blank", 0..1));
    let error = Expression::parse_condition("Qty <").expect_err("an error");
    assert_eq!((error.message.as_str(), error.range), ("something is missing after this", 4..5));
}

#[test]
fn expressions_evaluate_only_the_needed_operands() {
    check("{{ Name | default(Broken) }}{{ first_of(Size, Broken) }}", "Hex boltM8");
    check("{{ Size if Yes else Broken }}{{ Yes or Broken }}{{ Nothing and Broken }}", "M8TRUE");
}

proptest! {
    #[test]
    fn arithmetic_is_exact(left: i64, a in 0_u32..10, right: i32, b in 0_u32..10, operator in select(&["+", "-", "*"][..])) {
        let (first, second) = (Decimal::new(left, a), Decimal::new(right.into(), b));
        let exact = match operator {
            "+" => first + second,
            "-" => first - second,
            _ => first * second,
        };
        prop_assert_eq!(value(&format!("{{{{ ({first}) {operator} ({second}) }}}}")), Ok(Value::Number(exact)));
    }

    #[test]
    fn quotients_are_exact_or_errors(left: i64, right: i32) {
        match value(&format!("{{{{ {left} / {right} }}}}")) {
            Ok(Value::Number(quotient)) => prop_assert_eq!(quotient * Decimal::from(right), Decimal::from(left)),
            Ok(other) => prop_assert!(false, "{:?}", other),
            Err(error) => prop_assert!(right == 0 || error.message.contains("divided_by"), "{}", error),
        }
    }

    #[test]
    fn comparisons_of_numbers_agree_with_decimals(left: i64, a in 0_u32..10, right: i64, b in 0_u32..10, same in any::<bool>()) {
        let first = Decimal::new(left, a);
        let second = if same { first.normalize() } else { Decimal::new(right, b) };
        for (operator, holds) in [
            ("<", first < second),
            ("<=", first <= second),
            (">", first > second),
            (">=", first >= second),
            ("==", first == second),
            ("!=", first != second),
        ] {
            prop_assert_eq!(value(&format!("{{{{ ({first}) {operator} \"{second}\" }}}}")), Ok(Value::Boolean(holds)));
        }
    }

    #[test]
    fn brackets_that_repeat_the_precedence_change_nothing(
        numbers in proptest::collection::vec(1_i32..50, 4),
        operators in proptest::collection::vec(select(&["+", "-", "*"][..]), 3),
    ) {
        let mut flat = numbers[0].to_string();
        let mut sums: Vec<(&str, i64)> = vec![("+", numbers[0].into())];
        for (operator, number) in operators.iter().zip(&numbers[1..]) {
            flat += &format!(" {operator} {number}");
            match (*operator, sums.last_mut()) {
                ("*", Some((_, product))) => *product *= i64::from(*number),
                (sign, _) => sums.push((sign, (*number).into())),
            }
        }
        let expected: i64 = sums.iter().map(|(sign, number)| if *sign == "-" { -number } else { *number }).sum();
        prop_assert_eq!(value(&format!("{{{{ {flat} }}}}")), Ok(Value::Number(expected.into())));
    }
}
