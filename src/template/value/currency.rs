//! Currencies beside numbers: signs, ISO 4217 codes and common abbreviations.

/// Signs and abbreviations, longer ones before their prefixes and suffixes.
const SIGNS: &[&str] = &[
    "NZ$", "CA$", "HK$", "NT$", "US$", "MX$", "R$", "A$", "C$", "S$", "€", "$", "£", "¥", "￥", "￡", "￠", "￦", "₩",
    "₹", "₽", "₺", "₫", "฿", "¢", "₪", "₴", "₦", "₱", "₡", "₲", "₸", "円", "元", "원", "zł", "Kč", "kr.", "kr", "Kr.",
    "Kr", "SFr.", "sFr.", "SFr", "Fr.", "Fr", "fr.", "Ft", "lei", "Lei", "лв.", "лв", "руб.", "руб", "грн.", "грн",
    "Rs.", "Rs", "Rp", "RM", "TL",
];

/// The active ISO 4217 codes, sorted.
const CODES: &[&str] = &[
    "AED", "AFN", "ALL", "AMD", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BGN", "BHD", "BIF", "BMD",
    "BND", "BOB", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD", "CDF", "CHF", "CLF", "CLP", "CNY", "COP", "CRC",
    "CUP", "CVE", "CZK", "DJF", "DKK", "DOP", "DZD", "EGP", "ERN", "ETB", "EUR", "FJD", "FKP", "GBP", "GEL", "GHS",
    "GIP", "GMD", "GNF", "GTQ", "GYD", "HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR", "IQD", "IRR", "ISK", "JMD",
    "JOD", "JPY", "KES", "KGS", "KHR", "KMF", "KPW", "KRW", "KWD", "KYD", "KZT", "LAK", "LBP", "LKR", "LRD", "LSL",
    "LYD", "MAD", "MDL", "MGA", "MKD", "MMK", "MNT", "MOP", "MRU", "MUR", "MVR", "MWK", "MXN", "MYR", "MZN", "NAD",
    "NGN", "NIO", "NOK", "NPR", "NZD", "OMR", "PAB", "PEN", "PGK", "PHP", "PKR", "PLN", "PYG", "QAR", "RON", "RSD",
    "RUB", "RWF", "SAR", "SBD", "SCR", "SDG", "SEK", "SGD", "SHP", "SLE", "SOS", "SRD", "SSP", "STN", "SVC", "SYP",
    "SZL", "THB", "TJS", "TMT", "TND", "TOP", "TRY", "TTD", "TWD", "TZS", "UAH", "UGX", "USD", "UYU", "UZS", "VED",
    "VES", "VND", "VUV", "WST", "XAF", "XCD", "XCG", "XOF", "XPF", "YER", "ZAR", "ZMW",
];

/// Strips a currency from the start of `text`, if any.
pub(crate) fn strip_prefix(text: &str) -> Option<&str> {
    if text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    if let Some((code, rest)) = text.split_at_checked(3)
        && is_code(code)
    {
        return Some(rest);
    }
    SIGNS.iter().find_map(|sign| text.strip_prefix(sign))
}

/// Strips a currency from the end of `text`, if any.
pub(crate) fn strip_suffix(text: &str) -> Option<&str> {
    if text.as_bytes().last()?.is_ascii_digit() {
        return None;
    }
    if let Some((rest, code)) = text.len().checked_sub(3).and_then(|at| text.split_at_checked(at))
        && is_code(code)
    {
        return Some(rest);
    }
    SIGNS.iter().find_map(|sign| text.strip_suffix(sign))
}

fn is_code(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_uppercase()) && CODES.binary_search(&text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_currencies_are_stripped() {
        for text in ["EUR", "US$", "kr.", "SFr.", "R$", "zł", "円", "ZMW", "AED"] {
            assert_eq!(strip_prefix(&format!("{text} 5")), Some(" 5"), "{text}");
            assert_eq!(strip_suffix(&format!("5 {text}")), Some("5 "), "{text}");
        }
        for text in ["", "5", "eur 5", "ABC 5", "é5", "PCS"] {
            assert_eq!(strip_prefix(text), None, "{text}");
        }
        for text in ["", "5", "5 eur", "5 ABC", "5é", "5 pcs"] {
            assert_eq!(strip_suffix(text), None, "{text}");
        }
    }

    #[test]
    fn lists_are_in_lookup_order() {
        assert!(CODES.is_sorted());
        for (index, sign) in SIGNS.iter().enumerate() {
            let hidden = |later: &&&str| later.starts_with(sign) || later.ends_with(sign);
            let hides = SIGNS[index + 1..].iter().find(hidden);
            assert_eq!(hides, None, "{sign}");
        }
    }
}
