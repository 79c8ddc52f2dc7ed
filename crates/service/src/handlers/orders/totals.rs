//! Totals of an order. The contract specifies no rule. Each line is rounded half away from zero to two digits before the
//! lines are added, so that the totals match the sums of printed lines.

use sheetport_values::decimal::{Decimal, DecimalError, add, multiply_rounded, round};

const DECIMALS: u32 = 2;

/// The rounded amounts of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineAmounts {
    without_tax: Decimal,
    tax: Decimal,
}

/// Calculates the amounts of a line. `tax` is an amount and takes precedence over `tax_rate`, a percentage. Fails if
/// a number has too many digits.
pub(super) fn line_amounts(
    quantity: Decimal,
    price: Decimal,
    tax: Option<Decimal>,
    tax_rate: Option<Decimal>,
) -> Result<LineAmounts, DecimalError> {
    let without_tax = round(multiply_rounded(quantity, price)?, DECIMALS);
    let tax = match (tax, tax_rate) {
        (Some(tax), _) => tax,
        (None, Some(rate)) => multiply_rounded(multiply_rounded(without_tax, rate)?, Decimal::new(1, 2))?,
        (None, None) => Decimal::ZERO,
    };
    Ok(LineAmounts { without_tax, tax: round(tax, DECIMALS) })
}

/// Adds up the lines. Returns the totals without and with tax, with two decimals. Fails if a total has too many digits.
pub(super) fn totals(lines: impl IntoIterator<Item = LineAmounts>) -> Result<(Decimal, Decimal), DecimalError> {
    let (mut without_tax, mut with_tax) = (Decimal::ZERO, Decimal::ZERO);
    for line in lines {
        without_tax = add(without_tax, line.without_tax)?;
        with_tax = add(add(with_tax, line.without_tax)?, line.tax)?;
    }
    // Pads with zeros, except for very large numbers.
    without_tax.rescale(DECIMALS);
    with_tax.rescale(DECIMALS);
    Ok((without_tax, with_tax))
}

#[cfg(test)]
mod tests {
    use sheetport_values::decimal;

    use super::*;

    fn number(text: &str) -> Decimal {
        decimal::parse(text).expect("a decimal")
    }

    fn line(
        quantity: &str,
        price: &str,
        tax: Option<&str>,
        tax_rate: Option<&str>,
    ) -> Result<LineAmounts, DecimalError> {
        line_amounts(number(quantity), number(price), tax.map(number), tax_rate.map(number))
    }

    #[test]
    fn lines_are_rounded_half_away_from_zero() {
        let cases = [
            ("2", "10.00", None, None, "20.00", "0"),
            ("3", "0.335", None, None, "1.01", "0"),
            ("1", "0.005", None, Some("19"), "0.01", "0.00"),
            ("-1", "0.005", None, None, "-0.01", "0"),
            ("1", "2.50", None, Some("7.7"), "2.50", "0.19"),
            ("1", "2.50", None, Some("19"), "2.50", "0.48"),
            ("1.5", "9.99", Some("1.234"), Some("19"), "14.99", "1.23"),
            ("0", "5", Some("0"), Some("19"), "0", "0"),
        ];
        for (quantity, price, tax, rate, without_tax, with) in cases {
            let expected = LineAmounts { without_tax: number(without_tax), tax: number(with) };
            assert_eq!(line(quantity, price, tax, rate), Ok(expected), "{quantity} × {price}");
        }
        assert_eq!(line("79228162514264337593543950335", "10", None, None), Err(DecimalError::TooManyDigits));
        assert_eq!(line("1", "7922816251426433759354395033", None, Some("100")), Err(DecimalError::TooManyDigits));
    }

    #[test]
    fn totals_are_sums_of_rounded_lines() {
        let discounted = line("1", "0.335", None, Some("10")).expect("small");
        let (without_tax, with_tax) = totals([discounted; 3]).expect("small");
        assert_eq!((without_tax.to_string().as_str(), with_tax.to_string().as_str()), ("1.02", "1.11"));
        let (without_tax, with_tax) = totals([]).expect("nothing");
        assert_eq!((without_tax.to_string().as_str(), with_tax.to_string().as_str()), ("0.00", "0.00"));
        let whole = line("3", "5", None, None).expect("small");
        assert_eq!(totals([whole]).expect("small").0.to_string(), "15.00");
        let large = line("1", "79228162514264337593543950335", None, None).expect("fits");
        assert_eq!(totals([large]).expect("fits").0, large.without_tax);
        assert_eq!(totals([large; 2]), Err(DecimalError::TooManyDigits));
    }
}
