//! The number of records in each state.

use sheetport_language::{say, word};
use sheetport_ledger::{Accounting, RecordState, WARNED};

use super::style::{self, Style};
use super::{counted, line, terminal, thousands};

/// Width of the bar.
const WIDTH: u64 = 40;

/// Symbol and style of each state, in the order of [`Accounting::states`]. The symbols differ, because color is not always
/// visible.
const SYMBOLS: [(&str, Style); 7] = [
    ("━", style::GOOD),
    ("═", style::GOOD),
    ("·", style::FAINT),
    ("×", style::BAD),
    ("×", style::BAD),
    ("?", style::DOUBT),
    ("…", style::DOUBT),
];

/// A state with symbol and style.
type Drawn = ((RecordState, u64), (&'static str, Style));

/// Names and meanings of record states in a check.
const READY: (&str, &str) = ("ready", "valid, and not sent yet");
const NEEDS_FIXING: (&str, &str) = ("needs fixing", "wrong in the sheet");

/// Prints the number of records in each state. Empty states are omitted, except `sent`.
pub fn print(accounting: &Accounting) {
    print_states(accounting, RecordState::Sent, |state| (state.name(), state.meaning()));
}

/// Prints the number of records of a check in each state. Empty states are omitted, except `ready`.
pub fn print_checked(accounting: &Accounting) {
    print_states(accounting, RecordState::Pending, |state| match state {
        RecordState::Pending => READY,
        RecordState::Rejected => NEEDS_FIXING,
        state => (state.name(), state.meaning()),
    });
}

fn print_states(
    accounting: &Accounting,
    always: RecordState,
    words: impl Fn(RecordState) -> (&'static str, &'static str),
) {
    let symbol = |((state, count), symbol): Drawn| match state == always {
        // Ready records also count as success.
        true => ((state, count), SYMBOLS[0]),
        false => ((state, count), symbol),
    };
    let states: Vec<Drawn> = accounting.states().into_iter().zip(SYMBOLS).map(symbol).collect();
    line(say!("  {} from {}", counted(accounting.total, "record"), counted(accounting.rows, "row")));
    if !terminal::is_plain() {
        line(format_args!("  {}", bar(accounting.total, &states)));
    }
    let faint = style::FAINT;
    let width = if always == RecordState::Pending {
        word(NEEDS_FIXING.0).chars().count() + 1
    } else {
        word(RecordState::Skipped.name()).len().max(9) + 1
    };
    for ((state, count), (_, style)) in states {
        if count > 0 || state == always {
            let (name, meaning) = words(state);
            let (name, meaning) = (word(name), word(meaning));
            line(format_args!("  {style}{:>9}{style:#}  {name:<width$} {faint}{meaning}{faint:#}", thousands(count)));
        }
    }
    if accounting.warned > 0 {
        let ((name, meaning), doubt) = (WARNED, style::DOUBT);
        let (name, meaning) = (word(name), word(meaning));
        let warned = thousands(accounting.warned);
        line(format_args!("  {doubt}{warned:>9}{doubt:#}  {name:<width$} {faint}{meaning}{faint:#}"));
    }
}

/// Returns a bar with at least one column per state, so that a single failure among thousands is visible.
fn bar(total: u64, states: &[Drawn]) -> String {
    if total == 0 {
        return String::new();
    }
    let mut widths: Vec<u64> =
        states.iter().map(|((_, count), _)| (count * WIDTH / total).max(u64::from(*count > 0))).collect();
    let others = |widths: &[u64], widest: usize| {
        widths.iter().enumerate().filter(|(place, _)| *place != widest).map(|(_, w)| *w).sum::<u64>()
    };
    if let Some((widest, _)) = widths.iter().enumerate().max_by_key(|(_, width)| **width) {
        widths[widest] = WIDTH.saturating_sub(others(&widths, widest));
    }
    let part = |(width, (_, (sign, style))): (&u64, &(_, (&str, Style)))| {
        format!("{style}{}{style:#}", sign.repeat(*width as usize))
    };
    widths.iter().zip(states).filter(|(width, _)| **width > 0).map(part).collect()
}
