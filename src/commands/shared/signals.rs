//! Ctrl-C and SIGTERM.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use crate::error::Exit;
use crate::ui;

/// Waits for a signal and remembers its kind.
#[derive(Debug, Default)]
pub(crate) struct Interrupt {
    exit: AtomicU8,
}

impl Interrupt {
    /// Waits for the first signal, says so, and returns how long requests in flight may take. A second signal ends the
    /// process at once.
    pub(crate) async fn wait(&self) -> Duration {
        let grace = self.signal().await;
        ui::remark("Stopping after the requests in flight. Press Ctrl-C again to stop immediately.");
        grace
    }

    /// Waits like [`Interrupt::wait`], without a message.
    pub(crate) async fn signal(&self) -> Duration {
        let exit = next().await;
        self.exit.store(exit as u8, Ordering::Relaxed);
        tokio::spawn(async {
            let exit = next().await;
            std::process::exit(exit as i32);
        });
        // A system shutting down kills all processes after a few seconds.
        if exit == Exit::Terminated { Duration::from_secs(10) } else { Duration::from_secs(30) }
    }

    /// Returns the exit code for the received signal.
    pub(crate) fn exit(&self) -> Exit {
        if self.exit.load(Ordering::Relaxed) == Exit::Terminated as u8 { Exit::Terminated } else { Exit::Interrupted }
    }
}

#[cfg(unix)]
async fn next() -> Exit {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = tokio::signal::ctrl_c() => Exit::Interrupted,
            _ = terminate.recv() => Exit::Terminated,
        },
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
            Exit::Interrupted
        }
    }
}

#[cfg(not(unix))]
async fn next() -> Exit {
    let _ = tokio::signal::ctrl_c().await;
    Exit::Interrupted
}
