//! Movements of stock: the direction and the quantity in two columns such as `In` and `Out`.

use sheetport_documents::write::quoted;
use sheetport_mapping::language::row_value;
use sheetport_mapping::model::{ColumnName, Place};
use sheetport_mapping::words::movements::Movement;
use sheetport_records::RecordKind;

use super::super::proposal::{Confidence, FieldProposal, ProposedSource};
use super::super::sample::{Column, Sample};

const TYPE: &str = "transactionType";
const QUANTITY: &str = "transactionAmount";
const QUANTITIES: [&str; 2] = [QUANTITY, "amount"];

/// Proposes the type and the quantity of movements with received and issued quantities in two columns. Both are guesses that must
/// be confirmed. A row with a quantity in both columns, or in none, gets no type, so that it is a problem.
pub(crate) fn propose(kind: RecordKind, sample: &Sample, fields: &mut Vec<FieldProposal>) {
    let has = |name: &str| fields.iter().any(|field| field.is(Place::Record, name));
    if kind != RecordKind::InventoryTransaction || has(TYPE) || QUANTITIES.into_iter().any(has) {
        return;
    }
    let of = |movement: Movement| {
        let is_free = |column: &&Column| !fields.iter().any(|field| field.is_from_column(column.index));
        let mut columns = sample.columns.iter().filter(is_free).filter_map(|column| {
            let is_number = column.profile.filled == 0 || column.profile.is_numeric();
            let name = named(column).filter(|name| is_number && Movement::of_header(name) == Some(movement))?;
            Some((column, row_value(name)))
        });
        columns.next().filter(|_| columns.next().is_none())
    };
    let (Some((received, r)), Some((issued, i))) = (of(Movement::In), of(Movement::Out)) else { return };
    let (r, i) = (format!("({r} | default(0))"), format!("({i} | default(0))"));
    let direction = format!("{{{{ '' if {r} > 0 and {i} > 0 else 'in' if {r} > 0 else 'out' if {i} > 0 else '' }}}}");
    let input = kind.input();
    for (name, text) in [(TYPE, direction), (QUANTITY, format!("{{{{ {r} + {i} }}}}"))] {
        let Some(field) = input.field(name) else { return };
        let source = ProposedSource::Computed {
            columns: vec![received.index, issued.index],
            label: format!("{} / {}", received.label, issued.label),
            line: format!("text = {}", quoted(&text)),
        };
        let reason = "goods in and goods out have a column each".to_owned();
        let mut proposal = FieldProposal::new(field, Place::Record, source, reason, Confidence::Guess);
        proposal.keys.push("on_blank = \"error\"".to_owned());
        fields.push(proposal);
    }
    let position = |name: &str| input.mappable().position(|field| field.name == name);
    fields.sort_by_key(|field| position(field.name));
}

/// Returns the rule that goods in or out have no minus sign, if the fields have a type and a quantity.
pub(crate) fn rule_of_signs(kind: RecordKind, fields: &[FieldProposal]) -> Option<String> {
    let has = |name: &str| fields.iter().any(|field| field.is(Place::Record, name));
    let quantity = QUANTITIES.into_iter().find(|name| has(name))?;
    if kind != RecordKind::InventoryTransaction || !has(TYPE) {
        return None;
    }
    Some(format!(
        "[[rules]]\nrule = '{TYPE} not in [\"in\", \"out\"] or {quantity} >= 0'\n\
         message = \"goods in or out with a minus sign would move the stock the other way; remove the sign, or use adjust\""
    ))
}

fn named(column: &Column) -> Option<&str> {
    match &column.name {
        ColumnName::Named(name) if *name == column.label => Some(name),
        _ => None,
    }
}
