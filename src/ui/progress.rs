//! Progress: a bar if stderr is a terminal, otherwise a line now and then.

use std::fmt;
use std::io::IsTerminal;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use sheetport_language::{plural, say, tenths, word};

use super::{counted, remark, terminal, thousands};

/// Interval of the first lines, and maximum interval.
const PLAIN_EVERY: Duration = Duration::from_secs(2);
const PLAIN_AT_LEAST_EVERY: Duration = Duration::from_secs(60);
const DRAWS_PER_SECOND: u8 = 10;
/// Columns of the bar, and of the text beside the bar.
const BAR: RangeInclusive<usize> = 6..=32;
const BESIDE_BAR: usize = 56;

/// Progress of one step.
pub struct Progress {
    kind: Kind,
    noun: &'static str,
    verb: &'static str,
}

enum Kind {
    Silent,
    Bar(ProgressBar),
    Plain(Mutex<Plain>),
}

struct Plain {
    began: Instant,
    next: Instant,
    total: Option<u64>,
}

impl Progress {
    /// Starts showing progress, such as `reading … rows` for the verb `reading` and the noun `row`.
    pub fn new(shown: bool, verb: &'static str, noun: &'static str, total: Option<u64>) -> Progress {
        let kind = if !shown {
            Kind::Silent
        } else if std::io::stderr().is_terminal() && !terminal::is_plain() {
            Kind::Bar(bar(verb, noun, total))
        } else {
            let now = Instant::now();
            Kind::Plain(Mutex::new(Plain { began: now, next: now + PLAIN_EVERY, total }))
        };
        Progress { kind, noun, verb }
    }

    /// Shows how many are done. `remark` adds details such as retries.
    pub fn at(&self, done: u64, remark: impl FnOnce() -> String) {
        match &self.kind {
            Kind::Silent => {}
            Kind::Bar(bar) => {
                bar.set_position(done);
                bar.set_message(remark());
            }
            Kind::Plain(plain) => {
                // The lock is poisoned only if printing panicked.
                if let Ok(mut plain) = plain.lock()
                    && Instant::now() >= plain.next
                {
                    // Lines become rarer in long runs, to keep logs short.
                    plain.next = Instant::now() + (plain.began.elapsed() / 4).clamp(PLAIN_EVERY, PLAIN_AT_LEAST_EVERY);
                    self.say(&plain, done, &remark());
                }
            }
        }
    }

    pub fn set_total(&self, total: u64) {
        match &self.kind {
            Kind::Silent => {}
            Kind::Bar(bar) => {
                bar.set_length(total);
                bar.set_style(known_style(self.noun));
            }
            Kind::Plain(plain) => {
                if let Ok(mut plain) = plain.lock() {
                    plain.total = Some(total);
                }
            }
        }
    }

    /// Removes the bar, or prints the last line.
    pub fn finish(self, done: u64) {
        match &self.kind {
            Kind::Silent => {}
            Kind::Bar(bar) => bar.finish_and_clear(),
            Kind::Plain(plain) => {
                if let Ok(plain) = plain.lock() {
                    self.say(&plain, done, "");
                }
            }
        }
    }

    fn say(&self, plain: &Plain, done: u64, more: &str) {
        let seconds = plain.began.elapsed().as_secs_f64();
        let of = plain.total.map(|total| say!(" of {}", thousands(total))).unwrap_or_default();
        let more = if more.is_empty() { String::new() } else { format!(", {more}") };
        let (verb, seconds) = (word(self.verb), tenths(seconds));
        remark(say!("{verb} {}{of} in {seconds} s{more}", counted(done, self.noun)));
    }
}

fn bar(verb: &'static str, noun: &'static str, total: Option<u64>) -> ProgressBar {
    let bar = match total {
        Some(total) => ProgressBar::new(total).with_style(known_style(noun)),
        None => ProgressBar::new_spinner()
            .with_style(style(&format!("{{prefix:>9}} {{spinner}} {{done}} {}  {{elapsed}}  {{msg}}", plural(noun)))),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND));
    bar.with_prefix(word(verb))
}

fn known_style(noun: &str) -> ProgressStyle {
    let columns = terminal::stderr_width().unwrap_or(usize::MAX);
    let bar = columns.saturating_sub(BESIDE_BAR).clamp(*BAR.start(), *BAR.end());
    let (nouns, left) = (plural(noun), say!("{{eta}} left"));
    style(&format!("{{prefix:>9}} {{bar:{bar}.cyan/dim}} {{done}}/{{all}} {nouns}  {{rate}}/s  {left}  {{msg}}"))
        .progress_chars("━╸─")
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    // An error of writing to a text can't happen.
    let number = |output: &mut dyn fmt::Write, number: u64| {
        let _ = output.write_str(&thousands(number));
    };
    style
        .with_key("done", move |state: &ProgressState, output: &mut dyn fmt::Write| number(output, state.pos()))
        .with_key("rate", move |state: &ProgressState, output: &mut dyn fmt::Write| {
            let rate = state.per_sec();
            // Below ten records, whole numbers say too little.
            let _ = match rate < 10.0 {
                true => output.write_str(&tenths(rate)),
                false => output.write_str(&thousands(rate.round() as u64)),
            };
        })
        .with_key("all", move |state: &ProgressState, output: &mut dyn fmt::Write| {
            number(output, state.len().unwrap_or_default());
        })
}
