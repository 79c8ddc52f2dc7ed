//! Limits of connections: how many there may be at a time, and how long a client may not read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Semaphore;
use tokio::time::{Sleep, sleep};

/// File descriptors reserved for other purposes: the database with its readers, the log, the listeners.
const RESERVED: u64 = 64;

/// Minimum and maximum number of simultaneous connections, regardless of the limit on file descriptors.
const MIN_CONNECTIONS: u64 = 8;
const MAX_CONNECTIONS: u64 = 65_536;

/// Returns one permit for each connection possible under the limit on file descriptors. Further connections wait in the queue of
/// the system instead of failing.
pub(super) fn permits() -> Arc<Semaphore> {
    let connections = descriptors().saturating_sub(RESERVED).clamp(MIN_CONNECTIONS, MAX_CONNECTIONS);
    Arc::new(Semaphore::new(connections as usize))
}

#[cfg(unix)]
fn descriptors() -> u64 {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

#[cfg(not(unix))]
fn descriptors() -> u64 {
    u64::MAX
}

/// A stream whose writes fail if the peer reads nothing for a time.
pub(super) struct WriteTimeout<S> {
    stream: S,
    limit: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S: Unpin> WriteTimeout<S> {
    pub(super) fn new(stream: S, limit: Duration) -> WriteTimeout<S> {
        WriteTimeout { stream, limit, waiting: None }
    }

    /// Polls a write. Fails if the write has waited too long.
    fn write<T>(
        &mut self,
        context: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(written) = poll(Pin::new(&mut self.stream), context) {
            self.waiting = None;
            return Poll::Ready(written);
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream, context| stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write(context, |stream, context| stream.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write(context, |stream, context| stream.poll_shutdown(context))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_fails_the_write() {
        let (client, server) = duplex(8);
        let mut server = WriteTimeout::new(server, LIMIT);
        let started = tokio::time::Instant::now();
        let error = server.write_all(&[0; 100]).await.expect_err("nobody reads");
        assert_eq!((error.kind(), started.elapsed()), (io::ErrorKind::TimedOut, LIMIT));
        drop(client);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_client_gets_everything() {
        let (mut client, server) = duplex(8);
        let mut server = WriteTimeout::new(server, LIMIT);
        let write = tokio::spawn(async move { server.write_all(&[7; 100]).await });
        let mut read = 0;
        while read < 100 {
            sleep(LIMIT - Duration::from_secs(1)).await;
            read += client.read(&mut [0; 8]).await.expect("read");
        }
        write.await.expect("no panic").expect("written");
    }
}
