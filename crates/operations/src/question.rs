//! The answer to a question about rows or a file, as people give it: by its code.

use std::str::FromStr;

use sheetport_findings::Code;

/// The code of a question, see [`Code::asks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question(pub Code);

impl FromStr for Question {
    type Err = String;

    fn from_str(text: &str) -> Result<Question, String> {
        let known = || Code::questions().map(Code::name).collect::<Vec<_>>().join(", ");
        match Code::named(text.trim()) {
            Some(code) if code.asks().is_some() => Ok(Question(code)),
            Some(code) => Err(format!(
                "{code} can't be accepted: correct the rows, or change the template; questions are {}",
                known()
            )),
            None => Err(format!("expected the code of a question: {}", known())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_questions_are_accepted() {
        assert_eq!(" selector ".parse(), Ok(Question(Code::Selector)));
        for text in ["not-a-number", "Selector", ""] {
            let error = text.parse::<Question>().expect_err("no question");
            assert!(error.contains("unlike-others"), "{error}");
        }
    }
}
