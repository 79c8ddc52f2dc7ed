//! Colours, row heights and notes of a report's workbook.

use rust_xlsxwriter::{Color, Format, Note};
use sheetport_ledger::RecordState;
use sheetport_sheet::write::xlsx::styles;
use sheetport_sheet::write::xlsx::text::cut_to;

/// Maximum length of a note, because the window for notes is small.
const MAX_NOTE: usize = 2_000;

/// Returns the background colour of a state, on all sheets.
pub(super) fn state_color(state: RecordState) -> Color {
    match state {
        RecordState::Sent => Color::RGB(0xC6_EF_CE),
        RecordState::Unchanged | RecordState::Skipped => Color::RGB(0xED_ED_ED),
        RecordState::Rejected | RecordState::Failed => Color::RGB(0xFF_C7_CE),
        RecordState::Unknown => Color::RGB(0xFF_EB_9C),
        RecordState::Pending => Color::RGB(0xDD_EB_F7),
    }
}

/// The base format of cells with a problem.
pub(super) fn marked() -> Format {
    styles::base().set_background_color(Color::RGB(0xFF_C7_CE))
}

/// The base format of cells with warnings only.
pub(super) fn warned() -> Format {
    styles::base().set_background_color(Color::RGB(0xFF_EB_9C))
}

/// The header format of added columns.
pub(super) fn added_header() -> Format {
    styles::header().set_background_color(Color::RGB(0xE7_E6_E6))
}

/// The format of the columns of messages.
pub(super) fn wrapped_text() -> Format {
    styles::base().set_num_format("@").set_text_wrap()
}

pub(super) fn note(text: &str) -> Note {
    let text = cut_to(text, MAX_NOTE);
    let lines = 2 + text.lines().map(|line| 1 + line.chars().count() / 40).sum::<usize>();
    let height = (lines * 16).clamp(40, 320) as u32;
    Note::new(text).set_author("sheetport").add_author_prefix(false).set_width(280).set_height(height)
}

/// Returns the height of a row with `text` wrapped to the width of a column, or `None` if the text fits on one line.
pub(super) fn row_height(text: &str, width: f64) -> Option<f64> {
    const LINE: f64 = 15.0;
    const MAX_HEIGHT: f64 = 400.0;
    if (text.len() as f64) <= width && !text.contains('\n') {
        return None;
    }
    let lines: f64 = text.lines().map(|line| (line.chars().count() as f64 / width).ceil().max(1.0)).sum();
    (lines > 1.0).then(|| (lines * LINE).min(MAX_HEIGHT))
}
