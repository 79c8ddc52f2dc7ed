//! Translation of an expression for minijinja: columns become numbered variables, constants are parsed, and unsupported
//! syntax is an error with a range.

use std::ops::Range;

use super::catalog::{self, FIRST_OF, FUNCTIONS, Function};
use super::constant::Constant;
use super::error::ExpressionError;
use super::token::{Kind, Token, tokens};
use crate::diagnostics::nearest;

/// Prefix of the variables for columns, before their number.
pub(super) const PREFIX: &str = "c";

/// Maximum length of the source in bytes.
const MAX_SOURCE: usize = 8 * 1024;
/// Maximum number of tokens.
const MAX_TOKENS: usize = 512;
/// Maximum number of `~` operators, to limit the length of intermediate texts.
const MAX_JOINS: usize = 64;

/// The translated expression, with ranges in the original.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub(super) source: String,
    pub(super) columns: Vec<String>,
    /// The first place of each column in the original.
    pub(super) column_ranges: Vec<Range<usize>>,
    pub(super) constants: Vec<Constant>,
    /// Length of the original in bytes.
    pub(super) length: usize,
    /// The start of each piece in `source`, and the range in the original.
    pieces: Vec<(usize, Range<usize>)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Group,
    Call,
    List,
    Position,
}

/// Checks and translates the tokens of one pair of braces.
struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    open: Vec<(Bracket, Range<usize>)>,
    /// Ranges of `if` without an `else` so far.
    open_ifs: Vec<Range<usize>>,
    /// Whether the last token ended a value, so that an operator may follow but no other value.
    after_value: bool,
    /// Whether the last value is the result of a function.
    after_call: bool,
    /// For each `split(…)[1]`: the index of the closing bracket, and the part.
    parts: Vec<(usize, String)>,
}

/// Translates an expression. Fails for everything outside the language.
pub(super) fn rewrite(source: &str) -> Result<Rewritten, ExpressionError> {
    if source.len() > MAX_SOURCE {
        return Err(error("an expression can have at most 8 KiB", 0..source.len()));
    }
    let mut to = Rewritten {
        source: String::with_capacity(source.len()),
        columns: Vec::new(),
        column_ranges: Vec::new(),
        constants: Vec::new(),
        length: source.len(),
        pieces: Vec::new(),
    };
    let (mut at, mut count, mut joins) = (0, 0, 0);
    while let Some(length) = source[at..].find('{') {
        let start = at + length;
        to.emit(&source[at..start], at..start);
        match source.as_bytes().get(start + 1) {
            Some(b'{') => {}
            Some(b'%') => {
                let message = "blocks are not supported; write {{ a if condition else b }}";
                return Err(error(message, start..start + 2));
            }
            Some(b'#') => return Err(error("comments are not supported", start..start + 2)),
            _ => {
                to.emit("{", start..start + 1);
                at = start + 1;
                continue;
            }
        }
        let (tokens, end) = tokens(source, start + 2)?;
        count += tokens.len();
        joins += tokens.iter().filter(|token| token.kind == Kind::Mark("~")).count();
        if count > MAX_TOKENS || joins > MAX_JOINS {
            return Err(error("this expression is too long; shorten it", start..end + 2));
        }
        if tokens.is_empty() {
            return Err(error("there is nothing between these braces", start..end + 2));
        }
        to.emit("{{ ", start..start + 2);
        Reader::new(&tokens).read(&mut to)?;
        to.emit(" }}", end..end + 2);
        at = end + 2;
    }
    to.emit(&source[at..], at..source.len());
    Ok(to)
}

impl Rewritten {
    /// Converts a range in the translation to the original.
    pub(super) fn original_range(&self, range: Option<Range<usize>>) -> Range<usize> {
        let Some(range) = range else { return 0..self.length };
        let piece = |at: usize| {
            let index = self.pieces.partition_point(|(start, _)| *start <= at);
            self.pieces.get(index.saturating_sub(1)).map(|(_, range)| range)
        };
        let start = piece(range.start).map_or(0, |range| range.start);
        let end = piece(range.end.saturating_sub(1).max(range.start)).map_or(self.length, |range| range.end);
        start..end.max(start)
    }

    fn emit(&mut self, text: &str, range: Range<usize>) {
        if !text.is_empty() {
            self.pieces.push((self.source.len(), range));
            self.source.push_str(text);
        }
    }

    fn emit_text(&mut self, text: &str, range: Range<usize>) {
        let mut quoted = String::with_capacity(text.len() + 2);
        quoted.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                '\n' => quoted.push_str("\\n"),
                c => quoted.push(c),
            }
        }
        quoted.push('"');
        self.emit(&quoted, range);
    }

    fn emit_column(&mut self, name: &str, range: Range<usize>) {
        let known = self.columns.iter().position(|column| column == name);
        let index = known.unwrap_or_else(|| {
            self.columns.push(name.to_owned());
            self.column_ranges.push(range.clone());
            self.columns.len() - 1
        });
        self.emit(&format!("{PREFIX}{index}"), range);
    }
}

impl<'a> Reader<'a> {
    fn new(tokens: &'a [Token]) -> Reader<'a> {
        Reader {
            tokens,
            at: 0,
            open: Vec::new(),
            open_ifs: Vec::new(),
            after_value: false,
            after_call: false,
            parts: Vec::new(),
        }
    }

    fn read(mut self, to: &mut Rewritten) -> Result<(), ExpressionError> {
        while let Some(token) = self.tokens.get(self.at) {
            let range = token.range.clone();
            if self.open.last().is_some_and(|(bracket, _)| *bracket == Bracket::Position) {
                self.position(token, to)?;
            } else {
                match &token.kind {
                    Kind::Name(name) => self.name(name, range, to)?,
                    Kind::Text(text) | Kind::Number(text) => {
                        self.value(&range)?;
                        to.emit_text(text, range);
                    }
                    Kind::Mark(mark) => self.mark(mark, range, to)?,
                }
            }
            self.at += 1;
        }
        if let Some((_, range)) = self.open.pop() {
            return Err(error("this bracket is not closed", range));
        }
        if let Some(range) = self.open_ifs.pop() {
            return Err(error("this if needs an else: a if condition else b", range));
        }
        match self.tokens.last() {
            Some(last) if !self.after_value => Err(error("something is missing after this", last.range.clone())),
            _ => Ok(()),
        }
    }

    fn name(&mut self, name: &str, range: Range<usize>, to: &mut Rewritten) -> Result<(), ExpressionError> {
        match name {
            "if" => {
                self.open_ifs.push(range.clone());
                self.operator(" if ", range, to)
            }
            "else" => match self.open_ifs.pop() {
                Some(_) => self.operator(" else ", range, to),
                None => Err(error("this else has no if before it", range)),
            },
            "and" | "or" | "in" => self.operator(&format!(" {name} "), range, to),
            "not" if self.after_value => {
                if self.kind(1) != Some(&Kind::Name("in".to_owned())) {
                    return Err(error("an operator is missing before 'not'", range));
                }
                self.at += 1;
                self.operator(" not in ", range, to)
            }
            "not" => {
                to.emit(" not ", range);
                Ok(())
            }
            "true" | "false" => {
                self.value(&range)?;
                to.emit(name, range);
                Ok(())
            }
            "is" => Err(error("'is' is not supported; compare with == or !=, and test for blanks with == \"\"", range)),
            _ if self.is_mark(1, "(") => self.function(name, range, to),
            "row" => self.row(range, to),
            _ => {
                self.value(&range)?;
                to.emit_column(name, range);
                Ok(())
            }
        }
    }

    /// Translates `row["a column"]`.
    fn row(&mut self, range: Range<usize>, to: &mut Rewritten) -> Result<(), ExpressionError> {
        match (self.is_mark(1, "["), self.kind(2).cloned(), self.is_mark(3, "]")) {
            (true, Some(Kind::Text(column)), true) => {
                let range = range.start..self.range(3).end;
                self.value(&range)?;
                to.emit_column(&column, range);
                self.at += 3;
                Ok(())
            }
            (true, ..) => {
                let range = range.start..self.range(2).end;
                Err(error("write the column's name in quotes: row[\"Item no.\"]", range))
            }
            _ => Err(error("'row' is the whole row; name a column in it: row[\"Item no.\"]", range)),
        }
    }

    /// Translates a function call without `|`.
    fn function(&mut self, name: &str, range: Range<usize>, to: &mut Rewritten) -> Result<(), ExpressionError> {
        match catalog::find(name) {
            Some(function) if name == FIRST_OF => {
                self.value(&range)?;
                to.emit(name, range.clone());
                self.arguments(function, range, to)
            }
            Some(_) => Err(error(&format!("'{name}' follows a value: Column | {name}(…)"), range)),
            None => Err(unknown(name, range)),
        }
    }

    /// Translates `| name` and the arguments.
    fn filter(&mut self, range: Range<usize>, to: &mut Rewritten) -> Result<(), ExpressionError> {
        if !self.after_value {
            return Err(error("a value is missing before this", range));
        }
        let Some(Kind::Name(name)) = self.kind(1).cloned() else {
            return Err(error("the name of a function is missing after this", range));
        };
        let range = self.range(1);
        self.at += 1;
        match catalog::find(&name) {
            Some(function) if name != FIRST_OF => {
                to.emit(&format!(" | {name}"), range.clone());
                self.after_call = true;
                self.arguments(function, range, to)
            }
            Some(_) => Err(error(&format!("'{name}' is written before its values: {name}(A, B)"), range)),
            None => Err(unknown(&name, range)),
        }
    }

    /// Checks the number of arguments, and parses a constant one.
    fn arguments(
        &mut self,
        function: &Function,
        range: Range<usize>,
        to: &mut Rewritten,
    ) -> Result<(), ExpressionError> {
        let check_count = |count: usize| match function.arguments.contains(&count) {
            true => Ok(()),
            false => {
                let message = format!("'{}' is used like this: {}", function.name, function.usage);
                Err(error(&message, range.clone()))
            }
        };
        if !self.is_mark(1, "(") {
            return check_count(0);
        }
        self.at += 1;
        let opening = self.range(0);
        let Some((close, commas)) = self.closing() else {
            return Err(error("this bracket is not closed", opening));
        };
        check_count(if close == self.at + 1 { 0 } else { commas + 1 })?;
        to.emit("(", opening.clone());
        self.open.push((Bracket::Call, opening));
        self.after_value = false;
        if let Some(parse) = function.constant
            && close > self.at + 1
        {
            let argument = self.range(1);
            let (Some(Kind::Text(text)), true) = (self.kind(1), self.is_mark(2, ",") || self.at + 2 == close) else {
                return Err(error(&format!("write this out in quotes: {}", function.usage), argument));
            };
            let constant = parse(text).map_err(|(message, within)| {
                // With escapes, positions in the text differ from those in the source.
                let plain = argument.len() == text.len() + 2;
                let place = |range: Range<usize>| argument.start + 1 + range.start..argument.start + 1 + range.end;
                error(&message, within.filter(|_| plain).map_or(argument.clone(), place))
            })?;
            to.constants.push(constant);
            to.emit(&(to.constants.len() - 1).to_string(), argument);
            self.after_value = true;
            self.at += 1;
        }
        if function.name == "split" {
            self.part(close)?;
        }
        Ok(())
    }

    /// Stores the part of `split(…)[1]` for use as an argument.
    fn part(&mut self, close: usize) -> Result<(), ExpressionError> {
        let mark = |at: usize, wanted: &str| matches!(self.tokens.get(at), Some(Token { kind: Kind::Mark(mark), .. }) if *mark == wanted);
        if !mark(close + 1, "[") {
            return Ok(());
        }
        let sign = if mark(close + 2, "-") { "-" } else { "" };
        let digit = close + 2 + sign.len();
        match self.tokens.get(digit).map(|token| &token.kind) {
            Some(Kind::Number(digits)) if mark(digit + 1, "]") => {
                self.parts.push((close, format!("{sign}{digits}")));
                Ok(())
            }
            _ => {
                let range = self.tokens.get(close + 1).map_or(0..0, |token| token.range.clone());
                Err(error("the part must be a whole number: split(\"-\")[0]; the last is [-1]", range))
            }
        }
    }

    /// Returns the index of the closing bracket, and the number of commas directly inside.
    fn closing(&self) -> Option<(usize, usize)> {
        let (mut depth, mut commas) = (0, 0);
        for (index, token) in self.tokens.iter().enumerate().skip(self.at) {
            match token.kind {
                Kind::Mark("(" | "[") => depth += 1,
                Kind::Mark(")" | "]") if depth == 1 => return Some((index, commas)),
                Kind::Mark(")" | "]") => depth -= 1,
                Kind::Mark(",") if depth == 1 => commas += 1,
                _ => {}
            }
        }
        None
    }

    fn mark(&mut self, mark: &'static str, range: Range<usize>, to: &mut Rewritten) -> Result<(), ExpressionError> {
        match mark {
            "|" => return self.filter(range, to),
            "~" | "==" | "!=" => return self.operator(&format!(" {mark} "), range, to),
            "(" => {
                self.expect_no_value(&range)?;
                self.open.push((Bracket::Group, range.clone()));
            }
            "[" if self.after_call => {
                let message = "put the part before this in parentheses: (Column | trim)[0:3]";
                return Err(error(message, range));
            }
            "[" if self.after_value => self.open.push((Bracket::Position, range.clone())),
            "[" => self.open.push((Bracket::List, range.clone())),
            ")" | "]" => return self.close(mark, range, to),
            "," => {
                let listed = self.open.last().is_some_and(|(open, _)| *open != Bracket::Group);
                if !self.after_value || !listed {
                    return Err(error("this comma is out of place", range));
                }
                (self.after_value, self.after_call) = (false, false);
            }
            "-" | "+" if !self.after_value && matches!(self.kind(1), Some(Kind::Number(_))) => {
                let Some(Kind::Number(digits)) = self.kind(1) else { return Ok(()) };
                let signed = if mark == "-" { format!("-{digits}") } else { digits.clone() };
                let range = range.start..self.range(1).end;
                self.value(&range)?;
                to.emit_text(&signed, range);
                self.at += 1;
                return Ok(());
            }
            "+" | "-" | "*" | "/" | "//" | "**" | "%" => {
                let message = "columns are texts; join them with ~, and calculate with functions: \
                             Price | times(Quantity), | plus(…), | minus(…), | divided_by(…, 2)";
                return Err(error(message, range));
            }
            "<" | ">" | "<=" | ">=" => {
                return Err(error("columns are texts, which can be compared with == and != only", range));
            }
            "=" => return Err(error("compare with ==; arguments have no names", range)),
            "." => {
                let message = "a dot is not allowed here; write a column with a dot in its name as row[\"Item no.\"], and functions \
                             behind |";
                return Err(error(message, range));
            }
            _ => {
                let message = format!("'{mark}' is not allowed here; write a column with such a name as row[\"…\"]");
                return Err(error(&message, range));
            }
        }
        to.emit(mark, range);
        Ok(())
    }

    fn close(&mut self, mark: &str, mut range: Range<usize>, to: &mut Rewritten) -> Result<(), ExpressionError> {
        let Some((open, _)) = self.open.pop() else {
            return Err(error("this bracket was never opened", range));
        };
        let fits = matches!((open, mark), (Bracket::Group | Bracket::Call, ")") | (Bracket::List, "]"));
        let empty = self.at > 0 && matches!(self.tokens[self.at - 1].kind, Kind::Mark("(" | "["));
        if !fits || !self.after_value && (!empty || open == Bracket::Group) {
            return Err(error("this bracket is out of place", range));
        }
        (self.after_value, self.after_call) = (true, open == Bracket::Call);
        if let Some((_, part)) = self.parts.pop_if(|(close, _)| *close == self.at) {
            to.emit(&format!(", {part}"), range.clone());
            self.at += 3 + usize::from(part.starts_with('-'));
            range.end = self.range(0).end;
        }
        to.emit(mark, range);
        Ok(())
    }

    /// Translates positions in brackets behind a value: whole numbers and a colon.
    fn position(&mut self, token: &Token, to: &mut Rewritten) -> Result<(), ExpressionError> {
        let text = match &token.kind {
            Kind::Number(digits) if digits.len() < 10 && !digits.contains('.') => digits,
            Kind::Mark(mark @ (":" | "-")) => *mark,
            Kind::Mark("]") => {
                self.open.pop();
                (self.after_value, self.after_call) = (true, false);
                "]"
            }
            _ => {
                let message = "positions are whole numbers: [0], [-1], [0:3]; the first is 0";
                return Err(error(message, token.range.clone()));
            }
        };
        to.emit(text, token.range.clone());
        Ok(())
    }

    fn operator(&mut self, text: &str, range: Range<usize>, to: &mut Rewritten) -> Result<(), ExpressionError> {
        if !self.after_value {
            return Err(error("a value is missing before this", range));
        }
        (self.after_value, self.after_call) = (false, false);
        to.emit(text, range);
        Ok(())
    }

    fn value(&mut self, range: &Range<usize>) -> Result<(), ExpressionError> {
        self.expect_no_value(range)?;
        (self.after_value, self.after_call) = (true, false);
        Ok(())
    }

    fn expect_no_value(&self, range: &Range<usize>) -> Result<(), ExpressionError> {
        if !self.after_value {
            return Ok(());
        }
        let message = "an operator is missing before this: ~ joins texts; write a column with spaces in its name as \
                     row[\"Item no.\"]";
        Err(error(message, range.clone()))
    }

    fn kind(&self, ahead: usize) -> Option<&Kind> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    fn is_mark(&self, ahead: usize, wanted: &str) -> bool {
        matches!(self.kind(ahead), Some(Kind::Mark(mark)) if *mark == wanted)
    }

    /// Returns the range of a token ahead, or of the last token.
    fn range(&self, ahead: usize) -> Range<usize> {
        let token = self.tokens.get(self.at + ahead).or(self.tokens.last());
        token.map_or(0..0, |token| token.range.clone())
    }
}

fn unknown(name: &str, range: Range<usize>) -> ExpressionError {
    let known = FUNCTIONS.iter().map(|function| function.name);
    match catalog::by_alias(name).or_else(|| nearest(name, known.clone())) {
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
