//! Styles. The text carries the same meaning without styles.

use anstyle::{AnsiColor, Style};

pub const ERROR: Style = AnsiColor::Red.on_default().bold();
pub const HINT: Style = AnsiColor::Cyan.on_default().bold();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const DOUBT: Style = AnsiColor::Yellow.on_default();
pub const FAINT: Style = Style::new().dimmed();
pub const STRONG: Style = Style::new().bold();
