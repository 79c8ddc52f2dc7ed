//! The layout of a delimited text once its table has begun: by it a page's rows are made on whichever thread has the page,
//! as long as the page brings no column that is new. Those that do are left to the maker, which learns of them.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::changes::{Print, Prints};
use super::columns::{Columns, Row};
use super::rows::{Counts, Recipe};
use super::template::model::Source;
use crate::client::pages::{Entry, Form, Page};
use crate::sheet::write::{Delimiting, Value};

/// A column of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    pub name: String,
    pub from: From,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// The column at this place of all that were met.
    Met(usize),
    /// The column at this place of the template.
    Template(usize, Option<usize>),
    /// Fields without a column of their own.
    Others,
}

/// What rows are made by.
#[derive(Debug)]
pub struct Layout {
    pub recipe: Arc<Recipe>,
    pub columns: Columns,
    pub slots: Vec<Slot>,
    pub delimiting: Delimiting,
    pub prints: bool,
}

/// The rows of a page of which each entry is new, and what is counted of it.
#[derive(Debug, Default)]
pub struct Made {
    pub bytes: Vec<u8>,
    pub counts: Counts,
    pub prints: Vec<Print>,
}

/// The layout in force, for all who have pages.
#[derive(Clone, Debug, Default)]
pub struct InForce(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Nothing before there is one.
    layout: RwLock<Option<Arc<Layout>>>,
    /// Memory that is used again: what one thread sets aside and another frees costs both.
    spare: Mutex<Vec<Made>>,
}

/// How entries with the same names in the same order become rows, where each slot is a field or blank.
#[derive(Debug, Default)]
struct Plan {
    /// For each slot the field's position among the entry's, and its column.
    cells: Vec<Option<(usize, usize)>>,
    /// Fields whose columns have had no value: the first one is something new.
    unmet: Vec<usize>,
}

impl InForce {
    /// The rows of a page; nothing where there is no layout yet, and where the page brings something new.
    pub fn rows(&self, page: &Page) -> Option<Made> {
        let layout = self.0.layout.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        let mut made = self.0.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        if layout.rows(page, &mut made).is_some() {
            return Some(made);
        }
        self.take_back(made);
        None
    }

    pub fn set(&self, layout: Option<Layout>) {
        *self.0.layout.write().unwrap_or_else(PoisonError::into_inner) = layout.map(Arc::new);
    }

    /// Takes back what is not needed any more.
    pub fn take_back(&self, mut made: Made) {
        made.bytes.clear();
        made.prints.clear();
        made.counts = Counts::default();
        let mut spare = self.0.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MOST_SPARE && made.bytes.capacity() <= LARGEST_SPARE {
            spare.push(made);
        }
    }
}

/// Memory is kept of so many pages, as long as none takes more than this.
const MOST_SPARE: usize = 64;
const LARGEST_SPARE: usize = 64 * 1024;

impl Layout {
    fn rows(&self, page: &Page, made: &mut Made) -> Option<()> {
        // Rows are shorter than the JSON of their records.
        made.bytes.reserve(page.text().len());
        made.prints.reserve(if self.prints { page.len() } else { 0 });
        let mut row = Row::default();
        let mut plan = None;
        for entry in page.entries() {
            if !entry.is_alike() {
                plan = self.plan(entry);
            }
            if !self.recipe.count(entry, &mut made.counts) {
                continue;
            }
            if self.prints {
                made.prints.push(Prints::print(entry));
            }
            let is_done = plan.as_ref().is_some_and(|plan| self.planned_row(plan, entry, &mut made.bytes));
            if !is_done {
                if !self.columns.known_row(entry, &mut row) {
                    return None;
                }
                let values = self.slots.iter().map(|slot| value(&self.recipe, &self.columns, &row, &slot.from));
                self.delimiting.row(values, &mut made.bytes);
            }
        }
        made.counts.rows = made.counts.records;
        Some(())
    }

    /// The plan for an entry and those like it; nothing where it takes more than to copy fields.
    fn plan(&self, entry: Entry<'_>) -> Option<Plan> {
        let mut plan = Plan { cells: vec![None; self.slots.len()], ..Plan::default() };
        for (position, (name, _)) in entry.fields().enumerate() {
            let place = self.columns.of_field(position, name)?;
            if !self.columns.has_values(place) {
                plan.unmet.push(position);
            }
            // Of a name that stands twice the later one counts.
            if let Some(slot) = self.slots.iter().position(|slot| slot.from == From::Met(place)) {
                plan.cells[slot] = Some((position, place));
            }
        }
        let are_fields = self.slots.iter().all(|slot| matches!(slot.from, From::Met(_)));
        (entry.value(0).is_some() && are_fields).then_some(plan)
    }

    /// False, and nothing is added, for an entry that takes more.
    fn planned_row(&self, plan: &Plan, entry: Entry<'_>, out: &mut Vec<u8>) -> bool {
        let is_new = |position: &usize| entry.value_bytes(*position).is_none_or(|(_, form)| form != Form::Null);
        if entry.is_nested() || plan.unmet.iter().any(is_new) {
            return false;
        }
        let begin = out.len();
        for (nth, cell) in plan.cells.iter().enumerate() {
            if nth > 0 {
                self.delimiting.separate(out);
            }
            let Some((position, place)) = *cell else { continue };
            let is_done = match entry.value_bytes(position) {
                None | Some((_, Form::Null)) => true,
                Some(([_, inner @ .., _], Form::PlainText)) => self.delimiting.plain_text(inner, out),
                Some((digits, Form::Number)) => self.delimiting.plain_number(digits, out),
                Some(_) => false,
            };
            if !is_done {
                let json = entry.value(position).unwrap_or_default();
                self.delimiting.cell(self.columns.value_of(json, place), out);
            }
        }
        self.delimiting.end_row(begin, plan.cells.len(), out);
        true
    }
}

/// What stands in a row's slot.
pub fn value<'a>(recipe: &Recipe, columns: &Columns, row: &Row<'a>, from: &From) -> Value<'a> {
    match from {
        From::Met(place) => columns.value(row, *place),
        From::Others => columns.value(row, columns.len()),
        From::Template(number, place) => {
            let column = recipe.template.as_ref().and_then(|template| template.columns.get(*number));
            match column.map(|column| &column.source) {
                Some(Source::Constant(text)) => Value::Text(Cow::Owned(text.clone())),
                Some(Source::Field(field)) => {
                    let json = place.and_then(|place| row.json(place));
                    field.value(json, place.map_or(Value::Blank, |place| columns.value(row, place)))
                }
                None => Value::Blank,
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use proptest::prelude::{Just, Strategy, prop, prop_assert_eq, prop_oneof, proptest};

    use super::*;
    use crate::client::pages::read;
    use crate::export::rows::{Maker, Target};
    use crate::records::ListedField;
    use crate::sheet::write::{Shape, Style};

    const NAMED: &[ListedField] = &[ListedField::plain("id"), ListedField::date_time("at"), ListedField::plain("n")];

    /// What is in the file of these pages, and what was counted; `ahead` makes rows by the layout in force where it can.
    fn exported(pages: &[String], style: Style, ahead: bool) -> (String, String, Vec<String>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("items.csv");
        let recipe = Recipe {
            fields: NAMED,
            sheet: "items",
            target: Target::File { path: path.clone(), shape: Shape::of(Path::new("items.csv")).unwrap() },
            style,
            template: None,
            explode: None,
            since: "2026-01-01T00:00:00Z".parse().ok(),
            minds_changes: true,
            scratch: folder.path().to_owned(),
        };
        let in_force = InForce::default();
        let mut maker = Maker::new(recipe, Prints::default(), in_force.clone());
        let pages: Vec<Page> = pages.iter().map(|page| read(page.clone().into_bytes()).unwrap()).collect();
        let mut made_ahead = 0;
        for page in &pages {
            match in_force.rows(page).filter(|_| ahead) {
                Some(made) => {
                    made_ahead += 1;
                    maker.made(made).unwrap();
                }
                None => maker.page(page, &vec![true; page.len()]).unwrap(),
            }
        }
        let mut again =
            |take: crate::export::rows::Take<'_>| pages.iter().try_for_each(|page| take(page, &vec![true; page.len()]));
        maker.finish(path.clone(), &mut again).unwrap();
        let counted = format!("{:?} {:?} {}", maker.counts, maker.prints, maker.gathered());
        (std::fs::read_to_string(&path).unwrap(), counted, maker.header(), made_ahead)
    }

    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            "-?[1-9][0-9]{0,3}(\\.[0-9]{2})?",
            r#""[a,;=\-+@ ']{0,4}""#,
            r#""(a\\"|\\n|\\u00e9|,)""#,
            Just(r#"["a", 1]"#.to_owned()),
            Just(r#"{"b": 1, "c": {"d": ","}}"#.to_owned()),
            Just("{}".to_owned()),
        ]
    }

    fn entry() -> impl Strategy<Value = String> {
        let name = prop_oneof![Just("id"), Just("n"), Just("at"), Just("x"), Just("y.z"), Just("b")];
        let at = prop_oneof![Just("2025-12-31T00:00:00Z"), Just("2026-01-02T03:04:05Z"), Just("soon")];
        let fields = prop::collection::vec((name, value()), 0..5);
        (fields, at).prop_map(|(fields, at)| {
            let fields = fields.iter().map(|(name, value)| format!(r#""{name}": {value}, "#)).collect::<String>();
            format!(r#"{{{fields}"updated_at": "{at}"}}"#)
        })
    }

    proptest! {
        #[test]
        fn rows_that_are_made_ahead_are_the_rows_of_the_maker(
            pages in prop::collection::vec(prop::collection::vec(entry(), 0..4), 1..6),
            decimal_comma: bool,
        ) {
            let pages: Vec<String> = pages.iter().map(|page| format!("[{}]", page.join(","))).collect();
            let style = Style { decimal_comma, ..Style::default() };
            let (file, counted, header, _) = exported(&pages, style, true);
            let (file_at_once, counted_at_once, header_at_once, _) = exported(&pages, style, false);
            prop_assert_eq!((file, counted, header), (file_at_once, counted_at_once, header_at_once));
        }
    }

    #[test]
    fn rows_are_made_ahead_from_the_second_page_on() {
        let page =
            |id: u32, more: &str| format!(r#"[{{"id": "{id}", "n": {id}, "at": "x,\"y", "in": {{"a": {id}}}{more}}}]"#);
        let plain: Vec<String> = (1..=9).map(|id| page(id, "")).collect();
        assert_eq!(exported(&plain, Style::default(), true).3, 8);
        let mut late = plain.clone();
        late[4] = page(5, r#", "late": 1"#);
        let (file, .., ahead) = exported(&late, Style::default(), true);
        assert_eq!(ahead, 3, "from the late column on, all is written again");
        assert!(file.starts_with("id,at,n,in.a,late\r\n1,\"x,\"\"y\",1,1,\r\n"), "{file}");
        assert_eq!(file.lines().count(), 10);
    }
}
