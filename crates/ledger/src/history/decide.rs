//! Whether a record may be sent: a table from what is known about it to the decision. Pure.
//!
//! Every module that knows something about earlier requests for a record says it as a [`Fact`], and every record is decided here, before
//! sending and while sending. docs/sending.md contains the same table, generated from [`TABLE`].

use super::super::runs::RunSettings;
use super::super::state::RecordState;

/// What is known about a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The last request for its key was accepted and is equal, or the service shows the same values.
    SameAccepted,
    /// A newer upload has sent its key, and the service accepted this.
    NewerAccepted,
    /// A newer upload has begun to send its key.
    NewerBegun,
    /// The same record was sent with the same values.
    SameSent,
    /// As [`Fact::SameSent`], with another date in the sheet.
    SentOnOtherDate,
    /// The same record may have been sent, or is being sent by another run.
    MayBeSent,
    /// A record with the same name and other values was sent.
    OtherValuesSent,
    /// A record with the same values was sent, and the names can't be compared.
    SameValuesSent,
    /// A sent record without a name is not in the file, and this one is in its place.
    Replaces,
    /// A life of this run may have sent it, and the service remembers the idempotency key.
    RepeatableByKey,
    /// A life of this run may have sent it.
    Interrupted,
}

/// The decision about a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send it.
    Send,
    /// The service has its values.
    Unchanged,
    /// A newer upload has sent it.
    Superseded,
    /// A newer upload is sending it.
    NewerElsewhere,
    /// It was sent.
    SentBefore,
    /// It may have been sent: its problem names the run that a person has to resolve.
    InDoubt,
    /// Its name was sent with other values.
    OtherContent,
    /// Its values were sent with another name or without one.
    SameContent,
    /// It replaces a sent record.
    Edited,
    /// Only a person can find out whether it was sent.
    Unknown,
}

/// What a person has chosen for a run, or for one of its records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// `--changed-only`
    pub changed_only: bool,
    /// `--overwrite-newer`
    pub overwrite_newer: bool,
    /// `--allow-repeat`, for this record
    pub allow_repeat: bool,
}

/// The facts about a record, each with the number of requests that show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known([u64; TABLE.len()]);

/// A choice of a person that changes the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    ChangedOnly,
    OverwriteNewer,
    AllowRepeat,
}

/// A row of the table.
struct Rule {
    fact: Fact,
    #[cfg_attr(not(test), expect(dead_code, reason = "printed into docs/sending.md by a test"))]
    note: &'static str,
    /// `None`: the fact does not count.
    decision: Option<Decision>,
    /// The decision with this choice.
    chosen: Option<(Choice, Option<Decision>)>,
}

const fn rule(fact: Fact, note: &'static str, decision: Decision) -> Rule {
    Rule { fact, note, decision: Some(decision), chosen: None }
}

impl Rule {
    const fn unless(self, choice: Choice, decision: Option<Decision>) -> Rule {
        Rule { chosen: Some((choice, decision)), ..self }
    }

    fn decision(&self, policy: Policy) -> Option<Decision> {
        let is_chosen = |choice| match choice {
            Choice::ChangedOnly => policy.changed_only,
            Choice::OverwriteNewer => policy.overwrite_newer,
            Choice::AllowRepeat => policy.allow_repeat,
        };
        match self.chosen {
            Some((choice, decision)) if is_chosen(choice) => decision,
            _ => self.decision,
        }
    }
}

/// The table. The first row decides whose fact is known and counts. What was certainly sent is not in doubt because of another request.
#[rustfmt::skip]
const TABLE: &[Rule] = &[
    Rule { decision: None, ..rule(Fact::SameAccepted, "the last request for its identifier was accepted and had the same values, or the service shows these values", Decision::Unchanged) }
        .unless(Choice::ChangedOnly, Some(Decision::Unchanged)),
    rule(Fact::NewerAccepted, "a newer upload has sent its identifier", Decision::Superseded).unless(Choice::OverwriteNewer, None),
    rule(Fact::NewerBegun, "a newer upload is sending its identifier, or may have sent it", Decision::NewerElsewhere).unless(Choice::OverwriteNewer, None),
    rule(Fact::SameSent, "the same record was sent, with the same values", Decision::SentBefore).unless(Choice::AllowRepeat, Some(Decision::Send)),
    rule(Fact::SentOnOtherDate, "the same, but the sheet has another date than the one beside the sent record", Decision::OtherContent).unless(Choice::AllowRepeat, Some(Decision::Send)),
    rule(Fact::MayBeSent, "the same record may have been sent, or another run is sending it", Decision::InDoubt),
    rule(Fact::OtherValuesSent, "its number was sent, with other values", Decision::OtherContent).unless(Choice::AllowRepeat, Some(Decision::Send)),
    rule(Fact::SameValuesSent, "its values were sent, without a number or with one from other columns", Decision::SameContent).unless(Choice::AllowRepeat, Some(Decision::Send)),
    rule(Fact::Replaces, "it has no number, and takes the place of a sent record that is not in the file any more", Decision::Edited).unless(Choice::AllowRepeat, Some(Decision::Send)),
    rule(Fact::RepeatableByKey, "this run was interrupted while it was being sent, and the service remembers its idempotency key", Decision::Send),
    rule(Fact::Interrupted, "this run was interrupted while it was being sent", Decision::Unknown),
];

/// Decides about a record. `nth` counts the equal records before it in the file, if it has no name: of three equal rows, two were sent
/// before if two such requests are known. Otherwise, it is 0.
pub fn decide(nth: u64, known: &Known, policy: Policy) -> Decision {
    let mut before = nth;
    for rule in TABLE {
        let Some(decision) = rule.decision(policy) else { continue };
        match before.checked_sub(known.0[rule.fact as usize]) {
            Some(rest) => before = rest,
            None => return decision,
        }
    }
    Decision::Send
}

impl Known {
    /// Adds a request that shows the fact.
    pub fn add(&mut self, fact: Fact) {
        self.0[fact as usize] += 1;
    }
}

impl FromIterator<Fact> for Known {
    fn from_iter<I: IntoIterator<Item = Fact>>(facts: I) -> Known {
        let mut known = Known::default();
        facts.into_iter().for_each(|fact| known.add(fact));
        known
    }
}

impl From<Fact> for Known {
    fn from(fact: Fact) -> Known {
        [fact].into_iter().collect()
    }
}

impl From<&RunSettings> for Policy {
    /// Returns the policy of a run, but for the records that it may repeat.
    fn from(settings: &RunSettings) -> Policy {
        let RunSettings { changed_only, overwrite_newer, .. } = *settings;
        Policy { changed_only, overwrite_newer, allow_repeat: false }
    }
}

impl Policy {
    /// Whether a fact alone can hold a record back, so that it has to be looked for.
    pub fn heeds(self, fact: Fact) -> bool {
        decide(0, &fact.into(), self) != Decision::Send
    }
}

impl Decision {
    /// Returns the state of the record.
    pub fn state(self) -> RecordState {
        match self {
            Decision::Send => RecordState::Pending,
            Decision::Unchanged | Decision::SentBefore => RecordState::Unchanged,
            Decision::Superseded | Decision::NewerElsewhere => RecordState::Skipped,
            Decision::InDoubt | Decision::OtherContent | Decision::SameContent | Decision::Edited => {
                RecordState::Rejected
            }
            Decision::Unknown => RecordState::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "<!-- Generated from crates/ledger/src/history/decide.rs: SHEETPORT_UPDATE_DOCS=1 cargo test -p sheetport-ledger decide -->\n";

    fn policies() -> impl Iterator<Item = Policy> {
        (0..8).map(|bits| Policy {
            changed_only: bits & 1 > 0,
            overwrite_newer: bits & 2 > 0,
            allow_repeat: bits & 4 > 0,
        })
    }

    /// The agreed decisions, written a second time and in another form: for any set of facts, each shown by one request.
    fn expected(has: impl Fn(Fact) -> bool, policy: Policy) -> Decision {
        use Fact::{
            Interrupted, MayBeSent, NewerAccepted, NewerBegun, OtherValuesSent, RepeatableByKey, Replaces,
            SameAccepted, SameSent, SameValuesSent, SentOnOtherDate,
        };
        let unless_repeated = |decision| if policy.allow_repeat { Decision::Send } else { decision };
        if has(SameAccepted) && policy.changed_only {
            Decision::Unchanged
        } else if has(NewerAccepted) && !policy.overwrite_newer {
            Decision::Superseded
        } else if has(NewerBegun) && !policy.overwrite_newer {
            Decision::NewerElsewhere
        } else if has(SameSent) {
            unless_repeated(Decision::SentBefore)
        } else if has(SentOnOtherDate) {
            unless_repeated(Decision::OtherContent)
        } else if has(MayBeSent) {
            Decision::InDoubt
        } else if has(OtherValuesSent) {
            unless_repeated(Decision::OtherContent)
        } else if has(SameValuesSent) {
            unless_repeated(Decision::SameContent)
        } else if has(Replaces) {
            unless_repeated(Decision::Edited)
        } else if has(Interrupted) && !has(RepeatableByKey) {
            Decision::Unknown
        } else {
            Decision::Send
        }
    }

    #[test]
    fn every_combination_of_facts_and_choices_has_its_decision() {
        for (index, rule) in TABLE.iter().enumerate() {
            assert_eq!(rule.fact as usize, index, "the facts are in the order of the table");
        }
        for facts in 0..1_usize << TABLE.len() {
            let has = |fact: Fact| facts & 1 << fact as usize > 0;
            let known: Known = TABLE.iter().map(|rule| rule.fact).filter(|fact| has(*fact)).collect();
            for policy in policies() {
                assert_eq!(decide(0, &known, policy), expected(has, policy), "{known:?} {policy:?}");
            }
        }
    }

    #[test]
    fn equal_records_are_compared_with_one_request_each() {
        for sent in 0..4 {
            for in_doubt in 0..4 {
                let facts = [vec![Fact::MayBeSent; in_doubt], vec![Fact::SameSent; sent]].concat();
                let known: Known = facts.into_iter().collect();
                for nth in 0..8 {
                    let (before, decision) = match nth {
                        _ if nth < sent => (nth < sent, Decision::SentBefore),
                        _ if nth < sent + in_doubt => (true, Decision::InDoubt),
                        _ => (false, Decision::Send),
                    };
                    assert_eq!(decide(nth as u64, &known, Policy::default()), decision, "{known:?} {nth}");
                    assert_eq!(before, decision != Decision::Send);
                }
            }
        }
    }

    #[test]
    fn the_table_in_the_docs_is_this_one() {
        sheetport_testing::generated::assert_tables("docs/sending.md", BEGIN, &[markdown()]);
    }

    fn markdown() -> String {
        let mut table = "| what is known about a record | decision | with a flag |\n|---|---|---|\n".to_owned();
        for rule in TABLE {
            let chosen = rule.chosen.map_or_else(String::new, |(choice, decision)| {
                let flag = match choice {
                    Choice::ChangedOnly => "`--changed-only`",
                    Choice::OverwriteNewer => "`--overwrite-newer`",
                    Choice::AllowRepeat => "`--allow-repeat`",
                };
                format!("{flag}: {}", describe(decision))
            });
            table.push_str(&format!("| {} | {} | {chosen} |\n", rule.note, describe(rule.decision)));
        }
        table + "| nothing of this, or only requests that were certainly not applied | send | |\n"
    }

    fn describe(decision: Option<Decision>) -> &'static str {
        match decision {
            None => "does not count",
            Some(Decision::Send) => "send",
            Some(Decision::Unchanged) => "*unchanged*",
            Some(Decision::Superseded | Decision::NewerElsewhere) => "*skipped*: `newer-run`",
            Some(Decision::SentBefore) => "*unchanged*: `sent-before`",
            Some(Decision::InDoubt) => "*rejected*: `in-doubt`",
            Some(Decision::OtherContent) => "*rejected*: `other-content`",
            Some(Decision::SameContent) => "*rejected*: `sent-before`",
            Some(Decision::Edited) => "*rejected*: `edited`",
            Some(Decision::Unknown) => "***unknown***",
        }
    }
}
