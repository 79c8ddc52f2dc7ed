//! Texts that are hard to store in a workbook, or that programs interpret.

pub const EMOJI: &str = "🔩 👩\u{200d}🔧 𝄞";

/// Returns texts that no program changes.
pub fn hostile_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "=1+1",
        "=HYPERLINK(\"http://example.invalid\",\"x\")",
        "+49 170 123",
        "-5 % off",
        "@SUM(A1)",
        "'=quoted",
        "''twice",
        "'",
        "\t=tab",
        "a,b;c\td|e",
        "say \"x\"",
        "two\nlines",
        "two\r\nlines",
        " spaces around ",
        "ends with \\",
        "0042",
        "1e5",
        "1234567890123456789",
        "2026-01-02",
        "03/04/2025",
        "10%",
        "1,234.50 EUR",
        "TRUE",
        "NULL",
        "שלום עולם",
        "مرحبا \u{202e}abc\u{202c}",
        "螺丝 ☕ ☎\u{fe0f}",
        "a\u{301}\u{a0}b",
        "\u{feff}mark",
        "zero\u{200b}width",
        "x\u{2028}y\u{85}z",
        "<b>&amp;</b>",
        "]]>",
        "\u{d7ff}\u{e000}\u{fffd}",
        "[Red]0.00",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("x".repeat(32_767));
    texts.push("é螺\u{301}".repeat(10_922));
    texts.push("long words to wrap ".repeat(60));
    texts.push(format!("many{}lines", "\n".repeat(60)));
    texts
}

/// Returns texts of which a program is known to change one or the other: control characters, texts in the form of their
/// escapes, Windows line ends, texts longer than a cell. ExcelJS reads a worksheet in pieces of 16 KiB, and loses an emoji that
/// two pieces share.
pub fn fragile_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "a\u{1}b",
        "\u{8}\u{b}\u{c}\u{1f}",
        "del\u{7f}",
        "_x0041_",
        "_x000D_",
        EMOJI,
        "cr\ronly",
        "\u{fffe}\u{ffff}",
        "\n\n\n",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("y".repeat(32_768));
    texts.push("'=".repeat(20_000));
    texts
}
