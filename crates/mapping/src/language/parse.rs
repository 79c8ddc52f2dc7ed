//! The parser: tokens to a tree, by the precedence of operators.

use std::borrow::Cow;
use std::ops::Range;

use sheetport_documents::nearest;
use sheetport_values::decimal;

use super::arithmetic::Operation;
use super::constant::Constant;
use super::error::ExpressionError;
use super::functions::{self, FUNCTIONS, Form, Function};
use super::token::{Kind as TokenKind, Token};
use super::tree::{Comparison, Kind, Node};
use crate::typed_value::Value;

/// Maximum height of trees and depth of brackets, to limit recursion.
const MAX_DEPTH: usize = 120;

/// How tightly operators bind, from loose to tight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    If,
    Or,
    And,
    Not,
    Compare,
    Join,
    Pipe,
    Sum,
    Product,
    Sign,
    Position,
}

/// Parses the tokens of one expression. Collects the columns of all expressions of a text.
pub(super) struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    columns: &'a mut Vec<String>,
}

type Parsed<T = Node> = Result<T, ExpressionError>;

/// Parses all of `tokens`. There must be at least one.
pub(super) fn parse(tokens: &[Token], columns: &mut Vec<String>) -> Parsed {
    let mut parser = Parser { tokens, at: 0, depth: 0, columns };
    let node = parser.expression(Level::If)?;
    match parser.tokens.get(parser.at) {
        None => Ok(node),
        Some(token) => Err(parser.misplaced(token)),
    }
}

impl Parser<'_> {
    /// Parses a value and all following operators that bind at least as tightly as `level`.
    fn expression(&mut self, level: Level) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(error("this expression is nested too deeply", self.range()));
        }
        let mut left = self.prefix()?;
        while let Some(operator) = self.operator().filter(|operator| *operator >= level) {
            left = self.infix(left, operator)?;
            if left.height > MAX_DEPTH {
                return Err(error("this expression is too long; shorten it", left.range));
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Returns the level of the operator at the current token, or `None` for other tokens.
    fn operator(&self) -> Option<Level> {
        Some(match self.kind(0)? {
            TokenKind::Name(name) => match name.as_str() {
                "if" => Level::If,
                "or" => Level::Or,
                "and" => Level::And,
                "in" => Level::Compare,
                "not" if self.is_name(1, "in") => Level::Compare,
                _ => return None,
            },
            TokenKind::Mark(mark) => match *mark {
                "==" | "!=" | "<" | "<=" | ">" | ">=" => Level::Compare,
                "~" => Level::Join,
                "+" | "-" => Level::Sum,
                "*" | "/" => Level::Product,
                "|" => Level::Pipe,
                "[" => Level::Position,
                _ => return None,
            },
            TokenKind::Text(_) | TokenKind::Number(_) => return None,
        })
    }

    /// Parses a value and any prefix before it.
    fn prefix(&mut self) -> Parsed {
        let Some(token) = self.tokens.get(self.at) else {
            let last = self.tokens.last().map_or(0..0, |token| token.range.clone());
            return Err(error("something is missing after this", last));
        };
        let range = token.range.clone();
        self.at += 1;
        match &token.kind {
            TokenKind::Text(text) => Ok(Node::new(Kind::Constant(Value::Text(Cow::Owned(text.clone()))), range)),
            TokenKind::Number(digits) => number(digits, range),
            TokenKind::Name(name) => self.name(name, range),
            TokenKind::Mark("(") => {
                let inner = self.expression(Level::If)?;
                self.close(")", &range)?;
                Ok(inner)
            }
            TokenKind::Mark("[") => {
                let (nodes, end) = self.list("]", &range)?;
                Ok(Node::new(Kind::List(nodes), range.start..end))
            }
            TokenKind::Mark("+") => self.expression(Level::Position),
            TokenKind::Mark("-") => {
                let inner = self.expression(Level::Position)?;
                match inner.kind {
                    Kind::Constant(Value::Number(number)) => {
                        Ok(Node::new(Kind::Constant(Value::Number(-number)), range.start..inner.range.end))
                    }
                    _ => Ok(Node::new(Kind::Negate(Box::new(inner)), range)),
                }
            }
            TokenKind::Mark(_) => {
                self.at -= 1;
                match self.operator() {
                    Some(_) => Err(error("a value is missing before this", range)),
                    None => Err(self.misplaced(token)),
                }
            }
        }
    }

    fn name(&mut self, name: &str, range: Range<usize>) -> Parsed {
        match name {
            "true" | "false" => Ok(Node::new(Kind::Constant(Value::Boolean(name == "true")), range)),
            "not" => {
                // In a loop, because many in a row are no nesting.
                let mut negated = true;
                while self.is_name(0, "not") {
                    self.at += 1;
                    negated = !negated;
                }
                let inner = Node::new(Kind::Not(Box::new(self.expression(Level::Not)?)), range.clone());
                Ok(if negated { inner } else { Node::new(Kind::Not(Box::new(inner)), range) })
            }
            "if" | "or" | "and" | "in" => Err(error("a value is missing before this", range)),
            "else" | "is" => {
                self.at -= 1;
                Err(self.misplaced(&self.tokens[self.at]))
            }
            _ if self.is_mark(0, "(") => self.direct(name, range),
            "row" => self.row(range),
            _ => Ok(self.column(name.to_owned(), range)),
        }
    }

    fn column(&mut self, name: String, range: Range<usize>) -> Node {
        let known = self.columns.iter().position(|column| *column == name);
        let index = known.unwrap_or_else(|| {
            self.columns.push(name);
            self.columns.len() - 1
        });
        Node::new(Kind::Column(index), range)
    }

    /// Parses `["a column"]` after `row`.
    fn row(&mut self, range: Range<usize>) -> Parsed {
        match (self.is_mark(0, "["), self.kind(1), self.is_mark(2, "]")) {
            (true, Some(TokenKind::Text(column)), true) => {
                let column = column.clone();
                let range = range.start..self.tokens[self.at + 2].range.end;
                self.at += 3;
                Ok(self.column(column, range))
            }
            (true, ..) => {
                self.at += 1;
                Err(error("write the column's name in quotes: row[\"Item no.\"]", range.start..self.range().end))
            }
            _ => Err(error("'row' is the whole row; name a column in it: row[\"Item no.\"]", range)),
        }
    }

    /// Parses an operator and its right side.
    fn infix(&mut self, left: Node, level: Level) -> Parsed {
        let range = self.range();
        let token = self.kind(0).cloned();
        self.at += 1;
        match (level, token) {
            (Level::If, _) => {
                let condition = self.expression(Level::Or)?;
                if !self.is_name(0, "else") {
                    return Err(match self.tokens.get(self.at) {
                        Some(token)
                            if !self.is_name(0, "if") && !matches!(token.kind, TokenKind::Mark(")" | "]" | ",")) =>
                        {
                            self.misplaced(token)
                        }
                        _ => error("this if needs an else: a if condition else b", range),
                    });
                }
                self.at += 1;
                let other = self.expression(Level::If)?;
                Ok(Node::new(Kind::If(Box::new([left, condition, other])), range))
            }
            (Level::Or, _) => Ok(Node::new(Kind::Or(self.pair(left, Level::And)?), range)),
            (Level::And, _) => Ok(Node::new(Kind::And(self.pair(left, Level::Not)?), range)),
            (Level::Join, _) => {
                let right = self.expression(Level::Pipe)?;
                match left.kind {
                    Kind::Join(mut nodes) => {
                        nodes.push(right);
                        Ok(Node::new(Kind::Join(nodes), left.range))
                    }
                    _ => Ok(Node::new(Kind::Join(vec![left, right]), range)),
                }
            }
            (Level::Sum, token) => {
                let operation = if is(&token, "+") { Operation::Add } else { Operation::Subtract };
                Ok(Node::new(Kind::Arithmetic(operation, self.pair(left, Level::Product)?), range))
            }
            (Level::Product, token) => {
                let operation = if is(&token, "*") { Operation::Multiply } else { Operation::Divide };
                Ok(Node::new(Kind::Arithmetic(operation, self.pair(left, Level::Sign)?), range))
            }
            (Level::Pipe, _) => self.pipe(left, range),
            (Level::Position, _) => self.position(left, range),
            (_, token) => {
                let comparison = match token {
                    Some(TokenKind::Mark("==")) => Comparison::Equal,
                    Some(TokenKind::Mark("!=")) => Comparison::NotEqual,
                    Some(TokenKind::Mark("<")) => Comparison::Less,
                    Some(TokenKind::Mark("<=")) => Comparison::LessOrEqual,
                    Some(TokenKind::Mark(">")) => Comparison::Greater,
                    Some(TokenKind::Mark(">=")) => Comparison::GreaterOrEqual,
                    Some(TokenKind::Name(name)) if name == "not" => {
                        self.at += 1;
                        Comparison::NotIn
                    }
                    _ => Comparison::In,
                };
                Ok(Node::new(Kind::Compare(comparison, self.pair(left, Level::Join)?), range))
            }
        }
    }

    fn pair(&mut self, left: Node, level: Level) -> Parsed<Box<[Node; 2]>> {
        Ok(Box::new([left, self.expression(level)?]))
    }

    /// Parses the function after `|`.
    fn pipe(&mut self, subject: Node, bar: Range<usize>) -> Parsed {
        let Some(TokenKind::Name(name)) = self.kind(0).cloned() else {
            return Err(error("the name of a function is missing after this", bar));
        };
        let range = self.range();
        self.at += 1;
        match functions::find(&name) {
            Some(function) if function.form != Form::Direct => self.call(function, Some(subject), range),
            Some(_) => Err(error(&format!("'{name}' is written before its values: {name}(…)"), range)),
            None => Err(unknown(&name, range)),
        }
    }

    /// Parses a function without `|` before it.
    fn direct(&mut self, name: &str, range: Range<usize>) -> Parsed {
        match functions::find(name) {
            Some(function) if function.form != Form::Piped => self.call(function, None, range),
            Some(_) => Err(error(&format!("'{name}' follows a value: Column | {name}(…)"), range)),
            None => Err(unknown(name, range)),
        }
    }

    /// Parses the arguments of a function.
    fn call(&mut self, function: &'static Function, subject: Option<Node>, name: Range<usize>) -> Parsed {
        let mut end = name.end;
        let mut arguments: Vec<Node> = subject.into_iter().collect();
        // If the function can also come first, its first value is in the brackets.
        let subjects = usize::from(function.form != Form::Direct);
        if self.is_mark(0, "(") {
            let opening = self.range();
            self.at += 1;
            let (listed, closing) = self.list(")", &opening)?;
            arguments.extend(listed);
            end = closing;
        }
        if !arguments.len().checked_sub(subjects).is_some_and(|count| function.arguments.contains(&count)) {
            return Err(error(&format!("'{}' is used like this: {}", function.name, function.usage), name));
        }
        let mut constant = None;
        if function.constant.is_some() && arguments.len() > subjects {
            constant = Some(constant_of(function, arguments.remove(subjects))?);
        }
        Ok(Node::new(Kind::Call { function, arguments, constant }, name.start..end))
    }

    /// Parses values with commas up to the closing bracket. Returns the end of the bracket.
    fn list(&mut self, closing: &'static str, opening: &Range<usize>) -> Parsed<(Vec<Node>, usize)> {
        let mut nodes = Vec::new();
        if !self.is_mark(0, closing) {
            loop {
                nodes.push(self.expression(Level::If)?);
                if !self.is_mark(0, ",") {
                    break;
                }
                self.at += 1;
            }
        }
        let end = self.range().end;
        self.close(closing, opening)?;
        Ok((nodes, end))
    }

    fn close(&mut self, closing: &'static str, opening: &Range<usize>) -> Parsed<()> {
        if self.is_mark(0, closing) {
            self.at += 1;
            return Ok(());
        }
        match self.tokens.get(self.at) {
            None => Err(error("this bracket is not closed", opening.clone())),
            Some(token) => Err(match token.kind {
                TokenKind::Mark(")" | "]") => error("this bracket is out of place", token.range.clone()),
                _ => self.misplaced(token),
            }),
        }
    }

    /// Parses a position in brackets: `[0]`, `[-1]`, `[0:3]`.
    fn position(&mut self, inner: Node, opening: Range<usize>) -> Parsed {
        let from = self.whole()?;
        let slices = self.is_mark(0, ":");
        self.at += usize::from(slices);
        let to = if slices { self.whole()? } else { None };
        if !self.is_mark(0, "]") || !slices && from.is_none() {
            return Err(match self.tokens.get(self.at) {
                None => error("this bracket is not closed", opening),
                Some(token) => {
                    error("positions are whole numbers: [0], [-1], [0:3]; the first is 0", token.range.clone())
                }
            });
        }
        let range = inner.range.start.min(opening.start)..self.range().end;
        self.at += 1;
        let inner = Box::new(inner);
        Ok(match from {
            Some(at) if !slices => Node::new(Kind::Part(inner, at), range),
            _ => Node::new(Kind::Slice(inner, from, to), range),
        })
    }

    fn whole(&mut self) -> Parsed<Option<i64>> {
        let sign = usize::from(self.is_mark(0, "-"));
        match self.kind(sign) {
            Some(TokenKind::Number(digits)) if digits.len() < 10 && !digits.contains('.') => {
                let whole: i64 = digits.parse().map_err(|_| error("this is not a position", self.range()))?;
                self.at += 1 + sign;
                Ok(Some(if sign == 1 { -whole } else { whole }))
            }
            _ => Ok(None),
        }
    }

    /// Returns the error for a misplaced token after a value.
    fn misplaced(&self, token: &Token) -> ExpressionError {
        let range = token.range.clone();
        match &token.kind {
            TokenKind::Mark(")" | "]") => error("this bracket was never opened", range),
            TokenKind::Mark(",") => error("this comma is out of place", range),
            TokenKind::Mark("=") => error("compare with ==; arguments have no names", range),
            TokenKind::Mark(".") => {
                let message = "a dot is not allowed here; write a column with a dot in its name as row[\"Item no.\"], \
                               and functions behind |";
                error(message, range)
            }
            TokenKind::Mark(mark @ ("//" | "**" | "%")) => {
                error(&format!("'{mark}' is not an operator here; the operators are + - * / ~ and comparisons"), range)
            }
            TokenKind::Mark("(") | TokenKind::Text(_) | TokenKind::Number(_) => error(NO_OPERATOR, range),
            TokenKind::Mark(mark) => {
                let message = format!("'{mark}' is not allowed here; write a column with such a name as row[\"…\"]");
                error(&message, range)
            }
            TokenKind::Name(name) => match name.as_str() {
                "else" => error("this else has no if before it", range),
                "is" => error("'is' is not supported; compare with == or !=, and test for blanks with == \"\"", range),
                "not" => error("an operator is missing before 'not'", range),
                _ => error(NO_OPERATOR, range),
            },
        }
    }

    fn kind(&self, ahead: usize) -> Option<&TokenKind> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    fn is_mark(&self, ahead: usize, wanted: &str) -> bool {
        matches!(self.kind(ahead), Some(TokenKind::Mark(mark)) if *mark == wanted)
    }

    fn is_name(&self, ahead: usize, wanted: &str) -> bool {
        matches!(self.kind(ahead), Some(TokenKind::Name(name)) if name == wanted)
    }

    /// Returns the range of the current token, or of the last.
    fn range(&self) -> Range<usize> {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0..0, |token| token.range.clone())
    }
}

const NO_OPERATOR: &str = "an operator is missing before this: ~ joins texts; write a column with spaces in its name as \
                           row[\"Item no.\"]";

fn is(token: &Option<TokenKind>, wanted: &str) -> bool {
    matches!(token, Some(TokenKind::Mark(mark)) if *mark == wanted)
}

/// Parses a number. Digits after leading zeros are an identifier, and text.
fn number(digits: &str, range: Range<usize>) -> Parsed {
    let is_identifier = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    if is_identifier {
        return Ok(Node::new(Kind::Constant(Value::Text(Cow::Owned(digits.to_owned()))), range));
    }
    match decimal::parse(digits) {
        Ok(number) => Ok(Node::new(Kind::Constant(Value::Number(number)), range)),
        Err(_) => Err(error("a number can have at most 28 digits; write an identifier in quotes", range)),
    }
}

/// Parses the constant argument of a function.
fn constant_of(function: &Function, node: Node) -> Parsed<Constant> {
    let (Kind::Constant(Value::Text(text)), Some(parse)) = (&node.kind, function.constant) else {
        return Err(error(&format!("write this out in quotes: {}", function.usage), node.range));
    };
    parse(text).map_err(|(message, within)| {
        // With escapes, positions in the text differ from positions in the source.
        let plain = node.range.len() == text.len() + 2;
        let place = |range: Range<usize>| node.range.start + 1 + range.start..node.range.start + 1 + range.end;
        error(&message, within.filter(|_| plain).map_or(node.range.clone(), place))
    })
}

fn unknown(name: &str, range: Range<usize>) -> ExpressionError {
    let known = FUNCTIONS.iter().map(|function| function.name);
    match functions::by_alias(name).or_else(|| nearest(name, known.clone())) {
        Some(nearest) => error(&format!("'{name}' is not a known function; did you mean '{nearest}'?"), range),
        None => {
            let known = known.collect::<Vec<_>>().join(", ");
            error(&format!("'{name}' is not a known function; the functions are {known}"), range)
        }
    }
}

fn error(message: &str, range: Range<usize>) -> ExpressionError {
    ExpressionError::new(message, range)
}
