//! Being asked to stop: Ctrl-C, and SIGTERM where there is one.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use crate::error::Exit;
use crate::ui;

/// Waits for a person or the system to ask for the end, and remembers who did.
#[derive(Debug, Default)]
pub struct Interrupt {
    exit: AtomicU8,
}

impl Interrupt {
    /// Resolves at the first request to stop. A second one ends the process at once.
    ///
    /// Answers how long work under way may take to end: a system that shuts down gives less time than a person.
    pub async fn wait(&self) -> Duration {
        let grace = self.asked().await;
        ui::remark("Stopping: waiting for the requests under way. Once more ends at once.");
        grace
    }

    /// The same, for what has nothing to wait for and says so itself.
    pub async fn asked(&self) -> Duration {
        let exit = next().await;
        self.exit.store(exit as u8, Ordering::Relaxed);
        tokio::spawn(async {
            let exit = next().await;
            std::process::exit(exit as i32);
        });
        if exit == Exit::Terminated { Duration::from_secs(10) } else { Duration::from_secs(30) }
    }

    /// The exit code that says who asked.
    pub fn exit(&self) -> Exit {
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
