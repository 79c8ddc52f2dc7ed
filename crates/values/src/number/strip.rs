//! Signs, percent signs and currencies around the digits of a number.

use std::borrow::Cow;

use super::shape::{Shape, TwoReadings};
use crate::currency::{self, CurrencyMark};
use crate::normalize::{to_ascii, trim};

/// A number stripped of sign, currency and percent sign.
pub(super) struct Bare<'t> {
    text: Cow<'t, str>,
    /// The range of the digits in the text.
    start: usize,
    end: usize,
    pub(super) negative: bool,
    pub(super) percent: bool,
    pub(super) currency: Option<CurrencyMark>,
}

impl Bare<'_> {
    pub(super) fn digits(&self) -> &str {
        &self.text[self.start..self.end]
    }

    /// Whether the text is a dash beside a currency: the zero of accounting formats, as in ` $-   `.
    pub(super) fn is_zero_of_accounting(&self) -> bool {
        let is_dashed = self.negative && !self.text.contains('(');
        self.digits().is_empty() && is_dashed && !self.percent && self.currency.is_some()
    }

    /// Returns the parts of the number. Amounts of currencies without decimals have group separators only.
    pub(super) fn shape(&self) -> Option<Shape<'_>> {
        match Shape::of(self.digits())? {
            Shape::Ambiguous(TwoReadings { mark, .. }) if self.currency.and_then(CurrencyMark::decimals) == Some(0) => {
                Some(Shape::Clear { whole: self.digits(), fraction: "", decimal: Some(mark.other()) })
            }
            shape => Some(shape),
        }
    }
}

/// Strips at most one sign or pair of parentheses, one currency and one percent sign, in any order.
pub(super) fn strip(text: &str) -> Option<Bare<'_>> {
    // Most numbers have nothing to strip.
    if text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')) {
        let end = text.len();
        return Some(Bare { text: text.into(), start: 0, end, negative: false, percent: false, currency: None });
    }
    let text = to_ascii(text);
    let mut digits = trim(&text);
    let (mut signed, mut negative, mut percent, mut currency) = (false, false, false, None);
    loop {
        digits = trim(digits);
        if let Some(inner) = digits.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
            if signed {
                return None;
            }
            (signed, negative, digits) = (true, true, inner);
        } else if !signed && let Some((minus, rest)) = strip_sign(digits) {
            (signed, negative, digits) = (true, minus, rest);
        } else if !percent && let Some(rest) = digits.strip_suffix('%').or_else(|| digits.strip_prefix('%')) {
            (percent, digits) = (true, rest);
        } else if currency.is_none()
            && let Some((mark, rest)) = currency::strip_prefix(digits).or_else(|| currency::strip_suffix(digits))
        {
            (currency, digits) = (Some(mark), rest);
        } else {
            let start = digits.as_ptr().addr() - text.as_ptr().addr();
            let end = start + digits.len();
            return Some(Bare { text, start, end, negative, percent, currency });
        }
    }
}

/// Whether a text is a number below zero, in any notation and with any currency. The dash of accounting formats is zero.
pub fn is_below_zero(text: &str) -> bool {
    strip(text).is_some_and(|bare| {
        bare.negative && bare.shape().is_some() && bare.digits().chars().any(|c| matches!(c, '1'..='9'))
    })
}

/// Strips a sign. Returns whether the sign is a minus, and the rest. After a separator, a trailing dash replaces the
/// decimals.
fn strip_sign(text: &str) -> Option<(bool, &str)> {
    const MINUS: &[char] = &['-', '\u{2212}', '\u{2013}'];
    if let Some(rest) = text.strip_prefix(MINUS) {
        return Some((true, rest));
    }
    if let Some(rest) = text.strip_prefix('+') {
        return Some((false, rest));
    }
    let rest = text.strip_suffix(&MINUS[..2])?;
    (!rest.ends_with(['.', ',', '-', ':'])).then_some((true, rest))
}
