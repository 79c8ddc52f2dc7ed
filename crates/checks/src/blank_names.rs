//! Names that stand only on the first of several rows, as in lists of variants: the rows below would be records without a name.

use sheetport_documents::write::quoted;
use sheetport_findings::Code;
use sheetport_sheet::Row;

use super::finding::Finding;
use super::roles::Roles;

/// Counts of rows with and without a name.
#[derive(Clone, Debug, Default)]
pub(super) struct NameCounts {
    rows: u64,
    /// Rows with an identifier and no name, below one with both.
    blank: u64,
    first_named: Option<u64>,
}

impl NameCounts {
    pub(super) fn row(&mut self, roles: &Roles, row: &Row) {
        let Some(name) = roles.name else { return };
        if !has_key(roles, row) {
            return;
        }
        self.rows += 1;
        if !row.get(name).is_blank() {
            self.first_named.get_or_insert(row.number);
        } else if self.first_named.is_some() {
            self.blank += 1;
        }
    }

    /// Makes all further rows come below a row with a name, if there was any.
    pub(super) fn begin_anywhere(&mut self) {
        self.first_named = self.first_named.map(|_| 0);
    }

    /// Returns the first row with a name if a third of the rows, and at least two, lack theirs below it. Single blanks are mistakes of their
    /// rows, footers have no name either, and a list with hardly any name is an update of other fields.
    pub(super) fn first_named(&self) -> Option<u64> {
        let are_blank = self.blank >= 2 && self.blank * 3 >= self.rows;
        let has_names = self.blank * 20 < self.rows * 19;
        self.first_named.filter(|_| are_blank && has_names)
    }
}

pub(super) fn judge(roles: &Roles, first_named: u64, row: &Row) -> Option<Finding> {
    let name =
        roles.name.filter(|name| row.number > first_named && row.get(*name).is_blank() && has_key(roles, row))?;
    let header = quoted(roles.name_of(name));
    Some(Finding {
        code: Code::NoName,
        column: name,
        field: "name",
        value: String::new(),
        message: "is blank, though rows above have a name".to_owned(),
        remedy: format!(
            "fill in the name; if the name above is meant, add fill_down = [{header}] to [sheet] in the template; if records without a \
             name are right, set damaged = \"accept\" for name"
        ),
        is_warning: false,
    })
}

fn has_key(roles: &Roles, row: &Row) -> bool {
    roles.keys.iter().any(|key| !row.get(*key).is_blank())
}
