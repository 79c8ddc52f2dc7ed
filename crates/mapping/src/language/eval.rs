//! Evaluation of a syntax tree.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::arithmetic::{Fault, Operation, calculate};
use super::compare::{equal, order};
use super::constant::Constant;
use super::context::Context;
use super::error::ExpressionError;
use super::functions::{Call, Function};
use super::operand::{Item, MAX_LENGTH, Operand, fits};
use super::position;
use super::tree::{Comparison, Kind, Node};
use crate::typed_value::Value;

/// Evaluates trees for one row.
pub(super) struct Evaluator<'v> {
    pub(super) context: &'v dyn Context,
    /// The names of the columns, for messages.
    pub(super) columns: &'v [String],
}

type Evaluated<'v> = Result<Operand<'v>, ExpressionError>;

impl<'v> Evaluator<'v> {
    /// Evaluates a tree to a single value.
    pub(super) fn value(&self, node: &'v Node) -> Result<Value<'v>, ExpressionError> {
        self.operand(node)?.into_value().map_err(at(&node.range))
    }

    /// Evaluates a part of a text. Returns `None` for a blank.
    pub(super) fn text(&self, node: &'v Node) -> Result<Option<Cow<'v, str>>, ExpressionError> {
        let operand = self.operand(node)?;
        let is_blank = operand.value().map_err(at(&node.range))?.is_blank();
        let text = operand.into_text().map_err(at(&node.range))?;
        Ok((!is_blank && !text.is_empty()).then_some(text))
    }

    /// Evaluates a whole expression to a single value.
    pub(super) fn result(&self, node: &'v Node) -> Result<Value<'v>, ExpressionError> {
        self.operand(node)?.into_result().map_err(at(&node.range))
    }

    fn operand(&self, node: &'v Node) -> Evaluated<'v> {
        self.spend(0, 0, &node.range)?;
        match &node.kind {
            Kind::Constant(value) => Ok(borrowed(value).into()),
            Kind::Column(index) => self.column(*index, &node.range),
            Kind::List(nodes) => {
                let values = nodes.iter().map(|node| self.value(node)).collect::<Result<_, _>>()?;
                Ok(Item::List(values).into())
            }
            Kind::Join(nodes) => self.join(nodes),
            Kind::Not(inner) => Ok(Value::Boolean(!self.is_true(inner)?).into()),
            Kind::Negate(inner) => {
                let zero = Operand::from(Value::Number(0.into()));
                self.arithmetic(Operation::Subtract, zero, self.operand(inner)?, [inner, inner], &node.range)
            }
            Kind::And(nodes) => self.either(nodes, false),
            Kind::Or(nodes) => self.either(nodes, true),
            Kind::Arithmetic(operation, nodes) => {
                let [left, right] = &**nodes;
                let (first, second) = (self.operand(left)?, self.operand(right)?);
                self.arithmetic(*operation, first, second, [left, right], &node.range)
            }
            Kind::Compare(comparison, nodes) => {
                let holds = self.compare(*comparison, nodes, &node.range)?;
                Ok(Value::Boolean(holds).into())
            }
            Kind::If(nodes) => {
                let [value, condition, other] = &**nodes;
                self.operand(if self.is_true(condition)? { value } else { other })
            }
            Kind::Call { function, arguments, constant } => {
                self.call(function, arguments, constant.as_ref(), &node.range)
            }
            Kind::Part(inner, at) => self.part(inner, *at, &node.range),
            Kind::Slice(inner, from, to) => match self.operand(inner)?.item {
                Item::List(mut list) => {
                    let places = position::places(list.len(), *from, *to);
                    Ok(Item::List(list.drain(places).collect()).into())
                }
                item => {
                    let text = Operand::from(item).into_text().map_err(at(&inner.range))?;
                    let part = position::characters(&text, *from, *to);
                    self.spend(text.len(), part.len(), &node.range)?;
                    Ok(Operand::text(part.to_owned()))
                }
            },
        }
    }

    fn column(&self, index: usize, range: &Range<usize>) -> Evaluated<'v> {
        let value = self.context.value(index).map_err(at(range))?;
        match &value {
            Value::Text(text) if text.len() > MAX_LENGTH => {
                let message = format!("the cell in the column '{}' has more than 32 KiB", self.columns[index]);
                Err(ExpressionError::new(message, range.clone()))
            }
            _ => Ok(Operand::cell(value, self.context.shown(index), index)),
        }
    }

    fn join(&self, nodes: &'v [Node]) -> Evaluated<'v> {
        let mut joined = String::new();
        for node in nodes {
            let operand = self.operand(node)?;
            joined.push_str(&operand.as_text().map_err(at(&node.range))?);
            fits(joined.len()).map_err(at(&node.range))?;
        }
        if let (Some(first), Some(last)) = (nodes.first(), nodes.last()) {
            self.spend(0, joined.len(), &(first.range.start..last.range.end))?;
        }
        Ok(Operand::text(joined))
    }

    /// Takes a step from the budget of the row.
    fn spend(&self, read: usize, made: usize, range: &Range<usize>) -> Result<(), ExpressionError> {
        self.context.spend(read, made).map_err(|exceeded| ExpressionError::new(exceeded.to_string(), range.clone()))
    }

    fn is_true(&self, node: &'v Node) -> Result<bool, ExpressionError> {
        self.operand(node)?.is_true().map_err(at(&node.range))
    }

    /// Returns the first value if it decides the result, otherwise the second. If a blank makes the first impossible, the second may
    /// still decide.
    fn either(&self, nodes: &'v [Node; 2], decides: bool) -> Evaluated<'v> {
        let [left, right] = nodes;
        let decided = |node: &'v Node| -> Result<(Operand<'v>, bool), ExpressionError> {
            let operand = self.operand(node)?;
            let is_true = operand.is_true().map_err(at(&node.range))?;
            Ok((operand, is_true == decides))
        };
        match decided(left) {
            Ok((first, true)) => Ok(first),
            Ok((_, false)) => self.operand(right),
            Err(error) if error.is_about_blank() => match decided(right) {
                Ok((second, true)) => Ok(second),
                Err(other) if !other.is_about_blank() => Err(other),
                _ => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    fn arithmetic(
        &self,
        operation: Operation,
        left: Operand<'v>,
        right: Operand<'v>,
        [left_node, right_node]: [&Node; 2],
        range: &Range<usize>,
    ) -> Evaluated<'v> {
        let result = calculate(operation, &left, &right, self.context);
        result.map(Operand::from).map_err(|fault| match fault {
            Fault::Left(message) => ExpressionError::new(message, left_node.range.clone()),
            Fault::Right(message) => ExpressionError::new(message, right_node.range.clone()),
            Fault::Operation(message) => ExpressionError::new(message, range.clone()),
        })
    }

    fn compare(
        &self,
        comparison: Comparison,
        nodes: &'v [Node; 2],
        range: &Range<usize>,
    ) -> Result<bool, ExpressionError> {
        let [left_node, right_node] = nodes;
        let left = self.operand(left_node)?;
        left.value().map_err(at(&left_node.range))?;
        let right = self.operand(right_node)?;
        if matches!(comparison, Comparison::In | Comparison::NotIn) {
            let found = match right.item {
                Item::List(values) => {
                    let mut found = false;
                    for value in values {
                        found = found || equal(&left, &value.into(), self.context).map_err(at(range))?;
                    }
                    found
                }
                item => {
                    let text = Operand::from(item).into_text().map_err(at(&right_node.range))?;
                    self.spend(text.len(), 0, range)?;
                    text.contains(left.as_text().map_err(at(&left_node.range))?.as_ref())
                }
            };
            return Ok(found == (comparison == Comparison::In));
        }
        right.value().map_err(at(&right_node.range))?;
        let holds = match comparison {
            Comparison::Equal => equal(&left, &right, self.context),
            Comparison::NotEqual => equal(&left, &right, self.context).map(|equal| !equal),
            Comparison::Less => order(&left, &right, self.context).map(Ordering::is_lt),
            Comparison::LessOrEqual => order(&left, &right, self.context).map(Ordering::is_le),
            Comparison::Greater => order(&left, &right, self.context).map(Ordering::is_gt),
            Comparison::GreaterOrEqual => order(&left, &right, self.context).map(Ordering::is_ge),
            Comparison::In | Comparison::NotIn => unreachable!("handled above"),
        };
        holds.map_err(at(range))
    }

    fn call(
        &self,
        function: &'static Function,
        arguments: &'v [Node],
        constant: Option<&'v Constant>,
        range: &Range<usize>,
    ) -> Evaluated<'v> {
        let mut values = Vec::with_capacity(arguments.len());
        for node in arguments {
            let operand = self.operand(node)?;
            let decided = function.takes_first && !operand.is_blank().map_err(at(&node.range))?;
            values.push(operand);
            if decided {
                break;
            }
        }
        self.spend(values.iter().map(|value| value.item.text_len()).sum(), 0, range)?;
        let result = (function.apply)(Call { values, constant, context: self.context }).map_err(at(range))?;
        if let Item::Value(Value::Text(text)) = &result.item {
            fits(text.len()).map_err(at(range))?;
        }
        self.spend(0, result.item.text_len(), range)?;
        Ok(result.after(function.name))
    }

    fn part(&self, inner: &'v Node, index: i64, range: &Range<usize>) -> Evaluated<'v> {
        let missing = || Operand::missing("there is no such part; add a replacement: | default(\"\")");
        match self.operand(inner)?.item {
            Item::List(mut list) => {
                Ok(position::place(list.len(), index).map_or_else(missing, |place| list.swap_remove(place).into()))
            }
            item => {
                let text = Operand::from(item).into_text().map_err(at(range))?;
                let place = position::place(text.chars().count(), index);
                let character = place.and_then(|place| text.chars().nth(place));
                Ok(character.map_or_else(missing, |character| Operand::text(character.to_string())))
            }
        }
    }
}

/// Places a message in the source.
fn at(range: &Range<usize>) -> impl FnOnce(String) -> ExpressionError + use<'_> {
    move |message| ExpressionError::new(message, range.clone())
}

/// Returns a constant without copying its text.
fn borrowed<'v>(value: &'v Value<'static>) -> Value<'v> {
    match value {
        Value::Text(text) => Value::Text(text.as_ref().into()),
        other => other.clone(),
    }
}
