//! A run's accounting, for the terminal.

use anstyle::Style;

use super::{counted, line, style, thousands};
use crate::ledger::Accounting;

/// Columns of the bar that shows the shares.
const WIDTH: u64 = 40;

/// Prints where every record is. States without records are left out, but for the sent ones.
pub fn print(accounting: &Accounting) {
    let states = [
        (accounting.sent, "sent", "accepted by the service", style::GOOD),
        (accounting.unchanged, "unchanged", "as the service has it, not sent", style::GOOD),
        (accounting.skipped, "skipped", "left out by the template", style::FAINT),
        (accounting.rejected, "rejected", "wrong in the sheet, not sent", style::BAD),
        (accounting.failed, "failed", "refused by the service", style::BAD),
        (accounting.unknown, "unknown", "may or may not have been applied", style::DOUBT),
        (accounting.pending, "pending", "not sent yet", style::DOUBT),
    ];
    line(format_args!("  {} from {}", counted(accounting.total, "record"), counted(accounting.rows, "row")));
    line(format_args!("  {}", bar(accounting.total, &states)));
    let faint = style::FAINT;
    for (count, name, meaning, style) in states {
        if count > 0 || name == "sent" {
            line(format_args!("  {style}{:>9}{style:#}  {name:<10} {faint}{meaning}{faint:#}", thousands(count)));
        }
    }
}

/// Every state that has records gets at least one place, so that a single failure among thousands is seen. Each state
/// has a sign of its own, because colour is not seen by everybody and everywhere.
fn bar(total: u64, states: &[(u64, &str, &str, Style)]) -> String {
    const SIGNS: [&str; 7] = ["━", "═", "·", "×", "×", "?", "…"];
    if total == 0 {
        return String::new();
    }
    let mut widths: Vec<u64> =
        states.iter().map(|(count, ..)| (count * WIDTH / total).max(u64::from(*count > 0))).collect();
    let others = |widths: &[u64], widest: usize| {
        widths.iter().enumerate().filter(|(place, _)| *place != widest).map(|(_, w)| *w).sum::<u64>()
    };
    if let Some((widest, _)) = widths.iter().enumerate().max_by_key(|(_, width)| **width) {
        widths[widest] = WIDTH.saturating_sub(others(&widths, widest));
    }
    let part = |((width, sign), (_, _, _, style)): ((&u64, &str), &(u64, &str, &str, Style))| {
        format!("{style}{}{style:#}", sign.repeat(*width as usize))
    };
    widths.iter().zip(SIGNS).zip(states).filter(|((width, _), _)| **width > 0).map(part).collect()
}
