//! Checks `[unpivot]`: columns whose cells are separate records or lines.

use sheetport_documents::Mistake;
use toml::Spanned;

use super::super::model::{ColumnName, FieldRule, Template, Unit, Unpivot, UnpivotColumns, same_header};
use super::checker::Checker;
use super::raw::{RawUnpivot, column_names};

impl Checker<'_> {
    pub(super) fn unpivot(&self, raw: Spanned<RawUnpivot>) -> Result<Unpivot, Mistake> {
        let span = raw.span();
        let raw = raw.into_inner();
        let columns = match (raw.columns, raw.matches) {
            (Some(columns), None) => {
                UnpivotColumns::Named(columns.into_inner().0.into_iter().map(column_names).collect())
            }
            (None, Some(pattern)) => UnpivotColumns::Matching(self.regex(&pattern)?),
            (Some(_), Some(pattern)) => {
                let message = "unpivot has either columns or matches";
                return Err(self.error(pattern.span(), message, Some("keep one of them")));
            }
            (None, None) => {
                let hint = "add columns = [\"Jan\", \"Feb\"], or matches = \"^20[0-9]{2}$\" for headers by a pattern";
                return Err(self.error(span, "unpivot has no columns", Some(hint)));
            }
        };
        if same_header(raw.header_as.get_ref(), raw.value_as.get_ref()) {
            let message = "header_as and value_as are the same name";
            return Err(self.error(raw.value_as.span(), message, Some("rename one of them")));
        }
        if let Some(blank) = [&raw.header_as, &raw.value_as].into_iter().find(|name| name.get_ref().trim().is_empty()) {
            return Err(self.error(blank.span(), "a column's name can't be blank", Some("an example is \"Month\"")));
        }
        let skips_zero = self.choice("zero", raw.zero, &[("send", false), ("skip", true)])?.unwrap_or(false);
        Ok(Unpivot {
            columns,
            optional: raw.optional,
            header_as: raw.header_as.into_inner(),
            value_as: raw.value_as.into_inner(),
            skips_zero,
            unit: Unit::Record,
            span,
        })
    }

    /// Decides the meaning of the cells, and checks the references to them.
    pub(super) fn check_unpivot(&self, template: &mut Template) {
        let Some(unpivot) = &template.unpivot else { return };
        let wrong = |message: String, hint: &str| self.note(self.error(unpivot.span.clone(), message, Some(hint)));
        let reads = |rule: &&FieldRule, name: &str| {
            let column = ColumnName::Named(name.to_owned());
            rule.source.columns().iter().flatten().any(|wanted| wanted.is_same(&column))
        };
        let of_cell = |rule: &&FieldRule| reads(rule, &unpivot.header_as) || reads(rule, &unpivot.value_as);
        let in_record = template.fields.iter().find(of_cell);
        let unit = if in_record.is_none() && template.lines.iter().any(|rule| of_cell(&rule)) {
            Unit::Line
        } else {
            Unit::Record
        };
        if !template.rules().any(|rule| reads(&rule, &unpivot.value_as)) {
            let message = format!("no field has the column '{}', which stands for the cells", unpivot.value_as);
            wrong(message, "add a table with this column, such as [fields.amount]");
        }
        if let (Some(rule), Some(_)) = (in_record, &template.group) {
            let message =
                format!("the rows of a group are one record, so that {} can't be that of a cell", rule.field.name);
            wrong(message, "remove [group], or read the cells in [lines] alone");
        }
        if template.rules().any(FieldRule::is_numbered) {
            let message = "a row has either unpivoted or numbered columns".to_owned();
            wrong(message, "remove {n} from the columns of [lines], or remove [unpivot]");
        }
        let by = template.group.iter().flat_map(|group| group.by.iter().flatten());
        let sheet = &template.sheet;
        let tests = sheet.row_tests().flat_map(|test| test.columns().concat());
        let filled = sheet.fill_down.iter().flat_map(|fill| fill.columns.iter().chain(fill.within.iter().flatten()));
        let others = by.cloned().chain(tests).chain(filled.cloned()).find(|column| unpivot.names(column));
        if let Some(column) = others {
            let message = format!("{column} is a cell of a row; only fields can read it");
            wrong(message, "use another column here; zero = \"skip\" leaves out cells with zero");
        }
        if let Some(unpivot) = &mut template.unpivot {
            unpivot.unit = unit;
        }
    }
}
