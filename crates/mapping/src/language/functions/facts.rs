//! Functions for facts about the file, and for parameters.

use sheetport_values::decimal::Decimal;

use super::super::constant::Constant;
use super::super::operand::Operand;
use super::call::Call;
use crate::typed_value::Value;

pub(super) fn today<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    Ok(known(call.context.today().map(Value::Date), "today's date"))
}

pub(super) fn row_number<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    Ok(known(call.context.row_number().map(|number| Value::Number(Decimal::from(number))), "the number of the row"))
}

pub(super) fn sheet_name<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    Ok(known(call.context.sheet_name().map(|name| Value::Text(name.into())), "the name of the sheet"))
}

pub(super) fn file_name<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    Ok(known(call.context.file_name().map(|name| Value::Text(name.into())), "the name of the file"))
}

pub(super) fn cell<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    match call.constant {
        Some(Constant::Cell(cell)) => Ok(known(call.context.cell(*cell), "this cell")),
        _ => Err("this needs a cell such as \"B2\"".to_owned()),
    }
}

pub(super) fn param<'v>(call: Call<'v>) -> Result<Operand<'v>, String> {
    match call.constant {
        Some(Constant::Name(name)) => Ok(match call.context.parameter(name) {
            Some(value) => Operand::plain(value),
            None => Operand::missing(format!("the parameter '{name}' is not set; add --set {name}=…")),
        }),
        _ => Err("this needs the name of a parameter".to_owned()),
    }
}

fn known<'v>(value: Option<Value<'v>>, what: &str) -> Operand<'v> {
    value.map_or_else(|| Operand::missing(format!("{what} is not known here")), Operand::from)
}
