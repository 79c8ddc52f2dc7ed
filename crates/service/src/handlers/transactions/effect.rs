//! The effect of a transaction on the figures of its inventory. The contract specifies no rules; `crates/service/decisions.md` does.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use sheetport_records::inventory::Inventory;
use sheetport_values::decimal::{self, Decimal, DecimalError};

/// Decimals of an average price calculated by division.
const AVERAGE_DECIMALS: u32 = 4;

/// Decimals of the value that an effect adds to an inventory: values with more decimals would not add up exactly, and an effect must be
/// reversible.
const VALUE_DECIMALS: u32 = 15;

/// The change of the figures, stored for an exact reversal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Effect {
    figure: Figure,
    units: i64,
    value: Number,
}

/// The changed figure of an inventory. The total always changes, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Figure {
    Available,
    Committed,
    Unavailable,
}

/// The calculated values of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) units: i64,
    pub(super) total_price: Option<Decimal>,
    pub(super) average_price: Option<Decimal>,
    /// `None` for unknown transaction types.
    pub(super) effect: Option<Effect>,
}

/// A number is too large to be stored exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

impl From<DecimalError> for TooLarge {
    fn from(_: DecimalError) -> TooLarge {
        TooLarge
    }
}

/// Calculates the values of a validated transaction. `unit_value` is the inventory's unit price, if known.
pub(super) fn outcome(input: &Map<String, Value>, unit_value: Option<Decimal>) -> Result<Outcome, TooLarge> {
    let integer = |name: &str| input.get(name).and_then(Value::as_i64);
    let units = integer("transactionAmount").or_else(|| integer("amount")).unwrap_or(0);
    // Every effect must be reversible.
    let reversed = units.checked_neg().ok_or(TooLarge)?;
    let count = Decimal::from(units).abs();
    let price = input.get("price").and_then(Value::as_number).map(stored).transpose()?;
    let by_unit = input.get("useUnitValue") == Some(&Value::Bool(true));
    let times = |unit: Decimal| decimal::multiply_rounded(count, unit);

    let (total_price, average_price) = if by_unit {
        let unit = price.or(unit_value);
        (unit.map(times).transpose()?, unit)
    } else {
        let price_to_divide = price.filter(|_| !count.is_zero());
        let average = price_to_divide.map(|price| decimal::divide(price, count, AVERAGE_DECIMALS)).transpose()?;
        (price, average.map(|average| average.normalize()))
    };
    let worth = match (total_price, unit_value) {
        (Some(total), _) => total,
        (None, Some(unit)) => times(unit)?,
        (None, None) => Decimal::ZERO,
    };
    let effect = direction(text(input, "transactionType")).map(|direction| {
        let units = if direction == Direction::Out { reversed } else { units };
        let worth = decimal::round(worth, VALUE_DECIMALS);
        let value = match units.signum() {
            0 => Decimal::ZERO,
            1 => worth,
            _ => -worth,
        };
        Effect { figure: figure(text(input, "inventoryType")), units, value: decimal::to_json(value) }
    });
    Ok(Outcome { units, total_price, average_price, effect })
}

/// Applies an effect. Unknown figures count as 0.
pub(super) fn apply(inventory: &mut Inventory, effect: &Effect) -> Result<(), TooLarge> {
    move_figures(inventory, effect, 1)
}

/// Reverts an effect.
pub(super) fn revert(inventory: &mut Inventory, effect: &Effect) -> Result<(), TooLarge> {
    move_figures(inventory, effect, -1)
}

/// Moves the figures forward (`sign` 1) or back (-1).
fn move_figures(inventory: &mut Inventory, effect: &Effect, sign: i64) -> Result<(), TooLarge> {
    let units = effect.units.checked_mul(sign).ok_or(TooLarge)?;
    if units != 0 {
        let before = [inventory.available, inventory.committed, inventory.unavailable];
        let figure = match effect.figure {
            Figure::Available => &mut inventory.available,
            Figure::Committed => &mut inventory.committed,
            Figure::Unavailable => &mut inventory.unavailable,
        };
        *figure = Some(figure.unwrap_or(0).checked_add(units).ok_or(TooLarge)?);
        let total = match inventory.total_inventory {
            Some(total) => Some(total),
            None => before.into_iter().flatten().try_fold(0_i64, i64::checked_add),
        };
        inventory.total_inventory = Some(total.and_then(|total| total.checked_add(units)).ok_or(TooLarge)?);
    }
    let value = stored(&effect.value)?;
    if !value.is_zero() {
        let before = inventory.inventory_value.as_ref().map_or(Ok(Decimal::ZERO), stored)?;
        let after = decimal::add(before, value * Decimal::from(sign))?;
        inventory.inventory_value = Some(decimal::to_json(after));
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    In,
    Out,
    Adjust,
}

/// Returns the direction for a transaction type. Ignores case, spaces and punctuation.
fn direction(transaction_type: &str) -> Option<Direction> {
    Some(match &*normalized(transaction_type) {
        "in" | "inbound" | "incoming" | "stockin" | "receive" | "received" | "receipt" | "add" | "increase" => {
            Direction::In
        }
        "out" | "outbound" | "outgoing" | "stockout" | "issue" | "issued" | "ship" | "shipped" | "remove"
        | "decrease" => Direction::Out,
        "adjust" | "adjusted" | "adjustment" | "correct" | "correction" => Direction::Adjust,
        _ => return None,
    })
}

fn figure(inventory_type: &str) -> Figure {
    match &*normalized(inventory_type) {
        "committed" | "reserved" => Figure::Committed,
        "unavailable" | "blocked" | "damaged" => Figure::Unavailable,
        _ => Figure::Available,
    }
}

fn normalized(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns a text, or an empty string if it is absent.
fn text<'a>(input: &'a Map<String, Value>, name: &str) -> &'a str {
    input.get(name).and_then(Value::as_str).unwrap_or("")
}

/// Returns the value of a stored number. Decimals beyond 28 digits are rounded.
pub(super) fn stored(number: &Number) -> Result<Decimal, TooLarge> {
    Ok(decimal::parse_rounded(number.as_str())?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(json: &str, unit_value: Option<&str>) -> Outcome {
        outcome(
            &serde_json::from_str(json).expect("an object"),
            unit_value.map(|value| decimal::parse(value).expect("a decimal")),
        )
        .expect("not too large")
    }

    fn moved(json: &str, unit_value: Option<&str>) -> Option<(i64, String)> {
        of(json, unit_value).effect.map(|effect| (effect.units, effect.value.to_string()))
    }

    #[test]
    fn transaction_types_determine_the_direction() {
        let cases = [
            ("in", Some(3)),
            ("IN", Some(3)),
            (" Stock-In ", Some(3)),
            ("out", Some(-3)),
            ("stock_out", Some(-3)),
            ("adjustment", Some(3)),
            ("transfer", None),
            ("入庫", None),
        ];
        for (word, units) in cases {
            let body = json!({"transactionType": word, "amount": 3});
            let outcome = outcome(body.as_object().expect("an object"), None).expect("not too large");
            assert_eq!(outcome.effect.map(|effect| effect.units), units, "{word}");
        }
    }

    #[test]
    fn transaction_amount_takes_precedence_over_amount() {
        assert_eq!(of(r#"{"amount":5,"transactionAmount":2}"#, None).units, 2);
        assert_eq!(of(r#"{"amount":5}"#, None).units, 5);
        assert_eq!(of("{}", None).units, 0);
    }

    #[test]
    fn prices_are_per_unit_or_total() {
        let cases = [
            (r#"{"amount":3,"price":10}"#, None, Some("10"), Some("3.3333")),
            (r#"{"amount":-3,"price":20.00}"#, None, Some("20.00"), Some("6.6667")),
            (r#"{"amount":3,"price":1.10,"useUnitValue":true}"#, None, Some("3.30"), Some("1.10")),
            (r#"{"amount":-3,"useUnitValue":true}"#, Some("2.5"), Some("7.5"), Some("2.5")),
            (r#"{"amount":3,"useUnitValue":true}"#, None, None, None),
            (r#"{"amount":0,"price":10}"#, None, Some("10"), None),
            (r#"{"amount":3}"#, Some("2.5"), None, None),
        ];
        for (json, unit_value, total, average) in cases {
            let outcome = of(json, unit_value);
            let shown = [outcome.total_price, outcome.average_price].map(|price| price.map(|price| price.to_string()));
            assert_eq!(shown, [total.map(str::to_owned), average.map(str::to_owned)], "{json}");
        }
    }

    #[test]
    fn the_value_follows_the_units() {
        let with = |word: &str, rest: &str| format!(r#"{{"transactionType":"{word}",{rest}}}"#);
        let cases = [
            (with("in", r#""amount":4,"price":10.50"#), None, (4, "10.50")),
            (with("out", r#""amount":4,"price":10.50"#), None, (-4, "-10.50")),
            (with("adjust", r#""amount":-4,"price":1.25,"useUnitValue":true"#), None, (-4, "-5.00")),
            (with("out", r#""amount":4"#), Some("2.5"), (-4, "-10.0")),
            (with("in", r#""amount":4"#), None, (4, "0")),
            (with("in", r#""amount":0,"price":10"#), None, (0, "0")),
        ];
        for (json, unit_value, (units, value)) in cases {
            assert_eq!(moved(&json, unit_value), Some((units, value.to_owned())), "{json}");
        }
    }
}
