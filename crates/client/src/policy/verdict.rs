//! What a 2xx answer to a write says about its record: a table from the signs in the body to the state of the record.
//!
//! Services answer 200 to what they refuse, and some say `ok: true` beside a status such as `failed`. No such record counts as
//! sent. docs/sending.md contains the same table, generated from [`TABLE`].

/// The strongest sign in the body of a 2xx answer, strongest first: what is refused stays refused, whatever else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// `ok: false`, or messages in `errors`.
    Refusal,
    /// An id that contradicts the record that was sent.
    OtherRecord,
    /// Of several records, none or more than the one that was sent.
    NotOneResult,
    /// A failure in other words: see [`says_failure`].
    Failure,
    Nothing,
}

/// The state of a record after a 2xx answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// *sent*
    Accepted,
    /// *failed*
    #[default]
    Refused,
    /// *unknown*: a person has to look.
    InDoubt,
}

/// A row of the table.
struct Rule {
    sign: Sign,
    #[cfg_attr(not(test), expect(dead_code, reason = "printed into docs/sending.md by a test"))]
    note: &'static str,
    /// If the answer has the service's id of a record.
    with_id: Verdict,
    without_id: Verdict,
}

const fn rule(sign: Sign, note: &'static str, with_id: Verdict, without_id: Verdict) -> Rule {
    Rule { sign, note, with_id, without_id }
}

/// What the signs mean. An id beside a failure shows that the service has a record: perhaps this one, perhaps half of it.
#[rustfmt::skip]
const TABLE: &[Rule] = &[
    rule(Sign::Refusal, "`ok: false`, or a text in `errors` or in the `errors` of the record's result", Verdict::Refused, Verdict::Refused),
    rule(Sign::OtherRecord, "an id of another record than the one that was sent", Verdict::InDoubt, Verdict::InDoubt),
    rule(Sign::NotOneResult, "`results` without the order, or with others", Verdict::InDoubt, Verdict::InDoubt),
    rule(Sign::Failure, "a `status` that says failure, `success: false`, or a text in `error`", Verdict::InDoubt, Verdict::Refused),
    rule(Sign::Nothing, "none of these", Verdict::Accepted, Verdict::Accepted),
];

/// Returns the state of a record after a 2xx answer with this sign. `has_id`: whether the answer has the service's id of a record.
pub(crate) fn judge(sign: Sign, has_id: bool) -> Verdict {
    let rule = TABLE.iter().find(|rule| rule.sign == sign).expect("the table has every sign");
    if has_id { rule.with_id } else { rule.without_id }
}

/// Words that say failure wherever they stand in a status, such as `validation_error`.
const FAILURES: &[&str] = &[
    "aborted",
    "declined",
    "denied",
    "error",
    "errors",
    "exception",
    "fail",
    "failed",
    "failure",
    "forbidden",
    "invalid",
    "refused",
    "rejected",
    "unauthorized",
    "unprocessable",
    "unsuccessful",
];
/// Words that deny the word after them: `no errors` is a success, `not created` a failure.
const NEGATIONS: &[&str] = &["no", "non", "not", "without", "zero", "0"];
/// Words that say success, and failure after a negation.
const SUCCESSES: &[&str] = &[
    "accepted",
    "applied",
    "created",
    "found",
    "imported",
    "ok",
    "processed",
    "saved",
    "stored",
    "success",
    "successful",
    "updated",
    "valid",
];
/// Maximum number of words in a status. A longer text is a sentence, whose failures may be somebody else's ("2 earlier errors
/// were corrected").
const MAX_WORDS: usize = 4;

/// Whether a status says failure: a word such as `failed` or `not found` in any case and with any separators, or an HTTP status
/// from 400.
pub(crate) fn says_failure(status: &str) -> bool {
    let words = words(status);
    if words.len() > MAX_WORDS {
        return false;
    }
    if let [number] = words.as_slice()
        && number.len() == 3
        && number.parse::<u16>().is_ok_and(|status| (400..=599).contains(&status))
    {
        return true;
    }
    let is_negated = |at: usize| at.checked_sub(1).is_some_and(|before| NEGATIONS.contains(&words[before].as_str()));
    let joined = words.concat();
    let is_joined = SUCCESSES.iter().any(|word| joined.strip_prefix("not") == Some(word));
    is_joined
        || words.iter().enumerate().any(|(at, word)| {
            FAILURES.contains(&word.as_str()) && !is_negated(at) || SUCCESSES.contains(&word.as_str()) && is_negated(at)
        })
}

/// Splits a status into words in lower case, at separators and before capitals: `notFound`, `NOT_FOUND` and `Not found` are the same.
fn words(status: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in status.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const SIGNS: [Sign; 5] = [Sign::Refusal, Sign::OtherRecord, Sign::NotOneResult, Sign::Failure, Sign::Nothing];

    /// Returns the table in Markdown.
    pub(crate) fn markdown() -> String {
        let state = |verdict| match verdict {
            Verdict::Accepted => "*sent*",
            Verdict::Refused => "*failed*",
            Verdict::InDoubt => "***unknown***",
        };
        let mut table =
            "| a 2xx answer has | with the service's id of a record | without |\n|---|---|---|\n".to_owned();
        for Rule { note, with_id, without_id, .. } in TABLE {
            table.push_str(&format!("| {note} | {} | {} |\n", state(*with_id), state(*without_id)));
        }
        table
    }

    #[test]
    fn only_an_answer_without_any_sign_of_failure_is_an_acceptance() {
        for (place, sign) in SIGNS.into_iter().enumerate() {
            assert_eq!(TABLE[place].sign, sign, "the table is in the order of the signs");
            for has_id in [true, false] {
                let expected = match (sign, has_id) {
                    (Sign::Nothing, _) => Verdict::Accepted,
                    (Sign::Refusal, _) | (Sign::Failure, false) => Verdict::Refused,
                    (Sign::OtherRecord | Sign::NotOneResult, _) | (Sign::Failure, true) => Verdict::InDoubt,
                };
                assert_eq!(judge(sign, has_id), expected, "{sign:?} {has_id}");
            }
        }
    }

    #[test]
    fn words_of_failure_are_found_in_any_spelling() {
        for status in [
            "failed",
            "Failed",
            "FAILED",
            "error",
            "errors",
            "rejected",
            "not_found",
            "notFound",
            "NOT FOUND",
            "not-found",
            "notfound",
            "invalid",
            "refused",
            "denied",
            "declined",
            "failure",
            "validation_failed",
            "ValidationError",
            "update.failed",
            "Permission denied",
            "not updated",
            "NOT_OK",
            "not valid",
            "partially_failed",
            "404",
            "422",
            "500",
            "error: locked",
            "order not found",
        ] {
            assert!(says_failure(status), "{status}");
        }
        for status in [
            "",
            "created",
            "updated",
            "ok",
            "OK",
            "Success",
            "unchanged",
            "accepted",
            "active",
            "open",
            "cancelled",
            "pending",
            "draft",
            "no errors",
            "without errors",
            "0 errors",
            "no_error",
            "found",
            "unfailing",
            "200",
            "201",
            "4040",
            "42",
            "not invalid",
            "2 errors of an earlier import were corrected",
            "terror",
            "nothing to do",
            "note",
            "notupdatable",
        ] {
            assert!(!says_failure(status), "{status}");
        }
    }
}
