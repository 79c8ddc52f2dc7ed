//! Parsed expressions and their evaluation.

use std::collections::BTreeSet;
use std::ops::Range;

use super::constant::Constant;
use super::context::{Context, FixedCell};
use super::error::ExpressionError;
use super::eval::Evaluator;
use super::operand::MAX_LENGTH;
use super::parse::parse;
use super::token::{End, tokens};
use super::tree::{Kind, Node};
use crate::typed_value::Value;

/// Maximum length of the source in bytes.
const MAX_SOURCE: usize = 8 * 1024;
/// Maximum number of tokens, which limits the number of evaluation steps.
const MAX_TOKENS: usize = 512;

/// A parsed expression: a text with `{{ … }}`, or a condition.
#[derive(Debug)]
pub struct Expression {
    pieces: Vec<Piece>,
    /// The columns, each once.
    columns: Vec<String>,
    /// Length of the source in bytes.
    length: usize,
}

#[derive(Debug)]
enum Piece {
    Literal(String),
    Code(Node),
}

impl Expression {
    /// Parses a text with expressions in double braces. Fails for unsupported syntax.
    pub fn parse(source: &str) -> Result<Expression, ExpressionError> {
        check_length(source)?;
        let mut expression = Expression { pieces: Vec::new(), columns: Vec::new(), length: source.len() };
        let mut literal = String::new();
        let (mut at, mut count) = (0, 0);
        while let Some(length) = source[at..].find('{') {
            let start = at + length;
            literal.push_str(&source[at..start]);
            match source.as_bytes().get(start + 1) {
                Some(b'{') => {}
                Some(b'%') => {
                    let message = "blocks are not supported; write {{ a if condition else b }}";
                    return Err(ExpressionError::new(message, start..start + 2));
                }
                Some(b'#') => return Err(ExpressionError::new("comments are not supported", start..start + 2)),
                _ => {
                    literal.push('{');
                    at = start + 1;
                    continue;
                }
            }
            let (tokens, end) = tokens(source, start + 2, End::Braces)?;
            count += tokens.len();
            if count > MAX_TOKENS {
                return Err(ExpressionError::new("this expression is too long; shorten it", start..end + 2));
            }
            if tokens.is_empty() {
                return Err(ExpressionError::new("there is nothing between these braces", start..end + 2));
            }
            if !literal.is_empty() {
                expression.pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            expression.pieces.push(Piece::Code(parse(&tokens, &mut expression.columns)?));
            at = end + 2;
        }
        literal.push_str(&source[at..]);
        if !literal.is_empty() {
            expression.pieces.push(Piece::Literal(literal));
        }
        Ok(expression)
    }

    /// Parses an expression without braces, such as a condition.
    pub fn parse_condition(source: &str) -> Result<Expression, ExpressionError> {
        check_length(source)?;
        let (tokens, _) = tokens(source, 0, End::Source)?;
        if tokens.is_empty() {
            return Err(ExpressionError::new("this condition is blank", 0..source.len()));
        }
        if tokens.len() > MAX_TOKENS {
            return Err(ExpressionError::new("this expression is too long; shorten it", 0..source.len()));
        }
        let mut columns = Vec::new();
        let node = parse(&tokens, &mut columns)?;
        Ok(Expression { pieces: vec![Piece::Code(node)], columns, length: source.len() })
    }

    /// Returns the names of the columns, each once.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the names of the parameters.
    pub fn parameters(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.each_constant(&mut |constant| {
            if let Constant::Name(name) = constant {
                names.push(name.as_str());
            }
        });
        names
    }

    /// Returns the maximum memory of the patterns, in bytes.
    pub(crate) fn size_of_patterns(&self) -> usize {
        let mut size = 0;
        self.each_constant(&mut |constant| {
            if let Constant::Pattern(pattern) = constant {
                size += pattern.size;
            }
        });
        size
    }

    /// Returns the cells used by `cell("B2")`.
    pub fn cells(&self) -> Vec<FixedCell> {
        let mut cells = Vec::new();
        self.each_constant(&mut |constant| {
            if let Constant::Cell(cell) = constant {
                cells.push(*cell);
            }
        });
        cells
    }

    /// Evaluates the expression for a row. A single `{{ … }}` has a typed value; with further text, the value is text, or blank
    /// if all `{{ … }}` are blank.
    pub fn eval<'v>(&'v self, context: &'v dyn Context) -> Result<Value<'v>, ExpressionError> {
        let evaluator = Evaluator { context, columns: &self.columns };
        match self.pieces.as_slice() {
            [] => Ok(Value::Blank),
            [Piece::Code(node)] => evaluator.result(node),
            [Piece::Literal(text)] => Ok(Value::Text(text.as_str().into())),
            pieces => {
                let mut text = String::new();
                let mut is_blank = true;
                for piece in pieces {
                    match piece {
                        Piece::Literal(literal) => text.push_str(literal),
                        Piece::Code(node) => {
                            if let Some(part) = evaluator.text(node)? {
                                is_blank = false;
                                text.push_str(&part);
                            }
                        }
                    }
                    if text.len() > MAX_LENGTH {
                        return Err(ExpressionError::new("the text is longer than 32 KiB", 0..self.length));
                    }
                }
                let spent = context.spend(0, text.len());
                spent.map_err(|exceeded| ExpressionError::new(exceeded.to_string(), 0..self.length))?;
                Ok(if is_blank { Value::Blank } else { Value::Text(text.into()) })
            }
        }
    }

    /// Evaluates a condition for a row. True for any value that is neither blank nor FALSE.
    pub fn holds(&self, context: &dyn Context) -> Result<bool, ExpressionError> {
        Ok(match self.eval(context)? {
            Value::Boolean(boolean) => boolean,
            value => !value.is_blank(),
        })
    }

    /// Returns the columns used by the part of the expression at the range of an error, or all columns if no part has this
    /// range.
    pub(crate) fn columns_at(&self, range: &Range<usize>) -> BTreeSet<usize> {
        let code = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Code(node) => Some(node),
            Piece::Literal(_) => None,
        });
        let found = code.filter_map(|node| node.at(range)).next();
        found.map_or_else(|| (0..self.columns.len()).collect(), Node::columns)
    }

    fn each_constant<'e>(&'e self, visit: &mut dyn FnMut(&'e Constant)) {
        for piece in &self.pieces {
            if let Piece::Code(node) = piece {
                each_constant(node, visit);
            }
        }
    }
}

fn each_constant<'e>(node: &'e Node, visit: &mut dyn FnMut(&'e Constant)) {
    if let Kind::Call { constant: Some(constant), .. } = &node.kind {
        visit(constant);
    }
    for child in node.children() {
        each_constant(child, visit);
    }
}

fn check_length(source: &str) -> Result<(), ExpressionError> {
    match source.len() > MAX_SOURCE {
        true => Err(ExpressionError::new("an expression can have at most 8 KiB", 0..source.len())),
        false => Ok(()),
    }
}
