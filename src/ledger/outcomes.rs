//! What became of a stretch of records, written and read as one text.
//!
//! A row that the database hands over one by one costs more than all that is done with it, and a report of a million
//! rows needs a million of them. So the database puts a stretch of outcomes together as one text. What nothing is asked
//! about stands in one column, which makes an outcome quick to add as well: the short values, then the lengths of the
//! texts in bytes, and then the texts, which may hold anything.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::block::Problem;
use super::error::Error;
use super::open::Ledger;
use super::send::{Outcome, OutcomeState};
use super::{RunId, Seq};

const TIMED: &str = "SELECT string_agg(concat(seq, ' ', state, ' ', attempts, ' ', at, ' ', said), '') \
     FROM outcome WHERE run = $1 AND seq BETWEEN $2 AND $3";
/// The same without the time, which takes a tenth of all.
const UNTIMED: &str = "SELECT string_agg(concat(seq, ' ', state, ' ', attempts, ' 0 ', said), '') \
     FROM outcome WHERE run = $1 AND seq BETWEEN $2 AND $3";

/// No problems.
const NONE: &str = "[]";

/// What became of a stretch of records, as it was noted.
#[derive(Debug, Default)]
pub struct Stretch {
    text: String,
}

/// What became of one record. Its texts lie in the [`Stretch`].
#[derive(Clone, Copy, Debug)]
pub struct Noted {
    pub seq: Seq,
    pub state: OutcomeState,
    pub attempts: u32,
    /// Zero in a [`Stretch`].
    at: i64,
    pub http_status: Option<u16>,
    service_status: Span,
    pub service_id: Span,
    pub ctx_id: Span,
    pub job_id: Span,
    /// As JSON.
    problems: Span,
}

/// A text within another one; it may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// One more than where it starts; zero when it is missing.
    start: u32,
    len: u32,
}

impl Span {
    pub const MISSING: Span = Span { start: 0, len: 0 };

    /// The `len` bytes from `start`. Missing, where no text is so long.
    pub fn new(start: usize, len: usize) -> Span {
        match (u32::try_from(start + 1), u32::try_from(len)) {
            (Ok(start), Ok(len)) => Span { start, len },
            _ => Span::MISSING,
        }
    }

    pub fn of(self, text: &str) -> Option<&str> {
        let start = self.start.checked_sub(1)? as usize;
        text.get(start..start + self.len as usize)
    }
}

impl Ledger {
    /// What became of these records; what a person said about one comes before what was noted.
    pub async fn outcomes(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<BTreeMap<Seq, Outcome>, Error> {
        let stretch = self.gathered(TIMED, run, range.clone()).await?;
        let mut outcomes = BTreeMap::new();
        for noted in stretch.outcomes() {
            let noted = noted?;
            outcomes.insert(noted.seq, stretch.outcome(&noted)?);
        }
        for resolution in self.resolutions(run, range).await? {
            if let Some(outcome) = outcomes.get_mut(&resolution.seq) {
                outcome.state = resolution.state;
                outcome.problems.push(resolution.problem());
            }
        }
        Ok(outcomes)
    }

    /// What was noted of these records, in no order, without its time.
    pub async fn stretch(&self, run: RunId, range: RangeInclusive<Seq>) -> Result<Stretch, Error> {
        self.gathered(UNTIMED, run, range).await
    }

    async fn gathered(&self, query: &'static str, run: RunId, range: RangeInclusive<Seq>) -> Result<Stretch, Error> {
        let query = sqlx::query_scalar(query).bind(run).bind(range.start()).bind(range.end());
        let gathered: Option<String> = query.fetch_one(&self.reader).await?;
        Ok(Stretch { text: gathered.unwrap_or_default() })
    }
}

impl Stretch {
    pub fn outcomes(&self) -> impl Iterator<Item = Result<Noted, Error>> {
        let mut reader = Reader { text: &self.text, at: 0 };
        std::iter::from_fn(move || (reader.at < reader.text.len()).then(|| reader.outcome()))
    }

    /// The bytes of its text.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text that spans of its outcomes lie in.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The problems of one of its outcomes.
    pub fn problems(&self, noted: &Noted) -> Result<Vec<Problem>, Error> {
        match noted.problems.of(&self.text) {
            None | Some(NONE) => Ok(Vec::new()),
            Some(json) => serde_json::from_str(json).map_err(|error| Error::Corrupt(error.to_string())),
        }
    }

    fn outcome(&self, noted: &Noted) -> Result<Outcome, Error> {
        let owned = |span: Span| span.of(&self.text).map(str::to_owned);
        Ok(Outcome {
            seq: noted.seq,
            state: noted.state,
            http_status: noted.http_status,
            service_status: owned(noted.service_status),
            service_id: owned(noted.service_id),
            ctx_id: owned(noted.ctx_id),
            job_id: owned(noted.job_id),
            problems: self.problems(noted)?,
            attempts: noted.attempts,
            at: noted.at,
        })
    }
}

/// The column `said` of an outcome. What is not there is -1, among lengths, too.
pub(super) fn said(outcome: &Outcome) -> Result<String, Error> {
    let problems = match outcome.problems.as_slice() {
        [] => Cow::Borrowed(NONE),
        problems => Cow::Owned(serde_json::to_string(problems).map_err(|error| Error::Corrupt(error.to_string()))?),
    };
    let Outcome { service_status, service_id, ctx_id, job_id, .. } = outcome;
    let texts =
        [service_status.as_deref(), service_id.as_deref(), ctx_id.as_deref(), job_id.as_deref(), Some(&problems)];
    let mut said = String::with_capacity(32 + texts.iter().flatten().map(|text| text.len()).sum::<usize>());
    let lengths = texts.iter().map(|text| text.map_or(-1, |text| text.len() as i64));
    for number in std::iter::once(outcome.http_status.map_or(-1, i64::from)).chain(lengths) {
        said.push_str(itoa::Buffer::new().format(number));
        said.push(' ');
    }
    said.extend(texts.into_iter().flatten());
    Ok(said)
}

/// What the service calls the record, from the column `said`.
pub(super) fn service_id(said: &str) -> Result<Option<String>, Error> {
    let (_, [_, service_id, ..]) = Reader { text: said, at: 0 }.said()?;
    Ok(service_id.of(said).map(str::to_owned))
}

/// Goes through a text.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn outcome(&mut self) -> Result<Noted, Error> {
        let seq = self.number()?;
        let state = OutcomeState::from_name(self.word()?)?;
        let (attempts, at) = (self.number()?, self.number()?);
        let (http_status, [service_status, service_id, ctx_id, job_id, problems]) = self.said()?;
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        Ok(Noted { seq, state, attempts, at, http_status, service_status, service_id, ctx_id, job_id, problems })
    }

    fn said(&mut self) -> Result<(Option<u16>, [Span; 5]), Error> {
        let http_status = u16::try_from(self.number()?).ok();
        let lengths = [self.number()?, self.number()?, self.number()?, self.number()?, self.number()?];
        let mut spans = [Span::MISSING; 5];
        for (span, length) in spans.iter_mut().zip(lengths) {
            let Ok(length) = usize::try_from(length) else { continue };
            *span = Span::new(self.at, length);
            span.of(self.text).ok_or_else(cut_off)?;
            self.at += length;
        }
        Ok((http_status, spans))
    }

    fn number(&mut self) -> Result<i64, Error> {
        let word = self.word()?;
        let of_digits = |number: i64, byte: u8| {
            let digit = char::from(byte).to_digit(10)?;
            number.checked_mul(10)?.checked_add(i64::from(digit))
        };
        // Nearly all are short and have no sign.
        match word.bytes().try_fold(0, of_digits).filter(|_| !word.is_empty()) {
            Some(number) => Ok(number),
            None => word.parse().map_err(|_| Error::Corrupt(format!("an outcome with '{word}' for a number"))),
        }
    }

    fn word(&mut self) -> Result<&str, Error> {
        let rest = self.text.get(self.at..).ok_or_else(cut_off)?;
        let len = rest.bytes().position(|byte| byte == b' ').ok_or_else(cut_off)?;
        self.at += len + 1;
        Ok(&rest[..len])
    }
}

fn cut_off() -> Error {
    Error::Corrupt("an outcome that ends before its end".to_owned())
}
