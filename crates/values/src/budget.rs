//! Limits for mapping one row: a budget of text and of steps for all fields, expressions and lookups together.
//!
//! A template may come from a stranger. Without limits, twelve `replace` steps that each double a text several times would take
//! gigabytes for a single cell.

use std::cell::Cell;

/// Maximum text made by the steps of a row, in bytes, in addition to [`PER_BYTE`] for each byte of the row.
const TEXT: usize = 4 << 20;
/// Bytes of text for each byte of the row. A long description may pass several steps.
const PER_BYTE: usize = 16;
/// The number of steps of a row. The fields of an honest template need some hundred.
const STEPS: usize = 250_000;
/// Number of bytes read per step. Longer texts count as several steps.
const STEP_BYTES: usize = 1024;

/// The budget of one row.
#[derive(Debug)]
pub struct Budget {
    text: Cell<usize>,
    steps: Cell<usize>,
    exceeded: Cell<Option<Exceeded>>,
}

/// The exceeded limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exceeded {
    #[error("makes the template write more than {} MiB of text for one row", TEXT >> 20)]
    Text,
    #[error("makes the template take more than {STEPS} steps for one row")]
    Steps,
}

impl Budget {
    /// Returns the budget of a row with this number of bytes of text.
    pub fn of_row(bytes: usize) -> Budget {
        let text = bytes.saturating_mul(PER_BYTE).saturating_add(TEXT);
        Budget { text: Cell::new(text), steps: Cell::new(STEPS), exceeded: Cell::new(None) }
    }

    /// Takes a text from the budget, in bytes. Called before making the text if its length is known.
    pub fn text(&self, bytes: usize) -> Result<(), Exceeded> {
        self.take(&self.text, bytes, Exceeded::Text)
    }

    /// Takes a step that reads this number of bytes.
    pub fn step(&self, bytes: usize) -> Result<(), Exceeded> {
        self.take(&self.steps, 1 + bytes / STEP_BYTES, Exceeded::Steps)
    }

    /// Returns the exceeded limit, if any.
    pub fn exceeded(&self) -> Option<Exceeded> {
        self.exceeded.get()
    }

    fn take(&self, from: &Cell<usize>, amount: usize, exceeded: Exceeded) -> Result<(), Exceeded> {
        if let Some(earlier) = self.exceeded.get() {
            return Err(earlier);
        }
        match from.get().checked_sub(amount) {
            Some(left) => {
                from.set(left);
                Ok(())
            }
            None => {
                self.exceeded.set(Some(exceeded));
                Err(exceeded)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exhausted_budget_stays_exhausted() {
        let budget = Budget::of_row(10);
        assert_eq!(budget.text(TEXT), Ok(()));
        assert_eq!(budget.text(10 * PER_BYTE), Ok(()));
        assert_eq!(budget.step(0), Ok(()));
        assert_eq!(budget.text(1), Err(Exceeded::Text));
        assert_eq!(budget.step(0), Err(Exceeded::Text), "what was exceeded first");
        assert_eq!(budget.exceeded(), Some(Exceeded::Text));
    }

    #[test]
    fn long_texts_are_several_steps() {
        let budget = Budget::of_row(0);
        assert_eq!(budget.step((STEPS - 1) * STEP_BYTES), Ok(()));
        assert_eq!(budget.step(0), Err(Exceeded::Steps));
        assert_eq!(Budget::of_row(usize::MAX).text(usize::MAX), Ok(()));
    }
}
