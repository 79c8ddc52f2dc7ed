//! Checks the key `resolve`: the lists of the service in which a value of the sheet is looked up.

use sheetport_records::{Input, List};
use toml::Spanned;

use super::checker::Checker;
use super::raw::OneOrMany;

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
        let lists = input.lists_of(field);
        if lists.is_empty() {
            let refers = |name: &str| input.references.iter().any(|reference| reference.field == name);
            let message = match refers(field) {
                true => format!("{field} takes an external id, and a record that is looked up is sent by its id"),
                false => format!("{field} does not name another record, so there is nothing to look up"),
            };
            let fields = input.references.iter().map(|reference| reference.field);
            let ids: Vec<&str> = fields.filter(|field| !input.lists_of(field).is_empty()).collect();
            let hint = match ids.as_slice() {
                [] => "remove resolve".to_owned(),
                ids => format!("remove resolve; it is for {}", ids.join(", ")),
            };
            self.note(self.error(span, message, Some(&hint)));
            return Vec::new();
        }
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
