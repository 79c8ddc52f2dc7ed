//! Reading: a call that may always be repeated, made until it is answered or given up.

use std::time::Instant;

use reqwest::Url;

use super::answer;
use super::error::Error;
use super::pace::Pace;
use super::policy::{LONGEST_WAIT, MAX_ATTEMPTS, SHORTEST_THROTTLE, backoff, parse_retry_after};
use super::transport::{Client, Exchange, Request};

/// Throttled answers for one page after which the service means it.
const MAX_THROTTLED: u32 = 20;

/// What `read` makes of a successful `GET`. Waits for `pace` before each request; where the service asks to wait, all
/// who share the pace wait.
pub async fn fetch<T>(
    client: &Client,
    pace: &Pace,
    path: &str,
    mut read: impl FnMut(Vec<u8>) -> Result<T, String>,
) -> Result<T, Error> {
    let request = Request { method: "GET", path: path.to_owned(), body: None };
    let mut tries = 0;
    let mut throttled = 0;
    let mut renewed = false;
    loop {
        while let Err(until) = pace.permit(Instant::now()) {
            tokio::time::sleep_until(until.into()).await;
        }
        let failure = match client.attempt(&request).await.exchange {
            Exchange::Answered(answer) if (200..300).contains(&answer.status) => match read(answer.body) {
                Ok(read) => return Ok(read),
                Err(reason) => Error::Unreadable(reason),
            },
            Exchange::Answered(answer) => {
                let message = answer::message(&answer.body).unwrap_or_else(|| "no reason given".to_owned());
                let failure = Error::Status { status: answer.status, message };
                let wait = answer.retry_after.as_deref().and_then(parse_retry_after);
                if wait.is_some_and(|wait| wait > LONGEST_WAIT) {
                    return Err(failure);
                }
                let wait = wait.map(|wait| wait.max(SHORTEST_THROTTLE));
                match answer.status {
                    429 if throttled < MAX_THROTTLED => {
                        throttled += 1;
                        let pause = wait.unwrap_or_else(|| backoff(throttled, true, fastrand::f64()));
                        pace.hold(Instant::now() + pause);
                        continue;
                    }
                    408 | 500 | 502..=504 => {
                        if let Some(wait) = wait {
                            pace.hold(Instant::now() + wait);
                        }
                        failure
                    }
                    _ => return Err(failure),
                }
            }
            Exchange::Renewed { reason } if std::mem::replace(&mut renewed, true) => {
                return Err(Error::Refused(reason));
            }
            Exchange::Renewed { .. } => continue,
            Exchange::Unauthorized { reason } => return Err(Error::Refused(reason)),
            Exchange::CutAnswer { reason, .. } | Exchange::Lost { reason } | Exchange::NotSent { reason } => {
                Error::Unreachable { url: client.address().to_owned(), reason }
            }
        };
        tries += 1;
        if tries >= MAX_ATTEMPTS {
            return Err(failure);
        }
        tokio::time::sleep(backoff(tries, false, fastrand::f64())).await;
    }
}

/// The path of a single record below the path of all: its id as one part of the path, and with `by_external_id` also as
/// the query's `external_id`. Nothing for an id that a path can't have.
pub fn record_path(all: &str, id: &str, by_external_id: bool) -> Option<String> {
    // A URL takes these for steps, also where they are encoded.
    if matches!(id, "" | "." | "..") {
        return None;
    }
    let mut url = Url::parse("http://host").ok()?;
    url.path_segments_mut().ok()?.extend(all.split('/').filter(|part| !part.is_empty())).push(id);
    if by_external_id {
        url.query_pairs_mut().append_pair("external_id", id);
    }
    url.as_str().strip_prefix("http://host").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::record_path;

    #[test]
    fn an_id_is_one_part_of_a_path_whatever_is_in_it() {
        let path = |id, external| record_path("/v1/public/orders", id, external);
        assert_eq!(path("42", false).as_deref(), Some("/v1/public/orders/42"));
        assert_eq!(path("a/b?c#d e%", false).as_deref(), Some("/v1/public/orders/a%2Fb%3Fc%23d%20e%25"));
        assert_eq!(path("ä&b", true).as_deref(), Some("/v1/public/orders/%C3%A4&b?external_id=%C3%A4%26b"));
        assert_eq!([path("..", false), path(".", false), path("", false)], [None, None, None]);
    }
}
