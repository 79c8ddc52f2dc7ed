//! What becomes of the records of a report that is handed back, in view of what the ledger knows of their rows. Pure.
//!
//! A record of which every row was accepted is kept, and one of which none was goes by its cells as they are now. One
//! that has rows of both is sent whole if it may be sent again, and is otherwise a problem.

use std::collections::HashMap;

use super::assemble::Decision;
use super::origin::{Again, Past, Verdict, copied};
use crate::ledger::{Kept, Origin, Problem, Seq};
use crate::records::Input;

pub(super) struct Retrial<'a> {
    again: &'a Again,
    input: &'static Input,
    /// Which of the run's rows were met.
    met: Vec<bool>,
}

impl<'a> Retrial<'a> {
    pub fn new(again: &'a Again, input: &'static Input) -> Retrial<'a> {
        Retrial { again, input, met: vec![false; again.states.len()] }
    }

    /// Takes note of a row. A second one that says that it is the same is a copy.
    pub fn meet(&mut self, past: &mut Past) -> Option<Problem> {
        let place = past.place?;
        if !std::mem::replace(self.met.get_mut(place)?, true) {
            return None;
        }
        (past.verdict, past.place) = (Verdict::Wrong, None);
        Some(copied(past.row, self.again.states.row(place)?.number))
    }

    /// Which row of the run it was, where its sheet is now called `sheet`.
    pub fn origin(&self, past: &Past, sheet: &str) -> Origin {
        match past.place.and_then(|place| self.again.states.row(place)) {
            Some(row) if row.number == past.row && row.sheet == sheet => Origin::Same,
            Some(row) => Origin::Row { number: row.number, sheet: row.sheet.to_owned() },
            None => Origin::New,
        }
    }

    /// What is decided about a record of these rows, of which its cells alone say `decision`. It would be sent with
    /// `body`, to a call whose path names it or not.
    pub fn review(&self, decision: Decision, pasts: &[Past], body: &[u8], is_named: bool) -> Decision {
        let kept: Vec<(&Past, Kept)> = pasts.iter().filter_map(|past| Some((past, kept(past)?))).collect();
        if let Some((_, first)) = kept.first().filter(|_| kept.len() == pasts.len()) {
            return Decision::Keep(first.clone());
        }
        if pasts.iter().all(|past| past.verdict == Verdict::LeftOut) {
            return Decision::Skip;
        }
        let is_once = !self.input.call(is_named).is_some_and(|call| call.repeatable);
        let mut problems: Vec<Problem> = pasts.iter().filter_map(Past::problem).collect();
        let added = pasts.iter().find(|past| !matches!(past.verdict, Verdict::Kept(..) | Verdict::Wrong));
        if let (Some((past, kept)), Some(added)) = (kept.first(), added) {
            problems.extend(if is_once { Some(self.made(added, past, kept)) } else { torn(pasts) });
        }
        let is_added = pasts.iter().all(|past| past.is_added);
        if is_once && is_added && matches!(decision, Decision::Send) {
            problems.extend(self.twin(pasts, body));
        }
        problems.into_iter().fold(decision, |decision, problem| decision.rejected(Some(problem)))
    }

    /// The problem of a row that came to a record that is there and would be made again.
    fn made(&self, added: &Past, past: &Past, kept: &Kept) -> Problem {
        let plural = self.input.plural;
        let message = format!(
            "belongs to a record of which row {} was sent in run {}, and {plural} that are sent again are made again",
            past.row, kept.run
        );
        let remedy = "give the rows that were not sent a record of their own".to_owned();
        Problem { row: Some(added.row), remedy, ..Problem::of_record("made-again", message) }
    }

    /// The problem of an added record that is, byte by byte, one that was sent before.
    fn twin(&self, pasts: &[Past], body: &[u8]) -> Option<Problem> {
        let (run, row) = self.again.states.same_as(std::str::from_utf8(body).ok()?)?;
        let message = format!("is the same as row {row} of run {run}, which was sent, or may have been");
        let remedy = "delete it; if it is meant a second time, upload it in a file of its own".to_owned();
        Some(Problem { row: pasts.first().map(|past| past.row), remedy, ..Problem::of_record("sent-before", message) })
    }
}

fn kept(past: &Past) -> Option<Kept> {
    match past.verdict {
        Verdict::Kept(run, seq) => Some(Kept { run, seq, service_id: None }),
        _ => None,
    }
}

/// The problem of a record that is sent as a whole and is not whole: what is not sent with it would be taken from it.
fn torn(pasts: &[Past]) -> Option<Problem> {
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
    Some(Problem { row: Some(past.row), remedy, ..Problem::of_record("torn", message) })
}
