//! Checksums of rows: xxHash3 of the columns.

use twox_hash::XxHash3_64;

/// Maximum length of a value to be copied, in bytes. Longer values are hashed separately.
const LONG: usize = 256;

/// The checksum of a row, over its columns in order.
pub(crate) struct Checksum(Vec<u8>);

impl Checksum {
    /// Begins the checksum of a row. Rows of different tables with the same columns differ.
    pub(crate) fn of(table: &str) -> Checksum {
        Checksum(Vec::with_capacity(LONG)).text(table)
    }

    pub(crate) fn number(mut self, number: i64) -> Checksum {
        self.0.extend(number.to_le_bytes());
        self
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Checksum {
        self.0.extend((bytes.len() as u64).to_le_bytes());
        if bytes.len() > LONG {
            self.0.extend(XxHash3_64::oneshot(bytes).to_le_bytes());
        } else {
            self.0.extend(bytes);
        }
        self
    }

    pub(crate) fn text(self, text: &str) -> Checksum {
        self.bytes(text.as_bytes())
    }

    pub(crate) fn optional_number(mut self, number: Option<i64>) -> Checksum {
        self.0.push(u8::from(number.is_some()));
        self.number(number.unwrap_or_default())
    }

    pub(crate) fn optional_bytes(mut self, bytes: Option<&[u8]>) -> Checksum {
        self.0.push(u8::from(bytes.is_some()));
        self.bytes(bytes.unwrap_or_default())
    }

    pub(crate) fn optional_text(self, text: Option<&str>) -> Checksum {
        self.optional_bytes(text.map(str::as_bytes))
    }

    /// Returns 64 bits.
    pub(crate) fn long(self) -> i64 {
        XxHash3_64::oneshot(&self.0).cast_signed()
    }

    /// Returns 32 bits, for small rows: the sum of a million checksums stays far below the largest number.
    pub(crate) fn short(self) -> i64 {
        self.long() & 0xFFFF_FFFF
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_differ_have_different_checksums() {
        let long = "x".repeat(LONG + 1);
        let rows = [
            Checksum::of("a").text("bc"),
            Checksum::of("ab").text("c"),
            Checksum::of("a").text("bc").optional_text(None),
            Checksum::of("a").text("bc").optional_text(Some("")),
            Checksum::of("a").number(1),
            Checksum::of("a").optional_number(Some(1)),
            Checksum::of("a").text(&long),
            Checksum::of("a").text(&long[1..]),
        ];
        let sums: std::collections::BTreeSet<i64> = rows.into_iter().map(Checksum::short).collect();
        assert_eq!(sums.len(), 8);
        assert!(sums.iter().all(|sum| (0..1 << 32).contains(sum)));
    }
}
