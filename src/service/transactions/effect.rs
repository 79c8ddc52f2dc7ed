//! What a transaction does to the figures of its inventory. Pure. The contract names the fields and shows no rule; these
//! are ours, and docs/service.md tells them.

use rust_decimal::{Decimal, RoundingStrategy};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::records::inventory::Inventory;

use super::super::number;

/// Digits behind the point of an average that is divided.
const AVERAGE_DIGITS: u32 = 4;

/// What the figures moved by, so that it can be taken back exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    pub figure: Figure,
    pub units: i64,
    pub value: Number,
}

/// The figure of an inventory that moves; the total moves with each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    Available,
    Committed,
    Unavailable,
}

/// What a transaction comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub units: i64,
    pub total_price: Option<Decimal>,
    pub average_price: Option<Decimal>,
    /// None where the type is a word that moves nothing.
    pub effect: Option<Effect>,
}

/// A number would have more digits than can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// What comes of a checked input. `unit_value` is what a unit of the inventory is worth, if that is known.
pub fn outcome(input: &Map<String, Value>, unit_value: Option<Decimal>) -> Result<Outcome, TooLarge> {
    let units = integer(input, "transactionAmount").or_else(|| integer(input, "amount")).unwrap_or(0);
    // So that a move can always be taken back.
    let reverse = units.checked_neg().ok_or(TooLarge)?;
    let count = Decimal::from(units).abs();
    let price = input.get("price").and_then(Value::as_number).and_then(number::decimal);
    let by_unit = input.get("useUnitValue") == Some(&Value::Bool(true));
    let times = |unit: Decimal| number::product(count, unit).ok_or(TooLarge);

    let (total_price, average_price) = if by_unit {
        let unit = price.or(unit_value);
        (unit.map(times).transpose()?, unit)
    } else {
        let average = price.and_then(|price| price.checked_div(count));
        (price, average.map(|average| round(average, AVERAGE_DIGITS).normalize()))
    };
    let worth = match (total_price, unit_value) {
        (Some(total), _) => total,
        (None, Some(unit)) => times(unit)?,
        (None, None) => Decimal::ZERO,
    };
    let word = text(input, "transactionType");
    let effect = direction(&word).map(|direction| {
        let units = if direction == Direction::Out { reverse } else { units };
        let value = match units.signum() {
            0 => Decimal::ZERO,
            1 => worth,
            _ => -worth,
        };
        Effect { figure: figure(&text(input, "inventoryType")), units, value: number::json(value) }
    });
    Ok(Outcome { units, total_price, average_price, effect })
}

/// Moves the figures, or takes the move back. A figure that is not known counts as 0 once it moves.
pub fn apply(inventory: &mut Inventory, effect: &Effect, takes_back: bool) -> Result<(), TooLarge> {
    if effect.units != 0 {
        let units = if takes_back { -effect.units } else { effect.units };
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
    let value = number::decimal(&effect.value).ok_or(TooLarge)?;
    if !value.is_zero() {
        let before = inventory.inventory_value.as_ref().map_or(Some(Decimal::ZERO), number::decimal);
        let value = if takes_back { -value } else { value };
        let after = before.and_then(|before| number::sum(before, value)).ok_or(TooLarge)?;
        inventory.inventory_value = Some(number::json(after));
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    In,
    Out,
    Adjust,
}

/// Words are compared without regard to case, and to what stands between them.
fn direction(word: &str) -> Option<Direction> {
    Some(match &*plain(word) {
        "in" | "inbound" | "incoming" | "stockin" | "receive" | "received" | "receipt" | "add" | "increase" => {
            Direction::In
        }
        "out" | "outbound" | "outgoing" | "stockout" | "issue" | "issued" | "ship" | "shipped" | "remove"
        | "decrease" => Direction::Out,
        "adjust" | "adjusted" | "adjustment" | "correct" | "correction" => Direction::Adjust,
        _ => return None,
    })
}

fn figure(word: &str) -> Figure {
    match &*plain(word) {
        "committed" | "reserved" => Figure::Committed,
        "unavailable" | "blocked" | "damaged" => Figure::Unavailable,
        _ => Figure::Available,
    }
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn text(input: &Map<String, Value>, name: &str) -> String {
    input.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn integer(input: &Map<String, Value>, name: &str) -> Option<i64> {
    input.get(name)?.as_number().and_then(number::integer)
}

fn round(value: Decimal, digits: u32) -> Decimal {
    value.round_dp_with_strategy(digits, RoundingStrategy::MidpointAwayFromZero)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::from_str_exact(text).expect("a decimal")
    }

    fn of(json: &str, unit_value: Option<&str>) -> Outcome {
        outcome(&serde_json::from_str(json).expect("an object"), unit_value.map(decimal)).expect("not too large")
    }

    fn moved(json: &str, unit_value: Option<&str>) -> Option<(i64, String)> {
        of(json, unit_value).effect.map(|effect| (effect.units, effect.value.to_string()))
    }

    #[test]
    fn words_say_where_the_units_go() {
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
    fn the_transactions_amount_comes_before_the_other() {
        assert_eq!(of(r#"{"amount":5,"transactionAmount":2}"#, None).units, 2);
        assert_eq!(of(r#"{"amount":5}"#, None).units, 5);
        assert_eq!(of("{}", None).units, 0);
    }

    #[test]
    fn prices_are_of_one_unit_or_of_all() {
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
    fn the_value_moves_with_the_units() {
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
