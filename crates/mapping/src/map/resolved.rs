//! Values that stand for records of the service, and the ids of these records. What a value stands for is found before the rows are
//! mapped, by whoever has access to the service.

use std::collections::HashMap;

use super::super::problem::Cause;
use super::json::{self, unquoted};

/// Values, each with the id that is sent in its place, or with its problem.
type Values = HashMap<String, Result<String, Cause>>;

/// For rules of a template, the values that have another meaning than their text.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// By the index of the rule, as in [`super::super::Template::rules`].
    rules: Vec<(usize, Values)>,
}

impl Resolved {
    /// Adds the values of a rule: each with the id that is sent in its place, or with its problem. Other values stay as they are.
    pub fn insert(&mut self, rule: usize, values: Values) {
        if !values.is_empty() {
            self.rules.push((rule, values));
        }
    }

    pub fn has_problems(&self) -> bool {
        self.rules.iter().any(|(_, values)| values.values().any(Result::is_err))
    }

    /// Removes the values with a problem, so that they stay as they are.
    #[must_use]
    pub fn without_problems(mut self) -> Resolved {
        for (_, values) in &mut self.rules {
            values.retain(|_, found| found.is_ok());
        }
        self
    }

    /// Replaces the JSON value of a rule, which begins at `start`, by the id.
    pub(super) fn replace(&self, rule: usize, start: usize, out: &mut String) -> Result<(), Cause> {
        let Some((_, values)) = self.rules.iter().find(|(index, _)| *index == rule) else { return Ok(()) };
        match values.get(unquoted(&out[start..]).as_ref()) {
            None => Ok(()),
            Some(Err(cause)) => Err(cause.clone()),
            Some(Ok(id)) => {
                out.truncate(start);
                json::text(out, id);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_values_of_the_rule_are_replaced() {
        let cause = Cause::UnknownReference { what: "company", created_with: None };
        let mut resolved = Resolved::default();
        let values = [("Mill \"B\"".to_owned(), Ok("c1".to_owned())), ("Nobody".to_owned(), Err(cause.clone()))];
        resolved.insert(2, values.into());
        let replace = |resolved: &Resolved, rule: usize, json: &str| {
            let mut out = format!("\"before\"{json}");
            resolved.replace(rule, "\"before\"".len(), &mut out).map(|()| out)
        };
        assert_eq!(replace(&resolved, 2, r#""Mill \"B\"""#), Ok(r#""before""c1""#.to_owned()));
        assert_eq!(replace(&resolved, 1, r#""Mill \"B\"""#), Ok(r#""before""Mill \"B\"""#.to_owned()));
        assert_eq!(replace(&resolved, 2, r#""c9""#), Ok(r#""before""c9""#.to_owned()));
        assert_eq!(replace(&resolved, 2, r#""Nobody""#), Err(cause));
        assert!(resolved.has_problems());
        let found = resolved.without_problems();
        assert_eq!(replace(&found, 2, r#""Nobody""#), Ok(r#""before""Nobody""#.to_owned()));
        assert!(!found.has_problems());
    }
}
