//! Currencies beside amounts or in the headers above them. They are compared with the currency field of the record, or fill the
//! field if it is not mapped. A currency stays with the record until all rows of the record are complete. Records that say nothing of a
//! currency get the default of the sheet, if there is one.

use sheetport_values::currency::{Currency, CurrencyMark};

use crate::bind::Columns;
use crate::map::gathered::{FieldValue, Gathered, Money};
use crate::map::json::unquoted;
use crate::map::mapper::Mapper;
use crate::map::special_rules::CurrencyRule;
use crate::model::{Constant, OnBlank};
use crate::problem::{Cause, Problem};

/// The currency field of a record.
enum CurrencyField {
    /// Requests of this kind have no currency.
    None,
    /// Not mapped, or blank: filled from the amounts.
    FromAmounts,
    /// From a value of the sheet, or `None` if the value is not a currency.
    Mapped(Option<Currency>),
}

impl Mapper<'_> {
    /// Adds the currency beside an amount, and the currency in the header above.
    pub(crate) fn push_money(
        &self,
        gathered: &mut Gathered,
        beside: Option<CurrencyMark>,
        rule: usize,
        columns: &Columns,
        row: u64,
    ) {
        let marks = [beside, self.header_currency(rule, columns)];
        marks
            .into_iter()
            .flatten()
            .for_each(|mark| gathered.push_money(Money { mark, rule, column: columns.first(), row }));
    }

    /// Compares the currencies beside the amounts of a record with each other and with its currency field.
    pub(crate) fn check_currencies(&self, gathered: &Gathered, problems: &mut Vec<Problem>) {
        let Some(first) = gathered.money.first() else { return };
        let field = self.currency_field(gathered);
        for money in &gathered.money {
            let cause = match field {
                CurrencyField::Mapped(Some(currency)) if !money.mark.can_be(currency) => {
                    Cause::OtherCurrency { currency }
                }
                CurrencyField::Mapped(Some(_)) => continue,
                _ if !money.mark.agrees_with(first.mark) => {
                    Cause::TwoCurrencies { other_row: first.row, other: first.mark.to_string() }
                }
                CurrencyField::FromAmounts if self.currency_of(money.mark).is_none() => {
                    Cause::AmbiguousCurrency { sign: money.mark.to_string() }
                }
                _ => continue,
            };
            let (rule, _) = self.rule(money.rule);
            problems.push(self.problem_at(money.row, money.column, rule.field.name, money.mark.to_string(), cause));
        }
    }

    /// Returns the currency beside the amounts of a record, or the default of the sheet, if used for the currency field.
    pub(crate) fn currency_of_amounts(&self, gathered: &Gathered) -> Option<Currency> {
        match self.currency_field(gathered) {
            CurrencyField::FromAmounts => self.unmapped_currency(gathered),
            CurrencyField::None | CurrencyField::Mapped(_) => None,
        }
    }

    /// Returns the currency of a record without one in its field.
    fn unmapped_currency(&self, gathered: &Gathered) -> Option<Currency> {
        match self.mark_of_amounts(gathered) {
            Some(mark) => self.currency_of(mark),
            None => self.special().default_currency.filter(|currency| {
                // A cost in another currency shows that the record is not in the usual one.
                gathered.money.iter().all(|money| money.mark.can_be(*currency)) && self.has_amount(gathered)
            }),
        }
    }

    /// Returns whether a record has an amount, or its kind has none: a currency without an amount would change the currency of one that
    /// the service has.
    fn has_amount(&self, gathered: &Gathered) -> bool {
        let mut amounts = self.template().input().fields().filter(|field| field.is_money);
        let mut fields = self.template().fields.iter().enumerate();
        amounts.next().is_none()
            || fields.any(|(index, rule)| {
                rule.field.is_money && matches!(gathered.value(index), FieldValue::Present(json) if json != "null")
            })
    }

    /// Returns the currency of a mark: of a sign that several countries use, the default of the sheet if it is one of theirs.
    fn currency_of(&self, mark: CurrencyMark) -> Option<Currency> {
        mark.currency_with(self.template().sheet.currency, self.locale())
    }

    /// Returns the first currency beside an amount. The currency of a cost says nothing about a price without one.
    fn mark_of_amounts(&self, gathered: &Gathered) -> Option<CurrencyMark> {
        let mut fields = self.template().fields.iter().enumerate();
        let price = fields.find(|(_, rule)| rule.field.name == "price").map(|(index, _)| index);
        let price = price.filter(|index| matches!(gathered.value(*index), FieldValue::Present(_)));
        gathered.money.iter().find(|money| price.is_none_or(|price| money.rule == price)).map(|money| money.mark)
    }

    /// Returns the currency of a record, if known.
    pub fn currency(&self, gathered: &Gathered) -> Option<Currency> {
        match self.currency_field(gathered) {
            CurrencyField::None => None,
            CurrencyField::FromAmounts => self.unmapped_currency(gathered),
            CurrencyField::Mapped(currency) => currency,
        }
    }

    fn currency_field(&self, gathered: &Gathered) -> CurrencyField {
        let index = match self.special().currency {
            CurrencyRule::NoField => return CurrencyField::None,
            CurrencyRule::NotMapped => return CurrencyField::FromAmounts,
            CurrencyRule::Mapped(index) => index,
        };
        CurrencyField::Mapped(match (gathered.value(index), &self.rule(index).0.on_blank) {
            (FieldValue::Present(json), _) => Currency::parse(&unquoted(json)),
            (FieldValue::Absent, OnBlank::Omit) => return CurrencyField::FromAmounts,
            (FieldValue::Absent, OnBlank::Default(Constant::Text(code))) => Currency::parse(code),
            (FieldValue::Absent | FieldValue::Invalid, _) => None,
        })
    }
}
