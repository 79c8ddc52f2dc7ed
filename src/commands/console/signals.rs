//! Ctrl-C, SIGTERM and SIGHUP.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::error::Exit;
use crate::language::say;
use crate::ui;
use crate::upload::Grace;

/// Waits for a signal and stores its kind.
#[derive(Debug, Default)]
pub(in crate::commands) struct Interrupt {
    exit: AtomicU8,
}

impl Interrupt {
    /// Waits for the first signal, says so, and returns how long requests in flight may take. A second signal gives them up,
    /// a third ends the process.
    pub(in crate::commands) async fn wait(&self) -> Grace {
        let mut signals = Signals::listen();
        let limit = self.first(&mut signals).await;
        let second = Arc::new(Notify::new());
        let at_once = Arc::clone(&second);
        tokio::spawn(async move {
            signals.next().await;
            second.notify_one();
            let exit = signals.next().await;
            std::process::exit(exit as i32);
        });
        ui::remark(say!("Stopping after the requests in flight. Press Ctrl-C again to stop immediately."));
        Grace { limit, at_once: Box::pin(async move { at_once.notified().await }) }
    }

    /// Waits for the first signal, without a message. A second signal ends the process.
    pub(in crate::commands) async fn signal(&self) {
        let mut signals = Signals::listen();
        self.first(&mut signals).await;
        tokio::spawn(async move {
            let exit = signals.next().await;
            std::process::exit(exit as i32);
        });
    }

    async fn first(&self, signals: &mut Signals) -> Duration {
        let exit = signals.next().await;
        self.exit.store(exit as u8, Ordering::Relaxed);
        // A system shutting down kills all processes after a few seconds.
        if exit == Exit::Terminated { Duration::from_secs(10) } else { Duration::from_secs(30) }
    }

    /// Returns the exit code for the received signal.
    pub(in crate::commands) fn exit(&self) -> Exit {
        if self.exit.load(Ordering::Relaxed) == Exit::Terminated as u8 { Exit::Terminated } else { Exit::Interrupted }
    }
}

/// The signals that request a stop. Signals between two calls of [`Signals::next`] are not lost.
struct Signals {
    #[cfg(unix)]
    streams: Vec<(Exit, tokio::signal::unix::Signal)>,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> Signals {
        use tokio::signal::unix::{SignalKind, signal};
        let hangup = (!ignores_hangup()).then_some((Exit::Interrupted, SignalKind::hangup()));
        let kinds = [(Exit::Interrupted, SignalKind::interrupt()), (Exit::Terminated, SignalKind::terminate())];
        // A signal without a handler ends the process, as usual.
        let streams = kinds.into_iter().chain(hangup).filter_map(|(exit, kind)| Some((exit, signal(kind).ok()?)));
        Signals { streams: streams.collect() }
    }

    async fn next(&mut self) -> Exit {
        std::future::poll_fn(|context| {
            for (exit, stream) in &mut self.streams {
                if stream.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(*exit);
                }
            }
            std::task::Poll::Pending
        })
        .await
    }
}

/// Returns whether the process was started with SIGHUP ignored, for example by `nohup`.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is signal 1, the lowest bit.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 != 0)
}

#[cfg(not(unix))]
impl Signals {
    fn listen() -> Signals {
        Signals {}
    }

    async fn next(&mut self) -> Exit {
        let _ = tokio::signal::ctrl_c().await;
        Exit::Interrupted
    }
}

/// Makes a write beyond the permitted file size fail with an error, instead of ending the process by a signal.
pub(in crate::commands) fn outlive_file_size_limit() {
    #[cfg(unix)]
    {
        /// SIGXFSZ on Linux, macOS and the BSDs.
        const FILE_SIZE: i32 = 25;
        // Without a handler, the system ends the process, as usual.
        let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(FILE_SIZE));
    }
}
