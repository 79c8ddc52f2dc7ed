//! What became of a stretch of records, read as one text.
//!
//! A row that the database hands over one by one costs more than all that is done with it, and a report of a million
//! rows needs a million of them. So the database puts a stretch of outcomes together as one text: of each the short
//! values, then the lengths of its texts in bytes, and then the texts, which may hold anything.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::block::Problem;
use super::error::Error;
use super::open::Ledger;
use super::send::{Outcome, OutcomeState};
use super::{RunId, Seq};

/// What is not there is -1, among lengths, too.
const GATHERED: &str = "SELECT string_agg(concat(seq, ' ', state, ' ', COALESCE(http_status, -1), ' ', attempts, ' ', at, ' ', \
     COALESCE(octet_length(service_status), -1), ' ', COALESCE(octet_length(service_id), -1), ' ', \
     COALESCE(octet_length(ctx_id), -1), ' ', COALESCE(octet_length(job_id), -1), ' ', octet_length(problems), ' ', \
     service_status, service_id, ctx_id, job_id, problems), '') \
     FROM outcome WHERE run = $1 AND seq BETWEEN $2 AND $3";

impl Ledger {
    /// What became of these records; what a person said about one comes before what was noted.
    pub async fn outcomes(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeMap<Seq, Outcome>, Error> {
        let query = sqlx::query_scalar(GATHERED).bind(run).bind(range.start()).bind(range.end());
        let gathered: Option<String> = query.fetch_one(&self.reader).await?;
        let mut rest = gathered.as_deref().unwrap_or_default();
        let mut outcomes = BTreeMap::new();
        while !rest.is_empty() {
            let outcome = take(&mut rest)?;
            outcomes.insert(outcome.seq, outcome);
        }
        self.apply_resolutions(run, *range.start(), *range.end(), &mut outcomes).await?;
        Ok(outcomes)
    }
}

/// Takes the first outcome off the text.
fn take(rest: &mut &str) -> Result<Outcome, Error> {
    let seq = number(rest)?;
    let state = OutcomeState::from_name(word(rest)?)?;
    let (http_status, attempts, at) = (number(rest)?, number(rest)?, number(rest)?);
    let lengths = [number(rest)?, number(rest)?, number(rest)?, number(rest)?, number(rest)?];
    let mut texts = [None; 5];
    for (text, length) in texts.iter_mut().zip(lengths) {
        let Ok(length) = usize::try_from(length) else { continue };
        let (taken, left) = rest.split_at_checked(length).ok_or_else(cut_off)?;
        (*text, *rest) = (Some(taken), left);
    }
    let [service_status, service_id, ctx_id, job_id, problems] = texts;
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Ok(Outcome {
        seq,
        state,
        http_status: u16::try_from(http_status).ok(),
        service_status: owned(service_status),
        service_id: owned(service_id),
        ctx_id: owned(ctx_id),
        job_id: owned(job_id),
        problems: match problems {
            None | Some("[]") => Vec::new(),
            Some(problems) => read_problems(problems)?,
        },
        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
        at,
    })
}

fn read_problems(json: &str) -> Result<Vec<Problem>, Error> {
    serde_json::from_str(json).map_err(|error| Error::Corrupt(error.to_string()))
}

fn number(rest: &mut &str) -> Result<i64, Error> {
    let word = word(rest)?;
    word.parse().map_err(|_| Error::Corrupt(format!("an outcome with '{word}' for a number")))
}

fn word<'t>(rest: &mut &'t str) -> Result<&'t str, Error> {
    let (word, left) = rest.split_once(' ').ok_or_else(cut_off)?;
    *rest = left;
    Ok(word)
}

fn cut_off() -> Error {
    Error::Corrupt("an outcome that ends before its end".to_owned())
}
