//! Retry-After of a service in trouble: whether it concerns one record, or all.
//!
//! A balancer that sheds a few requests says Retry-After with each of them; if every one stopped the whole run, 3 % of such answers
//! at 900 requests a second would leave 35. A service that is down says nothing else.

use std::time::Instant;

/// Number of answers in a row, of different requests, after which a Retry-After concerns the whole run. With 3 % of such answers
/// five in a row come once in 40 million; at half of all answers, which is trouble for everybody, once in about sixty. A service
/// that is down gets five requests instead of one.
const SEVERAL: u32 = 5;

/// The latest answers.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// Answers in a row that asked for a wait.
    in_a_row: u32,
    /// The end of the longest of these waits.
    until: Option<Instant>,
}

impl Trouble {
    /// Counts an answer without a wait.
    pub(super) fn answered(&mut self) {
        *self = Trouble::default();
    }

    /// Counts an answer that asks for a wait until `until`. Returns until when nobody may send, if several answers in a row asked.
    pub(super) fn asked_to_wait(&mut self, until: Instant) -> Option<Instant> {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.until = self.until.max(Some(until));
        self.until.filter(|_| self.in_a_row >= SEVERAL)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_several_answers_in_a_row_stop_everybody() {
        let now = Instant::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        let mut trouble = Trouble::default();
        for seconds in [1, 60, 1, 1] {
            assert_eq!(trouble.asked_to_wait(after(seconds)), None);
        }
        assert_eq!(trouble.asked_to_wait(after(1)), Some(after(60)), "the longest wait counts");
        assert_eq!(trouble.asked_to_wait(after(70)), Some(after(70)), "as long as there is no other answer");
        trouble.answered();
        assert_eq!(trouble.asked_to_wait(after(1)), None);
    }
}
