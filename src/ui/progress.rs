//! Progress: a bar where stderr is a terminal, a plain line now and then where it is not.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{counted, remark, thousands};

/// How often a plain line is written.
const PLAIN_EVERY: Duration = Duration::from_secs(2);
const PLAIN_AT_LEAST_EVERY: Duration = Duration::from_secs(60);
const DRAWS_PER_SECOND: u8 = 10;

/// The progress of one stretch of work.
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
    /// `verb` is what is being done, `noun` what is counted, as in `reading … rows`.
    pub fn new(shown: bool, verb: &'static str, noun: &'static str, total: Option<u64>) -> Progress {
        let kind = if !shown {
            Kind::Silent
        } else if std::io::stderr().is_terminal() {
            Kind::Bar(bar(verb, noun, total))
        } else {
            let now = Instant::now();
            Kind::Plain(Mutex::new(Plain { began: now, next: now + PLAIN_EVERY, total }))
        };
        Progress { kind, noun, verb }
    }

    /// So many are done; `remark` says what else there is to say, such as retries.
    pub fn at(&self, done: u64, remark: impl FnOnce() -> String) {
        match &self.kind {
            Kind::Silent => {}
            Kind::Bar(bar) => {
                bar.set_position(done);
                bar.set_message(remark());
            }
            Kind::Plain(plain) => {
                // Only this type holds the lock, and only here: a poisoned one means that a print panicked.
                if let Ok(mut plain) = plain.lock()
                    && Instant::now() >= plain.next
                {
                    // Seldom in a long run: a log should not fill with progress.
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

    /// Takes the bar away, or writes the last plain line.
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
        let of = plain.total.map(|total| format!(" of {}", thousands(total))).unwrap_or_default();
        let more = if more.is_empty() { String::new() } else { format!(", {more}") };
        remark(format_args!("{} {}{of} in {seconds:.1} s{more}", self.verb, counted(done, self.noun)));
    }
}

fn bar(verb: &'static str, noun: &'static str, total: Option<u64>) -> ProgressBar {
    let bar = match total {
        Some(total) => ProgressBar::new(total).with_style(known_style(noun)),
        None => ProgressBar::new_spinner()
            .with_style(style(&format!("{{prefix:>9}} {{spinner}} {{human_pos}} {noun}s  {{elapsed}}  {{msg}}"))),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND));
    bar.with_prefix(verb)
}

fn known_style(noun: &str) -> ProgressStyle {
    style(&format!(
        "{{prefix:>9}} {{bar:32.cyan/dim}} {{human_pos}}/{{human_len}} {noun}s  {{per_sec}}  {{eta}} left  {{msg}}"
    ))
    .progress_chars("━╸─")
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
