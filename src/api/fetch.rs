//! Reading: a call that may always be repeated, made until it is answered or given up.

use std::time::{Duration, Instant};

use super::answer;
use super::client::{Client, Exchange, Request};
use super::error::Error;
use super::pace::Pace;
use super::policy::{LONGEST_WAIT, MAX_ATTEMPTS, backoff, parse_retry_after};

/// Throttled answers for one page after which the service means it.
const MAX_THROTTLED: u32 = 20;

/// The body of a successful `GET`. Waits for `pace` before each request.
pub async fn fetch(client: &Client, pace: &Pace, path: &str) -> Result<Vec<u8>, Error> {
    let request = Request { method: "GET", path: path.to_owned(), body: None };
    let mut tries = 0;
    let mut throttled = 0;
    let mut renewed = false;
    loop {
        while let Err(until) = pace.permit(Instant::now()) {
            tokio::time::sleep_until(until.into()).await;
        }
        let (failure, pause) = match client.attempt(&request).await.exchange {
            Exchange::Answered(answer) if (200..300).contains(&answer.status) => return Ok(answer.body),
            Exchange::Answered(answer) => {
                let message = answer::message(&answer.body).unwrap_or_else(|| "no reason given".to_owned());
                let failure = Error::Status { status: answer.status, message };
                let wait = answer.retry_after.as_deref().and_then(parse_retry_after);
                if wait.is_some_and(|wait| wait > LONGEST_WAIT) {
                    return Err(failure);
                }
                match answer.status {
                    429 if throttled < MAX_THROTTLED => {
                        throttled += 1;
                        let pause = wait
                            .unwrap_or_else(|| backoff(throttled, true, fastrand::f64()))
                            .max(Duration::from_secs(1));
                        tokio::time::sleep(pause).await;
                        continue;
                    }
                    408 | 500 | 502..=504 => (failure, wait),
                    _ => return Err(failure),
                }
            }
            Exchange::Renewed { reason } if std::mem::replace(&mut renewed, true) => {
                return Err(Error::Refused(reason));
            }
            Exchange::Renewed { .. } => continue,
            Exchange::Unauthorized { reason } => return Err(Error::Refused(reason)),
            Exchange::CutAnswer { reason, .. } | Exchange::Lost { reason } | Exchange::NotSent { reason } => {
                (Error::Unreachable { url: client.base().to_string(), reason }, None)
            }
        };
        tries += 1;
        if tries >= MAX_ATTEMPTS {
            return Err(failure);
        }
        tokio::time::sleep(pause.unwrap_or_else(|| backoff(tries, false, fastrand::f64()))).await;
    }
}
