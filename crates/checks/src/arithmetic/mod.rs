//! Arithmetic of rows: columns that are the product, the sum or the percentage of others. It is rare by chance and exact where it is
//! meant, so it tells what a column is whatever its name says, and which rows were mistyped.

mod cost;
mod meaning;
mod numbers;
mod rates;
mod relation;
mod search;
mod sizes;
mod usual;

use sheetport_sheet::Row;

use self::cost::Margin;
use self::meaning::{Contradiction, contradictions};
use self::numbers::{Cells, Notations};
use self::rates::{Rates, rates};
use self::relation::Relation;
use self::sizes::{Bound, Proportion};
use self::usual::Usual;
use super::finding::Finding;
use super::roles::Roles;

/// Number of rows that are searched for relations: fewer than a first chunk of rows, so that later rows change nothing. True relations show
/// in three rows.
const ROWS: usize = 512;
/// Score from which a row that breaks a relation is a mistake of the row: a relation that holds by chance once in a thousand tables.
const CERTAIN: f64 = 3.0;

/// The first rows of a sheet, as far as they may be numbers.
#[derive(Clone, Debug)]
pub(super) struct Reservoir {
    columns: Vec<usize>,
    rows: Vec<Cells>,
    /// The texts of the record's identifying columns, for sums over records.
    groups: Vec<String>,
    group: Vec<usize>,
    /// The columns of identifiers that repeat.
    items: Vec<usize>,
    /// The result of the last search, and the number of rows that it saw.
    found: Option<(usize, Calculations)>,
}

/// The relations of a sheet, and what they say about the template.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Calculations {
    notations: Notations,
    relations: Vec<Relation>,
    contradictions: Vec<Contradiction>,
    rates: Vec<Rates>,
    proportions: Vec<Proportion>,
    bounds: Vec<Bound>,
    usual: Vec<Usual>,
    margin: Option<Margin>,
}

/// Fields that identify what has a price.
const ITEMS: [&str; 5] = ["itemExternalId", "item_id", "id", "inventoryExternalId", "inventoryId"];

impl Reservoir {
    pub(super) fn new(roles: &Roles) -> Reservoir {
        Reservoir {
            columns: numbers::candidates(roles),
            rows: Vec::new(),
            groups: Vec::new(),
            group: roles.group.clone(),
            // Orders and customers have no price of their own.
            items: roles.formed.iter().filter(|it| ITEMS.contains(&it.field)).map(|it| it.column).collect(),
            found: None,
        }
    }

    pub(super) fn row(&mut self, row: &Row) {
        if self.columns.is_empty() || self.rows.len() >= ROWS {
            return;
        }
        self.rows.push(Cells::of(row, &self.columns, &self.items));
        let keys: Vec<String> = self.group.iter().map(|column| row.get(*column).shown().into_owned()).collect();
        self.groups.push(keys.join("\u{1f}"));
    }

    /// Returns the relations of the rows so far. Searches again only if there are more rows.
    pub(super) fn calculations(&mut self, roles: &Roles) -> Calculations {
        if let Some((_, found)) = self.found.as_ref().filter(|(rows, _)| *rows == self.rows.len()) {
            return found.clone();
        }
        let found = self.search(roles);
        self.found = Some((self.rows.len(), found.clone()));
        found
    }

    fn search(&self, roles: &Roles) -> Calculations {
        let notations = Notations::of(&self.columns, &self.rows);
        let table = notations.table(&self.columns, &self.rows);
        let relations = search::relations(&table, |column| roles.name_of(column).contains('%'));
        let of_records = search::sums_of_records(&table, &self.groups);
        let contradictions = contradictions(roles, &relations, &of_records);
        let is_used = |relation: &Relation| {
            let mut columns = relation.columns();
            relation.score >= CERTAIN && columns.any(|column| roles.numbers.iter().any(|(known, _)| *known == column))
        };
        let relations: Vec<Relation> = relations.into_iter().filter(is_used).collect();
        let rates = rates(roles, &table);
        // What explains a price by other columns says more than their proportion.
        let is_explained = |column: usize| relations.iter().any(|relation| relation.columns().any(|it| it == column));
        let mut proportions = sizes::proportions(roles, &table);
        proportions.retain(|proportion| !is_explained(proportion.column));
        // The largest number is known only if all rows are.
        let bounds = if self.rows.len() < ROWS { sizes::bounds(roles, &table) } else { Vec::new() };
        let usual = usual::usual(roles, &table, &self.rows, &self.items);
        let margin = cost::margin(roles, &table);
        let is_plain = margin.is_none() && relations.is_empty() && contradictions.is_empty() && rates.is_empty();
        if is_plain && proportions.is_empty() && bounds.is_empty() && usual.is_empty() {
            return Calculations::default();
        }
        Calculations { notations, relations, contradictions, rates, proportions, bounds, usual, margin }
    }
}

impl Calculations {
    /// Tries the relations of a column in a row that has their numbers. Returns their places, whether they hold, and the calculations.
    pub(super) fn tried(&self, column: usize, row: &Row) -> Vec<(usize, bool, String)> {
        let of_column =
            self.relations.iter().enumerate().filter(|(_, relation)| relation.columns().any(|it| it == column));
        let numbers = self.notations.of_row(row);
        let tried = of_column.filter_map(|(place, relation)| {
            let (of, result) = relation.numbers(&numbers)?;
            let values: Vec<f64> = of.iter().map(|number| number.value).collect();
            let shown = || relation.shown(&numbers, &numbers.shown(relation.result));
            let says_something = relation.rule.is_informative(&values, result.value);
            says_something.then(|| (place, relation.holds(&of, result), shown()))
        });
        tried.collect()
    }

    /// Adds what the arithmetic of a row contradicts.
    pub(super) fn judge(&self, roles: &Roles, row: &Row, found: &mut Vec<Finding>) {
        let numbers = &self.notations.of_row(row);
        for contradiction in &self.contradictions {
            found.extend(contradiction.judge(roles, numbers));
        }
        found.extend(self.rates.iter().filter_map(|rates| rates.judge(numbers)));
        let is_contradicted =
            |column: usize| self.contradictions.iter().any(|contradiction| contradiction.column == column);
        let broken = self.relations.iter().find_map(|relation| relation.broken(roles, numbers));
        found.extend(broken.filter(|finding| !is_contradicted(finding.column)));
        found.extend(self.proportions.iter().find_map(|proportion| proportion.judge(roles, numbers)));
        found.extend(self.usual.iter().find_map(|usual| usual.judge(roles, numbers)));
        let below = self.margin.iter().filter_map(|margin| margin.judge(roles, numbers));
        let below: Vec<Finding> = below.filter(|it| !found.iter().any(|known| known.column == it.column)).collect();
        found.extend(below);
        // A calculation that holds confirms a large number.
        let is_confirmed = |column: usize| self.tried(column, row).iter().any(|(_, holds, _)| *holds);
        let large = self.bounds.iter().filter_map(|bound| bound.judge(numbers));
        found.extend(large.filter(|finding| !is_confirmed(finding.column)));
    }
}
