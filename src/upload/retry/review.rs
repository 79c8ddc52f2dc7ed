//! What becomes of the records of a report that is handed back, in view of what the ledger knows of their rows. Pure.
//!
//! A record of which every row was accepted is kept, and one of which none was goes by its cells as they are now. One
//! that has rows of both is sent whole if it may be sent again, and is otherwise a problem.

use std::collections::HashMap;

use super::origin::{Past, PastRun, Verdict, copied};
use crate::ledger::{AcceptedEarlier, Origin, Problem, Seq};
use crate::records::Input;
use crate::upload::assemble::Decision;
use crate::upload::source::Source;

/// The request that a record would be sent as.
pub struct Asked<'a> {
    pub key: &'a str,
    /// What the call's path names; empty where it names nothing.
    pub target: &'a str,
    pub body: &'a [u8],
}

pub struct Reviewer<'a> {
    run: &'a PastRun,
    input: &'static Input,
    /// What the ledger calls the sheets that are read.
    sheets: Vec<String>,
    /// Which of the run's rows were met.
    met: Vec<bool>,
}

impl<'a> Reviewer<'a> {
    /// For a report that is handed back; nothing for any other file.
    pub fn new(source: &'a Source, input: &'static Input) -> Option<Reviewer<'a>> {
        let run = source.past_run.as_ref()?;
        let sheets = source.parts.iter().map(|part| source.sheet_of(part)).collect();
        Some(Reviewer { run, input, sheets, met: vec![false; run.states.len()] })
    }

    /// Takes note of a row. A second one that says that it is the same is a copy.
    pub fn meet(&mut self, past: &mut Past) -> Option<Problem> {
        let place = past.place?;
        if !std::mem::replace(self.met.get_mut(place)?, true) {
            return None;
        }
        (past.verdict, past.place) = (Verdict::Wrong, None);
        Some(self.at(past, copied(past.row, self.run.states.row(place)?.number)))
    }

    /// The problem of a row that means the record above, which begins with the row `first`, and was not of that.
    pub fn strayed(&self, past: &Past, first: &Past) -> Option<Problem> {
        Some(self.at(past, past.strayed(first)?))
    }

    /// Which row of the run it was, where its sheet is now called `sheet`.
    pub fn origin(&self, past: &Past, sheet: &str) -> Origin {
        match past.place.and_then(|place| self.run.states.row(place)) {
            Some(row) if row.number == past.row && row.sheet == sheet => Origin::Same,
            Some(row) => Origin::Row { number: row.number, sheet: row.sheet.to_owned() },
            None => Origin::New,
        }
    }

    /// What is decided about a record of these rows, of which its cells alone say `decision`.
    pub fn review(&self, decision: Decision, pasts: &[Past], asked: &Asked<'_>) -> Decision {
        let kept: Vec<(&Past, AcceptedEarlier)> = pasts.iter().filter_map(|past| Some((past, kept(past)?))).collect();
        if let Some((_, first)) = kept.first().filter(|_| kept.len() == pasts.len()) {
            return Decision::Keep(first.clone());
        }
        if pasts.iter().all(|past| past.verdict == Verdict::LeftOut) {
            return Decision::Skip;
        }
        let is_once = !self.input.call(!asked.target.is_empty()).is_some_and(|call| call.repeatable);
        let own = |past: &Past| Some(self.at(past, past.problem()?));
        let mut problems: Vec<Problem> = pasts.iter().filter_map(own).collect();
        let added = pasts.iter().find(|past| !matches!(past.verdict, Verdict::Kept(..) | Verdict::Wrong));
        if let (Some((past, kept)), Some(added)) = (kept.first(), added) {
            problems.extend(if is_once { Some(self.made(added, past, kept)) } else { self.torn(pasts) });
        }
        let is_added = pasts.iter().all(|past| past.is_added);
        if is_added && problems.is_empty() && matches!(decision, Decision::Send) {
            if is_once {
                problems.extend(self.twin(pasts, asked.body));
            } else if let Some(kept) = self.again_as_it_was(asked) {
                return Decision::Keep(kept);
            }
        }
        problems.into_iter().fold(decision, |decision, problem| decision.rejected(Some(problem)))
    }

    /// The problem of a row that came to a record that is there and would be made again.
    fn made(&self, added: &Past, past: &Past, kept: &AcceptedEarlier) -> Problem {
        let plural = self.input.plural;
        let message = format!(
            "belongs to a record of which row {} was sent in run {}, and {plural} that are sent again are made again",
            past.row, kept.run
        );
        let remedy = "give the rows that were not sent a record of their own".to_owned();
        self.at(added, Problem { remedy, ..Problem::of_record("made-again", message) })
    }

    /// What was accepted of an added record, where its request would be the same once more. A call whose path names the
    /// record is made again: it changes nothing.
    fn again_as_it_was(&self, asked: &Asked<'_>) -> Option<AcceptedEarlier> {
        let body = std::str::from_utf8(asked.body).ok().filter(|_| asked.target.is_empty())?;
        let (run, seq) = self.run.states.accepted_as(asked.key, body)?;
        Some(AcceptedEarlier { run, seq, service_id: None })
    }

    /// The problem of an added record that is, byte by byte, one that was sent before.
    fn twin(&self, pasts: &[Past], body: &[u8]) -> Option<Problem> {
        let (run, row) = self.run.states.sent_with_body(std::str::from_utf8(body).ok()?)?;
        let message = format!("is the same as row {row} of run {run}, which was sent, or may have been");
        let remedy = "delete it; if it is meant a second time, upload it in a file of its own".to_owned();
        Some(self.at(pasts.first()?, Problem { remedy, ..Problem::of_record("sent-before", message) }))
    }

    /// The problem of a record that is sent as a whole and is not whole: what is not sent with it would be taken from it.
    fn torn(&self, pasts: &[Past]) -> Option<Problem> {
        let mut here: HashMap<Seq, u32> = HashMap::new();
        for (record, _) in pasts.iter().filter_map(|past| past.record) {
            *here.entry(record).or_default() += 1;
        }
        let is_torn = |past: &&Past| {
            let lacks = |(record, rows)| here.get(&record).is_some_and(|here| *here < rows);
            matches!(past.verdict, Verdict::Kept(..)) && past.record.is_some_and(lacks)
        };
        let past = pasts.iter().find(is_torn)?;
        let remedy = "put the missing rows back beside it, from the report of all rows".to_owned();
        let message = "is of a record that was sent with further rows, and would be sent without them now";
        Some(self.at(past, Problem { remedy, ..Problem::of_record("torn", message) }))
    }

    /// The problem as that of a row.
    fn at(&self, past: &Past, problem: Problem) -> Problem {
        let sheet = self.sheets.get(past.part).cloned().unwrap_or_default();
        Problem { row: Some(past.row), sheet, ..problem }
    }
}

fn kept(past: &Past) -> Option<AcceptedEarlier> {
    match past.verdict {
        Verdict::Kept(run, seq) => Some(AcceptedEarlier { run, seq, service_id: None }),
        _ => None,
    }
}
