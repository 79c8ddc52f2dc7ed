//! What a column has had for values: the narrowest type that holds all of them, and the values that an earlier type does not hold.

use crate::exact::Exact;
use crate::kind::{Kind, MAX_DIGITS, SHORT_DIGITS, Store, Value};
use crate::moment::{is_utc, micros};

/// Doubles hold every decimal of this many digits.
const DOUBLE_DIGITS: u8 = 15;
/// Longest part of a value in a message, in characters.
const MAX_SHOWN: usize = 40;

/// The values of a column so far.
#[derive(Clone, Debug)]
pub struct Observed {
    store: Store,
    /// The type that values should have.
    declared: Option<Kind>,
    texts: u64,
    /// Texts that are times in UTC.
    times: u64,
    booleans: u64,
    numbers: u64,
    /// Numbers with a fraction, or beyond 64 bits.
    fractions: u64,
    /// Numbers that the store holds in no number type beside the others.
    odd_numbers: u64,
    scale: u8,
    whole_digits: u8,
    misfits: u64,
    first_misfit: Option<(String, String)>,
}

/// The values that the type of a column does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfits {
    pub declared: Kind,
    pub count: u64,
    /// The first record, and its value.
    pub record: String,
    pub value: String,
    /// A type for all values so far.
    pub narrowest: Kind,
}

impl Observed {
    /// Begins with a column that should have this type.
    pub fn new(declared: Option<Kind>, store: Store) -> Observed {
        let (scale, whole_digits) = match declared {
            // One digit more than a short decimal has room for.
            Some(Kind::Decimal { scale, digits }) if digits > SHORT_DIGITS => {
                (scale, (SHORT_DIGITS + 1).saturating_sub(scale))
            }
            Some(Kind::Decimal { scale, .. }) => (scale, 0),
            _ => (0, 0),
        };
        Observed {
            store,
            declared,
            texts: 0,
            times: 0,
            booleans: 0,
            numbers: 0,
            fractions: 0,
            odd_numbers: 0,
            scale,
            whole_digits,
            misfits: 0,
            first_misfit: None,
        }
    }

    /// Whether further values make no difference.
    pub fn is_settled(&self) -> bool {
        match self.declared {
            Some(kind) => kind == Kind::Text,
            None => self.texts > self.times || self.narrowest() == Some(Kind::Text),
        }
    }

    /// Adds a value of the record that `record` names.
    pub fn add(&mut self, value: &Value<'_>, record: impl FnOnce() -> String) {
        let fits = match value {
            Value::Null => return,
            Value::Boolean(_) => {
                self.booleans += 1;
                matches!(self.declared, None | Some(Kind::Boolean))
            }
            // Without types in the file, a time is a text.
            Value::Text(_) if self.store == Store::Untyped => {
                self.texts += 1;
                matches!(self.declared, None | Some(Kind::Text | Kind::DateTime))
            }
            Value::Text(text) => {
                self.texts += 1;
                let looks_for_times =
                    matches!(self.declared, None | Some(Kind::DateTime)) && self.times + 1 == self.texts;
                let is_time = (looks_for_times || self.declared == Some(Kind::DateTime)) && micros(text).is_some();
                self.times += u64::from(is_time && is_utc(text));
                match self.declared {
                    Some(Kind::DateTime) => is_time,
                    declared => declared.is_none(),
                }
            }
            Value::Number(digits) => {
                self.numbers += 1;
                let is_held = self.add_number(digits);
                match self.declared {
                    None => true,
                    Some(Kind::Integer) => is_held && (self.fractions == 0 || self.store != Store::Sqlite),
                    Some(Kind::Decimal { .. }) => is_held,
                    Some(_) => false,
                }
            }
        };
        if !fits && self.declared != Some(Kind::Text) {
            self.misfits += 1;
            self.first_misfit.get_or_insert_with(|| (record(), shown(value)));
        }
    }

    /// Returns whether a number type holds this number beside the others.
    fn add_number(&mut self, digits: &str) -> bool {
        if self.store == Store::Untyped {
            return true;
        }
        let exact = Exact::parse(digits);
        let is_fraction = exact
            .is_none_or(|exact| exact.scale() > 0 && exact.with_scale(0).is_none() || exact.to_integer().is_none());
        self.fractions +=
            u64::from(is_fraction || self.declared.is_none() && exact.is_some_and(|exact| exact.scale() > 0));
        let is_held = match (self.store, exact) {
            (_, None) => false,
            (Store::Sqlite, Some(exact)) => exact.to_integer().is_some() || exact.significant_digits() <= DOUBLE_DIGITS,
            (_, Some(exact)) => {
                let (scale, whole) = (self.scale.max(exact.scale()), self.whole_digits.max(exact.whole_digits()));
                let has_room = scale + whole <= MAX_DIGITS;
                if has_room {
                    (self.scale, self.whole_digits) = (scale, whole);
                }
                has_room
            }
        };
        self.odd_numbers += u64::from(!is_held);
        is_held
    }

    /// Returns the narrowest type of all values, or `None` without values.
    fn narrowest(&self) -> Option<Kind> {
        match (self.texts > 0, self.booleans > 0, self.numbers > 0) {
            (false, false, false) => None,
            (true, false, false) if self.times == self.texts => Some(Kind::DateTime),
            (false, true, false) => Some(Kind::Boolean),
            (false, false, true) if self.odd_numbers == 0 => Some(match self.fractions {
                // A database knows one type for all numbers, so that a first fraction changes no column.
                0 if self.store == Store::Parquet => Kind::Integer,
                _ => self.decimal(),
            }),
            _ => Some(Kind::Text),
        }
    }

    fn decimal(&self) -> Kind {
        let digits = if self.scale + self.whole_digits <= SHORT_DIGITS { SHORT_DIGITS } else { MAX_DIGITS };
        Kind::Decimal { scale: self.scale, digits }
    }

    /// Returns the type of the column: the declared one, with as many decimals as the values need, or the narrowest of all values.
    /// Returns `None` if nothing is known.
    ///
    /// # Errors
    /// Returns the values that the declared type does not hold.
    pub fn kind(&self) -> Result<Option<Kind>, Misfits> {
        let Some(declared) = self.declared else { return Ok(self.narrowest()) };
        if let Some((record, value)) = &self.first_misfit {
            return Err(Misfits {
                declared,
                count: self.misfits,
                record: record.clone(),
                value: value.clone(),
                narrowest: self.narrowest().unwrap_or(Kind::Text),
            });
        }
        Ok(Some(match declared {
            Kind::Integer if self.fractions > 0 => self.decimal(),
            Kind::Decimal { .. } if self.store != Store::Untyped => self.decimal(),
            kind => kind,
        }))
    }
}

fn shown(value: &Value<'_>) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CENTS: Kind = Kind::Decimal { scale: 2, digits: SHORT_DIGITS };

    fn observed(declared: Option<Kind>, store: Store, values: &[Value<'_>]) -> Result<Option<Kind>, Misfits> {
        let mut observed = Observed::new(declared, store);
        for (place, value) in values.iter().enumerate() {
            observed.add(value, || format!("record {place}"));
        }
        observed.kind()
    }

    #[test]
    fn the_narrowest_type_holds_all_values() {
        use Value::{Boolean, Null, Number, Text};
        let long = "1".repeat(30);
        for (values, kind) in [
            (&[][..], None),
            (&[Null], None),
            (&[Text("a"), Null], Some(Kind::Text)),
            (&[Text("42")], Some(Kind::Text)),
            (&[Text("2026-01-02T03:04:05Z"), Text("2026-01-02T03:04:05.5+00:00")], Some(Kind::DateTime)),
            (&[Text("2026-01-02T03:04:05+01:00")], Some(Kind::Text)),
            (&[Text("2026-01-02T03:04:05Z"), Text("")], Some(Kind::Text)),
            (&[Number("1"), Number("-7")], Some(Kind::Integer)),
            (&[Number("1"), Number("2.50")], Some(CENTS)),
            (&[Number("1.0")], Some(Kind::Decimal { scale: 1, digits: SHORT_DIGITS })),
            (&[Number(&long)], Some(Kind::Decimal { scale: 0, digits: MAX_DIGITS })),
            (&[Number("1e30"), Number("1e-30")], Some(Kind::Text)),
            (&[Number("1e400")], Some(Kind::Text)),
            (&[Boolean(true), Null], Some(Kind::Boolean)),
            (&[Boolean(true), Number("1")], Some(Kind::Text)),
        ] {
            assert_eq!(observed(None, Store::Parquet, values), Ok(kind), "{values:?}");
        }
    }

    #[test]
    fn doubles_hold_fifteen_digits() {
        use Value::Number;
        let number = Ok(Some(Kind::NUMBER));
        assert_eq!(observed(None, Store::Sqlite, &[Number("1"), Number("0.123456789012345")]), number);
        assert_eq!(observed(None, Store::Sqlite, &[Number("9007199254740993")]), number);
        assert_eq!(observed(None, Store::Sqlite, &[Number("0.1234567890123456")]), Ok(Some(Kind::Text)));
    }

    #[test]
    fn declared_types_widen_or_name_what_they_do_not_hold() {
        use Value::{Boolean, Null, Number, Text};
        let check = |declared, values: &[Value<'_>]| observed(Some(declared), Store::Parquet, values);
        assert_eq!(check(Kind::NUMBER, &[Number("1.25")]), Ok(Some(CENTS)));
        assert_eq!(check(CENTS, &[Null, Number("1")]), Ok(Some(CENTS)));
        let long = Kind::Decimal { scale: 2, digits: MAX_DIGITS };
        assert_eq!(check(long, &[Number("1")]), Ok(Some(long)), "it never narrows");
        let fraction = Kind::Decimal { scale: MAX_DIGITS, digits: MAX_DIGITS };
        assert_eq!(check(fraction, &[Number("0.5")]), Ok(Some(fraction)));
        assert_eq!(check(Kind::Integer, &[Number("1"), Number("5.0")]), Ok(Some(Kind::Integer)));
        assert_eq!(check(Kind::Integer, &[Number("1.25")]), Ok(Some(CENTS)));
        assert_eq!(check(Kind::Text, &[Number("1"), Boolean(true)]), Ok(Some(Kind::Text)));
        assert_eq!(check(Kind::DateTime, &[Text("2026-01-02T03:04:05+01:00")]), Ok(Some(Kind::DateTime)));
        let misfits = check(CENTS, &[Number("1"), Text("n/a"), Boolean(true)]).expect_err("texts");
        assert_eq!((misfits.count, misfits.record.as_str(), misfits.value.as_str()), (2, "record 1", "n/a"));
        assert_eq!(misfits.narrowest, Kind::Text);
        assert_eq!(check(Kind::Boolean, &[Number("1")]).map_err(|misfits| misfits.narrowest), Err(Kind::Integer));
        let in_database = observed(Some(Kind::Integer), Store::Sqlite, &[Number("2.5")]);
        assert_eq!(in_database.map_err(|misfits| misfits.value), Err("2.5".to_owned()));
    }
}
