//! Bad weather on demand: a limit for each workspace, a delay, and faults, so that a client can be rehearsed against a
//! service that misbehaves as services do. What goes wrong is decided in `faults` and `limit`; here it is done.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::time::sleep;

use self::faults::{Fault, Kind};
use self::limit::{Buckets, Standing};
use super::answer::Refusal;
use super::auth::Caller;
use super::body;

mod faults;
mod limit;

pub use self::faults::Faults;
pub use self::limit::Limit;

/// How a service misbehaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rehearsal {
    /// For each workspace; whoever makes more requests is answered 429.
    pub limit: Option<Limit>,
    /// Before every answer.
    pub latency: Duration,
    pub faults: Faults,
    /// The same seed makes the same faults of the same order of requests.
    pub seed: u64,
    /// How late a slow answer is.
    pub slow: Duration,
}

impl Rehearsal {
    /// Good weather; a slow answer, once there are some, is five seconds late.
    pub fn new(seed: u64) -> Rehearsal {
        let slow = Duration::from_secs(5);
        Rehearsal { limit: None, latency: Duration::ZERO, faults: Faults::default(), seed, slow }
    }
}

/// A rehearsal under way.
pub struct Rehearser {
    rehearsal: Rehearsal,
    began: Instant,
    arrivals: AtomicU64,
    buckets: Option<Mutex<Buckets>>,
}

impl Rehearser {
    pub fn new(rehearsal: Rehearsal) -> Rehearser {
        let buckets = rehearsal.limit.map(|limit| Mutex::new(Buckets::new(limit)));
        Rehearser { rehearsal, began: Instant::now(), arrivals: AtomicU64::new(0), buckets }
    }

    fn standing(&self, caller: Option<&Caller>) -> Option<Standing> {
        let mut buckets = self.buckets.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(buckets.take(&caller?.workspace, self.began.elapsed()))
    }
}

/// The routes with the rehearsal around them, if there is one. Behind a token they are limited, too.
pub fn around<S: Clone + Send + Sync + 'static>(routes: Router<S>, rehearser: Option<&Arc<Rehearser>>) -> Router<S> {
    match rehearser {
        Some(rehearser) => routes.route_layer(from_fn_with_state(rehearser.clone(), misbehave)),
        None => routes,
    }
}

async fn misbehave(State(rehearser): State<Arc<Rehearser>>, request: Request, next: Next) -> Response {
    let rehearsal = &rehearser.rehearsal;
    let fault = rehearsal.faults.decide(rehearsal.seed, rehearser.arrivals.fetch_add(1, Ordering::Relaxed));
    if !rehearsal.latency.is_zero() {
        sleep(rehearsal.latency).await;
    }
    let standing = rehearser.standing(request.extensions().get());
    let mut response = if standing.is_some_and(|standing| standing.retry_after.is_some()) {
        refuse(request, StatusCode::TOO_MANY_REQUESTS, "too many requests; Retry-After says when to go on").await
    } else {
        carry_out(request, next, fault, rehearsal.slow).await
    };
    if let Some(standing) = standing {
        tell(response.headers_mut(), standing);
    }
    response
}

async fn carry_out(request: Request, next: Next, fault: Option<Fault>, slow: Duration) -> Response {
    let Some(Fault { kind, carried_out }) = fault else { return next.run(request).await };
    tracing::info!(%kind, carried_out, "a fault of the rehearsal");
    match kind {
        Kind::Slow if carried_out => {
            let response = next.run(request).await;
            sleep(slow).await;
            response
        }
        Kind::Slow => {
            sleep(slow).await;
            next.run(request).await
        }
        Kind::Cut => ending(next.run(request).await, Ending::Cut),
        Kind::Reset if carried_out => ending(next.run(request).await, Ending::None),
        Kind::Reset => {
            body::discard(request.into_body()).await;
            ending(Response::default(), Ending::None)
        }
        Kind::Status(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let message = "a fault of the rehearsal, made on purpose";
            if carried_out {
                drop(next.run(request).await);
                refusal(status, message)
            } else {
                refuse(request, status, message).await
            }
        }
    }
}

/// Refuses a request that nobody has read. A client that is still writing would not see the answer.
async fn refuse(request: Request, status: StatusCode, message: &str) -> Response {
    body::discard(request.into_body()).await;
    refusal(status, message)
}

fn refusal(status: StatusCode, message: &str) -> Response {
    let mut response = Refusal::new(status, message).into_response();
    if status == StatusCode::TOO_MANY_REQUESTS {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// The headers of `draft-ietf-httpapi-ratelimit-headers` as services commonly send them, in whole seconds.
fn tell(headers: &mut HeaderMap, standing: Standing) {
    let seconds = |time: Duration| time.as_nanos().div_ceil(1_000_000_000) as u64;
    let mut set = |name: &'static str, value: u64| {
        headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
    };
    set("ratelimit-limit", standing.limit.into());
    set("ratelimit-remaining", standing.remaining.into());
    set("ratelimit-reset", seconds(standing.reset));
    if let Some(wait) = standing.retry_after {
        set("retry-after", seconds(wait));
    }
}

/// How an answer ends that does not arrive whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// There is none.
    None,
    /// After half of its body.
    Cut,
}

/// The connection was closed on purpose.
#[derive(Debug, thiserror::Error)]
#[error("closed by the rehearsal")]
pub struct Closed;

fn ending(mut response: Response, ending: Ending) -> Response {
    response.extensions_mut().insert(ending);
    response
}

/// What is said on the connection: the answer, half of it, or nothing. Called when the answer is complete, since a
/// refusal gets its body last.
pub async fn say(mut response: Response) -> Result<Response, Closed> {
    match response.extensions_mut().remove::<Ending>() {
        None => Ok(response),
        Some(Ending::None) => Err(Closed),
        Some(Ending::Cut) => cut(response).await,
    }
}

async fn cut(response: Response) -> Result<Response, Closed> {
    let (mut parts, body) = response.into_parts();
    let whole = to_bytes(body, usize::MAX).await.map_err(|_| Closed)?;
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(whole.len()));
    let half = whole.slice(..whole.len() / 2);
    let chunks = stream::unfold(Some(half), |half| async move {
        match half {
            Some(half) => Some((Ok(half), None)),
            None => {
                // The connection writes what it has when it has to wait, and only then hears of the end.
                tokio::task::yield_now().await;
                Some((Err(Closed), None))
            }
        }
    });
    Ok(Response::from_parts(parts, Body::from_stream(chunks)))
}
