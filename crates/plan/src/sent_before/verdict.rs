//! What earlier requests with a claim show about a record, and the message about a record that is not sent. Pure.

use sheetport_findings::Code;
use sheetport_ledger::{
    Claim, Decision, EarlierClaim, EarlierState, Fact, Known, NAME_FIELD, Outcome, Policy, Problem, Run, RunId, decide,
};
use sheetport_records::RecordKind;
use sheetport_values::date::local_time;

/// Returns what earlier requests for the same record show, and the request to mention in messages. `None` for a new record.
pub(super) fn judge<'e>(
    claim: &Claim,
    earlier: impl DoubleEndedIterator<Item = &'e EarlierClaim> + Clone,
) -> Option<(Known, &'e EarlierClaim)> {
    let decided = |fact: Fact| decide(0, &fact.into(), Policy::default());
    let known: Known = earlier.clone().filter_map(|other| claim.fact(other)).collect();
    let decision = decide(0, &known, Policy::default());
    let mut alike = earlier.filter(|other| claim.fact(other).map(decided) == Some(decision));
    let mentioned = match decision {
        // Of several versions, the last one is compared with.
        Decision::OtherContent | Decision::SameContent => alike.next_back(),
        _ => alike.next(),
    };
    Some((known, mentioned?))
}

/// Returns the sent requests with the name and the values of a record.
pub(super) fn equals<'e>(
    claim: &Claim,
    earlier: impl Iterator<Item = &'e EarlierClaim>,
) -> impl Iterator<Item = &'e EarlierClaim> {
    earlier.filter(|other| claim.fact(other) == Some(Fact::SameSent))
}

/// The record of an outcome.
pub(super) struct Subject<'a> {
    pub kind: RecordKind,
    pub row: Option<u64>,
    pub sheet: &'a str,
    pub name: Option<&'a str>,
    /// The column of the name, if known, and its header.
    pub column: Option<usize>,
    pub header: &'a str,
    /// The differences from the earlier request, if known.
    pub difference: String,
    /// The different name of the record in the earlier request, if known.
    pub other_name: Option<String>,
    /// Whether the record takes another one back.
    pub is_undo: bool,
}

impl<'a> Subject<'a> {
    /// Describes a record of `run` with this name.
    pub(super) fn new(run: &'a Run, name: Option<&'a str>) -> Subject<'a> {
        let about = &run.about;
        let column = about.name_column();
        let header = column.and_then(|column| about.header.get(column)).map_or("", |header| header.trim());
        let difference = String::new();
        let is_undo = about.undo_of.is_some();
        Subject {
            kind: about.record,
            row: None,
            sheet: "",
            name,
            column,
            header,
            difference,
            other_name: None,
            is_undo,
        }
    }
}

/// Returns the outcome of a record that is not sent.
pub(super) fn outcome(
    claim: &Claim,
    decision: Decision,
    earlier: &EarlierClaim,
    subject: &Subject<'_>,
    now: i64,
) -> Outcome {
    let problem = Problem {
        row: subject.row,
        sheet: subject.sheet.to_owned(),
        column: subject.column.filter(|_| subject.name.is_some()),
        header: subject.name.map_or_else(String::new, |_| subject.header.to_owned()),
        field: subject.name.map_or_else(String::new, |_| NAME_FIELD.to_owned()),
        value: subject.name.unwrap_or_default().to_owned(),
        ..problem(decision, earlier, subject)
    };
    let service_id = earlier.service_id.clone().filter(|_| decision == Decision::SentBefore);
    Outcome { problems: vec![problem], service_id, ..Outcome::new(claim.seq, decision.state(), now) }
}

/// Returns the problem of a record with a claim. Other decisions are not made about such records.
fn problem(decision: Decision, earlier: &EarlierClaim, subject: &Subject<'_>) -> Problem {
    let (run, kind) = (earlier.run, subject.kind.name().replace('-', " "));
    let sent = sent_in(earlier);
    let again = match subject.name {
        Some(name) if !name.contains([',', '\'']) => format!("`--allow-repeat='{name}'`"),
        _ => "`--allow-repeat`".to_owned(),
    };
    let problem = |code, message: String, remedy: String| Problem { remedy, ..Problem::of_record(code, message) };
    match decision {
        Decision::SentBefore if subject.is_undo => {
            let message = format!("was taken back in run {run} on {}, so it is not taken back again", date(earlier.at));
            problem(Code::SentBefore, message, String::new())
        }
        Decision::InDoubt if subject.is_undo => {
            let remedy = format!("look it up in the service and run `sheetport resolve {run}`");
            let message = format!("may have been taken back in run {run}, so it is not taken back again");
            problem(Code::InDoubt, message, remedy)
        }
        Decision::SentBefore => problem(Code::SentBefore, format!("{sent}, so it is not sent again"), String::new()),
        Decision::InDoubt => {
            let remedy = match earlier.state {
                EarlierState::InFlight => format!(
                    "wait until run {run} has ended; if it was interrupted, run `sheetport resume {run}`, then upload again"
                ),
                _ => format!("look it up in the service, run `sheetport resolve {run}`, then upload again"),
            };
            problem(Code::InDoubt, format!("may have been sent in run {run}, so it is not sent again"), remedy)
        }
        Decision::OtherContent => {
            let difference = match subject.difference.as_str() {
                "" => String::new(),
                difference => format!("{difference}; "),
            };
            let remedy =
                format!("{difference}if it is another {kind}, give it another number; {again} sends it anyway");
            problem(Code::OtherContent, format!("{sent} with other values"), remedy)
        }
        Decision::SameContent => {
            let other = match (&subject.other_name, &earlier.claim.name) {
                (Some(name), _) => format!("{kind} '{name}', which"),
                (None, Some(_)) => "one with another number that".to_owned(),
                (None, None) => "one without a number that".to_owned(),
            };
            let message = format!("has the same values as {other} {sent}");
            problem(Code::SentBefore, message, format!("if it is another {kind}, {again} sends it"))
        }
        Decision::Edited => {
            let message = format!("{sent} with other values, and is not in the file as it was sent");
            let row = subject.row.unwrap_or_default();
            let remedy = format!(
                "{}; correct it in the service; if it is another {kind}, `--rows {row}-{row} --allow-repeat` sends it",
                subject.difference
            );
            problem(Code::Edited, message, remedy)
        }
        Decision::Send | Decision::Unchanged | Decision::Superseded | Decision::NewerElsewhere | Decision::Unknown => {
            unreachable!("no request with a claim shows this")
        }
    }
}

/// Returns the run and the date of an earlier request, such as `was sent in run 3 on 2026-11-20`.
fn sent_in(earlier: &EarlierClaim) -> String {
    let EarlierClaim { run, state, at, .. } = earlier;
    let or_maybe = if *state == EarlierState::Pruned { "or may have been " } else { "" };
    format!("was {or_maybe}sent in run {run} on {}", date(*at))
}

/// Returns the local date of a time of the ledger.
pub fn date(millis: i64) -> String {
    local_time(millis).date().to_string()
}

/// Records left out because an earlier run sent them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub run: RunId,
    /// The local date of the first of them.
    pub date: String,
    pub records: u64,
    /// The first rows.
    pub rows: Vec<u64>,
    /// Whether the run has taken them back.
    pub is_undo: bool,
}

impl LeftOut {
    /// Returns the warning about the records that were left out of a run.
    pub fn warning(&self, left_out_of: &Run) -> Problem {
        let LeftOut { run, date, .. } = self;
        if self.is_undo {
            let message = format!("was taken back in run {run} on {date}, so it is not taken back again");
            return Problem::of_record(Code::SentBefore, message);
        }
        if left_out_of.about.undo_of.is_some() {
            let message = format!("was uploaded anew in run {run} on {date}, so it is not brought back as well");
            return Problem::of_record(Code::SentBefore, message);
        }
        let kind = left_out_of.about.record;
        let message = format!("was sent in run {run} on {date}, so it is not sent again");
        let remedy = format!("if it is another {}, `--allow-repeat` sends it", kind.name().replace('-', " "));
        Problem { remedy, ..Problem::of_record(Code::SentBefore, message) }
    }
}

#[cfg(test)]
mod tests {
    use sheetport_ledger::{ClaimName, NamePart};

    use super::*;

    fn claim(name: Option<u8>, body: u8) -> Claim {
        let name = name.map(|name| ClaimName { digest: [name; 16], columns: 1, parts: Vec::new() });
        Claim { seq: 0, name, body: [body; 16] }
    }

    /// A claim with a name that has a column called `column`, by another template.
    fn of_other_template(column: i64, value: i64, body: u8) -> Claim {
        let parts = vec![NamePart { column, value }];
        Claim { seq: 0, name: Some(ClaimName { digest: [9; 16], columns: 2, parts }), body: [body; 16] }
    }

    fn earlier(run: RunId, claim: Claim, state: EarlierState) -> EarlierClaim {
        EarlierClaim { claim, run, state, at: 0, service_id: None }
    }

    #[test]
    fn verdicts_about_records_with_and_without_names() {
        use EarlierState::{InFlight, Pruned, Sent, Unknown};
        let named = || claim(Some(1), 1);
        let mut in_column = named();
        in_column.name.iter_mut().for_each(|name| name.parts = vec![NamePart { column: 5, value: 7 }]);
        for (new, known, expected) in [
            (named(), vec![], None),
            (named(), vec![earlier(1, claim(Some(1), 1), Sent)], Some((Decision::SentBefore, 1))),
            (named(), vec![earlier(1, claim(Some(1), 1), Pruned)], Some((Decision::SentBefore, 1))),
            (named(), vec![earlier(1, claim(Some(1), 2), Sent)], Some((Decision::OtherContent, 1))),
            (named(), vec![earlier(1, claim(Some(1), 1), Unknown)], Some((Decision::InDoubt, 1))),
            (named(), vec![earlier(1, claim(Some(1), 2), InFlight)], Some((Decision::InDoubt, 1))),
            (named(), vec![earlier(1, claim(None, 1), Sent)], Some((Decision::SameContent, 1))),
            (claim(None, 1), vec![earlier(1, claim(Some(7), 1), Sent)], Some((Decision::SentBefore, 1))),
            (named(), vec![earlier(1, of_other_template(5, 7, 1), Sent)], Some((Decision::SameContent, 1))),
            (in_column.clone(), vec![earlier(1, of_other_template(5, 7, 1), Sent)], Some((Decision::SentBefore, 1))),
            (in_column.clone(), vec![earlier(1, of_other_template(5, 7, 1), Unknown)], Some((Decision::InDoubt, 1))),
            (in_column.clone(), vec![earlier(1, of_other_template(6, 8, 1), Sent)], Some((Decision::SameContent, 1))),
            (
                in_column,
                vec![earlier(1, of_other_template(6, 8, 1), Sent), earlier(2, claim(Some(1), 2), Sent)],
                Some((Decision::OtherContent, 2)),
            ),
            // A record that was certainly sent is not in doubt because of another request.
            (
                named(),
                vec![earlier(1, claim(Some(1), 1), Unknown), earlier(2, claim(Some(1), 1), Sent)],
                Some((Decision::SentBefore, 2)),
            ),
            (
                named(),
                vec![earlier(1, claim(Some(1), 2), Sent), earlier(2, claim(Some(1), 3), Sent)],
                Some((Decision::OtherContent, 2)),
            ),
        ] {
            let found = judge(&new, known.iter());
            let found = found.map(|(known, earlier)| (decide(0, &known, Policy::default()), earlier.run));
            assert_eq!(found, expected, "{known:?}");
        }
    }
}
