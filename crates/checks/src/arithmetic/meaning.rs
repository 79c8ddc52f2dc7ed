//! What relations say about the fields that a template maps columns to.

use sheetport_documents::write::quoted;
use sheetport_findings::Code;
use sheetport_mapping::language::row_value;

use super::numbers::RowNumbers;
use super::relation::{Relation, Rule};
use super::search::RecordSum;
use crate::finding::Finding;
use crate::roles::{Meaning, Quantity, Roles};

/// A mapped column whose values are something else than the field takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contradiction {
    pub(super) column: usize,
    field: &'static str,
    kind: Kind,
    /// The relation that shows it; `None` for a sum over a record.
    relation: Option<Relation>,
    /// The column that the values belong to, such as the total.
    other: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The amount of a tax where its rate belongs.
    TaxAmount,
    /// The total of a line where the price of one belongs.
    Total,
    /// The price of 100 or 1000 pieces.
    PriceOf(u32),
    /// The price before a discount.
    Undiscounted,
}

/// Returns what the relations of a sheet contradict. The first relation about a column decides, because it is the most certain.
pub(super) fn contradictions(roles: &Roles, relations: &[Relation], sums: &[RecordSum]) -> Vec<Contradiction> {
    let mut found: Vec<Contradiction> = Vec::new();
    for (column, quantity) in &roles.numbers {
        let of_relation = relations.iter().find_map(|relation| contradicted(roles, *column, *quantity, relation));
        let found_one = of_relation.or_else(|| {
            let sum = sums.iter().find(|sum| sum.part == *column && quantity.meaning == Meaning::UnitPrice)?;
            let is_total_of_products =
                relations.iter().any(|relation| relation.rule == Rule::Product && relation.of.contains(column));
            (count_column(roles).is_some() && !is_total_of_products).then_some(Contradiction {
                column: *column,
                field: quantity.field,
                kind: Kind::Total,
                relation: None,
                other: sum.total,
            })
        });
        found.extend(found_one);
    }
    found
}

fn contradicted(roles: &Roles, column: usize, quantity: Quantity, relation: &Relation) -> Option<Contradiction> {
    let meaning =
        |column: usize| roles.numbers.iter().find(|(known, _)| *known == column).map(|(_, quantity)| quantity.meaning);
    let is_count = |column: &usize| meaning(*column) == Some(Meaning::Count);
    let at = |nth: usize| relation.of.get(nth) == Some(&column);
    let is_result = relation.result == column;
    let kind = match (quantity.meaning, relation.rule) {
        // Net + tax = gross; quantity × price + tax = total; the percentage of a net price.
        (Meaning::TaxRate, Rule::Sum) if at(0) || at(1) => Kind::TaxAmount,
        (Meaning::TaxRate, Rule::ProductPlus) if at(2) => Kind::TaxAmount,
        (Meaning::TaxRate, Rule::Share | Rule::TaxWithin) if is_result => Kind::TaxAmount,
        (Meaning::UnitPrice, Rule::Product) if is_result && relation.of.iter().any(is_count) => Kind::Total,
        (Meaning::UnitPrice, Rule::ProductPer(pieces)) if !is_result && relation.of.iter().any(is_count) => {
            Kind::PriceOf(pieces)
        }
        (Meaning::UnitPrice, Rule::ProductMinusPercent | Rule::ProductMinus)
            if (at(0) || at(1)) && relation.of[..2].iter().any(is_count) =>
        {
            Kind::Undiscounted
        }
        (Meaning::UnitPrice, Rule::MinusPercent) if at(0) && meaning(relation.result).is_none() => Kind::Undiscounted,
        _ => return None,
    };
    let other = relation.result;
    Some(Contradiction { column, field: quantity.field, kind, relation: Some(relation.clone()), other })
}

impl Contradiction {
    /// Returns the finding about a row whose numbers show the contradiction.
    pub(super) fn judge(&self, roles: &Roles, numbers: &RowNumbers<'_>) -> Option<Finding> {
        let own = numbers.number(self.column)?;
        if own.value == 0.0 {
            return None;
        }
        let calculation = match &self.relation {
            Some(relation) => {
                let (of, result) = relation.numbers(numbers)?;
                if !relation.holds(&of, result) {
                    return None;
                }
                // The price of a line without a discount, or of a single piece, is right.
                let is_right = match self.kind {
                    Kind::Undiscounted => of.last().is_some_and(|discount| discount.value == 0.0),
                    Kind::Total => of.iter().any(|number| number.value == own.value),
                    Kind::TaxAmount | Kind::PriceOf(_) => false,
                };
                if is_right {
                    return None;
                }
                relation.shown(numbers, &numbers.shown(relation.result))
            }
            None => {
                let count = numbers.number(count_column(roles)?)?;
                if count.value == 1.0 {
                    return None;
                }
                format!("the rows of a record make its '{}'", roles.name_of(self.other))
            }
        };
        let (message, remedy) = match self.kind {
            Kind::TaxAmount => (
                "is the tax itself, not its rate".to_owned(),
                "map the column to a field for amounts of tax, or take it out of the template".to_owned(),
            ),
            Kind::Total => {
                let (price, count) = (
                    row_value(roles.name_of(self.column)),
                    row_value(count_column(roles).map_or("", |column| roles.name_of(column))),
                );
                let text = quoted(&format!("{{{{ {price} | divided_by({count}) }}}}"));
                ("is the total, not the price of one".to_owned(), format!("divide it in the template: text = {text}"))
            }
            Kind::PriceOf(pieces) => (
                format!("is the price of {pieces} pieces"),
                format!("add scale = {} to {} in the template", 1.0 / f64::from(pieces), self.field),
            ),
            Kind::Undiscounted => (
                "is the price before the discount".to_owned(),
                "calculate the price in the template, or write the price after the discount".to_owned(),
            ),
        };
        let remedy = format!("the row shows it: {calculation}; {remedy}");
        Some(Finding {
            code: Code::OtherMeaning,
            remedy,
            ..Finding::unlike_others((self.column, self.field), numbers.shown(self.column), message)
        })
    }
}

/// Returns the column with the quantity.
fn count_column(roles: &Roles) -> Option<usize> {
    roles.numbers.iter().find(|(_, quantity)| quantity.meaning == Meaning::Count).map(|(column, _)| *column)
}
