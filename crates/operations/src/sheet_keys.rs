//! The number format, the time zone and the currency of sheets, as people name them in flags, jobs and profiles.

use std::str::FromStr;

use sheetport_values::currency::Currency;
use sheetport_values::{date, locale};

/// The name of a locale that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocaleName(pub String);

/// The IANA name of a time zone that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneName(pub String);

/// The ISO 4217 code of a currency, in capitals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrencyCode(pub String);

impl FromStr for LocaleName {
    type Err = String;

    fn from_str(name: &str) -> Result<LocaleName, String> {
        locale::check(name).map(|name| LocaleName(name.to_owned()))
    }
}

impl FromStr for ZoneName {
    type Err = String;

    fn from_str(name: &str) -> Result<ZoneName, String> {
        match date::zone(name) {
            // Written as in the database, whatever the case of the letters.
            Ok(zone) => Ok(ZoneName(zone.iana_name().unwrap_or_else(|| name.trim()).to_owned())),
            Err(unknown) => Err(match unknown.nearest {
                Some(meant) => format!("it is not a time zone; did you mean {meant}?"),
                None => "it is not a time zone; examples are Europe/Berlin and UTC".to_owned(),
            }),
        }
    }
}

impl FromStr for CurrencyCode {
    type Err = String;

    fn from_str(code: &str) -> Result<CurrencyCode, String> {
        let currency = Currency::parse(code);
        currency
            .map(|currency| CurrencyCode(currency.to_string()))
            .ok_or_else(|| "it is not a currency; write an ISO 4217 code, such as EUR".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_and_currencies_are_written_alike_or_refused_with_what_is_meant() {
        for (name, zone) in
            [("Europe/Berlin", "Europe/Berlin"), (" america/new_york ", "America/New_York"), ("UTC", "UTC")]
        {
            assert_eq!(name.parse(), Ok(ZoneName(zone.to_owned())));
        }
        for (name, says) in [("Berlin", "did you mean Europe/Berlin?"), ("", "Europe/Berlin and UTC")] {
            let error = name.parse::<ZoneName>().expect_err("no zone");
            assert!(error.contains(says), "{name}: {error}");
        }
        assert_eq!("eur".parse(), Ok(CurrencyCode("EUR".to_owned())));
        for code in ["€", "Euro", "EURO", "", "XYZ"] {
            assert!(code.parse::<CurrencyCode>().is_err(), "{code}");
        }
    }
}
