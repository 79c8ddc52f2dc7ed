//! Fault injection for rehearsals: a rate limit per workspace, latency, and faults. `faults` selects the fault of a
//! request; this file applies it.

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

use super::auth::Caller;
use super::request::discard;
use super::response::ErrorResponse;

mod faults;
mod limit;

use self::faults::{Fault, FaultKind};
use self::limit::{BucketState, Buckets};

pub use self::faults::Faults;
pub use self::limit::Limit;

/// The faults that a service injects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultInjection {
    /// Rate limit per workspace. Further requests get a 429.
    pub limit: Option<Limit>,
    /// Delay of every response.
    pub latency: Duration,
    pub faults: Faults,
    /// The same seed and order of requests produce the same faults.
    pub seed: u64,
    /// Delay of a slow response.
    pub slow: Duration,
}

impl FaultInjection {
    /// Returns settings without faults. Slow responses, if enabled, take five seconds.
    pub fn new(seed: u64) -> FaultInjection {
        let slow = Duration::from_secs(5);
        FaultInjection { limit: None, latency: Duration::ZERO, faults: Faults::default(), seed, slow }
    }
}

/// Injects faults into the requests of a running service.
pub(super) struct FaultInjector {
    settings: FaultInjection,
    started: Instant,
    arrivals: AtomicU64,
    buckets: Option<Mutex<Buckets>>,
}

impl FaultInjector {
    pub(super) fn new(settings: FaultInjection) -> FaultInjector {
        let buckets = settings.limit.map(|limit| Mutex::new(Buckets::new(limit)));
        FaultInjector { settings, started: Instant::now(), arrivals: AtomicU64::new(0), buckets }
    }

    /// Counts a request towards the rate limit. Returns `None` without a limit or without an authenticated caller.
    fn count(&self, caller: Option<&Caller>) -> Option<BucketState> {
        let mut buckets = self.buckets.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(buckets.take(&caller?.workspace, self.started.elapsed()))
    }
}

/// Adds fault injection to the routes, if enabled. The rate limit applies only to authenticated routes.
pub(super) fn wrap<S: Clone + Send + Sync + 'static>(
    routes: Router<S>,
    injector: Option<&Arc<FaultInjector>>,
) -> Router<S> {
    match injector {
        Some(injector) => routes.route_layer(from_fn_with_state(injector.clone(), inject)),
        None => routes,
    }
}

async fn inject(State(injector): State<Arc<FaultInjector>>, request: Request, next: Next) -> Response {
    let settings = &injector.settings;
    let fault = settings.faults.select(settings.seed, injector.arrivals.fetch_add(1, Ordering::Relaxed));
    if !settings.latency.is_zero() {
        sleep(settings.latency).await;
    }
    let bucket = injector.count(request.extensions().get());
    let mut response = if bucket.is_some_and(|bucket| bucket.retry_after.is_some()) {
        reject(request, StatusCode::TOO_MANY_REQUESTS, "rate limit exceeded; retry after the time in Retry-After").await
    } else {
        run_with_fault(request, next, fault, settings.slow).await
    };
    if let Some(bucket) = bucket {
        set_limit_headers(response.headers_mut(), bucket);
    }
    response
}

async fn run_with_fault(request: Request, next: Next, fault: Option<Fault>, slow: Duration) -> Response {
    let Some(Fault { kind, is_after }) = fault else { return next.run(request).await };
    tracing::info!(%kind, is_after, "injected fault");
    match kind {
        FaultKind::Slow if is_after => {
            let response = next.run(request).await;
            sleep(slow).await;
            response
        }
        FaultKind::Slow => {
            sleep(slow).await;
            next.run(request).await
        }
        FaultKind::Cut => with_ending(next.run(request).await, Ending::Cut),
        FaultKind::Reset if is_after => with_ending(next.run(request).await, Ending::Reset),
        FaultKind::Reset => {
            discard(request.into_body()).await;
            with_ending(Response::default(), Ending::Reset)
        }
        FaultKind::Status(status) => {
            let status = StatusCode::from_u16(status).expect("parsed as 400 to 599");
            let message = "injected fault";
            if is_after {
                drop(next.run(request).await);
                error_response(status, message)
            } else {
                reject(request, status, message).await
            }
        }
    }
}

/// Rejects a request after reading the body. Otherwise a client that is still sending would not see the response.
async fn reject(request: Request, status: StatusCode, message: &str) -> Response {
    discard(request.into_body()).await;
    error_response(status, message)
}

fn error_response(status: StatusCode, message: &str) -> Response {
    let mut response = ErrorResponse::new(status, message).into_response();
    if status == StatusCode::TOO_MANY_REQUESTS {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Sets the headers of `draft-ietf-httpapi-ratelimit-headers`, with times in whole seconds.
fn set_limit_headers(headers: &mut HeaderMap, bucket: BucketState) {
    let seconds = |time: Duration| time.as_nanos().div_ceil(1_000_000_000) as u64;
    let mut set = |name: &'static str, value: u64| {
        headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
    };
    set("ratelimit-limit", bucket.limit.into());
    set("ratelimit-remaining", bucket.remaining.into());
    set("ratelimit-reset", seconds(bucket.reset));
    if let Some(wait) = bucket.retry_after {
        set("retry-after", seconds(wait));
    }
}

/// How an incomplete response ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Without any byte.
    Reset,
    /// After half of the body.
    Cut,
}

/// The connection is closed on purpose.
#[derive(Debug, thiserror::Error)]
#[error("connection closed by fault injection")]
pub(super) struct Closed;

fn with_ending(mut response: Response, ending: Ending) -> Response {
    response.extensions_mut().insert(ending);
    response
}

/// Returns the response to send: all of it, half of it, or an error that closes the connection. To be called on complete
/// responses, after error bodies were added.
pub(super) async fn deliver(mut response: Response) -> Result<Response, Closed> {
    match response.extensions_mut().remove::<Ending>() {
        None => Ok(response),
        Some(Ending::Reset) => Err(Closed),
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
                // Lets the connection flush the first half before the error.
                tokio::task::yield_now().await;
                Some((Err(Closed), None))
            }
        }
    });
    Ok(Response::from_parts(parts, Body::from_stream(chunks)))
}
