//! Ctrl-C, SIGTERM and SIGHUP.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sheetport_language::say;
use sheetport_send::Grace;
use tokio::sync::watch;

use crate::error::{ErrorCode, Exit, Failure};
use crate::ui;

/// Listens for signals in a task of its own, so that they are heard whatever the process waits for.
#[derive(Debug)]
pub(in crate::commands) struct Interrupt {
    heard: watch::Sender<Heard>,
    is_listening: AtomicBool,
}

/// The signals received so far.
#[derive(Clone, Copy, Debug)]
struct Heard {
    count: u8,
    /// The exit code for the first.
    exit: Exit,
}

impl Default for Interrupt {
    fn default() -> Interrupt {
        let heard = Heard { count: 0, exit: Exit::Interrupted };
        Interrupt { heard: watch::Sender::new(heard), is_listening: AtomicBool::new(false) }
    }
}

impl Interrupt {
    /// Waits for the first signal, says so, and returns how long requests in flight may take. A second signal gives them up,
    /// a third ends the process.
    pub(in crate::commands) async fn wait(&self) -> Grace {
        let exit = self.heard(1, 3).await;
        ui::remark(say!("Stopping after the requests in flight. Press Ctrl-C again to stop immediately."));
        // A system shutting down kills all processes after a few seconds.
        let limit = if exit == Exit::Terminated { 10 } else { 30 };
        let mut heard = self.heard.subscribe();
        let at_once = async move {
            if heard.wait_for(|heard| heard.count >= 2).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        Grace { limit: Duration::from_secs(limit), at_once: Box::pin(at_once) }
    }

    /// Waits for the first signal, without a message. A second signal ends the process.
    pub(in crate::commands) async fn signal(&self) {
        self.heard(1, 2).await;
    }

    /// Waits until `count` signals were received, and returns the exit code for the first. The signal `last` ends the process.
    async fn heard(&self, count: u8, last: u8) -> Exit {
        if !self.is_listening.swap(true, Ordering::Relaxed) {
            let (heard, mut signals) = (self.heard.clone(), Signals::listen());
            tokio::spawn(async move {
                for received in 1..=last {
                    let exit = signals.next().await;
                    if received == last {
                        std::process::exit(exit as i32);
                    }
                    heard.send_modify(|heard| {
                        heard.count = received;
                        if received == 1 {
                            heard.exit = exit;
                        }
                    });
                }
            });
        }
        let mut heard = self.heard.subscribe();
        let first = heard.wait_for(|heard| heard.count >= count).await.map(|heard| heard.exit);
        match first {
            Ok(exit) => exit,
            // The sender lives as long as this.
            Err(_) => std::future::pending().await,
        }
    }

    /// Gives a command that failed because it was stopped the exit code of the signal.
    pub(in crate::commands) fn after(&self, mut failure: Failure) -> Failure {
        if self.heard.borrow().count > 0 && matches!(failure.exit(), Exit::Busy | Exit::Fault) {
            failure.code = ErrorCode::of_signal(self.exit());
        }
        failure
    }

    /// Returns the exit code for the received signal.
    pub(in crate::commands) fn exit(&self) -> Exit {
        self.heard.borrow().exit
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
