//! Fault injection for rehearsals and tests: a rate limit per workspace, latency, and the faults of a plan. `plan` decides
//! about a request; this file carries the decision out.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::time::sleep;
use twox_hash::XxHash3_64;

use super::auth::Caller;
use super::journal::Trace;
use super::request::{discard, read_whole};
use super::response::{CtxId, ErrorResponse, TOTAL_HEADER};

mod answers;
mod limit;
mod paging;
mod plan;
mod plan_file;
mod refusals;
mod request_keys;
mod short_form;

use self::answers::{set_date, with_ending};
use self::limit::{BucketState, Buckets};
use self::paging::LastEntries;
use self::plan::{Effect, Ending, Paging, Seen};
use self::request_keys::{Attempts, Subject, identity, keys};

pub(super) use self::answers::deliver;
pub use self::limit::Limit;
pub use self::plan::Plan;
pub use self::plan_file::{EXAMPLES, delay};

/// The faults injected by a service.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultInjection {
    pub plan: Plan,
    /// The same seed lets the same requests fail.
    pub seed: u64,
}

/// Injects faults into the requests of a running service.
pub(super) struct FaultInjector {
    settings: FaultInjection,
    started: Instant,
    buckets: Option<Mutex<Buckets>>,
    /// Number of requests matched by each rule.
    calls: Vec<AtomicU64>,
    attempts: Mutex<Attempts>,
    /// Hashes of invalidated access tokens.
    void_tokens: Mutex<HashSet<u64>>,
    last_entries: Mutex<LastEntries>,
}

impl FaultInjector {
    pub(super) fn new(settings: FaultInjection) -> FaultInjector {
        FaultInjector {
            buckets: settings.plan.limit.map(|limit| Mutex::new(Buckets::new(limit))),
            calls: settings.plan.rules.iter().map(|_| AtomicU64::new(0)).collect(),
            settings,
            started: Instant::now(),
            attempts: Mutex::default(),
            void_tokens: Mutex::default(),
            last_entries: Mutex::default(),
        }
    }

    /// Counts a request towards the rate limit. Returns `None` without a limit or without an authenticated caller.
    fn count(&self, caller: Option<&Caller>) -> Option<BucketState> {
        Some(lock(self.buckets.as_ref()?).take(&caller?.workspace, self.started.elapsed()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    let plan = &injector.settings.plan;
    if !plan.latency.is_zero() {
        sleep(plan.latency).await;
    }
    let caller: Option<&Caller> = request.extensions().get();
    let bucket = injector.count(caller);
    let is_permitted = caller.is_none_or(|caller| caller.permit(request.method()).is_ok());
    let mut response = if bucket.is_some_and(|bucket| bucket.retry_after.is_some()) {
        note_fault(request.extensions().get(), "limit");
        // The client must finish sending first, or it would miss the response.
        discard(request.into_body()).await;
        let message = "rate limit exceeded; retry after the time in Retry-After";
        ErrorResponse::new(StatusCode::TOO_MANY_REQUESTS, message).into_response()
    } else if plan.has_rules() && is_permitted {
        run_by_plan(&injector, request, next).await
    } else {
        next.run(request).await
    };
    if let Some(bucket) = bucket {
        set_limit_headers(response.headers_mut(), bucket);
    }
    response
}

/// Sets the `Date` of every response, refusals without a token and unknown paths included, if the plan has a deviating clock.
pub(super) fn with_clock<S: Clone + Send + Sync + 'static>(
    routes: Router<S>,
    injector: Option<&Arc<FaultInjector>>,
) -> Router<S> {
    let ahead = injector.map_or(0, |injector| injector.settings.plan.clock);
    if ahead == 0 {
        return routes;
    }
    routes.layer(map_response(move |mut response: Response| {
        set_date(response.headers_mut(), ahead);
        std::future::ready(response)
    }))
}

fn note_fault(trace: Option<&Trace>, name: &str) {
    if let Some(trace) = trace {
        trace.note_fault(name);
    }
}

async fn run_by_plan(injector: &FaultInjector, request: Request, next: Next) -> Response {
    let (parts, body) = match read_whole(request).await {
        Ok(whole) => whole,
        Err(refusal) => return refusal.into_response(),
    };
    let token = parts.headers.get(header::AUTHORIZATION).map(|token| XxHash3_64::oneshot(token.as_bytes()));
    if token.is_some_and(|token| lock(&injector.void_tokens).contains(&token)) {
        return expired().into_response();
    }
    let keys = keys(parts.uri.path(), &body);
    let identity = identity(&parts.method, &parts.uri, &body);
    let workspace = parts.extensions.get::<Caller>().map_or("", |caller| &caller.workspace).to_owned();
    let attempt = lock(&injector.attempts).count(&workspace, identity);
    let seen = Seen { method: &parts.method, path: parts.uri.path(), keys: &keys, identity, attempt };
    let call = |rule: usize| injector.calls[rule].fetch_add(1, Ordering::Relaxed) + 1;
    let decision = injector.settings.plan.decide(injector.settings.seed, &seen, call);
    let trace = parts.extensions.get::<Trace>().cloned();
    if let (Some(trace), Ok(object)) = (&trace, serde_json::from_slice(&body)) {
        trace.note_body(XxHash3_64::oneshot(&body), &object);
    }
    let ctx_id = parts.extensions.get::<CtxId>().map_or("", CtxId::as_str).to_owned();
    let Some(decision) = decision else { return next.run(Request::from_parts(parts, Body::from(body))).await };
    let subject = Subject::of(parts.uri.path(), &body);
    let (effect, is_after) = (&decision.rule.effect, decision.is_after);
    tracing::info!(rule = decision.rule.name, attempt, is_after, "injected fault");
    let only_misleads = effect.only_misleads();
    if !only_misleads {
        note_fault(trace.as_ref(), &decision.rule.name);
    }
    if let (Some(trace), Some(Ending::Reset | Ending::Hang)) = (&trace, effect.ending) {
        trace.note_no_response();
    }
    if effect.ends_token
        && let Some(token) = token
    {
        lock(&injector.void_tokens).insert(token);
    }
    if !is_after {
        sleep(effect.delay).await;
    }
    let is_refused = effect.ends_token && token.is_some();
    let response = match (is_after, is_refused, effect.replaces_response()) {
        (false, true, _) => expired().into_response(),
        (false, false, true) => Response::default(),
        _ => {
            let processed = process(injector, &workspace, Request::from_parts(parts, Body::from(body)), next, effect);
            let (response, is_misled) = processed.await;
            if only_misleads && is_misled {
                note_fault(trace.as_ref(), &decision.rule.name);
            }
            response
        }
    };
    if is_after {
        sleep(effect.delay).await;
    }
    let ahead = injector.settings.plan.clock;
    let response = effect.answer.as_ref().map_or(response, |answer| answer.response(&subject, &ctx_id, ahead));
    match effect.ending {
        Some(ending) => with_ending(response, ending),
        None => response,
    }
}

/// The response to a request with a token that a fault has ended.
fn expired() -> ErrorResponse {
    ErrorResponse::unauthorized("the access token has expired")
}

impl Effect {
    /// Whether the rule changes nothing but the pages of lists, if there is something to change.
    fn only_misleads(&self) -> bool {
        let others = Effect { paging: None, max_page: None, ..self.clone() };
        others == Effect::default()
    }

    /// Whether the client gets nothing of the right response.
    fn replaces_response(&self) -> bool {
        self.answer.is_some() || matches!(self.ending, Some(Ending::Hang | Ending::Reset))
    }
}

/// Processes a request. A page of a list misleads as `effect` says. Also returns whether the page differs from the requested one.
async fn process(
    injector: &FaultInjector,
    workspace: &str,
    mut request: Request,
    next: Next,
    effect: &Effect,
) -> (Response, bool) {
    let uri = request.uri().clone();
    if effect.paging.is_some() || effect.max_page.is_some() {
        *request.uri_mut() = paging::redirect(&uri, effect.paging, effect.max_page);
    }
    let is_other_page = *request.uri() != uri;
    let response = next.run(request).await;
    let Some(paging) = effect.paging.filter(|_| response.status().is_success()) else {
        return (response, is_other_page);
    };
    let (mut parts, body) = response.into_parts();
    // Bodies of the service are complete in memory, so reading can't fail.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let Ok(right) = serde_json::from_slice::<Value>(&body) else {
        return (Response::from_parts(parts, Body::from(body)), is_other_page);
    };
    let page = paging::mislead(workspace, &uri, paging, right.clone(), &mut lock(&injector.last_entries));
    let is_misled = is_other_page || page != right;
    // The number of entries of a list without an envelope is in a header.
    if let (Value::Array(entries), Paging::CountLies | Paging::TotalLies) = (&page, paging)
        && parts.headers.contains_key(TOTAL_HEADER)
    {
        parts.headers.insert(TOTAL_HEADER, HeaderValue::from(entries.len()));
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    if matches!(paging, Paging::NoTotal | Paging::BareArray) {
        parts.headers.remove(TOTAL_HEADER);
    }
    (Response::from_parts(parts, Body::from(page.to_string())), is_misled)
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
