//! Checks the table `[missing]`.

use sheetport_documents::Mistake;
use sheetport_records::RecordKind;
use toml::Spanned;

use super::super::missing::{AtMost, Missing, SetField, filter_names};
use super::super::modes::why_not_missing;
use super::checker::Checker;
use super::raw::RawMissing;

impl Checker<'_> {
    /// Checks the table.
    pub(super) fn missing(&self, record: RecordKind, raw: Spanned<RawMissing>) -> Result<Missing, Mistake> {
        let span = raw.span();
        if let Some(why) = why_not_missing(record) {
            return Err(self.error(span, format!("[missing] is not possible: {why}"), Some("leave out this table")));
        }
        let RawMissing { set, r#where, at_most } = raw.into_inner();
        let Some(filter) = r#where else {
            let message = "[missing] needs a condition that says for which records of the service the file is complete";
            let hint = "an example is where = 'externalId | starts_with(\"ACME-\")'";
            return Err(self.error(span, message, Some(hint)));
        };
        let filter_span = filter.span();
        let filter = self.condition(filter)?;
        let names: Vec<String> = filter_names(record.input()).collect();
        if let Some(unknown) = filter.expression.columns().iter().find(|name| !names.contains(name)) {
            let known = names.iter().map(String::as_str);
            return Err(self.unknown(filter_span, "member of the service's list", unknown, known));
        }
        if filter.expression.columns().is_empty() {
            let hint = "an example is where = 'externalId | starts_with(\"ACME-\")'";
            return Err(self.error(filter_span, "this condition selects all records or none", Some(hint)));
        }
        let mut fields = Vec::new();
        for (name, value) in set {
            let field = SetField { field: name.get_ref().clone(), value: value.get_ref().clone() };
            if let Some(why) = field.why_not(record) {
                let hint = "an example is set = { status = \"inactive\" }";
                return Err(self.error(name.span(), format!("this can't be set: {why}"), Some(hint)));
            }
            fields.push(field);
        }
        let at_most = at_most.map(|limit| self.at_most(&limit)).transpose()?;
        Ok(Missing { set: fields, filter, at_most })
    }

    fn at_most(&self, limit: &Spanned<toml::Value>) -> Result<AtMost, Mistake> {
        let text = match limit.get_ref() {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        text.parse().map_err(|message: String| self.error(limit.span(), message, Some("write \"5%\" or 20")))
    }
}
