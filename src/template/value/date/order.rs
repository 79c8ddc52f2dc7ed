//! The order of day, month and year by locale.

/// The first part of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Day,
    Month,
    Year,
}

const DAY: &[&str] = &[
    "de", "fr", "es", "it", "nl", "pt", "da", "nb", "fi", "pl", "cs", "sk", "ru", "uk", "bg", "tr", "el", "ro", "hr",
    "sl", "sr", "is", "et", "lv", "id", "vi", "hi", "en-gb", "en-ie", "en-au", "en-nz", "en-in",
];
const MONTH: &[&str] = &["en-us"];
const YEAR: &[&str] = &["ja", "zh", "ko", "hu", "sv", "lt", "fr-ca"];

/// Returns the order of a locale. Returns `None` for plain `en`, and for `en-CA`, where all three are usual.
pub(crate) fn order_of(locale: &str) -> Option<Order> {
    let name = locale.trim().replace('_', "-").to_ascii_lowercase();
    let known = |name: &str| {
        let in_list = |(order, names): &(Order, &[&str])| names.contains(&name).then_some(*order);
        [(Order::Day, DAY), (Order::Month, MONTH), (Order::Year, YEAR)].iter().find_map(in_list)
    };
    known(&name).or_else(|| name.split_once('-').and_then(|(language, _)| known(language)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_has_an_order_and_plain_english_has_none() {
        for (locale, order) in [
            ("de", Some(Order::Day)),
            ("de-CH", Some(Order::Day)),
            ("pt_BR", Some(Order::Day)),
            ("en-GB", Some(Order::Day)),
            ("en_us", Some(Order::Month)),
            ("ja-JP", Some(Order::Year)),
            ("fr-CA", Some(Order::Year)),
            ("en", None),
            ("en-CA", None),
            ("", None),
            ("xx", None),
        ] {
            assert_eq!(order_of(locale), order, "{locale}");
        }
    }
}
