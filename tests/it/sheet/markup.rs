//! Web pages, XML spreadsheets, flat OpenDocument sheets, and spreadsheets in a ZIP archive.

use std::time::{Duration, Instant};

use sheetport_sheet::{Error, Options, open};

use super::hostile_workbooks::end;
use super::parts::{Xlsx, archive};
use super::{file, folder, read, rows, utf16};

/// An XML spreadsheet as Excel writes it, with a cell of each type.
pub const SPREADSHEET_XML: &str = r##"<?xml version="1.0"?>
<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:o="urn:schemas-microsoft-com:office:office"
 xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
 <Styles>
  <Style ss:ID="Default" ss:Name="Normal"><NumberFormat/></Style>
  <Style ss:ID="s1"><NumberFormat ss:Format="00000"/></Style>
  <Style ss:ID="s2"><NumberFormat ss:Format="Percent"/></Style>
  <Style ss:ID="s3"><NumberFormat ss:Format="#,##0.00\ [$€-407]"/></Style>
  <Style ss:ID="s4" ss:Parent="s2"><Font ss:Bold="1"/></Style>
  <Style ss:ID="s5"><NumberFormat ss:Format="Short Date"/></Style>
  <Style ss:ID="s6"><NumberFormat ss:Format="[h]:mm"/></Style>
 </Styles>
 <Worksheet ss:Name="Prices &amp; more">
  <Table ss:ExpandedColumnCount="9" ss:ExpandedRowCount="9">
   <Column ss:StyleID="s1" ss:Width="60"/>
   <Column ss:Index="4" ss:StyleID="s2" ss:Span="1"/>
   <Row><Cell><Data ss:Type="String">SKU</Data></Cell><Cell ss:Index="3"><Data ss:Type="String">Name</Data></Cell></Row>
   <Row ss:Index="4" ss:AutoFitHeight="0">
    <Cell><Data ss:Type="Number">42</Data></Cell>
    <Cell ss:MergeAcross="1"><Data ss:Type="String">a &lt;b&gt;&#10;c</Data>
     <Comment ss:Author="me"><ss:Data xmlns="http://www.w3.org/TR/REC-html40">not a value</ss:Data></Comment></Cell>
    <Cell><Data ss:Type="Number">0.19</Data></Cell>
    <Cell ss:StyleID="s3"><Data ss:Type="Number">1234.5</Data></Cell>
    <Cell ss:StyleID="s4"><Data ss:Type="Number">7.0000000000000007E-2</Data></Cell>
   </Row>
   <Row ss:Hidden="1" ss:Span="1"/>
   <Row>
    <Cell ss:StyleID="s5"><Data ss:Type="DateTime">2025-10-13T00:00:00.000</Data></Cell>
    <Cell><Data ss:Type="DateTime">2025-10-13T09:30:00.000</Data></Cell>
    <Cell><Data ss:Type="DateTime">1899-12-31T09:30:00.000</Data></Cell>
    <Cell ss:StyleID="s6"><Data ss:Type="DateTime">1900-01-01T12:30:00.000</Data></Cell>
    <Cell ss:StyleID="s5"><Data ss:Type="Number">45943</Data></Cell>
    <Cell><Data ss:Type="Boolean">1</Data></Cell>
    <Cell ss:Formula="=1/0"><Data ss:Type="Error">#DIV/0!</Data></Cell>
    <Cell ss:Formula="=A1"/>
    <Cell><ss:Data ss:Type="String" xmlns="http://www.w3.org/TR/REC-html40"><B>bo</B>ld</ss:Data></Cell>
    <Cell ss:StyleID="s1"><Data ss:Type="String">0042</Data></Cell>
   </Row>
  </Table>
 </Worksheet>
 <Worksheet ss:Name="Notes">
  <Table><Row><Cell><Data ss:Type="String">x</Data></Cell></Row></Table>
  <WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel"><Visible>SheetHidden</Visible></WorksheetOptions>
 </Worksheet>
</Workbook>
"##;

/// A flat OpenDocument sheet with indents, as LibreOffice writes it.
pub const FLAT_ODS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
 <office:automatic-styles>
  <number:number-style style:name="N1"><number:number number:decimal-places="0" number:min-integer-digits="5"/></number:number-style>
  <style:style style:name="ce1" style:family="table-cell" style:data-style-name="N1"/>
 </office:automatic-styles>
 <office:body>
  <office:spreadsheet>
   <table:table table:name="Prices">
    <table:shapes><draw:object><office:document><table:table table:name="local-table"><table:table-row><table:table-cell
     office:value-type="float" office:value="99"/></table:table-row></table:table></office:document></draw:object></table:shapes>
    <table:table-row>
     <table:table-cell table:style-name="ce1" office:value-type="float" office:value="42">
      <text:p>00042</text:p>
     </table:table-cell>
     <table:table-cell office:value-type="string">
      <text:p>a &lt;b&gt;</text:p>
     </table:table-cell>
     <table:table-cell office:value-type="percentage" office:value="0.19">
      <text:p>19 %</text:p>
     </table:table-cell>
     <table:table-cell office:value-type="date" office:date-value="2025-10-13">
      <text:p>13.10.25</text:p>
     </table:table-cell>
    </table:table-row>
    <table:table-row table:visibility="filter">
     <table:table-cell office:value-type="string">
      <text:p>hidden</text:p>
     </table:table-cell>
    </table:table-row>
   </table:table>
  </office:spreadsheet>
 </office:body>
</office:document>
"#;

/// A page as Excel writes it, with values beside the texts.
pub const EXCEL_PAGE: &str = r##"<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head><meta charset="utf-8">
<!--[if gte mso 9]><xml><x:ExcelWorkbook><x:ExcelWorksheets><x:ExcelWorksheet><x:Name>Prices &amp; more</x:Name>
</x:ExcelWorksheet></x:ExcelWorksheets></x:ExcelWorkbook></xml><![endif]-->
<style><!--
.xl24 {mso-style-parent:style0; mso-number-format:"00000";}
.xl25 {mso-number-format:"\#\,\#\#0\.00\\ \[$€-407\]";}
.xl26 {mso-number-format:Percent;}
td.xl27 {mso-number-format:"Short Date";}
.xl28 {mso-number-format:"\@";}
--></style></head><body><table x:str border=0>
<col width=64><tr height=17><td>SKU</td><td class=xl25>Price</td></tr>
<tr><td class=xl24 x:num="42">00042</td><td class=xl25 x:num="1299.5">1.299,50 €</td><td class=xl26 x:num="0.19">19,00%</td>
<td class=xl27 x:num="45943">13.10.2025</td><td x:num>7</td><td x:bool="TRUE">WAHR</td><td x:err="#N/A">#NV</td>
<td class=xl28>0042</td><td x:str="1299.50 ">1299.50</td></tr>
<tr style='display:none'><td>hidden</td></tr>
</table></body></html>
"##;

/// Reads a file and returns all its rows.
#[track_caller]
fn all(bytes: impl AsRef<[u8]>) -> Vec<String> {
    end(bytes.as_ref()).unwrap()
}

#[track_caller]
fn check_unreadable(bytes: impl AsRef<[u8]>, reason: &str) {
    let start = Instant::now();
    match end(bytes.as_ref()) {
        Err(Error::Unreadable { reason: said, .. }) => assert!(said.contains(reason), "{said}"),
        Err(other) => panic!("{other:?}"),
        Ok(lines) => panic!("{} rows were read, not refused: {reason}", lines.len()),
    }
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn xml_spreadsheets_have_typed_cells() {
    let folder = folder();
    let book = read(&file(&folder, "prices.xls", SPREADSHEET_XML)).unwrap();
    assert_eq!(book.sheets(), ["Prices & more", "Notes"]);
    assert_eq!((book.is_hidden(0), book.is_hidden(1)), (false, true));
    assert_eq!(book.description(), "XML Spreadsheet 2003, 2 sheets");
    let (lines, error) = rows(&book, 0);
    assert!(error.is_none());
    assert_eq!(
        lines,
        [
            "1: SKU||Name",
            "4: 00042|a <b>\nc||19%|1234.5 €|7%",
            "7: 2025-10-13|2025-10-13T09:30:00|09:30:00|36:30:00|2025-10-13|TRUE|#DIV/0!|#NOT CALCULATED|bold|0042",
        ]
    );
    let mut hidden = book.rows(0).unwrap();
    while hidden.next(&mut Default::default()).unwrap() {}
    assert_eq!(hidden.appearance().hidden_rows(), [(5, 6)]);
}

#[test]
fn xml_spreadsheets_are_decoded_by_their_declaration() {
    let text = SPREADSHEET_XML.replace("<?xml version=\"1.0\"?>", "<?xml version=\"1.0\" encoding=\"ENC\"?>");
    let text = text.replace("Notes", "Größe");
    let latin = encoding_rs::WINDOWS_1252.encode(&text.replace("ENC", "windows-1252")).0.into_owned();
    let wide = [vec![0xFF, 0xFE], utf16(&text.replace("ENC", "UTF-16"), u16::to_le_bytes)].concat();
    for bytes in [latin, wide, text.replace("ENC", "utf-8").into_bytes()] {
        let folder = folder();
        assert_eq!(read(&file(&folder, "prices.xls", bytes)).unwrap().sheets()[1], "Größe");
    }
    check_unreadable(text.replace("ENC", "klingon"), "its encoding 'klingon' is unknown");
}

#[test]
fn flat_sheets_have_the_values_of_packed_ones() {
    let folder = folder();
    let book = read(&file(&folder, "prices.xml", FLAT_ODS)).unwrap();
    assert_eq!((book.sheets(), book.description().as_str()), (&["Prices".to_owned()][..], "flat ODS, 1 sheet"));
    let mut hidden = book.rows(0).unwrap();
    while hidden.next(&mut Default::default()).unwrap() {}
    assert_eq!(hidden.appearance().hidden_rows(), [(2, 2)]);
    assert_eq!(rows(&book, 0).0, ["1: 00042|a <b>|19%|2025-10-13", "2: hidden"]);
}

#[test]
fn cells_of_pages_are_texts_unless_a_value_is_stored() {
    let folder = folder();
    let book = read(&file(&folder, "prices.xls", EXCEL_PAGE)).unwrap();
    assert_eq!((book.sheets(), book.has_named_sheets()), (&["Prices & more".to_owned()][..], true));
    let (lines, _) = rows(&book, 0);
    let expected = "2: 00042|1299.5 €|19%|2025-10-13|7|TRUE|#N/A|0042|1299.50 ";
    assert_eq!(lines, ["1: SKU|Price", expected, "3: hidden"]);
    let libre_office = "<table><tr><td sdval=\"1234.5\" sdnum=\"1033;0;#,##0.00 [$€-407]\">1,234.50 €</td>\
        <td sdval=\"0.19\" sdnum=\"1033;0;0.0%\">19.0%</td><td sdval=\"45943\" sdnum=\"1031;0;JJJJ\">2025</td>\
        <td sdval=\"0\" sdnum=\"1033;\">#N/A</td><td sdval=\"42\" sdnum=\"1033;0;00000\"><font>00042</font></td></tr></table>";
    assert_eq!(all(libre_office), ["1: 1234.5 €|19%|2025|#N/A|00042"]);
    let formats_alone = "<table><tr><td style='mso-number-format:\"00000\"'>42</td><td style=\"mso-number-format:0%\">0.5</td>\
        <td style=\"mso-number-format:'\\@'\">0042</td><td style='mso-number-format:0%'>19 %</td></tr></table>";
    assert_eq!(all(formats_alone), ["1: 00042|50%|0042|19 %"]);
}

#[test]
fn a_page_is_read_as_it_is_shown() {
    let page = "<TABLE><thead><TR><TH>SKU<TH>Na<b>me</b>\n <tbody><tr><td> 0042 </td><td>Nut &amp;&nbsp;bolt<br>M8&euro;</td>\
        <tr><td>&nbsp;</td><td><span style=\"display:none\">001</span>x<comment>no</comment><script>y</script></table>";
    assert_eq!(all(page), ["1: SKU|Name", "2: 0042|Nut &\u{A0}bolt\nM8€", "3: |x"]);
    let spans = "<table><tr><td rowspan=2>a<td colspan=2>b<td>c</tr><tr><td>d<td>e<td>f</tr><tr><td>g</table>";
    assert_eq!(all(spans), ["1: a|b||c", "2: |d|e|f", "3: g"]);
}

#[test]
fn every_table_is_a_sheet() {
    let folder = folder();
    let page = "<html><table><tr><td>a</table><table></table><table><tr><td>outer<table><tr><td>b</table></table>";
    let book = read(&file(&folder, "prices.html", page)).unwrap();
    assert_eq!(book.sheets(), ["Table 1", "Table 2", "Table 3"]);
    let first: Vec<_> = (0..3).map(|sheet| rows(&book, sheet).0.concat()).collect();
    assert_eq!(first, ["1: a", "1: b", "1: outer"]);
    let one = read(&file(&folder, "prices.html", "<table><tr><td>a</table>")).unwrap();
    assert_eq!((one.sheets(), one.has_named_sheets()), (&["prices".to_owned()][..], false));
}

#[test]
fn pages_are_decoded_by_mark_declaration_option_or_letters() {
    let page = |meta: &str| format!("<html>{meta}<table><tr><td>Größe<td>Stück<td>äöü</table>");
    let latin = |text: &str| encoding_rs::WINDOWS_1252.encode(text).0.into_owned();
    let wide = [vec![0xFF, 0xFE], utf16(&page(""), u16::to_le_bytes)].concat();
    for bytes in [latin(&page("<meta charset=iso-8859-1>")), latin(&page("")), page("").into_bytes(), wide] {
        assert_eq!(all(bytes), ["1: Größe|Stück|äöü"]);
    }
    let folder = folder();
    let path = file(&folder, "prices.xls", latin(&page("<meta charset=iso-8859-2>")));
    let options = Options { encoding: Some("windows-1252".to_owned()), ..Options::default() };
    let book = open(&path, &options).unwrap();
    assert_eq!(book.description(), "HTML, windows-1252, 1 sheet");
    assert_eq!(rows(&book, 0).0, ["1: Größe|Stück|äöü"]);
}

#[test]
fn documents_that_were_cut_are_refused() {
    let tail = |text: &str, at: &str| text[..text.find(at).unwrap()].to_owned();
    check_unreadable(tail(EXCEL_PAGE, "<tr style"), "rows may be missing");
    check_unreadable(tail(FLAT_ODS, "  </office:spreadsheet>"), "rows may be missing");
    check_unreadable(tail(SPREADSHEET_XML, " <Worksheet ss:Name=\"Notes\""), "rows may be missing");
}

#[test]
fn a_page_without_a_table_is_no_spreadsheet() {
    for page in ["<!DOCTYPE html><p>Please log in</p>", "<html><table></table></html>"] {
        match end(page.as_bytes()) {
            Err(Error::NotASpreadsheet { found, .. }) => assert_eq!(found, "a web page (HTML) without a table"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn entities_of_documents_are_not_expanded() {
    let laughs = "<!DOCTYPE w [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>";
    check_unreadable(
        SPREADSHEET_XML.replacen("<Workbook", &format!("{laughs}<Workbook"), 1),
        "document type definition",
    );
    check_unreadable(
        FLAT_ODS.replacen("<office:document", &format!("{laughs}<office:document"), 1),
        "document type definition",
    );
    check_unreadable(SPREADSHEET_XML.replace("<B>bo</B>", "&b;"), "the entity 'b' is unknown");
}

#[test]
fn hostile_documents_are_contained() {
    let deep = format!("<html>{}", "<table><tr><td>".repeat(100_000));
    check_unreadable(deep, "tables within tables");
    let deep = format!("<html><table><tr><td>{}x</table>", "<div><b>".repeat(500_000));
    assert_eq!(all(deep), ["1: x"]);
    let wide = "<table><tr><td colspan=1000000000>a<td rowspan=1000000000>b<tr><td>c</table>";
    let lines = all(wide);
    assert!(lines[0].starts_with("1: a|") && lines[0].ends_with("|b") && lines[1] == "2: c", "{}", lines.len());
    check_unreadable(format!("<table><tr>{}<td>x</table>", "<td colspan=1000000000>".repeat(20)), "past column XFD");
    let cell = |index: &str| SPREADSHEET_XML.replace("<Row ss:Index=\"4\"", &format!("<Row ss:Index=\"{index}\""));
    check_unreadable(cell("1000000000"), "a row 1000000000");
    check_unreadable(cell("99999999999999999999"), "a row 18446744073709551615");
    check_unreadable(SPREADSHEET_XML.replace("ss:Index=\"3\"", "ss:Index=\"4000000000\""), "past column XFD");
    let deep = format!("{}{}", SPREADSHEET_XML.split("<Row>").next().unwrap(), "<Row>".repeat(300_000));
    check_unreadable(deep, "rows may be missing");
}

#[test]
fn the_only_file_of_an_archive_is_read() {
    let folder = folder();
    let xlsx = Xlsx { sheet: "<sheetData><row><c><v>7</v></c></row></sheetData>", ..Xlsx::default() }.bytes();
    for (name, bytes, sheet, line) in [
        ("export/orders.csv", b"SKU;Name\n0042;Bolt\n".to_vec(), "orders", "1: SKU|Name"),
        ("orders.xlsx", xlsx, "Prices", "1: 7"),
        ("../../etc/passwd", b"SKU,Name\n1,2\n".to_vec(), "passwd", "1: SKU|Name"),
        ("o.xls", EXCEL_PAGE.as_bytes().to_vec(), "Prices & more", "1: SKU|Price"),
    ] {
        let packed = archive(&[("export/", b""), (name, &bytes), ("__MACOSX/._orders.csv", b"x")]);
        let book = read(&file(&folder, "orders.zip", packed)).unwrap();
        assert_eq!(book.sheets()[0], sheet);
        // The file is read again as often as needed.
        assert_eq!((&rows(&book, 0).0[0], &rows(&book, 0).0[0]), (&line.to_owned(), &line.to_owned()), "{name}");
    }
}

#[test]
fn an_archive_of_several_files_or_none_is_refused() {
    let folder = folder();
    let packed = archive(&[("a.csv", b"a,b\n"), ("b.csv", b"a,b\n")]);
    let error = read(&file(&folder, "orders.zip", packed)).unwrap_err();
    assert!(error.to_string().ends_with("orders.zip is a ZIP archive of 2 files: a.csv, b.csv"), "{error}");
    assert!(error.hint().unwrap().contains("unpack it"));
    for (parts, what) in [
        (vec![("a/", &b""[..])], "a ZIP archive without files"),
        (vec![("photo.png", b"\x89PNG\r\n\x1A\n")], "an image in a ZIP archive"),
        (vec![("a.zip", &archive(&[("a.csv", b"a,b\n")]))], "a ZIP archive in another one"),
    ] {
        match end(&archive(&parts)) {
            Err(Error::NotASpreadsheet { found, .. }) => assert_eq!(found, what),
            other => panic!("{other:?}"),
        }
    }
    // A file that changed in the archive.
    let text = b"SKU,Name\n0042,Bolt\n".repeat(3);
    let mut packed = archive(&[("a.csv", &text)]);
    let at = packed.windows(4).rposition(|window| window == b"PK\x01\x02").unwrap();
    packed[at + 16] ^= 1;
    assert!(matches!(end(&packed), Err(Error::Damaged { .. })));
}

#[test]
fn a_bomb_in_an_archive_is_refused() {
    check_unreadable(archive(&[("a.csv", &b"0".repeat(100 << 20))]), "ZIP bomb");
}
