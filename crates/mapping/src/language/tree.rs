//! The syntax tree of an expression.

use std::collections::BTreeSet;
use std::ops::Range;

use super::arithmetic::Operation;
use super::constant::Constant;
use super::functions::Function;
use crate::typed_value::Value;

#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The place for error messages: the column, the operator, or the function with its arguments.
    pub(super) range: Range<usize>,
    /// The longest path to a leaf.
    pub(super) height: usize,
}

#[derive(Debug)]
pub(super) enum Kind {
    Constant(Value<'static>),
    /// Index in [`Expression::columns`](super::Expression::columns).
    Column(usize),
    List(Vec<Node>),
    /// `A ~ B ~ C`
    Join(Vec<Node>),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    Arithmetic(Operation, Box<[Node; 2]>),
    Compare(Comparison, Box<[Node; 2]>),
    /// The value, the condition, and the other value.
    If(Box<[Node; 3]>),
    Call {
        function: &'static Function,
        arguments: Vec<Node>,
        constant: Option<Constant>,
    },
    Part(Box<Node>, i64),
    Slice(Box<Node>, Option<i64>, Option<i64>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

impl Node {
    pub(super) fn new(kind: Kind, range: Range<usize>) -> Node {
        let mut node = Node { kind, range, height: 0 };
        node.height = node.children().iter().map(|child| child.height + 1).max().unwrap_or(0);
        node
    }

    /// Returns the innermost node with this range.
    pub(super) fn at(&self, range: &Range<usize>) -> Option<&Node> {
        let below = self.children().iter().find_map(|child| child.at(range));
        below.or(Some(self).filter(|node| node.range == *range))
    }

    /// Returns the columns of this part of the expression.
    pub(super) fn columns(&self) -> BTreeSet<usize> {
        match self.kind {
            Kind::Column(index) => BTreeSet::from([index]),
            _ => self.children().iter().flat_map(Node::columns).collect(),
        }
    }

    pub(super) fn children(&self) -> &[Node] {
        match &self.kind {
            Kind::Constant(_) | Kind::Column(_) => &[],
            Kind::List(nodes) | Kind::Join(nodes) | Kind::Call { arguments: nodes, .. } => nodes,
            Kind::Not(node) | Kind::Negate(node) | Kind::Part(node, _) | Kind::Slice(node, ..) => {
                std::slice::from_ref(&**node)
            }
            Kind::And(nodes) | Kind::Or(nodes) | Kind::Arithmetic(_, nodes) | Kind::Compare(_, nodes) => {
                nodes.as_slice()
            }
            Kind::If(nodes) => nodes.as_slice(),
        }
    }
}
