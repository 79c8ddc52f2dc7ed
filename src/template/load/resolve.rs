//! Checks the key `resolve`: the lists of the service in which a value of the sheet is looked up.

use toml::Spanned;

use super::checker::Checker;
use super::raw::OneOrMany;
use crate::records::{Input, List, Lookup};

/// Sends the values as they are. Takes back the key of a base template.
const NONE: &str = "none";

impl Checker<'_> {
    /// Returns the lists that `resolve` names, or none after noting a mistake.
    pub(super) fn resolve(
        &self,
        input: &'static Input,
        field: &str,
        resolve: Option<Spanned<OneOrMany<String>>>,
    ) -> Vec<&'static List> {
        let Some(resolve) = resolve else { return Vec::new() };
        let span = resolve.span();
        let names = resolve.into_inner().0;
        if names == [NONE] {
            return Vec::new();
        }
        let reference = input.references.iter().find(|reference| reference.field == field);
        let lists: &[&'static List] = match reference.map(|reference| &reference.found_by) {
            Some(Lookup::Lists(lists, members)) if members.contains(&"id") => lists,
            other => {
                let is_id = |field: &str| {
                    let by_id = |lookup: &Lookup| lookup.members().contains(&"id");
                    input.references.iter().any(|reference| reference.field == field && by_id(&reference.found_by))
                };
                let ids = input.references.iter().map(|reference| reference.field).filter(|name| is_id(name));
                let ids: Vec<&str> = ids.collect();
                let message = match other {
                    Some(_) => format!("{field} takes an external id, and a record that is looked up is sent by its id"),
                    None => format!("{field} does not name another record, so there is nothing to look up"),
                };
                let hint = match ids.as_slice() {
                    [] => "remove resolve".to_owned(),
                    ids => format!("remove resolve; it is for {}", ids.join(", ")),
                };
                self.note(self.error(span, message, Some(&hint)));
                return Vec::new();
            }
        };
        let mut found: Vec<&'static List> = Vec::new();
        for name in &names {
            match lists.iter().find(|list| list.name == name) {
                Some(list) if !found.iter().any(|known| known.name == list.name) => found.push(list),
                Some(_) => {}
                None => {
                    let known = lists.iter().map(|list| list.name).chain([NONE]);
                    self.note(self.unknown(span.clone(), &format!("list for {field}"), name, known));
                }
            }
        }
        found
    }
}
