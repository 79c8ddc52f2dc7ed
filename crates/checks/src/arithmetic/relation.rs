//! A relation between the numbers of a row.

use sheetport_findings::Code;

use super::numbers::{Exact, RowNumbers};
use crate::finding::Finding;
use crate::roles::Roles;

/// How a number follows from two or three others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// a × b
    Product,
    /// a × b ÷ 100 or ÷ 1000: a price of several pieces.
    ProductPer(u32),
    /// a + b
    Sum,
    /// a + b %
    PlusPercent,
    /// a − b %
    MinusPercent,
    /// b % of a
    Share,
    /// The tax of b % within a.
    TaxWithin,
    /// a × b − c %
    ProductMinusPercent,
    /// a × b − c
    ProductMinus,
    /// a × b + c
    ProductPlus,
}

impl Rule {
    /// The rules of two numbers, and whether the numbers can change places.
    pub(super) const OF_TWO: [(Rule, bool); 8] = [
        (Rule::Product, true),
        (Rule::ProductPer(100), true),
        (Rule::ProductPer(1000), true),
        (Rule::Sum, true),
        (Rule::PlusPercent, false),
        (Rule::MinusPercent, false),
        (Rule::Share, false),
        (Rule::TaxWithin, false),
    ];
    /// The rules of a product and a third number.
    pub(super) const OF_THREE: [Rule; 3] = [Rule::ProductMinusPercent, Rule::ProductMinus, Rule::ProductPlus];

    pub(super) fn compute(self, of: &[f64]) -> f64 {
        let third = of.get(2).copied().unwrap_or(0.0);
        let (a, b) = (of[0], of[1]);
        match self {
            Rule::Product => a * b,
            Rule::ProductPer(pieces) => a * b / f64::from(pieces),
            Rule::Sum => a + b,
            Rule::PlusPercent => a * (1.0 + b / 100.0),
            Rule::MinusPercent => a * (1.0 - b / 100.0),
            Rule::Share => a * b / 100.0,
            Rule::TaxWithin => a - a * 100.0 / (100.0 + b),
            Rule::ProductMinusPercent => a * b * (1.0 - third / 100.0),
            Rule::ProductMinus => a * b - third,
            Rule::ProductPlus => a * b + third,
        }
    }

    /// Returns whether numbers say something: a zero or a factor of one holds for many rules.
    pub(super) fn is_informative(self, of: &[f64], result: f64) -> bool {
        let is_zero = |number: f64| number == 0.0;
        let is_one = |number: f64| number.abs() == 1.0;
        let is_product = matches!(self, Rule::Product | Rule::ProductPer(_));
        let are_factors_plain = matches!(self, Rule::ProductMinusPercent | Rule::ProductMinus | Rule::ProductPlus);
        let has_zero = is_zero(result) || of.iter().copied().any(is_zero);
        let has_one = is_product && of.iter().copied().any(is_one);
        let are_ones = are_factors_plain && is_one(of[0]) && is_one(of[1]);
        !(has_zero || has_one || are_ones)
    }

    /// Returns whether one of the numbers is a percentage.
    pub(super) fn percentage(self) -> Option<usize> {
        match self {
            Rule::PlusPercent | Rule::MinusPercent | Rule::Share | Rule::TaxWithin => Some(1),
            Rule::ProductMinusPercent => Some(2),
            _ => None,
        }
    }
}

/// A relation that holds in nearly all rows of a sheet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Relation {
    pub(super) rule: Rule,
    /// The columns of the numbers, in the order of the rule.
    pub(super) of: Vec<usize>,
    /// The column of the result.
    pub(super) result: usize,
    /// Half of the last digit of the result.
    pub(super) tolerance: f64,
    /// The evidence against chance, in powers of ten.
    pub(super) score: f64,
}

impl Relation {
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        self.of.iter().copied().chain([self.result])
    }

    /// Returns the numbers of a row and their result, if all are there.
    pub(super) fn numbers(&self, numbers: &RowNumbers<'_>) -> Option<(Vec<Exact>, Exact)> {
        let of: Option<Vec<Exact>> = self.of.iter().map(|column| numbers.number(*column)).collect();
        Some((of?, numbers.number(self.result)?))
    }

    pub(super) fn holds(&self, of: &[Exact], result: Exact) -> bool {
        let values: Vec<f64> = of.iter().map(|number| number.value).collect();
        is_close(self.rule.compute(&values), result.value, self.tolerance)
    }

    /// Returns the calculation of a row for messages: `2 × 5.00 = 10.00`.
    pub(super) fn shown(&self, numbers: &RowNumbers<'_>, result: &str) -> String {
        let cell = |nth: usize| numbers.shown(self.of[nth]);
        let (a, b) = (cell(0), cell(1));
        let left = match self.rule {
            Rule::Product => format!("{a} × {b}"),
            Rule::ProductPer(pieces) => format!("{a} × {b} ÷ {pieces}"),
            Rule::Sum => format!("{a} + {b}"),
            Rule::PlusPercent => format!("{a} + {} %", without_percent(&b)),
            Rule::MinusPercent => format!("{a} − {} %", without_percent(&b)),
            Rule::Share => format!("{} % of {a}", without_percent(&b)),
            Rule::TaxWithin => format!("{} % within {a}", without_percent(&b)),
            Rule::ProductMinusPercent => format!("{a} × {b} − {} %", without_percent(&cell(2))),
            Rule::ProductMinus => format!("{a} × {b} − {}", cell(2)),
            Rule::ProductPlus => format!("{a} × {b} + {}", cell(2)),
        };
        format!("{left} = {result}")
    }

    /// Returns the finding about a row that breaks the relation, at the cell that the template reads.
    pub(super) fn broken(&self, roles: &Roles, numbers: &RowNumbers<'_>) -> Option<Finding> {
        let (of, result) = self.numbers(numbers)?;
        let values: Vec<f64> = of.iter().map(|number| number.value).collect();
        // A discount of zero is no mistake, but a price of zero may be a gift.
        if !self.rule.is_informative(&values, result.value) || self.holds(&of, result) {
            return None;
        }
        let quantity =
            |column: usize| roles.numbers.iter().find(|(known, _)| *known == column).map(|(_, quantity)| *quantity);
        let (column, quantity) = [self.result]
            .into_iter()
            .chain(self.of.iter().rev().copied())
            .find_map(|column| quantity(column).map(|quantity| (column, quantity)))?;
        let decimals = usize::try_from(result.decimals).unwrap_or(2);
        let expected = format!("{:.decimals$}", self.rule.compute(&values));
        let header = roles.name_of(self.result);
        let written = numbers.shown(self.result);
        Some(Finding {
            code: Code::DoesNotAddUp,
            remedy: format!(
                "{}, but '{header}' has {written}: correct the cell that is wrong",
                self.shown(numbers, &expected)
            ),
            ..Finding::unlike_others(
                (column, quantity.field),
                numbers.shown(column),
                "does not add up, unlike in the other rows".to_owned(),
            )
        })
    }
}

/// Returns whether a result is the computed number, rounded.
pub(super) fn is_close(computed: f64, result: f64, tolerance: f64) -> bool {
    // Doubles have errors of their own in the sixteenth digit.
    (computed - result).abs() <= tolerance.mul_add(1.0001, 1e-9 * result.abs())
}

fn without_percent(text: &str) -> &str {
    text.trim_end_matches('%').trim_end()
}
