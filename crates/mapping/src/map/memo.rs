//! Values of cells that repeat: a currency, a status, a customer. The same text in the same column gives the same value, so it is converted
//! once.

use super::convert::Written;

/// Number of values that are kept of a rule.
const VALUES: usize = 16;
/// Longest text that is kept, in bytes. Longer ones hardly repeat.
pub(super) const MAX_BYTES: usize = 40;
/// Cells after which it is known whether a column repeats its texts.
const TRIED: u32 = 64;
/// One in so many cells at least repeats another one, or it costs more to remember them.
const WORTH: u32 = 4;

/// The last values of the rules of one mapper. Without errors, of which each has a row.
#[derive(Debug, Default)]
pub struct Memo {
    /// By rule.
    rules: Vec<Repeats>,
}

#[derive(Debug, Default)]
struct Repeats {
    tried: u32,
    found: u32,
    /// By the length of the text and its last bytes. Empty until the first is kept.
    values: Vec<Value>,
}

#[derive(Debug, Default)]
struct Value {
    column: usize,
    text: String,
    json: String,
    written: Option<Written>,
}

impl Memo {
    /// Appends the value of a rule for a text of a column, if it is known.
    pub(super) fn write(&mut self, rule: usize, (column, text): (usize, &str), out: &mut String) -> Option<Written> {
        if self.rules.len() <= rule {
            self.rules.resize_with(rule + 1, Repeats::default);
        }
        let of_rule = &mut self.rules[rule];
        if !of_rule.is_worth() {
            return None;
        }
        of_rule.tried += 1;
        let value = of_rule.values.get(place(text))?;
        if value.column != column || value.text != text {
            return None;
        }
        let written = value.written?;
        out.push_str(&value.json);
        of_rule.found += 1;
        Some(written)
    }

    /// Keeps the value of a rule for a text of a column.
    pub(super) fn keep(&mut self, rule: usize, (column, text): (usize, &str), json: &str, written: Written) {
        let Some(of_rule) = self.rules.get_mut(rule).filter(|of_rule| of_rule.is_worth()) else { return };
        of_rule.values.resize_with(VALUES, Value::default);
        if let Some(value) = of_rule.values.get_mut(place(text)) {
            (value.column, value.written) = (column, Some(written));
            value.text.clear();
            value.text.push_str(text);
            value.json.clear();
            value.json.push_str(json);
        }
    }
}

impl Repeats {
    fn is_worth(&self) -> bool {
        self.tried < TRIED || self.found >= self.tried / WORTH
    }
}

fn place(text: &str) -> usize {
    let bytes = text.as_bytes();
    let last = |nth: usize| bytes.len().checked_sub(nth).map_or(0, |at| usize::from(bytes[at]));
    (bytes.len() ^ last(1) ^ (last(2) << 2)) % VALUES
}
