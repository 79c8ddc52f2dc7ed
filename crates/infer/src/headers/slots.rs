//! The fields of a kind of record, for assigning columns.

use std::sync::OnceLock;

use sheetport_mapping::commands::COMMAND;
use sheetport_mapping::model::Place;
use sheetport_records::{Field, RecordKind};
use sheetport_words::{FieldWords, ValueKind, vocabulary};

use super::name_match::{FieldNames, Header};

/// A field, or the number of a group of rows.
pub(crate) struct Slot {
    /// Position in [`Slots`].
    pub index: usize,
    /// `None` for the number of a group.
    pub field: Option<&'static Field>,
    pub place: Place,
    pub values: ValueKind,
    pub names: FieldNames,
    /// Those of the names that often mean something else.
    pub doubtful: FieldNames,
    /// Names of other numbers, beside which a doubtful name means something else.
    pub ruled_out_by: FieldNames,
}

/// All slots of a kind of record, in the order of the API.
pub(crate) struct Slots {
    pub kind: RecordKind,
    slots: Vec<Slot>,
}

/// Sheets are compared with all names of a kind again and again, so each kind is prepared once, when it is needed.
static SLOTS: [OnceLock<Slots>; RecordKind::ALL.len()] = [const { OnceLock::new() }; RecordKind::ALL.len()];

impl Slots {
    /// Returns the slots of a kind of record.
    pub(crate) fn of(kind: RecordKind) -> &'static Slots {
        SLOTS[kind as usize].get_or_init(|| Slots::new(kind))
    }

    fn new(kind: RecordKind) -> Slots {
        let (input, kind_words) = (kind.input(), vocabulary().kind(kind));
        let slot = |field: Option<&'static Field>, place, words: &'static FieldWords| Slot {
            index: 0,
            field,
            place,
            values: words.values,
            names: FieldNames::new(words, kind, field.is_some()),
            doubtful: FieldNames::of_lists(words.doubtful, words, kind),
            ruled_out_by: FieldNames::of_lists(words.ruled_out_by, words, kind),
        };
        let named = |field: &'static Field| Some((field, kind_words.field(field.name)?));
        let lines = input.lines().map_or(&[][..], |(_, fields)| fields);
        let unnamed = |field: &'static Field, place, values| Slot {
            index: 0,
            field: Some(field),
            place,
            values,
            names: FieldNames::none(),
            doubtful: FieldNames::none(),
            ruled_out_by: FieldNames::none(),
        };
        let id = input.id.as_ref().map(|id| unnamed(id, Place::Id, ValueKind::Reference));
        // The cells of such a column must be certain words, which no kind of values demands.
        let command = unnamed(&COMMAND, Place::Command, ValueKind::Boolean);
        let fields = input.fields().filter_map(named).map(|(field, words)| slot(Some(field), Place::Record, words));
        let line = |field: &'static Field| Some(slot(Some(field), Place::Line, kind_words.line(field.name)?));
        let group = kind_words.group.as_ref().map(|words| slot(None, Place::Id, words));
        let mut slots: Vec<Slot> =
            id.into_iter().chain(fields).chain([command]).chain(lines.iter().filter_map(line)).chain(group).collect();
        slots.iter_mut().enumerate().for_each(|(index, slot)| slot.index = index);
        Slots { kind, slots }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    /// Returns the slot of a field.
    pub(crate) fn find(&self, place: Place, field: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.place == place && slot.field.is_some_and(|known| known.name == field))
    }

    /// Returns the slot of the group number, for kinds without a field for it.
    pub(crate) fn group(&self) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.field.is_none())
    }

    /// Counts the fields with an unmistakable name in a row of headers.
    pub(crate) fn count_named(&self, headers: &[Header]) -> usize {
        let is_named = |slot: &&Slot| headers.iter().any(|header| slot.names.has_unmistakable(header));
        self.slots.iter().filter(is_named).count()
    }
}

impl Slot {
    /// Whether the field is the quantity of a movement, for which the stock could be taken.
    pub(crate) fn has_doubtful_stock(&self) -> bool {
        self.values == ValueKind::Quantity && self.place == Place::Record
    }

    pub(crate) fn is_field(&self, name: &str) -> bool {
        self.field.is_some_and(|field| field.name == name)
    }
}
